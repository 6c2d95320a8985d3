"""Pictures of a fitted QuorumRegressor, with matplotlib; readable in grey.

Experts are numbered from 1, as in `select` and on the command line.
"""
import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._options import Options
from .exceptions import ArgumentError

DARK, MIDDLE, LIGHT = "#08306b", "#6b8fb8", "#c9d8ea"


def _axes(ax, **size):
    if ax is not None:
        return ax
    from matplotlib import pyplot
    return pyplot.subplots(layout="constrained", **size)[1]


def _input_names(regressor):
    return list(regressor.input_names_)


def plot_fit(regressor, X, y=None, *, interval=0.95, ax=None):
    """Mean and interval of a model with one input, with the data.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted, with one input.
    X : array-like of shape (n, 1)
        Inputs whose range, and a tenth more on both sides, is shown.
    y : array-like of shape (n,), default=None
        Targets, drawn as points.
    interval : float, default=0.95
        Probability of the interval for new observations.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    check_is_fitted(regressor)
    if regressor.n_features_in_ != 1:
        raise ArgumentError(f"plot_fit shows models of one input; "
                            f"this one has {regressor.n_features_in_}")
    x = np.asarray(X, dtype=np.float64).ravel()
    margin = 0.1 * np.ptp(x)
    line = np.linspace(x.min() - margin, x.max() + margin, 500)
    queries = line[:, None]
    if hasattr(X, "columns"):
        queries = type(X)(queries, columns=X.columns)
    mean, lower, upper = regressor.predict(queries, return_interval=interval)
    ax = _axes(ax, figsize=(7, 4))
    ax.fill_between(line, lower, upper, color=LIGHT, label=f"{100 * interval:g} % interval")
    if y is not None:
        ax.plot(x, y, ".", color=MIDDLE, markersize=2.5, label=f"data, {len(x):,} rows")
    ax.plot(line, mean, color=DARK, linewidth=1.5, label="mean")
    target = getattr(y, "name", None)
    ax.set(xlabel=_input_names(regressor)[0],
           ylabel=target if isinstance(target, str) else "target",
           title=f"{regressor.n_experts_} experts, {regressor.method}", xlim=(line[0], line[-1]))
    ax.legend(frameon=False)
    return ax


def _ring(weights):
    """An angle for each node of a graph, so that joined nodes are near each other."""
    laplacian = np.diag(weights.sum(0)) - weights
    second = np.linalg.eigh(laplacian)[1][:, 1:3]
    angle = np.arctan2(*second.T) if second.shape[1] == 2 else np.arange(len(weights))
    order = np.argsort(angle, kind="stable")
    place = np.empty(len(weights))
    place[order] = 2 * np.pi * np.arange(len(weights)) / len(weights)
    return place


def plot_graph(regressor, *, ax=None):
    """The expert graph: larger nodes are more important, thicker edges are stronger.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    check_is_fitted(regressor)
    if regressor.precision_ is None:
        raise ArgumentError(f"the graph of the {regressor.n_experts_} experts could not be "
                            "learned: fit with a larger alpha")
    weights = np.abs(regressor.precision_)
    np.fill_diagonal(weights, 0.0)
    angle = _ring(weights)
    x, y = np.sin(angle), np.cos(angle)
    ax = _axes(ax, figsize=(5.5, 5.5))
    strongest = weights.max() or 1.0
    for i, j in zip(*np.nonzero(np.triu(weights))):
        strength = weights[i, j] / strongest
        ax.plot(x[[i, j]], y[[i, j]], color=str(0.8 - 0.6 * strength),
                linewidth=0.5 + 4 * strength, zorder=1 + strength)
    share = regressor.importance_ / (regressor.importance_.max() or 1.0)
    ax.scatter(x, y, s=160 + 500 * share, color=LIGHT, edgecolor=DARK, zorder=3)
    for i in range(len(x)):
        ax.annotate(i + 1, (x[i], y[i]), ha="center", va="center", zorder=4, fontsize=9)
    edges = np.count_nonzero(np.triu(weights))
    ax.set_title(f"{len(x)} experts, {edges} edges (penalty {regressor.alpha_:.3g})\n"
                 "node: importance, edge: absolute precision", fontsize=10)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal")
    ax.axis("off")
    return ax


def plot_calibration(regressor, X, y, *, ax=None):
    """How many targets fall inside intervals, against how many should.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted.
    X : array-like of shape (n, n_features)
        Inputs that were not used for the fit.
    y : array-like of shape (n,)
        Their targets.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    mean, std = regressor.predict(X, return_std=True)
    y = np.asarray(y, dtype=np.float64).ravel()
    if regressor.warp_ == "log":  # the logarithm is what has the distribution
        y, mean = np.log(y + regressor.warp_shift_), mean + regressor.warp_shift_
        std = np.sqrt(np.log1p((std / mean) ** 2))
        mean = np.log(mean) - 0.5 * std**2
    ratio = (y - mean) / std
    options = Options.of(regressor, "predict")
    wanted = np.linspace(0.01, 0.99, 99)
    ends = [[regressor._model.quantile_factor(options, (1 + side * p) / 2) for side in (-1, 1)]
            for p in wanted]
    found = [((ratio >= lower) & (ratio <= upper)).mean() for lower, upper in ends]
    chance = 1.96 * np.sqrt(wanted * (1 - wanted) / len(ratio))
    ax = _axes(ax, figsize=(5, 5))
    ax.fill_between(100 * wanted, 100 * (wanted - chance), 100 * (wanted + chance), color=LIGHT,
                    label=f"expected of {len(ratio):,} rows (95 %)")
    ax.plot([0, 100], [0, 100], color="black", linestyle="--", linewidth=1, label="ideal")
    ax.plot(100 * wanted, 100 * np.array(found), color=DARK, linewidth=2, label="this model")
    ax.set(xlabel="probability of the interval, %", ylabel="targets inside, %", xlim=(0, 100),
           ylim=(0, 100), aspect="equal", title=f"Calibration, {regressor.method}")
    ax.legend(frameon=False, loc="upper left")
    return ax


TITLES = {"experts": "Most important experts",
          "inputs": "Inputs by inverse length-scale (not importance)"}


def plot_importance(regressor, of="experts", *, ax=None):
    """Bars of the experts by importance, or of the inputs by inverse length-scale.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted.
    of : {"experts", "inputs"}, default="experts"
        Which; at most the first 30 are shown.  An inverse length-scale says how quickly the
        target bends along an input, not how much the input matters.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    check_is_fitted(regressor)
    if of == "experts":
        values, label = regressor.importance_, "importance (sum of absolute precisions)"
        names, order = [f"expert {i + 1}" for i in range(len(values))], regressor.ranking_
    elif of == "inputs":
        values, label = 100 * regressor.inverse_lengthscale_share_, "share of 1/length-scale, %"
        names, order = _input_names(regressor), np.argsort(-values, kind="stable")
    else:
        raise ArgumentError(f'of="{of}" must be "experts" or "inputs"')
    order = order[:30]
    ax = _axes(ax, figsize=(6, 0.8 + 0.25 * len(order)))
    ax.barh([names[i] for i in order], values[order], color=MIDDLE, edgecolor=DARK)
    ax.invert_yaxis()
    more = len(values) - len(order)
    ax.set(xlabel=label, title=TITLES[of] + (f" ({more} more)" if more else ""))
    return ax
