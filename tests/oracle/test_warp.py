"""The option warp: the model of the logarithms mapped back by the log-normal's closed forms, its scores by
SciPy and by quadrature, the shift and the choice from their definitions, and what does not change."""
import json
import math
import subprocess

import numpy as np
import pytest
from scipy import integrate, stats

import reference as ref
from bent_normal import log_density_of
from oracle_support import QUORUM, agree, fit, joint, predict, quorum, same_bits

NEAR = ["--train", "neighbours", "--partition-metric", "learned", "--graph", "none"]
MODELS = {
    "plain": ["--experts", 3],
    "one expert": ["--experts", 1],
    "calibrated": ["--experts", 3, "--calibrate", *NEAR],
    "linear": ["--experts", 3, "--trend", "linear", *NEAR],
    "no trend": ["--experts", 2, "--trend", "none"],
}


def rows_of(n, seed, kind="log"):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    z = 2.0 * np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)
    y = {"log": np.exp(z) * 50.0, "gauss": z + 20.0, "count": rng.poisson(np.exp(z)), "negative": z}[kind]
    return np.column_stack([X, y])


def logs_of(rows, shift=0.0):
    """The same rows with the logarithm as the target, by the C library's log."""
    out = rows.copy()
    out[:, -1] = [math.log(y + shift) for y in rows[:, -1]]
    return out


def queries(b=30, seed=8):
    Q = rows_of(b, seed)[:, :-1]
    Q[:5] *= 4.0  # outside
    return Q


def moments(mu, s, shift=0.0, most=np.inf):
    """most: s counts as no more, y_scale of a model without a line."""
    law = stats.lognorm(np.minimum(s, most), scale=np.exp(mu))
    return law.mean() - shift, law.std()


def most_of(path):
    m = ref.Model(path)
    return np.inf if "trend" in m.arrays else m.arrays["y_scale"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    here = tmp_path_factory.mktemp("warp")
    made = {}
    for name, options in MODELS.items():
        made[name] = [fit(here, f"{name} {kind}", rows, *options, *more)[0] for kind, rows, more in
                      (("warped", rows_of(300, 1), ["--warp", "log"]), ("logs", logs_of(rows_of(300, 1)), []))]
    return made


# ---- The model of the logarithms ------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_the_model_is_that_of_the_logarithms(models, name):
    warped, logs = map(ref.Model, models[name])
    assert set(warped.arrays) == set(logs.arrays)
    for array in warped.arrays:
        same_bits(array, warped.arrays[array], logs.arrays[array])
    nested = "spread_rows" in warped.meta
    assert warped.meta["format_version"] == (11 if nested else 5) and (nested or logs.meta["format_version"] < 5)
    assert warped.meta["warp"] == "log" and warped.meta["warp_shift"] == 0.0
    y = rows_of(300, 1)[:, -1]
    agree("target mean", warped.meta["target"]["mean"], y.mean(), y.std(), 1e-12)
    agree("target scale", warped.meta["target"]["scale"], y.std(), y.std(), 1e-12)
    assert "warp" not in logs.meta


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("words", [[], ["--latent"], ["--interval", "0.8"], ["--method", "npae"],
                                   ["--method", "rbcm"], ["--method", "gpoe", "--calibration", "off"]],
                         ids=" ".join)
def test_predictions_are_mapped(models, name, words):
    warped, logs = (predict(path, queries(), *words) for path in models[name])
    mean, std = moments(logs["mean"], logs["std"], most=most_of(models[name][0]))
    agree("warp: mean", warped["mean"], mean, mean, 1e-12)
    agree("warp: std", warped["std"], std, std, 1e-10)
    for end in ("lower", "upper"):
        agree("warp: interval", warped[end], np.exp(logs[end]), np.exp(logs[end]), 1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_the_mean_alone_is_the_same(models, name):
    for words in ([], ["--method", "single"], ["--method", "npae"]):
        text = quorum("predict", models[name][0], save(models, queries()), "--mean-only", "-q", *words)
        alone = np.array([float(line) for line in text.split()[1:]])
        same_bits("mean", alone, predict(models[name][0], queries(), *words)["mean"])


def save(models, Q):
    path = models["plain"][0].parent / "q.npy"
    np.save(path, Q)
    return path


def test_one_expert_is_the_exact_gp_of_the_logarithms(models):
    m = ref.Model(models["one expert"][0])
    a, Q = m.arrays, m.standardise(queries())
    z = (np.log(rows_of(300, 1)[:, -1]) - a["y_mean"]) / a["y_scale"]
    K = ref.kernel(m.theta, a["X"], a["X"]) + m.theta.noise * np.eye(300)
    ks = ref.kernel(m.theta, a["X"], Q)
    mu = a["y_mean"] + a["y_scale"] * (ks.T @ np.linalg.solve(K, z[a["row"]]))
    var = m.theta.signal - np.einsum("ij,ij->j", ks, np.linalg.solve(K, ks)) + m.theta.noise
    s = a["y_scale"] * np.sqrt(var)
    found = predict(models["one expert"][0], queries())
    mean, std = moments(mu, s, most=a["y_scale"])
    agree("warp: exact mean", found["mean"], mean, mean, 1e-7)
    agree("warp: exact std", found["std"], std, std, 1e-7)
    for end, p in (("lower", 0.025), ("upper", 0.975)):
        quantile = stats.lognorm.ppf(p, s, scale=np.exp(mu))
        agree("warp: exact quantiles", found[end], quantile, quantile, 1e-7)


@pytest.mark.parametrize("name", ["plain", "calibrated", "linear"])
def test_joint_covariance(models, name):
    (mean, cov), (mu, S) = (joint(path, queries(), method="nearest") for path in models[name])
    share = np.minimum(1.0, most_of(models[name][0]) / np.sqrt(np.diag(S)))
    S = S * np.outer(share, share)
    centre = np.exp(mu + 0.5 * np.diag(S))
    agree("warp: joint mean", mean, centre, centre, 1e-10)
    scale = np.outer(*2 * [centre * np.sqrt(np.expm1(np.diag(S)))])
    agree("warp: joint covariance", cov, np.outer(centre, centre) * np.expm1(S), scale, 1e-8)
    std = predict(models[name][0], queries(), "--method", "nearest")["std"]
    agree("warp: its diagonal", np.sqrt(np.diag(cov)), std, std, 1e-6)
    assert np.linalg.eigvalsh(cov / scale).min() > -1e-9


def test_joint_moments_by_sampling(models):
    (mean, cov), (mu, S) = (joint(path, queries()[5:9], method="nearest") for path in models["plain"])
    draws = np.exp(np.random.default_rng(0).multivariate_normal(mu, S, 400_000))
    error = draws.std(0) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(0) - mean) < 5 * error)
    np.testing.assert_allclose(np.cov(draws.T), cov, rtol=0.05, atol=0.02 * np.diag(cov).max())


def test_where_nothing_is_known_the_mean_is_that_of_all_targets(tmp_path):
    """A prior of variance 9 about logarithms of variance 1: exp(s^2 / 2) would be 90."""
    rows = rows_of(300, 1)
    path, _ = fit(tmp_path, "m", rows, "--experts", 1, "--warp", "log", "--theta", "0.3,9,0.05")
    far = predict(path, np.full((1, 2), 50.0))
    z = np.log(rows[:, -1])
    agree("warp: far mean", far["mean"][0], np.exp(z.mean() + z.var() / 2), far["mean"][0], 1e-9)
    agree("warp: far std", far["std"], far["mean"] * np.sqrt(np.expm1(z.var())), far["std"][0], 1e-9)
    agree("warp: far end", far["upper"][0], np.exp(z.mean() + stats.norm.ppf(0.975) * z.std() * np.sqrt(9.05)),
          far["upper"][0], 1e-9)
    X, words, h = np.array([[1.2, 0.3]]), ("--method", "single"), 1e-6
    near = predict(path, X, *words, "--gradient")
    assert np.log1p((near["std"] / near["mean"]) ** 2)[0] > 0.999 * z.var()  # s counts as less there too
    up, down = (predict(path, X + [[step, 0.0]], *words) for step in (h, -h))
    for what in ("mean", "std"):
        slope = next(near[name] for name in near if name.startswith(f"d{what}") and name.endswith("1"))
        agree("warp: bounded slope", slope, (up[what] - down[what]) / (2 * h), np.abs(slope), 1e-6)


# ---- Scores ---------------------------------------------------------------------------------------


def crps(y, mu, s, shift):
    """The integral of (F(x) - [x >= y])^2, over t = log(x + shift)."""
    def cost(t, above):
        return (stats.norm.cdf(t, mu, s) - above) ** 2 * np.exp(t)
    at = np.log(y + shift)
    low, high = min(at, mu) - 12 * s, max(at, mu) + 12 * s
    return sum(integrate.quad(cost, a, b, args=(above,), limit=400, epsabs=1e-12)[0]
               for a, b, above in ((low, at, 0.0), (at, high, 1.0)))


@pytest.mark.parametrize("kind,calibrate", [("log", []), ("log", ["--calibrate"]), ("count", [])])
def test_scores(tmp_path, kind, calibrate):
    train, test = rows_of(400, 3, kind), rows_of(60, 4, kind)
    path, _ = fit(tmp_path, "m", train, "--experts", 2, "--warp", "log", *NEAR, *calibrate)
    np.save(tmp_path / "t.npy", test)
    [score] = json.loads(quorum("evaluate", path, tmp_path / "t.npy", "--json", "-q"))
    c, y = ref.Model(path).meta["warp_shift"], test[:, -1]
    p = predict(path, test[:, :-1])
    M = p["mean"] + c
    s = np.sqrt(np.log1p((p["std"] / M) ** 2))
    mu = np.log(M) - 0.5 * s**2
    nlpd = -stats.lognorm.logpdf(y + c, s, scale=np.exp(mu))
    if calibrate:
        nlpd = np.log(y + c) - log_density_of(ref.Model(path), np.log(y + c), mu, s)
    trivial = -stats.norm.logpdf(y, train[:, -1].mean(), train[:, -1].std())
    agree("warp: nlpd", score["nlpd"], nlpd.mean(), 1.0)
    agree("warp: msll", score["msll"], (nlpd - trivial).mean(), 1.0)
    agree("warp: rmse", score["rmse"], np.sqrt(np.mean((y - p["mean"]) ** 2)), y.std())
    agree("warp: coverage", score["coverage"]["95"], np.mean((p["lower"] <= y) & (y <= p["upper"])), 1.0)
    agree("warp: crps", score["crps"], np.mean([crps(*v, c) for v in zip(y, mu, s)]), y.std(), 1e-6)
    if calibrate:
        off = predict(path, test[:, :-1], "--calibration", "off")
        agree("warp: coverage before", score["coverage_uncalibrated"]["95"],
              np.mean((off["lower"] <= y) & (y <= off["upper"])), 1.0)


def test_a_target_below_all(tmp_path):
    """A zero where the model knows positive targets only: no density, all other scores."""
    path, _ = fit(tmp_path, "m", rows_of(300, 3), "--experts", 1, "--warp", "log")
    test = rows_of(20, 4)
    test[3, -1] = 0.0
    np.save(tmp_path / "t.npy", test)
    done = subprocess.run([QUORUM, "evaluate", path, tmp_path / "t.npy", "--json"], capture_output=True, text=True)
    [score] = json.loads(done.stdout)
    assert "there is no log density of these rows" in done.stderr
    assert score["msll"] is None and score["crps"] > 0 and score["smse"] > 0


def test_groups_have_the_same_scores(tmp_path):
    path, _ = fit(tmp_path, "m", rows_of(300, 3), "--experts", 1, "--warp", "log")
    np.save(tmp_path / "t.npy", rows_of(70, 4))
    [score] = json.loads(quorum("evaluate", path, tmp_path / "t.npy", "--json", "-q", "--by", "distance"))
    rows = [g["rows"] for g in score["groups"]]
    for name, whole in (("msll", score["msll"]), ("coverage", score["coverage"]["95"])):
        agree(name, np.average([g[name] for g in score["groups"]], weights=rows), whole, 1.0, 1e-12)


# ---- The shift ------------------------------------------------------------------------------------


def best_shift(y):
    """By the definition in src/theta/warp_shift.c."""
    def density(c):
        z = np.log(y + c)
        return np.mean(stats.norm.logpdf(z[y > 0], z.mean(), z.std()) - z[y > 0])
    shifts = y[y > 0].min() * 4.0 ** np.arange(16)
    return max(shifts[(shifts <= y.mean()) | (np.arange(16) == 0)], key=density)


@pytest.mark.parametrize("case", ["counts", "many zeros", "fine", "coarse"])
def test_shift_of_targets_with_zeros(tmp_path, case):
    rng = np.random.default_rng(5)
    rows = rows_of(500, 5, "count")
    if case == "many zeros":
        rows[:300, -1] = 0.0
    elif case != "counts":
        rows[:, -1] = np.round(rng.gamma(2.0, 5.0, 500), 3 if case == "fine" else 0)
        rows[:10, -1] = 0.0
    path, told = fit(tmp_path, "m", rows, "--experts", 1, "--warp", "log")
    shift = ref.Model(path).meta["warp_shift"]
    agree("shift", shift, best_shift(rows[:, -1]), shift, 1e-15)
    assert told["warp"] == "log"
    agree("y_mean", ref.Model(path).arrays["y_mean"], np.log(rows[:, -1] + shift).mean(), 1.0, 1e-12)
    found, logs = predict(path, queries()), fit(tmp_path, "logs", logs_of(rows, shift), "--experts", 1)[0]
    z = predict(logs, queries())
    mean, std = moments(z["mean"], z["std"], shift, ref.Model(path).arrays["y_scale"])
    agree("shift: mean", found["mean"], mean, mean + shift, 1e-10)
    agree("shift: std", found["std"], std, std, 1e-10)


def test_negative_targets_are_refused(tmp_path):
    rows = rows_of(200, 6, "negative")
    np.save(tmp_path / "t.npy", rows)
    done = subprocess.run([QUORUM, "fit", tmp_path / "t.npy", "-o", tmp_path / "m.npz", "--warp", "log", "-q"],
                          capture_output=True, text=True)
    assert done.returncode == 1 and not (tmp_path / "m.npz").exists()
    row = rows[:, -1].argmin()
    assert f"row {row + 1}: the target is {rows[row, -1]:g}" in done.stderr


def test_an_offset_is_refused(tmp_path):
    rows = np.abs(rows_of(200, 6))
    np.savetxt(tmp_path / "t.csv", np.column_stack([rows, rows[:, 0]]), "%.17g", ",", header="a,b,y,o", comments="")
    words = [QUORUM, "fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--target", "y", "--offset", "o", "-q"]
    done = subprocess.run([*words, "--warp", "log"], capture_output=True, text=True)
    assert done.returncode == 1 and "warp log does not go with an offset" in done.stderr
    assert subprocess.run([*words, "--warp", "auto"], capture_output=True).returncode == 0
    assert "warp" not in ref.Model(tmp_path / "m.npz").meta


# ---- The choice -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind,taken", [("log", "log"), ("gauss", "none"), ("negative", "none"), ("count", "log")])
@pytest.mark.parametrize("more", [[], ["--trend", "linear"]], ids=["constant", "linear"])
def test_auto_is_the_fit_of_what_it_takes(tmp_path, kind, taken, more):
    rows = rows_of(400, 7, kind)
    auto, told = fit(tmp_path, "auto", rows, *NEAR, *more, "--warp", "auto")
    given, _ = fit(tmp_path, "given", rows, *NEAR, *more, "--warp", taken)
    assert told["warp"] == taken
    auto, given = ref.Model(auto), ref.Model(given)
    assert set(auto.arrays) == set(given.arrays)
    for array in auto.arrays:
        same_bits(array, auto.arrays[array], given.arrays[array])


def test_auto_looks_only_where_targets_are_skewed(tmp_path):
    """Targets whose logarithms by themselves are no more like a Gaussian's cost no search."""
    for kind, looks in (("gauss", False), ("log", True)):
        rows = rows_of(300, 7, kind)
        y = rows[:, -1]
        assert (np.log(y.std()) - np.log(np.log(y).std()) - np.log(y).mean() > 0.1) == looks
        auto, none = (fit(tmp_path, name, rows, *NEAR, "--warp", name)[1] for name in ("auto", "none"))
        assert (auto["evaluations"] > none["evaluations"]) == looks


def test_auto_asks_for_squared_errors_too(tmp_path):
    """Four rows of five are tiny, with a noise that is relative; the others are large, with one that is not.  Logarithms
    have the higher density, but with one noise for all they smooth the large ones away."""
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(0, 10, 600))
    y = np.where(x < 8, 0.01 * np.exp(rng.standard_normal(600)), 100 + 50 * np.sin(8 * x) + rng.standard_normal(600))
    rows = np.column_stack([x, y])
    models = {warp: fit(tmp_path, warp, rows[::2], *NEAR, "--kernel", "matern32", "--warp", warp)
              for warp in ("auto", "none", "log")}
    np.save(tmp_path / "t.npy", rows[1::2])
    score = {warp: json.loads(quorum("evaluate", path, tmp_path / "t.npy", "--json", "-q"))[0]
             for warp, (path, _) in models.items()}
    assert score["log"]["nlpd"] < score["none"]["nlpd"] - 0.2 and score["log"]["smse"] > 1.1 * score["none"]["smse"]
    assert models["auto"][1]["warp"] == "none"


# ---- Categories -----------------------------------------------------------------------------------


def prices(n, seed):
    """Levels that multiply a price: text, a number, the price."""
    rng = np.random.default_rng(seed)
    level, x = rng.integers(0, 6, n), rng.uniform(0, 2, n)
    price = 100 * np.exp(2 * x + 0.3 * level + 0.05 * rng.standard_normal(n))
    return [f"g{k}" for k in level], x, price


def write(path, table):
    path.write_text("grade,size,price\n" + "".join(f"{g},{x!r},{p!r}\n" for g, x, p in zip(*table)))
    return path


@pytest.mark.parametrize("warp", ["log", "auto"])
@pytest.mark.parametrize("more", [[], ["--trend", "linear"], ["--calibrate", "strict"]], ids=" ".join)
def test_positions_are_effects_on_the_logarithm(tmp_path, warp, more):
    grade, x, price = prices(400, 1)
    text = write(tmp_path / "p.csv", (grade, x.tolist(), price.tolist()))
    logs = write(tmp_path / "l.csv", (grade, x.tolist(), [math.log(p) for p in price]))
    for path, own in ((text, ["--warp", warp]), (logs, ["--warp", "none"])):
        quorum("fit", path, "-o", path.with_suffix(".npz"), *NEAR, *more, *own, "--kernel", "matern32", "-q")
    warped, plain = (ref.Model(path.with_suffix(".npz")) for path in (text, logs))
    assert warped.meta["warp"] == "log" and warped.meta["categories"] == plain.meta["categories"]
    for array in plain.arrays:
        same_bits(array, warped.arrays[array], plain.arrays[array])
    [category] = warped.meta["categories"]
    steps = np.diff(category["positions"]) * np.log(price).std()  # g0 .. g5, each 0.3 above the one before
    np.testing.assert_allclose(steps, 0.3, atol=0.05)


def test_auto_without_neighbours_is_none(tmp_path):
    rows = rows_of(300, 7)
    assert fit(tmp_path, "a", rows, "--warp", "auto")[1]["warp"] == "none"  # train=parts
    assert fit(tmp_path, "b", rows[:60], *NEAR, "--warp", "auto")[1]["warp"] == "none"


def test_same_bits_for_any_threads(tmp_path):
    files = []
    for threads in (1, 3):
        path, _ = fit(tmp_path, f"t{threads}", rows_of(400, 7), *NEAR, "--warp", "auto", "--calibrate",
                      "--threads", threads)
        files.append(ref.Model(path).arrays)
    for array in files[0]:
        same_bits(array, files[0][array], files[1][array])


@pytest.mark.parametrize("kind,taken", [("log", "log"), ("gauss", "none")])
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_choice_does_not_depend_on_the_unit(tmp_path, kind, taken, unit):
    """Densities are of the target itself: a Jacobian that was left out would decide by the unit alone."""
    rows = rows_of(300, 7, kind)
    rows[:, -1] *= unit
    assert fit(tmp_path, "m", rows, *NEAR, "--warp", "auto")[1]["warp"] == taken


@pytest.mark.parametrize("kind", ["log", "count"])
def test_decisions_are_log_normal(tmp_path, kind):
    train, test = rows_of(300, 3, kind), rows_of(10, 4, kind)
    path, _ = fit(tmp_path, "m", train, "--experts", 2, "--warp", "log", *NEAR)
    c, p = ref.Model(path).meta["warp_shift"], predict(path, test[:, :-1])
    M = p["mean"] + c
    s = np.sqrt(np.log1p((p["std"] / M) ** 2))
    mu = np.log(M) - 0.5 * s**2
    for t in (0.2, float(np.median(train[:, -1])), float(train[:, -1].max())):
        got = predict(path, test[:, :-1], "--above", t, "--below", t, "--improvement-above", t,
                      "--improvement-below", t)
        above, below, more, less = list(got.values())[-4:]
        law = stats.lognorm(s, scale=np.exp(mu))
        agree("warp: above", above, law.sf(t + c), 1.0, 1e-12)
        agree("warp: below", below, law.cdf(t + c), 1.0, 1e-12)
        for k in range(len(mu)):
            gain = integrate.quad(lambda u: max(0.0, np.exp(mu[k] + s[k] * u) - c - t) * stats.norm.pdf(u), -12, 12,
                                  points=[np.clip((np.log(t + c) - mu[k]) / s[k], -12, 12)], limit=400)[0]
            agree("warp: improvement above", more[k], gain, M[k], 1e-7)
        agree("warp: improvement below", less, more + t - p["mean"], M, 1e-9)
    assert np.all(list(predict(path, test[:, :-1], "--above", "-1e6").values())[-1] == 1.0)


def test_gradients_pass_through_the_warp(tmp_path):
    train, test = rows_of(300, 3), rows_of(8, 4)
    path, _ = fit(tmp_path, "m", train, "--experts", 1, "--warp", "log", "--calibrate", *NEAR)
    X, words = test[:, :-1], ("--method", "single", "--gradient")
    got = predict(path, X, *words)
    slopes = {name: got[name] for name in got if name.startswith("d")}
    for d in range(X.shape[1]):
        h = 1e-5 * train[:, d].std()
        step = np.zeros(X.shape[1])
        step[d] = h
        up, down = predict(path, X + step, *words), predict(path, X - step, *words)
        for what in ("mean", "std"):
            [name] = [n for n in slopes if n.startswith(f"d{what}") and n.endswith(f"{d + 1}")]
            agree(f"warp: d{what}", slopes[name], (up[what] - down[what]) / (2 * h),
                  np.abs(slopes[name]).max() + got[what].max(), 1e-6)


def test_a_strict_fit_keeps_the_logarithm(tmp_path):
    """calibrate=strict learns the units from some rows and takes all rows into them, logarithms too."""
    rows = rows_of(300, 1)
    path, _ = fit(tmp_path, "strict", rows, "--warp", "log", "--theta", "0.5,1,0.05", "--calibrate", "strict")
    with np.load(path) as m:
        meta = json.loads(bytes(m["meta.json"])) if "meta.json" in m.files else {}
        y = np.empty(len(rows))
        y[m["row"]] = m["y"] * m["y_scale"] + m["y_mean"]
    assert meta.get("warp") == "log"
    agree("logarithms of a strict fit", y, np.log(rows[:, -1]), 10.0)
