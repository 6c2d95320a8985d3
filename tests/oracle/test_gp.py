"""Kernels, likelihood and posteriors of the experts against the reference."""
import numpy as np
import pytest

import reference as ref
from oracle_support import (DIMENSIONS, LENGTHS, agree, probe, probe_gp, random_parts,
                            random_queries, random_theta)

CASES = [(k, D, length) for k in ref.KERNELS for D in DIMENSIONS for length in LENGTHS]


def problem(kernel, D, length, sizes=(70, 40, 25), noise=None):
    rng = np.random.default_rng([ref.KERNELS.index(kernel), D, len(length)])
    theta = random_theta(rng, kernel, D, length, noise)
    # Matern-1/2 has a test of its own for nearly equal rows
    parts = random_parts(rng, D, sizes, nearly=0.0 if kernel.startswith("matern12") else 1e-9)
    return theta, parts, random_queries(rng, parts)


@pytest.mark.parametrize("kernel,D,length", CASES)
def test_kernel_likelihood_and_posterior(tmp_path, kernel, D, length):
    theta, parts, Q = problem(kernel, D, length)
    shown = probe_gp(tmp_path, theta, parts, Q)
    check_kernel(theta, parts[0], Q, shown)
    check_likelihood(theta, parts, shown)
    check_posteriors(theta, parts, Q, shown)


def check_kernel(theta, part, Q, shown):
    """Entry by entry, relative to the entry: also those that are nearly 0."""
    K = ref.kernel(theta, part.X, part.X)
    slopes = ref.kernel_slopes(theta, part.X, part.X)
    cross = ref.kernel(theta, part.X, Q)
    s = ref.scaled_distance(theta, part.X, part.X)
    upper = np.triu_indices(len(K))  # C's lower triangle is column-major
    agree("kernel within a set", shown["self"][upper], K[upper], K[upper])
    agree("kernel between sets", shown["cross"], cross.T, cross.T)
    # A slope counts by slope times distance only; of nearly equal points the distance, and
    # with it Matern-1/2's slope ~ 1/r, is known no better than the inputs' rounding allows.
    agree("kernel slopes x distance", (shown["slopes"] * s)[upper], (slopes * s)[upper], theta.signal)
    upper = tuple(i[s[upper] > 1e-6] for i in upper)
    agree("kernel slopes", shown["slopes"][upper], slopes[upper], slopes[upper])


def check_likelihood(theta, parts, shown):
    for e, p in enumerate(parts):
        value = ref.nlml(theta, p.X, p.y)
        gradient, scale = ref.nlml_gradient(theta, p.X, p.y)
        agree("NLML of an expert", shown["nlml"][e], value, max(abs(value), len(p.y)))
        agree("gradient of an expert", shown["gradient"][e], gradient, scale)
    agree("NLML, sum", shown["total"][0], np.sum(shown["nlml"]), np.sum(np.abs(shown["nlml"])), 1e-15)
    agree("gradient, sum", shown["total_gradient"], np.sum(shown["gradient"], axis=0),
          np.sum(np.abs(shown["gradient"]), axis=0), 1e-15)


def check_posteriors(theta, parts, Q, shown):
    """The variance too is compared relative to itself, small as it may be."""
    for e, p in enumerate(parts):
        post = ref.posterior(theta, p.X, p.y, Q)
        size = np.abs(post.gamma).T @ np.abs(p.y)  # the terms of k*' C^-1 y
        agree("posterior mean", shown["mean"][e], post.mean, size)
        agree("posterior explained variance", shown["explained"][e], post.explained, post.explained)
        agree("posterior variance", theta.signal - shown["explained"][e],
              theta.signal - post.explained, theta.signal - post.explained)
        agree("posterior Gamma", shown["gamma"][e], post.gamma,
              np.max(np.abs(post.gamma), axis=0, keepdims=True))


@pytest.mark.parametrize("kernel", ref.KERNELS)
@pytest.mark.parametrize("D", [3, 12])
def test_gradient_is_the_slope_of_the_likelihood(tmp_path, kernel, D):
    """Central differences of the library's own NLML: error h^2 from the third derivative
    and eps/h from rounding, both near 1e-10 of m at h = 1e-5, far below the gradient."""
    theta, parts, Q = problem(kernel, D, "middle", sizes=(60,))
    gradient = probe_gp(tmp_path, theta, parts, Q)["gradient"][0]
    x, h = theta.logs(), 1e-5
    for j in range(len(x)):
        values = []
        for step in (h, -h):
            moved = x.copy()
            moved[j] += step
            near = ref.Theta.from_logs(kernel, moved)
            values.append(probe_gp(tmp_path, near, parts, Q)["nlml"][0])
        slope = (values[0] - values[1]) / (2 * h)
        agree("gradient against differences", gradient[j], slope, len(parts[0].y), 1e-9)
    assert np.max(np.abs(gradient)) > 0.1, "a flat likelihood would prove nothing"


@pytest.mark.parametrize("kernel", ref.KERNELS)
@pytest.mark.parametrize("gap", [1e-5, 1e-9, 1e-12, 4e-16])
def test_gradient_with_nearly_equal_rows(tmp_path, kernel, gap):
    """Two rows a rounding error apart, as 0.1 + 0.2 and 0.3 are.  Their own share of the
    gradient is about `gap`; it must not be drowned in products of slope 1/r and coordinates.
    1e-8 of the number of rows is still 100 times finer than the optimiser's tolerance."""
    rng = np.random.default_rng(21)
    theta = random_theta(rng, kernel, 3, "middle")
    parts = random_parts(rng, 3, (60,), nearly=gap)
    assert np.any(parts[0].X[2] != parts[0].X[3])
    shown = probe_gp(tmp_path, theta, parts, random_queries(rng, parts))
    gradient, _ = ref.nlml_gradient(theta, parts[0].X, parts[0].y)
    agree(f"gradient, rows nearly equal, {kernel}", shown["gradient"][0], gradient, 60.0)


@pytest.mark.parametrize("D", [3, 12])
def test_far_from_the_origin(tmp_path, D):
    """Distances do not change when everything moves by 1e4 length-scales; products of the
    coordinates would lose 8 digits.  Tolerance: the shifted inputs themselves are rounded
    by 1e4 eps, which distances near 1 see as 1e-12."""
    theta, parts, Q = problem("se", D, "middle", sizes=(40, 30))
    parts = [ref.Part(p.X + 1e4, p.y, p.row) for p in parts]
    shown = probe_gp(tmp_path, theta, parts, Q + 1e4)
    check_kernel(theta, parts[0], Q + 1e4, shown)
    check_posteriors(theta, parts, Q + 1e4, shown)


def test_nearly_no_noise(tmp_path):
    """Condition number 1e6 and up: the error may grow with it, but no more."""
    theta, parts, Q = problem("matern32", 3, "middle", sizes=(50, 40), noise=1e-6)
    parts = random_parts(np.random.default_rng(5), 3, (50, 40), duplicates=False)
    shown = probe_gp(tmp_path, theta, parts, Q)
    condition = np.linalg.cond(ref.covariance_of_targets(theta, parts[0].X))
    for e, p in enumerate(parts):
        post = ref.posterior(theta, p.X, p.y, Q)
        agree("posterior explained, noise 1e-6", shown["explained"][e], post.explained,
              theta.signal, 1e-15 * condition)
        value = ref.nlml(theta, p.X, p.y)
        agree("NLML, noise 1e-6", shown["nlml"][e], value, abs(value) + 50, 1e-14 * condition)


@pytest.mark.parametrize("threads,keep", [(2, True), (4, False)])
def test_threads_and_unkept_factors_change_nothing(tmp_path, threads, keep):
    theta, parts, Q = problem("matern52", 12, "middle")
    one = probe_gp(tmp_path, theta, parts, Q)
    other = probe_gp(tmp_path, theta, parts, Q, threads=threads, keep=keep)
    for name in one:
        assert np.array_equal(np.hstack([np.ravel(a) for a in one[name]]),
                              np.hstack([np.ravel(a) for a in other[name]])), name


def test_tiled_factor_of_a_large_expert(tmp_path):
    """Above 1024 rows the factor is made of tiles.  Duplicates fall into different tiles."""
    rng = np.random.default_rng(8)
    theta = random_theta(rng, "se", 3, "short")
    parts = random_parts(rng, 3, (1100, 30))
    parts[0].X[1050] = parts[0].X[5]
    Q = random_queries(rng, parts)
    shown = probe_gp(tmp_path, theta, parts, Q, threads=2)
    check_likelihood(theta, parts, shown)
    check_posteriors(theta, parts, Q, shown)


# ---- Functions below the GPs ---------------------------------------------------------


def functions(tmp_path, x=(0.0,), p=(0.5,), bounds=(1,), seed=1, stream=3):
    return probe(tmp_path, "functions", x=np.array(x, float), p=np.array(p, float),
                 bounds=np.array(bounds, np.int64), seed=seed, stream=stream)


def test_exponential(tmp_path):
    """Good to a few units in the last place, and where there is no fused multiply-add to
    half a unit of x besides (k ln 2 is then rounded); subnormal results are 0."""
    x = -np.concatenate([np.linspace(0, 2, 4001), np.geomspace(1e-300, 707.9, 4001), [0.0]])
    agree("exp of negative numbers", functions(tmp_path, x=x)["exp"], np.exp(x),
          np.exp(x) * (4.0 + np.abs(x)), 2.0 ** -53)
    below = functions(tmp_path, x=[-708.5, -745.0, -1e4, -1e300, -np.inf])["exp"]
    assert np.array_equal(below, np.zeros(5))


def test_normal_quantile(tmp_path):
    from scipy.stats import norm
    p = np.concatenate([np.linspace(0.5, 0.999999, 500), 1.0 - np.geomspace(1e-15, 0.4, 50),
                        np.linspace(0.001, 0.5, 50)])
    z = norm.ppf(p)
    agree("normal quantile", functions(tmp_path, p=p)["quantile"], z, 1e-2 + np.abs(z), 1e-13)


def test_normal_quantile_in_the_lower_tail(tmp_path):
    """Small probabilities have all their digits: 1 - p must not be formed."""
    from scipy.stats import norm
    p = np.geomspace(1e-300, 1e-3, 60)
    z = norm.ppf(p)
    agree("normal quantile, lower tail", functions(tmp_path, p=p)["quantile"], z, np.abs(z), 1e-13)


@pytest.mark.parametrize("seed", [0, 1, 2**53 - 1])
def test_random_numbers(tmp_path, seed):
    bounds = [1, 2, 3, 10, 1000, 2**31, 2**52 + 1] * 20
    random = ref.Xoshiro(seed, 3)
    expected = [random.below(b) for b in bounds]
    assert np.array_equal(functions(tmp_path, bounds=bounds, seed=seed)["draws"], expected)


# ---- Partitions ------------------------------------------------------------------------


def test_partitions(tmp_path):
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(80, 4)) * 0.1 + c for c in 5.0 * rng.normal(size=(6, 4))])
    shown = probe(tmp_path, "partition", X=X, parts=6, seed=11, threads=2)
    labels = {name: shown[name].astype(int) for name in shown}
    check_equal_sizes(labels["random"], 6)
    check_equal_sizes(labels["kdtree"], 6)
    check_boxes(X, labels["kdtree"])
    check_nearest_centres(X, labels["kmeans"], 6)
    fewer = probe(tmp_path, "partition", X=X, parts=5, seed=11, threads=2)["kmeans"].astype(int)
    check_communication(labels["communication"], fewer, 6)
    again = probe(tmp_path, "partition", X=X, parts=6, seed=11, threads=1)
    assert all(np.array_equal(shown[k], again[k]) for k in shown)
    other = probe(tmp_path, "partition", X=X, parts=6, seed=12, threads=1)
    assert not np.array_equal(shown["random"], other["random"])


def check_communication(label, fewer, parts):
    """A sixth of the rows from every lump is part 0; the others are k-means' of one part less."""
    drawn = label == 0
    assert drawn.sum() == round(len(label) / parts)
    assert np.array_equal(label[~drawn], fewer[~drawn] + 1)
    lumps = np.arange(len(label)) // 80
    assert np.bincount(lumps[drawn], minlength=6).min() >= 4


def check_equal_sizes(label, parts):
    sizes = np.bincount(label, minlength=parts)
    assert len(sizes) == parts and sizes.max() - sizes.min() <= 1


def check_boxes(X, label):
    """Median splits: some input separates any two parts."""
    for a in range(label.max() + 1):
        for b in range(a):
            A, B = X[label == a], X[label == b]
            assert np.any((A.max(0) <= B.min(0)) | (B.max(0) <= A.min(0))), (a, b)


def check_nearest_centres(X, label, parts):
    """Lloyd's fixed point: every row is with its nearest centre, but for the 0.1 % that may
    still move when it stops."""
    used = [k for k in range(parts) if np.any(label == k)]
    assert len(used) > 1
    centres = np.array([X[label == k].mean(0) for k in used])
    nearest = np.argmin(((X[:, None] - centres[None]) ** 2).sum(-1), axis=1)
    assert np.mean(np.array(used)[nearest] != label) <= 0.002
