"""Pictures have labels, legends and what they claim to show."""
import numpy as np
import pytest
from conftest import make_data, small
from matplotlib import pyplot

import quorum


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_plot_fit():
    X, y = quorum.demo_data(300)
    model = small().fit(X, y)
    ax = quorum.plot_fit(model, X, y, interval=0.9)
    assert ax.get_xlabel() == "x1" and ax.get_ylabel() == "target"
    assert legend(ax) == ["90 % interval", "data, 300 rows", "mean"]
    line, mean = ax.lines[1].get_data()
    np.testing.assert_array_equal(mean, model.predict(line[:, None]))


def test_plot_fit_wants_one_input(fitted, queries):
    with pytest.raises(quorum.ArgumentError, match="one input; this one has 3"):
        quorum.plot_fit(fitted, queries)


def test_plot_graph(fitted):
    ax = quorum.plot_graph(fitted)
    edges = np.count_nonzero(np.triu(fitted.precision_, 1))
    assert len(ax.lines) == edges
    assert sorted(text.get_text() for text in ax.texts) == ["1", "2", "3", "4"]
    assert f"4 experts, {edges} edge" in ax.get_title()


@pytest.mark.parametrize("experts", [1, 2])
def test_plot_graph_of_few(data, experts):
    assert len(quorum.plot_graph(small(n_experts=experts).fit(*data)).texts) == experts


def test_plot_calibration(fitted):
    X, y = make_data(500, seed=4)
    ax = quorum.plot_calibration(fitted, X, y)
    assert legend(ax) == ["expected of 500 rows (95 %)", "ideal", "this model"]
    wanted, found = ax.lines[1].get_data()
    _, lower, upper = fitted.predict(X, return_interval=0.9)
    assert found[wanted.round() == 90] == pytest.approx(100 * np.mean((lower <= y) & (y <= upper)))


def test_plot_importance(fitted):
    ax = quorum.plot_importance(fitted)
    first = fitted.ranking_[0]
    assert ax.get_yticklabels()[0].get_text() == f"expert {first + 1}"
    assert ax.patches[0].get_width() == fitted.importance_[first]
    own = pyplot.subplots()[1]
    ax = quorum.plot_importance(fitted, of="inputs", ax=own)
    assert ax is own and ax.get_yticklabels()[0].get_text() == "x1"
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(100)
    assert "1/length-scale" in ax.get_xlabel() and "not importance" in ax.get_title()
    with pytest.raises(quorum.ArgumentError, match="experts"):
        quorum.plot_importance(fitted, of="rows")
