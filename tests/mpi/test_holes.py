"""Missing cells on several ranks: the bytes of one process, and one error for all."""
import numpy as np
import pytest
from conftest import arrays, serial, team


def write(path, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)
    texts = [["" if rng.uniform() < 0.1 else repr(v) for v in row] for row in X.tolist()]
    kind = [("", "p", "q")[k] for k in rng.integers(0, 3, n)]
    path.write_text("a,b,c,kind,y\n" + "".join(",".join([*row, k, repr(t)]) + "\n"
                                               for row, k, t in zip(texts, kind, y.tolist())))
    return path


@pytest.mark.parametrize("words", [
    ["--train-rows", "300", "--expert-size", "500"],
    ["--train", "parts", "--experts", "2", "--calibrate", "true", "--method", "rbcm"],
], ids=["neighbours", "calibrated"])
def test_fit_and_predict(tmp_path, words):
    train, queries = write(tmp_path / "train.csv", 1100, 1), write(tmp_path / "q.csv", 60, 2)
    words = ["--missing", "impute", "--kernel", "se", "--max-evaluations", "3", *words]
    serial("fit", train, "-o", tmp_path / "1.npz", *words, "-q")
    one = serial("predict", tmp_path / "1.npz", queries, "--missing", "impute", "-q").out
    for ranks in (2, 3):
        model, out = tmp_path / f"r{ranks}.npz", tmp_path / f"{ranks}.csv"
        team(ranks, "fit", train, "-o", model, *words, "-q")
        a, b = arrays(tmp_path / "1.npz"), arrays(model)
        assert a.keys() == b.keys() and "error" in a and all(np.array_equal(a[k], b[k]) for k in a)
        team(ranks, "predict", model, queries, "--missing", "impute", "-q", "-o", out)
        assert out.read_text() == one


def test_too_few_rows(tmp_path):
    train = write(tmp_path / "train.csv", 20, 1)
    for run in (serial, lambda *a, code: team(3, *a, code=code)):
        assert "too few" in run("fit", train, "-o", tmp_path / "m.npz", "--missing", "impute", code=1).err
