"""A fitted model of the library, owned by Python."""
import json
import os
import tempfile
from ctypes import POINTER, byref, c_char_p, c_size_t, c_void_p, cast

import numpy as np

from ._library import (Data, DistributionPoints, EffectCurves, EffectGrid, Forgetting,
                       ImportanceSummary, Info, InputImportance, NewRows, Prediction, Report,
                       UpdateReport, lib)
from ._options import Options
from ._text import as_bytes, path_as_bytes
from ._watch import Watch
from .exceptions import (check, warn_of_constants, warn_of_graph, warn_of_holes, warn_of_levels,
                         warn_uncalibrated)


def _encode(names):
    return (c_char_p * len(names))(*(as_bytes(name, "column name") for name in names))


def _encode_levels(levels):
    """Counts and names of the levels of each input, None of a number, as the library takes them."""
    counts = (c_size_t * len(levels))(*(len(names or []) for names in levels))
    lists = [(c_char_p * len(names))(*(as_bytes(name, "level") for name in names)) if names else None
             for names in levels]
    places = (POINTER(c_char_p) * len(levels))(
        *(cast(names, POINTER(c_char_p)) if names else POINTER(c_char_p)() for names in lists))
    places.kept = lists
    return counts, places


def _add_targets(data, y, names, inputs):
    """Several targets, a row of y each, behind the inputs and before the columns of weights and noise."""
    targets = len(y)
    data.targets = targets
    data.target_y = (c_void_p * targets)(*(row.ctypes.data for row in y))
    data.target_place = (c_size_t * targets)(*range(inputs, inputs + targets))
    if names is not None:
        data.target_name = _encode(names[inputs:])
    data.weight_place = data.noise_place = inputs + targets


def _report(r):
    """What became of new rows, as a dictionary."""
    found = {name: getattr(r, name) for name in ("added", "removed", "unseen", "scored", "density",
                                                 "expected", "chance")}
    found["drift"] = bool(r.drift)
    if r.scored:
        found.update(rmse=r.metrics.rmse, nlpd=r.metrics.nlpd, coverage95=r.metrics.coverage[2])
    return found


def _copied(pointer, *shape):
    """A copy of an array of the library."""
    return np.ctypeslib.as_array(pointer, shape).copy()


def _rows(X, y=None, offset=None, weight=None, noise_std=None):
    """Rows as the library takes them; all but X may be None."""
    given = {"X": X, "y": y, "offset": offset, "weight": weight, "noise_std": noise_std}
    return NewRows(rows=len(X), **{name: array.ctypes.data for name, array in given.items()
                                   if array is not None})


class Model:
    """Fit, save, load, inspect and predict over arrays that are C-contiguous float64.

    A model does not change once it is made, but by `update`, and for its expert graph, which is
    learned when it is first asked for; it may be used from many threads.  Pickling goes
    through a temporary file in the model's own format.
    """

    def __init__(self):
        self._handle = c_void_p()
        self._graph = None  # what graph() gave
        self._owner = None  # the model of several targets that this one of belongs to

    def __del__(self):
        if self._handle and self._owner is None:
            lib.quorum_model_free(self._handle)

    def targets(self):
        """The models of all targets; of one target the model itself alone."""
        count = lib.quorum_model_targets(self._handle)
        return [self] + [self._further(i) for i in range(1, count)]

    def _further(self, i):
        model = Model()
        model._handle = c_void_p(lib.quorum_model_target(self._handle, i))
        model._owner = self
        return model

    # ---- making one ----

    @classmethod
    def fit(cls, X, y, names, options, verbose=0, offset=None, offset_name=None, levels=None,
            dates=None, **others):
        """From X (rows x inputs) and y (rows, or targets x rows); `names` are inputs + 1 column names,
        with several targets one more for each, or None, `offset`
        (rows) is known of y, or None, and `levels` are the names of the levels that X has the numbers
        of (None: of no input), for each input a list or None; `dates` are the forms of columns
        of dates, which X has in seconds, likewise.  `others`: weight and noise_std (rows),
        weight_name and noise_name, each may be None."""
        model, inputs = cls(), X.shape[1]
        data = Data(rows=X.shape[0], inputs=inputs, X=X.ctypes.data, y=y.ctypes.data,
                    names=_encode(names) if names is not None else None, target=inputs,
                    offset=offset.ctypes.data if offset is not None else None,
                    offset_name=as_bytes(offset_name, "column name") if offset_name else None,
                    offset_place=inputs)
        for field in ("weight", "noise_std"):
            if others.get(field) is not None:
                setattr(data, field, others[field].ctypes.data)
        for field in ("weight_name", "noise_name"):
            if others.get(field):
                setattr(data, field, as_bytes(others[field], "column name"))
        data.weight_place = data.noise_place = inputs
        if y.ndim == 2:
            _add_targets(data, y, names, inputs)
        if levels is not None:
            data.levels, data.level = _encode_levels(levels)
        if dates is not None:
            data.date = (c_char_p * inputs)(*(form and form.encode() for form in dates))
        with Watch(options, verbose, "fit"):
            status = lib.quorum_fit_data(byref(data), options.handle, byref(model._handle))
        check(status, stacklevel=4)
        warn_of_constants(model.constant_names(),
                          "constant in the training data, and so without effect on predictions: {}",
                          stacklevel=4)
        model._warn_of_graph(False, stacklevel=5)
        return model

    @classmethod
    def load(cls, path, options=None, verbose=0):
        """From a model file; of the options, `memory` is what it may take."""
        model, options = cls(), options or Options()
        with Watch(options, verbose, "load"):
            status = lib.quorum_load_with(path_as_bytes(path), options.handle,
                                          byref(model._handle))
        check(status)
        return model

    def save(self, path):
        """Into a model file; the old file or the new one is there, never half of one."""
        check(lib.quorum_save(self._handle, path_as_bytes(path)))

    @classmethod
    def from_bytes(cls, content):
        """From the content of a model file."""
        with tempfile.NamedTemporaryFile(suffix=".npz") as file:
            file.write(content)
            file.flush()
            return cls.load(file.name)

    def to_bytes(self):
        """The content of a model file."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.npz")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    def __reduce__(self):
        return Model.from_bytes, (self.to_bytes(),)

    def update(self, rows, window, options, verbose=0):
        """Adds rows, for each target a dictionary of X, y, offset, weight and noise_std (None: none), and
        keeps the last `window` (0: all); a report of each target as a dictionary."""
        count = len(rows)
        given = (NewRows * count)(*(
            NewRows(rows=len(one["y"]), **{name: array.ctypes.data for name, array in one.items()
                                           if array is not None}) for one in rows))
        reports = (UpdateReport * count)()
        with Watch(options, verbose, "update"):
            status = lib.quorum_update(self._handle, given, byref(Forgetting(window=window)),
                                       options.handle, reports)
        check(status)
        self._graph = None
        return [_report(r) for r in reports]

    # ---- using it ----

    def _info(self):
        info = Info()
        check(lib.quorum_inspect(self._handle, byref(info)))
        return info

    def _has_graph(self):
        return bool(self._info().ranking)

    def _warn_of_graph(self, known, stacklevel):
        """Warn of a graph that was learned just now, unless it was `known`, and went wrong."""
        info = self._info()
        if not known and info.graph_trouble:
            warn_of_graph(info.graph_trouble.decode("utf-8", "replace"), bool(info.precision),
                          stacklevel)

    def graph(self, options, verbose=0):
        """The expert graph, learned now if it is not there, as a dictionary of copies."""
        if self._graph is not None:
            return self._graph
        known = self._has_graph()
        with Watch(options, verbose, "graph"):
            status = lib.quorum_learn_graph(self._handle, None, 0, options.handle)
        if status < 0 and not self._has_graph():
            check(status)
        self._warn_of_graph(known, stacklevel=6)
        info = self._info()
        M = info.experts
        self._graph = {
            "precision": _copied(info.precision, M, M) if info.precision else None,
            "importance": _copied(info.importance, M),
            "ranking": _copied(info.ranking, M).astype(np.intp),
            "alpha": getattr(info, "lambda"),
        }
        return self._graph

    def inspect(self):
        """What the model is made of but for its graph, as a dictionary of copies."""
        info = self._info()
        D, M = info.inputs, info.experts
        constant = _copied(info.constant, D).astype(bool)
        rows = _copied(info.row, info.rows).astype(np.intp)
        offset = _copied(info.offset, M + 1).astype(np.intp)
        return {
            "rows": info.rows,
            "inputs": D,
            "columns": info.columns,
            "names": [info.names[i].decode() for i in range(D + 1)],
            "named": bool(info.named),
            "kernel": info.kernel.decode(),
            "rotation": _copied(info.rotation, D, D) if info.rotation else None,
            "lengthscale": np.where(constant, np.inf, _copied(info.lengthscale, D)),
            "input_lengthscale": np.where(constant, np.inf, _copied(info.input_lengthscale, D)),
            "neighbours": info.neighbours or None,
            "chosen_method": info.chosen_method.decode() if info.chosen_method else None,
            "constant": constant,
            "signal_variance": info.signal_variance,
            "noise_variance": info.noise_variance,
            "long_share": info.long_share,
            "long_reach": info.long_reach,
            "bend_at": _copied(info.bend_at, D) if info.bend_at else None,
            "bend_width": _copied(info.bend_width, D) if info.bend_width else None,
            "x_mean": _copied(info.x_mean, D),
            "x_scale": _copied(info.x_scale, D),
            "y_mean": info.y_mean,
            "y_scale": info.y_scale,
            "target_mean": info.target_mean,
            "target_scale": info.target_scale,
            "warp": info.warp.decode(),
            "warp_shift": info.warp_shift,
            "trend": info.trend.decode(),
            "slope": _copied(info.slope, D) if info.slope else None,
            "slope_std": _copied(info.slope_std, D) if info.slope else None,
            "offset_name": (info.offset_name or b"").decode() or None,
            "weights_name": (info.weights_name or b"").decode() or None,
            "noise_name": (info.noise_name or b"").decode() or None,
            "levels": self._levels(info),
            "positions": [_copied(info.position[d], info.levels[d]) if info.levels[d] else None
                          for d in range(D)] if info.levels else None,
            "nlml": info.nlml,
            "experts": np.split(rows, offset[1:-1]),
            "options": json.loads(info.options.decode()),
            "calibration_for": (info.calibration_for or b"").decode() or None,
            **self._history(info),
        }

    @staticmethod
    def _history(info):
        """How the model came about, as `quorum inspect` tells it."""
        D = info.inputs
        parts = [*(info.names[d].decode() if not info.rotation else f"direction {d + 1}" for d in range(D)),
                 "signal_variance", "noise_variance", "long_share", "long_reach"]
        return {
            "partition": info.partition.decode(),
            "seed": info.seed,
            "train": info.train.decode(),
            "train_rows": info.train_rows,
            "evaluations": info.evaluations,
            "at_bound": [part for part, is_at in zip(parts, info.at_bound[:D + 4]) if is_at],
            "kernel_scores": {info.kernel_names[k].decode(): info.kernel_scores[k]
                              for k in range(info.kernels)} or None,
            "spread": None if np.isinf(info.spread) else info.spread,
            "local_noise": bool(info.local_noise),
            "calibration_rows": info.calibration_rows,
            "calibration_scale": info.calibration_scale,
            "seconds": {name: getattr(info, "seconds_" + name)
                        for name in ("partition", "train", "graph", "calibrate", "total")},
        }

    @staticmethod
    def _levels(info):
        """For each input the names of its levels, or None; None where all are numbers."""
        if not info.levels:
            return None
        return [[info.level[d][k].decode() for k in range(info.levels[d])] if info.levels[d] else None
                for d in range(info.inputs)]

    def columns(self):
        """How many columns of a table the inputs are made of, the form of each one's dates (None of
        others), or None where none has dates."""
        info = self._info()
        C = info.columns
        return C, [(info.date[d] or b"").decode() or None for d in range(C)] if info.date else None

    def inputs_of(self, table):
        """The model's inputs of a table's columns."""
        X = np.empty((table.shape[0], self._info().inputs))
        check(lib.quorum_make_inputs(self._handle, table.ctypes.data, table.shape[0], X.ctypes.data))
        return X

    def target_name(self):
        info = self._info()
        return info.names[info.inputs].decode()

    def constant_names(self):
        """Inputs that do not vary in the training data."""
        info = self._info()
        return [info.names[d].decode() for d in range(info.inputs) if info.constant[d]
                and not (info.place and d in (info.longitude, info.latitude))]

    def predict(self, X, options, wanted, verbose=0, offset=None, probabilities=None,
                noise_std=None):
        """The wanted of "mean", "std", "lower", "upper", "mean_gradient", "std_gradient", "novelty"
        and "distance" at X, a list of arrays, and behind them the quantiles of these probabilities,
        a column each; `offset` is that of X, where the model has one, `noise_std` what is known of the
        queries' own errors, or None."""
        out = [np.empty(X.shape if name.endswith("gradient") else X.shape[0]) for name in wanted]
        places = Prediction(**{name: array.ctypes.data for name, array in zip(wanted, out)})
        if probabilities is not None:
            out.append(np.empty((X.shape[0], len(probabilities))))
            places.probability, places.probabilities = probabilities.ctypes.data, len(probabilities)
            places.quantile = out[-1].ctypes.data
        if offset is not None:
            places.offset = offset.ctypes.data
        if noise_std is not None:
            places.noise_std = noise_std.ctypes.data
        report, known = Report(), self._has_graph()
        with Watch(options, verbose, "predict"):
            status = lib.quorum_predict(self._handle, X.ctypes.data, X.shape[0], options.handle,
                                        byref(places), byref(report))
        check(status)
        self._look(report)
        self._warn_of_graph(known, stacklevel=5)
        return out

    def _look(self, report):
        """Warn of constant inputs that differ, and where a calibration was to no avail."""
        if report.off_constants:
            warn_of_constants(self.constant_names(),
                              f"{report.off_constants} queries have another value of a constant "
                              "input ({}) than the training data: it has no effect, since nothing "
                              "could be learned about it", stacklevel=5)
        if report.unseen:
            warn_of_levels(report.unseen, stacklevel=5)
        if report.filled_anew:
            warn_of_holes(report.filled_anew, stacklevel=5)
        if report.calibration_unused:
            warn_uncalibrated(self._info().calibration_for.decode(), stacklevel=5)

    def predict_joint(self, X, options, verbose=0):
        """NPAE's mean and covariance between the rows of X."""
        n = X.shape[0]
        mean, covariance = np.empty(n), np.empty((n, n))
        known = self._has_graph()
        with Watch(options, verbose, "predict"):
            status = lib.quorum_predict_joint(self._handle, X.ctypes.data, n, options.handle,
                                              mean.ctypes.data, covariance.ctypes.data)
        check(status)
        report = Report()  # of no rows: what goes for these options
        check(lib.quorum_predict(self._handle, None, 0, options.handle, byref(Prediction()),
                                 byref(report)))
        self._look(report)
        self._warn_of_graph(known, stacklevel=5)
        return mean, covariance

    def quantile_factor(self, options, probability):
        """Where this quantile is, from the mean on, in units of the predicted std."""
        return lib.quorum_quantile_factor(self._handle, options.handle, probability)

    def distribution(self, options):
        """The points of the distribution of (y - mean) / std."""
        points = DistributionPoints()
        check(lib.quorum_distribution_of(self._handle, options.handle, byref(points)))
        return points

    def decide(self, what, mean, std, threshold, options):
        """"probability_above", "probability_below", "improvement_above" or "improvement_below" of
        predictions with these options."""
        out = np.empty(len(mean))
        check(getattr(lib, "quorum_" + what)(self._handle, options.handle, len(mean),
                                             mean.ctypes.data, std.ctypes.data, threshold,
                                             out.ctypes.data))
        return out

    def _look_at(self, options, known):
        """The warnings of a prediction with these options, of which there was none."""
        report = Report()
        check(lib.quorum_predict(self._handle, None, 0, options.handle, byref(Prediction()),
                                 byref(report)))
        self._look(report)
        self._warn_of_graph(known, stacklevel=6)

    def sample(self, X, options, count, verbose=0):
        """Joint draws at X, rows x count."""
        out, known = np.empty((X.shape[0], count)), self._has_graph()
        with Watch(options, verbose, "sample"):
            status = lib.quorum_sample(self._handle, X.ctypes.data, X.shape[0], options.handle, count,
                                       out.ctypes.data)
        check(status)
        self._look_at(options, known)
        return out

    def suggest(self, X, over, options, count, verbose=0):
        """Numbers of `count` rows of X, and what each takes off the mean variance at `over`."""
        row, reduction = np.empty(count, dtype=np.uintp), np.empty(count)
        known = self._has_graph()
        with Watch(options, verbose, "suggest"):
            status = lib.quorum_suggest(
                self._handle, X.ctypes.data, X.shape[0], None if over is None else over.ctypes.data,
                0 if over is None else over.shape[0], options.handle, count, row.ctypes.data,
                reduction.ctypes.data, None)
        check(status)
        self._look_at(options, known)
        return row.astype(np.intp), reduction

    def importance(self, rows, most, options, verbose=0):
        """What predictions at the rows, a dictionary of X, y, offset, weight and noise_std, depend on:
        one InputImportance for each input, and the summary."""
        found, about = (InputImportance * self._info().columns)(), ImportanceSummary()
        with Watch(options, verbose, "importance"):
            status = lib.quorum_importance(self._handle, byref(_rows(**rows)), most, options.handle,
                                           found, byref(about))
        check(status)
        return list(found)[:about.inputs], about

    def effect(self, rows, most, columns, values, curves, options, verbose=0):
        """Arrays mean, lower, upper and support, one entry a point of the grid of these columns and
        values (the first varies fastest), curves (curves x points), and how many rows were used."""
        grid = EffectGrid(axes=len(columns))
        for k, (column, array) in enumerate(zip(columns, values)):
            grid.column[k], grid.count[k], grid.value[k] = column, len(array), array.ctypes.data
        points = int(np.prod([len(array) for array in values]))
        out = {name: np.empty(points) for name in ("mean", "lower", "upper", "support")}
        out["curves"] = np.empty((curves, points))
        places = EffectCurves(**{name: array.ctypes.data for name, array in out.items()},
                              wanted=curves)
        used = c_size_t()
        with Watch(options, verbose, "effect"):
            status = lib.quorum_effect(self._handle, byref(_rows(**rows)), most, byref(grid),
                                       options.handle, byref(places), byref(used))
        check(status)
        return out, used.value
