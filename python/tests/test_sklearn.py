"""scikit-learn's own checks, and the tools that estimators are used with."""
import copy
import inspect
import pickle

import joblib
import numpy as np
import pandas
import pytest
from conftest import make_data, small
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from quorum import QuorumRegressor


# Of 15 rows without noise the likelihood is flat about its maximum, and rows that are repeated are split otherwise among
# experts; test_weights.py has weights against repeated rows where both are given.
EXCUSED = {"check_sample_weight_equivalence_on_dense_data": "hyperparameters are found to a tolerance"}
checks_can_fail = "expected_failed_checks" in inspect.signature(parametrize_with_checks).parameters  # from 1.6 on


@parametrize_with_checks([QuorumRegressor(), QuorumRegressor(n_experts=2, method="grbcm")],
                         **({"expected_failed_checks": lambda estimator: EXCUSED} if checks_can_fail else {}))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_no_other_check_is_excused():
    if hasattr(QuorumRegressor, "_get_tags"):  # scikit-learn before 1.6
        assert not QuorumRegressor()._get_tags()["_xfail_checks"]
        assert not QuorumRegressor()._get_tags()["poor_score"]
    else:
        assert not QuorumRegressor().__sklearn_tags__().regressor_tags.poor_score


def test_parameters_are_explicit():
    parameters = inspect.signature(QuorumRegressor).parameters
    assert {"n_experts", "expert_size", "partition", "kernel", "method", "select", "neighbours",
            "calibrate", "alpha", "random_state", "n_jobs", "memory", "verbose"} <= set(parameters)
    estimator = QuorumRegressor(method="rbcm").set_params(n_experts=7)
    assert estimator.get_params()["n_experts"] == 7
    assert clone(estimator).get_params() == estimator.get_params()
    assert repr(estimator) == "QuorumRegressor(method='rbcm', n_experts=7)"


def test_documentation_covers_every_parameter():
    described = inspect.getdoc(QuorumRegressor)
    for name in inspect.signature(QuorumRegressor).parameters:
        assert f"\n{name} : " in described


def test_pipeline_and_cross_validation(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), PolynomialFeatures(1, include_bias=False), small())
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.95


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_grid_search_in_parallel(data, backend):
    with joblib.parallel_backend(backend):
        search = GridSearchCV(small(), {"n_experts": [2, 4], "method": ["rbcm", "npae"]}, cv=2,
                              n_jobs=2).fit(*data)
    assert search.best_score_ > 0.95
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_parallel_search_gives_the_same_scores(data):
    grid = {"n_experts": [1, 3]}
    one, two = (GridSearchCV(small(), grid, cv=2, n_jobs=jobs).fit(*data) for jobs in (1, 2))
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"],
                                  two.cv_results_["mean_test_score"])


def test_pandas(data, queries):
    X, y = data
    frame = pandas.DataFrame(X, columns=["depth", "age", "noise"])
    model = small().fit(frame, pandas.Series(y, name="yield"))
    assert list(model.feature_names_in_) == ["depth", "age", "noise"]
    asked = pandas.DataFrame(queries, columns=frame.columns)
    np.testing.assert_array_equal(model.predict(asked), small().fit(X, y).predict(queries))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(asked[["age", "depth", "noise"]])


def test_names_of_the_target(data):
    frame = pandas.DataFrame(data[0], columns=["depth", "age", "noise"])
    target = pandas.Series(data[1], name="yield")
    for y, name in ((target, "yield"), (target.to_frame("name"), "name"), (data[1], "y")):
        assert small().fit(frame, y)._model.inspect()["names"] == [*frame.columns, name]


def test_pickles_and_copies_give_the_same_bits(fitted, queries):
    expected = fitted.predict(queries, return_std=True)
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), copy.copy(fitted)):
        np.testing.assert_array_equal(again.predict(queries, return_std=True), expected)
        np.testing.assert_array_equal(again.precision_, fitted.precision_)
        assert again.get_params() == fitted.get_params()


def test_unfitted(queries):
    for action in (lambda: QuorumRegressor().predict(queries), lambda: QuorumRegressor().save("x")):
        with pytest.raises(NotFittedError):
            action()


def test_number_of_threads_does_not_matter(data, queries):
    one, all_but_one = (small(n_jobs=n).fit(*data).predict(queries, return_std=True)
                        for n in (1, -1))
    np.testing.assert_array_equal(one, all_but_one)


def test_random_state(queries):
    X, y = make_data(300)
    by_default, one, two = (small(random_state=s, partition="random").fit(X, y).predict(queries)
                            for s in (None, 1, 2))
    np.testing.assert_array_equal(by_default, one)
    assert (one != two).any()
    generator = np.random.RandomState(0)
    first, second = (small(random_state=generator, partition="random").fit(X, y).predict(queries)
                     for _ in range(2))
    assert (first != second).any()
