"""The scikit-learn estimator."""
import numbers
import warnings

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from ._categories import match_levels, number_levels
from ._dates import match_dates, number_dates, number_spans
from ._model import Model
from ._options import PARAMETERS, Options
from ._parameters import Parameters
from .distribution import Distribution
from .exceptions import DriftWarning
from .explain import make_effect, make_importance

try:
    from sklearn.utils.validation import _check_feature_names, validate_data
except ImportError:  # scikit-learn before 1.6
    def validate_data(estimator, *arrays, ensure_all_finite=True, **rules):
        return estimator._validate_data(*arrays, force_all_finite=ensure_all_finite, **rules)

    def _check_feature_names(estimator, X, reset):
        estimator._check_feature_names(X, reset=reset)


def _columns_with_holes(X):
    """Their names, or numbers from 0."""
    places = np.flatnonzero(np.isnan(np.asarray(X, dtype=np.float64)).any(axis=0))
    return ", ".join(str(X.columns[d]) if hasattr(X, "columns") else str(d) for d in places)


def _validated(estimator, X, *y, **rules):
    """scikit-learn's checks, with what helps where cells are missing or text."""
    try:
        return validate_data(estimator, X, *y, **rules)
    except ValueError as error:
        if str(error).startswith("Input X contains NaN"):
            raise ValueError(f"Input X contains NaN, in column {_columns_with_holes(X)}: fit with missing=\"impute\", "
                             "which fills cells, or leave such rows out") from None
        if str(error).startswith("could not convert string to float"):
            raise ValueError(f"{error}: columns of text are taken from a pandas data frame") from None
        raise


def _free_name(name, taken):
    """The name, or one like it that is not taken: names of a model differ."""
    while name in taken:
        name += "_"
    return name


def _target_names(y, columns):
    """What y says that its columns are called, None where it does not."""
    if columns == 1:
        names = list(getattr(y, "columns", [getattr(y, "name", None)]))
    else:
        names = list(getattr(y, "columns", [None] * columns))
    return [name if isinstance(name, str) else None for name in names]


def _column_names(estimator, y, targets=1, derived=()):
    """Names of the inputs and behind them of the targets, or None when the data have no names; those
    that are `derived` are not taken."""
    inputs = getattr(estimator, "feature_names_in_", None)
    if inputs is None:
        return None
    names = list(inputs)
    for i, name in enumerate(_target_names(y, targets)):
        made_up = "y" if targets == 1 else f"y{i + 1}"
        names.append(_free_name(made_up, names) if name is None or name in derived else name)
    return names


def _derived(names, X, y):
    """Names of single targets that an input has too and that are not that input: pandas leaves
    ``np.sin(X.a)`` the name a.  An input that is the target itself is a mistake, which the library tells."""
    name = getattr(y, "name", None)
    if names is None or not isinstance(name, str) or name not in names:
        return []
    column = X[:, list(names).index(name)]
    return [] if np.array_equal(column, np.asarray(y, dtype=np.float64)) else [name]


def _stacked(results):
    """Results of several targets, arrays or tuples of them, as arrays whose last axis is the targets."""
    if isinstance(results[0], tuple):
        return tuple(np.stack(arrays, axis=-1) for arrays in zip(*results))
    return np.stack(results, axis=-1)


def _offsets(offset, n, name="offset"):
    """An offset as the library takes it; None stays None."""
    if offset is None:
        return None
    offset = np.ascontiguousarray(offset, dtype=np.float64)
    if offset.shape != (n,):
        raise ValueError(f"{name} has the shape {offset.shape}, and there are {n} rows: it takes one "
                         "number a row")
    return offset


def _noise(noise_std, n):
    """Known standard deviations, one a row or one for all; None stays None."""
    if isinstance(noise_std, numbers.Real):
        return np.full(n, float(noise_std))
    return _offsets(noise_std, n, "noise_std")


def _weights(sample_weight, n):
    """Weights as the library takes them, one a row or one for all; None stays None."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(n, float(sample_weight))
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight")
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has the shape {weight.shape}, and there are {n} rows: it takes one number a row")
    if (weight < 0.0).any():
        raise ValueError(f"sample_weight: negative for row {np.flatnonzero(weight < 0.0)[0] + 1}; 0 leaves a row out")
    if not weight.any():
        raise ValueError("sample_weight: all rows have the weight 0, zero for each: none is left to learn from")
    return weight


def _probabilities(quantiles):
    """Probabilities as the library takes them; None stays None."""
    if quantiles is None:
        return None
    probabilities = np.asarray(quantiles, dtype=np.float64)
    if probabilities.ndim != 1:
        raise ValueError("quantiles: a list of probabilities, as in [0.05, 0.5, 0.95]")
    return np.ascontiguousarray(probabilities)


def _positive(count, name):
    if not isinstance(count, numbers.Integral) or count < 1:
        raise ValueError(f"{name}: {count!r} is not a whole number above 0")
    return int(count)


def _offset_name(offset, names):
    """The name of an offset's column, where the data have names."""
    name = getattr(offset, "name", None)
    if offset is None or names is None:
        return None
    if not isinstance(name, str):
        name = "offset"
        while name in names:
            name += "_"
    return name


def _own_name(values, names, name):
    """The name of a column of weights or errors, where the data have names: one that no input has."""
    own = getattr(values, "name", None)
    if values is None or names is None:
        return None
    name = own if isinstance(own, str) and own not in names else name
    while name in names:
        name += "_"
    return name


class QuorumRegressor(RegressorMixin, Parameters):
    __doc__ = """Gaussian-process regression for data too big for one GP.

    The rows are split among local GP experts, and every prediction is made by the quorum of
    experts that matters for it, with its uncertainty.  Any fitted model can predict with any
    `method`, `select` or `neighbours`: change them by `set_params`, nothing is fitted again.

    PARAMETERS

    Attributes
    ----------
    targets_ : list of str
        Names of the targets.  Of several, what follows is that of each, as attributes of
        ``target(name)``, but for `n_features_in_` and `feature_names_in_`.
    kernel_ : str
        Covariance function that was used.
    lengthscale_ : ndarray of shape (n_inputs,)
        Length-scales along the directions of `rotation_`; along the standardised inputs where it
        is None.  Infinite of a constant input.
    rotation_ : ndarray of shape (n_inputs, n_inputs) or None
        Directions of a linear metric, one a row, in the standardised inputs: the kernel sees
        ``rotation_ @ ((x - x_mean_) / x_scale_) / lengthscale_``.  A constant input is a direction
        of its own, in its own place.  None where directions are the inputs themselves.
    input_lengthscale_ : ndarray of shape (n_inputs,)
        Length-scales along the standardised inputs, each alone; times `x_scale_` they are in the
        inputs' units.  `lengthscale_` itself where `rotation_` is None.
    neighbours_ : int or None
        Nearest rows that the fit found to be enough to predict a query; None: not known.
    chosen_method_ : {"nearest", "cells"} or None
        What ``method="auto"`` is, by rows that the fit held out of both; None: not compared, and
        nearest.
    constant_ : ndarray of bool of shape (n_inputs,)
        Inputs that do not vary in the training data: they have no effect on predictions.
    categories_ : dict or None
        By input that is a category: its levels, and the position of each, the number that stands for
        it.  In arrays of numbers a level is its place among these, from 0, or -1 for a new one.
    long_share_, long_reach_ : float
        Of a kernel with several scales (``matern32x2``): the share of `signal_variance_` of all
        components but the shortest, whose length-scales are `lengthscale_`, and how many times as
        far each reaches as the one before it; 0 and 1 otherwise.
    signal_variance_, noise_variance_ : float
        For the standardised target; times ``y_scale_ ** 2`` they are in the target's units.
    inverse_lengthscale_share_ : ndarray of shape (n_inputs,)
        Share of each input in the sum of inverse `input_lengthscale_`: how quickly the target
        bends along it.  This is not its importance: a strong straight line has a small share.
    x_mean_, x_scale_ : ndarray of shape (n_inputs,)
        By which inputs were standardised.
    bend_at_, bend_width_ : ndarray of shape (n_inputs,) or None
        Of inputs with heavy tails (``input_warp="asinh"``): where the width is above 0, what is standardised
        is ``arcsinh((x - bend_at_) / bend_width_)``.  None: no input is bent.
    y_mean_, y_scale_ : float
        By which the target was standardised, or what an offset or a linear trend left of it.
    target_mean_, target_scale_ : float
        Mean and standard deviation of the target itself.
    warp_ : str
        "none", or "log": `y_mean_`, `y_scale_`, `slope_` and variances are those of
        log(target + ``warp_shift_``).
    warp_shift_ : float
    trend_ : str
        What predictions return to away from the data: "none" (0), "constant" (the mean) or
        "linear" (a line).
    slope_, slope_std_ : ndarray of shape (n_inputs,) or None
        Of a linear trend: the target's change by a unit of each input, and its standard error.
    n_experts_ : int
        Number of experts.
    experts_ : list of ndarray
        The training rows, counted from 0, of each expert; rows of weight 0 are not counted.
    precision_ : ndarray of shape (n_experts_, n_experts_)
        Precision matrix of the expert graph: exact zeros where there is no edge.  None where
        it could not be learned (a GraphWarning).  The graph is learned when one of its
        attributes, or a prediction that selects by it, first needs it; graph="glasso" learns
        it in the fit.
    importance_ : ndarray of shape (n_experts_,)
        Sum of the absolute weights of each expert's edges.
    ranking_ : ndarray of shape (n_experts_,)
        Experts, counted from 0, the most important first.
    alpha_ : float
        Penalty of the graph that was used, absolute.
    nlml_ : float
        Negative log likelihood that training made small, in standardised units.
    n_rows_, train_rows_ : int
        Training rows that the model has, and those that `nlml_` is the likelihood of.
    train_, partition_ : str
        How the hyperparameters were trained and the rows split.
    evaluations_, seed_ : int
        Of `nlml_` and its gradient, in training; and the seed of all that is drawn.
    at_bound_ : list of str
        Hyperparameters that training left at a bound: an input's name stands for its length-scale.
    kernel_scores_ : dict or None
        Mean log density of left-out rows by each kernel that ``kernel="auto"`` compared; None where it
        was given.
    spread_ : float or None
        Rows that count as the hyperparameters say, against which variances follow the rows around a
        query; None: they do not follow them.
    local_noise_ : bool
        Whether predictions from nearest rows take the noise around the query.
    calibration_rows_ : int
        Held-out rows behind `calibration_scale_`, by which std is multiplied; 0: not calibrated.
    calibration_scale_ : float
    seconds_ : dict
        Of the fit: `partition`, `train`, `graph`, `calibrate` and `total`.
    input_names_ : list of str
        Names of the model's inputs: of the columns of `X`, and behind them of those that are made of
        them (`periodic`), such as ``"date (week, sin)"``.  Arrays by input, gradients too, have all.
    update_ : list of dict
        After `partial_fit`, for each target: rows `added`, `removed` and left out for a level that is
        `unseen`; of the new rows, as they were predicted before they were taken, how many were
        `scored`, `rmse`, `nlpd`, `coverage95`, and the mean log `density` of (y - mean) / std beside
        the `expected` one of left-out rows, the `chance` of that and whether it is a `drift`.
    n_features_in_ : int
        Number of columns of `X`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the inputs, when the data had names.

    Notes
    -----
    Not offered: `return_cov` (rules for independent experts have no joint covariance;
    `predict_joint` gives that of `nearest` and `npae`), sparse matrices.  A constant target and a single row are refused.

    Examples
    --------
    >>> from quorum import QuorumRegressor, demo_data
    >>> X, y = demo_data(2000, noise=0.1, random_state=1)
    >>> model = QuorumRegressor(n_experts=4, kernel="se").fit(X, y)
    >>> mean, std = model.predict([[0.3], [0.7]], return_std=True)
    >>> mean.round(1), std.round(1)
    (array([2.9, 2.6]), array([0.1, 0.1]))
    """.replace("PARAMETERS", (Parameters.__doc__ or "").strip())

    def fit(self, X, y, offset=None, sample_weight=None, noise_std=None):
        """Fit experts and hyperparameters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; not copied when C-contiguous float64.  Columns of text and categories of a data
            frame are categories of the model, and those of datetime64 seconds since 1970.  Missing
            cells (NaN, None, NaT) are an error, unless ``missing="impute"`` fills them.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target, not constant; of several a model of each is made, as if it were alone.
        offset : array-like of shape (n_samples,), default=None
            What is known of the target, such as another model's prediction: it is taken from `y`,
            and predictions, which need it at their queries, are about it.
        sample_weight : array-like of shape (n_samples,), default=None
            As how many rows each counts: 2 is the row twice, 0 is no row.
        noise_std : float or array-like of shape (n_samples,), default=None
            What is known of each target's own error: its standard deviation, in the target's units,
            0 allowed, beside the noise that is learned.

        Returns
        -------
        self : QuorumRegressor
        """
        target = y
        X, dates = number_dates(number_spans(X))
        X, levels = number_levels(X, self._fills())
        X, y = _validated(self, X, y, dtype=np.float64, order="C", y_numeric=True,
                          multi_output=True, ensure_min_samples=2, ensure_all_finite=self._finite())
        columns = 1 if y.ndim == 1 else y.shape[1]
        self._in_columns = y.ndim == 2
        # a row for each target, or of one the row alone
        y = np.ascontiguousarray(y.T if columns > 1 else y.ravel(), dtype=np.float64)
        options = Options.of(self, "fit", "predict")
        names = _column_names(self, target, columns, _derived(
            getattr(self, "feature_names_in_", None), X, target))
        return self._adopt(Model.fit(
            X, y, names, options, self.verbose, _offsets(offset, len(X)), _offset_name(offset, names),
            levels, dates, weight=_weights(sample_weight, len(X)), noise_std=_noise(noise_std, len(X)),
            weight_name=_own_name(sample_weight, names, "sample_weight"),
            noise_name=_own_name(noise_std, names, "noise_std")))

    def partial_fit(self, X, y, offset=None, sample_weight=None, noise_std=None, window=None):
        """Take new rows into the model without training; the first call is a `fit`.

        Hyperparameters, the units of inputs and target, levels and metric stay: predictions are those
        of a fit to all rows with these hyperparameters.  The new rows are predicted before they are
        taken, calibration learns from them, and a `DriftWarning` says that they no longer fit the
        model: then fit again, with ``start`` a saved model to begin from.  Rows with a level that the
        model does not know are left out.  Not while other threads predict.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of the new rows, as of `fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target.
        offset, sample_weight, noise_std
            As of `fit`.
        window : int, default=None
            Keep only the last so many rows, these included; None keeps all.

        Returns
        -------
        self : QuorumRegressor
        """
        if not hasattr(self, "_all"):
            return self.fit(X, y, offset, sample_weight, noise_std)
        targets, queries = len(self.targets_), self._inputs_by_target(X)
        y = np.ascontiguousarray(check_array(y, dtype=np.float64, ensure_2d=False).reshape(len(y), -1).T)
        n = queries[0].shape[0]
        if y.shape != (targets, n):
            raise ValueError(f"y has {y.shape[1]} rows and {y.shape[0]} columns, X has {n} rows, and the model "
                             f"{targets} target{'s' if targets > 1 else ''}")
        others = {"offset": _offsets(offset, n), "weight": _weights(sample_weight, n),
                  "noise_std": _noise(noise_std, n)}
        rows = [{"X": queries[t], "y": y[t], **others} for t in range(targets)]
        window = 0 if window is None else _positive(window, "window")
        reports = self._all.update(rows, window, Options.of(self, "fit", "predict"), self.verbose)
        self._adopt(self._all)
        self.update_ = reports
        self._warn_of_drift()
        return self

    def _inputs_by_target(self, X):
        """The model's inputs of X, for each target."""
        if self._model is not None:
            return [self._queries(X)]
        return [self.target(t)._queries(X) for t in range(len(self.targets_))]

    def _warn_of_drift(self):
        names = [name for name, one in zip(self.targets_, self.update_) if one["drift"]]
        if names:
            warnings.warn(f"the new rows of {', '.join(names)} are predicted worse than left-out rows were, by more "
                          "than chance: the data may have moved away from the model; fit again, with start=PATH of "
                          "the saved model to begin from", DriftWarning, stacklevel=3)

    _in_columns = False  # whether y had columns, and results have

    def _fills(self):
        return self.missing == "impute"

    def _finite(self):
        """What scikit-learn's checks demand of X."""
        return "allow-nan" if self._fills() else True

    def _more_tags(self):  # scikit-learn before 1.6
        return {"allow_nan": self._fills(), "multioutput": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._fills()
        tags.target_tags.multi_output = True
        return tags

    def _adopt(self, model):
        """Make the model's contents attributes."""
        self._all = model
        self.targets_ = [one.target_name() for one in model.targets()]
        self.n_features_in_, self._dates = model.columns()
        return self._adopt_one(model) if len(self.targets_) == 1 else self._adopt_several()

    def _adopt_several(self):
        """What is of each target is that of target()."""
        self._in_columns = True
        for name in [name for name in vars(self) if name.endswith("_") and name not in (
                "targets_", "n_features_in_", "feature_names_in_")]:
            delattr(self, name)  # of an earlier fit
        self._model = None
        return self

    def _adopt_one(self, model):
        info = model.inspect()
        self._model = model
        self.input_names_ = info["names"][:-1]
        self.n_experts_ = len(info["experts"])
        self.n_rows_ = info["rows"]
        inverse = 1 / info["input_lengthscale"]
        self.inverse_lengthscale_share_ = inverse / inverse.sum()
        self.categories_ = None
        if info["levels"]:
            self.categories_ = {
                info["names"][d]: dict(zip(levels, info["positions"][d].tolist()))
                for d, levels in enumerate(info["levels"]) if levels}
        self._levels = info["levels"]
        self._left_out = info["constant"] & (info["x_mean"] == 0.0)  # as columns of text of which nothing was taken
        for name in ("kernel", "lengthscale", "rotation", "input_lengthscale", "neighbours",
                     "chosen_method", "constant", "signal_variance", "noise_variance", "long_share", "long_reach",
                     "bend_at", "bend_width", "x_mean", "x_scale", "y_mean", "y_scale", "target_mean", "target_scale",
                     "warp", "warp_shift", "trend", "slope", "slope_std", "experts", "nlml", "partition",
                     "seed", "train", "train_rows", "evaluations", "at_bound", "kernel_scores", "spread",
                     "local_noise", "calibration_rows", "calibration_scale", "seconds"):
            setattr(self, name + "_", info[name])
        return self

    def target(self, target):
        """The estimator of one target of several, fitted.

        Parameters
        ----------
        target : str or int
            Its name, or its number from 0.

        Returns
        -------
        estimator : QuorumRegressor
            With the parameters that this one has now.
        """
        check_is_fitted(self)
        if isinstance(target, str) and target not in self.targets_:
            raise ValueError(f"target: {target!r} is none of {self.targets_}")
        number = self.targets_.index(target) if isinstance(target, str) else range(
            len(self.targets_))[target]
        one = type(self)(**self.get_params())
        if hasattr(self, "feature_names_in_"):
            one.feature_names_in_ = self.feature_names_in_
        one.targets_ = [self.targets_[number]]
        one._all = self._all.targets()[number]
        one.n_features_in_, one._dates = self.n_features_in_, self._dates
        return one._adopt_one(one._all)

    def _check_fitted(self):
        if "_all" not in vars(self):  # scikit-learn looks at all attributes
            check_is_fitted(self)

    def _of_one_target(self):
        """The model, where there is one target."""
        self._check_fitted()
        if self._model is None:
            raise ValueError("there are several targets, and this is of one: ask target(name) for it, "
                             f"name being one of {self.targets_}")
        return self._model

    def _by_target(self, method, *args, **kwargs):
        """The method's results of every target, where there are several."""
        return _stacked([getattr(self.target(t), method)(*args, **kwargs)
                         for t in range(len(self.targets_))])

    def _shaped(self, results):
        """Results of one target in the shape that y had."""
        return _stacked([results]) if self._in_columns else results

    def _graph(self, what):
        return self._of_one_target().graph(Options.of(self, "predict"), self.verbose)[what]

    @property
    def precision_(self):
        return self._graph("precision")

    @property
    def importance_(self):
        return self._graph("importance")

    @property
    def ranking_(self):
        return self._graph("ranking")

    @property
    def alpha_(self):
        return self._graph("alpha")

    def _table(self, X):
        """X as numbers: seconds of dates, levels' numbers."""
        self._of_one_target()
        if self._is_ready(X):
            return X
        if hasattr(X, "columns") and hasattr(self, "feature_names_in_"):
            _check_feature_names(self, X, reset=False)
        X = match_dates(number_spans(X), self._dates)
        X = match_levels(X, (self._levels or [None] * self.n_features_in_)[:self.n_features_in_], self._left_out, self._fills())
        return _validated(self, X, dtype=np.float64, order="C", reset=False, ensure_all_finite=self._finite())

    def _is_ready(self, X):
        """Whether scikit-learn's checks would return X itself, and say nothing: they take longer than a query."""
        return (type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.shape[0] > 0
                and X.shape[1] == self.n_features_in_ and X.flags.c_contiguous and not self._dates
                and not self._levels and not hasattr(self, "feature_names_in_")
                and bool(np.isfinite(X).all()))

    def _inputs(self, table):
        return table if len(self.input_names_) == self.n_features_in_ else self._model.inputs_of(table)

    def _queries(self, X):
        return self._inputs(self._table(X))

    def _matching_offsets(self, offset, n):
        """Offsets of n queries, given where the model was fitted with one."""
        offset = _offsets(offset, n)
        if (offset is None) != (self._model.inspect()["offset_name"] is None):
            raise ValueError("offset: it is given where the model was fitted with one, and only there")
        return offset

    def predict(self, X, return_std=False, return_interval=None, offset=None, quantiles=None,
                return_gradient=False, return_novelty=False, return_distance=False,
                noise_std=None):
        """Predict the target.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Inputs; not copied when C-contiguous float64.
        return_std : bool, default=False
            Also return the standard deviation of a new observation, or of the function with
            ``latent=True``.
        return_interval : float, default=None
            Probability, such as 0.95: also return both ends of the central interval.
        offset : array-like of shape (n_queries,), default=None
            The offset at the queries, of a model that was fitted with one.
        quantiles : array-like of float, default=None
            Probabilities, such as [0.05, 0.5, 0.95]: also return these quantiles.
        return_gradient : bool, default=False
            Also return the derivatives of mean and standard deviation by each input, the rows or
            experts that a query is predicted from being held fixed.
        return_novelty : bool, default=False
            Also return, from 0 to 1, the share of the prior variance that is left: 1 where nothing
            is known.
        return_distance : bool, default=False
            Also return the distance to the nearest training row, in length-scales.
        noise_std : float or array-like of shape (n_queries,), default=None
            What is known of the queries' own errors, as in `fit`: its square is added to the variance
            of an observation, before calibration.

        Returns
        -------
        mean : ndarray of shape (n_queries,), or (n_queries, n_targets) where y had columns
            So for all that follow: targets are the last axis.
        std : ndarray of shape (n_queries,)
            Only with `return_std`.
        lower, upper : ndarray of shape (n_queries,)
            Only with `return_interval`.
        mean_gradient, std_gradient : ndarray of shape (n_queries, n_features)
            Only with `return_gradient`.
        novelty : ndarray of shape (n_queries,)
            Only with `return_novelty`.
        distance : ndarray of shape (n_queries,)
            Only with `return_distance`.
        quantile : ndarray of shape (n_queries, n_quantiles)
            Only with `quantiles`.
        """
        self._check_fitted()
        if self._model is None:
            return self._by_target("predict", X, return_std, return_interval, offset, quantiles,
                                   return_gradient, return_novelty, return_distance, noise_std)
        X = self._queries(X)
        wanted = ["mean"] + ["std"] * bool(return_std)
        wanted += ["lower", "upper"] * (return_interval is not None)
        wanted += ["mean_gradient", "std_gradient"] * bool(return_gradient)
        wanted += ["novelty"] * bool(return_novelty)
        probabilities = _probabilities(quantiles)
        options = Options.of_predict(self, interval=return_interval,
                                     mean_only=wanted == ["mean"] and probabilities is None)
        wanted += ["distance"] * bool(return_distance)
        results = self._model.predict(X, options, wanted, self.verbose, _offsets(offset, len(X)),
                                      probabilities, _noise(noise_std, len(X)))
        return self._shaped(results[0] if len(results) == 1 else tuple(results))

    def distribution(self):
        """How observations are distributed about predictions, in units of their std.

        Returns
        -------
        distribution : Distribution
            The one that intervals and quantiles come from: as calibration found it where
            predictions are calibrated, otherwise the standard normal.
        """
        return Distribution(self._of_one_target().distribution(Options.of(self, "predict")))

    def _decide(self, what, X, above, below, offset, noise_std=None):
        if (above is None) == (below is None):
            raise ValueError("either above or below is to be given")
        check_is_fitted(self)
        if self._model is None:
            return self._by_target("_decide", what, X, above, below, offset, noise_std)
        side, threshold = ("above", above) if below is None else ("below", below)
        X, options = self._queries(X), Options.of(self, "predict")
        mean, std = self._model.predict(X, options, ["mean", "std"], self.verbose,
                                        _offsets(offset, len(X)), None, _noise(noise_std, len(X)))
        return self._shaped(
            self._model.decide(f"{what}_{side}", mean, std, float(threshold), options))

    def predict_probability(self, X, above=None, below=None, offset=None, noise_std=None):
        """Predict how probable it is that the target is above, or below, a threshold.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Inputs.
        above, below : float
            The threshold: one of the two.
        offset : array-like of shape (n_queries,), default=None
            As in `predict`.
        noise_std : float or array-like of shape (n_queries,), default=None
            As in `predict`.

        Returns
        -------
        probability : ndarray of shape (n_queries,)
            Of a new observation, or of the function with ``latent=True``.
        """
        return self._decide("probability", X, above, below, offset, noise_std)

    def expected_improvement(self, X, above=None, below=None, offset=None, noise_std=None):
        """By how much the target is expected to be above, or below, the best value so far.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Inputs.
        above, below : float
            The best value so far: `above` where more is better, `below` where less is.
        offset : array-like of shape (n_queries,), default=None
            As in `predict`.
        noise_std : float or array-like of shape (n_queries,), default=None
            As in `predict`.

        Returns
        -------
        improvement : ndarray of shape (n_queries,)
            The mean of max(0, y - above), or of max(0, below - y); set ``latent=True`` for that of the
            function rather than of noisy observations.
        """
        return self._decide("improvement", X, above, below, offset, noise_std)

    def predict_joint(self, X, offset=None):
        """Predict together with the covariance between the queries (`nearest` and `npae`).

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            A few thousand queries at most: the covariance is a full matrix.
        offset : array-like of shape (n_queries,), default=None
            As in `predict`.

        Returns
        -------
        mean : ndarray of shape (n_queries,)
        covariance : ndarray of shape (n_queries, n_queries)
            The noise is on the diagonal unless ``latent=True``.
        """
        X = self._queries(X)
        mean, covariance = self._model.predict_joint(X, Options.of(self, "predict"), self.verbose)
        offset = self._matching_offsets(offset, len(X))
        return (mean if offset is None else mean + offset), covariance

    def sample_y(self, X, n_samples=1, random_state=0, offset=None):
        """Draw the target jointly at the queries.

        Each query's draws are distributed as `predict` says, with its quantiles, noise included unless
        ``latent=True``; queries near each other have similar errors.  The same `random_state`
        gives the same draws for the same set of queries, in whatever order; more samples leave the
        first as they are.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Some 100,000 queries at most.
        n_samples : int, default=1
            Draws of each query.
        random_state : int, RandomState instance or None, default=0
            Seed of the draws; None is a new one each time.
        offset : array-like of shape (n_queries,), default=None
            As in `predict`.

        Returns
        -------
        y_samples : ndarray of shape (n_queries, n_samples)
        """
        X = self._queries(X)
        options = Options.of(self, "predict")
        options.set("seed", check_random_state(None) if random_state is None else random_state)
        draws = self._model.sample(X, options, _positive(n_samples, "n_samples"), self.verbose)
        offset = self._matching_offsets(offset, len(X))
        return draws if offset is None else draws + offset[:, None]

    def suggest(self, X, n=20, over=None, return_reduction=False):
        """Find the rows of X that are worth measuring next.

        Parameters
        ----------
        X : array-like of shape (n_candidates, n_features)
            Inputs that could be measured.  Of more than 2,000 a fixed sample is looked at.
        n : int, default=20
            How many; no more than there are candidates.
        over : array-like of shape (n_targets, n_features), default=None
            Where predictions are to become surer; None: at the candidates.
        return_reduction : bool, default=False
            Also return what each takes off the mean variance, after those before it.

        Returns
        -------
        rows : ndarray of shape (n,)
            Numbers of rows of X, the best first; each is the best after the ones before it.
        reduction : ndarray of shape (n,)
            Only with `return_reduction`; in squared units of the target, of a warped one of its
            logarithm.
        """
        X = self._queries(X)
        over = None if over is None else self._queries(over)
        options = Options.of(self, "predict")
        options.set("latent", False)  # a measurement has noise
        count = min(_positive(n, "n"), len(X))
        rows, reduction = self._model.suggest(X, over, options, count, self.verbose)
        return (rows, reduction) if return_reduction else rows

    def importance(self, X, y=None, max_rows=2000, random_state=0, offset=None, sample_weight=None,
                   noise_std=None):
        """Say how much each input matters to the predictions, and how sure that is.

        `docs/importance.md` has the definitions; ``quorum importance`` prints the same numbers.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows, best ones that the fit has not seen; 20 at least.
        y : array-like of shape (n_rows,), default=None
            Their targets; without them there is no loss by permutation (NaN).
        max_rows : int, default=2000
            Rows that are permuted and predicted again; first-order shares take ten times as many.
        random_state : int, RandomState instance or None, default=0
            Seed of rows, permutations and draws.
        offset, sample_weight, noise_std
            Of the rows, as in `fit`.

        Returns
        -------
        importance : Importance
            A named tuple of arrays, an entry an input in the order of the columns.
        """
        X, options = self._queries(X), Options.of(self, "predict")
        options.set("seed", check_random_state(None) if random_state is None else random_state)
        if y is not None:
            y = np.ascontiguousarray(check_array(y, dtype=np.float64, ensure_2d=False).ravel())
            if len(y) != len(X):
                raise ValueError(f"y has {len(y)} entries, X has {len(X)} rows")
        rows = {"X": X, "y": y, "offset": self._matching_offsets(offset, len(X)),
                "weight": _weights(sample_weight, len(X)), "noise_std": _noise(noise_std, len(X))}
        found, about = self._model.importance(rows, _positive(max_rows, "max_rows"), options,
                                              self.verbose)
        return make_importance(self.input_names_, found, about)

    def _feature(self, feature):
        """The place of a column by its name, or its number from 0."""
        names = self.input_names_[:self.n_features_in_]
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(f"features: {feature!r} is none of {names}")
            return names.index(feature)
        if not isinstance(feature, numbers.Integral) or not 0 <= feature < self.n_features_in_:
            raise ValueError(f"features: {feature!r} is neither a name nor a number from 0 to "
                             f"{self.n_features_in_ - 1}")
        return int(feature)

    def _feature_values(self, column, table, given, n_values):
        """Numbers of an effect's values, and the values as they are shown."""
        levels = self._levels[column] if self._levels else None
        if levels:
            shown = list(levels if given is None else given)
            unknown = [level for level in shown if level not in levels]
            if unknown:
                raise ValueError(f"values: {unknown[0]!r} is no level of {self.input_names_[column]}")
            return np.array([levels.index(level) for level in shown], dtype=np.float64), np.array(shown)
        is_date = bool(self._dates and self._dates[column])
        if given is None:
            low, high = np.nanmin(table[:, column]), np.nanmax(table[:, column])
            seconds = np.linspace(low, high, n_values)
        elif is_date:
            seconds = np.asarray(given, dtype="datetime64[ns]").astype("int64") / 1e9
        else:
            seconds = np.asarray(given, dtype=np.float64)
        if seconds.ndim != 1 or not len(seconds):
            raise ValueError("values: a list of values for each of the features")
        seconds = np.ascontiguousarray(seconds)
        return seconds, (seconds * 1e9).astype("datetime64[ns]") if is_date else seconds

    def partial_dependence(self, X, features, values=None, n_values=None, n_curves=0, interval=0.95,
                           max_rows=None, random_state=0, offset=None, sample_weight=None):
        """Average the prediction over rows as one or two inputs change, and show single rows.

        ``quorum effects`` writes the same numbers.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows to average over; 20 at least.
        features : str, int, or a pair of these
            The input or inputs that change, by name or by number from 0.
        values : array-like, or a pair of these, default=None
            Values that they take; None: over the range of `X`, of a category all levels.
        n_values : int, default=None
            How many, where `values` is None; None: 41, of two inputs 17 each.
        n_curves : int, default=0
            Curves of single rows.
        interval : float, default=0.95
            Probability of the intervals, which are the function's; what is returned are the mean ends
            over the rows.  The interval of the mean itself is no wider.
        max_rows : int, default=None
            Rows that are averaged over; None: 500, of two inputs 200.
        random_state : int, RandomState instance or None, default=0
            Seed of the rows.
        offset, sample_weight
            Of the rows, as in `fit`.  The offset is left out of the results.

        Returns
        -------
        effect : Effect
            A named tuple of arrays.  `support` is the share of rows that have such values near them:
            where it is small the model is asked for what hardly occurs.
        """
        one = isinstance(features, (str, numbers.Integral))
        columns = [self._feature(f) for f in ([features] if one else features)]
        if not 1 <= len(columns) <= 2:
            raise ValueError(f"features: one or two are wanted, not {len(columns)}")
        given = [values] if one else [None] * len(columns) if values is None else list(values)
        if len(given) != len(columns):
            raise ValueError("values: a list of values for each of the features")
        n_values = _positive(n_values or (41 if len(columns) == 1 else 17), "n_values")
        table = self._table(X)
        pairs = [self._feature_values(c, table, v, n_values) for c, v in zip(columns, given)]
        options = Options.of(self, "predict")
        options.set("seed", check_random_state(None) if random_state is None else random_state)
        options.set("interval", interval)
        rows = {"X": self._inputs(table), "offset": self._matching_offsets(offset, len(table)),
                "weight": _weights(sample_weight, len(table))}
        most = _positive(max_rows or (500 if len(columns) == 1 else 200), "max_rows")
        found, used = self._model.effect(rows, most, columns, [numbers_ for numbers_, _ in pairs],
                                         n_curves, options, self.verbose)
        return make_effect([self.input_names_[c] for c in columns], [shown for _, shown in pairs],
                           found, used)

    def save(self, path):
        """Save the model as a file that the command line and C can load.

        Parameters
        ----------
        path : str or path-like
            The file, a plain ``.npz``.  Parameters of prediction are not part of it.
        """
        check_is_fitted(self)
        self._all.save(path)

    @classmethod
    def load(cls, path, **parameters):
        """Load a model file, wherever it was made.

        Parameters
        ----------
        path : str or path-like
            The file.
        **parameters
            Parameters to set, such as `method`.  Those of the fit come from the file.

        Returns
        -------
        estimator : QuorumRegressor
        """
        model = Model.load(path, Options(memory=parameters.get("memory")))
        info = model.inspect()
        of_fit = {option.parameter: option.value(info["options"][option.name])
                  for option in PARAMETERS
                  if option.name in info["options"] and "predict" not in option.used_by}
        estimator = cls(**{**of_fit, **parameters})
        if info["named"]:
            estimator.feature_names_in_ = np.array(info["names"][:info["columns"]], dtype=object)
        return estimator._adopt(model)
