"""The exact Gaussian process of one input, for as many rows as one likes.

The squared-exponential kernel on an interval is, to double precision, of low rank: a pivoted
Cholesky factor K = G G' with r columns, r some multiple of the interval in length-scales, leaves
no more than TOLERANCE of the signal on any row.  With it the exact GP costs n r^2.
"""
import numpy as np

TOLERANCE = 1e-13


def kernel(a, b, lengthscale, signal):
    return signal * np.exp(-0.5 * ((a[:, None] - b[None, :]) / lengthscale)**2)


def pivoted_cholesky(x, lengthscale, signal):
    """(G, pivots): K = G G' up to TOLERANCE * signal; G is n x r."""
    left = np.full(len(x), float(signal))
    rows, pivots = np.empty((0, len(x))), []                   # G', with room for more rows
    while left.max() > TOLERANCE * signal:
        p, r = int(left.argmax()), len(pivots)
        if r == len(rows):
            rows = np.vstack([rows, np.empty((64 + r, len(x)))])
        column = kernel(x, x[p:p + 1], lengthscale, signal)[:, 0] - rows[:r, p] @ rows[:r]
        rows[r] = column / np.sqrt(left[p])
        left -= rows[r]**2
        pivots.append(p)
    return rows[:len(pivots)].T, pivots


def predict(x, y, queries, lengthscale, signal, noise):
    """Mean and latent variance at the queries: with A = G'G + noise I and g = L^-1 k(pivots, x*),
    mean = g' A^-1 G'y + the rows' mean,  variance = k(x*, x*) - g'g + noise g' A^-1 g."""
    centre = y.mean()
    factor, pivots = pivoted_cholesky(x, lengthscale, signal)
    lower = factor[pivots]                                     # r x r, lower triangular
    g = np.linalg.solve(lower, kernel(x[pivots], queries, lengthscale, signal))
    inner = factor.T @ factor + noise * np.eye(len(pivots))
    mean = g.T @ np.linalg.solve(inner, factor.T @ (y - centre)) + centre
    variance = signal - (g * g).sum(axis=0) + noise * (g * np.linalg.solve(inner, g)).sum(axis=0)
    return mean, np.maximum(variance, 0.0)
