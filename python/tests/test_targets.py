"""Several targets: a column of y each, as fits to each alone."""
import pickle

import numpy as np
import pandas as pd
import pytest

from quorum import QuorumRegressor


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 0] * X[:, 1], 100 * np.cos(X[:, 1])])
    return X, Y + 0.05 * rng.normal(size=Y.shape)


@pytest.fixture(scope="module")
def fitted():
    X, Y = data(150)
    return QuorumRegressor(max_evaluations=8, kernel="se").fit(X, Y), X, Y


def alone(X, y, **fit):
    return QuorumRegressor(max_evaluations=8, kernel="se").fit(X, y, **fit)


def test_same_as_alone(fitted):
    model, X, Y = fitted
    Q = data(20, 1)[0]
    results = model.predict(Q, return_std=True, return_interval=0.9, quantiles=[0.1, 0.5], return_novelty=True,
                            return_gradient=True)
    assert [r.shape for r in results] == [(20, 3)] * 4 + [(20, 2, 3)] * 2 + [(20, 3), (20, 2, 3)]
    for t in range(3):
        one = alone(X, Y[:, t]).predict(Q, return_std=True, return_interval=0.9, quantiles=[0.1, 0.5],
                                        return_novelty=True, return_gradient=True)
        assert all(np.array_equal(a[..., t], b) for a, b in zip(results, one))
    np.testing.assert_allclose(model.predict(Q), results[0], rtol=1e-9)
    assert model.predict_probability(Q, above=0.0).shape == (20, 3)
    assert model.score(X, Y) > 0.9


def test_weights_and_noise(fitted):
    _, X, Y = fitted
    rng = np.random.default_rng(2)
    more = dict(sample_weight=rng.integers(0, 3, len(X)), noise_std=rng.uniform(0, 0.2, len(X)))
    together, one = alone(X, Y, **more), alone(X, Y[:, 1], **more)
    assert np.array_equal(together.predict(X[:9], return_std=True)[1][:, 1], one.predict(X[:9], return_std=True)[1])


def test_names_levels_and_one_target_of_several():
    X, Y = data(120)
    frame = pd.DataFrame({"x": X[:, 0], "kind": np.where(X[:, 1] > 0, "oak", "fir")})
    targets = pd.DataFrame(Y, columns=["height", "price, net", "cost"])
    model = QuorumRegressor(max_evaluations=4, kernel="se").fit(frame, targets)
    assert model.targets_ == list(targets) and not hasattr(model, "kernel_")
    one = model.target("cost")
    assert one.targets_ == ["cost"] and one.kernel_ == "se" and set(one.categories_) == {"kind"}
    mean = model.predict(frame[:9])
    assert np.array_equal(one.predict(frame[:9]), mean[:, 2])
    assert np.array_equal(model.target(-1).predict(frame[:9]), mean[:, 2])
    assert one.sample_y(frame[:9], 3).shape == (9, 3) and len(one.suggest(frame[:9], 2)) == 2
    model.set_params(method="nearest", neighbours=20)
    assert np.array_equal(model.target(0).predict(frame[:9]), model.predict(frame[:9])[:, 0])
    with pytest.raises(ValueError, match="none of"):
        model.target("wood")
    for ask in (lambda: model.sample_y(frame), lambda: model.suggest(frame), lambda: model.predict_joint(frame),
                lambda: model.distribution(), lambda: model.ranking_):
        with pytest.raises(ValueError, match="several targets"):
            ask()


def test_saved_loaded_pickled_and_fitted_again(fitted, tmp_path):
    model, X, Y = fitted
    mean = model.predict(X[:9])
    model.save(tmp_path / "m.npz")
    for again in (QuorumRegressor.load(tmp_path / "m.npz"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.predict(X[:9]), mean) and again.targets_ == ["y1", "y2", "y3"]
    one = pickle.loads(pickle.dumps(model.target(1)))
    assert np.array_equal(one.predict(X[:9]), mean[:, 1])
    model.target(2).save(tmp_path / "one.npz")
    assert np.array_equal(QuorumRegressor.load(tmp_path / "one.npz").predict(X[:9]), mean[:, 2])
    again = alone(X, Y).fit(X, Y[:, 0])
    assert again.predict(X[:9]).shape == (9,) and again.kernel_ == "se"
    assert not hasattr(again.fit(X, Y), "kernel_")


def test_one_column_stays_a_column(fitted):
    _, X, Y = fitted
    flat, column = alone(X, Y[:, 0]), alone(X, Y[:, :1])
    mean, std = column.predict(X[:9], return_std=True)
    assert mean.shape == std.shape == (9, 1) and column.kernel_ == "se"
    assert np.array_equal(mean[:, 0], flat.predict(X[:9]))


def test_an_offset_is_of_one_target(fitted):
    _, X, Y = fitted
    with pytest.raises(ValueError, match="no offset"):
        alone(X, Y, offset=Y[:, 0])
