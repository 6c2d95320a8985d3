"""Levels that stand apart (--encoding distance): a category counts 0 or 2 / l^2 in the distance of two rows.

    k(i, j) = s_f^2 g(sum_d (z_id - z_jd)^2 / l_d^2 + sum_c 2 / l_c^2 [level of i differs from that of j])

against NumPy, and against one-hot columns with one length-scale; a new level is unlike all others; auto takes what
predicts held-out rows better.
"""
import json
import os
import subprocess
import zipfile

import numpy as np
import pytest

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))
EXACT = ["--kernel", "matern32", "--experts", "1", "--spread", "none", "--calibrate=no"]
LEVELS = {"c": ["p", "q", "r", "s", "t", "u", "v", "w"], "g": ["u", "v", "w"]}
NEW = 99  # no number of a level


def run(*args, code=0):
    done = subprocess.run([QUORUM, *map(str, args)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def make(n, seed):
    """Columns c, x, g, y; what a level of c does depends on x."""
    rng = np.random.default_rng(seed)
    c, g, x = rng.integers(4, size=n), rng.integers(3, size=n), rng.uniform(-2, 2, n)
    y = np.sin(2 * x + np.array([0, 3, 1, 5])[c]) + np.array([0, 1, -1])[g] * np.cos(3 * x) + 0.1 * rng.normal(size=n)
    return c, x, g, y


def name(column, k):
    return LEVELS[column][k] if k < len(LEVELS[column]) else "new"


def write(path, rows):
    lines = [f"{name('c', c)},{x!r},{name('g', g)},{y!r}" for c, x, g, y in zip(*(np.asarray(v).tolist() for v in rows))]
    path.write_text("c,x,g,y\n" + "\n".join(lines) + "\n")
    return path


def one_hot(path, rows):
    c, x, g, y = rows
    table = np.column_stack([np.eye(4)[c], x, np.eye(3)[g], y]).tolist()
    path.write_text("p,q,r,s,x,u,v,w,y\n" + "\n".join(",".join(map(repr, row)) for row in table) + "\n")
    return path


def predict(model, queries, *options):
    lines = run("predict", model, queries, "-q", *options).stdout.splitlines()[1:]
    return np.array([[float(v) for v in line.split(",")] for line in lines])


def array(model, member):
    with zipfile.ZipFile(model) as z, z.open(member + ".npy") as f:
        return np.load(f)


def meta(model):
    with zipfile.ZipFile(model) as z:
        return json.loads(z.read("meta.json"))


def distances(a, b, l_c, l_x, l_g):
    """Of rows (c, x, g), x standardised."""
    differ = lambda k: a[k][:, None] != b[k][None]
    return 2 / l_c**2 * differ(0) + (a[1][:, None] - b[1][None]) ** 2 / l_x**2 + 2 / l_g**2 * differ(2)


def matern32(s, signal):
    r = np.sqrt(3 * s)
    return signal * (1 + r) * np.exp(-r)


def exact(train, test, theta):
    """Mean and latent variance of a GP on standardised rows."""
    *scales, signal, noise = theta
    K = matern32(distances(train, train, *scales), signal) + noise * np.eye(len(train[3]))
    k = matern32(distances(test, train, *scales), signal)
    return k @ np.linalg.solve(K, train[3]), signal - (k * np.linalg.solve(K, k.T).T).sum(1)


def nlml(train, log_theta):
    *scales, signal, noise = np.exp(log_theta)
    K = matern32(distances(train, train, *scales), signal) + noise * np.eye(len(train[3]))
    return 0.5 * (train[3] @ np.linalg.solve(K, train[3]) + np.linalg.slogdet(K)[1] + len(K) * np.log(2 * np.pi))


def standardised(rows, like):
    c, x, g, y = rows
    return c, (x - like[1].mean()) / like[1].std(), g, (y - like[3].mean()) / like[3].std()


THETA = (2.0, 0.7, 3.0, 1.5, 0.02)  # l of c, x, g, then variances


def given_theta():
    l_c, l_x, l_g, signal, noise = THETA
    return ",".join(map(str, [1, l_x, 1] + [l_c] * 4 + [l_g] * 3 + [signal, noise]))


@pytest.fixture(scope="module", name="here")
def fixture_here(tmp_path_factory):
    here = tmp_path_factory.mktemp("apart")
    write(here / "t.csv", make(300, 1))
    write(here / "q.csv", make(80, 2))
    run("fit", here / "t.csv", "-o", here / "m.npz", "--encoding", "distance", "--theta", given_theta(), *EXACT)
    return here


@pytest.mark.parametrize("method", [["--neighbours", "300"], ["--neighbours", "40"], ["--method", "npae"]])
def test_one_hot_columns_with_one_length_scale(here, tmp_path, method):
    """The columns of the other table are standardised each by its own scale, which its length-scales undo."""
    l_c, l_x, l_g, signal, noise = THETA
    table = one_hot(tmp_path / "t.csv", make(300, 1))
    run("fit", table, "-o", tmp_path / "any.npz", "--theta", "1,1,1", *EXACT)
    scale = array(tmp_path / "any.npz", "x_scale")
    lengths = np.array([l_c] * 4 + [1.0] + [l_g] * 3) / scale
    lengths[4] = l_x
    run("fit", table, "-o", tmp_path / "o.npz", "--theta", ",".join(map(repr, [*lengths.tolist(), signal, noise])), *EXACT)
    other = predict(tmp_path / "o.npz", one_hot(tmp_path / "q.csv", make(80, 2)), *method)
    np.testing.assert_allclose(predict(here / "m.npz", here / "q.csv", *method), other, rtol=1e-9, atol=1e-9)


def test_prediction_by_its_formula(here):
    train, test = make(300, 1), make(80, 2)
    mean, variance = exact(standardised(train, train), standardised(test, train), THETA)
    found = predict(here / "m.npz", here / "q.csv", "--neighbours", "300", "--latent")
    scale = train[3].std()
    np.testing.assert_allclose(found[:, 0], train[3].mean() + scale * mean, rtol=1e-8)
    np.testing.assert_allclose(found[:, 1], scale * np.sqrt(variance), rtol=1e-6)


@pytest.mark.parametrize("which", [(0,), (2,), (0, 2)])
def test_a_new_level_is_unlike_all_others(here, tmp_path, which):
    train, test = make(300, 1), [np.array(v) for v in make(20, 3)]
    for k in which:
        test[k][:] = NEW
    mean, variance = exact(standardised(train, train), standardised(test, train), THETA)
    queries = write(tmp_path / "q.csv", test)
    found = predict(here / "m.npz", queries, "--neighbours", "300", "--latent")
    scale = train[3].std()
    np.testing.assert_allclose(found[:, 0], train[3].mean() + scale * mean, rtol=1e-8)
    np.testing.assert_allclose(found[:, 1], scale * np.sqrt(variance), rtol=1e-6)
    assert "20 rows with a level" in run("predict", here / "m.npz", queries).stderr
    assert "not in the training data" in run("predict", here / "m.npz", queries, "--unseen", "error", code=1).stderr


def test_one_length_scale_is_searched_for(here, tmp_path):
    """At the end the likelihood is flat along what levels share, and its value is NumPy's."""
    model = tmp_path / "m.npz"
    run("fit", here / "t.csv", "-o", model, "--encoding", "distance", *EXACT, "--metric", "ard", "--tolerance", "1e-10")
    log = array(model, "log_lengthscale")
    assert len(set(log[3:7])) == 1 and len(set(log[7:])) == 1
    variances = [float(array(model, f"log_{k}_variance").ravel()[0]) for k in ("signal", "noise")]
    train = make(300, 1)
    rows, at = standardised(train, train), np.array([log[3], log[1], log[7], *variances])
    assert meta(model)["training"]["nlml"] == pytest.approx(nlml(rows, at), rel=1e-7)
    for i in range(5):
        step = np.zeros(5)
        step[i] = 1e-4
        slope = (nlml(rows, at + step) - nlml(rows, at - step)) / 2e-4
        assert abs(slope) < 0.02, (i, at)
    queries = write(tmp_path / "q.csv", make(80, 2))
    assert meta(model)["format_version"] == 12
    assert "any two as far" in run("inspect", model).stdout
    assert np.isfinite(predict(model, queries)).all()


def test_directions_leave_levels_alone(tmp_path):
    rng = np.random.default_rng(7)
    a, b, c = rng.normal(size=600), rng.normal(size=600), rng.integers(4, size=600)
    y = np.sin(a + b) + 0.3 * c
    (tmp_path / "t.csv").write_text("a,b,c,y\n" + "".join(f"{u},{v},k{k},{w}\n" for u, v, k, w in zip(a, b, c, y)))
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--encoding", "distance", "--metric", "linear", "--kernel", "se")
    turned, log = array(tmp_path / "m.npz", "rotation"), array(tmp_path / "m.npz", "log_lengthscale")
    np.testing.assert_array_equal(turned.reshape(7, 7)[3:, 3:], np.eye(4))
    assert abs(turned.reshape(7, 7)[0, 1]) > 0.5 and len(set(log[3:7])) == 1


@pytest.mark.parametrize("elsewhere", [True, False])
def test_auto_takes_what_predicts_better(tmp_path, elsewhere):
    """Few rows a level, and each does something else elsewhere: no position is right; where it adds a number one is."""
    rng, turn = np.random.default_rng(1), np.random.default_rng(1).permutation(24) * 2 * np.pi / 24
    x, c, noise = rng.uniform(-2, 2, 600), rng.integers(24, size=600), 0.1 * rng.normal(size=600)
    y = noise + (np.sin(2 * x + turn[c]) if elsewhere else np.sin(x) + turn[c])
    (tmp_path / "t.csv").write_text("x,c,y\n" + "".join(f"{u},k{v:02},{w}\n" for u, v, w in zip(x, c, y)))
    options = ["--kernel", "matern32", "--metric", "ard", "--max-evaluations", "30"]
    said = run("fit", tmp_path / "t.csv", "-o", tmp_path / "auto.npz", *options, "--encoding", "auto").stderr
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "o.npz", *options, "--encoding", "distance" if elsewhere else "position")
    assert ("stand apart" in said) == elsewhere
    assert (meta(tmp_path / "auto.npz")["format_version"] == 12) == elsewhere
    found = [predict(tmp_path / name, tmp_path / "t.csv") for name in ("auto.npz", "o.npz")]
    np.testing.assert_array_equal(*found)


def test_holes_and_samples(tmp_path):
    """A missing text is a level, or a new one; joint draws take new levels."""
    c, x, g, y = make(200, 8)
    write(tmp_path / "t.csv", (c, x, g, y))
    lines = (tmp_path / "t.csv").read_text().splitlines()
    lines[5] = "," + lines[5].split(",", 1)[1]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--encoding", "distance", "--missing", "impute", "--kernel", "se")
    (tmp_path / "q.csv").write_text("c,x,g\n,0.5,u\n(missing),0.5,u\np,0.5,\np,0.5,new\n")
    found = predict(tmp_path / "m.npz", tmp_path / "q.csv", "--missing", "impute")
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[3])
    (tmp_path / "n.csv").write_text("c,x,g\nnew,0.5,u\np,0.5,new\n")
    assert len(run("sample", tmp_path / "m.npz", tmp_path / "n.csv", "-n", "3").stdout.splitlines()) == 3
