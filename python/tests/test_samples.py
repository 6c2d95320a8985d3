"""Joint draws and suggestions: shapes, the same numbers as the command, what is refused."""
import numpy as np
import pytest
from conftest import small


def test_shape_and_seed(fitted, queries):
    draws = fitted.sample_y(queries, 7, random_state=3)
    assert draws.shape == (len(queries), 7) and fitted.sample_y(queries).shape == (len(queries), 1)
    np.testing.assert_array_equal(draws, fitted.sample_y(queries, 7, random_state=3))
    np.testing.assert_array_equal(draws[:, :2], fitted.sample_y(queries, 2, random_state=3))
    assert not np.any(draws == fitted.sample_y(queries, 7, random_state=4))
    generator = np.random.RandomState(1)
    assert not np.any(fitted.sample_y(queries, random_state=generator) ==
                      fitted.sample_y(queries, random_state=generator))


def test_mean_and_std_are_those_of_predict(fitted, queries):
    mean, std = fitted.predict(queries, return_std=True)
    z = (fitted.sample_y(queries, 4000) - mean[:, None]) / std[:, None]
    assert np.abs(z.mean(axis=1)).max() < 6 / np.sqrt(4000)
    assert np.abs(z.std(axis=1) - 1).max() < 6 / np.sqrt(8000)


def numbers(text):
    return np.array([[float(c) for c in line.split(",")] for line in text.splitlines()[1:]])


def test_same_bits_as_the_command(fitted, queries, tmp_path, command):
    fitted.save(tmp_path / "model.npz")
    np.save(tmp_path / "q.npy", queries)
    draws = command("sample", tmp_path / "model.npz", tmp_path / "q.npy", "-n", 3, "--seed", 5)
    table = numbers(draws)
    np.testing.assert_array_equal(table, fitted.sample_y(queries, 3, random_state=5))
    table = numbers(command("suggest", tmp_path / "model.npz", tmp_path / "q.npy", "-n", 4))
    rows, reduction = fitted.suggest(queries, 4, return_reduction=True)
    np.testing.assert_array_equal(rows, table[:, 1] - 1)
    np.testing.assert_array_equal(reduction, table[:, -1])


def test_suggestions(fitted, queries):
    rows = fitted.suggest(queries, n=10 ** 6)
    assert sorted(rows) == list(range(len(queries)))
    over = fitted.suggest(queries, n=1, over=queries[:1])
    covariance = fitted.predict_joint(queries)[1]
    assert over.shape == (1,) and covariance[over[0], 0] > 0


def test_offset(data, queries):
    X, y = data
    shift, there = 10 * X[:, 0], 10 * queries[:, 0]
    one, two = small().fit(X, y + shift, offset=shift), small().fit(X, y)
    np.testing.assert_allclose(one.sample_y(queries, 2, offset=there),
                               two.sample_y(queries, 2) + there[:, None], rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="offset"):
        one.sample_y(queries)


def test_what_is_refused(fitted, queries):
    for wrong in (0, -1, 1.5, "2"):
        with pytest.raises(ValueError, match="n_samples"):
            fitted.sample_y(queries, wrong)
    with pytest.raises(ValueError, match="whole number"):
        fitted.suggest(queries, 0)
