"""Targets that are exactly alike: counted as NumPy counts them, said, and a small std where the rows around agree."""
import numpy as np
import pytest

from conftest import run, write_csv

FIXED = ["--theta", "1,1,1,0.1", "--kernel", "se", "--spread", "none", "--calibrate", "false", "--graph", "none"]


def table(y, seed=1):
    return np.column_stack([np.random.default_rng(seed).uniform(0, 1, (len(y), 2)), y])


def fitted(folder, rows, *options):
    return run("fit", write_csv(folder / "t.csv", rows), "-o", folder / "m.npz", "--json", *options)


def of_many_values(share):
    """One value of a share of the rows among others that occur once or twice."""
    rng = np.random.default_rng(4)
    y = np.round(rng.normal(size=1500), 3)
    y[rng.uniform(size=1500) < share] = 0.25
    return y


@pytest.mark.parametrize("y", [np.arange(300) % 3 * 0.5, np.arange(640) % 63 + 0.0, np.arange(640) % 64 + 0.0,
                               of_many_values(0.2), of_many_values(0.03), of_many_values(0.0)], ids=range(6))
def test_counts_are_those_of_numpy(tmp_path, y):
    said = fitted(tmp_path, table(np.random.default_rng(2).permutation(y)), *FIXED).json()
    values, counts = np.unique(y, return_counts=True)
    assert said["target_values"] == (len(values) if len(values) <= 63 else 0)
    if 64 * counts.max() > len(y):
        assert said["common_rows"] == counts.max() and said["common_target"] == values[np.argmax(counts)]
    else:
        assert said["common_rows"] == 0 and said["common_target"] is None


def test_few_values_are_said(tmp_path):
    err = fitted(tmp_path, table(np.arange(300) % 3 * 0.5), *FIXED).err
    assert "note: target y has 3 values only, 33 % of the rows have 0: " in err


def test_a_common_value_is_said(tmp_path):
    share = 100 * np.mean(of_many_values(0.2) == 0.25)
    assert f"note: {share:.2g} % of the rows have the target y = 0.25 exactly: " in fitted(
        tmp_path, table(of_many_values(0.2)), *FIXED).err


def test_other_targets_are_not_spoken_of(tmp_path):
    assert "exactly" not in fitted(tmp_path, table(of_many_values(0.0)), *FIXED).err


def test_std_falls_where_rows_agree(tmp_path):
    """0 in a quarter of the places, and a noise of 0.5 elsewhere: there std is a fiftieth."""
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 1, (1200, 2))
    y = np.where(X[:, 0] < 0.25, 0.0, 1 + np.sin(6 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(1200))
    fitted(tmp_path, np.column_stack([X, y])[:1100])
    queries = write_csv(tmp_path / "q.csv", X[1100:], header="a,b")
    _, predicted = run("predict", tmp_path / "m.npz", queries, "-q").table()
    calm = X[1100:, 0] < 0.2
    assert np.median(predicted[calm, 1]) < 0.02 * np.median(predicted[~calm, 1])
    inside = (predicted[calm, 2] <= 0) & (0 <= predicted[calm, 3])
    assert np.mean(inside) > 0.9
