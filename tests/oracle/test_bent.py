"""Inputs with heavy tails, bent: which are and how from their definition, the model as that of a table that was bent
beforehand, slopes against differences, and what goes on with such a model."""
import subprocess
import zipfile

import numpy as np
import pytest
from scipy.stats import kurtosis

import reference as ref
from oracle_support import QUORUM, agree, fit, predict, quorum, same_bits

NEAR = ["--train", "neighbours", "--partition-metric", "learned", "--graph", "none", "--kernel", "matern52"]
BENT = ["--input-warp", "asinh"]
THETA = ["--theta", "1,2,1,3,1,1,0.05", "--experts", "2", "--partition", "kdtree"]
HEAVY = [0, 1]  # positive, and of either sign; the others are uniform, small whole numbers, and 0 but for a few


def rows_of(n=400, seed=3):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.exp(2 * rng.standard_normal(n)), rng.standard_t(1.5, n) * 100, rng.uniform(-1, 1, n),
                         rng.integers(0, 3, n) * (rng.random(n) < 0.02), rng.integers(0, 5, n)])
    y = np.log(X[:, 0]) + np.arcsinh(X[:, 1] / 50) + np.sin(3 * X[:, 2]) + 0.1 * rng.standard_normal(n)
    return np.column_stack([X, y])


def quantile(x, share, weight):
    order = np.argsort(x, kind="stable")
    return x[order][np.searchsorted(np.cumsum(weight[order]), share * weight.sum() * (1 - 1e-12))]


def bends_of(X, weight):
    """at and width by their definition, 0 of inputs that are not bent."""
    out = np.zeros((2, X.shape[1]))
    for d, x in enumerate(X.T):
        mean = np.average(x, weights=weight)
        m2, m4 = (np.average((x - mean)**p, weights=weight) for p in (2, 4))
        between = quantile(x, 0.75, weight) - quantile(x, 0.25, weight)
        if len(np.unique(x)) >= 10 and m4 / m2**2 - 3 > 6:
            out[:, d] = quantile(x, 0.5, weight), (between or np.sqrt(m2)) / 1.5
    return out


def bend(X, at, width):
    return np.where(width > 0, np.arcsinh((X - at) / np.where(width > 0, width, 1)), X)


@pytest.fixture(scope="module")
def bent(tmp_path_factory):
    path, _ = fit(tmp_path_factory.mktemp("bent"), "bent", rows_of(), *NEAR, *THETA, *BENT)
    return path, ref.Model(path)


def test_what_is_bent(bent):
    X, a = rows_of()[:, :-1], bent[1].arrays
    assert [kurtosis(x) > 6 for x in X.T] == [True, True, False, True, False]  # the fourth has three values
    at, width = bends_of(X, np.ones(len(X)))
    assert list(np.flatnonzero(width)) == HEAVY
    agree("bent inputs: where", a["bend_at"], at, 1.0, 0.0)
    agree("bent inputs: how wide", a["bend_width"], width, np.maximum(width, 1), 1e-14)
    T = bend(X, at, width)
    agree("bent inputs: mean", a["x_mean"], T.mean(0), T.std(0), 1e-13)
    agree("bent inputs: standardised", a["X"], ((T - T.mean(0)) / T.std(0))[a["row"]], 1.0, 1e-12)


def test_weights_count(tmp_path):
    rows = rows_of(300, 5)
    weight = np.random.default_rng(1).integers(1, 4, len(rows))
    path = tmp_path / "w.csv"
    np.savetxt(path, np.column_stack([rows[:, :-1], weight, rows[:, -1]]), "%.17g", ",", header="a,b,c,d,e,w,y", comments="")
    quorum("fit", path, "-o", tmp_path / "w.npz", "--weights", "w", *NEAR, *THETA, *BENT)
    with np.load(tmp_path / "w.npz") as a:
        at, width = bends_of(rows[:, :-1], weight.astype(float))
        agree("bent inputs, weights: where", a["bend_at"], at, 1.0, 0.0)
        agree("bent inputs, weights: how wide", a["bend_width"], width, np.maximum(width, 1), 1e-12)


@pytest.mark.parametrize("method", ["nearest", "npae", "rbcm"])
def test_as_a_table_that_was_bent_beforehand(bent, tmp_path, method):
    rows = rows_of()
    at, width = bends_of(rows[:, :-1], np.ones(len(rows)))
    straight, _ = fit(tmp_path, "straight", np.column_stack([bend(rows[:, :-1], at, width), rows[:, -1]]), *NEAR, *THETA)
    Q = rows_of(50, 9)[:, :-1]
    one, other = (predict(p, q, "--method", method) for p, q in ((bent[0], Q), (straight, bend(Q, at, width))))
    for name in ("mean", "std"):
        agree(f"bent inputs, {method}: {name}", one[name], other[name], other["std"], 1e-9)


@pytest.mark.parametrize("metric", ["ard", "linear"])
def test_slopes_are_those_of_differences(tmp_path, metric):
    path, _ = fit(tmp_path, metric, rows_of(), *NEAR, *BENT, "--metric", metric, "--experts", 1, "--max-evaluations", 30)
    m = ref.Model(path)
    assert ("rotation" in m.arrays) == (metric == "linear")
    Q = rows_of(8, 12)[:, :-1]
    got = predict(path, Q, "--method", "npae", "--gradient")
    for d in range(3):
        h = 1e-4 * np.hypot(m.arrays["bend_width"][d], Q[:, d] - m.arrays["bend_at"][d]) if d in HEAVY else 1e-4
        step = np.zeros_like(Q)
        step[:, d] = h
        up, down = predict(path, Q + step, "--method", "npae"), predict(path, Q - step, "--method", "npae")
        for name in ("mean", "std"):
            slope = (up[name] - down[name]) / (2 * h)
            agree(f"bent inputs, {metric}: slope of {name}", got[f"d{name}_x{d + 1}"] * h, slope * h, got["std"], 1e-7)


def test_nothing_to_bend_is_as_without(tmp_path):
    rows = rows_of()[:, 2:]
    theta = ["--theta", "1,1,1,1,0.05"]
    paths = [fit(tmp_path, name, rows, *NEAR, *theta, *more)[0] for name, more in (("a", BENT), ("b", []))]
    a, b = (ref.Model(p).arrays for p in paths)
    assert a.keys() == b.keys() and "bend_at" not in a
    for name in a:
        same_bits(f"nothing to bend: {name}", a[name], b[name])


def test_new_rows_join_bent(bent, tmp_path):
    new = tmp_path / "new.csv"
    np.savetxt(new, rows_of(20, 21), "%.17g", ",", header="x1,x2,x3,x4,x5,y", comments="")
    quorum("update", bent[0], new, "-o", tmp_path / "u.npz")
    with np.load(tmp_path / "u.npz") as u:
        Z = u["X"][np.argsort(u["row"])][400:]
        agree("bent inputs: new rows", Z, bent[1].standardise(rows_of(20, 21)[:, :-1]), 1.0, 1e-12)


def test_a_c_file_says_the_same(bent, tmp_path):
    quorum("export-c", bent[0], "-o", tmp_path / "m.c", "--name", "m")  # which compares its answers by itself
    subprocess.run(["cc", "-std=c99", "-O1", "-DM_MAIN", "m.c", "-o", "m", "-lm"], cwd=tmp_path, check=True)
    Q = rows_of(10, 31)[:, :-1]
    told = subprocess.run([tmp_path / "m"], input="\n".join(" ".join(map(repr, map(float, q))) for q in Q) + "\n",
                          capture_output=True, text=True, check=True).stdout.split("\n")[:10]
    got = predict(bent[0], Q, "--method", "nearest")
    mean = [float(line.replace(",", " ").split()[0]) for line in told]
    agree("bent inputs: a C file's mean", mean, got["mean"], got["std"], 1e-9)


@pytest.mark.parametrize("metric", ["ard", "linear"])
def test_the_largest_numbers_are_far_away(tmp_path, metric):
    path, _ = fit(tmp_path, metric, rows_of(), *NEAR, *BENT, "--metric", metric, "--experts", 1, "--max-evaluations", 10)
    Q = np.tile(rows_of(1, 4)[:, :-1], (4, 1))
    Q[:, 0], Q[:, 1] = [1e308, -1e308, 1e308, 1.0], [1.0, 1e308, -1e308, 1e300]
    got = predict(path, Q, "--method", "npae", "--gradient")
    assert all(np.isfinite(column).all() for column in got.values())


def test_said_and_refused(bent, tmp_path):
    assert quorum("inspect", bent[0]).count("(bent)") == len(HEAVY)
    refused = subprocess.run([QUORUM, "fit", "x.csv", "-o", "m.npz", *BENT, "--trend", "linear"], cwd=tmp_path,
                             capture_output=True, text=True)
    assert refused.returncode != 0
    np.savetxt(tmp_path / "x.csv", rows_of(), "%.17g", ",", header="a,b,c,d,e,y", comments="")
    for trend in ("linear", "auto"):
        refused = subprocess.run([QUORUM, "fit", "x.csv", "-o", "m.npz", *BENT, "--trend", trend], cwd=tmp_path,
                                 capture_output=True, text=True)
        assert refused.returncode != 0 and "input-warp asinh does not go with trend" in refused.stderr


@pytest.mark.parametrize("width", [-1.0, np.inf, 5e-324, 0.0])
def test_damaged_files_are_refused(bent, tmp_path, width):
    with np.load(bent[0]) as a:
        arrays = {k: a[k] for k in a.files if k != "meta.json"}
    with zipfile.ZipFile(bent[0]) as z:
        others = {n: z.read(n) for n in z.namelist() if not n.endswith(".npy")}
    arrays["bend_width"] = arrays["bend_width"] * 0 + width
    np.savez(tmp_path / "d.npz", **arrays)
    with zipfile.ZipFile(tmp_path / "d.npz", "a") as z:
        for name, content in others.items():
            z.writestr(name, content)
    done = subprocess.run([QUORUM, "inspect", tmp_path / "d.npz"], capture_output=True, text=True)
    assert done.returncode != 0 and "bend_width" in done.stderr
