"""predict --grid on several ranks: the files of one process, byte for byte, and one error for all."""
import os

import numpy as np
import pytest
from conftest import serial, team

GRID = "a=-1:1:23,day=2024-01-01:2024-03-01:11,kind=red"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid")
    rng = np.random.default_rng(1)
    lines = [f"{a:.4f},2024-0{1 + i % 3}-{1 + i % 28:02d},{'red' if i % 3 else 'blue'},{np.sin(3 * a) + i % 3:.4f}"
             for i, a in enumerate(rng.uniform(-1, 1, 600))]
    (folder / "t.csv").write_text("\n".join(["a,day,kind,y", *lines]) + "\n")
    serial("fit", folder / "t.csv", "-o", folder / "m.npz", "--kernel", "se", "--max-evaluations", "3", "--expert-size", "200")
    return folder / "m.npz"


@pytest.mark.parametrize("name", ["map.csv", "map.nc", "map.tif", "map.npz"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_the_bytes_of_one_process(model, tmp_path, name, ranks):
    words = ["predict", model, "--grid", GRID, "-q", "--quantiles", "0.1", "--memory", "64M"]
    serial(*words, "-o", tmp_path / f"one-{name}")
    team(ranks, *words, "-o", tmp_path / name)
    assert (tmp_path / name).read_bytes() == (tmp_path / f"one-{name}").read_bytes()
    assert sorted(os.listdir(tmp_path)) == sorted([name, f"one-{name}"])


@pytest.mark.parametrize("words, said", [(["--grid", GRID.replace("red", "green")], "green"),
                                         (["--grid", GRID + ",z=1"], "z"),
                                         (["--grid", GRID, "-o", "/nowhere/map.nc"], "/nowhere")])
def test_errors_are_those_of_one(model, words, said):
    err = team(3, "predict", model, *words, "--unseen", "error", code=1).err
    assert said in err and err.count("quorum predict:") == 1
