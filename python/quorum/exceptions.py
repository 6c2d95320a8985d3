"""Errors and warnings, each with the library's sentence: what, where, and what to do."""
import warnings

from ._library import lib


class QuorumError(Exception):
    """What the library refused or could not do; the base of all errors here."""


class ArgumentError(QuorumError, ValueError):
    """The call itself is wrong: a parameter, a size."""


class OutOfMemoryError(QuorumError, MemoryError):
    """Out of memory, or the work does not fit the `memory` parameter."""


class FileError(QuorumError, OSError):
    """A file cannot be opened, read or written."""


class FormatError(QuorumError, ValueError):
    """A file is not what it should be, or is damaged."""


class DataError(QuorumError, ValueError):
    """The data cannot be used, such as a constant target."""


class NumericError(QuorumError, ArithmeticError):
    """The computation broke down."""


class CancelledError(QuorumError):
    """The work was asked to stop."""


class InternalError(QuorumError, RuntimeError):
    """A defect in quorum: please report it."""


class QuorumWarning(UserWarning):
    """A numerical event with a usable result; the base of all warnings here."""


class BoundWarning(QuorumWarning):
    """Fit: some hyperparameters ended on a bound; the sentence names them."""


class NoSignalWarning(QuorumWarning):
    """Fit: what was found is hardly more likely than noise."""


class ConstantWarning(QuorumWarning):
    """An input is constant in the training data and has no effect, or a query has another value
    of it; the sentence names it."""


class MissingWarning(QuorumWarning):
    """Queries have missing cells where the training data have none."""


class LevelWarning(QuorumWarning):
    """Fit: a column of text has nearly as many texts as rows, and is left out.  Predict: queries have
    levels of a category that were not in the training data."""


class CalibrationWarning(QuorumWarning):
    """Predict: the model's calibration is for another prediction than this one."""


class DriftWarning(QuorumWarning):
    """partial_fit: the new rows are predicted worse than left-out rows were, by more than chance."""


class GraphWarning(QuorumWarning):
    """The expert graph could not be learned, or only approximately."""


# by quorum_status
_ERRORS = {-1: ArgumentError, -2: OutOfMemoryError, -3: FileError, -4: FormatError,
           -5: DataError, -6: NumericError, -7: CancelledError, -8: InternalError}
_WARNINGS = {1: BoundWarning, 2: NoSignalWarning}


def check(status, stacklevel=3):
    """Raise the error of a negative status, warn of a positive one."""
    if status == 0:
        return
    sentence = lib.quorum_message().decode("utf-8", "replace")
    if status < 0:
        raise _ERRORS.get(status, QuorumError)(sentence)
    warnings.warn(sentence, _WARNINGS.get(status, QuorumWarning), stacklevel=stacklevel)


def warn_of_constants(names, sentence, stacklevel=3):
    """Warn with the sentence, its {} being the first of these names, if there are any."""
    if names:
        some = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        warnings.warn(sentence.format(some), ConstantWarning, stacklevel=stacklevel)


def warn_of_levels(count, stacklevel):
    """Warn of so many queries with levels that are new."""
    warnings.warn(f"{count} queries have a level that was not in the training data: they are predicted "
                  "as one more of its kind, with the variance that this leaves; unseen=\"error\" "
                  "refuses them", LevelWarning, stacklevel=stacklevel)


def warn_of_holes(count, stacklevel):
    """Warn of so many queries with holes where the training data have none."""
    warnings.warn(f"{count} queries have missing cells in a column that has all its cells in the training "
                  "data: they are filled, but what is usual where it is missing is not known",
                  MissingWarning, stacklevel=stacklevel)


def warn_uncalibrated(purpose, stacklevel):
    """Warn that the calibration is for `purpose`, the library's words for a prediction."""
    warnings.warn("the prediction is not calibrated: this model's calibration is for new "
                  f"observations by {purpose}; fit with calibrate=True and the parameters of the "
                  "prediction, or leave it out by calibration=\"off\"", CalibrationWarning,
                  stacklevel=stacklevel)


def warn_of_graph(trouble, there, stacklevel):
    """Warn that the expert graph is rough or, unless `there`, missing, and why."""
    what = "the expert graph is only approximate" if there else \
        "the model has no expert graph, which '*' methods and select=\"graph:A\" need"
    warnings.warn(f"{what}: {trouble}", GraphWarning, stacklevel=stacklevel)
