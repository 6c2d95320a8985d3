"""Weights and known noise of rows from Python."""
import warnings

import numpy as np
import pandas
import pytest

from quorum import BoundWarning, QuorumRegressor, metrics

GIVEN = dict(theta="0.8,1.3,1.4,0.1", kernel="se", n_experts=1, spread="none", calibrate="false",
             trend="constant", warp="none")


def rows(n=200, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n), rng.integers(0, 4, n)


@pytest.mark.parametrize("method", ["nearest", "npae", "gpoe"])
@pytest.mark.parametrize("with_noise", [False, True])
def test_a_weight_is_the_row_repeated(method, with_noise):
    X, y, weight = rows()
    noise = 0.1 + np.abs(X[:, 0]) if with_noise else None
    again = np.repeat(np.arange(len(y)), weight)
    setup = dict(GIVEN, method=method, neighbours=600 if method == "nearest" else 0)
    one = QuorumRegressor(**setup).fit(X, y, sample_weight=weight, noise_std=noise)
    two = QuorumRegressor(**setup).fit(X[again], y[again],
                                       noise_std=None if noise is None else noise[again])
    Q = rows(30, 2)[0]
    for a, b in zip(one.predict(Q, return_std=True), two.predict(Q, return_std=True)):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(one.nlml_, two.nlml_, rtol=1e-10)
    np.testing.assert_allclose([one.y_mean_, one.y_scale_], [two.y_mean_, two.y_scale_])


def test_a_whole_fit_is_about_that_of_repeated_rows():
    X, y, weight = rows(900, 3)
    again = np.repeat(np.arange(len(y)), weight)
    one = QuorumRegressor(kernel="se").fit(X, y, sample_weight=weight)
    two = QuorumRegressor(kernel="se").fit(X[again], y[again])
    Q = rows(200, 4)[0]
    assert np.sqrt(np.mean((one.predict(Q) - two.predict(Q)) ** 2)) < 0.1 * y.std()
    np.testing.assert_allclose(one.y_mean_, two.y_mean_, rtol=1e-12)
    assert abs(np.log(one.noise_variance_ / two.noise_variance_)) < 0.5


def test_ones_and_zeros_change_no_bit():
    X, y, _ = rows()
    Q = rows(30, 2)[0]
    plain = QuorumRegressor().fit(X, y).predict(Q, return_std=True)
    same = QuorumRegressor().fit(X, y, sample_weight=np.ones(len(y)), noise_std=0.0)
    for a, b in zip(plain, same.predict(Q, return_std=True, noise_std=np.zeros(30))):
        np.testing.assert_array_equal(a, b)


def test_no_weight_is_no_row():
    X, y, weight = rows()
    weight = (weight > 0).astype(float)
    Q = rows(30, 2)[0]
    y_wild = np.where(weight > 0, y, 1e6)
    a = QuorumRegressor().fit(X, y_wild, sample_weight=weight)
    b = QuorumRegressor().fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(a.predict(Q), b.predict(Q))
    assert sum(map(len, a.experts_)) == weight.sum()


def test_known_noise_is_told_from_the_learned():
    """Rows of a known large error do not raise the noise that is learned, and hardly count."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-3, 3, size=(1200, 1))
    noise = np.where(rng.uniform(size=1200) < 0.5, 0.0, 1.0)
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=1200) + noise * rng.normal(size=1200)
    known = QuorumRegressor(kernel="se").fit(X, y, noise_std=noise)
    unknown = QuorumRegressor(kernel="se").fit(X, y)
    learned = [np.sqrt(m.noise_variance_) * m.y_scale_ for m in (known, unknown)]
    assert 0.08 < learned[0] < 0.13 and learned[1] > 0.5
    Q = np.linspace(-2.5, 2.5, 100)[:, None]
    error = [np.sqrt(np.mean((m.predict(Q) - np.sin(Q[:, 0])) ** 2)) for m in (known, unknown)]
    assert error[0] < 0.5 * error[1]


def test_a_query_may_have_known_noise():
    X, y, _ = rows()
    model = QuorumRegressor(**GIVEN).fit(X, y)
    Q = rows(30, 2)[0]
    mean, std = model.predict(Q, return_std=True)
    noise = np.linspace(0, 2, 30)
    same, wider = model.predict(Q, return_std=True, noise_std=noise)
    np.testing.assert_array_equal(mean, same)
    np.testing.assert_allclose(wider, np.hypot(std, noise))
    both = model.predict_probability(Q, above=0.5, noise_std=1.0)
    assert np.all(np.abs(both - 0.5) <= np.abs(model.predict_probability(Q, above=0.5) - 0.5) + 1e-12)
    np.testing.assert_array_equal(model.set_params(latent=True).predict(Q, return_std=True)[1],
                                  model.predict(Q, return_std=True, noise_std=1.0)[1])


def test_columns_of_frames_and_files(tmp_path):
    X, y, weight = rows()
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": weight.astype(float), "e": 0.5})
    model = QuorumRegressor(**GIVEN).fit(frame[["a", "b"]], pandas.Series(y, name="t"),
                                         sample_weight=frame["w"], noise_std=frame["e"])
    info = model._model.inspect()
    assert (info["weights_name"], info["noise_name"]) == ("w", "e")
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(QuorumRegressor.load(tmp_path / "model.npz").predict(frame[["a", "b"]]),
                                  model.predict(frame[["a", "b"]]))
    positive = frame["a"].abs().rename("a")  # the name of an input
    QuorumRegressor(**GIVEN).fit(frame[["a", "b"]], y, sample_weight=positive)


def test_bad_weights_and_noise():
    X, y, weight = rows()
    with pytest.raises(ValueError, match="[Nn]egative"):
        QuorumRegressor().fit(X, y, sample_weight=weight - 1.0)
    with pytest.raises(ValueError, match="NaN"):
        QuorumRegressor().fit(X, y, sample_weight=np.where(weight > 0, weight, np.nan))
    with pytest.raises(ValueError, match="sample_weight has the shape"):
        QuorumRegressor().fit(X, y, sample_weight=weight[1:])
    with pytest.raises(ValueError, match="weight 0"):
        QuorumRegressor().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="row 1: its noise-std is -1"):
        QuorumRegressor().fit(X, y, noise_std=-1.0)
    with pytest.raises(ValueError, match="noise_std has the shape"):
        QuorumRegressor().fit(X, y, noise_std=[1.0, 2.0])
    with pytest.raises(ValueError, match="warp"):
        QuorumRegressor(warp="log").fit(X, np.exp(y), noise_std=0.1)


def test_weighted_scores():
    X, y, weight = rows()
    rng = np.random.default_rng(1)
    mean, std = y + 0.3 * rng.normal(size=len(y)), 0.2 + 0.1 * rng.uniform(size=len(y))
    again = np.repeat(np.arange(len(y)), weight)
    one = metrics(y, mean, std, sample_weight=weight)
    two = metrics(y[again], mean[again], std[again])
    for name in ("smse", "msll", "mae", "rmse", "nlpd", "crps"):
        assert one[name] == pytest.approx(two[name], rel=1e-12)
    assert one["coverage"] == pytest.approx(two["coverage"])
    with pytest.raises(ValueError, match="sample_weight"):
        metrics(y, mean, std, sample_weight=-np.ones(len(y)))


def test_a_noise_lost_to_weights_is_explained():
    X, y, _ = rows(150)
    weight = np.random.default_rng(2).uniform(10, 1000, 150)
    model = QuorumRegressor(kernel="se", calibrate="false")
    with pytest.warns(BoundWarning, match="weights are .* on average.*divide them by their mean.*noise-std"):
        model.fit(X, y, sample_weight=weight)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model.fit(X, y, sample_weight=weight / weight.mean())
    assert not any("divide" in str(w.message) for w in seen) and model.noise_variance_ > 0.01
