"""What QuorumRegressor.importance and partial_dependence return."""
import typing

import numpy as np


class Importance(typing.NamedTuple):
    """How much each input matters, an entry an input (see docs/importance.md).

    A longitude and a latitude that the model takes as a place are one input, "lon, lat".
    Intervals have the shape (n_inputs, 2): the central 95 % when rows are drawn again.
    """
    names: list
    squared_error: np.ndarray           #: what permuting the input adds to the mean squared error
    squared_error_interval: np.ndarray
    nlpd: np.ndarray                    #: ... and to the mean of minus the log density
    nlpd_interval: np.ndarray
    first: np.ndarray                   #: Var(E[f | x_j]) / Var f
    first_interval: np.ndarray
    total: np.ndarray                   #: E[Var(f | all but x_j)] / Var f
    total_interval: np.ndarray
    lengthscale: np.ndarray             #: how far the function bends, not how much the input matters
    variance: float                     #: Var f
    n_rows: int                         #: rows that were changed and predicted again


class Effect(typing.NamedTuple):
    """Partial dependence on one or two inputs (see docs/importance.md).

    Arrays have the shape (n_values,), or of two inputs (n_values of the first, n_values of the second).
    """
    names: list                #: of the inputs
    values: list               #: of each input: numbers, dates, or levels
    mean: np.ndarray           #: mean prediction over the rows
    lower: np.ndarray          #: mean ends of the rows' intervals for the function
    upper: np.ndarray
    support: np.ndarray        #: 0 to 1: share of rows that have such values near them
    curves: np.ndarray         #: (n_curves, ...): predictions of single rows
    n_rows: int                #: that were averaged over


KINDS = ("squared_error", "nlpd", "first", "total")


def make_importance(names, found, about):
    """From the library's structures; names are those of the columns."""
    labels = [names[one.column] if one.column == one.also
              else f"{names[one.column]}, {names[one.also]}" for one in found]
    arrays = {}
    for kind in KINDS:
        parts = [getattr(one, kind) for one in found]
        arrays[kind] = np.array([part.value for part in parts])
        arrays[kind + "_interval"] = np.array([[part.low, part.high] for part in parts])
    return Importance(names=labels, lengthscale=np.array([one.lengthscale for one in found]),
                      variance=about.variance, n_rows=about.rows, **arrays)


def make_effect(names, values, found, used):
    """From the library's arrays, whose first axis varies fastest."""
    shape = [len(array) for array in values]
    shaped = {name: array.reshape(shape[::-1]).T if array.ndim == 1
              else np.moveaxis(array.reshape([len(array), *shape[::-1]]), 1, -1)
              for name, array in found.items()}
    return Effect(names=names, values=values, n_rows=used, **shaped)
