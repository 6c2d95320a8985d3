"""Parts of the library that work without a model."""
from ctypes import byref

import numpy as np

from ._library import Info, Metrics, Scores, lib
from ._text import as_bytes
from .exceptions import ArgumentError, check


def _matrix(values, name, ndim):
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise ArgumentError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, "
                            f"not {array.ndim}")
    return array


def _same_shape(**arrays):
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(set(shapes.values())) > 1:
        raise ArgumentError("these must have the same shape: "
                            + ", ".join(f"{name} {shape}" for name, shape in shapes.items()))


def graphical_lasso(covariance, alpha, *, free_diagonal=False):
    """Sparse precision matrix of a covariance matrix.

    Maximises ``log|Omega| - tr(S Omega) - alpha ||Omega||_1``, the norm taken over all elements,
    to a relative duality gap of 1e-10.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
        S, symmetric.
    alpha : float
        Penalty, at least 0.
    free_diagonal : bool, default=False
        Leave the diagonal unpenalised, as scikit-learn does.

    Returns
    -------
    precision : ndarray of shape (p, p)
        Omega, with exact zeros where there is no edge.
    """
    S = _matrix(covariance, "covariance", 2)
    if S.shape[0] != S.shape[1]:
        raise ArgumentError(f"covariance must be square, not {S.shape}")
    precision = np.empty_like(S)
    check(lib.quorum_graphical_lasso(len(S), S.ctypes.data, alpha, bool(free_diagonal),
                                     precision.ctypes.data))
    return precision


def aggregate(mean, variance, method="rbcm", *, prior_variance, prior_mean=0.0):
    """Join the predictions of experts of your own.

    Parameters
    ----------
    mean, variance : array-like of shape (n_experts, n_queries)
        What each expert says.  With ``method="grbcm"`` the first expert is the base.
    method : str, default="rbcm"
        Any rule but npae, which needs the covariances of the experts, and nearest, which asks none.
    prior_variance : float
        Prior variance of what is predicted.
    prior_mean : float, default=0
        Its prior mean.

    Returns
    -------
    mean, variance : ndarray of shape (n_queries,)
    """
    mean = _matrix(mean, "mean", 2) - prior_mean
    variance = _matrix(variance, "variance", 2)
    _same_shape(mean=mean, variance=variance)
    experts, queries = mean.shape
    out_mean, out_variance = np.empty(queries), np.empty(queries)
    check(lib.quorum_aggregate(as_bytes(method, "method"), experts, queries, mean.ctypes.data,
                               variance.ctypes.data, prior_variance, out_mean.ctypes.data,
                               out_variance.ctypes.data))
    return out_mean + prior_mean, out_variance


def metrics(y_true, mean, std, *, train_mean=None, train_std=None, distribution=None, warp="none",
            warp_shift=0.0, sample_weight=None):
    """Score predictions with their uncertainty.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Observed targets.
    mean, std : array-like of shape (n,)
        Predictions, std with the noise.
    train_mean, train_std : float, default=None
        The trivial Gaussian that `msll` compares with: of the training targets (`target_mean_`,
        `target_scale_`).  None: of `y_true`.
    distribution : Distribution, default=None
        That of (y - mean) / std, as ``regressor.distribution()`` gives it, of a warped target that
        of its logarithm.  None: Gaussian.
    warp : {"none", "log"}, default="none"
        What the predictions are of (`warp_`): "log" scores them as log-normal.
    warp_shift : float, default=0
        Of a log warp: what is added to the target (`warp_shift_`).
    sample_weight : array-like of shape (n,), default=None
        As how many rows each counts, not negative.

    Returns
    -------
    scores : dict
        smse (squared error over variance), msll (mean standardised log loss), mae, rmse, nlpd
        (negative log density), crps, and coverage: the share of targets inside the central
        50, 90, 95 and 99 % intervals of the distribution, by probability.
    """
    y, mean, std = (_matrix(values, name, 1) for values, name in
                    ((y_true, "y_true"), (mean, "mean"), (std, "std")))
    _same_shape(y_true=y, mean=mean, std=std)
    if not len(y):
        raise ArgumentError("there are no targets to score")
    weight = None if sample_weight is None else _matrix(sample_weight, "sample_weight", 1)
    if weight is not None:
        _same_shape(y_true=y, sample_weight=weight)
        if not (np.all(weight >= 0) and np.all(np.isfinite(weight)) and weight.sum() > 0):
            raise ArgumentError("sample_weight: weights are finite and not negative, and not all 0")
    scores, result = Scores(), Metrics()
    if warp not in ("none", "log"):
        raise ArgumentError(f"warp is \"none\" or \"log\", not {warp!r}")
    own_mean = np.average(y, weights=weight)
    own_std = y.std() if weight is None else np.sqrt(np.average((y - own_mean) ** 2, weights=weight))
    about = Info(target_mean=own_mean if train_mean is None else train_mean,
                 target_scale=own_std if train_std is None else train_std,
                 warp=as_bytes(warp, "warp"), warp_shift=warp_shift)
    lib.quorum_scores_add_weighted(byref(scores), byref(about), len(y), y.ctypes.data,
                                   mean.ctypes.data, std.ctypes.data,
                                   None if distribution is None else byref(distribution._points),
                                   None if weight is None else weight.ctypes.data)
    lib.quorum_scores_finish(byref(scores), byref(result))
    named = {name: getattr(result, name) for name, _ in Metrics._fields_[:-1]}
    return {**named, "coverage": dict(zip((0.5, 0.9, 0.95, 0.99), result.coverage))}


def demo_data(n, low=0.0, high=1.0, noise=0.1, random_state=1):
    """Points of the paper's one-dimensional example.

    Parameters
    ----------
    n : int
        Number of points.
    low, high : float
        Range of the inputs, which are uniform.
    noise : float, default=0.1
        Standard deviation of the noise.
    random_state : int, default=1
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 1)
    y : ndarray of shape (n,)
    """
    X, y = np.empty((n, 1)), np.empty(n)
    lib.quorum_demo_data(n, low, high, noise, random_state, X.ctypes.data, y.ctypes.data)
    return X, y


def demo_function(X):
    """The function behind `demo_data`, without noise, at X (n, 1) or (n,)."""
    return np.array([lib.quorum_demo_function(x) for x in np.ravel(X)])
