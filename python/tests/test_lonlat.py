"""Longitude and latitude in data frames and arrays."""
import os
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest

from quorum import QuorumRegressor

PARAMETERS = {"n_experts": 1, "kernel": "se", "max_evaluations": 6}


def frame(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"lon": rng.uniform(-180, 180, n), "lat": rng.uniform(-80, 80, n)})
    return X, (np.cos(np.radians(X["lon"])) + 0.1 * rng.normal(size=n)).rename("y")


def fit(X, y, lonlat):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # lon and lat are not constant
        return QuorumRegressor(lonlat=lonlat, **PARAMETERS).fit(X, y)


def test_same_as_the_command(tmp_path):
    X, y = frame(250, 1)
    Q = frame(30, 2)[0]
    model = fit(X, y, "lon,lat")
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    Q.to_csv(tmp_path / "q.csv", index=False)
    command = os.environ["QUORUM"]
    subprocess.run([command, "fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--experts", "1", "--kernel", "se", "--max-evaluations", "6",
                    "--lonlat", "lon,lat", "-q"], check=True, capture_output=True)
    lines = subprocess.run([command, "predict", tmp_path / "m.npz", tmp_path / "q.csv", "-q"], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    assert np.array_equal(np.column_stack(model.predict(Q, return_std=True)), np.loadtxt(lines[1:], delimiter=",")[:, :2])
    assert model.n_features_in_ == 2 and model.input_names_ == ["lon", "lat", "lon lat (x)", "lon lat (y)", "lon lat (z)"]
    assert np.array_equal(QuorumRegressor.load(tmp_path / "m.npz").predict(Q), model.predict(Q))


def test_arrays_by_number_and_borders():
    X, y = frame(250, 3)
    model = fit(X.to_numpy(), y.to_numpy(), "1,2")
    mean = model.predict(np.array([[180.0, 5], [-180, 5], [20, 90], [70, 90]]))
    assert mean[0] == pytest.approx(mean[1]) and mean[2] == pytest.approx(mean[3])
    with pytest.raises(ValueError, match="query 2: x2 is 91, and latitudes"):
        model.predict(np.array([[0.0, 5], [0, 91]]))
