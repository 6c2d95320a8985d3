"""Pictures of a fitted QuorumRegressor, with matplotlib; readable in grey.

Every function draws one chart, into `ax` or a new figure, and returns the axes.  matplotlib is imported
when the first is drawn.  docs/gallery.md shows them all.

Experts are numbered from 1, as in `select` and on the command line.
"""
import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._options import Options
from .exceptions import ArgumentError
from .explain import Importance

DARK, MIDDLE, LIGHT = "#08306b", "#6b8fb8", "#c9d8ea"
WARM = "#fbe3c0"  # behind points: where there are none


def _axes(ax, **size):
    if ax is not None:
        return ax
    from matplotlib import pyplot
    return pyplot.subplots(layout="constrained", **size)[1]


def _input_names(regressor):
    return list(regressor.input_names_)


def _is_date(regressor, column):
    return bool(regressor._dates and regressor._dates[column])


def _days(seconds):
    """Seconds since 1970 as matplotlib counts time."""
    from matplotlib import dates
    return dates.date2num((np.asarray(seconds) * 1e9).astype("datetime64[ns]"))


def _drawn(regressor, column, values):
    """A column's numbers as they are drawn: days of a date instead of its seconds."""
    return _days(values) if _is_date(regressor, column) else values


def _levels(regressor, column):
    """The names of a category's levels; None: it is no category."""
    return [str(level) for level in regressor._levels[column]] if regressor._levels and regressor._levels[column] else None


def _short_dates(axis):
    """Years, months or days alone, what they have in common at the end of the axis: they do not run into each other."""
    from matplotlib import dates
    locator = dates.AutoDateLocator(minticks=3, maxticks=8)
    axis.axis_date()
    axis.set_major_locator(locator)
    axis.set_major_formatter(dates.ConciseDateFormatter(locator))


def _mark_dates(regressor, across, up, ax):
    """Axes of dates say so."""
    for axis, column in ((ax.xaxis, across), (ax.yaxis, up)):
        if column is not None and _is_date(regressor, column):
            _short_dates(axis)


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
    x = regressor._table(X).ravel()
    margin = 0.1 * np.ptp(x)
    line = np.linspace(x.min() - margin, x.max() + margin, 500)
    queries = line[:, None]
    if _is_date(regressor, 0):
        queries = (queries * 1e9).astype("datetime64[ns]")
    if hasattr(X, "columns"):
        queries = type(X)(queries, columns=X.columns)
    mean, lower, upper = regressor.predict(queries, return_interval=interval)
    x, line = _drawn(regressor, 0, x), _drawn(regressor, 0, line)
    ax = _axes(ax, figsize=(7, 4))
    _mark_dates(regressor, 0, None, ax)
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


def _bars(ax, names, values, label, title):
    """Of the largest 30."""
    order = np.argsort(-values, kind="stable")[:30]
    ax = _axes(ax, figsize=(6, 0.8 + 0.25 * len(order)))
    ax.barh([names[i] for i in order], values[order], color=MIDDLE, edgecolor=DARK)
    ax.invert_yaxis()
    more = len(values) - len(order)
    ax.set(xlabel=label, title=title + (f" ({more} more)" if more else ""))
    return ax


def _shares(importance, ax):
    """First and total shares with their intervals, the largest total first."""
    order = np.argsort(-importance.total, kind="stable")[:30]
    ax = _axes(ax, figsize=(6, 1.2 + 0.38 * len(order)))
    place = np.arange(len(order))
    for kind, label, colour, mark, shift in (("first", "first order: the input alone", MIDDLE, "s", -0.14),
                                             ("total", "total: open while it is not known", DARK, "o", 0.14)):
        value = 100 * getattr(importance, kind)[order]
        ends = 100 * getattr(importance, kind + "_interval")[order]
        around = np.maximum(np.abs(ends.T - value), 0)
        ax.errorbar(value, place + shift, xerr=around, fmt=mark, color=colour, markersize=5, label=label)
    ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
    ax.set_yticks(place, [importance.names[i] for i in order])
    ax.invert_yaxis()
    ax.set(xlabel="share of the predictions' variance, % (95 % intervals)",
           title=f"What matters, {importance.n_rows:,} rows")
    ax.legend(frameon=False, loc="lower right")
    return ax


def plot_importance(regressor, of="experts", *, ax=None):
    """How much inputs matter, by `QuorumRegressor.importance`; or bars of the experts.

    Parameters
    ----------
    regressor : Importance or QuorumRegressor
        What `importance(X, y)` returned, whose first-order and total shares are drawn with their
        intervals; or a fitted model, of which `of` says what is drawn.
    of : {"experts", "inputs"}, default="experts"
        Of a model: the experts by importance, or the inputs by inverse length-scale.  The latter says
        how quickly the target bends along an input, not how much the input matters.  At most the
        first 30 are shown.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    if isinstance(regressor, Importance):
        return _shares(regressor, ax)
    check_is_fitted(regressor)
    if of == "experts":
        values = regressor.importance_
        names = [f"expert {i + 1}" for i in range(len(values))]
        return _bars(ax, names, values, "importance (sum of absolute precisions)", TITLES[of])
    if of == "inputs":
        return _bars(ax, _input_names(regressor), 100 * regressor.inverse_lengthscale_share_,
                     "share of 1/length-scale, %", TITLES[of])
    raise ArgumentError(f'of="{of}" must be "experts" or "inputs"')


def _thinned(n, most=4000):
    """Rows that are drawn as points, evenly, and what the picture says of that."""
    step = -(-n // most)
    return slice(None, None, step), f", every {step}th of {n:,} rows" if step > 1 else f", {n:,} rows"


def plot_predicted(regressor, X, y, *, interval=0.95, ax=None):
    """Predicted against actual, with the line where they are the same.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted.
    X : array-like of shape (n, n_features)
        Inputs that were not used for the fit.
    y : array-like of shape (n,)
        Their targets.
    interval : float, default=0.95
        Targets outside of their own interval of this probability are marked.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    mean, lower, upper = regressor.predict(X, return_interval=interval)
    y = np.asarray(y, dtype=np.float64).ravel()
    rows, told = _thinned(len(y))
    outside = ((y < lower) | (y > upper))[rows]
    ax = _axes(ax, figsize=(5, 5))
    low, high = min(y.min(), mean.min()), max(y.max(), mean.max())
    ax.plot([low, high], [low, high], color="black", linewidth=1, linestyle="--", label="the same")
    ax.plot(mean[rows][~outside], y[rows][~outside], ".", color=MIDDLE, markersize=3,
            label=f"inside their {100 * interval:g} % interval")
    ax.plot(mean[rows][outside], y[rows][outside], "x", color=DARK, markersize=5,
            label=f"outside: {100 * np.mean((y < lower) | (y > upper)):.1f} %")
    ax.set(xlabel="predicted", ylabel="actual", title="Predicted and actual" + told)
    ax.legend(frameon=False, loc="upper left")
    return ax


def plot_residuals(regressor, X, y, *, by=None, ax=None):
    """Errors over their predicted std, against the prediction or an input.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted.
    X : array-like of shape (n, n_features)
        Inputs that were not used for the fit.
    y : array-like of shape (n,)
        Their targets.
    by : array-like of shape (n,), default=None
        What is on the other axis, such as an input; None: the predicted mean.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    mean, std = regressor.predict(X, return_std=True)
    ratio = (np.asarray(y, dtype=np.float64).ravel() - mean) / std
    label = "predicted" if by is None else getattr(by, "name", None) or "given"
    along = mean if by is None else np.asarray(by).ravel()
    rows, told = _thinned(len(ratio))
    ax = _axes(ax, figsize=(6, 4))
    if along.dtype.kind == "M":
        along = _days(along.astype("datetime64[ns]").astype("int64") / 1e9)
        ax.xaxis.axis_date()
    along = along.astype(np.float64)
    ax.axhspan(-2, 2, color=LIGHT, label="within 2 stds")
    ax.plot(along[rows], ratio[rows], ".", color=MIDDLE, markersize=3)
    order = np.argsort(along, kind="stable")
    tenths = [part for part in np.array_split(order, 10) if len(part)]
    ax.plot([along[part].mean() for part in tenths], [ratio[part].mean() for part in tenths], "o-",
            color=DARK, markersize=4, label="mean of each tenth")
    ax.set(xlabel=label, ylabel="(actual - predicted) / std", title="Residuals" + told)
    ax.legend(frameon=False, loc="upper right")
    return ax


def _supported(effect):
    return effect.support >= 0.5


def _runs(flags):
    """Stretches of a curve whose parts between two points are alike: (first, last, flag)."""
    between = flags[:-1] & flags[1:]
    cuts = np.flatnonzero(np.diff(between.astype(int))) + 1
    for part in np.split(np.arange(len(between)), cuts):
        if len(part):
            yield part[0], part[-1] + 1, bool(between[part[0]])


def _plot_curve(effect, ax):
    x = effect.values[0]
    for first, last, full in _runs(_supported(effect)):
        some, fade = slice(first, last + 1), 1 if full else 0.25
        ax.fill_between(x[some], effect.lower[some], effect.upper[some], color=LIGHT, alpha=fade,
                        linewidth=0)
        for curve in effect.curves:
            ax.plot(x[some], curve[some], color="0.45", linewidth=0.6, alpha=0.5 * fade)
        ax.plot(x[some], effect.mean[some], color=DARK, linewidth=2, alpha=fade)


def _plot_levels(effect, ax):
    place = np.arange(len(effect.mean))
    for curve in effect.curves:
        ax.plot(place, curve, color="0.45", linewidth=0.6, alpha=0.5)
    around = np.abs(np.stack([effect.lower, effect.upper]) - effect.mean)
    for k in place:
        ax.errorbar(place[k], effect.mean[k], yerr=around[:, [k]], fmt="o", color=DARK,
                    alpha=1 if _supported(effect)[k] else 0.25)
    ax.set_xticks(place, effect.values[0])


def _is_text(values):
    return np.asarray(values).dtype.kind in "UO"


def _plot_plane(effect, ax):
    from matplotlib import pyplot
    x, y = (np.arange(len(v)) if _is_text(v) else v for v in effect.values)
    mesh = ax.pcolormesh(x, y, effect.mean.T, cmap="cividis", shading="nearest")
    pale = np.ma.masked_where(_supported(effect).T, np.zeros(effect.mean.T.shape))
    ax.pcolormesh(x, y, pale, cmap="binary", vmin=0, vmax=1, alpha=0.75, shading="nearest")
    for values, ticks in zip(effect.values, (ax.set_xticks, ax.set_yticks)):
        if _is_text(values):
            ticks(np.arange(len(values)), values)
    pyplot.colorbar(mesh, ax=ax, label="mean prediction")


def plot_effect(effect, *, ax=None):
    """Partial dependence on one input, with its curves and intervals, or on two as a map.

    What few rows support is faded.

    Parameters
    ----------
    effect : Effect
        What `QuorumRegressor.partial_dependence` returned.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    ax = _axes(ax, figsize=(6, 4))
    if len(effect.names) == 2:
        _plot_plane(effect, ax)
        ax.set(xlabel=effect.names[0], ylabel=effect.names[1])
        title = f"Effect of {effect.names[0]} and {effect.names[1]}"
    else:
        (_plot_levels if _is_text(effect.values[0]) else _plot_curve)(effect, ax)
        ax.set(xlabel=effect.names[0], ylabel="mean prediction")
        title = f"Effect of {effect.names[0]}"
    for axis, values in zip((ax.xaxis, ax.yaxis), effect.values):
        if np.asarray(values).dtype.kind == "M":
            _short_dates(axis)
    few = " (pale: few rows)" if not _supported(effect).all() else ""
    ax.set_title(f"{title}, {effect.n_rows:,} rows{few}")
    return ax


def _middle(regressor, table):
    """Medians of the columns, of categories the number of the most frequent level."""
    middle = np.nanmedian(table, axis=0)
    for d, levels in enumerate((regressor._levels or [])[:table.shape[1]]):
        if levels:
            middle[d] = np.bincount(table[:, d].astype(int).clip(0)).argmax()
    return middle


def _along(regressor, table, column, n_values):
    """Values along an axis: numbers of all levels, or over the range of the rows that have one."""
    levels = _levels(regressor, column)
    return np.arange(float(len(levels))) if levels else np.linspace(np.nanmin(table[:, column]), np.nanmax(table[:, column]), n_values)


def plot_map(regressor, X, features, *, at=None, n_values=60, show="mean", ax=None):
    """A map of the model over two inputs, the others standing still.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted.
    X : array-like of shape (n, n_features)
        Rows whose range is shown, and which are drawn as points.
    features : pair of str or int
        The inputs along x and y, by name or by number from 0; of a category all levels stand side by side.
    at : array-like of shape (n_features,), default=None
        Where the others stand, of a category the number of a level; None: at their medians, or most
        frequent levels.  An offset is left out.
    n_values : int, default=60
        Points along each input that is no category.
    show : {"mean", "std"}, default="mean"
        What is drawn.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    from matplotlib import pyplot
    if show not in ("mean", "std"):
        raise ArgumentError(f'show="{show}" must be "mean" or "std"')
    across, up = (regressor._feature(feature) for feature in features)
    table = regressor._table(X)
    held = _middle(regressor, table) if at is None else np.asarray(at, dtype=np.float64)
    x, y = (_along(regressor, table, c, n_values) for c in (across, up))
    queries = np.tile(held, (len(x) * len(y), 1))
    queries[:, across], queries[:, up] = np.tile(x, len(y)), np.repeat(y, len(x))
    offset = np.zeros(len(queries)) if regressor._model.inspect()["offset_name"] else None
    value, = regressor._model.predict(regressor._inputs(queries), Options.of(regressor, "predict"),
                                      [show], 0, offset)
    value = value.reshape(len(y), len(x))
    names, (rows, told) = _input_names(regressor), _thinned(len(table), 2000)
    x, y = _drawn(regressor, across, x), _drawn(regressor, up, y)
    ax = _axes(ax, figsize=(6, 5))
    _mark_dates(regressor, across, up, ax)
    mesh = ax.pcolormesh(x, y, value, cmap="cividis", shading="nearest", rasterized=True)
    ax.plot(_drawn(regressor, across, table[rows, across]), _drawn(regressor, up, table[rows, up]), "o", color="white", markersize=2.2,
            markeredgecolor="black", markeredgewidth=0.4)
    pyplot.colorbar(mesh, ax=ax, label=show)
    for column, values, limits, ticks in ((across, x, ax.set_xlim, ax.set_xticks), (up, y, ax.set_ylim, ax.set_yticks)):
        levels = _levels(regressor, column)
        limits((-0.5, len(levels) - 0.5) if levels else (values[0], values[-1]))
        if levels:
            ticks(values, levels)
    ax.set(xlabel=names[across], ylabel=names[up],
           title=f"{show}, the other inputs at {'their medians' if at is None else 'the given values'}")
    return ax
