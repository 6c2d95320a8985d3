"""Weights and known noise on several ranks: the bytes of one process."""
import json

import numpy as np
import pytest
from conftest import arrays, serial, team


def write(path, n, seed, zeros=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    weight = rng.integers(0 if zeros else 1, 4, n).astype(float)
    if zeros:
        weight[:700] = 0.0  # more than a rank's first rows
    error = np.where(rng.uniform(size=n) < 0.5, 0.0, 0.7)
    y = np.sin(2 * X[:, 0]) + X[:, 1] + (0.1 + error) * rng.normal(size=n)
    np.savetxt(path, np.column_stack([X, weight, y, error]), delimiter=",", header="a,b,w,y,e", comments="",
               fmt="%.17g")
    return path


OPTIONS = ["--target", "y", "--weights", "w", "--noise-std", "e", "--kernel", "se", "--max-evaluations", "4"]


@pytest.mark.parametrize("zeros, words", [
    (False, ["--train-rows", "300", "--expert-size", "700"]),
    (True, ["--train", "parts", "--experts", "6", "--trend", "linear"]),
    (True, ["--train-rows", "300", "--experts", "6", "--calibrate", "true", "--method", "npae", "--overlap", "0.2"]),
], ids=["neighbours", "parts", "calibrated"])
def test_fit_predict_and_evaluate(tmp_path, zeros, words):
    train, queries = write(tmp_path / "train.csv", 1500, 1, zeros), write(tmp_path / "q.csv", 200, 2)
    serial("fit", train, "-o", tmp_path / "1.npz", *OPTIONS, *words, "-q")
    one = serial("predict", tmp_path / "1.npz", queries, "-q").out
    scores = json.loads(serial("evaluate", tmp_path / "1.npz", queries, "-q", "--json").out)[0]
    for ranks in (1, 2, 3):
        model, out = tmp_path / f"r{ranks}.npz", tmp_path / f"{ranks}.csv"
        team(ranks, "fit", train, "-o", model, *OPTIONS, *words, "-q")
        a, b = arrays(tmp_path / "1.npz"), arrays(model)
        assert a.keys() == b.keys() and {"weight", "error"} <= set(a)
        assert all(np.array_equal(a[k], b[k]) for k in a)
        team(ranks, "predict", model, queries, "-q", "-o", out)
        assert out.read_text() == one
        theirs = json.loads(team(ranks, "evaluate", model, queries, "-q", "--json").out)[0]
        assert {k: theirs[k] for k in ("rmse", "msll", "crps", "coverage")} == {
            k: scores[k] for k in ("rmse", "msll", "crps", "coverage")}


def test_a_bad_weight_fails_on_all(tmp_path):
    rows = "".join(f"{i * 0.37},{1 if i < 1400 else -1},{i % 7}\n" for i in range(1500))
    (tmp_path / "t.csv").write_text("a,w,y\n" + rows)
    for run in (serial, lambda *a, code: team(3, *a, code=code)):
        got = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--weights", "w", code=1).err
        assert "row 1401: its weight is -1" in got
