"""Gradients against finite differences of the reference, whose neighbours are held fixed; novelty and
decisions from their definitions."""
import csv
import subprocess

import numpy as np
import pytest
from scipy import integrate, stats

import reference as ref
from oracle_support import QUORUM, agree, fit, predict, same_bits, training_rows

KERNELS = ["se", "matern12", "matern32", "matern52", "matern32x2", "matern32x3"]
RULES = ["poe", "gpoe", "gpoe-entropy", "bcm", "rbcm", "grbcm", "single"]
D = 3
NEAR = ["--train", "neighbours", "--graph", "none"]


def rows_of(seed=4, n=240):
    """As training_rows, with a slope and a noise that changes."""
    rng = np.random.default_rng(seed)
    rows = training_rows(seed, n, D)
    rows[:, -1] += 0.3 * rows[:, 0] + 4.0 * rng.standard_normal(n) * (rows[:, 1] > rows[:, 1].mean())
    return rows


def queries_of(rows, b=6, seed=8):
    """Some inside, some beside, some well outside the rows."""
    rng = np.random.default_rng(seed)
    X = rows[:, :-1]
    Q = X.mean(0) + X.std(0) * rng.normal(size=(b, D))
    Q[b // 2:] += X.std(0) * 1.5
    Q[-1] += X.std(0) * 4.0
    return Q


def central(f, x, d, h):
    """The derivative of f along input d, to the fourth order in h."""
    def difference(step):
        e = np.zeros_like(x)
        e[:, d] = step
        return (f(x + e) - f(x - e)) / (2.0 * step)
    return (4.0 * difference(h) - difference(2.0 * h)) / 3.0


def reference_gradients(model, Q, monkeypatch, **options):
    """(2, b, D): of mean and std, from the reference at a query at a time."""
    find, scale = ref.nearest_rows, model.arrays["x_scale"]
    step = 1e-4 if model.theta.kernel == "matern12" else 1e-3  # of a kernel with cusps
    expected = np.empty((2, len(Q), D))
    for q in range(len(Q)):
        centre = model.standardise(Q[q:q + 1])
        monkeypatch.setattr(ref, "nearest_rows",
                            lambda theta, X, z, m: [find(theta, X, centre, m)[0]] * len(z))
        for d in range(D):
            expected[:, q, d] = central(
                lambda x: np.array(model.predict(x, order=range(model.M), **options))[:, 0], Q[q:q + 1],
                d, step * scale[d])
    monkeypatch.setattr(ref, "nearest_rows", find)
    return expected


def given_gradients(path, Q, *options):
    columns = predict(path, Q, "--gradient", *options)
    names = list(columns)
    assert names[:4] == ["mean", "std", "lower", "upper"] and len(names) == 4 + 2 * D
    values = np.array([columns[name] for name in names[4:]])
    return np.array([values[:D].T, values[D:].T])


def compare(what, path, Q, monkeypatch, *options, **as_reference):
    model = ref.Model(path)
    given = given_gradients(path, Q, *options)
    expected = reference_gradients(model, Q, monkeypatch, **as_reference)
    unit = model.arrays["x_scale"]
    for k, name in enumerate(["mean", "std"]):
        size = np.abs(expected[k] * unit).max()
        agree(f"gradient of {name}, {what}", given[k] * unit, expected[k] * unit, size, 1e-6)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    directory, made = tmp_path_factory.mktemp("gradients"), {}

    def get(kernel, *options):
        key = (kernel, *options)
        if key not in made:
            made[key] = fit(directory, f"m{len(made)}", rows_of(), *NEAR, "--kernel", kernel,
                            "--experts", 4, *options)[0]
        return made[key]
    return get


# ---- Gradients ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("options", [(), ("--metric", "linear"), ("--trend", "linear"),
                                     ("--spread", "none")])
def test_nearest(fitted, monkeypatch, kernel, options):
    path = fitted(kernel, *options)
    compare("nearest", path, queries_of(rows_of()), monkeypatch, "--method", "nearest",
            "--neighbours", 60, method="nearest", neighbours=60)


def test_nearest_latent(fitted, monkeypatch):
    compare("nearest", fitted("matern32"), queries_of(rows_of()), monkeypatch, "--method", "nearest",
            "--neighbours", 60, "--latent", method="nearest", neighbours=60, latent=True)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("options", [(), ("--trend", "linear")])
def test_rules(fitted, monkeypatch, rule, options):
    for space in ("latent", "observed"):
        compare(rule, fitted("matern32", *options), queries_of(rows_of()), monkeypatch, "--method",
                rule, "--space", space, method=rule, space=space, select="all")


@pytest.mark.parametrize("kernel", ["se", "matern32", "matern32x2"])
@pytest.mark.parametrize("neighbours", [0, 40])
@pytest.mark.parametrize("options", [(), ("--trend", "linear"), ("--metric", "linear")])
def test_npae(fitted, monkeypatch, kernel, neighbours, options):
    compare("npae", fitted(kernel, *options), queries_of(rows_of()), monkeypatch, "--method", "npae",
            "--select", "all", "--neighbours", neighbours, method="npae", select="all",
            neighbours=neighbours)


def test_npae_of_shared_rows(fitted, monkeypatch):
    path = fitted("matern32", "--overlap", "0.3", "--train", "parts")
    compare("npae, overlap", path, queries_of(rows_of()), monkeypatch, "--method", "npae", "--select",
            "all", "--neighbours", 40, method="npae", select="all", neighbours=40)


def test_the_same_rows_asked_for_otherwise(fitted):
    """One expert that has all rows, and a neighbourhood of all rows: the same GP."""
    path = fitted("matern52", "--experts", 1, "--spread", "none")
    Q = queries_of(rows_of())
    near = given_gradients(path, Q, "--method", "nearest", "--neighbours", 240)
    for method in ("npae", "poe", "bcm", "gpoe", "single"):
        other = given_gradients(path, Q, "--method", method, "--neighbours", 0, "--select", "all")
        agree("gradients of one expert", other, near, np.abs(near).max(), 1e-9)


def test_calibration_multiplies_the_gradient_of_std(fitted):
    """By one number where no variance is thought to be untested, which calibration leaves alone."""
    path = fitted("matern32", "--calibrate", "--spread", "4")
    Q = queries_of(rows_of())
    on, off = (predict(path, Q, "--calibration", c)["std"] for c in ("auto", "off"))
    slopes = [given_gradients(path, Q, "--calibration", c) for c in ("auto", "off")]
    assert not np.allclose(on, off)
    agree("gradient, calibrated", slopes[0][1], slopes[1][1] * (on / off)[:, None],
          np.abs(slopes[0][1]).max(), 1e-12)
    same_bits("gradient of the mean", slopes[0][0], slopes[1][0])


def test_far_away_only_the_trend_is_left(fitted):
    Q = np.full((2, D), 1e9)
    assert not given_gradients(fitted("se"), Q).any()
    model = ref.Model(fitted("se", "--trend", "linear"))
    slope = float(model.arrays["y_scale"]) * model.arrays["trend"][1:]
    slope = (slope @ model.arrays["rotation"] if "rotation" in model.arrays else slope) / model.arrays["x_scale"]
    agree("slope far away", given_gradients(fitted("se", "--trend", "linear"), Q)[0],
          np.tile(slope, (2, 1)), np.abs(slope).max(), 1e-12)


def test_an_input_that_does_not_vary_has_no_slope(tmp_path):
    rows = rows_of()
    rows[:, 1] = 3.0
    path, _ = fit(tmp_path, "constant", rows, *NEAR, "--kernel", "matern32")
    given = given_gradients(path, queries_of(rows))
    assert not given[:, :, 1].any() and given[:, :, 0].all()


def test_matern12_on_a_row_leaves_the_cusp_out(fitted):
    """Finite, and the mean of the two sides' derivatives."""
    path, rows = fitted("matern12"), rows_of()
    Q = rows[:1, :-1]
    given = given_gradients(path, Q, "--method", "nearest", "--neighbours", 240)
    step = 1e-6 * rows[:, 0].std()
    means = [predict(path, Q + [[k * step, 0, 0]], "--method", "nearest", "--neighbours",
                     240)["mean"][0] for k in (-1, 0, 1)]
    left, right = (means[1] - means[0]) / step, (means[2] - means[1]) / step
    assert abs(left - right) > 0.01 * abs(left + right)
    agree("cusp", given[0][0, 0], 0.5 * (left + right), abs(left) + abs(right), 1e-4)


@pytest.mark.parametrize("method", ["nearest", "npae", "rbcm", "grbcm"])
def test_same_bits(fitted, method):
    path, Q = fitted("matern32", "--trend", "linear"), queries_of(rows_of(), 40)
    options = ["--method", method, "--novelty", "--above", "30"]
    whole = predict(path, Q, "--gradient", *options, "--threads", 1)
    threads = predict(path, Q, "--gradient", *options, "--threads", 3)
    alone = predict(path, Q[7:8], "--gradient", *options)
    plain = predict(path, Q, "--method", method)
    for name in whole:
        same_bits(name, whole[name], threads[name])
        same_bits(name, whole[name][7:8], alone[name])
    for name in plain:
        same_bits(name, plain[name], whole[name])


# ---- Novelty --------------------------------------------------------------------------------------


def test_novelty_is_the_share_of_the_prior_variance(fitted):
    path, Q = fitted("matern32", "--spread", "none"), queries_of(rows_of())
    model = ref.Model(path)
    for method in ("nearest", "npae", "rbcm"):
        given = predict(path, Q, "--method", method, "--latent", "--novelty")
        expected = (given["std"] / float(model.arrays["y_scale"])) ** 2 / model.theta.signal
        agree("novelty", given["novelty"], expected, 1.0, 1e-12)


def test_novelty_is_one_far_away_and_nothing_on_a_row_without_noise(tmp_path):
    X = np.random.default_rng(2).uniform(-1, 1, size=(200, 2))
    rows = np.column_stack([X, np.sin(3 * X[:, 0]) * X[:, 1]])
    path, _ = fit(tmp_path, "calm", rows, *NEAR, "--kernel", "matern52")
    Q = np.vstack([X[:3], [[1e6, 1e6]]])
    for method in ("nearest", "npae", "grbcm"):
        novelty = predict(path, Q, "--method", method, "--novelty")["novelty"]
        assert (novelty[:3] < 1e-3).all() and novelty[3] == 1.0


def said_of(path, X, tmp_path):
    np.save(tmp_path / "asked.npy", X)
    done = subprocess.run([QUORUM, "predict", path, tmp_path / "asked.npy", "-o", tmp_path / "out.csv"],
                          capture_output=True, text=True, check=True)
    return done.stderr


def test_a_note_when_most_queries_are_outside(fitted, tmp_path):
    path, X = fitted("matern32"), rows_of()[:, :-1]
    far = X[:40] + 1e3 * X.std(0)
    assert "outside the data" not in said_of(path, X, tmp_path)
    assert "outside the data" not in said_of(path, np.vstack([X[:40], far]), tmp_path)
    assert "41 of 81 queries are outside the data" in said_of(
        path, np.vstack([X[:40], far, far[:1]]), tmp_path)


# ---- Decisions ------------------------------------------------------------------------------------


def test_decisions_are_those_of_the_gaussian(fitted):
    path, Q = fitted("matern32"), queries_of(rows_of())
    given = predict(path, Q, "--above", "30,-2.5", "--below", "30", "--improvement-above", "31",
                    "--improvement-below", "29")
    mean, std = given["mean"], given["std"]
    agree("above", given["above_30"], stats.norm.sf(30, mean, std), 1.0, 1e-13)
    agree("above", given["above_-2.5"], stats.norm.sf(-2.5, mean, std), 1.0, 1e-13)
    agree("below", given["below_30"], stats.norm.cdf(30, mean, std), 1.0, 1e-13)

    def expected(gain, best):
        return [integrate.quad(lambda y: max(0.0, gain(y)) * stats.norm.pdf(y, m, s), m - 12 * s,
                               m + 12 * s, points=[best], limit=200)[0] for m, s in zip(mean, std)]

    agree("improvement", given["improvement_above_31"], np.array(expected(lambda y: y - 31, 31)), 1.0,
          1e-7)
    agree("improvement", given["improvement_below_29"], np.array(expected(lambda y: 29 - y, 29)), 1.0,
          1e-7)


def test_even_chances_at_the_mean(fitted):
    path, Q = fitted("matern32"), queries_of(rows_of())[:1]
    at = predict(path, Q)
    mean, std = at["mean"][0], at["std"][0]
    given = predict(path, Q, "--above", repr(mean), "--improvement-below", repr(mean))
    assert list(given.values())[4][0] == 0.5
    agree("improvement at the mean", list(given.values())[5][0], std / np.sqrt(2 * np.pi), std, 1e-15)


# ---- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("options, sentence", [
    (["--above", "x"], "--above x: a number is wanted"),
    (["--above", "1,"], "--above : a number is wanted"),
    (["--below", "nan"], "--below nan: a number is wanted"),
    (["--above", "1", "--mean-only"], "--above needs the variance"),
    (["--novelty", "--mean-only"], "--novelty needs the variance"),
    (["--gradient", "--method", "npae", "--select", "local:auto"], "select local:auto"),
])
def test_refused(fitted, tmp_path, options, sentence):
    np.save(tmp_path / "asked.npy", queries_of(rows_of()))
    done = subprocess.run([QUORUM, "predict", fitted("matern32"), tmp_path / "asked.npy", *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode != 0 and sentence in done.stderr and not done.stdout


def test_names_that_need_quotes(tmp_path):
    rows = rows_of()
    header = '"a,b","say ""x""",plain,y'
    text = "\n".join([header] + [",".join(map(repr, map(float, row))) for row in rows])
    (tmp_path / "t.csv").write_text(text + "\n", encoding="utf-8")
    subprocess.run([QUORUM, "fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "-q", "--kernel", "se"],
                   check=True, capture_output=True)
    done = subprocess.run([QUORUM, "predict", tmp_path / "m.npz", tmp_path / "t.csv", "--gradient",
                           "--mean-only"], check=True, capture_output=True, text=True)
    assert next(csv.reader(done.stdout.splitlines())) == ["mean", "dmean_a,b", 'dmean_say "x"',
                                                          "dmean_plain"]
