"""Missing cells: refused, or filled as the command does it."""
import os
import pickle
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest

from quorum import MissingWarning, QuorumRegressor

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))
PARAMETERS = {"n_experts": 1, "kernel": "se", "max_evaluations": 5, "calibrate": False}


def frame(n, seed=0, holes=True):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "town": rng.choice(["Graz", "Aix", "Hull"], n), "b": rng.normal(size=n),
                      "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 100, n), "D")})
    y = pd.Series(np.sin(X["a"]) + (X["town"] == "Graz") + 0.1 * rng.normal(size=n), name="y")
    if holes:
        X.loc[::5, "a"] = np.nan
        X.loc[::7, "town"] = None
        X.loc[::9, "day"] = pd.NaT
    return X, y


def fitted(X, y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return QuorumRegressor(**{**PARAMETERS, **parameters}).fit(X, y)


def test_refused_unless_asked_for():
    X, y = frame(100)
    with pytest.raises(ValueError, match='NaN, in column a, town, day: fit with missing="impute"'):
        QuorumRegressor(**PARAMETERS).fit(X, y)
    with pytest.raises(ValueError, match="NaN, in column 0: "):
        QuorumRegressor(**PARAMETERS).fit(X[["a"]].to_numpy(), y)
    model = fitted(*frame(100, holes=False))
    with pytest.raises(ValueError, match="NaN"):
        model.predict(X)


def test_same_as_the_command(tmp_path):
    X, y = frame(120)
    model = fitted(X, y, missing="impute")
    assert "(missing)" in model.categories_["town"]
    assert model.input_names_[4:] == ["a (missing)", "day (missing)"]
    pd.concat([X, y], axis=1).to_csv(tmp_path / "t.csv", index=False)
    Q = frame(40, 1)[0]
    Q.to_csv(tmp_path / "q.csv", index=False)
    words = ["--experts", "1", "--kernel", "se", "--max-evaluations", "5", "--calibrate", "false", "-q"]
    subprocess.run([QUORUM, "fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--missing", "impute", *words], check=True)
    done = subprocess.run([QUORUM, "predict", tmp_path / "m.npz", tmp_path / "q.csv", "--missing", "impute", "-q"],
                          check=True, capture_output=True, text=True)
    theirs = np.array([[float(c) for c in line.split(",")[:2]] for line in done.stdout.splitlines()[1:]])
    mean, std = model.predict(Q, return_std=True)
    np.testing.assert_array_equal(theirs, np.column_stack([mean, std]))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(Q, return_std=True), (mean, std))


def test_wider_where_a_cell_is_missing():
    X, y = frame(200)
    model = fitted(X, y, missing="impute")
    Q = frame(30, 2, holes=False)[0]
    whole = model.predict(Q, return_std=True)[1]
    for name in ("a", "town"):
        without = Q.copy()
        without[name] = None if name == "town" else np.nan
        assert np.all(model.predict(without, return_std=True)[1] > whole)
    with pytest.warns(MissingWarning, match="30 queries"):
        model.predict(Q.assign(b=np.nan))


def test_arrays_and_tags():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 2))
    y = X.sum(1) + 0.1 * rng.normal(size=90)
    X[::4, 1] = np.nan
    model = fitted(X, y, missing="impute")
    assert np.isfinite(model.predict(X)).all()
    assert model._more_tags()["allow_nan"] and not QuorumRegressor()._more_tags()["allow_nan"]
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.array([[np.inf, 0.0]]))
