"""Errors are of the right type and carry the library's sentence."""
import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import make_data, small

import quorum
from quorum import QuorumRegressor


@pytest.mark.parametrize("parameter, value, sentence", [
    ("n_experts", 0, "option experts: 0 is outside its range, 1 to 1e+08"),
    ("n_experts", 2.5, 'option experts: "2.5" is not a whole number'),
    ("expert_size", -3, "option expert-size: -3 is outside its range"),
    ("partition", "voronoi", 'option partition: "voronoi" is not one of kmeans|kdtree|random'),
    ("kernel", "rbf", "is not one of se|matern12|matern32|matern52|matern32x2|matern32x3|matern52x2|auto"),
    ("method", "average", 'method "average" is not known'),
    ("select", "graph:2", "graph"),
    ("neighbours", 20000, "whole number up to 10000"),
    ("alpha", -1.0, "use a number >= 0"),
    ("memory", "lots", "size such as 800M or 4G"),
    ("n_jobs", 0, "option threads: 0 is outside its range"),
    ("random_state", -1, "option seed: -1 is outside its range"),
    ("tolerance", float("nan"), "is not a number"),
])
def test_parameters_out_of_range(data, parameter, value, sentence):
    with pytest.raises(quorum.ArgumentError) as raised:
        small(**{parameter: value}).fit(*data)
    assert sentence in str(raised.value) and isinstance(raised.value, ValueError)


def test_prediction_parameters_are_checked(fitted, queries):
    with pytest.raises(quorum.ArgumentError, match="option interval: 1.5 is outside its range"):
        fitted.predict(queries, return_interval=1.5)
    with pytest.raises(quorum.ArgumentError, match="method"):
        small(method="median")._adopt(fitted._model).predict(queries)


def test_files(fitted, tmp_path):
    with pytest.raises(quorum.FileError, match="missing.npz") as raised:
        QuorumRegressor.load(tmp_path / "missing.npz")
    assert isinstance(raised.value, OSError)
    with pytest.raises(quorum.FileError):
        fitted.save(tmp_path / "no" / "such" / "folder.npz")
    (tmp_path / "text.npz").write_text("not a model")
    with pytest.raises(quorum.FormatError, match="text.npz") as raised:
        QuorumRegressor.load(tmp_path / "text.npz")
    assert isinstance(raised.value, ValueError)


def test_data():
    X, y = make_data(30)
    with pytest.raises(quorum.DataError, match="the target is constant"):
        small().fit(X, np.ones(30))
    with pytest.raises(quorum.DataError, match="31 experts for 30 rows"):
        small(n_experts=31).fit(X, y)


def test_memory(data):
    with pytest.raises(quorum.OutOfMemoryError, match="memory") as raised:
        small(n_experts=1, train="parts", memory="10M").fit(*make_data(3000))
    assert isinstance(raised.value, MemoryError)


def test_names(data):
    """Names that no model file keeps, or that are not different, are refused before training."""
    pandas = pytest.importorskip("pandas")
    X, y = np.asarray(data[0]), np.asarray(data[1])
    for names, sentence in [(["a"] * X.shape[1], "are both named"),
                            (["a\x1b", *"bcdefgh"[:X.shape[1] - 1]], "control character")]:
        with pytest.raises(ValueError, match=f"{sentence}|unique column names"):  # or scikit-learn's own, from 1.9 on
            small().fit(pandas.DataFrame(X, columns=names), y)
    names = ["y", *"bcdefgh"[:X.shape[1] - 1]]
    small().fit(pandas.DataFrame(X, columns=names), y)  # the target has no name of its own
    small().fit(pandas.DataFrame(X, columns=names), pandas.Series(y, name="y"))  # nor here: pandas leaves it that of an input
    with pytest.raises(quorum.ArgumentError, match='input 1 and the target are both named "y"'):
        small().fit(pandas.DataFrame(X, columns=names), pandas.Series(X[:, 0], name="y"))


def test_errors_are_pickled():
    again = pickle.loads(pickle.dumps(quorum.FileError("where")))
    assert type(again) is quorum.FileError and str(again) == "where"
    assert issubclass(quorum.NumericError, quorum.QuorumError)


@pytest.mark.filterwarnings("default")
def test_events_are_warnings():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    with pytest.warns(quorum.QuorumWarning) as caught:
        small().fit(X, rng.standard_normal(200))
    assert caught[0].filename == __file__
    assert issubclass(quorum.BoundWarning, UserWarning)


def test_a_bound_warning_names_what_is_on_its_bound():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.uniform(size=(400, 3)), columns=["height", "useless", "width"])
    y = pd.Series(np.sin(6 * X["height"]) + X["width"] ** 2, name="area")
    with pytest.warns(quorum.BoundWarning) as caught:
        small(n_experts=1).fit(X, y)
    sentence = str(caught[0].message)
    assert "(the target hardly changes with these inputs): useless" in sentence
    assert "noise variance (lower)" in sentence and "height" not in sentence
    assert caught[0].filename == __file__


def test_a_graph_warning_says_what_to_do():
    X = np.linspace(0, 1, 400)[:, None]
    model = QuorumRegressor(n_experts=20, kernel="se", theta=[0.5, 1, 1e-8], alpha=1e-14)
    says = "no expert graph.*use a larger lambda"
    with pytest.warns(quorum.GraphWarning, match=says) as caught:
        assert model.fit(X, np.sin(3 * X[:, 0])).precision_ is None
    assert caught[0].filename == __file__
    model.set_params(graph="glasso")
    with pytest.warns(quorum.GraphWarning, match=says) as caught:
        model.fit(X, np.sin(3 * X[:, 0]))
    assert caught[0].filename == __file__
    assert model.precision_ is None
    with pytest.raises(quorum.ArgumentError, match="could not be learned"):
        model.set_params(method="npae*").predict(X)


@pytest.mark.parametrize("bad, why", [("wid\0th", "NUL"), ("wid\udcffth", "surrogate")])
def test_names_that_the_library_cannot_keep(data, fitted, tmp_path, bad, why):
    X, y = data
    frame = pd.DataFrame(X, columns=["height", bad, "depth"])
    with pytest.raises(ValueError, match=why) as raised:
        small().fit(frame, y)
    assert isinstance(raised.value, quorum.ArgumentError) and "column name" in str(raised.value)
    with pytest.raises(quorum.ArgumentError, match=f"column name.*{why}"):
        small().fit(frame.rename(columns={bad: "width"}), pd.Series(y, name=bad))
    with pytest.raises(quorum.ArgumentError, match=f"option method: .*{why}"):
        small(method="npae" + bad).fit(X, y)
    with pytest.raises(quorum.ArgumentError, match=f"method .*{why}"):
        quorum.aggregate([[1.0]], [[1.0]], "rbcm" + bad, prior_variance=1.0)


def test_paths_are_not_cut(fitted, tmp_path):
    with pytest.raises(ValueError, match="path .* NUL"):
        fitted.save(f"{tmp_path}/model\0.npz")
    with pytest.raises(ValueError, match="path .* NUL"):
        QuorumRegressor.load(f"{tmp_path}/model\0.npz")
    assert list(tmp_path.iterdir()) == []
    fitted.save(tmp_path / "gr\udcf6sse.npz")  # bytes that are not UTF-8 are a good path
    QuorumRegressor.load(tmp_path / "gr\udcf6sse.npz")


def test_constant_inputs_are_told():
    """At fit, as an attribute, and where a query has another value."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.uniform(size=60), np.full(60, 7.0)])
    y = np.sin(3 * X[:, 0]) + 0.05 * rng.standard_normal(60)
    with pytest.warns(quorum.ConstantWarning, match="without effect on predictions: x2"):
        model = quorum.QuorumRegressor(n_experts=1).fit(X, y)
    assert list(model.constant_) == [False, True] and model.lengthscale_[1] == np.inf
    assert list(model.inverse_lengthscale_share_) == [1, 0]
    known = model.predict(X[:4])
    with pytest.warns(quorum.ConstantWarning, match="4 queries have another value.*x2"):
        np.testing.assert_array_equal(model.predict(X[:4] + [0, 1]), known)
