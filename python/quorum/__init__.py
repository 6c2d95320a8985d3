"""Gaussian-process regression for data too big for one GP."""
from ._library import lib as _lib
from .exceptions import (ArgumentError, BoundWarning, CalibrationWarning, CancelledError,
                         ConstantWarning, DataError, DriftWarning, FileError, FormatError, GraphWarning,
                         InternalError, LevelWarning, MissingWarning, NoSignalWarning, NumericError, OutOfMemoryError,
                         QuorumError, QuorumWarning)
from .distribution import Distribution
from .explain import Effect, Importance
from .functions import aggregate, demo_data, demo_function, graphical_lasso, metrics
from .plots import (plot_calibration, plot_effect, plot_fit, plot_graph, plot_importance, plot_map,
                    plot_predicted, plot_residuals)
from .plots_of_rows import plot_errors, plot_novelty, plot_rows, plot_width
from .regressor import QuorumRegressor

__version__ = _lib.quorum_version().decode()

__all__ = ["ArgumentError", "BoundWarning", "CalibrationWarning", "CancelledError", "ConstantWarning",
           "DataError", "Distribution", "DriftWarning", "Effect", "FileError", "FormatError", "GraphWarning", "Importance", "InternalError", "LevelWarning", "MissingWarning",
           "NoSignalWarning",
           "NumericError", "OutOfMemoryError", "QuorumError", "QuorumRegressor", "QuorumWarning",
           "aggregate", "demo_data",
           "demo_function", "graphical_lasso", "metrics", "plot_calibration", "plot_effect",
           "plot_errors", "plot_fit", "plot_graph", "plot_importance", "plot_map", "plot_novelty", "plot_predicted",
           "plot_residuals", "plot_rows", "plot_width"]
