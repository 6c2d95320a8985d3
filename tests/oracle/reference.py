"""An independent reference for everything that quorum computes.

Written from the equations (docs/methods.md and the paper), not from the C code:
dense matrices, one query after another where that is clearer, general solvers
instead of the library's factors.  Slow on purpose.

Notation is the paper's: theta = (lengthscale, signal, noise) = (l, s_f^2, s^2),
C_i = k(X_i, X_i) + s^2 I.  Matrices of inputs hold one point a row.
"""
import copy
import json
import dataclasses
from dataclasses import dataclass
import typing
import zipfile

import numpy as np
from scipy import integrate, special, stats

# ---- Kernels: k(x, x') = s_f^2 g(s), s = sum_d (x_d - x'_d)^2 / l_d^2 -------------


def _se(s):
    return np.exp(-0.5 * s)


def _matern12(s):
    return np.exp(-np.sqrt(s))


def _matern32(s):
    a = np.sqrt(3.0 * s)
    return (1.0 + a) * np.exp(-a)


def _matern52(s):
    a = np.sqrt(5.0 * s)
    return (1.0 + a + a * a / 3.0) * np.exp(-a)


def _matern12_slope(s):
    """g' diverges at 0, where its factor (x_d - x'_d)^2 is 0: the product is 0."""
    r = np.sqrt(s)
    return np.where(s > 0, -np.exp(-r) / (2.0 * np.where(s > 0, r, 1.0)), 0.0)


# Kernels with several scales: of what, and how many times, each reaching rho times as far as the one before.
SCALES = {"matern32x2": ("matern32", 2), "matern32x3": ("matern32", 3), "matern52x2": ("matern52", 2)}
KERNELS = ["se", "matern12", "matern32", "matern52", *SCALES]  # as numbered in src/gp/kernel.c
G = {"se": _se, "matern12": _matern12, "matern32": _matern32, "matern52": _matern52}
DG = {  # g'(s)
    "se": lambda s: -0.5 * np.exp(-0.5 * s),
    "matern12": _matern12_slope,
    "matern32": lambda s: -1.5 * np.exp(-np.sqrt(3.0 * s)),
    "matern52": lambda s: -(5.0 / 6.0) * (1.0 + np.sqrt(5.0 * s)) * np.exp(-np.sqrt(5.0 * s)),
}


@dataclass
class Theta:
    kernel: str
    lengthscale: np.ndarray
    signal: float
    noise: float
    share: float = 0.0  # w of a kernel with several scales: the share of all but the shortest ...
    reach: float = 1.0  # ... and rho, how many times as far as the one before it each reaches

    def has_scales(self):
        return self.kernel in SCALES

    def numbers(self):
        shape = [self.share, self.reach] if self.has_scales() else []
        return np.concatenate([self.lengthscale, [self.signal, self.noise], shape])

    def logs(self):
        x = np.log(self.numbers())
        if self.has_scales():
            x[-2] = np.log(self.share / (1.0 - self.share))
        return x

    @staticmethod
    def from_logs(kernel, x):
        if kernel not in SCALES:
            return Theta(kernel, np.exp(x[:-2]), float(np.exp(x[-2])), float(np.exp(x[-1])))
        return Theta(kernel, np.exp(x[:-4]), float(np.exp(x[-4])), float(np.exp(x[-3])),
                     float(1.0 / (1.0 + np.exp(-x[-2]))), float(np.exp(x[-1])))

    def components(self):
        """(g's name, variance, reach) of each."""
        if not self.has_scales():
            return [(self.kernel, self.signal, 1.0)]
        g, count = SCALES[self.kernel]
        left, found = 1.0, []
        for j in range(count):
            share = left if j == count - 1 else left * (1.0 - self.share)
            found.append((g, self.signal * share, self.reach**j))
            left -= share
        return found


def squared_differences(theta, A, B):
    """(len(A), len(B), D): (a_d - b_d)^2 / l_d^2."""
    return ((A[:, None, :] - B[None, :, :]) / theta.lengthscale) ** 2


def scaled_distance(theta, A, B):
    s = np.zeros((len(A), len(B)))
    for d, l in enumerate(theta.lengthscale):
        s += ((A[:, None, d] - B[None, :, d]) / l) ** 2
    return s


def kernel(theta, A, B):
    s = scaled_distance(theta, A, B)
    return sum(variance * G[g](s / reach**2) for g, variance, reach in theta.components())


def kernel_slopes(theta, A, B):
    """-2 dk/ds: the factor of (x_d - x'_d)^2 / l_d^2 in dk / dlog l_d."""
    s = scaled_distance(theta, A, B)
    return sum(-2.0 * variance / reach**2 * DG[g](s / reach**2)
               for g, variance, reach in theta.components())


def shape_derivatives(theta, A, B):
    """dk / dlogit w and dk / dlog rho of k = s_f^2 sum_j p_j(w) g(s / rho^2j), the shares p being 1 - w, w with two
    scales and 1 - w, w (1 - w), w^2 with three."""
    s, w, rho = scaled_distance(theta, A, B), theta.share, theta.reach
    g, count = SCALES[theta.kernel]
    shares = {2: [1.0 - w, w], 3: [1.0 - w, w * (1.0 - w), w * w]}[count]
    by_w = {2: [-1.0, 1.0], 3: [-1.0, 1.0 - 2.0 * w, 2.0 * w]}[count]
    yield theta.signal * w * (1.0 - w) * sum(d * G[g](s / rho**(2 * j)) for j, d in enumerate(by_w))
    yield theta.signal * sum(p * DG[g](s / rho**(2 * j)) * -2.0 * j * s / rho**(2 * j)
                             for j, p in enumerate(shares))


def covariance_of_targets(theta, X, noise=None):
    """noise: each row's own variance; None: theta's of all."""
    own = np.full(len(X), theta.noise) if noise is None else noise
    return kernel(theta, X, X) + np.diag(own)


# ---- Marginal likelihood (paper eq. 1) ----------------------------------------------


def nlml(theta, X, y):
    C = covariance_of_targets(theta, X)
    _, log_det = np.linalg.slogdet(C)
    return 0.5 * (y @ np.linalg.solve(C, y) + log_det + len(y) * np.log(2.0 * np.pi))


def derivative_matrices(theta, X):
    """dC / dlog theta_j for l_1 .. l_D, s_f^2, s^2; with several scales for logit w and log rho too."""
    squares = squared_differences(theta, X, X)
    slopes = kernel_slopes(theta, X, X)
    yield from (slopes * squares[:, :, d] for d in range(X.shape[1]))
    yield kernel(theta, X, X)
    yield theta.noise * np.eye(len(X))
    if theta.has_scales():
        yield from shape_derivatives(theta, X, X)


def nlml_gradient(theta, X, y):
    """1/2 tr(C^-1 dC) - 1/2 alpha' dC alpha, and the size of the terms summed in it:
    what a rounding error must be compared with where they cancel."""
    C_inv = np.linalg.inv(covariance_of_targets(theta, X))
    alpha = C_inv @ y
    weight = 0.5 * (C_inv - np.outer(alpha, alpha))
    matrices = list(derivative_matrices(theta, X))
    gradient = np.array([np.sum(weight * dC) for dC in matrices])
    scale = np.array([np.sum(np.abs(weight * dC)) for dC in matrices])
    return gradient, scale


# ---- One expert's posterior (paper eqs. 2 and 3), latent -----------------------------


@dataclass
class Posterior:
    mean: np.ndarray       # b
    explained: np.ndarray  # b: k*' C^-1 k*, so that var = s_f^2 - explained
    gamma: np.ndarray      # m x b: C^-1 k*


def posterior(theta, X, y, Q, noise=None):
    k_star = kernel(theta, X, Q)
    gamma = np.linalg.solve(covariance_of_targets(theta, X, noise), k_star)
    return Posterior(gamma.T @ y, np.sum(gamma * k_star, axis=0), gamma)


def exact_gp(theta, X, y, Q):
    """Mean and latent variance of the GP on all rows."""
    p = posterior(theta, X, y, Q)
    return p.mean, theta.signal - p.explained


def exact_gp_covariance(theta, X, Q):
    k_star = kernel(theta, X, Q)
    return kernel(theta, Q, Q) - k_star.T @ np.linalg.solve(covariance_of_targets(theta, X), k_star)


# ---- Conditionally independent rules --------------------------------------------------
# mean, var: M x b in the space of aggregation; prior: the prior variance there.
# P = sum beta_i / v_i [+ (1 - sum beta_i) / prior]; mean = sum beta_i mu_i / v_i / P; var = 1/P.


def _precision_weighted(beta, mean, var, prior_precision, prior_mean, prior_var):
    P = np.sum(beta / var, axis=0) + prior_precision
    weighted = np.sum(beta * mean / var, axis=0) + prior_precision * prior_mean
    good = P > 0.0
    safe = np.where(good, P, 1.0)
    return np.where(good, weighted / safe, prior_mean), np.where(good, 1.0 / safe, prior_var)


def _entropy_weights(var, prior):
    return 0.5 * (np.log(prior) - np.log(var))


def poe(mean, var, prior):
    return _precision_weighted(np.ones_like(var), mean, var, 0.0, 0.0, prior)


def gpoe(mean, var, prior):
    return _precision_weighted(np.full_like(var, 1.0 / len(var)), mean, var, 0.0, 0.0, prior)


def gpoe_entropy(mean, var, prior):
    return _precision_weighted(_entropy_weights(var, prior), mean, var, 0.0, 0.0, prior)


def _with_prior(beta, mean, var, prior):
    return _precision_weighted(beta, mean, var, (1.0 - np.sum(beta, axis=0)) / prior, 0.0, prior)


def bcm(mean, var, prior):
    return _with_prior(np.ones_like(var), mean, var, prior)


def rbcm(mean, var, prior):
    return _with_prior(_entropy_weights(var, prior), mean, var, prior)


def grbcm(mean, var, prior):
    """Row 0 is the base, which plays the prior's part; the others hold its rows too."""
    beta = _entropy_weights(var[1:], var[0])
    beta[:1] = 1.0
    return _precision_weighted(beta, mean[1:], var[1:], (1.0 - np.sum(beta, axis=0)) / var[0],
                               mean[0], var[0])


def single(mean, var, prior):
    best = np.argmin(var, axis=0)
    at = np.arange(var.shape[1])
    return mean[best, at], var[best, at]


RULES = {"grbcm": grbcm, "rbcm": rbcm, "bcm": bcm, "gpoe": gpoe, "gpoe-entropy": gpoe_entropy,
         "poe": poe, "single": single}
RULE_ORDER = ["npae", "groups", "grbcm", "rbcm", "bcm", "gpoe", "gpoe-entropy", "poe", "single"]

# ---- NPAE (paper eqs. 4 to 6) ----------------------------------------------------------


@dataclass
class Part:
    """One expert's rows; equal row numbers in two parts are the same observation."""
    X: np.ndarray
    y: np.ndarray
    row: np.ndarray
    noise: np.ndarray = None  # of each row; None: theta's


def held_rows(arrays):
    """What each expert of a model file holds: its own rows and, where experts overlap, its extra
    ones; ascending places in X."""
    offset, M = arrays["offset"], len(arrays["offset"]) - 1
    own = [np.arange(offset[e], offset[e + 1]) for e in range(M)]
    if "extra" not in arrays:
        return own
    extra, ends = arrays["extra"], arrays["extra_offset"]
    return [np.sort(np.concatenate([own[e], extra[ends[e]:ends[e + 1]]])) for e in range(M)]


def extra_rows(theta, X, offset, share):
    """The rule of --overlap: of the 4 w rows outside that are nearest to the part's centre, the w
    nearest to any of its rows, w = share times its size, rounded; all when there are fewer.
    Ties: the lower row."""
    chosen = []
    for first, last in zip(offset[:-1], offset[1:]):
        outside = np.concatenate([np.arange(first), np.arange(last, len(X))])
        wanted = min(int(np.floor(share * (last - first) + 0.5)), len(outside))
        centre = X[first:last].mean(axis=0, keepdims=True)
        by_centre = np.argsort(scaled_distance(theta, centre, X[outside])[0], kind="stable")
        pool = np.sort(outside[by_centre[:4 * wanted]])
        gap = scaled_distance(theta, X[pool], X[first:last]).min(axis=1)
        chosen.append(np.sort(pool[np.argsort(gap, kind="stable")[:wanted]]))
    return chosen


def target_covariance(theta, a, b):
    """Cov(y_i, y_j) = k(X_i, X_j), plus the row's noise wherever both hold the same row."""
    noise = theta.noise if a.noise is None else a.noise[:, None]
    return kernel(theta, a.X, b.X) + noise * (a.row[:, None] == b.row[None, :])


@dataclass
class Npae:
    k_A: np.ndarray      # b x M
    K_A: np.ndarray      # b x M x M
    weights: np.ndarray  # b x M
    mean: np.ndarray     # b
    var: np.ndarray      # b: latent, within [0, the best single expert's]
    pivot: np.ndarray    # b: smallest squared pivot of K_A scaled to a unit diagonal


def npae(theta, parts, Q):
    posts = [posterior(theta, p.X, p.y, Q, p.noise) for p in parts]
    M, b = len(parts), len(Q)
    K_A = np.empty((b, M, M))
    for i in range(M):
        for j in range(M):
            product = target_covariance(theta, parts[i], parts[j]) @ posts[j].gamma
            K_A[:, i, j] = np.sum(posts[i].gamma * product, axis=0)
    k_A = np.array([p.explained for p in posts]).T
    mu = np.array([p.mean for p in posts]).T
    out = Npae(k_A, K_A, np.zeros((b, M)), np.zeros(b), np.zeros(b), np.ones(b))
    for q in range(b):
        out.weights[q], out.pivot[q] = _npae_weights(theta, k_A[q], K_A[q])
        out.mean[q] = out.weights[q] @ mu[q]
        out.var[q] = theta.signal - out.weights[q] @ k_A[q]
    out.var = np.clip(out.var, 0.0, np.maximum(0.0, theta.signal - k_A.max(axis=1)))
    return out


SMALLEST_PIVOT = 1e-9  # of the scaled K_A; below it the diagonal gets jitter, a tenfold more each time
JITTERS = [0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5]


def _npae_weights(theta, k_A, K_A):
    """K_A^-1 k_A over the experts that explain anything at all (to 1e-13 of the prior), and the
    smallest pivot of the scaled K_A in the order of the experts."""
    weights = np.zeros(len(k_A))
    on = np.flatnonzero(k_A > 1e-13 * theta.signal)
    if len(on) == 0:
        return weights, 1.0
    d = 1.0 / np.sqrt(k_A[on])
    R = K_A[np.ix_(on, on)] * np.outer(d, d)
    R = 0.5 * (R + R.T)
    np.fill_diagonal(R, 1.0)
    pivots = [_smallest_pivot(R + jitter * np.eye(len(on))) for jitter in JITTERS]
    solved = next((i for i, pivot in enumerate(pivots) if pivot >= SMALLEST_PIVOT), None)
    if solved is None:  # pseudo-inverse without the eigenvalues below the last jitter
        weights[on] = d * (np.linalg.pinv(R, rcond=JITTERS[-1], hermitian=True) @ (d * k_A[on]))
    else:
        weights[on] = d * np.linalg.solve(R + JITTERS[solved] * np.eye(len(on)), d * k_A[on])
    return weights, pivots[0]


def _smallest_pivot(R):
    """The squared pivots of Cholesky, i.e. what is left of each entry given those before it."""
    try:
        return float(np.min(np.diag(np.linalg.cholesky(R))) ** 2)
    except np.linalg.LinAlgError:
        return 0.0


def joint_error_covariance(theta, parts, Q, weights):
    """Cov(f - a'y) between the queries; a(x) = w_i(x) Gamma_i(x) on the rows of expert i."""
    A = np.vstack([posterior(theta, p.X, p.y, Q, p.noise).gamma * weights[:, i]
                   for i, p in enumerate(parts)])
    k_star = np.vstack([kernel(theta, p.X, Q) for p in parts])
    cov_y = np.block([[target_covariance(theta, a, b) for b in parts] for a in parts])
    return kernel(theta, Q, Q) - A.T @ k_star - k_star.T @ A + A.T @ cov_y @ A


# ---- The expert graph --------------------------------------------------------------------


def means_covariance(means):
    """S: sample covariance of the experts' means (M x references)."""
    centred = means - means.mean(axis=1, keepdims=True)
    return centred @ centred.T / (means.shape[1] - 1)


def largest_off_diagonal(S):
    return np.max(np.abs(S - np.diag(np.diag(S)))) if len(S) > 1 else 0.0


def graphical_lasso(S, lam, iterations=20000, tolerance=1e-11):
    """log|Omega| - tr(S Omega) - lam ||Omega||_1, diagonal penalised, by ADMM."""
    rho = np.sqrt(np.mean(np.diag(S)) + lam)
    Z = np.diag(1.0 / (np.diag(S) + lam))
    U = np.zeros_like(S)
    for _ in range(iterations):
        values, vectors = np.linalg.eigh(rho * (Z - U) - S)
        omega = (vectors * ((values + np.sqrt(values ** 2 + 4.0 * rho)) / (2.0 * rho))) @ vectors.T
        before = Z
        Z = np.sign(omega + U) * np.maximum(np.abs(omega + U) - lam / rho, 0.0)
        U += omega - Z
        if max(np.max(np.abs(Z - before)), np.max(np.abs(omega - Z))) < tolerance * np.max(np.abs(Z)):
            break
    return 0.5 * (Z + Z.T)


def kkt_violation(S, omega, lam):
    """Of W = Omega^-1: W_ij - S_ij = lam sign(Omega_ij), or at most lam where Omega_ij = 0."""
    R = np.linalg.inv(omega) - S
    on = omega != 0.0
    return max(np.max(np.abs(R - lam * np.sign(omega))[on]), np.max((np.abs(R) - lam)[~on], initial=0.0))


def importance(omega):
    return np.sum(np.abs(omega), axis=1) - np.abs(np.diag(omega))


def ranking(scores):
    """Largest first, ties to the lower index."""
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def selected(select, order):
    """The experts that a --select text names for all queries, ascending."""
    M = len(order)
    select = select.split("+")[0]
    if select == "all" or select.startswith(("local:", "knn:")):
        return list(range(M))
    if select == "none":
        return []
    kind, value = select.split(":")
    if kind == "expert":
        return [int(value) - 1]
    count = max(1, int(np.ceil(float(value) * M - 1e-9)))
    return sorted(order[:count] if kind in ("graph", "best") else order[-count:])


# ---- A quorum for every query -----------------------------------------------------------------

AUTO_ROUNDS = [1, 2, 4, 8, 16]  # experts that local:auto tries
AUTO_TOLERANCE = 0.01           # it stops when the latent variance falls by less than this


class ByCentre(int):
    """K of "knn:K"."""


def local_size(select):
    """K of "local:K" or "...+local:K", "auto", ByCentre of "knn:K", or None without any."""
    local = select.split("+")[-1]
    if local.startswith("knn:"):
        return ByCentre(local[4:])
    if not local.startswith("local:"):
        return None
    return "auto" if local == "local:auto" else int(local[6:])


def most_explaining(explained, experts, K):
    """The K experts with the largest k_A (explained[e]) at one query, best first; ties: the lower
    number.  Exhaustive."""
    return sorted(experts, key=lambda e: (-explained[e], e))[:K]


def expert_groups(omega, experts):
    """Spectral clustering of the experts by partial correlations: lists of experts.  Who has no edge
    is alone; the p others make round(sqrt(p)) groups.  K-means from the vertex of the largest degree,
    then the farthest from those there are."""
    scale = np.sqrt(np.diag(omega)[experts])
    W = np.abs(omega[np.ix_(experts, experts)]) / np.outer(scale, scale)
    np.fill_diagonal(W, 0.0)
    at = np.flatnonzero(W.sum(axis=1) > 0)
    alone = [[e] for i, e in enumerate(experts) if i not in at]
    if not len(at):
        return alone
    W = W[np.ix_(at, at)]
    degree, k = W.sum(axis=1), int(np.floor(np.sqrt(len(at)) + 0.5))
    U = np.linalg.eigh(W / np.sqrt(np.outer(degree, degree)))[1][:, ::-1][:, :k]
    U = U / np.linalg.norm(U, axis=1, keepdims=True)
    centres = [U[np.argmax(degree)]]
    while len(centres) < k:
        centres.append(U[np.argmax(np.min([np.sum((U - c) ** 2, axis=1) for c in centres], axis=0))])
    centres, label = np.array(centres), None
    for _ in range(101):
        before, label = label, np.argmin(((U[:, None] - centres) ** 2).sum(axis=2), axis=1)
        if before is not None and np.array_equal(before, label):
            break
        for g in set(label):
            centres[g] = U[label == g].mean(axis=0)
    return alone + [[experts[i] for i in at[label == g]] for g in sorted(set(label))]


def nearest_centres(theta, parts, Q, experts, K):
    """b x K: the experts the means of whose rows are nearest to each query in the learned metric,
    nearest first; ties: the lower number."""
    centres = np.array([parts[e].X.mean(axis=0) for e in experts])
    return np.array(experts)[np.argsort(scaled_distance(theta, Q, centres), axis=1, kind="stable")[:, :K]]


def nearest_rows(theta, X, Q, m):
    """b x m: the rows of X nearest to each query in the learned metric; ties: the lower row."""
    return np.argsort(scaled_distance(theta, Q, X), axis=1, kind="stable")[:, :m]


class Around(typing.NamedTuple):
    """The noise of one observation around a query, and what all of the covariance is multiplied by."""
    noise: float
    level: float = 1.0


def noise_around(theta, X, y, weight=None, error=None, rows=128, factors=4.0 ** np.arange(5)):
    """From a query's nearest rows, nearest first: of the noises f s^2 the one under which the nearer
    half of the first 128, each left out of them, have the highest density, and the level at which
    their variances are on the geometric mean what they are with s^2."""
    r = min(rows, len(y))
    q = (r + 1) // 2
    w = np.ones(r) if weight is None else weight[:r]
    e2 = np.zeros(r) if error is None else error[:r] ** 2
    best, expected = None, None
    for f in factors:
        one = f * theta.noise + e2
        inverse = np.linalg.inv(covariance_of_targets(theta, X[:r], one / w))
        alone = 1 / np.diag(inverse)[:q]  # variance of what the row itself would be, one of w rows
        v = alone + (one - one / w)[:q]
        z2 = ((inverse @ y[:r])[:q] * alone) ** 2 / v
        mean = np.average(np.log(v), weights=w[:q])
        expected = mean if expected is None else expected
        c, total = np.exp(expected - mean), np.sum(w[:q])
        s = (c + np.sum(w[:q] * z2)) / (1 + total)
        density = -0.5 * (np.sum(w[:q] * np.log(v * s)) + np.sum(w[:q] * z2) / s)
        if best is None or density > best[0]:
            best = density, Around(f * theta.noise, c)
    return best[1]


def lies_in_gap(theta, X, query, centres):
    """Whether a row of X, nearest first, or a centre lies within 60 degrees of the direction opposite to the nearest
    row's, seen from the query; in scaled inputs."""
    from_query = np.vstack([X, centres]) / theta.lengthscale - query / theta.lengthscale
    near = from_query[0]
    return bool(np.any(from_query @ near < -0.5 * np.linalg.norm(from_query, axis=1) * np.linalg.norm(near)))


def spread(theta, X, y, query, prior, untested=1.0, nested=True, weight=None, error=None, around=None, gap=False):
    """The factor of the variance at one query, from its nearest rows X, nearest first: each of the
    first 128 is left out and predicted from all the others.  What these show is the prior of the first
    32, and that of the first 8; or not nested, as in older files, the first 32 count alone.  It holds for variances like
    theirs, and less for a larger one of the query: there it is `untested`.  A row of a weight is so
    many observations, each with the noise and its known error.  With a noise of its own around the
    query, its variance beyond what was tested is that with the noise of theta.  In a gap it is also multiplied by
    the root of what the rows show, against what theta expects."""
    around = around or Around(theta.noise)
    here = dataclasses.replace(theta, noise=around.noise)
    s, t, own = shown_and_tested(here, X, y, query, prior, nested, weight, error, around.level)
    near = (np.ones(len(y)) if weight is None else weight)[:32] @ kernel(theta, X[:32], query)[:, 0] ** 2
    untested = untested * np.sqrt(s / around.level) if gap else untested
    share = t**2 * (1.0 if around.noise == theta.noise else min(1.0, near / theta.signal**2))
    return s ** share * (untested * (own - around.noise + theta.noise) / own) ** (1 - share)


def shown_and_tested(theta, X, y, query, prior, nested=True, weight=None, error=None, level=1.0):
    """What the rows show, how far they have tested a variance like the query's, and that variance."""
    weight = np.ones(len(y)) if weight is None else weight
    one = np.full(len(y), theta.noise) if error is None else theta.noise + error**2
    noise = one / weight
    rho2 = weight * (kernel(theta, X, query)[:, 0] / theta.signal) ** 2
    missed, latent = left_out(theta, X, y, noise)
    v = latent + one
    z2 = missed**2 / v
    own = theta.signal - posterior(theta, X, y, query, noise).explained[0] + theta.noise
    return *weighed(prior, nested, level, rho2, z2, v, own), own


def weighed(prior, nested, level, rho2, z2, v, own):
    """What rows show, nearest first, and how far they have tested the variance `own`."""
    s = level
    for count, rows in ([(128, 1.0), (32, prior), (8, prior)] if nested else [(32, prior)]):
        if np.isfinite(prior):
            s = (rows * s + np.sum((rho2 * z2)[:count])) / (rows + np.sum(rho2[:count]))
    near = np.sum(rho2[:32])
    return (s, min(1.0, 2 * np.average(v[:32], weights=rho2[:32]) / own)) if near >= 1e-280 else (1.0, 0.0)


def left_out(theta, X, y, noise):
    """Error and latent variance of every row's prediction from all the others, by the inverse of the covariance
    matrix C of the targets: row i has the variance 1 / (C^-1)_ii, its noise in it, and the error (C^-1 y)_i times that."""
    half = np.linalg.inv(np.linalg.cholesky(covariance_of_targets(theta, X, noise)))  # C^-1 = half' half
    v = 1 / np.sum(half**2, axis=0)
    return (half.T @ (half @ y)) * v, v - noise


def beyond_cuts(theta, X, seed):
    """Rows that are predicted, and those that each may be predicted from: beyond a cut and below it,
    for the eight inputs along which rows are farthest apart in length-scales, both sides and three to
    eight places.  X: training rows in their order.  Yields (input, side, target, kept)."""
    order = list(range(len(X)))
    Xoshiro(seed, 15).shuffle(order)
    order = np.array(order[:4000])
    Z = X[order] / theta.lengthscale
    inputs = np.argsort(-Z.std(axis=0), kind="stable")[:8]
    shares = np.linspace(0.4, 0.9, min(8, max(3, 32 // (2 * len(inputs)))))
    each = int(np.ceil(384 / (2 * len(shares) * len(inputs))))
    for d in inputs:
        for side in (1, -1):
            for share in shares:
                x = side * Z[:, d]
                limit = np.sort(x)[int(share * len(x))]
                kept = x < limit
                if np.sum(kept) >= 0.5 * share * len(x):
                    for target in order[~kept][:each]:
                        yield d, side, target, order[kept]


def untested(theta, X, y, prior, neighbours, seed, known=0.9):
    """The factor of variances that no row near a query has tested.  u: under which rows beyond cuts have
    the highest density; then the same of each side, its cuts counting as one row each, with log u_side
    ~ N(log u, 1).  The largest of these times 1 + 4 / (number of sides)^2, and 1 at least.  Rows whose variance is
    `known` of the prior's or more do not count."""
    shown, side_of, cut_of = [], [], []
    for d, side, target, kept in beyond_cuts(theta, X, seed):
        query = X[target:target + 1]
        near = kept[nearest_rows(theta, X[kept], query, min(neighbours, len(kept)))[0]]
        p = posterior(theta, X[near], y[near], query)
        variance = theta.signal - p.explained[0] + theta.noise
        if variance >= known * (theta.signal + theta.noise):
            continue
        shown.append((*shown_and_tested(theta, X[near], y[near], query, prior)[:2],
                      (y[target] - p.mean[0]) ** 2 / variance))
        side_of.append((d, side))
        cut_of.append(len(kept))
    s, t, z2 = np.array(shown).T
    tried = 1024.0 ** (np.arange(-64, 65) / 64)
    factor = s ** (t**2) * tried[:, None] ** (1 - t**2)
    loss = np.log(factor) + z2 / factor
    pooled = tried[np.argmin(loss.sum(axis=1))]
    sides, worst = set(side_of), 0.0
    for one in sides:
        own = np.array([other == one for other in side_of])
        cuts = len(set(np.array(cut_of)[own]))
        about = cuts * loss[:, own].mean(axis=1) + np.log(tried / pooled) ** 2
        worst = max(worst, tried[np.argmin(about)])
    return max(1.0, worst * (1 + 4 / len(sides) ** 2))


# ---- Random numbers: only to know which rows GRBCM's random base takes ---------------------

MASK = (1 << 64) - 1


class Xoshiro:
    """xoshiro256++ seeded by splitmix64 (Blackman and Vigna)."""

    def __init__(self, seed, stream):
        x = (seed ^ (stream * 0xD1342543DE82EF95)) & MASK
        self.s = []
        for _ in range(4):
            x = (x + 0x9E3779B97F4A7C15) & MASK
            z = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.s.append(z ^ (z >> 31))

    @staticmethod
    def _rotate(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    def next(self):
        s = self.s
        result = (self._rotate((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = self._rotate(s[3], 45)
        return result

    def below(self, bound):
        limit = MASK - MASK % bound
        while True:
            x = self.next()
            if x < limit:
                return x % bound

    def shuffle(self, items):
        for i in range(len(items), 1, -1):
            j = self.below(i)
            items[i - 1], items[j] = items[j], items[i - 1]


# ---- A saved model -------------------------------------------------------------------------


@dataclass
class Quorum:
    """Who spoke at one query, and what came of it."""
    experts: list    # in the order of their seats
    members: list    # their parts, and the neighbourhood's at the end
    npae: Npae


def settings(method, select, neighbours, experts):
    """What a method, its star and the three autos stand for, for a model of so many experts."""
    starred, automatic = method.endswith("*"), method == "auto"
    method = method.rstrip("*")
    if automatic:
        by_rows = experts > 1 if neighbours == "auto" else int(neighbours) > 0
        method = "nearest" if select == "auto" and by_rows else "npae"
    if select == "none":
        method = "nearest"
    if neighbours == "auto":
        neighbours = 512 if method == "nearest" else 0
    if select == "auto":
        select = ("none" if method == "nearest" else "graph:0.8" if starred
                  else "local:4" if automatic and experts > 1 else "all")
    return method, select, int(neighbours)


def several_scales(arrays):
    """share and reach, where the model's kernel has them."""
    if "logit_long_share" not in arrays:
        return ()
    return (float(1.0 / (1.0 + np.exp(-arrays["logit_long_share"]))),
            float(np.exp(arrays["log_long_reach"])))


class Model:
    """A model file, opened with numpy.load alone, and the equations on top."""

    def __init__(self, path):
        with np.load(path) as file:
            self.arrays = {k: file[k] for k in file.files if k != "meta.json"}
        with zipfile.ZipFile(path) as file:
            self.meta = json.loads(file.read("meta.json"))
        a = self.arrays
        self.theta = Theta(self.meta["kernel"], np.exp(a["log_lengthscale"]),
                           float(np.exp(a["log_signal_variance"])),
                           float(np.exp(a["log_noise_variance"])), *several_scales(a))
        self.take_parts()
        self.order = self.find_order() if "importance" in a else None  # the graph is not learned

    def take_parts(self):
        a = self.arrays
        self.held = held_rows(a)
        weight, error = a.get("weight", np.ones(len(a["y"]))), a.get("error", np.zeros(len(a["y"])))
        self.noise = (self.theta.noise + error**2) / weight
        self.parts = [self.part(r) for r in self.held]
        self.M, self.n = len(self.parts), len(a["y"])

    def part(self, rows):
        a = self.arrays
        return Part(a["X"][rows], a["y"][rows], a["row"][rows], self.noise[rows])

    def without(self, gone):
        """The same model with the rows marked in `gone` (n) taken out of every expert."""
        other = copy.copy(self)
        other.arrays = a = dict(self.arrays)
        number = np.cumsum(~gone) - 1  # of a row among those left
        for name in ("X", "y", "row", "weight", "error"):
            if name in a:
                a[name] = a[name][~gone]
        a["offset"] = np.concatenate([[0], np.cumsum(~gone)])[a["offset"]]
        if "extra" in a:
            stays = ~gone[a["extra"]]
            a["extra_offset"] = np.concatenate([[0], np.cumsum(stays)])[a["extra_offset"]]
            a["extra"] = number[a["extra"][stays]]
        other.take_parts()
        return other

    def standardise(self, X):
        if "bend_width" in self.arrays:
            at, width = self.arrays["bend_at"], self.arrays["bend_width"]
            X = np.where(width > 0, np.arcsinh((X - at) / np.where(width > 0, width, 1)), X)
        Z = (X - self.arrays["x_mean"]) / self.arrays["x_scale"]
        return Z @ self.arrays["rotation"].T if "rotation" in self.arrays else Z

    def reference_posteriors(self):
        return [posterior(self.theta, p.X, p.y, self.arrays["reference"], p.noise)
                for p in self.parts]

    def find_order(self):
        scores = self.arrays["importance"]
        return ranking(scores) if np.any(scores) else self.by_explained()

    def by_explained(self):
        """The fall-back of an empty graph: the largest mean explained variance first."""
        return ranking([np.mean(p.explained) for p in self.reference_posteriors()])

    def graph_order_on(self, X, lam_share=0.1):
        """The paper's graph on the queries themselves: ranking and importance."""
        Q = self.standardise(X)
        S = means_covariance(np.array([posterior(self.theta, p.X, p.y, Q, p.noise).mean
                                       for p in self.parts]))
        scores = importance(graphical_lasso(S, lam_share * largest_off_diagonal(S)))
        return ranking(scores), scores

    def base_and_joined(self, experts, order):
        """GRBCM's experts: the base, then every other part joined with the base's rows."""
        everything = self.arrays
        offset = everything["offset"]
        in_base = np.zeros(self.n, dtype=bool)
        if 1 < len(experts) < self.M:  # starred: the most important expert's own part
            first = next(e for e in order if e in experts)
            in_base[self.held[first]] = True
        else:
            rows = [r for e in experts for r in range(offset[e], offset[e + 1])]
            Xoshiro(self.meta["seed"], 3).shuffle(rows)
            in_base[rows[:max(1, int(np.floor(self.n / self.M + 0.5)))]] = True
        X, y = everything["X"], everything["y"]
        joined = [(X[in_base], y[in_base], self.noise[in_base])]
        for e in experts:
            own = np.zeros(self.n, dtype=bool)
            own[self.held[e]] = True
            own &= ~in_base
            if own.any():
                joined.append((np.vstack([X[in_base], X[own]]), np.concatenate([y[in_base], y[own]]),
                               np.concatenate([self.noise[in_base], self.noise[own]])))
        return joined

    def predict(self, X, method="auto", select="auto", space="latent", latent=False, order=None,
                neighbours="auto", error=0.0):
        """Mean and std in the target's units; `error` is what is known of the queries' own."""
        order = self.order if order is None else order
        method, select, neighbours = settings(method, select, neighbours, self.M)
        experts = selected(select, order)
        Q = self.standardise(X)
        theta, a = self.theta, self.arrays
        if method == "groups":
            groups = expert_groups(a["precision"], experts) if len(experts) > 1 else [experts]
            each = [npae(theta, [self.parts[e] for e in g], Q) for g in groups]
            mean, var = bcm(np.array([r.mean for r in each]), np.array([r.var for r in each]), theta.signal)
            share = np.clip(var / theta.signal, 0.0, 1.0)
            var = var + (0.0 if latent else theta.noise) + share * self.doubts(self.features(Q))
        elif method in ("nearest", "npae"):
            around = self.noises(Q, neighbours) if method == "nearest" else None
            mean, var, doubt = self._joint(Q, experts, local_size(select), neighbours, around)
            noise = theta.noise if around is None else np.array([n.noise for n in around])
            var = (var + (0.0 if latent else noise)) * self.spreads(Q, neighbours, around=around) + doubt
        else:
            mean, var = self._independent(method, experts, order, Q, space, latent, local_size(select))
            share = np.clip((var - (0.0 if latent else theta.noise)) / theta.signal, 0.0, 1.0)
            var = var + share * self.doubts(self.features(Q))
        if "trend" in a:
            mean = mean + self.features(Q) @ a["trend"]
        var = var + (0.0 if latent else (error / float(a["y_scale"])) ** 2)
        return float(a["y_mean"]) + float(a["y_scale"]) * mean, float(a["y_scale"]) * np.sqrt(var)

    @staticmethod
    def features(Z):
        return np.column_stack([np.ones(len(Z)), Z])

    def doubts(self, U):
        """u' V u of every row of U: the variance that a linear trend's coefficients add."""
        return (np.einsum("ij,jk,ik->i", U, self.arrays["trend_covariance"], U)
                if "trend" in self.arrays else np.zeros(len(U)))

    def line_errors(self, members, result, Q):
        """f(x) - sum of the rows' f(x_i), weighed as the prediction weighs them."""
        U = self.features(Q)
        for i, part in enumerate(members):
            gamma = posterior(self.theta, part.X, part.y, Q, part.noise).gamma * result.weights[:, i]
            U = U - gamma.T @ self.features(part.X)
        return U

    def spread_rule(self, scale=1.0):
        """nu, u where calibration multiplies std by `scale`, and whether rows are nested."""
        u = self.meta["untested"] / min(1.0, scale) ** 2 if "untested" in self.meta else 1.0
        return self.meta.get("spread", np.inf), u, self.meta.get("spread_rows") == "nested"

    def row_fields(self):
        return self.arrays.get("weight", np.ones(self.n)), self.arrays.get("error", np.zeros(self.n))

    def noises(self, Q, neighbours):
        """The noise around each query; None: theta's everywhere."""
        if self.meta.get("noise") != "local":
            return None
        a, (weight, error) = self.arrays, self.row_fields()
        return [noise_around(self.theta, a["X"][r], a["y"][r], weight[r], error[r])
                for r in nearest_rows(self.theta, a["X"], Q, min(neighbours, self.n))]

    def spreads(self, Q, neighbours, scale=1.0, around=None):
        """By how much the variance at each query is multiplied."""
        a, m = self.arrays, min(neighbours, self.n)
        if m == 0 or (self.spread_rule(scale)[:2] == (np.inf, 1.0) and around is None):
            return np.ones(len(Q))
        weight, error = self.row_fields()
        prior, beyond, nested = self.spread_rule(scale)
        inside = min(1.0, scale) ** -2
        centres = np.array([part.X.mean(axis=0) for part in self.parts])
        rows = nearest_rows(self.theta, a["X"], Q, m)
        gaps = ["untested" in self.meta and lies_in_gap(self.theta, a["X"][r], Q[q], centres) for q, r in enumerate(rows)]
        return np.array([spread(self.theta, a["X"][r], a["y"][r], Q[q:q + 1], prior, inside if gaps[q] else beyond,
                                nested, weight=weight[r], error=error[r], around=around and around[q], gap=gaps[q])
                         for q, r in enumerate(rows)])

    def _joint(self, Q, experts, local, neighbours, around=None):
        if local is None and neighbours == 0:  # one table for all
            members = [self.parts[e] for e in experts]
            result = npae(self.theta, members, Q)
            return result.mean, result.var, self.doubts(self.line_errors(members, result, Q))
        quorums = self.quorums(Q, experts, local, neighbours, around)
        U = np.vstack([self.line_errors(q.members, q.npae, Q[i:i + 1]) for i, q in enumerate(quorums)])
        return (np.array([q.npae.mean[0] for q in quorums]),
                np.array([q.npae.var[0] for q in quorums]), self.doubts(U))

    def quorums(self, Q, experts, local=None, neighbours=0, around=None):
        """NPAE at every query: on its `local` most explaining experts (ByCentre: its nearest ones;
        None: all of them, ascending) and, last, on the GP of its nearest rows."""
        theta, a = self.theta, self.arrays
        m = min(neighbours, self.n)
        rows = nearest_rows(theta, a["X"], Q, m) if m else None
        near = [self.part(r) for r in rows] if m else [None] * len(Q)
        if around is not None:
            weight, error = self.row_fields()
            near = [dataclasses.replace(p, noise=(n.noise + error[r] ** 2) / weight[r])
                    for p, n, r in zip(near, around, rows)]
        if local is None or local != "auto" and local >= len(experts):
            seats = [experts] * len(Q)
        elif isinstance(local, ByCentre):
            seats = nearest_centres(theta, self.parts, Q, experts, local)
        else:
            explained = {e: posterior(theta, self.parts[e].X, self.parts[e].y, Q,
                                      self.parts[e].noise).explained
                         for e in experts}
            most = len(experts) if local == "auto" else local
            seats = [most_explaining({e: v[q] for e, v in explained.items()}, experts, most)
                     for q in range(len(Q))]
        return [self._auto_quorum(Q[q:q + 1], seats[q], near[q]) if local == "auto"
                else self._quorum(Q[q:q + 1], seats[q], near[q]) for q in range(len(Q))]

    def _quorum(self, query, seats, near):
        members = [self.parts[e] for e in seats] + ([near] if near is not None else [])
        return Quorum(list(seats), members, npae(self.theta, members, query))

    def _auto_quorum(self, query, ranked, near):
        """1, 2, 4, .. experts until the variance falls by less than the tolerance; seats of a round
        that takes every expert are in ascending order."""
        most, best = min(AUTO_ROUNDS[-1], len(ranked)), None
        for K in AUTO_ROUNDS:
            K = min(K, most)
            last, best = best, self._quorum(query, sorted(ranked) if K == len(ranked) else ranked[:K], near)
            if K == most or last and best.npae.var[0] >= last.npae.var[0] * (1.0 - AUTO_TOLERANCE):
                return best
        return best

    def _independent(self, method, experts, order, Q, space, latent, local=None):
        """Observed space: aggregate noisy predictions and add nothing.  With `local`, each query
        hears the experts that explain most there, best first."""
        theta = self.theta
        rows = (self.base_and_joined(experts, order) if method == "grbcm"
                else [(self.parts[e].X, self.parts[e].y, self.parts[e].noise) for e in experts])
        posts = [posterior(theta, X, y, Q, noise) for X, y, noise in rows]
        mean = np.array([p.mean for p in posts])
        var = theta.signal - np.array([p.explained for p in posts])
        if local is not None and local < len(posts):
            best = np.argsort(var, axis=0, kind="stable")[:local]
            if isinstance(local, ByCentre):
                place = {e: i for i, e in enumerate(experts)}
                best = np.array([[place[e] for e in row]
                                 for row in nearest_centres(theta, self.parts, Q, experts, local)]).T
            mean, var = np.take_along_axis(mean, best, 0), np.take_along_axis(var, best, 0)
        noise = theta.noise if space == "observed" else 0.0
        mean, var = RULES[method](mean, var + noise, theta.signal + noise)
        if latent:
            return mean, np.maximum(var - noise, 0.0)
        return mean, var + theta.noise - noise


# ---- Data and metrics ----------------------------------------------------------------------


def standardising(X):
    """Training mean and standard deviation; a constant column gets scale 1."""
    scale = np.std(X, axis=0)
    return np.mean(X, axis=0), np.where(np.ptp(X, axis=0) > 0, scale, 1.0)


def crps(y, mean, std):
    """Integral of (F(x) - 1{x >= y})^2 over x, for one prediction, by quadrature."""
    z = (y - mean) / std
    exactly = {"epsabs": 1e-13, "epsrel": 1e-12, "limit": 200}
    below = integrate.quad(lambda t: special.ndtr(t) ** 2, min(z, 0.0) - 12.0, z, **exactly)[0]
    above = integrate.quad(lambda t: special.ndtr(-t) ** 2, z, max(z, 0.0) + 12.0, **exactly)[0]
    return std * (below + above)


LEVELS = [50, 90, 95, 99]


def metrics(y, mean, std, train_mean, train_std):
    nlpd = -np.mean(stats.norm.logpdf(y, mean, std))
    trivial = -np.mean(stats.norm.logpdf(y, train_mean, train_std))
    error = np.abs(y - mean)
    return {
        "smse": np.mean(error ** 2) / np.var(y),
        "msll": nlpd - trivial,
        "mae": np.mean(error),
        "rmse": np.sqrt(np.mean(error ** 2)),
        "nlpd": nlpd,
        "crps": np.mean([crps(*row) for row in zip(y, mean, std)]),
        "coverage": {str(c): np.mean(error <= stats.norm.ppf(0.5 + c / 200.0) * std) for c in LEVELS},
    }
