"""Method auto is nearest however many queries there are; after many, predict says that cells are cheaper."""
import numpy as np
import pytest

from conftest import run, write_csv

ROWS, INPUTS = 2200, "a,b,c,d"


def table(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 4))
    y = np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.01 * rng.normal(size=n)
    return np.column_stack([X, y])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model that wants 128 neighbours or more, and as many queries as matter, and one less."""
    folder = tmp_path_factory.mktemp("many")
    train = write_csv(folder / "train.csv", table(ROWS, 0), INPUTS + ",y")
    run("fit", train, "-o", folder / "model.npz", "--kernel", "se", "--metric", "ard", "-q")
    assert run("inspect", folder / "model.npz", "--json").json()["neighbours"] >= 128
    queries = table(ROWS // 4, 1)
    many = write_csv(folder / "many.csv", queries, INPUTS + ",y")
    few = write_csv(folder / "few.csv", queries[:-1], INPUTS + ",y")
    return folder / "model.npz", many, few


def test_a_row_has_the_same_prediction_in_any_file(files):
    model, many, few = files
    found = run("predict", model, many)
    assert found.err.count("--method cells") == 1
    assert found.out == run("predict", model, many, "--method", "nearest", "-q").out
    assert found.out.startswith(run("predict", model, few).out)


def test_few_queries_need_no_advice(files):
    model, _, few = files
    assert "cells" not in run("predict", model, few).err


@pytest.mark.parametrize("options", [["--neighbours", 130], ["--method", "nearest"], ["--gradient"], ["-q"],
                                     ["--select", "all", "--mean-only"], ["--memory", "40MB"], ["--method", "cells"]])
def test_what_is_asked_for_needs_no_advice(files, options):
    model, many, _ = files
    assert "--method cells" not in run("predict", model, many, *options).err


def test_pipes_are_advised_too(files):
    model, many, _ = files
    assert "--method cells" in run("predict", model, "-", stdin=many.read_text()).err


def test_a_calibration_that_is_for_nearest_alone(files, tmp_path):
    """Rows held out of nearest do not say how cells err: they would not be calibrated."""
    train = write_csv(tmp_path / "train.csv", table(ROWS, 0), INPUTS + ",y")
    run("fit", train, "-o", tmp_path / "model.npz", "--kernel", "se", "--metric", "ard", "--calibrate", "-q")
    assert "cells" not in run("predict", tmp_path / "model.npz", files[1]).err
