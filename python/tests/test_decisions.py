"""Gradients, novelty and decisions through Python: the command's numbers."""
import numpy as np
import pytest
from quorum import QuorumRegressor, demo_data
from scipy import stats


@pytest.fixture(scope="module")
def model():
    X, y = demo_data(300, noise=0.1, random_state=1)
    return QuorumRegressor(kernel="matern52", n_experts=3).fit(X, y)


Q = np.array([[0.2], [0.55], [0.9]])


@pytest.mark.parametrize("method", ["nearest", "npae", "grbcm"])
def test_gradients_are_slopes(model, method):
    model.set_params(method=method)
    mean, std, dmean, dstd, novelty = model.predict(Q, return_std=True, return_gradient=True,
                                                    return_novelty=True)
    h = 1e-5
    above, below = (model.predict(Q + k * h, return_std=True) for k in (1, -1))
    assert dmean.shape == dstd.shape == Q.shape
    np.testing.assert_allclose(dmean[:, 0], (above[0] - below[0]) / (2 * h), rtol=1e-5)
    np.testing.assert_allclose(dstd[:, 0], (above[1] - below[1]) / (2 * h), rtol=1e-4, atol=1e-6)
    assert ((novelty >= 0) & (novelty < 0.1)).all()
    assert model.predict([[1e9]], return_novelty=True)[1] == 1
    only = model.predict(Q, return_gradient=True)
    np.testing.assert_array_equal(only[0], mean)
    np.testing.assert_array_equal(only[1], dmean)
    np.testing.assert_array_equal(only[2], dstd)
    model.set_params(method="auto")


def test_decisions(model):
    mean, std = model.predict(Q, return_std=True)
    np.testing.assert_allclose(model.predict_probability(Q, above=3), stats.norm.sf(3, mean, std),
                               rtol=1e-12)
    np.testing.assert_allclose(model.predict_probability(Q, below=3), stats.norm.cdf(3, mean, std),
                               rtol=1e-12)
    more, less = (model.expected_improvement(Q, **{side: 3}) for side in ("above", "below"))
    np.testing.assert_allclose(more - less, mean - 3, rtol=1e-9)


def test_one_side_is_to_be_given(model):
    for wrong in ({}, {"above": 1, "below": 2}):
        with pytest.raises(ValueError, match="either above or below"):
            model.predict_probability(Q, **wrong)
    with pytest.raises(ValueError, match="must be finite"):
        model.expected_improvement(Q, above=np.nan)
