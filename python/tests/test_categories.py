"""Data frames with text: the same bits as the command, new levels, and what else frames bring."""
import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from quorum import LevelWarning, QuorumRegressor
from quorum._categories import number_levels

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


def test_names_come_before_what_is_in_the_columns(model):
    Q = frame(4)[0]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(Q[["x", "town", "grade"]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(Q[["town", "x"]])


def test_identifiers_are_left_out(tmp_path):
    def given(T, theta):
        return QuorumRegressor(kernel="se", theta=theta, n_experts=1, calibrate=False, spread="none").fit(T, y)

    X, y = frame(300)
    with pytest.warns(LevelWarning, match="nearly every row has a text of its own there: id$"):
        model = given(X.assign(id=[f"row {i}" for i in range(300)]), "1,1,1,1,1,0.1")
    assert list(model.categories_) == ["town", "grade"]
    Q = frame(20, 5)[0]
    model.save(tmp_path / "m.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no row is said to have a new level
        wanted = given(X, "1,1,1,1,0.1").predict(Q)
        for one in (model, pickle.loads(pickle.dumps(model)), QuorumRegressor.load(tmp_path / "m.npz")):
            np.testing.assert_allclose(one.predict(Q.assign(id="new")), wanted, rtol=1e-12, atol=1e-12)
    with pytest.warns(LevelWarning, match="id$"):  # more than a category may have
        assert number_levels(pd.DataFrame({"id": [f"row {i % 10001}" for i in range(25000)]}))[1] is None


def test_what_the_frame_calls_a_category_stays():
    X, y = frame(60)
    X["town"] = pd.Categorical([f"town {i}" for i in range(60)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = QuorumRegressor(kernel="se", theta="1,1,1,1,0.1", calibrate=False, spread="none").fit(X, y)
        assert len(model.categories_["town"]) == 60
    X = pd.DataFrame({"town": pd.Categorical(np.arange(10001)), "x": 0.0})
    with pytest.raises(ValueError, match="column town has 10001 levels, and a category has 10000 at most"):
        QuorumRegressor().fit(X, np.arange(10001.0))


def test_saved_and_loaded(model, tmp_path):
    Q = frame(10, 4)[0]
    model.save(tmp_path / "m.npz")
    loaded = QuorumRegressor.load(tmp_path / "m.npz")
    assert loaded.categories_ == model.categories_
    assert np.array_equal(loaded.predict(Q), model.predict(Q))
