"""Models move freely between Python and the command line, with the same bits."""
import json

import numpy as np
import pandas
import pytest
from conftest import small

from quorum import QuorumRegressor

METHODS = ["nearest", "cells", "npae", "grbcm", "rbcm", "single"]


def write_csv(path, frame):
    frame.to_csv(path, index=False, float_format="%.17g")


@pytest.fixture(scope="module")
def training(data):
    frame = pandas.DataFrame(data[0], columns=["depth", "age", "noise"])
    return frame, pandas.Series(data[1], name="yield")


@pytest.mark.parametrize("method", METHODS)
def test_a_model_of_python_predicts_the_same_on_the_command_line(training, queries, command,
                                                                 tmp_path, method):
    frame, target = training
    model = small(method=method).fit(frame, target)
    model.save(tmp_path / "model.npz")
    asked = pandas.DataFrame(queries, columns=frame.columns)
    write_csv(tmp_path / "queries.csv", asked)
    np.save(tmp_path / "queries.npy", queries)
    ours = np.column_stack(model.predict(asked, return_std=True, return_interval=0.95))
    for name in ("queries.csv", "queries.npy"):
        command("predict", tmp_path / "model.npz", tmp_path / name, "--method", method,
                "-o", tmp_path / "out.csv")
        theirs = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1)
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_of_the_command_line_predicts_the_same_in_python(training, queries, command,
                                                                 tmp_path, method):
    frame, target = training
    write_csv(tmp_path / "train.csv", frame.join(target))
    command("fit", tmp_path / "train.csv", "-o", tmp_path / "model.npz", "--experts", "4",
            "--kernel", "se", "--max-evaluations", "30", "--seed", "5", "--calibrate")
    asked = pandas.DataFrame(queries, columns=frame.columns)
    write_csv(tmp_path / "queries.csv", asked)
    command("predict", tmp_path / "model.npz", tmp_path / "queries.csv", "--method", method,
            "-o", tmp_path / "out.csv")
    model = QuorumRegressor.load(tmp_path / "model.npz", method=method)
    ours = np.column_stack(model.predict(asked, return_std=True, return_interval=0.95))
    theirs = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(ours, theirs)
    assert list(model.feature_names_in_) == ["depth", "age", "noise"]
    given = {"n_experts": 4, "kernel": "se", "max_evaluations": 30, "random_state": 5,
             "calibrate": True, "method": method}
    assert model.get_params() == QuorumRegressor(**given).get_params()


def test_the_same_fit_is_the_same_model(training, command, tmp_path):
    frame, target = training
    write_csv(tmp_path / "train.csv", frame.join(target))
    command("fit", tmp_path / "train.csv", "-o", tmp_path / "theirs.npz", "--experts", "4",
            "--kernel", "se", "--max-evaluations", "30")
    small().fit(frame, target).save(tmp_path / "ours.npz")
    ours, theirs = np.load(tmp_path / "ours.npz"), np.load(tmp_path / "theirs.npz")
    for name in theirs.files:
        if name != "meta.json":
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


def test_attributes_are_what_inspect_says(training, command, tmp_path):
    model = small().fit(*training)
    model.save(tmp_path / "model.npz")
    said = json.loads(command("inspect", tmp_path / "model.npz", "--json"))
    assert said["graph"] is None and "precision_" not in vars(model)
    importance = model.importance_  # learned now, and saved with the rest
    model.save(tmp_path / "model.npz")
    said = json.loads(command("inspect", tmp_path / "model.npz", "--json"))
    assert said["names"] == list(model.feature_names_in_) and said["target"] == "yield"
    assert said["sizes"]["each"] == [len(rows) for rows in model.experts_]
    inputs = said["hyperparameters"]
    np.testing.assert_allclose([d["lengthscale"] for d in inputs], model.input_lengthscale_, rtol=1e-12)
    np.testing.assert_allclose([d["inverse_lengthscale_share"] for d in inputs],
                               model.inverse_lengthscale_share_, rtol=1e-12)
    assert said["noise_variance"] == pytest.approx(model.noise_variance_, rel=1e-12)
    np.testing.assert_allclose(said["graph"]["importance"], importance, rtol=1e-12)
    assert said["graph"]["ranking"] == list(model.ranking_ + 1)


def test_saving_and_loading_keeps_the_fit(data, queries, tmp_path):
    model = small(random_state=3, partition="kdtree", alpha=0.05, n_jobs=1).fit(*data)
    model.save(tmp_path / "model.npz")
    again = QuorumRegressor.load(str(tmp_path / "model.npz"))
    assert again.get_params() == {**model.get_params(), "n_jobs": None}
    assert not hasattr(again, "feature_names_in_")
    np.testing.assert_array_equal(again.predict(queries), model.predict(queries))
    for one, other in zip(model.experts_, again.experts_):
        np.testing.assert_array_equal(one, other)
