"""A small table, calibrated by fits to some of its rows, on several ranks: the bytes of one process."""
import numpy as np
from conftest import arrays, serial, team


def test_fit(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((260, 5))
    kind = rng.integers(3, size=260)
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * kind + 0.3 * rng.standard_t(3, size=260)
    lines = [",".join([*map(repr, map(float, x)), "abc"[k], repr(float(v))]) for x, k, v in zip(X, kind, y)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,e,kind,y", *lines]) + "\n", encoding="utf-8")
    options = ["--kernel", "se", "--max-evaluations", "8", "-q"]
    serial("fit", tmp_path / "t.csv", "-o", tmp_path / "1.npz", *options)
    with np.load(tmp_path / "1.npz") as model:
        assert len(model["calibration_signed"]) == 260
    one = arrays(tmp_path / "1.npz")
    for ranks in (2, 3):
        team(ranks, "fit", tmp_path / "t.csv", "-o", tmp_path / "r.npz", *options)
        other = arrays(tmp_path / "r.npz")
        assert one.keys() == other.keys() and all(one[k] == other[k] for k in one)
