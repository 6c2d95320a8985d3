"""Data frames with dates: the same bits as the command, periods, and what else frames bring."""
import datetime as dt
import os
import pickle
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest

from quorum import QuorumRegressor

PARAMETERS = {"n_experts": 2, "kernel": "se", "max_evaluations": 6, "periodic": "when:day,when:week"}


def frame(n, seed=0):
    rng = np.random.default_rng(seed)
    when = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 86400 * 60, n), unit="s")
    X = pd.DataFrame({"when": when, "x": rng.uniform(-2, 2, n)})
    y = pd.Series(np.sin(X["x"]) + np.cos(2 * np.pi * X["when"].dt.hour / 24) + 0.1 * rng.normal(size=n), name="y")
    return X, y


@pytest.fixture(scope="module", name="model")
def fixture_model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return QuorumRegressor(**PARAMETERS).fit(*frame(300))


def test_attributes(model):
    assert model.n_features_in_ == 2 and list(model.feature_names_in_) == ["when", "x"]
    assert model.input_names_ == ["when", "x", "when (day, sin)", "when (day, cos)", "when (week, sin)", "when (week, cos)"]
    assert model.lengthscale_.shape == (6,) and model.x_mean_[0] == pytest.approx(frame(300)[0]["when"].astype("int64").mean() / 1e9)


def test_same_as_the_command(model, tmp_path):
    quorum_command = os.environ["QUORUM"]
    X, y = frame(300)
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    Q = frame(40, 1)[0]
    Q.to_csv(tmp_path / "q.csv", index=False)
    subprocess.run([quorum_command, "fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--experts", "2", "--kernel", "se",
                    "--max-evaluations", "6", "--periodic", "when:day,when:week", "-q"], check=True, capture_output=True)
    out = subprocess.run([quorum_command, "predict", tmp_path / "m.npz", tmp_path / "q.csv", "-q"], check=True,
                         capture_output=True, text=True).stdout.splitlines()
    theirs = np.loadtxt(out[1:], delimiter=",")
    mean, std = model.predict(Q, return_std=True)
    assert np.array_equal(mean, theirs[:, 0]) and np.array_equal(std, theirs[:, 1])
    loaded = QuorumRegressor.load(tmp_path / "m.npz")
    assert np.array_equal(loaded.predict(Q), mean) and list(loaded.feature_names_in_) == ["when", "x"]
    model._model.save(tmp_path / "p.npz")
    again = subprocess.run([quorum_command, "predict", tmp_path / "p.npz", tmp_path / "q.csv", "-q"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    assert again == out


def test_seconds_zones_and_pickles(model):
    Q = frame(20, 2)[0]
    mean = model.predict(Q)
    seconds = Q.assign(when=Q["when"].astype("datetime64[ns]").astype("int64") / 1e9)
    assert np.array_equal(model.predict(seconds), mean)
    berlin = Q.assign(when=Q["when"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"))
    assert np.array_equal(model.predict(berlin), mean)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(Q), mean)
    assert model.predict(Q, return_gradient=True)[1].shape == (20, 6)
    assert model.sample_y(Q, 3).shape == (20, 3)


def test_other_kinds_of_dates(model):
    """Python's own, as a database returns them, and periods; spans of time are seconds."""
    Q = frame(20, 2)[0]
    mean = model.predict(Q)
    when = pd.Series([t.to_pydatetime() for t in Q["when"]], dtype=object)
    assert np.array_equal(model.predict(Q.assign(when=when)), mean)
    aware = pd.Series([t.tz_localize("UTC").tz_convert("Asia/Tokyo").to_pydatetime() for t in Q["when"]], dtype=object)
    assert np.array_equal(model.predict(Q.assign(when=aware)), mean)
    assert np.array_equal(model.predict(Q.assign(when=Q["when"].dt.to_period("s"))), mean)
    days = Q.assign(when=Q["when"].dt.normalize())
    assert np.array_equal(model.predict(Q.assign(when=Q["when"].dt.date)), model.predict(days))
    X, y = frame(80)
    whole = {"x": (100 * X["x"]).round()}
    spans = {"x": pd.to_timedelta(whole["x"], unit="s")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a, b = (QuorumRegressor(**PARAMETERS).fit(T, y) for T in (X.assign(**spans), X.assign(**whole)))
    assert np.array_equal(a.predict(X.assign(**spans)), b.predict(X.assign(**whole)))


def test_what_is_refused(model):
    Q = frame(5, 3)[0]
    with pytest.raises(ValueError, match="has dates"):
        model.predict(Q.assign(x=Q["when"]))
    with pytest.raises(ValueError, match="NaN"):
        model.predict(Q.assign(when=Q["when"].where(Q.index > 0)))
    with pytest.raises(ValueError, match="column when: these dates cannot be put together"):
        model.predict(Q.assign(when=pd.Series([dt.date(9999, 12, 31)] * 5, dtype=object)))
    with pytest.raises(ValueError, match="no input column"):
        QuorumRegressor(**{**PARAMETERS, "periodic": "nix:week"}).fit(*frame(50))
