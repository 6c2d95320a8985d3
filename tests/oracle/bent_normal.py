"""The distribution that calibration makes of held-out rows, from docs/methods.md ("Calibration"):
Z = g(U), g straight between points."""
import numpy as np
from scipy import integrate, stats

N = stats.norm
TAILS = np.array([0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25])
LEVELS = [0.5, 0.9, 0.95, 0.99]

def median(z):
    return 0.5 * (z[(len(z) - 1) // 2] + z[len(z) // 2])


def points(z):
    """(u, g(u)) of sorted ratios z: order statistics, slopes kept up from the median outwards, tails."""
    h = len(z)
    seen = [p for p in TAILS if int((h + 1) * p * (1 + 1e-12)) >= 1]
    place = [int((h + 1) * p * (1 + 1e-12)) for p in seen]
    u = np.concatenate([N.ppf(seen), [0.0], -N.ppf(seen[::-1])])
    g = np.concatenate([[z[k - 1] for k in place], [median(z)], [z[h - k] for k in place[::-1]]])
    c, slopes = len(seen), [(g[-1 - k] - g[k]) / (u[-1 - k] - u[k]) for k in range(len(seen))][::-1]
    wide = [s for s in slopes[1:] if s > 0]
    least = max(0.05 * slopes[0], 0.01 * wide[0]) if wide else 0.05 * slopes[0] or 0.01
    for k in range(c + 1, len(g)):
        g[k] = max(g[k], g[k - 1] + least * (u[k] - u[k - 1]))
    for k in range(c - 1, -1, -1):
        g[k] = min(g[k], g[k + 1] - least * (u[k + 1] - u[k]))
    below = max((g[1] - g[0]) / (u[1] - u[0]), (g[c] - g[0]) / (0 - u[0]))
    above = max((g[-1] - g[-2]) / (u[-1] - u[-2]), (g[-1] - g[c]) / u[-1])
    for k in range(6):
        u = np.concatenate([[u[0] - 1], u, [u[-1] + 1]])
        g = np.concatenate([[g[0] - below * 2 ** k], g, [g[-1] + above * 2 ** k]])
    return u, g


def bend(d, u):
    """g(u), straight beyond the ends too."""
    x, g = d
    k = np.clip(np.searchsorted(x, u) - 1, 0, len(x) - 2)
    return g[k] + (u - x[k]) * (g[k + 1] - g[k]) / (x[k + 1] - x[k])


def unbend(d, z):
    return bend(d[::-1], z)


def log_density(d, z):
    """log dP(Z <= z)/dz: the piece's slope is exact between points."""
    u, g = d
    k = np.clip(np.searchsorted(g, z) - 1, 0, len(u) - 2)
    return N.logpdf(unbend(d, z)) - np.log((g[k + 1] - g[k]) / (u[k + 1] - u[k]))


def crps(d, z):
    """int (P(Z <= t) - [z <= t])^2 dt by quadrature."""
    knots = np.concatenate([d[1], [z]])
    far = max(np.abs(knots)) + 50.0 * (d[1][-1] - d[1][-2] + d[1][1] - d[1][0])
    edges = np.unique(np.concatenate([[-far], knots, [far]]))
    total = 0.0
    for a, b in zip(edges[:-1], edges[1:]):
        total += integrate.quad(lambda t: (N.cdf(unbend(d, t)) - (z <= 0.5 * (a + b) and t >= z)) ** 2, a, b,
                                epsabs=1e-12)[0]
    return total


def quantile(z, p):
    h, tail = len(z), min(p, 1 - p)
    if p == 0.5:
        return median(z)
    k = int((h + 1) * tail * (1 + 1e-12))
    if k >= 1:
        return z[k - 1] if p < 0.5 else z[h - k]
    beyond = bend(points(z), N.ppf(p))
    return min(z[0], beyond) if p < 0.5 else max(z[-1], beyond)


def log_density_of(model, y, mean, std):
    """Of y by a calibrated model (reference.Model), std being the calibrated one."""
    scale = model.meta["calibration"]["scale"]
    return log_density(points(model.arrays["calibration_signed"]), scale * (y - mean) / std) - np.log(std / scale)
