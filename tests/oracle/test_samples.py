"""Joint draws against the exact GP's conditional within Monte-Carlo error, and suggestions against
brute force."""
import numpy as np
import pytest
from scipy import stats

import reference as ref
from bent_normal import points, unbend
from oracle_support import agree, fit, joint, predict, quorum, same_bits

NEAR = ["--train", "neighbours", "--partition-metric", "learned", "--graph", "none"]
COUNT = 4000
LIKELY = 1e-5  # a p-value below this is no chance


def rows_of(n, seed):
    """Three inputs in their own units, a wave, a line and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 40.0, 0.2] + [5.0, -7.0, 0.0]
    y = 20.0 + X @ [3.0, -0.1, 0.0] + 4.0 * np.sin(2.0 * X[:, 0]) + 0.5 * rng.standard_normal(n)
    return np.column_stack([X, y])


def queries(b=50, seed=9):
    """Among the rows, close to each other, and far away."""
    Q = rows_of(b, seed)[:, :-1]
    Q[10:20] = Q[9] + 0.05 * (Q[10:20] - Q[9])
    Q[20:25] += [30.0, 500.0, 3.0]
    return Q


def sample(model, X, *options, count=COUNT):
    path = model.parent / "draw-at.npy"
    np.save(path, X)
    text = quorum("sample", model, path, "-q", "--count", count, *options)
    lines = text.splitlines()
    assert lines[0] == ",".join(f"s{j + 1}" for j in range(count))
    return np.array([[float(c) for c in line.split(",")] for line in lines[1:]])


def gaussian_part(path, draws, mean):
    """mean + std U of draws mean + std g(U) by a calibrated model whose target has no warp; mean: of each row."""
    m, std = ref.Model(path), predict(path, np.load(path.parent / "draw-at.npy"), "--method", "nearest",
                                      "--neighbours", 80)["std"]
    d, scale = points(m.arrays["calibration_signed"]), m.meta["calibration"]["scale"]
    return mean[:, None] + std[:, None] * unbend(d, (draws - mean[:, None]) / std[:, None] * scale)


def p_values(draws, mean, covariance):
    """Of draws (b x N) from N(mean, covariance): whitened they are N(0, 1), so that these sums of
    squares are chi-square: of the mean, of the variances, of the correlations between them."""
    b, count = draws.shape
    values, vectors = np.linalg.eigh(covariance)
    keep = values > 1e-6 * values[-1]  # directions that rounding and the ridge leave alone
    W = (vectors[:, keep].T @ (draws - mean[:, None])) / np.sqrt(values[keep])[:, None]
    k = len(W)
    S = W @ W.T / count
    pairs = S[np.triu_indices(k, 1)]
    both = stats.chi2.cdf(np.sum(W * W), k * count)
    return {"mean": stats.chi2.sf(count * np.sum(W.mean(axis=1) ** 2), k),
            "variance": 2.0 * min(both, 1.0 - both),
            "correlation": stats.chi2.sf(count * np.sum(pairs ** 2), len(pairs))}


def assert_drawn_from(draws, mean, covariance):
    for what, p in p_values(draws, mean, covariance).items():
        assert p > LIKELY, f"{what}: p = {p:.2g}"


def exact_moments(m, Q, noise=True):
    """The GP on all rows, in the target's units."""
    a, Z = m.arrays, m.standardise(Q)
    X, y = np.vstack([p.X for p in m.parts]), np.concatenate([p.y for p in m.parts])
    scale = float(a["y_scale"])
    mean, _ = ref.exact_gp(m.theta, X, y, Z)
    covariance = ref.exact_gp_covariance(m.theta, X, Z) + noise * m.theta.noise * np.eye(len(Q))
    return float(a["y_mean"]) + scale * mean, scale ** 2 * covariance


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models by name, each of 80 rows; `all` neighbours are then the exact GP."""
    directory = tmp_path_factory.mktemp("samples")
    rows = rows_of(80, 1)
    options = {"se": ["--kernel", "se"], "matern32": ["--kernel", "matern32"],
               "two": ["--kernel", "matern52x2"],
               "linear": ["--kernel", "matern52", "--metric", "linear"],
               "parts": ["--kernel", "matern52", "--experts", 4, "--spread", "none"],
               "spread": ["--kernel", "matern32", "--experts", 4, "--spread", "auto", "--calibrate"],
               "trend": ["--kernel", "matern52", "--experts", 4, "--trend", "linear"]}
    return {name: fit(directory, name, rows, *NEAR, "--experts", 1, *more)[0]
            for name, more in options.items()}


# ---- Draws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["se", "matern32", "two", "linear"])
def test_draws_are_from_the_exact_gp(models, name):
    m, Q = ref.Model(models[name]), queries()
    draws = sample(models[name], Q)
    mean, covariance = exact_moments(m, Q)
    assert_drawn_from(draws, mean, covariance)
    independent = np.diag(np.diag(covariance))  # the test sees when the covariance is not there
    assert p_values(draws, mean, independent)["correlation"] < 1e-20


@pytest.mark.parametrize("name", ["matern32", "two", "linear", "se"])
def test_latent_draws_are_functions(models, name):
    m, Q = ref.Model(models[name]), queries()
    assert_drawn_from(sample(models[name], Q, "--latent"), *exact_moments(m, Q, noise=False))


def test_nearest_rows_that_are_all(models):
    m, Q = ref.Model(models["parts"]), queries()
    assert_drawn_from(sample(models["parts"], Q, "--neighbours", 80), *exact_moments(m, Q))


@pytest.mark.parametrize("name, latent", [("spread", False), ("spread", True), ("trend", False),
                                          ("trend", True)])
def test_spread_calibration_and_trend(models, name, latent):
    """The joint covariance of quorum_predict_joint, which has oracles of its own; of a calibrated model it is
    that of the normal variables that are bent."""
    Q = queries()
    mean, covariance = joint(models[name], Q, method="nearest", neighbours=80,
                             latent=str(latent).lower())
    draws = sample(models[name], Q, "--method", "nearest", "--neighbours", 80,
                   *["--latent"] * latent)
    if name == "spread" and not latent:
        draws = gaussian_part(models[name], draws, mean)
    assert_drawn_from(draws, mean, covariance)


def skewed(n, seed, warped):
    """Errors of a gamma distribution that grow across the first input; of a warped target, of its logarithm."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    error = (0.2 + 0.1 * (X[:, 0] + 2.0)) * (rng.gamma(1.0, 1.0, n) - 1.0)
    z = np.sin(2 * X[:, 0]) + X[:, 1] + error
    return np.column_stack([X, np.exp(z) if warped else z])


@pytest.mark.parametrize("warp", ["none", "log"])
@pytest.mark.parametrize("shape", ["auto", "symmetric"])
def test_draws_have_the_quantiles_and_chances_of_predict(tmp_path, warp, shape):
    """Of a calibrated model: each query's draws are below the p-quantile with probability p, and above a
    threshold with the probability that --above gives."""
    path, _ = fit(tmp_path, "m", skewed(800, 1, warp == "log"), *NEAR, "--warp", warp, "--theta", "0.7,0.7,1,0.1",
                  "--spread", "4", "--experts", 4, "--calibrate")
    Q, said = skewed(25, 3, False)[:, :-1], ["--interval-shape", shape]
    asked = [0.005, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99]
    out = predict(path, Q, "--quantiles", ",".join(map(str, asked)), "--above", 1, *said)
    draws = sample(path, Q, *said)

    def chance(share, p):
        return stats.chi2.sf((share - p) ** 2 * COUNT / np.maximum(p * (1 - p), 1e-300), 1).min() * len(Q)
    for p in asked:
        assert chance((draws <= out[f"q{p}"][:, None]).mean(axis=1), p) > LIKELY, p
    inside = np.clip(out["above_1"], 1e-3, 1 - 1e-3)
    assert chance(np.clip((draws > 1.0).mean(axis=1), 1e-3, 1 - 1e-3), inside) > LIKELY
    if (warp, shape) == ("none", "auto"):  # and the median is not the mean
        assert np.all(out["q0.5"] < out["mean"] - 0.1 * out["std"])


@pytest.mark.parametrize("options", [[], ["--neighbours", 12], ["--method", "rbcm"],
                                     ["--neighbours", 12, "--latent"]])
def test_margins_are_those_of_predict(models, options):
    Q = queries(400)
    said, draws = predict(models["spread"], Q, *options), sample(models["spread"], Q, *options)
    if not options:
        draws = gaussian_part(models["spread"], draws, said["mean"])
    z = (draws - said["mean"][:, None]) / said["std"][:, None]
    assert stats.chi2.sf(COUNT * np.max(z.mean(axis=1) ** 2), 1) > 1e-3 / len(Q) * 0.1
    ratio = np.sum(z * z, axis=1)
    both = np.minimum(stats.chi2.cdf(ratio, COUNT), stats.chi2.sf(ratio, COUNT))
    assert both.min() > 1e-4 / len(Q)


def test_more_queries_than_one_leans_on(models):
    """400 queries lean on 64 earlier ones each: correlations are those of the exact GP, nearly."""
    m = ref.Model(models["matern32"])
    Q = rows_of(400, 5)[:, :-1]
    draws = sample(models["matern32"], Q, "--latent")
    _, covariance = exact_moments(m, Q, noise=False)
    deviation = np.sqrt(np.diag(covariance))
    difference = np.corrcoef(draws) - covariance / np.outer(deviation, deviation)
    assert np.sqrt(np.mean(difference ** 2)) < 1.3 / np.sqrt(COUNT)
    assert np.abs(difference).max() < 6.0 / np.sqrt(COUNT)


# ---- What draws depend on ------------------------------------------------------------------------


def test_draws_depend_on_seed_and_set_alone(models):
    model, Q = models["spread"], queries(200)
    draws = sample(model, Q, count=40)
    order = np.random.default_rng(0).permutation(len(Q))
    same_bits("threads", sample(model, Q, "--threads", 3, count=40), draws)
    same_bits("memory", sample(model, Q, "--memory", "100M", count=40), draws)
    same_bits("order", sample(model, Q[order], count=40), draws[order])
    same_bits("fewer", sample(model, Q, count=17), draws[:, :17])
    assert not np.any(sample(model, Q, "--seed", 2, count=40) == draws)


def test_a_query_twice_is_one_function_and_two_noises(models):
    Q = queries()
    twice = np.vstack([Q, Q[:7]])
    latent = sample(models["spread"], twice, "--latent", count=30)
    agree("twice", latent[50:], latent[:7], np.abs(latent[:7]), 1e-10)
    assert not np.any(sample(models["spread"], twice, count=30)[50:] ==
                      sample(models["spread"], twice, count=30)[:7])


def test_an_offset_is_added(tmp_path):
    rows = rows_of(80, 1)
    table = np.column_stack([rows[:, :3], rows[:, 3] + 100.0 * rows[:, 0], 100.0 * rows[:, 0]])
    plain, _ = fit(tmp_path, "plain", rows, *NEAR, "--kernel", "se", "--theta", "2,2,2,1,0.05")
    about, _ = fit(tmp_path, "about", table, *NEAR, "--kernel", "se", "--theta", "2,2,2,1,0.05",
                   "--target", "4", "--offset", "5")
    Q = queries(30)
    with_offset = sample(about, np.column_stack([Q, 100.0 * Q[:, 0]]), count=3)
    agree("offset", with_offset - 100.0 * Q[:, :1], sample(plain, Q, count=3), 100.0)


# ---- Suggestions ---------------------------------------------------------------------------------


def suggest(model, X, *options):
    path = model.parent / "candidates.npy"
    np.save(path, X)
    text = quorum("suggest", model, path, "-q", *options).splitlines()
    assert text[0].startswith("rank,row,") and text[0].endswith(",reduction")
    table = np.array([[float(c) for c in line.split(",")] for line in text[1:]])
    assert np.array_equal(table[:, 0], np.arange(1, len(table) + 1))
    assert np.array_equal(table[:, 2:-1], X[table[:, 1].astype(int) - 1])
    return table[:, 1].astype(int) - 1, table[:, -1]


def refit_variance(m, measured, targets):
    """Mean latent variance at the targets of the exact GP with more rows, from its definition."""
    X = np.vstack([np.vstack([p.X for p in m.parts]), m.standardise(measured)])
    covariance = ref.exact_gp_covariance(m.theta, X, m.standardise(targets))
    return float(m.arrays["y_scale"]) ** 2 * np.mean(np.diag(covariance))


def brute_force(m, candidates, targets, count):
    """The greedy choice by a new GP for every candidate and step."""
    chosen, reductions, before = [], [], refit_variance(m, candidates[:0], targets)
    for _ in range(count):
        after = [np.inf if c in chosen else
                 refit_variance(m, candidates[[*chosen, c]], targets) for c in range(len(candidates))]
        chosen.append(int(np.argmin(after)))
        reductions.append(before - min(after))
        before = min(after)
    return np.array(chosen), np.array(reductions)


@pytest.mark.parametrize("name, over", [("se", False), ("matern32", True), ("linear", False),
                                        ("two", True)])
def test_suggestions_are_those_of_brute_force(models, name, over, tmp_path):
    m, Q, T = ref.Model(models[name]), queries(40), queries(25, seed=11)
    np.save(tmp_path / "over.npy", T)
    options = ["--over", tmp_path / "over.npy"] * over
    chosen, reductions = suggest(models[name], Q, "-n", 6, *options)
    expected, by = brute_force(m, Q, T if over else Q, 6)
    agree("reductions", reductions, by, by[0], 1e-5)
    assert np.array_equal(chosen, expected)


def test_the_first_suggestion_is_in_the_empty_region(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 1, (600, 2))
    X = X[(np.abs(X - 0.7) > 0.15).any(axis=1)]  # a hole around (0.7, 0.7)
    y = np.sin(5 * X[:, 0]) + X[:, 1] ** 2 + 0.05 * rng.standard_normal(len(X))
    model, _ = fit(tmp_path, "hole", np.column_stack([X, y]), *NEAR, "--kernel", "matern52")
    candidates = rng.uniform(0, 1, (3000, 2))  # more than are looked at
    chosen, reductions = suggest(model, candidates, "-n", 4)
    assert np.all(np.abs(candidates[chosen[0]] - 0.7) < 0.15)
    assert np.all(np.diff(reductions) <= 0) and np.all(reductions > 0)
    again, _ = suggest(model, candidates, "-n", 4, "--threads", 3)
    assert np.array_equal(again, chosen)
