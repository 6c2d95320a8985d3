"""Rules, NPAE, joint covariance and the graph's statistics against the reference."""
import numpy as np
import pytest

import reference as ref
from oracle_support import (DIMENSIONS, agree, probe, probe_gp, random_parts, random_queries,
                            random_theta)

# ---- Independent rules, on opinions made up ------------------------------------------


@pytest.mark.parametrize("p,b,seed", [(1, 16, 0), (2, 50, 1), (7, 200, 2), (30, 100, 3)])
@pytest.mark.parametrize("range_", ["confident", "any"])
def test_rules(tmp_path, p, b, seed, range_):
    """"any" has variances above the prior's (possible in no GP, but it makes precisions
    negative), so that the fall-back to the prior is seen as well."""
    rng = np.random.default_rng(seed)
    mean, prior = rng.normal(size=(p, b)), 1.3
    var = prior * rng.uniform(0.01, 0.99 if range_ == "confident" else 3.0, (p, b))
    if p > 2 and range_ == "any":
        var[:, 0] = 50.0 * prior  # BCM: precision below 0
        var[1:, 1] = 4.0 * var[0, 1]  # GRBCM: joined experts less sure than the base
        var[:, 2] = prior
    shown = probe(tmp_path, "rules", mean=mean, var=var, prior=np.array([prior]))
    for name, rule in ref.RULES.items():
        if name == "grbcm" and p == 1:
            agree("rule grbcm, base alone", shown["grbcm_mean"], mean[0], 1.0, 1e-15)
            agree("rule grbcm, base alone", shown["grbcm_var"], var[0], var[0], 1e-15)
            continue
        expected_mean, expected_var = rule(mean, var, prior)
        # the sums cancel in the BCM family: errors are relative to the terms
        cancel = rule_terms(name, mean, var, prior) * expected_var
        agree(f"rule {name}: mean", shown[f"{name}_mean"], expected_mean, cancel, 1e-12)
        agree(f"rule {name}: variance", shown[f"{name}_var"], expected_var, expected_var * cancel, 1e-12)


def rule_terms(name, mean, var, prior):
    """Sum of the absolute precisions that a rule adds (x the largest mean)."""
    prior = var[0] if name == "grbcm" else prior
    beta = np.abs(ref._entropy_weights(var, prior)) + 1.0
    return np.sum(beta / var, axis=0) + np.sum(beta, axis=0) / prior


def test_fallbacks_are_counted(tmp_path):
    prior = 2.0
    var = np.array([[1.0, 6.0, 100.0], [1.0, 6.0, 100.0]])
    shown = probe(tmp_path, "rules", mean=np.ones((2, 3)), var=var, prior=np.array([prior]))
    # BCM: 2/v - 1/2 is positive, negative, negative
    assert shown["bcm_fallbacks"][0] == 2 and shown["poe_fallbacks"][0] == 0
    assert np.array_equal(shown["bcm_var"][1:], [prior, prior])
    assert np.array_equal(shown["bcm_mean"][1:], [0.0, 0.0])


# ---- NPAE ------------------------------------------------------------------------------


def check_npae(theta, parts, Q, shown, pivot=1e-6):
    """K_A, k_A, weights, mean, variance and joint covariance.

    The system of a query is scaled to a unit diagonal; with its smallest pivot p, rounding in
    K_A (1e-14) reaches the weights as 1e-14/p.  Problems are such that p > 1e-6."""
    expected = ref.npae(theta, parts, Q)
    assert expected.pivot.min() > pivot, f"badly posed test: pivot {expected.pivot.min():.1e}"
    assert shown["npae_events"][1:].sum() == 0, "jitter where none is needed"
    size = np.sqrt(expected.k_A[:, :, None] * expected.k_A[:, None, :])  # |K_A[i][j]| at most
    M = len(parts)
    for j in range(M):
        for i in range(j):
            agree("NPAE K_A", shown["pairs"][j * (j - 1) // 2 + i], expected.K_A[:, i, j], size[:, i, j])
    diagonal = np.diagonal(expected.K_A, axis1=1, axis2=2)
    agree("NPAE k_A = diagonal of K_A (reference)", expected.k_A, diagonal, diagonal, 1e-11)
    agree("NPAE k_A", shown["explained"].T, expected.k_A, expected.k_A)
    agree("NPAE weights", shown["npae_weights"].T, expected.weights,
          1.0 + np.abs(expected.weights).max(axis=1, keepdims=True))
    agree("NPAE mean", shown["npae_mean"], expected.mean, 1.0)
    agree("NPAE variance", shown["npae_var"], expected.var, expected.var)
    return expected


def check_joint(theta, parts, Q, shown, expected):
    joint = ref.joint_error_covariance(theta, parts, Q, expected.weights)
    agree("joint covariance", shown["joint"], joint, theta.signal)
    agree("joint covariance, diagonal", np.diag(shown["joint"]), expected.var, expected.var)
    assert np.array_equal(shown["joint"], shown["joint"].T)
    assert np.linalg.eigvalsh(shown["joint"])[0] > -1e-12 * theta.signal


@pytest.mark.parametrize("kernel", ref.KERNELS)
@pytest.mark.parametrize("D", DIMENSIONS)
def test_npae(tmp_path, kernel, D):
    rng = np.random.default_rng([7, D])
    theta = random_theta(rng, kernel, D, "short" if D < 3 else "middle")
    parts = random_parts(rng, D, (60, 35, 20, 50))
    Q = random_queries(rng, parts)
    shown = probe_gp(tmp_path, theta, parts, Q, threads=2)
    expected = check_npae(theta, parts, Q, shown)
    check_joint(theta, parts, Q, shown, expected)
    best = theta.signal - shown["explained"].max(axis=0)
    assert np.all(shown["npae_var"] <= best) and np.all(shown["npae_var"] >= 0)
    assert np.any(shown["npae_var"] < 0.9 * best), "the experts together must know more"


def test_npae_beyond_a_panel_of_rows(tmp_path):
    """k(X_i, X_j) is made in panels of 256 rows and 64 columns: sizes that end within one."""
    rng = np.random.default_rng(9)
    theta = random_theta(rng, "se", 9, "middle")
    parts = random_parts(rng, 9, (300, 67, 270))
    Q = random_queries(rng, parts)
    shown = probe_gp(tmp_path, theta, parts, Q, threads=2)
    check_joint(theta, parts, Q, shown, check_npae(theta, parts, Q, shown))


def overlapping_parts(rng, D):
    """Experts 0 and 1 share 15 rows, 1 and 2 share 10, 0 and 2 share 5; the others are own."""
    X = rng.normal(size=(120, D))
    y = np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=120)
    X[7] = X[100]  # equal inputs, different observations: no shared noise
    members = [np.r_[0:45, 80:85], np.r_[30:65], np.r_[2:7, 55:100, 100:120]]
    return [ref.Part(X[m], y[m], m) for m in members]


@pytest.mark.parametrize("D", [1, 3, 12])
def test_npae_with_shared_rows(tmp_path, D):
    """Cov(y_i, y_j) gets s^2 on shared rows, and only there."""
    rng = np.random.default_rng([3, D])
    theta = random_theta(rng, "matern32", D, "short", noise=0.15)
    parts = overlapping_parts(rng, D)
    Q = random_queries(rng, parts)
    shown = probe_gp(tmp_path, theta, parts, Q, threads=2, share_rows=True)
    expected = check_npae(theta, parts, Q, shown)
    check_joint(theta, parts, Q, shown, expected)
    without = probe_gp(tmp_path, theta, parts, Q)
    assert np.max(np.abs(without["pairs"] - shown["pairs"])) > 1e-3, "the noise must be seen"


@pytest.mark.parametrize("M", [2, 5])
def test_experts_that_all_hold_everything(tmp_path, M):
    """K_A is singular, of rank 1.  Jitter of 1e-9 must leave the exact GP."""
    rng = np.random.default_rng(4)
    theta = random_theta(rng, "se", 3, "middle")
    part = random_parts(rng, 3, (80,))[0]
    Q = random_queries(rng, [part])
    shown = probe_gp(tmp_path, theta, [part] * M, Q, share_rows=True)
    mean, var = ref.exact_gp(theta, part.X, part.y, Q)
    agree("NPAE, all hold all: mean", shown["npae_mean"], mean, 1.0)
    agree("NPAE, all hold all: variance", shown["npae_var"], var, var)
    agree("NPAE, all hold all: joint", shown["joint"], ref.exact_gp_covariance(theta, part.X, Q),
          theta.signal)
    assert shown["npae_events"][1] > 0 and shown["npae_events"][2] == 0


def test_one_expert_holds_everything(tmp_path):
    """The exact GP among weaker experts: the others can add nothing."""
    rng = np.random.default_rng(14)
    theta = random_theta(rng, "matern52", 3, "middle", noise=0.1)
    whole = random_parts(rng, 3, (80,))[0]
    some = [np.r_[0:30], np.r_[20:60]]
    parts = [whole] + [ref.Part(whole.X[m], whole.y[m], m) for m in some]
    Q = random_queries(rng, [whole])
    shown = probe_gp(tmp_path, theta, parts, Q, share_rows=True)
    mean, var = ref.exact_gp(theta, whole.X, whole.y, Q)
    agree("NPAE, one holds all: mean", shown["npae_mean"], mean, 1.0)
    agree("NPAE, one holds all: variance", shown["npae_var"], var, var)


def test_one_expert(tmp_path):
    rng = np.random.default_rng(5)
    theta = random_theta(rng, "matern52", 12, "middle")
    part = random_parts(rng, 12, (90,))[0]
    Q = random_queries(rng, [part])
    shown = probe_gp(tmp_path, theta, [part], Q)
    mean, var = ref.exact_gp(theta, part.X, part.y, Q)
    agree("NPAE, M=1: mean", shown["npae_mean"], mean, 1.0)
    agree("NPAE, M=1: variance", shown["npae_var"], var, var)
    agree("NPAE, M=1: joint", shown["joint"], ref.exact_gp_covariance(theta, part.X, Q), theta.signal)


def test_experts_that_nearly_agree(tmp_path):
    """Dense parts of one smooth function, hardly any noise: K_A is nearly singular and jitter
    comes in.  What is left must stay a sound prediction of f, drawn from the prior here: as
    sure as the best expert at least, and with errors of the size that it claims."""
    rng = np.random.default_rng(6)
    theta = ref.Theta("se", np.array([1.0]), 1.0, 3e-10)
    X, Q = rng.uniform(-1, 1, (200, 1)), rng.uniform(-1, 1, (32, 1))
    values, vectors = np.linalg.eigh(ref.kernel(theta, np.vstack([X, Q]), np.vstack([X, Q])))
    f = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.normal(size=232))
    y = f[:200] + np.sqrt(theta.noise) * rng.normal(size=200)
    parts = [ref.Part(X[i::4], y[i::4], np.arange(200)[i::4]) for i in range(4)]
    shown = probe_gp(tmp_path, theta, parts, Q)
    assert shown["npae_events"][1] > 0, "the problem should be singular"
    best = theta.signal - shown["explained"].max(axis=0)
    rounding = 4e-16 * theta.signal  # of s_f^2 - k_A
    assert np.all(shown["npae_var"] > 0) and np.all(shown["npae_var"] <= best + rounding)
    errors = (f[200:] - shown["npae_mean"]) / np.sqrt(shown["npae_var"])
    assert np.sqrt(np.mean(errors ** 2)) < 1.5


# ---- Statistics of the graph --------------------------------------------------------------


def test_covariance_of_means_and_ranking(tmp_path):
    rng = np.random.default_rng(12)
    means = rng.normal(size=(6, 90)) + 100.0 * rng.normal(size=(6, 1))
    precision = rng.normal(size=(6, 6))
    precision += precision.T
    precision[4] = precision[:, 4] = 0.0
    precision[5] = precision[:, 5] = 0.0  # two experts alone: a tie, the lower number first
    shown = probe(tmp_path, "graph", means=means, precision=precision, instead=np.arange(6.0))
    S = ref.means_covariance(means)
    agree("graph S", shown["S"], S, np.sqrt(np.outer(np.diag(S), np.diag(S))), 1e-12)
    scores = ref.importance(precision)
    agree("graph importance", shown["importance"], scores, np.max(scores), 1e-14)
    assert list(shown["ranking"]) == ref.ranking(scores)
    assert list(shown["ranking"])[-2:] == [4, 5]


def test_ranking_of_an_empty_graph(tmp_path):
    instead = np.array([0.2, 0.7, 0.2, 0.9])
    shown = probe(tmp_path, "graph", means=np.eye(4), precision=np.diag([1.0, 2, 3, 4]), instead=instead)
    assert list(shown["ranking"]) == [3, 1, 0, 2]
    assert np.array_equal(shown["importance"], np.zeros(4))
