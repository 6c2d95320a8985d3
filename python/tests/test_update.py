"""partial_fit: rows join a fitted model, as quorum update does it; the first call is a fit."""
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from quorum import DriftWarning, QuorumRegressor

OPTIONS = {"theta": "0.6,1,0.02", "kernel": "matern32", "n_experts": 3}


def rows(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, shift + np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)


def test_the_first_call_is_a_fit():
    X, y = rows(120, 1)
    a, b = (getattr(QuorumRegressor(**OPTIONS), name)(X, y) for name in ("fit", "partial_fit"))
    Q = rows(20, 2)[0]
    assert np.array_equal(a.predict(Q), b.predict(Q))


def test_rows_join_and_theta_stays():
    (X, y), (X2, y2), (Q, _) = rows(200, 1), rows(60, 2), rows(30, 3)
    one = QuorumRegressor(**OPTIONS).fit(X, y)
    before = one.lengthscale_, one.x_mean_, one.y_scale_
    assert one.partial_fit(X2, y2) is one
    assert one.update_[0]["added"] == 60 and one.update_[0]["scored"] == 60 and one.update_[0]["rmse"] > 0
    assert sum(map(len, one.experts_)) == 260
    for old, new in zip(before, (one.lengthscale_, one.x_mean_, one.y_scale_)):
        assert np.array_equal(old, new)
    many = QuorumRegressor(**OPTIONS).fit(X, y)
    for part in np.array_split(np.arange(60), 5):
        many.partial_fit(X2[part], y2[part])
    assert np.array_equal(one.predict(Q), many.predict(Q))
    again = pickle.loads(pickle.dumps(one))
    assert np.array_equal(again.predict(Q), one.predict(Q))


def test_a_window_forgets():
    X, y = rows(200, 1)
    one = QuorumRegressor(**OPTIONS).fit(X, y).partial_fit(*rows(50, 2), window=100)
    assert sum(map(len, one.experts_)) == 100 and one.update_[0]["removed"] == 150
    with pytest.raises(ValueError, match="window"):
        one.partial_fit(*rows(5, 3), window=0)


def test_weights_errors_and_offsets_go_with_the_rows():
    (X, y), (X2, y2), (Q, _) = rows(150, 1), rows(40, 2), rows(20, 3)
    w, e = np.linspace(0.5, 2, 190), np.linspace(0, 0.3, 190)
    one = QuorumRegressor(**OPTIONS).fit(X, y, sample_weight=w[:150], noise_std=e[:150])
    one.partial_fit(X2, y2, sample_weight=w[150:], noise_std=e[150:])
    plain = QuorumRegressor(**OPTIONS).fit(X, y).partial_fit(X2, y2)
    assert not np.array_equal(one.predict(Q), plain.predict(Q))
    about = QuorumRegressor(**OPTIONS).fit(X, y, offset=X[:, 0])
    about.partial_fit(X2, y2, offset=X2[:, 0])
    with pytest.raises(ValueError, match="offset"):
        about.partial_fit(X2, y2)


def test_several_targets_and_frames():
    X, y = rows(150, 1)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.where(X[:, 0] > 0, "up", "down")})
    Y = np.column_stack([y, 2 * y - X[:, 0]])
    one = QuorumRegressor(**OPTIONS).fit(frame[:100], Y[:100]).partial_fit(frame[100:], Y[100:])
    assert [u["added"] for u in one.update_] == [50, 50] and one.predict(frame[:5]).shape == (5, 2)
    new = frame[100:].assign(kind="sideways")
    assert [u["unseen"] for u in one.partial_fit(new, Y[100:]).update_] == [50, 50]
    with pytest.raises(ValueError, match="2 targets"):
        one.partial_fit(frame[100:], Y[100:, 0])


def test_drift_is_a_warning():
    X, y = rows(300, 1)
    one = QuorumRegressor(calibrate=True, **OPTIONS).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DriftWarning)
        one.partial_fit(*rows(50, 2))
    with pytest.warns(DriftWarning, match="worse than left-out rows"):
        one.partial_fit(*rows(50, 3, shift=2.0))
    assert one.update_[0]["drift"] and one.update_[0]["chance"] < 0.01


def test_a_fit_may_start_from_it(tmp_path):
    X, y = rows(300, 1)
    first = QuorumRegressor(kernel="matern52", metric="ard", max_evaluations=15).fit(X, y)
    first.save(tmp_path / "m.npz")
    again = QuorumRegressor(start=str(tmp_path / "m.npz"), max_evaluations=15).fit(*rows(320, 2))
    assert again.kernel_ == "matern52"
