"""What method auto is: chosen by the fit from rows held out of nearest and of cells, kept in the model
with its cells (docs/methods.md, "Which of the two"), and the same bits as that method by name."""
import io
import json
import subprocess
import zipfile

import numpy as np
import pytest

from oracle_support import QUORUM, joint, predict, quorum

QUICK = ["--kernel", "matern32", "--metric", "ard", "--trend", "constant", "--warp", "none", "--local-noise", "no",
         "--train-rows", "1000"]
ROWS, QUERIES = 4500, 60


def surface(X):
    return np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + 0.5 * np.sin(4 * X[:, 2] + X[:, 3])


def table(rows, seed):
    r = np.random.default_rng(seed)
    X = r.uniform(-1, 1, (rows, 4))
    return np.column_stack([X, surface(X) + 0.05 * r.standard_normal(rows)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("choice")
    np.save(folder / "train.npy", table(ROWS, 1))
    quorum("fit", folder / "train.npy", "-o", folder / "model.npz", *QUICK)
    return folder


def inspect(model):
    return json.loads(quorum("inspect", model, "--json"))


def answers(folder, *words, model="model.npz"):
    return predict(folder / model, table(QUERIES, 2)[:, :4], *words)


def same_bits(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def without_choice(folder):
    """The model as a fit before the choice would have left it."""
    with zipfile.ZipFile(folder / "model.npz") as old, zipfile.ZipFile(folder / "plain.npz", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "meta.json":
                meta = json.loads(data)
                del meta["method_choice"]
                meta["format_version"] = 11 if "spread_rows" in meta else 1
                data = json.dumps(meta).encode()
            if name not in ("cell.npy", "cell_centre.npy"):
                new.writestr(name, data)
    return "plain.npz"


def test_cells_are_chosen_where_they_are_as_good_and_cheaper(folder):
    info = inspect(folder / "model.npz")
    assert info["neighbours"] >= 128
    assert info["chosen_method"] == "cells"
    assert 0.8 < info["cells_error"] < 1.1 and abs(info["cells_gain"]) < 0.2


def test_auto_is_the_chosen_method_to_the_bit(folder):
    cells = answers(folder, "--method", "cells")
    assert same_bits(answers(folder), cells)
    assert not same_bits(answers(folder, "--method", "nearest"), cells)


def test_what_the_choice_is_not_about_stays_nearest(folder):
    size = str(inspect(folder / "model.npz")["neighbours"])
    nearest = answers(folder, "--method", "nearest")
    assert same_bits(answers(folder, "--neighbours", size), nearest)
    plain = without_choice(folder)
    assert same_bits(answers(folder, model=plain), nearest)


def test_kept_cells_are_those_that_are_found(folder):
    plain = without_choice(folder)
    assert "chosen_method" not in inspect(folder / plain)
    assert same_bits(answers(folder, "--method", "cells", model=plain), answers(folder))
    with np.load(folder / "model.npz", allow_pickle=False) as model:
        label, centre = model["cell"], model["cell_centre"]
        Z = model["X"] / np.exp(model["log_lengthscale"])
    assert len(label) == ROWS and label.max() < len(centre)
    distance = ((Z[:, None] - centre[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(distance[np.arange(ROWS), label], distance.min(axis=1), rtol=1e-9)


def test_gradients_are_those_of_the_chosen_method(folder):
    gradient, plain = answers(folder, "--gradient"), answers(folder)
    assert same_bits(gradient, answers(folder, "--gradient", "--method", "cells"))
    assert same_bits({name: gradient[name] for name in plain}, plain)


def test_joint_covariances_are_those_of_nearest(folder):
    X = table(5, 3)[:, :4]
    chosen, nearest = (joint(folder / "model.npz", X, **options) for options in ({}, {"method": "nearest"}))
    for a, b in zip(chosen, nearest):
        assert np.array_equal(a, b)


def test_one_process_is_as_good_as_any_number_of_threads(folder):
    quorum("fit", folder / "train.npy", "-o", folder / "three.npz", *QUICK, "--threads", "3")
    quorum("fit", folder / "train.npy", "-o", folder / "one.npz", *QUICK, "--threads", "1")
    one, three = (np.load(folder / name, allow_pickle=False) for name in ("one.npz", "three.npz"))
    for name in ("cell", "cell_centre"):
        assert np.array_equal(one[name], three[name])
    assert inspect(folder / "one.npz")["cells_error"] == inspect(folder / "three.npz")["cells_error"]


def test_altered_cells_are_refused(folder):
    with zipfile.ZipFile(folder / "model.npz") as old, zipfile.ZipFile(folder / "bad.npz", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "cell.npy":
                label = np.load(io.BytesIO(data))
                label[7] = 10**6
                room = io.BytesIO()
                np.save(room, label)
                data = room.getvalue()
            new.writestr(name, data)
    done = subprocess.run([QUORUM, "inspect", folder / "bad.npz"], capture_output=True, text=True)
    assert done.returncode == 1 and "cell is out of range" in done.stderr


def test_named_methods_are_not_compared(folder):
    quorum("fit", folder / "train.npy", "-o", folder / "named.npz", *QUICK, "--calibrate", "true",
           "--method", "nearest")
    assert "chosen_method" not in inspect(folder / "named.npz")
