"""Data frames with text: the same bits as the command, new levels, and what else frames bring."""
import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from quorum import QuorumRegressor

PARAMETERS = {"n_experts": 2, "kernel": "se", "max_evaluations": 8}


def frame(n, seed=0):
    rng = np.random.default_rng(seed)
    town = np.array(["Graz", "Évora", "Aix", "Hull"])[rng.integers(4, size=n)]
    X = pd.DataFrame({"town": town, "x": rng.uniform(-2, 2, n), "grade": rng.choice(["low", "high"], n)})
    X["grade"] = X["grade"].astype("category")
    y = pd.Series(np.sin(X["x"]) + (X["town"] == "Graz") + 0.1 * rng.normal(size=n), name="y")
    return X, y


@pytest.fixture(scope="module", name="model")
def fixture_model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return QuorumRegressor(**PARAMETERS).fit(*frame(300))


def test_same_as_positions(model):
    X, y = frame(300)
    assert list(model.categories_["town"]) == ["Aix", "Graz", "Hull", "Évora"]
    coded = X.copy()
    for name, positions in model.categories_.items():
        coded[name] = X[name].map(positions).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = QuorumRegressor(**PARAMETERS).fit(coded, y)
    Q = frame(50, 1)[0]
    wanted = Q.copy()
    for name, positions in model.categories_.items():
        wanted[name] = Q[name].map(positions).astype(float)
    model, other = (copy.copy(m).set_params(calibration="off") for m in (model, other))  # whose fits to fifths have others
    for a, b in zip(model.predict(Q, return_std=True), other.predict(wanted, return_std=True)):
        assert np.array_equal(a, b)


def test_numbers_of_levels(model):
    Q = frame(20, 2)[0]
    codes = Q.copy()
    for name, positions in model.categories_.items():
        codes[name] = Q[name].map({level: k for k, level in enumerate(positions)}).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.array_equal(model.predict(codes.to_numpy()), model.predict(Q))


def test_new_levels_warn_and_are_less_sure(model):
    Q = frame(5, 3)[0]
    known = model.predict(Q, return_std=True)[1]
    Q["town"] = "Nowhere"
    with pytest.warns(UserWarning, match="5 queries have a level"):
        new = model.predict(Q, return_std=True)[1]
    assert (new > known).all()
    strict = pickle.loads(pickle.dumps(model)).set_params(unseen="error")
    with pytest.raises(ValueError, match="town"):
        strict.predict(Q)


def test_missing_and_wrong_kinds(model):
    X, y = frame(40)
    X.loc[3, "town"] = None
    with pytest.raises(ValueError, match="NaN"):
        QuorumRegressor(**PARAMETERS).fit(X, y)
    Q = frame(4)[0]
    Q["x"] = "wide"
    with pytest.raises(ValueError, match="x is text"):
        model.predict(Q)


def test_saved_and_loaded(model, tmp_path):
    Q = frame(10, 4)[0]
    model.save(tmp_path / "m.npz")
    loaded = QuorumRegressor.load(tmp_path / "m.npz")
    assert loaded.categories_ == model.categories_
    assert np.array_equal(loaded.predict(Q), model.predict(Q))
