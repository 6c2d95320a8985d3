"""The distribution that calibration makes of held-out rows: its quantiles, density and scores
against NumPy written from docs/methods.md ("Calibration"), and integrals; what it covers on made data."""
import json
import subprocess

import numpy as np
import pytest
from scipy import integrate, optimize

import reference as ref
from bent_normal import LEVELS, N, bend, crps, log_density, median, points, quantile, unbend
from oracle_support import QUORUM, agree, fit, predict, quorum, same_bits
from test_overlap import altered, refused

# ---- Models ------------------------------------------------------------------------------------------

NOISES = {"skewed": lambda rng, n: rng.gamma(1.0, 1.0, n) - 1.0, "heavy": lambda rng, n: rng.standard_t(2, n),
          "normal": lambda rng, n: rng.standard_normal(n), "atom": lambda rng, n: rng.choice([0.0, 0.0, 0.0, 1.0], n)}
NEAR = ["--train", "neighbours", "--theta", "1,1,0.05", "--spread", "none", "--experts", "4", "--graph", "none"]


def made(kind, n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (n, 2))
    return np.column_stack([x, 10.0 + np.sin(2 * x[:, 0]) + x[:, 1] + 0.25 * NOISES[kind](rng, n)])


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """Models of made rows, and how far predictions of other rows are from what these are, in std."""
    kept = {}

    def make(kind, n=1200):
        if (kind, n) not in kept:
            here = tmp_path_factory.mktemp(kind)
            kept[kind, n] = fit(here, "model", made(kind, n, 1), *NEAR, "--neighbours", "50", "--calibrate")[0]
        return kept[kind, n]
    return make


AT = ["--neighbours", "50"]


@pytest.mark.parametrize("kind, n", [("skewed", 1200), ("heavy", 1200), ("normal", 60), ("atom", 400)])
def test_quantiles_and_intervals(calibrated, kind, n):
    path = calibrated(kind, n)
    z = ref.Model(path).arrays["calibration_signed"]
    assert len(z) == n // 2 and np.all(np.diff(z) >= 0)
    asked = [1e-5, 0.001, 0.01, 0.05, 0.3, 0.5, 0.625, 0.95, 0.975, 0.9999]
    Q = made(kind, 50, 5)[:, :-1]
    raw = predict(path, Q, *AT, "--calibration", "off")
    for P in (0.5, 0.95, 0.999):
        out = predict(path, Q, *AT, "--interval", P, "--quantiles", ",".join(map(str, asked)))
        ends = [quantile(z, (1 - P) / 2), quantile(z, 1 - (1 - P) / 2)]
        agree("calibration: lower", out["lower"], out["mean"] + ends[0] * raw["std"], 1.0)
        agree("calibration: upper", out["upper"], out["mean"] + ends[1] * raw["std"], 1.0)
    values = np.column_stack([out[f"q{p}"] for p in asked])
    agree("calibration: quantiles", values,
          out["mean"][:, None] + np.array([quantile(z, p) for p in asked]) * raw["std"][:, None], 1.0)
    assert np.all(np.diff(values, axis=1) >= 0.0)
    gaussian = predict(path, Q, *AT, "--calibration", "off", "--quantiles", "0.1,0.9")
    agree("quantiles: gaussian", gaussian["q0.9"], raw["mean"] + N.ppf(0.9) * raw["std"], 1.0)
    latent = predict(path, Q, *AT, "--latent", "--quantiles", "0.1", "--interval", "0.8")
    agree("quantiles: latent", latent["q0.1"], latent["lower"], 1.0)


def scores(path, rows, *options):
    np.save(path.parent / "test.npy", rows)
    return json.loads(quorum("evaluate", path, path.parent / "test.npy", "--json", "-q", *AT, *options))[0]


@pytest.mark.parametrize("kind, n", [("skewed", 1200), ("heavy", 1200), ("normal", 60), ("atom", 400)])
def test_scores_are_those_of_the_distribution(calibrated, kind, n):
    path, rows = calibrated(kind, n), made(kind, 60, 7)
    rows[:3, -1] += [3.0, -3.0, 40.0]  # beyond all points
    model = ref.Model(path)
    z = model.arrays["calibration_signed"]
    d = points(z)
    raw = predict(path, rows[:, :-1], *AT, "--calibration", "off")
    ratio = (rows[:, -1] - raw["mean"]) / raw["std"]
    found = scores(path, rows)
    agree("calibrated NLPD", found["nlpd"], np.mean(np.log(raw["std"]) - log_density(d, ratio)), 1.0)
    trivial = N.logpdf(rows[:, -1], float(model.arrays["y_mean"]), float(model.arrays["y_scale"]))
    agree("calibrated MSLL", found["msll"], found["nlpd"] + trivial.mean(), 1.0)
    agree("calibrated CRPS", found["crps"], np.mean(raw["std"] * [crps(d, t) for t in ratio]), 1.0, 1e-6)
    for P in LEVELS:
        inside = (ratio >= quantile(z, (1 - P) / 2)) & (ratio <= quantile(z, 1 - (1 - P) / 2))
        assert found["coverage"][f"{100 * P:.0f}"] == pytest.approx(inside.mean(), abs=1e-12)


@pytest.mark.parametrize("kind", ["skewed", "heavy", "atom"])
def test_the_density_is_one(calibrated, kind):
    """It integrates to 1, and its integral is the probability."""
    d = points(ref.Model(calibrated(kind)).arrays["calibration_signed"])
    total = 0.0
    for a, b in zip(d[1][:-1], d[1][1:]):
        piece = integrate.quad(lambda t: np.exp(log_density(d, t)), a, b, epsabs=1e-13)[0]
        assert piece == pytest.approx(N.cdf(unbend(d, b)) - N.cdf(unbend(d, a)), abs=1e-10)
        total += piece
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("kind", ["skewed", "heavy", "normal"])
def test_both_tails_are_covered(calibrated, kind):
    """On new rows each tail of the interval has its half, within what 600 and 4,000 rows can tell."""
    path, rows = calibrated(kind), made(kind, 4000, 11)
    for P in (0.5, 0.9, 0.95):
        out = predict(path, rows[:, :-1], *AT, "--interval", P)
        tail = (1 - P) / 2
        chance = 4.0 * np.sqrt(tail * (1 - tail) * (1 / 600 + 1 / 4000))
        assert abs((rows[:, -1] < out["lower"]).mean() - tail) < chance
        assert abs((rows[:, -1] > out["upper"]).mean() - tail) < chance
    if kind == "skewed":
        one_sided = predict(path, rows[:, :-1], *AT, "--interval", 0.9, "--interval-shape", "symmetric")
        assert (rows[:, -1] < one_sided["lower"]).mean() < 0.01
        assert np.mean(out["upper"] - out["mean"]) > 1.5 * np.mean(out["mean"] - out["lower"])


def test_shapes_are_alike_where_errors_are_symmetric(calibrated):
    path, Q = calibrated("normal"), made("normal", 30, 3)[:, :-1]
    auto, symmetric = (predict(path, Q, *AT, "--interval", 0.9, "--interval-shape", s) for s in ("auto", "symmetric"))
    width = symmetric["upper"] - symmetric["lower"]
    for end in ("lower", "upper"):
        assert np.all(np.abs(auto[end] - symmetric[end]) < 0.08 * width)


def test_symmetric_intervals_are_those_of_absolute_ratios(calibrated):
    path, Q = calibrated("skewed"), made("skewed", 30, 3)[:, :-1]
    raw = predict(path, Q, *AT, "--calibration", "off")
    ratio = ref.Model(path).arrays["calibration"]
    for P in (0.4, 0.77, 0.95):
        out = predict(path, Q, *AT, "--interval", P, "--interval-shape", "symmetric")
        reach = ratio[int(np.ceil((len(ratio) + 1) * P)) - 1]
        agree("calibration: symmetric", out["upper"], out["mean"] + reach * raw["std"], 1.0)
        agree("calibration: symmetric", out["lower"], out["mean"] - reach * raw["std"], 1.0)


# ---- The factor of std ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["heavy", "skewed"])
def test_no_other_factor_has_a_better_score(tmp_path, kind):
    """std is multiplied by what makes the held-out CRPS of Gaussians least (one round: strict)."""
    rows = made(kind, 500, 4)
    path, _ = fit(tmp_path, "model", rows, *NEAR, "--neighbours", "50", "--calibrate", "strict")
    held, _, mean, std = strict_reference(tmp_path, rows)
    score = lambda s: np.mean([ref.crps(*t) for t in zip(rows[held, -1], mean, s * std)])
    best = optimize.minimize_scalar(score, bounds=(0.05, 20.0), method="bounded", options={"xatol": 1e-9})
    scale = ref.Model(path).meta["calibration"]["scale"]
    assert scale == pytest.approx(best.x, rel=1e-4) and score(scale) <= score(1.0)


# ---- strict ----------------------------------------------------------------------------------------------


def strict_reference(directory, rows):
    """One row in five, drawn in one pass, and a fit of the others that predicts them."""
    n, wanted, random = len(rows), len(rows) // 5, ref.Xoshiro(1, 11)
    held = np.zeros(n, dtype=bool)
    for i in range(n):
        held[i] = random.below(n - i) < wanted - held.sum()
    rest, _ = fit(directory, "rest", rows[~held], *NEAR)
    out = predict(rest, rows[held, :-1], *AT)
    return held, rest, out["mean"], out["std"]


def test_strict_learns_nothing_from_the_rows_it_holds_out(tmp_path):
    rows = made("skewed", 500, 4)
    path, _ = fit(tmp_path, "model", rows, *NEAR, "--neighbours", "50", "--calibrate", "strict")
    held, rest, mean, std = strict_reference(tmp_path, rows)
    model, other = ref.Model(path), ref.Model(rest)
    assert model.n == len(rows) and held.sum() == 100 == len(model.arrays["calibration"])
    for name in ("x_mean", "x_scale", "y_mean", "y_scale", "log_lengthscale", "log_noise_variance"):
        same_bits(name, model.arrays[name], other.arrays[name])
    agree("calibration: strict", model.arrays["calibration_signed"], np.sort((rows[held, -1] - mean) / std), 1.0)


@pytest.mark.parametrize("options", [["--train", "neighbours", "--kernel", "auto"],
                                     ["--train", "neighbours", "--trend", "linear", "--metric", "linear"],
                                     ["--train", "parts", "--experts", "3", "--overlap", "0.5"]])
def test_strict_trains_as_a_fit_of_the_rest(tmp_path, options):
    """Whatever is learned: theta, metric, kernel, trend, spread, neighbours."""
    rows = made("normal", 400, 6)
    limits = ["--max-evaluations", "15"]
    path, _ = fit(tmp_path, "model", rows, *options, *limits, "--calibrate=strict")
    random, held, wanted = ref.Xoshiro(1, 11), np.zeros(400, dtype=bool), 80
    for i in range(400):
        held[i] = random.below(400 - i) < wanted - held.sum()
    rest, _ = fit(tmp_path, "rest", rows[~held], *options, *limits)
    model, other = ref.Model(path), ref.Model(rest)
    for name in ("x_mean", "y_mean", "y_scale", "log_lengthscale", "log_signal_variance", "log_noise_variance",
                 "rotation", "trend", "trend_covariance"):
        if name in other.arrays:
            same_bits(name, model.arrays[name], other.arrays[name])
    for key in ("kernel", "spread", "neighbours", "kernel_scores"):
        assert model.meta.get(key) == other.meta.get(key)
    line = model.arrays.get("trend", np.zeros(model.arrays["X"].shape[1] + 1))
    z = (rows[model.arrays["row"], -1] - float(model.arrays["y_mean"])) / float(model.arrays["y_scale"])
    agree("strict: rows", model.arrays["y"], z - line[0] - model.arrays["X"] @ line[1:], 1.0)
    again, _ = fit(tmp_path, "again", rows, *options, *limits, "--calibrate", "strict", "--threads", 2)
    for name, array in model.arrays.items():
        same_bits(name, ref.Model(again).arrays[name], array)


def test_strict_needs_rows(tmp_path):
    with pytest.raises(AssertionError, match="strict can hold out 19 of 99 rows"):
        fit(tmp_path, "few", made("normal", 99, 1), *NEAR, "--calibrate", "strict")


# ---- Files ---------------------------------------------------------------------------------------------


def test_files_without_signs_are_symmetric(calibrated, tmp_path):
    path, Q = calibrated("skewed"), made("skewed", 30, 3)[:, :-1]
    old = altered(path, tmp_path / "old.npz", calibration_signed=None)
    ask = [*AT, "--quantiles", "0.05,0.5,0.95", "--interval", "0.9"]
    new, was = predict(path, Q, *ask, "--interval-shape", "symmetric"), predict(old, Q, *ask)
    for name, column in new.items():
        same_bits(name, was[name], column)
    same_bits("ends", was["q0.05"], was["lower"])
    same_bits("ends", was["q0.5"], was["mean"])


def test_hostile_ratios_are_refused(calibrated, tmp_path):
    path = calibrated("skewed")
    z = ref.Model(path).arrays["calibration_signed"]
    swapped, other, nan = z.copy(), z.copy(), z.copy()
    swapped[:2] = swapped[1::-1]
    other[-1] *= 2.0
    nan[3] = np.nan
    sign = np.sort(np.abs(z))
    for sentence, changes in [("calibration_signed is not ascending", dict(calibration_signed=swapped)),
                              ("calibration_signed and calibration differ", dict(calibration_signed=other)),
                              ("calibration_signed", dict(calibration_signed=nan)),
                              ("calibration_signed", dict(calibration_signed=z[:-1])),
                              ("calibration_signed", dict(calibration_signed=z[:, None])),
                              ("calibration", dict(calibration=None))]:
        assert sentence in refused(altered(path, tmp_path / "bad.npz", **changes))
    quorum("inspect", altered(path, tmp_path / "good.npz", calibration_signed=sign))


@pytest.mark.parametrize("given, sentence", [("0.5,", "not a probability"), ("1", "not a probability"),
                                             ("0,0.5", "not a probability"), ("a", "not a probability"),
                                             ("0.1 0.2", "commas"), ("nan", "not a probability"), ("", "probability")])
def test_quantiles_that_are_none_are_refused(calibrated, given, sentence):
    with pytest.raises(AssertionError, match=sentence):
        predict(calibrated("normal"), np.zeros((1, 2)), "--quantiles", given)


# ---- Decisions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["skewed", "heavy", "normal"])
def test_decisions_are_by_the_distribution(calibrated, kind):
    """P(y > t) and E max(0, y - t), and both below, against integrals of the density."""
    path, rows = calibrated(kind, 1200), made(kind, 12, 8)
    d = points(ref.Model(path).arrays["calibration_signed"])
    raw = predict(path, rows[:, :-1], *AT, "--calibration", "off")
    for t in (8.0, 10.0, 10.6):
        got = predict(path, rows[:, :-1], *AT, "--above", t, "--below", t, "--improvement-above", t,
                      "--improvement-below", t)
        above, below, more, less = list(got.values())[-4:]
        z = (t - raw["mean"]) / raw["std"]
        agree("above", above, N.sf(unbend(d, z)), 1.0, 1e-12)
        agree("below", below, N.cdf(unbend(d, z)), 1.0, 1e-12)
        edges = np.concatenate([[-12.0], d[0][(d[0] > -12) & (d[0] < 12)], [12.0]])
        for k in range(len(z)):
            cuts = np.unique(np.clip(np.concatenate([edges, [unbend(d, z[k])]]), -12, 12))
            parts = [integrate.quad(lambda u: max(0.0, bend(d, u) - z[k]) * N.pdf(u), a, b, epsabs=1e-13)[0]
                     for a, b in zip(cuts[:-1], cuts[1:])]
            agree("improvement above", more[k] / raw["std"][k], sum(parts), 1.0, 1e-9)
        mean = integrate.quad(lambda u: bend(d, u) * N.pdf(u), -12, 12, points=d[0][(d[0] > -12) & (d[0] < 12)], limit=200)[0]
        agree("improvements differ by the mean", more - less, raw["mean"] + raw["std"] * mean - t, 1.0, 1e-7)


# ---- Without being asked ---------------------------------------------------------------------------------


def test_auto_leaves_rows_out_in_turn(tmp_path):
    """Of 2,000 rows all are left out: each one's ratio, from its nearest others, is among those kept."""
    rows = made("heavy", 2000, 5)
    path, _ = fit(tmp_path, "auto", rows, "--train", "neighbours", "--kernel", "matern32", "--graph", "none")
    m = ref.Model(path)
    z, X, y = m.arrays["calibration_signed"], m.arrays["X"], m.arrays["y"]
    assert m.meta["calibration"]["unasked"] == 1 and len(z) == 2000
    for i in range(0, 2000, 173):
        others = np.delete(np.arange(2000), i)
        near = others[ref.nearest_rows(m.theta, X[others], X[i:i + 1], m.meta["neighbours"])[0]]
        p = ref.posterior(m.theta, X[near], y[near], X[i:i + 1])
        s = ref.spread(m.theta, X[near], y[near], X[i:i + 1], *m.spread_rule())
        std = np.sqrt(s * (m.theta.signal - p.explained[0] + m.theta.noise))
        wanted = (y[i] - p.mean[0]) / std
        assert np.min(np.abs(z - wanted)) < 1e-7 * max(1.0, abs(wanted)), (i, wanted)
    assert "calibrated" in quorum("inspect", path)


@pytest.mark.parametrize("n, options", [(1999, ["--train", "neighbours"]),
                                        (2000, ["--train", "neighbours", "--calibrate", "false"]),
                                        (2000, ["--train", "parts", "--kernel", "se"])])
def test_auto_is_for_many_rows_and_the_default(tmp_path, n, options):
    path, _ = fit(tmp_path, "none", made("normal", n, 5), "--experts", "10", "--graph", "none",
                  "--max-evaluations", "5", *options)
    assert "calibration" not in ref.Model(path).meta


def test_other_predictions_of_an_auto_model_are_quiet(tmp_path):
    """Nobody asked for its calibration: no word where it does not apply, and std as without."""
    rows = made("skewed", 2000, 5)
    path, _ = fit(tmp_path, "auto", rows, "--train", "neighbours", "--graph", "none", "--max-evaluations", "5")
    np.save(tmp_path / "q.npy", rows[:20, :-1])
    done = subprocess.run([QUORUM, "predict", path, tmp_path / "q.npy", "--method", "rbcm"], capture_output=True,
                          text=True)
    assert done.returncode == 0 and "calibrat" not in done.stderr
