"""Method ggm from its equations: experts and the target as one Gaussian graphical model, by EM.

    f ~ N(0, s_f^2),   u = g f + w,   w ~ N(0, Omega^-1),   y = f + noise
"""
import numpy as np

import reference as ref

STEPS, GAIN = 200, 1e-6


def standing(mean, explained, signal):
    """u and g of the experts' means and explained variances."""
    rest = explained * (signal - explained) / signal
    return mean / np.sqrt(rest), (explained / signal) / np.sqrt(rest)


def without_row(part, i):
    keep = np.arange(len(part.y)) != i
    return ref.Part(part.X[keep], part.y[keep], part.row[keep], part.noise[keep])


def known_opinions(model, rows):
    """Means and explained variances (rows x M): who holds a row is fitted again without it."""
    X, number = model.arrays["X"][rows], model.arrays["row"][rows]
    mean, explained = np.empty((len(rows), model.M)), np.empty((len(rows), model.M))
    for e, part in enumerate(model.parts):
        p = ref.posterior(model.theta, part.X, part.y, X, part.noise)
        mean[:, e], explained[:, e] = p.mean, p.explained
        for i in np.flatnonzero(np.isin(number, part.row)):
            rest = without_row(part, np.flatnonzero(part.row == number[i])[0])
            p = ref.posterior(model.theta, rest.X, rest.y, X[i:i + 1], rest.noise)
            mean[i, e], explained[i, e] = p.mean[0], p.explained[0]
    return mean, explained


def polished_lasso(S, lam, diagonal):
    """The graphical lasso by ADMM, then Newton's steps on its support: (Omega^-1)_ij = S_ij + lam sign(Omega_ij)."""
    p = len(S)
    shift = (0.0 if diagonal else -lam) * np.eye(p)
    omega = ref.graphical_lasso(S + shift, lam, tolerance=1e-10)
    where = [(i, j) for i in range(p) for j in range(i + 1) if omega[i, j] != 0]
    goal = S + shift + lam * np.sign(omega)
    for _ in range(30):
        W = np.linalg.inv(omega)
        left = np.array([W[i, j] - goal[i, j] for i, j in where])
        slope = np.array([[W[i, a] * W[b, j] + (W[i, b] * W[a, j] if a != b else 0.0) for a, b in where] for i, j in where])
        step = np.linalg.solve(slope, left)
        for (i, j), s in zip(where, step):
            omega[i, j] += s
            omega[j, i] = omega[i, j]
        if np.max(np.abs(step)) <= 1e-14 * np.max(np.abs(omega)):
            break
    return omega


def expectation(omega, u, g, y, noise, signal):
    """S, and the log likelihood of u and y but for terms without Omega."""
    S, likelihood = np.zeros_like(omega), 0.5 * len(y) * np.linalg.slogdet(omega)[1]
    for i in range(len(y)):
        P = 1 / signal + 1 / noise[i] + g[i] @ omega @ g[i]
        f = (y[i] / noise[i] + g[i] @ omega @ u[i]) / P
        w = u[i] - g[i] * f
        S += np.outer(w, w) + np.outer(g[i], g[i]) / P
        likelihood += 0.5 * (P * f**2 - np.log(P) - u[i] @ omega @ u[i])
    return S / len(y), likelihood


def learned(u, g, y, noise, signal, share=0.1, diagonal=True):
    """Omega, and the penalised log likelihood after each step."""
    n, omega, path = len(y), np.eye(u.shape[1]), []
    S, likelihood = expectation(omega, u, g, y, noise, signal)
    lam = share * ref.largest_off_diagonal(S)

    def penalised():
        return likelihood - 0.5 * n * lam * (np.abs(omega).sum() - (0.0 if diagonal else np.abs(np.diag(omega)).sum()))
    path.append(penalised())
    while len(path) <= STEPS and (len(path) < 2 or path[-1] - path[-2] > GAIN * n):
        omega = polished_lasso(S, lam, diagonal)
        S, likelihood = expectation(omega, u, g, y, noise, signal)
        path.append(penalised())
    return omega, path


def reference_rows(model):
    """The rows whose inputs the graph was learned at."""
    X = model.arrays["X"]
    return np.array([np.flatnonzero((X == x).all(axis=1))[0] for x in model.arrays["reference"]])


def learned_of(model, **how):
    rows = reference_rows(model)
    u, g = standing(*known_opinions(model, rows), model.theta.signal)
    return learned(u, g, model.arrays["y"][rows], model.noise[rows], model.theta.signal, **how)


def predict(model, X, experts, omega, latent=False):
    """Mean and std in the target's units; experts that do not take part are integrated out."""
    a, signal, Q = model.arrays, model.theta.signal, model.standardise(X)
    if len(experts) < model.M:
        omega = np.linalg.inv(np.linalg.inv(omega)[np.ix_(experts, experts)])
    each = [ref.posterior(model.theta, model.parts[e].X, model.parts[e].y, Q, model.parts[e].noise) for e in experts]
    u, g = standing(np.array([p.mean for p in each]).T, np.array([p.explained for p in each]).T, signal)
    P = 1 / signal + np.einsum("qi,ij,qj->q", g, omega, g)
    mean, var = np.einsum("qi,ij,qj->q", g, omega, u) / P, 1 / P
    var = var + (0.0 if latent else model.theta.noise) + np.clip(var / signal, 0, 1) * model.doubts(model.features(Q))
    if "trend" in a:
        mean = mean + model.features(Q) @ a["trend"]
    return float(a["y_mean"]) + float(a["y_scale"]) * mean, float(a["y_scale"]) * np.sqrt(var)
