"""A nearest-neighbour GP in plain NumPy and SciPy.

Hyperparameters by marginal likelihood on a random subset, SE and Matern-3/2, the likelier one kept;
then a GP on each query's nearest rows, found in the learned metric.
"""
import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize
from scipy.spatial import cKDTree

import peer

TREE_INPUTS = 12  # with more, looking at all rows is faster
# The noise's floor: a subset has few near rows with different targets, the whole set may have many.
BOUNDS = {"l": (1e-3, 300.0), "signal": (1e-4, 1e4), "noise": (1e-3, 10.0)}


def se(s):
    """Value and -2 g'(s) of exp(-s/2)."""
    g = np.exp(-0.5 * s)
    return g, g


def matern32(s):
    a = np.sqrt(3.0 * s)
    e = np.exp(-a)
    return (1.0 + a) * e, 3.0 * e


def squared_distances(A, B):
    s = (A * A).sum(-1)[..., :, None] + (B * B).sum(-1)[..., None, :] - 2 * A @ np.swapaxes(B, -1, -2)
    return np.maximum(s, 0.0)


def objective(theta, kernel, X, y):
    """Negative log marginal likelihood and its gradient in log theta."""
    l, signal, noise = np.exp(theta[:-2]), np.exp(theta[-2]), np.exp(theta[-1])
    Z, m = X / l, len(y)
    g, slope = kernel(squared_distances(Z, Z))
    try:
        L = cholesky(signal * g + noise * np.eye(m), lower=True)
    except np.linalg.LinAlgError:
        return 1e25, np.zeros_like(theta)
    alpha = cho_solve((L, True), y)
    A = cho_solve((L, True), np.eye(m)) - np.outer(alpha, alpha)
    W = A * slope * signal
    by_length = (W.sum(1)[:, None] * Z * Z).sum(0) - (Z * (W @ Z)).sum(0)
    gradient = np.concatenate([by_length, [0.5 * signal * (A * g).sum(), 0.5 * noise * np.trace(A)]])
    value = 0.5 * y @ alpha + np.log(np.diag(L)).sum() + 0.5 * m * np.log(2 * np.pi)
    return value / m, gradient / m


def train(kernel, X, y):
    D = X.shape[1]
    start = np.log(np.concatenate([np.full(D, np.sqrt(D)), [1.0, 0.1]]))
    bounds = [np.log(BOUNDS["l"])] * D + [np.log(BOUNDS["signal"]), np.log(BOUNDS["noise"])]
    return minimize(objective, start, (kernel, X, y), "L-BFGS-B", True, bounds=bounds,
                    options={"maxiter": 200, "ftol": 1e-6})


def fit(X, y, args):
    rows = np.random.default_rng(args.seed).permutation(len(X))[:args.rows]
    found = [(train(kernel, X[rows], y[rows]), kernel) for kernel in (se, matern32)]
    best, kernel = min(found, key=lambda pair: pair[0].fun)
    l, signal, noise = np.exp(best.x[:-2]), np.exp(best.x[-2]), np.exp(best.x[-1])
    Z = X / l
    return {"kernel": kernel, "l": l, "signal": signal, "noise": noise, "Z": Z, "y": y,
            "m": min(args.neighbours, len(y)),
            "tree": cKDTree(Z) if X.shape[1] <= TREE_INPUTS else None}


def nearest(state, Q):
    if state["tree"]:
        return state["tree"].query(Q, state["m"], workers=-1)[1]
    Z, m = state["Z"], state["m"]
    distance = (Z * Z).sum(1) - 2 * Q @ Z.T
    return np.argpartition(distance, m - 1, axis=1)[:, :m]


def predict(state, X):
    Q, m, step = X / state["l"], state["m"], 500
    mean, var = np.empty(len(Q)), np.empty(len(Q))
    for i in range(0, len(Q), step):
        part = slice(i, i + step)
        rows = nearest(state, Q[part])
        A = state["Z"][rows] - Q[part, None, :]
        C = state["signal"] * state["kernel"](squared_distances(A, A))[0] + state["noise"] * np.eye(m)
        k = state["signal"] * state["kernel"]((A * A).sum(-1))[0]
        solved = np.linalg.solve(C, np.stack([k, state["y"][rows]], axis=-1))
        mean[part] = (k * solved[:, :, 1]).sum(1)
        var[part] = state["signal"] - (k * solved[:, :, 0]).sum(1)
    return mean, np.sqrt(np.maximum(var, 0.0) + state["noise"])


def add_arguments(parser):
    parser.add_argument("--rows", type=int, default=1500, help="of the subset for training")
    parser.add_argument("--neighbours", type=int, default=64)


if __name__ == "__main__":
    peer.main(fit, predict, add_arguments)
