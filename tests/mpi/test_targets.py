"""Several targets on several ranks: the bytes of one process."""
import numpy as np
import pytest
from conftest import PLAIN, serial, team


def arrays(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files if not name.endswith(".json")}


def write(path, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    cells = np.column_stack([np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n), X, X[:, 1] ** 2 + 0.1 * rng.normal(size=n)])
    text = [[repr(float(c)) for c in row] for row in cells]
    for i in range(0, n, 9):
        text[i][3] = ""
    kinds = np.array(["oak", "fir", "ash"])[rng.integers(0, 3, n)]
    path.write_text("a,x,z,b,kind\n" + "".join(",".join([*row, kind]) + "\n" for row, kind in zip(text, kinds)))
    return path


OPTIONS = ["--target", "b,a", "--missing", "drop", "--kernel", "se", "--max-evaluations", "4", "--train-rows", "300", "--experts", "4"]


@pytest.mark.parametrize("words", [PLAIN, ["--share", "theta", "--ignore", "kind"]], ids=["apart", "shared"])
def test_fit_predict_and_evaluate(tmp_path, words):
    train, queries = write(tmp_path / "train.csv", 1500, 1), write(tmp_path / "q.csv", 200, 2)
    serial("fit", train, "-o", tmp_path / "1.npz", *OPTIONS, *words, "-q")
    one = serial("predict", tmp_path / "1.npz", queries, "-q").out
    scores = serial("evaluate", tmp_path / "1.npz", queries, "-q", "--missing", "drop").out
    for ranks in (1, 2, 3):
        model, out = tmp_path / f"r{ranks}.npz", tmp_path / f"{ranks}.csv"
        team(ranks, "fit", train, "-o", model, *OPTIONS, *words, "-q")
        a, b = arrays(tmp_path / "1.npz"), arrays(model)
        assert a.keys() == b.keys() and {"target1/X", "target2/y"} <= set(a)
        assert all(np.array_equal(a[k], b[k]) for k in a)
        team(ranks, "predict", model, queries, "-q", "-o", out)
        assert out.read_text() == one
        theirs = team(ranks, "evaluate", model, queries, "-q", "--missing", "drop").out
        assert [line.split()[:-1] for line in theirs.splitlines()] == [line.split()[:-1] for line in scores.splitlines()]
