"""The distribution of (y - mean) / std, as calibration found it."""
from ctypes import byref

import numpy as np

from ._library import DistributionPoints, lib


class Distribution:
    """How observations are distributed about a prediction, in units of its std.

    ``y = mean + std * Z`` with ``Z = g(U)``, U standard normal, g straight between the points
    (`u`, `z`) and beyond them as between the last two.  Without points it is the standard normal.
    Made by ``QuorumRegressor.distribution()``.

    Attributes
    ----------
    u, z : ndarray
        The points, ascending.
    """

    def __init__(self, points=None):
        self._points = points or DistributionPoints()

    @property
    def u(self):
        return np.array(self._points.u[:self._points.points])

    @property
    def z(self):
        return np.array(self._points.z[:self._points.points])

    def _each(self, function, values):
        values = np.asarray(values, dtype=np.float64)
        found = [function(byref(self._points), value) for value in values.ravel()]
        return np.array(found, dtype=np.float64).reshape(values.shape)[()]

    def quantile(self, probability):
        """z that Z is below with this probability, in (0, 1)."""
        return self._each(lib.quorum_distribution_quantile, probability)

    def probability(self, z):
        """That Z is at most z."""
        return self._each(lib.quorum_distribution_probability, z)

    def log_density(self, z):
        """At z; of y it is less by log(std)."""
        return self._each(lib.quorum_distribution_log_density, z)

    def crps(self, z):
        """Continuous ranked probability score of an observation z; of y it is std times this."""
        return self._each(lib.quorum_distribution_crps, z)
