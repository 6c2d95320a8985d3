"""Pictures of rows that a model is asked about: where it errs, how wide its intervals are away from the data, and what it
has seen of them; with matplotlib, as in plots.py.

Rows are in groups by the value of a column, up to ten different values being a group each, otherwise about a tenth of the
rows each, as on the page of `quorum report`; those without a value are one more group.
"""
import numpy as np

from ._gaps import find_gaps
from .plots import DARK, LIGHT, MIDDLE, WARM, _axes, _drawn, _input_names, _is_date, _levels, _mark_dates, _thinned

OUTSIDE = 0.9  # novelty from which the data say next to nothing


def _shown(value):
    return str(value) if isinstance(value, str) else f"{value:.4g}"


def _shown_date(seconds):
    """With the time of day where it is not midnight."""
    return str(np.datetime64(int(seconds), "s")).removesuffix("T00:00:00").replace("T", " ")


def _span(values, shown):
    low, high = shown(values.min()), shown(values.max())
    return low if low == high else f"{low} to {high}"


def _groups(values, most=10, shown=_shown):
    """Rows in groups by value: numbers of rows, and a name for each group.  Levels of text are a group each."""
    lost = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    if lost.any():
        there = np.flatnonzero(~lost)
        return [(there[part], name) for part, name in _groups(values[there], most, shown)] + [(np.flatnonzero(lost), "(no value)")]
    kinds = np.unique(values)
    if len(kinds) <= most or kinds.dtype.kind not in "biuf":
        return [(np.flatnonzero(values == kind), shown(kind)) for kind in kinds]
    ends = np.searchsorted(kinds, np.quantile(values, np.arange(1, most) / most, method="lower"), "right")
    label = np.searchsorted(np.unique(ends), np.searchsorted(kinds, values), "right")
    parts = [np.flatnonzero(label == k) for k in np.unique(label)]
    return [(part, _span(values[part], shown)) for part in parts]


def _column(regressor, X, by):
    """The values that rows are grouped by, what they are called, and how one is shown."""
    if not isinstance(by, (str, int, np.integer)):
        values, name = np.asarray(by), getattr(by, "name", None) or "given"
        is_date = values.dtype.kind == "M"
        return (values.astype("datetime64[s]").astype(np.int64) if is_date else values), name, _shown_date if is_date else _shown
    column = regressor._feature(by)
    values, name = regressor._table(X)[:, column], _input_names(regressor)[column]
    levels = _levels(regressor, column)
    if levels:
        values = np.array([levels[int(v)] if v >= 0 else "(new)" for v in values])
    return values, name, _shown_date if _is_date(regressor, column) else _shown


def _group_errors(regressor, X, y, groups):
    squares = (np.asarray(y, dtype=np.float64).ravel() - regressor.predict(X)) ** 2
    return [np.sqrt(squares[part].mean()) for part, _ in groups], np.sqrt(squares.mean())


def plot_errors(regressor, X, y, by, *, before=None, ax=None):
    """The error of each tenth of the rows by the value of an input.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted.
    X : array-like of shape (n, n_features)
        Inputs that were not used for the fit.
    y : array-like of shape (n,)
        Their targets.
    by : str, int or array-like of shape (n,)
        What rows are grouped by: an input by name or by number from 0, or a value for each row.
    before : QuorumRegressor, default=None
        An earlier model, whose errors are drawn beside.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    values, name, shown = _column(regressor, X, by)
    groups = _groups(values, shown=shown)
    models = [(regressor, "this model", DARK)] + ([(before, "the earlier model", MIDDLE)] if before is not None else [])
    ax, height = _axes(ax, figsize=(6, 4)), 0.8 / len(models)
    for k, (model, label, colour) in enumerate(models):
        errors, whole = _group_errors(model, X, y, groups)
        ax.barh(np.arange(len(groups)) + k * height, errors, height=height, color=colour, label=label)
        ax.axvline(whole, color=colour, linestyle="--", linewidth=1)
    ax.set_yticks(np.arange(len(groups)) + 0.5 * height * (len(models) - 1), [name for _, name in groups])
    ax.invert_yaxis()
    ax.set(xlabel="RMSE (dashed: of all rows)", ylabel=name, title=f"Error by {name}, {len(values):,} rows")
    if before is not None:
        ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    return ax


def plot_width(regressor, X, *, interval=0.95, ax=None):
    """The width of intervals against the distance from the data.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted.
    X : array-like of shape (n, n_features)
        Inputs that were not used for the fit.
    interval : float, default=0.95
        Probability of the intervals.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    _, lower, upper, distance = regressor.predict(X, return_interval=interval, return_distance=True)
    width, (rows, told) = upper - lower, _thinned(len(lower))
    tenths = [part for part in np.array_split(np.argsort(distance, kind="stable"), 10) if len(part)]
    ax = _axes(ax, figsize=(6, 4))
    ax.plot(distance[rows], width[rows], ".", color=MIDDLE, markersize=3)
    ax.plot([distance[part].mean() for part in tenths], [width[part].mean() for part in tenths], "o-", color=DARK,
            markersize=4, label="mean of each tenth")
    ax.set(xlabel="distance from the nearest training row, in length-scales", ylabel=f"width of the {100 * interval:g} % interval",
           xlim=(0, None), ylim=(0, None), title="Width of the interval" + told)
    ax.legend(frameon=False, loc="lower right")
    return ax


def plot_novelty(regressor, X, *, ax=None):
    """How new rows are to the model: 0 where the rows around say all there is to say, 1 where nothing is known.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted.
    X : array-like of shape (n, n_features)
        Inputs.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    novelty = regressor.predict(X, return_novelty=True)[1]
    ax = _axes(ax, figsize=(6, 4))
    ax.hist(novelty, bins=np.linspace(0, 1, 11), color=DARK, edgecolor="white")
    ax.set(xlabel="novelty", ylabel="rows", xlim=(0, 1), title=f"How new the rows are, {len(novelty):,} rows")
    return ax


def _coordinates(regressor, X):
    """Rows in the metric's own coordinates, in which one step is one length-scale; what is missing is at the mean."""
    table = np.array(regressor._inputs(regressor._table(X)), dtype=float)
    positions = regressor._model.inspect().get("positions")
    for d in range(table.shape[1]):
        if positions and positions[d] is not None:
            known = np.isfinite(table[:, d])
            table[known, d] = np.asarray(positions[d])[table[known, d].astype(int)]
    if regressor.bend_width_ is not None:
        bent = regressor.bend_width_ > 0
        table[:, bent] = np.arcsinh((table[:, bent] - regressor.bend_at_[bent]) / regressor.bend_width_[bent])
    z = np.nan_to_num((table - regressor.x_mean_) / regressor.x_scale_)
    z[:, regressor.constant_] = 0.0
    return (z if regressor.rotation_ is None else z @ regressor.rotation_.T) / regressor.lengthscale_


def _leading(Z):
    """Where rows have the largest variance, and the largest that a line in the first does not explain."""
    C = np.atleast_2d(np.cov(Z, rowvar=False))
    if len(C) < 2:
        raise ValueError("features: the model has one input, so name two columns")
    first = int(np.argmax(np.diag(C)))
    left = np.diag(C) - C[first] ** 2 / C[first, first]
    left[first] = -np.inf
    return [first, int(np.argmax(left))]


def _direction_name(regressor, k):
    names = regressor.input_names_
    if regressor.rotation_ is None:
        return f"{names[k]} (in length-scales)"
    row = regressor.rotation_[k]
    large = [d for d in np.argsort(-np.abs(row)) if abs(row[d]) >= 0.3 * np.abs(row).max()][:3]
    return " ".join(f"{row[d]:+.2g} {names[d]}" for d in large) + " (in length-scales)"


def _shade_gaps(ax, places):
    """Cells of the map without a training row though there are some around."""
    from matplotlib.collections import PolyCollection

    corners, cell = find_gaps(places)
    if len(corners):
        square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * cell
        ax.add_collection(PolyCollection(corners[:, None] + square, facecolor=WARM, edgecolor="none", zorder=0, label="gaps"))


def plot_rows(regressor, X, X_asked, features=None, *, ax=None):
    """Where training rows, asked rows and gaps are, over two directions of the metric or two inputs.

    A gap is a cell of the map without a training row though there are enough on both sides of it.

    Parameters
    ----------
    regressor : QuorumRegressor
        Fitted.
    X : array-like of shape (n, n_features)
        Rows of the fit.
    X_asked : array-like of shape (n_asked, n_features)
        Rows that the model is asked about: those that are far from what it has seen are marked.
    features : pair of str or int, default=None
        The inputs along x and y, numbers both, by name or by number from 0.  None: the two leading directions of the
        metric, in length-scales, along which the rows X are most spread out for the model.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    if features is None:
        known, asked = _coordinates(regressor, X), _coordinates(regressor, X_asked)
        columns = _leading(known)
        known, asked = known[:, columns], asked[:, columns]
        names = [_direction_name(regressor, k) for k in columns]
    else:
        columns = [regressor._feature(feature) for feature in features]
        known, asked = (np.column_stack([_drawn(regressor, c, table[:, c]) for c in columns])
                        for table in (regressor._table(X), regressor._table(X_asked)))
        names = [_input_names(regressor)[c] for c in columns]
    new = regressor.predict(X_asked, return_novelty=True)[1] > OUTSIDE
    (some, _), (rows, told) = _thinned(len(known)), _thinned(len(asked))
    ax = _axes(ax, figsize=(6, 5))
    if features is not None:
        _mark_dates(regressor, *columns, ax)
    _shade_gaps(ax, known)
    ax.plot(known[some, 0], known[some, 1], "o", color=LIGHT, markersize=5, label="training rows")
    shown = asked[rows]
    ax.plot(shown[~new[rows], 0], shown[~new[rows], 1], ".", color=MIDDLE, markersize=4, label="asked rows")
    ax.plot(shown[new[rows], 0], shown[new[rows], 1], "x", color=DARK, markersize=6,
            label=f"outside the data: {100 * new.mean():.1f} %")
    ax.set(xlabel=names[0], ylabel=names[1], title="Where the rows are" + told)
    ax.legend(loc="best")
    return ax
