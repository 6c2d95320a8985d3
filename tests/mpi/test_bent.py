"""Bent inputs on several ranks: the bytes of one process."""
import numpy as np
from conftest import arrays, serial, team


def test_fit_and_predict(tmp_path):
    rng = np.random.default_rng(4)
    X = np.column_stack([np.exp(2 * rng.standard_normal(2600)), rng.standard_t(1.5, 2600), rng.uniform(-1, 1, 2600)])
    y = np.log(X[:, 0]) + np.sin(3 * X[:, 2]) + 0.1 * rng.standard_normal(2600)
    np.savetxt(tmp_path / "train.csv", np.column_stack([X, y]), "%.17g", ",", header="a,b,c,y", comments="")
    np.savetxt(tmp_path / "q.csv", X[:100], "%.17g", ",", header="a,b,c", comments="")
    options = ["--input-warp", "asinh", "--theta", "1,1,1,1,0.1", "--kernel", "se", "--expert-size", "1000"]
    serial("fit", tmp_path / "train.csv", "-o", tmp_path / "1.npz", *options)
    one = serial("predict", tmp_path / "1.npz", tmp_path / "q.csv", "-q").out
    with np.load(tmp_path / "1.npz") as a:
        assert (a["bend_width"] > 0).tolist() == [True, True, False]
    for ranks in (2, 3):
        model, out = tmp_path / f"r{ranks}.npz", tmp_path / f"{ranks}.csv"
        team(ranks, "fit", tmp_path / "train.csv", "-o", model, *options, "-q")
        a, b = arrays(tmp_path / "1.npz"), arrays(model)
        assert a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
        team(ranks, "predict", model, tmp_path / "q.csv", "-q", "-o", out)
        assert out.read_text() == one
