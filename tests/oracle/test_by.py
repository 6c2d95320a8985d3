"""evaluate --by: distances, groups and their scores from their definitions, in NumPy and SciPy."""
import json
import xml.etree.ElementTree as xml

import numpy as np
import pytest
from scipy import stats

import reference as ref
from bent_normal import log_density_of
from oracle_support import agree, fit, quorum, same_bits

WAYS = [["--method", "nearest"], ["--method", "rbcm"], ["--method", "npae"], ["--method", "grbcm"]]


def rows_of(n, seed, reach=1.0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(-reach, reach, n), rng.integers(0, 3, n), rng.standard_normal(n)])
    y = np.sin(3 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(n)
    return np.column_stack([X, y])


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    """A model of 600 rows and a test file with a column that is no input."""
    here = tmp_path_factory.mktemp("by")
    train, test = rows_of(600, 1), rows_of(173, 2, reach=2.0)
    test = np.column_stack([test, np.arange(len(test)) % 40])
    header = "a,b,c,y,hour"
    np.savetxt(here / "train.csv", train, "%.17g", ",", header="a,b,c,y", comments="")
    np.savetxt(here / "test.csv", test, "%.17g", ",", header=header, comments="")
    quorum("fit", here / "train.csv", "-o", here / "m.npz", "--experts", 4, "--kernel", "se",
           "--train", "parts", "--calibrate", "-q")
    return here, train, test


def evaluate(here, *words):
    return json.loads(quorum("evaluate", here / "m.npz", here / "test.csv", "--json", "-q", *words))


def distances(path, X):
    m = ref.Model(path)
    Q, R = (Z / m.theta.lengthscale for Z in (m.standardise(X), m.arrays["X"]))
    return np.sqrt(((Q[:, None, :] - R[None, :, :]) ** 2).sum(2)).min(1)


def groups_of(key):
    """Row numbers of each group: tenths of the sorted rows, equal keys together, few keys apart."""
    order = np.argsort(key, kind="stable")
    values, start = np.unique(key[order], return_index=True)
    if len(values) <= 10:
        cuts = start
    else:  # the first run that begins at or behind each tenth
        tenths = np.arange(10) * len(key) / 10
        cuts = np.unique([start[start >= t][0] for t in tenths if np.any(start >= t)])
    return np.split(order, cuts[1:])


def check(groups, key, y, p, train, model=None):
    """Every number of every group; p: predict's table, calibrated where a model is given."""
    expected = groups_of(key)
    assert [g["rows"] for g in groups] == [len(e) for e in expected]
    mean, std, lower, upper = (p[:, k] for k in range(4))
    for g, e in zip(groups, expected):
        agree("low", g["low"], key[e].min(), 1 + abs(key[e].min()), 1e-12)
        agree("high", g["high"], key[e].max(), 1 + abs(key[e].max()), 1e-12)
        inside = (lower[e] <= y[e]) & (y[e] <= upper[e])
        agree("coverage", g["coverage"], inside.mean(), 1.0, 1e-12)
        agree("width", g["width"], np.mean(upper[e] - lower[e]), 1.0)
        agree("rmse", g["rmse"], np.sqrt(np.mean((y[e] - mean[e]) ** 2)), 1.0)
        density = (stats.norm.logpdf(y[e], mean[e], std[e]) if model is None
                   else log_density_of(model, y[e], mean[e], std[e]))
        trivial = stats.norm.logpdf(y[e], train.mean(), train.std())
        agree("msll", g["msll"], np.mean(trivial - density), 1.0)
        band = stats.binom.ppf([0.025, 0.975], len(e), 0.95) / len(e)
        agree("expected", g["expected"], band, 1.0, 1e-12)


def predicted(here, *words):
    text = quorum("predict", here / "m.npz", here / "test.csv", "-q", *words)
    return np.array([[float(c) for c in line.split(",")] for line in text.splitlines()[1:]])


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w[1])
def test_by_distance(problem, way):
    here, train, test = problem
    [score] = evaluate(here, "--by", "distance", *way)
    key = distances(here / "m.npz", test[:, :3])
    assert score["by"] == "distance" and len(score["groups"]) == 10
    check(score["groups"], key, test[:, 3], predicted(here, *way), train[:, 3],
          ref.Model(here / "m.npz") if way[1] == "nearest" else None)


@pytest.mark.parametrize("column,place", [("a", 0), ("b", 1), ("y", 3), ("hour", 4), ("5", 4), ("-1", 4)])
def test_by_column(problem, column, place):
    """An input, an input of three values, the target, and a column that the model does not know."""
    here, train, test = problem
    [score] = evaluate(here, "--by", column)
    check(score["groups"], test[:, place], test[:, 3], predicted(here), train[:, 3],
          ref.Model(here / "m.npz"))
    if column == "b":
        assert [(g["low"], g["high"]) for g in score["groups"]] == [(k, k) for k in (0.0, 1.0, 2.0)]


def test_atoms_among_other_values(problem, tmp_path):
    """Half of the rows have one value: it is not cut, and there are fewer groups."""
    here, train, test = problem
    more = test.copy()
    more[:90, 4] = 7.0
    more[90:, 4] = np.linspace(0, 20, len(more) - 90)
    np.savetxt(tmp_path / "t.csv", more, "%.17g", ",", header="a,b,c,y,hour", comments="")
    [score] = json.loads(quorum("evaluate", here / "m.npz", tmp_path / "t.csv", "--by", "hour", "--json", "-q"))
    check(score["groups"], more[:, 4], more[:, 3], predicted(here), train[:, 3],
          ref.Model(here / "m.npz"))
    assert len(score["groups"]) < 10 and max(g["rows"] for g in score["groups"]) >= 90


def test_all_rows_are_those_of_the_groups(problem):
    here, _, test = problem
    [score] = evaluate(here, "--by", "distance")
    rows = np.array([g["rows"] for g in score["groups"]])
    assert rows.sum() == len(test)
    for name in ("msll", "coverage"):
        whole = score["coverage"]["95"] if name == "coverage" else score[name]
        agree(name, np.average([g[name] for g in score["groups"]], weights=rows), whole, 1.0, 1e-12)
    agree("rmse", np.sqrt(np.average([g["rmse"] ** 2 for g in score["groups"]], weights=rows)),
          score["rmse"], 1.0, 1e-12)


def test_same_bits_for_any_threads_and_memory(problem):
    here, *_ = problem
    one = evaluate(here, "--by", "distance", "--method", "all", "--threads", 1)
    other = evaluate(here, "--by", "distance", "--method", "all", "--threads", 3, "--memory", "11M")
    for a, b in zip(one, other):
        assert a["groups"] == b["groups"]


def test_distance_of_overlapping_experts(problem, tmp_path):
    """Rows that several experts hold are one row; a linear metric turns them."""
    here, train, test = problem
    model, _ = fit(tmp_path, "m", train, "--experts", 4, "--overlap", 0.3)
    np.save(tmp_path / "t.npy", test[:, :4])
    [score] = json.loads(quorum("evaluate", model, tmp_path / "t.npy", "--by", "distance", "--json", "-q"))
    key = np.sort(distances(model, test[:, :3]))
    same_bits("rows", np.array([g["rows"] for g in score["groups"]]),
              np.array([len(e) for e in groups_of(key)]))
    agree("high", score["groups"][-1]["high"], key[-1], key[-1])


def test_picture(problem, tmp_path):
    here, *_ = problem
    quorum("evaluate", here / "m.npz", here / "test.csv", "--by", "distance", "--method", "nearest,rbcm",
           "--plot", tmp_path / "by.svg", "-q")
    svg = "{http://www.w3.org/2000/svg}"
    root = xml.parse(tmp_path / "by.svg").getroot()
    text = " ".join(t.text for t in root.iter(svg + "text"))
    for word in ("by distance", "nearest", "rbcm", "95 % of chance", "width", "group 1 is", "group 10 is"):
        assert word in text
    along = [(float(t.get("x")), 3.4 * len(t.text)) for t in root.iter(svg + "text")
             if float(t.get("y")) > 370 and not t.get("transform")]  # centre and half the width
    assert len(along) == 1 and 0 < along[0][0] - along[0][1] and along[0][0] + along[0][1] < float(root.get("width"))
    curves = [p for p in root.iter(svg + "path") if p.get("stroke-linejoin") == "round"]
    assert len(curves) == 5  # the level, and two methods in two panels
    assert all(p.get("d").count("L") == 9 for p in curves[1:])
