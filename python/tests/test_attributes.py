"""Attributes have what `quorum inspect` prints, and names are those that users see."""
import json
import os
import subprocess

import numpy as np
import pytest

import quorum
from quorum import QuorumRegressor

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"temp": rng.uniform(size=300), "load": rng.uniform(size=300)})
    y = pd.Series(np.sin(6 * X["temp"]) + 0.1 * rng.standard_normal(300), name="flow")
    fitted = QuorumRegressor(n_experts=3, random_state=5).fit(X, y)
    return fitted


def test_what_inspect_prints_is_an_attribute(model, tmp_path):
    model.save(tmp_path / "m.npz")
    said = json.loads(subprocess.run([os.environ["QUORUM"], "inspect", tmp_path / "m.npz", "--json"], check=True,
                                     capture_output=True, text=True).stdout)
    assert said["rows"] == model.n_rows_ == 300 and said["seed"] == model.seed_ == 5
    assert said["partition"] == model.partition_ and said["kernel"] == model.kernel_
    assert said["evaluations"] == model.evaluations_ > 0
    assert said["train"] == model.train_ and said["train_rows"] == model.train_rows_
    assert model.n_experts_ == 3 == len(model.experts_)
    assert set(model.seconds_) == {"partition", "train", "graph", "calibrate", "total"}
    assert model.seconds_["total"] >= model.seconds_["train"] > 0
    assert max(model.kernel_scores_, key=model.kernel_scores_.get) == model.kernel_
    assert isinstance(model.local_noise_, bool) and model.calibration_scale_ > 0
    assert model.spread_ is None or model.spread_ > 0
    assert (model.calibration_rows_ > 0) or model.calibration_scale_ == 1


def test_bounds_are_named():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"used": rng.uniform(size=200), "idle": rng.uniform(size=200)})
    model = QuorumRegressor(kernel="se", metric="ard").fit(X, pd.Series(np.sin(5 * X["used"].to_numpy()), name="out"))
    assert "noise_variance" in model.at_bound_ and set(model.at_bound_) <= {"used", "idle", "signal_variance", "noise_variance"}
    assert model.kernel_scores_ is None


def test_every_attribute_is_described(model):
    said = QuorumRegressor.__doc__
    for name in vars(model):
        if name.endswith("_") and not name.startswith("_"):
            assert name in said, f"{name} is not in help(QuorumRegressor)"


def test_a_target_that_was_made_of_an_input_is_not_called_like_it():
    X = pd.DataFrame({"a": np.linspace(0, 1, 80), "b": np.cos(np.arange(80.0))})
    model = QuorumRegressor(kernel="se").fit(X, np.sin(6 * X["a"]) + 0.1 * X["b"].to_numpy())
    assert model.targets_ == ["y"] and model.input_names_ == ["a", "b"]
    with pytest.raises(quorum.QuorumError, match='both named "a"'):
        QuorumRegressor(kernel="se").fit(X, X["a"])  # the target among the inputs
