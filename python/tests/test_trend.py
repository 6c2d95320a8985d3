"""A trend and an offset from Python."""
import numpy as np
import pytest

from quorum import QuorumRegressor


def rows(n=200, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1.0, 10.0]
    return X, 3.0 * X[:, 0] - 0.2 * X[:, 1] + np.sin(X[:, 0] * 4.0) + 0.1 * rng.normal(size=n)


def test_a_line_and_its_slopes():
    X, y = rows()
    model = QuorumRegressor(trend="linear", kernel="se").fit(X, y)
    assert model.trend_ == "linear"
    assert np.all(np.abs(model.slope_ - [3.0, -0.2]) < 6.0 * model.slope_std_ + 0.05)
    assert model.predict([[100.0, 0.0]])[0] == pytest.approx(300.0, rel=0.1)
    np.testing.assert_allclose([model.target_mean_, model.target_scale_], [y.mean(), y.std()])
    flat = QuorumRegressor(trend="constant", kernel="se").fit(X, y)
    assert flat.trend_ == "constant" and flat.slope_ is None


def test_an_offset_is_a_shift(tmp_path):
    X, y = rows()
    offset = 50.0 + X[:, 0] ** 2
    one = QuorumRegressor(kernel="se", trend="constant").fit(X, y, offset=offset)
    two = QuorumRegressor(kernel="se", trend="constant").fit(X, y - offset)
    Q, shift = rows(20, 2)[0], np.arange(20.0)
    mean, std = one.predict(Q, return_std=True, offset=shift)
    plain, same = two.predict(Q, return_std=True)
    np.testing.assert_array_equal(mean, plain + shift)
    np.testing.assert_array_equal(std, same)
    np.testing.assert_array_equal(one.predict_joint(Q, offset=shift)[0], two.predict_joint(Q)[0] + shift)
    one.save(tmp_path / "model.npz")
    again = QuorumRegressor.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict(Q, return_std=True, offset=shift)[0], mean)


def test_offsets_are_given_where_they_are_wanted():
    X, y = rows()
    one = QuorumRegressor(kernel="se").fit(X, y, offset=np.zeros(len(y)))
    with pytest.raises(ValueError, match="fitted with an offset"):
        one.predict(X)
    with pytest.raises(ValueError, match="one number a row|shape"):
        one.predict(X, offset=[1.0])
    with pytest.raises(ValueError):
        one.predict_joint(X[:5])
    two = QuorumRegressor(kernel="se").fit(X, y)
    with pytest.raises(ValueError, match="without one"):
        two.predict(X, offset=np.zeros(len(y)))
    with pytest.raises(ValueError):
        one.fit(X, y, offset=np.full(len(y), np.nan))
