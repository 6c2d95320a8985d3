"""Fitting on several ranks: the model of one process, bit for bit."""
import json
import zipfile

import numpy as np
import pytest
from conftest import FIT, QUORUM_MPI, RANKS, arrays, make_rows, serial, team, write_csv


@pytest.mark.parametrize("ranks", RANKS)
def test_default(data, tmp_path, ranks):
    out = tmp_path / "model.npz"
    team(ranks, "fit", data / "train.csv", "-o", out, *FIT)
    assert arrays(out) == arrays(data / "serial.npz")


@pytest.mark.parametrize("options", [
    ["--train", "parts", "--experts", "5", "--kernel", "matern32", "--max-evaluations", "15"],
    ["--train", "parts", "--experts", "2", "--kernel", "se", "--max-evaluations", "10"],
    ["--overlap", "0.5", "--experts", "4", "--kernel", "se", "--train-rows", "100"],
    ["--calibrate", "--experts", "4", "--kernel", "se", "--train-rows", "100"],
    ["--calibrate", "strict", "--experts", "4", "--kernel", "se", "--train-rows", "100"],
    ["--train-rows", "100", "--max-evaluations", "10"],
    ["--train-rows", "100", "--kernel", "matern32x2", "--max-evaluations", "10"],
    ["--theta", "1,1,0.1", "--experts", "300", "--min-size", "1", "--graph", "none"],
], ids=["parts", "more ranks than experts", "overlap", "calibrate", "strict", "kernel auto", "two scales",
        "groups"])
def test_other_ways(data, tmp_path, options):
    serial("fit", data / "train.csv", "-o", tmp_path / "one.npz", *options, "-q")
    team(3, "fit", data / "train.csv", "-o", tmp_path / "three.npz", *options, "-q")
    assert arrays(tmp_path / "three.npz") == arrays(tmp_path / "one.npz")


def test_calibrated_without_being_asked(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (2000, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(2000)
    np.savetxt(tmp_path / "train.csv", np.column_stack([X, y]), "%.17g", ",", header="a,b,y", comments="")
    words = ["fit", tmp_path / "train.csv", "--kernel", "se", "--train-rows", "200", "--max-evaluations", "10", "-q"]
    serial(*words, "-o", tmp_path / "one.npz")
    team(3, *words, "-o", tmp_path / "three.npz")
    assert "calibration_signed" in np.load(tmp_path / "one.npz")
    assert arrays(tmp_path / "three.npz") == arrays(tmp_path / "one.npz")


@pytest.mark.parametrize("warp,least", [("log", 0.0), ("log", 0.5), ("auto", 0.0)])
def test_warp(tmp_path, warp, least):
    """The shift is learned, and the target chosen, alike; least 0: there are zeros."""
    rows = make_rows(400, 6)
    rows[:, -1] = np.maximum(np.round(np.exp(rows[:, -1]) - 0.5, 1), 0.0) + least
    write_csv(tmp_path / "train.csv", rows, "a,b,c,y")
    words = ["fit", tmp_path / "train.csv", "--warp", warp, "--kernel", "se", "--train-rows", "200", "--calibrate",
             "-q"]
    serial(*words, "-o", tmp_path / "one.npz")
    for ranks in (2, 3):
        team(ranks, *words, "-o", tmp_path / "all.npz")
        assert arrays(tmp_path / "all.npz") == arrays(tmp_path / "one.npz"), ranks
        meta = [json.loads(zipfile.ZipFile(tmp_path / f"{name}.npz").read("meta.json")) for name in ("one", "all")]
        assert meta[0].get("warp_shift") == meta[1].get("warp_shift")
    queries = [tmp_path / "one.npz", tmp_path / "train.csv", "-q"]
    assert team(2, "predict", *queries).out == serial("predict", *queries).out


@pytest.fixture(scope="module")
def turned(tmp_path_factory):
    """Rows whose target changes along a + b, and the model of one process: it has a rotation."""
    here = tmp_path_factory.mktemp("turned")
    rng = np.random.default_rng(7)
    x = rng.normal(size=(600, 3))
    y = np.sin(3.0 * (x[:, 0] + x[:, 1])) + 0.05 * rng.standard_normal(600)
    write_csv(here / "train.csv", np.column_stack([x, y]), "a,b,c,y")
    serial("fit", here / "train.csv", "-o", here / "serial.npz", *METRIC)
    assert "rotation" in arrays(here / "serial.npz")
    return here


METRIC = ["--metric", "linear", "--experts", "4", "--max-evaluations", "10", "--train-rows", "200", "-q"]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_linear_metric(turned, tmp_path, ranks):
    team(ranks, "fit", turned / "train.csv", "-o", tmp_path / "m.npz", *METRIC)
    assert arrays(tmp_path / "m.npz") == arrays(turned / "serial.npz")
    for name, run in (("one.csv", serial), ("all.csv", lambda *words: team(ranks, *words))):
        run("predict", tmp_path / "m.npz", turned / "train.csv", "-o", tmp_path / name, "-q")
    assert (tmp_path / "all.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()


def test_constant_column(tmp_path):
    """Found and left out by all ranks, also where it varies by rounding."""
    rows = np.insert(make_rows(400, 5), 1, 0.1, axis=1)
    rows[::3, 1] = np.nextafter(0.1, 1)
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", header="a,k,b,c,y", comments="", fmt="%r")
    serial("fit", tmp_path / "t.csv", "-o", tmp_path / "one.npz", *FIT)
    result = team(3, "fit", tmp_path / "t.csv", "-o", tmp_path / "three.npz", *FIT[:-1])
    assert result.err.count("without effect on predictions: k\n") == 1
    assert arrays(tmp_path / "three.npz") == arrays(tmp_path / "one.npz")
    with np.load(tmp_path / "three.npz") as file:
        assert json.loads(file["meta.json"])["constant_inputs"] == [1] and not file["X"][:, 1].any()


def test_threads_of_ranks(data, tmp_path):
    out = tmp_path / "model.npz"
    team(2, "fit", data / "train.csv", "-o", out, *FIT, "--threads", "2")
    assert arrays(out) == arrays(data / "serial.npz")


def test_names_reach_the_model(data, tmp_path):
    out = tmp_path / "model.npz"
    team(2, "fit", data / "train.csv", "-o", out, *FIT)
    with np.load(out) as file:
        assert json.loads(file["meta.json"])["columns"] == ["a", "b", "c", "y"]


def test_only_rank_0_speaks(data, tmp_path):
    result = team(3, "fit", data / "train.csv", "-o", tmp_path / "m.npz", *FIT[:-1], "-v")
    assert result.out.count("model written to") == 1
    for rank in range(3):
        assert result.err.count(f"rank {rank}: ") == 1, result.err
    assert "in communication" in result.err


@pytest.mark.parametrize("args,words", [
    (["fit", "missing.csv", "-o", "{tmp}/m.npz"], "missing.csv"),
    (["fit", "{data}/train.csv", "-o", "{tmp}/no/such/m.npz"], "cannot be written"),
    (["fit", "{data}/train.csv", "-o", "{tmp}/m.npz", "--experts", "100000"], "experts"),
    (["predict", "{data}/serial.npz", "{data}/none.csv"], "none.csv"),
    (["predict", "{data}/queries.csv", "{data}/queries.csv"], "queries.csv"),
], ids=["no data", "no directory", "too many experts", "no queries", "no model"])
def test_failures_end_all(data, tmp_path, args, words):
    words_of = [a.format(data=data, tmp=tmp_path) for a in args]
    result = team(2, *words_of, code=1)
    assert result.err.count(words) >= 1, result.err
    assert "MPI_ABORT" not in result.err


def test_a_rank_that_fails_alone(data, tmp_path):
    """Rank 1 has another command line: it leaves, and takes the others with it."""
    fit = ["fit", data / "train.csv", "-o", tmp_path / "m.npz", "-q"]
    result = team(1, *fit, ":", "-np", "1", QUORUM_MPI, "fit", "-q", code=None)
    assert "rank 1 failed alone" in result.err


def test_commands_for_one_process(data):
    result = team(2, "inspect", data / "serial.npz", code=2)
    assert "use 'quorum inspect'" in result.err
    assert "experts" in team(1, "inspect", data / "serial.npz").out


def test_the_choice_of_cells(tmp_path):
    """What method auto is, the cells of the model and its predictions are those of one process."""
    write_csv(tmp_path / "train.csv", make_rows(4400, 6), "a,b,c,y")
    write_csv(tmp_path / "queries.csv", make_rows(40, 7)[:, :3], "a,b,c")
    words = ["fit", tmp_path / "train.csv", "--kernel", "se", "--metric", "ard", "--trend", "constant", "--warp", "none",
             "--local-noise", "no", "--train-rows", "600", "--max-evaluations", "30"]
    said = serial(*words, "-o", tmp_path / "one.npz").out
    team(3, *words, "-o", tmp_path / "three.npz", "-q")
    assert "method cells by default" in said or "method nearest by default" in said
    assert arrays(tmp_path / "three.npz") == arrays(tmp_path / "one.npz")
    ask = ["predict", tmp_path / "one.npz", tmp_path / "queries.csv", "-q"]
    assert team(2, *ask).out == serial(*ask).out
    serial(*words, "--method", "nearest", "-o", tmp_path / "near.npz")
    assert "cell.npy" not in arrays(tmp_path / "near.npz")
