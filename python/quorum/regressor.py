"""The scikit-learn estimator."""
import numbers

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ._categories import match_levels, number_levels
from ._dates import match_dates, number_dates
from ._model import Model
from ._options import PARAMETERS, Options
from ._parameters import Parameters
from .distribution import Distribution

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6
    def validate_data(estimator, *arrays, **rules):
        return estimator._validate_data(*arrays, **rules)


def _column_names(estimator, y):
    """Input names and the target's, or None when the data have no names."""
    inputs = getattr(estimator, "feature_names_in_", None)
    if inputs is None:
        return None
    target = getattr(y, "name", None)
    if not isinstance(target, str):
        target = "y"
        while target in inputs:  # names of a model differ; this one nobody gave
            target += "_"
    return [*inputs, target]


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


def _weights(sample_weight, X):
    """Weights as the library takes them; None stays None."""
    if sample_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, only_non_negative=True)
    return np.ascontiguousarray(weight)


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
    constant_ : ndarray of bool of shape (n_inputs,)
        Inputs that do not vary in the training data: they have no effect on predictions.
    categories_ : dict or None
        By input that is a category: its levels, and the position of each, the number that stands for
        it.  In arrays of numbers a level is its place among these, from 0, or -1 for a new one.
    long_share_, long_reach_ : float
        Of a kernel with two scales (``matern32x2``): the long component's share of
        `signal_variance_`, and its length-scales as a multiple of `lengthscale_`; 0 and 1 otherwise.
    signal_variance_, noise_variance_ : float
        For the standardised target; times ``y_scale_ ** 2`` they are in the target's units.
    inverse_lengthscale_share_ : ndarray of shape (n_inputs,)
        Share of each input in the sum of inverse `input_lengthscale_`: how quickly the target
        bends along it.  This is not its importance: a strong straight line has a small share.
    x_mean_, x_scale_ : ndarray of shape (n_inputs,)
        By which inputs were standardised.
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
    input_names_ : list of str
        Names of the model's inputs: of the columns of `X`, and behind them of those that are made of
        them (`periodic`), such as ``"date (week, sin)"``.  Arrays by input, gradients too, have all.
    n_features_in_ : int
        Number of columns of `X`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the inputs, when the data had names.

    Notes
    -----
    Not offered: `return_cov` (rules for independent experts have no joint covariance;
    `predict_joint` gives that of `nearest` and `npae`), several targets, missing values, sparse matrices.  A constant target and a single row are refused.

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
            frame are categories of the model, and those of datetime64 seconds since 1970.
        y : array-like of shape (n_samples,)
            Target, not constant.
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
        X, dates = number_dates(X)
        X, levels = number_levels(X)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True,
                             ensure_min_samples=2)
        y = np.ascontiguousarray(y, dtype=np.float64)
        options = Options.of(self, "fit", "predict")
        names = _column_names(self, target)
        return self._adopt(Model.fit(
            X, y, names, options, self.verbose, _offsets(offset, len(y)), _offset_name(offset, names),
            levels, dates, weight=_weights(sample_weight, X), noise_std=_noise(noise_std, len(y)),
            weight_name=_own_name(sample_weight, names, "sample_weight"),
            noise_name=_own_name(noise_std, names, "noise_std")))

    def _adopt(self, model):
        """Make the model's contents attributes."""
        info = model.inspect()
        self._model = model
        self.n_features_in_, self._dates = model.columns()
        self.input_names_ = info["names"][:-1]
        self.n_experts_ = len(info["experts"])
        inverse = 1 / info["input_lengthscale"]
        self.inverse_lengthscale_share_ = inverse / inverse.sum()
        self.categories_ = None
        if info["levels"]:
            self.categories_ = {
                info["names"][d]: dict(zip(levels, info["positions"][d].tolist()))
                for d, levels in enumerate(info["levels"]) if levels}
        self._levels = info["levels"]
        for name in ("kernel", "lengthscale", "rotation", "input_lengthscale", "neighbours",
                     "constant", "signal_variance", "noise_variance", "long_share", "long_reach",
                     "x_mean", "x_scale", "y_mean", "y_scale", "target_mean", "target_scale",
                     "warp", "warp_shift", "trend", "slope", "slope_std", "experts", "nlml"):
            setattr(self, name + "_", info[name])
        return self

    def _graph(self, what):
        check_is_fitted(self)
        return self._model.graph(Options.of(self, "predict"), self.verbose)[what]

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

    def _queries(self, X):
        check_is_fitted(self)
        X = match_dates(X, self._dates)
        if self._levels:
            X = match_levels(X, self._levels[:self.n_features_in_])
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return X if len(self.input_names_) == self.n_features_in_ else self._model.inputs_of(X)

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
        mean : ndarray of shape (n_queries,)
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
        X = self._queries(X)
        wanted = ["mean"] + ["std"] * bool(return_std)
        options = Options.of(self, "predict")
        if return_interval is not None:
            options.set("interval", return_interval)
            wanted += ["lower", "upper"]
        wanted += ["mean_gradient", "std_gradient"] * bool(return_gradient)
        wanted += ["novelty"] * bool(return_novelty)
        probabilities = _probabilities(quantiles)
        options.set("mean-only", wanted == ["mean"] and probabilities is None)
        wanted += ["distance"] * bool(return_distance)
        results = self._model.predict(X, options, wanted, self.verbose, _offsets(offset, len(X)),
                                      probabilities, _noise(noise_std, len(X)))
        return results[0] if len(results) == 1 else tuple(results)

    def distribution(self):
        """How observations are distributed about predictions, in units of their std.

        Returns
        -------
        distribution : Distribution
            The one that intervals and quantiles come from: as calibration found it where
            predictions are calibrated, otherwise the standard normal.
        """
        check_is_fitted(self)
        return Distribution(self._model.distribution(Options.of(self, "predict")))

    def _decide(self, what, X, above, below, offset, noise_std=None):
        if (above is None) == (below is None):
            raise ValueError("either above or below is to be given")
        side, threshold = ("above", above) if below is None else ("below", below)
        X, options = self._queries(X), Options.of(self, "predict")
        mean, std = self._model.predict(X, options, ["mean", "std"], self.verbose,
                                        _offsets(offset, len(X)), None, _noise(noise_std, len(X)))
        return self._model.decide(f"{what}_{side}", mean, std, float(threshold), options)

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

        Each query's draws have the mean and std of `predict`, noise included unless
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
            Only with `return_reduction`; in squared units of the target.
        """
        X = self._queries(X)
        over = None if over is None else self._queries(over)
        options = Options.of(self, "predict")
        options.set("latent", False)  # a measurement has noise
        count = min(_positive(n, "n"), len(X))
        rows, reduction = self._model.suggest(X, over, options, count, self.verbose)
        return (rows, reduction) if return_reduction else rows

    def save(self, path):
        """Save the model as a file that the command line and C can load.

        Parameters
        ----------
        path : str or path-like
            The file, a plain ``.npz``.  Parameters of prediction are not part of it.
        """
        check_is_fitted(self)
        self._model.save(path)

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
