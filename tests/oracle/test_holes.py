"""Missing cells filled (missing=impute), from the equations:

    fill_d = mean of the cells that are there,   an input h_d = 1 at a hole and otherwise 0
    v_d = max(0, mean of (m_d - m)^2 - (s_d^2 - s^2)),   m, s of a GP on two rows of three at the third ones,
                                                         m_d, s_d of the same with cell d missing
    a training row has the error sqrt(sum of v_d), a query that much more variance

and by identities: the model is that of the filled table with these inputs and errors.
"""
import csv
import json
import os
import subprocess
import zipfile

import numpy as np
import pytest

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))
NAMES = ["a", "b", "c"]


def run(*args, code=0):
    done = subprocess.run([QUORUM, *map(str, args)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def write(path, names, rows):
    with open(path, "w", encoding="utf-8") as f:
        out = csv.writer(f)
        out.writerow(names)
        out.writerows([["" if v is None or v != v else v if isinstance(v, str) else repr(float(v)) for v in row]
                       for row in rows])
    return path


def read(path):
    with zipfile.ZipFile(path) as z:
        meta = json.loads(z.read("meta.json"))
    return meta, dict(np.load(path).items())


def table(n, seed, holes=(0.15, 0.1, 0.0)):
    """Cells with holes, all cells, and the target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(2 * X[:, 0]) + 0.8 * X[:, 1] + 0.6 * X[:, 2] + 0.2 * rng.normal(size=n)
    T = np.where(rng.uniform(size=X.shape) < holes, np.nan, X)
    return T, X, y


def filled(T, fill, told):
    """The cells, and an input for each column that training rows have holes in."""
    H = np.isnan(T)
    return np.column_stack([np.where(H, fill, T), H[:, told].astype(float)])


def predicted(out):
    return np.array([[float(c) for c in line.split(",")] for line in out.splitlines()[1:]])


EXACT = ["--kernel", "se", "--experts", "1", "--theta", "1,1,1,2,2,1,0.1", "--trend", "constant", "--spread", "none",
         "--calibrate", "false"]


def gp(X, y, Q):
    """Latent mean and variance of the GP of EXACT, on data standardised by itself."""
    mean, scale = X.mean(0), X.std(0)
    m, s = y.mean(), y.std()
    length = np.array([1, 1, 1, 2, 2])

    def k(A, B):
        A, B = ((Z - mean) / scale / length for Z in (A, B))
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(-1))

    K = k(X, X) + 0.1 * np.eye(len(X))
    ks = k(X, Q)
    solved = np.linalg.solve(K, ks)
    return m + s * (solved.T @ ((y - m) / s)), s**2 * (1 - (ks * solved).sum(0))


def test_costs_by_the_equations(tmp_path):
    T, _, y = table(240, 1)
    write(tmp_path / "t.csv", NAMES + ["y"], np.column_stack([T, y]).tolist())
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--missing", "impute", *EXACT)
    meta, _ = read(tmp_path / "m.npz")
    assert meta["format_version"] == 10
    fill = np.nanmean(T, 0)
    np.testing.assert_allclose([h["fill"] for h in meta["holes"]], fill, rtol=1e-12)
    held = np.arange(240) % 3 == 2
    Z = filled(T, fill, [0, 1])
    mean, variance = gp(Z[~held], y[~held], Z[held])
    for d in range(3):
        without = T[held].copy()
        without[:, d] = np.nan
        m, v = gp(Z[~held], y[~held], filled(without, fill, [0, 1]))
        cost = ((m - mean) ** 2 - (v - variance))[~np.isnan(T[held, d])].mean()
        assert meta["holes"][d]["variance"] == pytest.approx(max(0, cost), rel=1e-5)
        assert cost > 0.1


def test_same_as_the_filled_table(tmp_path):
    T, X, y = table(240, 2)
    write(tmp_path / "t.csv", NAMES + ["y"], np.column_stack([T, y]).tolist())
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--missing", "impute", *EXACT)
    meta, mine = read(tmp_path / "m.npz")
    assert meta["columns"] == ["a", "b", "c", "a (missing)", "b (missing)", "y"]
    fill, cost = (np.array([h[k] for h in meta["holes"]]) for k in ("fill", "variance"))
    own = np.sqrt(np.isnan(T) @ cost)
    names = meta["columns"][:-1]
    write(tmp_path / "f.csv", [*names, "y", "e"], np.column_stack([filled(T, fill, [0, 1]), y, own]).tolist())
    run("fit", tmp_path / "f.csv", "-o", tmp_path / "f.npz", "--target", "y", "--noise-std", "e", *EXACT)
    theirs = read(tmp_path / "f.npz")[1]
    for name in ("X", "y", "error", "x_mean", "x_scale"):
        np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-9, atol=1e-12)
    Q = table(60, 3)[0]
    Q[:5, 2] = np.nan  # where the fit had none
    write(tmp_path / "q.csv", NAMES, Q.tolist())
    write(tmp_path / "qf.csv", names, filled(Q, fill, [0, 1]).tolist())
    done = run("predict", tmp_path / "m.npz", tmp_path / "q.csv", "--missing", "impute")
    a, b = predicted(done.stdout), predicted(run("predict", tmp_path / "f.npz", tmp_path / "qf.csv").stdout)
    np.testing.assert_allclose(a[:, 0], b[:, 0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(a[:, 1] ** 2, b[:, 1] ** 2 + np.isnan(Q) @ cost, rtol=1e-7)
    assert f"{np.isnan(Q).any(1).sum()} rows with missing cells filled" in done.stderr
    assert "5 of them in a column that has all its cells" in done.stderr
    latent = predicted(run("predict", tmp_path / "m.npz", tmp_path / "q.csv", "--missing", "impute", "--latent").stdout)
    plain = predicted(run("predict", tmp_path / "f.npz", tmp_path / "qf.csv", "--latent").stdout)
    np.testing.assert_allclose(latent[:, 1] ** 2, plain[:, 1] ** 2 + np.isnan(Q) @ cost, rtol=1e-7)


def test_logarithm(tmp_path):
    """The cost is then of the logarithm, and the model that of the logarithms."""
    T, _, y = table(240, 4)
    write(tmp_path / "t.csv", NAMES + ["y"], np.column_stack([T, np.exp(y)]).tolist())
    write(tmp_path / "l.csv", NAMES + ["y"], np.column_stack([T, np.log(np.exp(y))]).tolist())
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--missing", "impute", "--warp", "log", *EXACT)
    run("fit", tmp_path / "l.csv", "-o", tmp_path / "l.npz", "--missing", "impute", *EXACT)
    (meta, mine), (other, theirs) = read(tmp_path / "m.npz"), read(tmp_path / "l.npz")
    np.testing.assert_allclose([h["variance"] for h in meta["holes"]], [h["variance"] for h in other["holes"]], rtol=1e-6)
    np.testing.assert_allclose(mine["error"], theirs["error"], rtol=1e-6, atol=1e-12)
    Q = table(40, 5)[0]
    write(tmp_path / "q.csv", NAMES, Q.tolist())
    a, b = (predicted(run("predict", tmp_path / m, tmp_path / "q.csv", "--missing", "impute").stdout)
            for m in ("m.npz", "l.npz"))
    np.testing.assert_allclose(np.log(a[:, 2:]), b[:, 2:], rtol=1e-6)  # the interval
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "c.npz", "--missing", "impute", "--warp", "log", *EXACT[:-2],
        "--calibrate", "true")


def test_no_holes(tmp_path):
    """The model of a table without holes is the one that it has anyway, and knows their cost."""
    _, X, y = table(200, 6)
    write(tmp_path / "t.csv", NAMES + ["y"], np.column_stack([X, y]).tolist())
    exact = [*EXACT[:5], "1,1,1,1,0.1", *EXACT[6:]]
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--missing", "impute", *exact)
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "n.npz", *exact)
    (meta, mine), theirs = read(tmp_path / "m.npz"), read(tmp_path / "n.npz")[1]
    assert mine.keys() == theirs.keys() and all(np.array_equal(mine[k], theirs[k]) for k in mine if k != "meta.json")
    assert all(h["variance"] > 0.1 for h in meta["holes"])


def test_intervals_cover(tmp_path):
    """Rows with holes and others, of known truth; a column of text and one that has holes in queries only."""
    def rows(n, seed, late):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 3))
        kind = rng.integers(0, 8, n)
        y = np.sin(1.5 * X[:, 0]) + 0.8 * X[:, 1] + 0.6 * X[:, 2]
        y += 0.5 * np.random.default_rng(0).normal(size=8)[kind] + 0.2 * rng.normal(size=n)
        H = rng.uniform(size=(n, 4)) < [0.1, 0.1, late, 0.1]
        whole = [[*x, f"k{k}", t] for x, k, t in zip(X, kind, y)]
        return [[None if d < 4 and H[i, d] else v for d, v in enumerate(row)] for i, row in enumerate(whole)], whole, H, y
    names = [*NAMES, "kind", "y"]
    write(tmp_path / "t.csv", names, rows(900, 1, 0.0)[0])
    Q, whole, H, y = rows(1500, 2, 0.1)
    write(tmp_path / "q.csv", names, Q)
    write(tmp_path / "w.csv", names, whole)
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--missing", "impute", "--kernel", "matern52")
    p = predicted(run("predict", tmp_path / "m.npz", tmp_path / "q.csv", "--missing", "impute").stdout)
    w = predicted(run("predict", tmp_path / "m.npz", tmp_path / "w.csv").stdout)
    inside = (p[:, 2] <= y) & (y <= p[:, 3])
    some = H.any(1)
    assert 0.92 <= inside[some].mean() <= 0.98
    assert 0.93 <= inside[~some].mean() <= 0.97
    for d in range(4):
        assert inside[H[:, d]].mean() >= 0.9
    assert (p[some, 1] > w[some, 1]).mean() > 0.99
    assert np.array_equal(p[~some], w[~some])
