"""The logarithm of a target from Python."""
import pickle

import numpy as np
import pytest
from scipy import stats

from quorum import ArgumentError, DataError, QuorumRegressor, metrics, plot_calibration


def rows(n=250, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    return X, np.exp(2 * np.sin(3 * X[:, 0]) + 0.3 * rng.standard_normal(n))


@pytest.fixture(scope="module")
def model():
    return QuorumRegressor(warp="auto", kernel="se").fit(*rows())


def test_auto_takes_the_logarithm(model):
    X, y = rows()
    assert model.warp_ == "log" and model.warp_shift_ == 0.0
    np.testing.assert_allclose([model.y_mean_, model.target_mean_], [np.log(y).mean(), y.mean()])
    plain = QuorumRegressor(kernel="se").fit(X, np.log(y))
    assert plain.warp_ == "none"
    Q = rows(20, 2)[0]
    mu, s = plain.predict(Q, return_std=True)
    mean, std, lower, upper = model.predict(Q, return_std=True, return_interval=0.9)
    law = stats.lognorm(s, scale=np.exp(mu))
    np.testing.assert_allclose(mean, law.mean(), rtol=1e-9)
    np.testing.assert_allclose(std, law.std(), rtol=1e-9)
    np.testing.assert_allclose([lower, upper], [law.ppf(0.05), law.ppf(0.95)], rtol=1e-9)
    np.testing.assert_array_equal(model.predict(Q), mean)
    joint_mean, covariance = model.predict_joint(Q)
    np.testing.assert_allclose(joint_mean, mean, rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), std, rtol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(Q), mean)
    assert again.warp_ == "log"


def test_metrics(model):
    X, y = rows(60, 3)
    mean, std = model.predict(X, return_std=True)
    found = metrics(y, mean, std, train_mean=model.target_mean_, train_std=model.target_scale_, warp=model.warp_,
                    warp_shift=model.warp_shift_)
    s = np.sqrt(np.log1p((std / mean) ** 2))
    law = stats.lognorm(s, scale=mean * np.exp(-0.5 * s**2))
    assert found["nlpd"] == pytest.approx(-law.logpdf(y).mean(), rel=1e-9)
    inside = (law.ppf(0.05) <= y) & (y <= law.ppf(0.95))
    assert found["coverage"][0.9] == inside.mean()
    assert metrics(y, mean, std)["nlpd"] != found["nlpd"]
    with pytest.raises(ArgumentError):
        metrics(y, mean, std, warp="exp")


def test_calibration_is_of_the_logarithm(model):
    pytest.importorskip("matplotlib").use("Agg")
    X, y = rows(100, 4)
    line = plot_calibration(model, X, y).lines[-1].get_ydata()
    lower, upper = model.predict(X, return_interval=0.5)[1:]
    assert line[49] == pytest.approx(100 * np.mean((lower <= y) & (y <= upper)))


def test_negative_targets():
    X, y = rows()
    with pytest.raises(DataError, match="warp log takes targets that are not negative"):
        QuorumRegressor(warp="log").fit(X, y - 5.0)
