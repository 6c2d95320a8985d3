"""The lower functions against definitions."""
import numpy as np
import pytest
from conftest import make_data, small
from sklearn.covariance import graphical_lasso as sklearn_lasso
from sklearn.metrics import mean_absolute_error, mean_squared_error

import quorum


@pytest.fixture(scope="module")
def covariance():
    return np.cov(np.random.default_rng(0).standard_normal((60, 12)) @
                  np.random.default_rng(1).standard_normal((12, 12)), rowvar=False)


def test_graphical_lasso_is_optimal(covariance):
    omega = quorum.graphical_lasso(covariance, 0.5)
    gradient = np.linalg.inv(omega) - covariance  # 0.5 sign(omega), within +-0.5 where it is 0
    edge = omega != 0
    np.testing.assert_allclose(gradient[edge], 0.5 * np.sign(omega[edge]), atol=1e-3)
    assert np.abs(gradient[~edge]).max(initial=0) < 0.5 + 1e-3
    assert 0 < (~edge).sum()


def test_graphical_lasso_agrees_with_scikit_learn(covariance):
    ours = quorum.graphical_lasso(covariance, 0.5, free_diagonal=True)
    theirs = sklearn_lasso(covariance, 0.5, tol=1e-8, max_iter=1000, enet_tol=1e-8)[1]
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_graphical_lasso_refuses(covariance):
    with pytest.raises(quorum.ArgumentError, match="lambda"):
        quorum.graphical_lasso(covariance, -1)
    with pytest.raises(quorum.ArgumentError, match="square"):
        quorum.graphical_lasso(covariance[:5], 0.1)
    with pytest.raises(quorum.ArgumentError, match="2 dimensions"):
        quorum.graphical_lasso([1.0, 2.0], 0.1)


@pytest.mark.parametrize("method", ["rbcm", "bcm", "gpoe", "gpoe-entropy", "poe", "single"])
def test_aggregating_the_experts_is_predicting(data, fitted, queries, method):
    alone = [small(latent=True, method="single", select=f"expert:{i + 1}")._adopt(fitted._model)
             .predict(queries, return_std=True) for i in range(fitted.n_experts_)]
    mean, variance = quorum.aggregate(
        [m for m, _ in alone], [s ** 2 for _, s in alone], method,
        prior_mean=fitted.y_mean_, prior_variance=fitted.signal_variance_ * fitted.y_scale_ ** 2)
    joined = small(latent=True, method=method)._adopt(fitted._model)
    expected_mean, expected_std = joined.predict(queries, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.sqrt(variance), expected_std, rtol=1e-7)


def test_grbcm_takes_the_first_as_base():
    mean, variance = quorum.aggregate([[1.0], [2.0]], [[0.5], [0.25]], "grbcm", prior_variance=1.0)
    assert (mean[0], variance[0]) == (2.0, 0.25)


def test_aggregate_refuses():
    with pytest.raises(quorum.ArgumentError, match="covariances"):
        quorum.aggregate([[0.0]], [[1.0]], "npae", prior_variance=1.0)
    with pytest.raises(quorum.DataError, match="expert 1, query 2"):
        quorum.aggregate([[0.0, 0.0]], [[1.0, 0.0]], "poe", prior_variance=1.0)
    with pytest.raises(quorum.ArgumentError, match="same shape"):
        quorum.aggregate([[0.0, 0.0]], [[1.0]], "poe", prior_variance=1.0)


def test_metrics():
    rng = np.random.default_rng(0)
    mean, std = rng.standard_normal(500), rng.uniform(0.5, 2, 500)
    y = mean + std * rng.standard_normal(500)
    scores = quorum.metrics(y, mean, std, train_mean=0.1, train_std=1.3)
    density = 0.5 * ((y - mean) / std) ** 2 + np.log(std) + 0.5 * np.log(2 * np.pi)
    trivial = 0.5 * ((y - 0.1) / 1.3) ** 2 + np.log(1.3) + 0.5 * np.log(2 * np.pi)
    assert scores["smse"] == pytest.approx(mean_squared_error(y, mean) / y.var())
    assert scores["mae"] == pytest.approx(mean_absolute_error(y, mean))
    assert scores["rmse"] == pytest.approx(mean_squared_error(y, mean) ** 0.5)
    assert scores["nlpd"] == pytest.approx(density.mean())
    assert scores["msll"] == pytest.approx((density - trivial).mean())
    assert scores["coverage"][0.95] == np.mean(np.abs(y - mean) <= 1.959963984540054 * std)
    assert quorum.metrics(y, mean, std) == quorum.metrics(y, mean, std, train_mean=y.mean(),
                                                          train_std=y.std())
    with pytest.raises(quorum.ArgumentError, match="same shape"):
        quorum.metrics(y, mean, std[:10])
