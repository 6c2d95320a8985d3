"""What fit and predict give."""
import json
import threading
import warnings

import numpy as np
import pytest
from conftest import make_data, small

import quorum
from quorum import QuorumRegressor
from quorum._model import Model


def test_attributes(data, fitted):
    X, y = data
    assert fitted.n_features_in_ == 3 and fitted.n_experts_ == len(fitted.experts_)
    assert fitted.kernel_ == "se"
    np.testing.assert_array_equal(np.sort(np.concatenate(fitted.experts_)), np.arange(len(X)))
    np.testing.assert_allclose(fitted.x_mean_, X.mean(0))
    np.testing.assert_allclose(fitted.x_scale_, X.std(0))
    np.testing.assert_allclose([fitted.y_mean_, fitted.y_scale_], [y.mean(), y.std()])
    share = fitted.inverse_lengthscale_share_
    np.testing.assert_allclose(share, (1 / fitted.lengthscale_) / (1 / fitted.lengthscale_).sum())
    assert fitted.rotation_ is None
    np.testing.assert_array_equal(fitted.input_lengthscale_, fitted.lengthscale_)
    assert share.argmax() == 0 and not hasattr(fitted, "relevance_")
    noise = np.sqrt(fitted.noise_variance_) * fitted.y_scale_
    assert noise == pytest.approx(0.1, rel=0.2)
    omega = fitted.precision_
    np.testing.assert_array_equal(omega, omega.T)
    off_diagonal = np.abs(omega).sum(1) - np.abs(omega.diagonal())
    np.testing.assert_allclose(fitted.importance_, off_diagonal)
    assert list(fitted.ranking_) == sorted(range(fitted.n_experts_),
                                           key=lambda i: (-fitted.importance_[i], i))


def test_distance(data, fitted, queries):
    X, _ = data
    scale = fitted.x_scale_ * fitted.lengthscale_
    apart = np.sqrt((((queries[:, None] - X[None]) / scale) ** 2).sum(2)).min(1)
    mean, distance = fitted.predict(queries, return_distance=True)
    np.testing.assert_array_equal(mean, fitted.predict(queries))
    np.testing.assert_allclose(distance, apart, rtol=1e-9)
    mean, std, lower, upper, distance = fitted.predict(queries, return_std=True, return_interval=0.9,
                                                       return_distance=True)
    np.testing.assert_allclose(distance, apart, rtol=1e-9)
    assert (fitted.predict(X[:5], return_distance=True)[1] == 0).all()


def test_theta_of_a_fit_repeats_it(data, fitted, queries):
    theta = [*fitted.lengthscale_, fitted.signal_variance_, fitted.noise_variance_]
    again = small(theta=theta).fit(*data)
    np.testing.assert_allclose(again.predict(queries), fitted.predict(queries), rtol=1e-9)


def test_directions(tmp_path, command):
    """A target along x_0 + x_1: a linear metric, and what its attributes mean."""
    rng = np.random.default_rng(4)
    X = 5 + np.array([1.0, 3.0, 1.0, 0.5]) * rng.normal(size=(500, 4))
    X[:, 2] = 2.0  # constant
    Z = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1.0)
    y = np.sin(3 * (Z[:, 0] + Z[:, 1])) + 0.05 * rng.standard_normal(500)
    with pytest.warns(quorum.QuorumWarning, match="without effect"):
        model = QuorumRegressor(n_experts=1).fit(X, y)
    R, length = model.rotation_, model.lengthscale_
    np.testing.assert_allclose(R @ R.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(R[0], [0.5 ** 0.5, 0.5 ** 0.5, 0, 0], atol=0.05)
    np.testing.assert_array_equal(R[2], [0, 0, 1, 0])
    assert length.argmin() == 0 and np.isinf(length[2]) and np.isinf(model.input_lengthscale_[2])
    with np.errstate(divide="ignore"):
        along = 1 / np.sqrt((R ** 2 / length[:, None] ** 2).sum(0))
    np.testing.assert_allclose(model.input_lengthscale_, along)
    share = model.inverse_lengthscale_share_
    np.testing.assert_allclose(share, (1 / along) / (1 / along).sum())
    np.testing.assert_allclose(share[:2], 0.5, atol=0.05)

    assert model.kernel_ == "se"
    T = Z @ R.T / length
    K = model.signal_variance_ * np.exp(-0.5 * ((T[:, None] - T[None]) ** 2).sum(-1))
    alpha = np.linalg.solve(K + model.noise_variance_ * np.eye(500), (y - y.mean()) / y.std())
    np.testing.assert_allclose(model.set_params(method="npae").predict(X),
                               y.mean() + y.std() * (K @ alpha), atol=1e-8)

    model.save(tmp_path / "m.npz")
    again = QuorumRegressor.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(again.rotation_, R)
    shown = json.loads(command("inspect", tmp_path / "m.npz", "--json"))
    np.testing.assert_array_equal([d["weights"] for d in shown["directions"]], R)
    assert again.metric == "auto" and small().fit(X[:, :2], y).rotation_ is None


def test_what_predict_returns(fitted, queries):
    mean = fitted.predict(queries)
    assert mean.shape == (len(queries),)
    with_std = fitted.predict(queries, return_std=True)
    with_interval = fitted.predict(queries, return_interval=0.9)
    everything = fitted.predict(queries, return_std=True, return_interval=0.9)
    assert [len(r) for r in (with_std, with_interval, everything)] == [2, 3, 4]
    for other in (with_std[0], with_interval[0], everything[0]):
        np.testing.assert_array_equal(other, mean)
    np.testing.assert_array_equal(everything[1], with_std[1])
    np.testing.assert_allclose(everything[3] - mean, 1.6448536269514722 * everything[1])
    np.testing.assert_allclose(mean - everything[2], 1.6448536269514722 * everything[1])


@pytest.mark.parametrize("method", ["nearest", "cells", "npae", "grbcm", "rbcm", "bcm", "gpoe",
                                    "poe", "single", "npae*"])
def test_prediction_parameters_need_no_new_fit(fitted, method):
    X, y = make_data(100, seed=2)
    model = QuorumRegressor(**fitted.get_params()).set_params(method=method)
    model._adopt(fitted._model)
    assert model.score(X, y) > 0.9


def test_latent_leaves_the_noise_out(data, fitted, queries):
    observed = fitted.predict(queries, return_std=True)[1]
    latent = small(latent=True)._adopt(fitted._model).predict(queries, return_std=True)[1]
    noise = fitted.noise_variance_ * fitted.y_scale_ ** 2
    np.testing.assert_allclose(observed ** 2, latent ** 2 + noise, rtol=1e-9)


def test_joint_covariance(fitted, queries):
    mean, covariance = fitted.predict_joint(queries)
    np.testing.assert_allclose(mean, fitted.predict(queries), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(covariance, covariance.T)
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()),
                               fitted.predict(queries, return_std=True)[1], rtol=1e-6)


def test_calibration_covers(data):
    X, y = make_data(1000, seed=3)
    model = small(calibrate=True).fit(*data)
    _, lower, upper = model.predict(X, return_interval=0.9)
    assert ((lower <= y) & (y <= upper)).mean() == pytest.approx(0.9, abs=0.05)


def test_calibration_is_for_one_prediction(data, queries):
    model = small(calibrate=True).fit(*data)
    with warnings.catch_warnings():
        warnings.simplefilter("error", quorum.CalibrationWarning)
        std = model.predict(queries, return_std=True)[1]
        covariance = model.predict_joint(queries)[1]
        model.set_params(method="rbcm").predict(queries)
        model.set_params(calibration="off").predict(queries, return_std=True)
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), std, rtol=1e-6)
    model.set_params(calibration="auto")
    with pytest.warns(quorum.CalibrationWarning, match="is for new observations by method nearest") \
            as caught:
        model.predict(queries, return_std=True)
    assert caught[0].filename == __file__
    model.set_params(method="npae", select="local:2")
    with pytest.warns(quorum.CalibrationWarning) as caught:
        model.predict_joint(queries)
    assert caught[0].filename == __file__


def test_arrays_are_passed_without_copies(data, fitted, queries, monkeypatch):
    seen = []
    for name in ("fit", "predict"):
        original = getattr(Model, name)
        monkeypatch.setattr(Model, name, lambda *given, original=original, **named: (
            seen.append(next(a for a in given if isinstance(a, np.ndarray))),
            original(*given, **named))[1])
    small().fit(*data)
    fitted.predict(queries)
    assert seen[0] is data[0] or np.shares_memory(seen[0], data[0])
    assert np.shares_memory(seen[1], queries)


@pytest.mark.parametrize("change", [np.asfortranarray, lambda a: a.astype(np.float32),
                                    lambda a: np.repeat(a, 2, axis=0)[::2], np.ndarray.tolist])
def test_other_layouts_give_the_same_values(fitted, queries, change):
    queries = queries.astype(np.float32).astype(np.float64)
    np.testing.assert_array_equal(fitted.predict(change(queries)), fitted.predict(queries))


def test_calls_in_turn_do_not_change_each_other(fitted, queries):
    """Options are kept from call to call, arrays that are ready are passed over by checks."""
    plain = fitted.predict(queries)
    mean, lower, _ = fitted.predict(queries, return_interval=0.5)
    _, wider, _ = fitted.predict(queries, return_interval=0.9)
    assert (wider < lower).all() and (fitted.predict(queries, return_interval=0.5)[1] == lower).all()
    _, std = fitted.predict(queries, return_std=True)
    fitted.set_params(latent=True)
    try:
        assert (fitted.predict(queries, return_std=True)[1] < std).all()
    finally:
        fitted.set_params(latent=False)
    assert (fitted.predict(queries, return_std=True)[1] == std).all()
    assert (fitted.predict(queries) == plain).all() and (mean == plain).all()


@pytest.mark.parametrize("spoil, message", [
    (lambda X: X[:, :2], "features"), (lambda X: X[:0], "minimum of 1"), (lambda X: X[0], "Expected 2D"),
    (lambda X: np.where(X == X[0, 0], np.nan, X), "NaN"), (lambda X: np.where(X == X[0, 0], np.inf, X), "infinity")])
def test_arrays_that_are_not_ready_are_refused(fitted, queries, spoil, message):
    with pytest.raises(ValueError, match=message):
        fitted.predict(spoil(queries))


def test_many_threads_on_one_model(fitted, queries):
    expected, wrong = fitted.predict(queries), []

    def ask():
        for _ in range(5):
            if (fitted.predict(queries) != expected).any():
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_demo_data():
    X, y = quorum.demo_data(1000, noise=0.0)
    np.testing.assert_array_equal(quorum.demo_function(X), y)


# ---- Distributions ------------------------------------------------------------------------


def test_quantiles(data, queries):
    model = small(calibrate=True).fit(*data)
    mean, lower, upper, found = model.predict(queries, return_interval=0.9, quantiles=[0.05, 0.5, 0.95])
    assert found.shape == (len(queries), 3)
    np.testing.assert_array_equal(found[:, 0], lower)
    np.testing.assert_array_equal(found[:, 2], upper)
    assert (np.diff(found, axis=1) > 0).all()
    mean, std, tail = model.set_params(calibration="off").predict(queries, return_std=True, quantiles=[0.1])
    np.testing.assert_allclose(tail[:, 0], mean - 1.2815515655446004 * std, rtol=1e-12)
    assert model.predict(queries, quantiles=[])[1].shape == (len(queries), 0)
    for wrong in ([0.0], [1.0], [np.nan], [2.0]):
        with pytest.raises(quorum.ArgumentError, match="between 0 and 1"):
            model.predict(queries, quantiles=wrong)
    with pytest.raises(ValueError, match="list of probabilities"):
        model.predict(queries, quantiles=0.5)


def test_the_distribution(data):
    """Probability, density and score of the points, by their definitions."""
    from scipy import integrate, stats
    d = small(calibrate=True).fit(*data).distribution()
    assert len(d.u) == len(d.z) > 10 and (np.diff(d.u) > 0).all() and (np.diff(d.z) > 0).all()
    p = np.linspace(0.001, 0.999, 333)
    np.testing.assert_allclose(d.quantile(p), np.interp(stats.norm.ppf(p), d.u, d.z), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(d.probability(d.quantile(p)), p, rtol=1e-10)
    t = np.linspace(-3.0, 3.0, 41) + 1e-3
    step = 1e-6
    slope = (d.probability(t + step) - d.probability(t - step)) / (2 * step)
    np.testing.assert_allclose(d.log_density(t), np.log(slope), atol=1e-5)
    for z in (-50.0, -1.3, 0.0, 0.4, 7.0):
        edges = np.unique(np.concatenate([d.z, [z]]))
        total = sum(integrate.quad(lambda x: (d.probability(x) - (x >= z)) ** 2, a, b, epsabs=1e-11)[0]
                    for a, b in zip(edges[:-1], edges[1:]))
        assert d.crps(z) == pytest.approx(total, rel=1e-6)
    assert d.crps(np.zeros((2, 3))).shape == (2, 3)


def test_without_calibration_it_is_the_normal_one(fitted):
    from scipy import stats
    d = fitted.distribution()
    assert len(d.u) == 0
    z = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(d.probability(z), stats.norm.cdf(z), rtol=1e-12)
    np.testing.assert_allclose(d.log_density(z), stats.norm.logpdf(z), rtol=1e-12)
    np.testing.assert_allclose(d.quantile([0.1, 0.9]), stats.norm.ppf([0.1, 0.9]), rtol=1e-12)
    assert np.isnan(d.quantile(0.0))


def test_metrics_of_the_distribution(data):
    model = small(calibrate=True).fit(*data)
    X, y = make_data(300, seed=3)
    mean, std = model.predict(X, return_std=True)
    d, z = model.distribution(), (y - mean) / std
    found = quorum.metrics(y, mean, std, distribution=d)
    assert found["nlpd"] == pytest.approx(np.mean(np.log(std) - d.log_density(z)), rel=1e-12)
    assert found["crps"] == pytest.approx(np.mean(std * d.crps(z)), rel=1e-12)
    _, lower, upper = model.predict(X, return_interval=0.9)
    assert found["coverage"][0.9] == ((y >= lower) & (y <= upper)).mean()


def test_strict(data, tmp_path):
    X, y = make_data(1000, seed=3)
    model = small(calibrate="strict").fit(*data)
    _, lower, upper = model.predict(X, return_interval=0.9)
    assert ((lower <= y) & (y <= upper)).mean() == pytest.approx(0.9, abs=0.06)
    model.save(tmp_path / "m.npz")
    assert quorum.QuorumRegressor.load(tmp_path / "m.npz").calibrate == "strict"
