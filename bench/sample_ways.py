"""Three ways to draw a GP's posterior jointly at a grid of queries, in NumPy from their equations:
errors conditioned on nearest rows and earlier queries, in a hashed (here: random) order, as
quorum_sample does (docs/methods.md, "Draws"), or in the file's order; and a prior function of random
features that is corrected by the rows.

    /usr/bin/python3 bench/sample_ways.py [--side 20]

Columns: of the conditioning ways the root mean square and largest difference of a correlation from
the exact GP's, and the largest sd of an error against that of its own rows; of random features (one
set of 2,000 a draw) the 5 % and 95 % quantiles, over queries and 20 sets, of a draw's sd given its
features against the exact one, which should be 1."""
import argparse

import numpy as np

from common import write_csv

ROUNDING, DISTRUST, EARLIER, FEATURES, SETS = 1e-8, 0.1, 64, 2000, 20
KERNELS = {"se": (lambda s: np.exp(-s / 2), None),
           "matern12": (lambda s: np.exp(-np.sqrt(s)), 1),
           "matern32": (lambda s: (1 + np.sqrt(3 * s)) * np.exp(-np.sqrt(3 * s)), 3),
           "matern52": (lambda s: (1 + np.sqrt(5 * s) + 5 * s / 3) * np.exp(-np.sqrt(5 * s)), 5)}
SETTINGS = [(30, 30, 1e-2), (30, 30, 1e-6), (400, 50, 1e-3), (400, 200, 1e-3), (400, 200, 1e-6)]


def covariance(name, A, B, length):
    return KERNELS[name][0](((A[:, None] - B[None]) ** 2).sum(-1) / length ** 2)


def correlation(C):
    deviation = np.sqrt(np.diag(C))
    return C / np.outer(deviation, deviation)


def weights(S, variances):
    """b and c of a query from S (its own first), and the variances of the others by their rows."""
    See, s = S[1:, 1:], S[1:, 0]
    ridge = ROUNDING * np.diag(See) + 1e-13 + DISTRUST * np.maximum(np.diag(See) - variances, 0)
    b = np.linalg.solve(See + np.diag(ridge), s)
    return b, np.sqrt(max(S[0, 0] - 2 * b @ s + b @ See @ b, 0.0))


def conditioned(problem, order, rows):
    """L with e = L z, and the variances of the errors by their own rows."""
    name, X, Q, length, noise = problem
    Kqq, Kqx = covariance(name, Q, Q, length), covariance(name, Q, X, length)
    Kxx = covariance(name, X, X, length) + noise * np.eye(len(X))
    L, variance = np.zeros((len(Q), len(Q))), np.zeros(len(Q))
    for place, q in enumerate(order):
        N = np.argsort(((X - Q[q]) ** 2).sum(1), kind="stable")[:rows]
        E = order[:place]
        E = E[np.argsort(((Q[E] - Q[q]) ** 2).sum(1), kind="stable")[:EARLIER]]
        P = np.concatenate([[q], E]).astype(int)
        V = np.linalg.solve(np.linalg.cholesky(Kxx[np.ix_(N, N)]), Kqx[np.ix_(P, N)].T)
        S = Kqq[np.ix_(P, P)] - V.T @ V
        b, L[q, place] = weights(S, variance[E]) if len(E) else (None, np.sqrt(S[0, 0]))
        variance[q] = S[0, 0]
        if len(E):
            L[q] += b @ L[E]
    return L, variance


def by_features(problem, rng):
    """sd given the features of each draw, against the exact one, SETS x queries."""
    name, X, Q, length, noise = problem
    gamma = np.linalg.solve(covariance(name, X, X, length) + noise * np.eye(len(X)),
                            covariance(name, X, Q, length))
    exact = np.sqrt(1 - np.sum(gamma * covariance(name, X, Q, length), axis=0))
    ratios = []
    for _ in range(SETS):
        omega = rng.standard_normal((FEATURES, 2)) / length
        freedom = KERNELS[name][1]
        if freedom:  # Matern's spectral density is a Student t
            omega /= np.sqrt(rng.chisquare(freedom, (FEATURES, 1)) / freedom)
        wave = np.exp(1j * Q @ omega.T) - gamma.T @ np.exp(1j * X @ omega.T)
        variance = np.mean(np.abs(wave) ** 2, axis=1) + noise * np.sum(gamma ** 2, axis=0)
        ratios.append(np.sqrt(variance) / exact)
    return np.array(ratios)


def measure(name, length, setting, side):
    n, rows, noise = setting
    axis = np.linspace(0, 1, side)
    Q = np.array([[a, b] for a in axis for b in axis])
    problem = name, np.random.default_rng(1).random((n, 2)), Q, length, noise
    _, X, _, _, _ = problem
    Kqx = covariance(name, Q, X, length)
    exact = covariance(name, Q, Q, length) - Kqx @ np.linalg.solve(
        covariance(name, X, X, length) + noise * np.eye(n), Kqx.T)
    line = [name, length, n, rows, noise]
    for order in (np.random.default_rng(2).permutation(len(Q)), np.arange(len(Q))):
        L, variance = conditioned(problem, order, rows)
        C = L @ L.T
        difference = correlation(C) - correlation(exact)
        line += [np.sqrt(np.mean(difference ** 2)), np.abs(difference).max(),
                 np.sqrt(np.max(np.diag(C) / variance))]
    return line + list(np.quantile(by_features(problem, np.random.default_rng(3)), [0.05, 0.95]))


FIELDS = ["kernel", "lengthscale", "rows", "neighbours", "noise", "hashed_rms", "hashed_max", "hashed_sd",
          "file_rms", "file_max", "file_sd", "features_low", "features_high"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=20, help="queries are a grid of so many squared")
    parser.add_argument("--out", default="bench/results/sample_ways.csv")
    given = parser.parse_args()
    lines = (dict(zip(FIELDS, measure(name, length, setting, given.side)))
             for name in KERNELS for length in (0.1, 0.3, 0.6) for setting in SETTINGS)
    write_csv(given.out, f"/usr/bin/python3 bench/sample_ways.py --side {given.side}", None, FIELDS,
              lines, digits=3)


if __name__ == "__main__":
    main()
