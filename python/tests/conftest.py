"""Small data and models that the tests share.

QUORUM is the command, QUORUM_LIBRARY the library under test (both set by ctest).
"""
import os
import subprocess

import matplotlib
import numpy as np
import pytest

from quorum import QuorumRegressor

matplotlib.use("Agg")


def make_data(n, seed=0, inputs=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, inputs))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n)


def small(**parameters):
    """A regressor that fits in a moment."""
    return QuorumRegressor(**{"n_experts": 4, "kernel": "se", "metric": "ard",
                              "max_evaluations": 30, **parameters})


@pytest.fixture(scope="session")
def data():
    return make_data(400)


@pytest.fixture(scope="session")
def queries():
    return make_data(150, seed=1)[0]


@pytest.fixture(scope="session")
def fitted(data):
    return small().fit(*data)


@pytest.fixture(scope="session")
def command():
    def run(*arguments):
        return subprocess.run([os.environ["QUORUM"], *map(str, arguments)], check=True,
                              capture_output=True, text=True).stdout
    return run
