"""bench/uci.py on a made set of the `uci_datasets` layout."""
import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

import common
import uci
from conftest import BENCH, QUORUM

ROWS, MASKS = 300, 3


def write(path, table, form):
    with gzip.open(path, "wt") as file:
        np.savetxt(file, table, delimiter=",", fmt=form)


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """A directory with the set `made`: a target of mean 50 and deviation of about 7."""
    directory = tmp_path_factory.mktemp("uci")
    os.mkdir(directory / "made")
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (ROWS, 3))
    y = 50 + 10 * np.sin(3 * X[:, 0]) + X[:, 1] + rng.standard_normal(ROWS)
    write(directory / "made" / "data.csv.gz", np.column_stack([X, y]), "%.17g")
    write(directory / "made" / "test_mask.csv.gz",
          rng.permutation(ROWS)[:, None] % 10 == np.arange(MASKS), "%d")
    return directory


def bench(directory, out, *options):
    return subprocess.run([sys.executable, "-B", os.path.join(BENCH, "uci.py"), str(directory), "--quorum",
                           QUORUM, "--out", str(out), *options], capture_output=True, text=True)


def scores_by_definition(folder, train, test):
    """RMSE and mean negative log density of the standardised target, from `quorum predict`."""
    np.save(folder / "train.npy", train)
    np.save(folder / "asked.npy", test[:, :-1])
    for words in (["fit", "train.npy", "-o", "model.npz"], ["predict", "model.npz", "asked.npy", "-o", "out.csv"]):
        subprocess.run([QUORUM, *words, "--quiet"], cwd=folder, check=True)
    mean, deviation = np.loadtxt(folder / "out.csv", delimiter=",", skiprows=1, usecols=(0, 1)).T
    centre, scale = train[:, -1].mean(), train[:, -1].std()
    z, m, s = (test[:, -1] - centre) / scale, (mean - centre) / scale, deviation / scale
    density = np.exp(-0.5 * ((z - m) / s) ** 2) / (s * np.sqrt(2 * np.pi))
    return np.sqrt(np.mean((z - m) ** 2)), -np.mean(np.log(density))


def test_scores_are_those_of_the_standardised_target(collection, tmp_path):
    done = bench(collection, tmp_path / "uci.csv", "--masks", "0", "2")
    assert done.returncode == 0, done.stderr
    assert "made: RMSE 0." in done.stdout and "mean of masks 0 2" in done.stdout
    rows = common.read_csv(tmp_path / "uci.csv")
    assert [(r["set"], r["mask"]) for r in rows] == [("made", "0"), ("made", "2")]
    table, marks = uci.read_set(str(collection), "made")
    for row in rows:
        is_test = marks[:, int(row["mask"])]
        assert (int(row["rows"]), int(row["test_rows"])) == ((~is_test).sum(), is_test.sum()) == (270, 30)
        wanted = scores_by_definition(tmp_path, table[~is_test], table[is_test])
        assert (float(row["rmse"]), float(row["nll"])) == pytest.approx(wanted, rel=1e-3)


def test_the_file_says_where_it_comes_from(collection, tmp_path):
    bench(collection, tmp_path / "uci.csv", "--sets", "made", "--masks", "1", "--fit", "--kernel", "se")
    heads = [line for line in open(tmp_path / "uci.csv") if line.startswith("#")]
    assert heads[0] == "# command: bench/uci.py DIR --sets made --masks 1 --fit --kernel se\n"
    assert [head.split(":")[0] for head in heads[1:]] == ["# machine", "# kernels", "# commit", "# date"]
    assert common.read_csv(tmp_path / "uci.csv")[0]["kernel"] == "se"


def test_masks_that_are_not_there(collection, tmp_path):
    assert "made: there are masks 0 to 2" in bench(collection, tmp_path / "x", "--masks", "3").stderr
    assert "masks count from 0" in bench(collection, tmp_path / "x", "--masks", "-1").stderr


@pytest.mark.parametrize("marks", [np.zeros((4, 2)), np.full((5, 2), 2)], ids=["rows", "values"])
def test_a_mask_of_another_shape(tmp_path, marks):
    os.mkdir(tmp_path / "bad")
    write(tmp_path / "bad" / "data.csv.gz", np.ones((5, 3)), "%g")
    write(tmp_path / "bad" / "test_mask.csv.gz", marks, "%d")
    with pytest.raises(SystemExit, match="bad: test_mask.csv.gz does not have a row of 0 and 1"):
        uci.read_set(str(tmp_path), "bad")


def test_published_figures_are_compared_over_their_masks():
    rows = [{"set": name, "mask": str(mask), "rmse": str(0.1 * mask), "nll": "1"}
            for name in ("elevators", "pol", "made") for mask in range(7)]
    elevators, pol, made = uci.beside_published(rows)
    assert elevators.startswith("elevators: RMSE 0.2000, NLL 1.000, mean of masks 0 1 2 3 4; exact GP")
    assert elevators.endswith("the same masks: 0.352, 0.379")
    assert "masks not known: 0.081, -1.17" in pol and "RMSE 0.3000" in pol
    assert made == "made: RMSE 0.3000, NLL 1.000, mean of masks 0 1 2 3 4 5 6"
    assert "none of the masks" in next(uci.beside_published([dict(rows[6])]))
    assert "not all were measured" in next(uci.beside_published(rows[:2]))
