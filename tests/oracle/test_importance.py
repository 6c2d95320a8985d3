"""Importance and effects against closed forms, and against NumPy on the predictions of `quorum predict`."""
import csv
import io
import json

import numpy as np
import pytest

from oracle_support import agree, quorum

NAMES = list("abcdef")
FIT = ["--kernel", "se", "--metric", "ard", "--calibrate=no", "--trend", "constant", "--spread", "none", "--local-noise=no"]
SHARE = 0.02  # of the variance: how far a share may be from its closed form


def write(path, columns, y=None, names=NAMES):
    table = np.column_stack([*columns, *([y] if y is not None else [])])
    head = [*names[:len(columns)], *(["y"] if y is not None else [])]
    np.savetxt(path, table, delimiter=",", header=",".join(head), comments="", fmt="%.10g")
    return path


def friedman(X):
    """The function of the README's quick start."""
    a, b, c, d, e = X[:, :5].T
    return 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e


def friedman_shares():
    """First and total shares of each input for independent uniform inputs: quadrature for the sine, the rest by hand."""
    node, weight = np.polynomial.legendre.leggauss(60)
    x, w = (node + 1) / 2, weight / 2
    g = 10 * np.sin(np.pi * np.outer(x, x))
    mean = w @ g @ w
    both = w @ g ** 2 @ w - mean ** 2
    alone = w @ (g @ w) ** 2 - mean ** 2
    own = np.array([alone, alone, 400 * (1 / 80 - 1 / 144), 100 / 12, 25 / 12, 0])
    left = np.array([both - alone, both - alone, *own[2:]])
    variance = both + own[2:].sum()
    return own / variance, left / variance, variance


def found(model, data, *more):
    told = json.loads(quorum("importance", model, data, "--json", *more))
    told["inputs"] = {one["input"]: one for one in told["inputs"]}
    return told


def predicted(model, path, *more):
    rows = list(csv.DictReader(io.StringIO(quorum("predict", model, path, *more))))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


@pytest.fixture(scope="module")
def quick_start(tmp_path_factory):
    """A model of the README's function, almost without noise, and many more rows of it."""
    here, rng = tmp_path_factory.mktemp("friedman"), np.random.default_rng(3)
    X = rng.random((600, 6))
    write(here / "train.csv", X.T, friedman(X) + 0.05 * rng.standard_normal(600))
    X = rng.random((8000, 6))
    write(here / "data.csv", X.T, friedman(X) + 0.05 * rng.standard_normal(8000))
    quorum("fit", here / "train.csv", "-o", here / "model.npz", *FIT)
    return here


@pytest.fixture(scope="module")
def quick_start_found(quick_start):
    return found(quick_start / "model.npz", quick_start / "data.csv", "--rows", 3000)


def test_shares_of_the_readmes_function_are_those_in_closed_form(quick_start_found):
    first, total, variance = friedman_shares()
    told = quick_start_found
    assert told["rows"] == 3000 and told["rows_once"] == 8000
    assert told["variance"] == pytest.approx(variance, rel=0.05)
    agree("shares: first", [told["inputs"][n]["first"]["value"] for n in NAMES], first, 1, SHARE)
    agree("shares: total", [told["inputs"][n]["total"]["value"] for n in NAMES], total, 1, SHARE)


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_shares_by_the_defaults_are_those_in_closed_form(quick_start, tmp_path, seed):
    """5,000 rows, as the README's file has, and no option; without what keeps chance out about every fifth such file would miss."""
    first, total, _ = friedman_shares()
    X = np.random.default_rng(seed).random((5000, 6))
    write(tmp_path / "data.csv", X.T, friedman(X))
    told = found(quick_start / "model.npz", tmp_path / "data.csv")
    assert told["rows"] == 2000 and told["rows_once"] == 5000
    agree("shares: first, defaults", [told["inputs"][n]["first"]["value"] for n in NAMES], first, 1, SHARE)
    agree("shares: total, defaults", [told["inputs"][n]["total"]["value"] for n in NAMES], total, 1, SHARE)


def test_a_weak_dependence_is_not_taken_for_chance(tmp_path):
    """f = a + 2 b with a correlation of 0.15, which Chatterjee's coefficient does not see: first_a is 30 %, and 18 % if it were chance."""
    rng, b, C = np.random.default_rng(8), np.array([1.0, 2.0]), np.array([[1, 0.15], [0.15, 1]])
    X = rng.multivariate_normal(np.zeros(2), C, 5000)
    write(tmp_path / "train.csv", X[:300].T, X[:300] @ b + 0.01 * rng.standard_normal(300))
    write(tmp_path / "data.csv", X.T, X @ b)
    quorum("fit", tmp_path / "train.csv", "-o", tmp_path / "model.npz", *FIT)
    told = found(tmp_path / "model.npz", tmp_path / "data.csv", "--rows", 500)["inputs"]
    agree("shares: first, weakly dependent", [told[n]["first"]["value"] for n in "ab"], (C @ b) ** 2 / (b @ C @ b), 1, 1.5 * SHARE)


def test_intervals_hold_the_closed_form(quick_start_found):
    first, total, _ = friedman_shares()
    inside = [one[kind]["low"] - 0.003 <= truth[k] <= one[kind]["high"] + 0.003
              for k, one in enumerate(quick_start_found["inputs"][n] for n in NAMES)
              for kind, truth in (("first", first), ("total", total))]
    assert sum(inside) >= 10, "95 % intervals of 12 shares"


def test_permuting_independent_inputs_costs_twice_the_total_share(quick_start_found):
    """E (f(x) - f(x with another x_j))^2 = 2 E Var(f | all but x_j), the errors of the model aside."""
    told = quick_start_found
    for name in NAMES:
        one = told["inputs"][name]
        agree("importance: squared error", one["squared_error"]["value"],
              2 * one["total"]["value"] * told["variance"], told["variance"], 0.04)


def test_an_additive_function_of_gaussians_that_depend_on_each_other(tmp_path):
    """f = b'x, x normal with covariance C:  first_j = (C b)_j^2 / C_jj,  total_j = b_j^2 Var(x_j | the others)."""
    C = np.array([[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]])
    b, rng = np.array([1.0, 2.0, 1.5]), np.random.default_rng(5)
    X = rng.multivariate_normal(np.zeros(3), C, 6000)
    write(tmp_path / "train.csv", X[:300].T, X[:300] @ b + 0.01 * rng.standard_normal(300))
    write(tmp_path / "data.csv", X.T, X @ b)
    quorum("fit", tmp_path / "train.csv", "-o", tmp_path / "model.npz", *FIT)
    told = found(tmp_path / "model.npz", tmp_path / "data.csv", "--rows", 2000)["inputs"]
    variance = b @ C @ b
    agree("shares: first, dependent", [told[n]["first"]["value"] for n in "abc"],
          (C @ b) ** 2 / np.diag(C) / variance, 1, SHARE)
    agree("shares: total, dependent", [told[n]["total"]["value"] for n in "abc"],
          b ** 2 / np.diag(np.linalg.inv(C)) / variance, 1, SHARE)


def test_the_sine_on_a_parabola_of_ishigami(tmp_path):
    """sin a + 7 sin^2 b + 0.1 c^4 sin a on [-pi, pi]^3, of which c has no first share and a total one."""
    rng = np.random.default_rng(6)
    X = rng.uniform(-np.pi, np.pi, (15000, 3))
    f = np.sin(X[:, 0]) * (1 + 0.1 * X[:, 2] ** 4) + 7 * np.sin(X[:, 1]) ** 2
    write(tmp_path / "train.csv", X[:500].T, f[:500] + 0.1 * rng.standard_normal(500))
    write(tmp_path / "data.csv", X.T, f)
    quorum("fit", tmp_path / "train.csv", "-o", tmp_path / "model.npz", *FIT)
    told = found(tmp_path / "model.npz", tmp_path / "data.csv", "--rows", 5000)["inputs"]
    a, b = 7, 0.1
    v1, v2 = (1 + b * np.pi ** 4 / 5) ** 2 / 2, a ** 2 / 8
    v13 = b ** 2 * np.pi ** 8 * (1 / 18 - 1 / 50)
    variance = v1 + v2 + v13
    agree("shares: first, Ishigami", [told[n]["first"]["value"] for n in "abc"], np.array([v1, v2, 0]) / variance, 1, SHARE)
    agree("shares: total, Ishigami", [told[n]["total"]["value"] for n in "abc"],
          np.array([v1 + v13, v2, v13]) / variance, 1, SHARE)


# ---- The estimators, on the predictions of the program ----


def smooth_means(x, f):
    """For each row the mean of f over as many rows on either side, in the order of x, a hundredth of them at most."""
    n = len(f)
    side, order = int(np.ceil(0.01 * n)), np.argsort(x, kind="stable")
    g, out = f[order], np.empty(n)
    for i in range(n):
        k = min(i, n - 1 - i, side)
        around = np.r_[g[i - k:i], g[i + 1:i + k + 1]] if k else g[[1 if i == 0 else n - 2]]
        out[order[i]] = around.mean()
    return out


def follows(x, y):
    """Chatterjee's coefficient of y on x, which have no ties; 0 where it is within three deviations of chance."""
    n = len(x)
    rank = np.argsort(np.argsort(y))[np.argsort(x)]
    xi = 1 - 3 * np.abs(np.diff(rank)).sum() / (n * n - 1)
    return xi if xi > 3 * np.sqrt(0.4 / n) else 0.0


def without_chance(X, f):
    """Effects of single inputs, those of at least 2 % of Var f, the largest first, and for each input those of them that have nothing to do with it."""
    n, D = X.shape
    g = np.array([smooth_means(X[:, j], f) - f.mean() for j in range(D)])
    share = np.mean((f - f.mean()) * (g - g.mean(1)[:, None]), axis=1) / f.var()
    order = [k for k in np.argsort(-share, kind="stable") if share[k] >= 0.02]
    chance = np.abs(np.corrcoef(g)) <= 3 / np.sqrt(n)
    others = [[k for k in order if k != j and chance[j, k] and not follows(X[:, j], X[:, k]) and not follows(X[:, k], X[:, j])] for j in range(D)]
    return g, order, others


def take_off(f, g, which):
    """f - mean f less b g_k of one input after the other, b the slope of what is left; and each b."""
    rest, slope = f - f.mean(), np.zeros(len(g))
    for k in which:
        slope[k] = np.cov(rest, g[k], bias=True)[0, 1] / g[k].var()
        rest = rest - slope[k] * g[k]
    return rest, slope


def first_shares(X, f):
    """cov(h, mean of h near x_j) / Var f, h = f without the effects of inputs that are independent of x_j, Var f without what they share by chance."""
    g, order, others = without_chance(X, f)
    slope = take_off(f, g, order)[1]
    variance = f.var() - 2 * sum(slope[j] * slope[k] * np.mean(g[j] * g[k]) for j in range(len(g)) for k in others[j] if k < j)
    h = [take_off(f, g, others[j])[0] for j in range(len(g))]
    return np.array([np.mean((h[j] - h[j].mean()) * (smooth_means(X[:, j], h[j]) - h[j].mean())) for j in range(len(g))]) / variance


@pytest.fixture(scope="module")
def few(quick_start):
    """The first 400 rows: all of them are looked at, so that nothing is drawn."""
    table = np.loadtxt(quick_start / "data.csv", delimiter=",", skiprows=1)[:400]
    write(quick_start / "few.csv", table[:, :6].T, table[:, 6])
    return quick_start, table


def test_first_shares_as_numpy_finds_them(few):
    here, table = few
    f = predicted(here / "model.npz", here / "few.csv")["mean"]
    told = found(here / "model.npz", here / "few.csv")
    agree("first share", told["variance"], f.var(), f.var())
    shares = first_shares(table[:, :6], f)
    agree("first share", [told["inputs"][name]["first"]["value"] for name in NAMES], shares, 1)
    assert not np.allclose(shares[:5], [np.mean((f - f.mean()) * (smooth_means(x, f) - f.mean())) / f.var() for x in table[:, :5].T], atol=0.01)


def test_permutation_as_numpy_does_it(few, tmp_path):
    here, table = few
    rng, y = np.random.default_rng(1), table[:, 6]

    def losses(columns):
        write(tmp_path / "q.csv", columns.T)
        p = predicted(here / "model.npz", tmp_path / "q.csv")
        return (y - p["mean"]) ** 2, 0.5 * np.log(2 * np.pi * p["std"] ** 2) + 0.5 * ((y - p["mean"]) / p["std"]) ** 2

    told = found(here / "model.npz", here / "few.csv")
    before = losses(table[:, :6])
    agree("losses", [told["squared_error"], told["nlpd"]], [loss.mean() for loss in before], np.abs([loss.mean() for loss in before]))
    for j in (0, 3, 5):
        draws = []
        for _ in range(4):
            X = table[:, :6].copy()
            X[:, j] = rng.permutation(X[:, j])
            draws.append([now.mean() - was.mean() for now, was in zip(losses(X), before)])
        for kind, values in zip(("squared_error", "nlpd"), np.transpose(draws)):
            one = told["inputs"][NAMES[j]][kind]
            width = one["high"] - one["low"]
            assert abs(one["value"] - values.mean()) <= 1.5 * width + 1e-3, (NAMES[j], kind)
            assert one["low"] < one["value"] < one["high"]


def test_intervals_are_as_wide_as_chance(few):
    """Shares of 400 rows vary, from one 400 rows to others, as the intervals say."""
    here, _ = few
    told, rng = found(here / "model.npz", here / "few.csv")["inputs"], np.random.default_rng(2)
    shares = []
    for _ in range(250):
        X = rng.random((400, 6))
        f = friedman(X)
        shares.append(first_shares(X, f)[[0, 2, 3]])
    for name, deviation in zip("acd", np.std(shares, axis=0)):
        one = told[name]["first"]
        agree("width of intervals", (one["high"] - one["low"]) / 3.92, deviation, deviation, 0.3)


def effect(model, data, *more):
    rows = list(csv.DictReader(io.StringIO(quorum("effects", model, data, *more))))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def test_effects_are_means_over_rows(few, tmp_path):
    here, table = few
    told = effect(here / "model.npz", here / "few.csv", "--x", "c", "--points", 5, "--curves", 4)
    grid = np.linspace(table[:, 2].min(), table[:, 2].max(), 5)
    agree("effect: grid", told["c"], grid, 1)
    for k, value in enumerate(grid):
        X = table[:, :6].copy()
        X[:, 2] = value
        write(tmp_path / "q.csv", X.T)
        p = predicted(here / "model.npz", tmp_path / "q.csv", "--latent")
        for kind in ("mean", "lower", "upper"):
            agree("effect: " + kind, told[kind][k], p[kind].mean(), 20)
        for c in range(4):
            agree("effect: curves", told[f"curve_{c + 1}"][k], p["mean"][c * 100], 20)


def test_effects_of_two_are_means_over_rows(few, tmp_path):
    here, table = few
    told = effect(here / "model.npz", here / "few.csv", "--x", "a", "--y", "b=0.2:0.8", "--points", 3, "--rows", 400)
    assert len(told["mean"]) == 9
    agree("effect: grid of two", told["b"], np.repeat([0.2, 0.5, 0.8], 3), 1)
    for k in (1, 5, 6):
        X = table[:, :6].copy()
        X[:, 0], X[:, 1] = told["a"][k], told["b"][k]
        write(tmp_path / "q.csv", X.T)
        agree("effect: two", told["mean"][k], predicted(here / "model.npz", tmp_path / "q.csv", "--latent")["mean"].mean(), 20)


def test_support_is_where_rows_are(tmp_path):
    """b is a with a little noise: few rows have another a near their b.  c stands apart, with a gap."""
    rng = np.random.default_rng(8)
    a = rng.random(1500)
    b, c = a + 0.01 * rng.standard_normal(1500), np.where(rng.random(1500) < 0.5, 0, 0.7) + 0.3 * rng.random(1500)
    write(tmp_path / "d.csv", [a, b, c], np.sin(3 * a) + b + c + 0.05 * rng.standard_normal(1500))
    quorum("fit", tmp_path / "d.csv", "-o", tmp_path / "m.npz", *FIT, "--experts", 3)
    along = effect(tmp_path / "m.npz", tmp_path / "d.csv", "--x", "a=-0.5:1.5", "--points", 21, "--method", "nearest", "--neighbours", 64)
    inside = (along["a"] >= 0.1) & (along["a"] <= 0.9)
    # a row supports values within a twentieth of the axis (0.1) of its own, and little beyond
    truth = np.array([np.mean(np.abs(a - v) <= 0.1) for v in along["a"]])
    agree("support of a copy", along["support"][inside], truth[inside], 1, 0.15)
    assert along["support"][along["a"] < -0.2].max() == 0 and along["support"][along["a"] > 1.2].max() == 0
    gap = effect(tmp_path / "m.npz", tmp_path / "d.csv", "--x", "c", "--points", 21, "--method", "nearest", "--neighbours", 64)
    middle = (gap["c"] > 0.4) & (gap["c"] < 0.6)
    assert gap["support"][middle].max() == 0 and np.median(gap["support"][~middle]) > 0.95


def test_a_copy_has_the_first_share_and_hardly_a_total_one(tmp_path):
    rng = np.random.default_rng(9)
    a, c = rng.random((2, 1200))
    write(tmp_path / "d.csv", [a, a + 0.001 * rng.standard_normal(1200), c], 3 * a + c + 0.01 * rng.standard_normal(1200))
    quorum("fit", tmp_path / "d.csv", "-o", tmp_path / "m.npz", *FIT, "--experts", 2)
    told = found(tmp_path / "m.npz", tmp_path / "d.csv", "--method", "nearest", "--neighbours", 64, "--rows", 600)["inputs"]
    assert told["a"]["first"]["value"] > 0.85 and told["b"]["first"]["value"] > 0.85
    assert told["a"]["total"]["value"] < 0.01 and told["b"]["total"]["value"] < 0.01
    assert told["c"]["total"]["value"] == pytest.approx(0.1, abs=SHARE)


def test_same_bits_for_any_threads_and_other_numbers_for_another_seed(quick_start):
    args = ["importance", quick_start / "model.npz", quick_start / "data.csv", "--csv", "--rows", 60]
    one = quorum(*args, "--threads", 1)
    assert one == quorum(*args, "--threads", 2) and one != quorum(*args, "--seed", 7)
    args = ["effects", quick_start / "model.npz", quick_start / "data.csv", "--x", "a", "--points", 3, "--rows", 60]
    assert quorum(*args, "--threads", 1) == quorum(*args, "--threads", 2)
