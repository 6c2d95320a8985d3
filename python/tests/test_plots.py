"""Pictures have labels, legends and what they claim to show."""
import csv
import io
import os
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import make_data, small
from matplotlib import image, pyplot
from sklearn import inspection

import quorum
from quorum._gaps import find_gaps

PYTHON = pathlib.Path(__file__).resolve().parent.parent


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


# ---- Importance and effects ----


@pytest.fixture(scope="module")
def exact(data):
    """One expert: predictions take no time."""
    return small(n_experts=1).fit(*data)


@pytest.fixture(scope="module")
def frame():
    """A data frame of a number, a category and dates, and a model of it."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"size": rng.random(300), "city": rng.choice(["Bonn", "Oslo", "Rome"], 300),
                      "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 300), "D")})
    y = 2 * X["size"] + X["city"].map({"Bonn": 0.0, "Oslo": 3.0, "Rome": 1.0}) + 0.1 * rng.standard_normal(300)
    return small(n_experts=1).fit(X, y), X, y


def test_importance_has_the_commands_numbers(exact, tmp_path, command):
    X, y = make_data(150, seed=5)
    exact.save(tmp_path / "m.npz")
    np.savetxt(tmp_path / "d.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g")
    told = command("importance", tmp_path / "m.npz", tmp_path / "d.csv", "--csv", "--seed", 3, "--rows", 100)
    found = exact.importance(X, y, max_rows=100, random_state=3)
    assert found.names == ["x1", "x2", "x3"] and found.n_rows == 100
    for row in csv.DictReader(io.StringIO(told)):
        k = found.names.index(row["input"])
        for kind in ("squared_error", "nlpd", "first", "total"):
            assert float(row[kind]) == getattr(found, kind)[k]
            ends = [float(row[kind + "_low"]), float(row[kind + "_high"])]
            assert ends == list(getattr(found, kind + "_interval")[k])
        assert float(row["lengthscale"]) == found.lengthscale[k]


def test_importance_without_targets(exact):
    found = exact.importance(make_data(60, seed=5)[0])
    assert np.isnan(found.squared_error).all() and np.isfinite(found.total).all()


def test_importance_refuses(exact, data):
    with pytest.raises(ValueError, match="y has 3 entries"):
        exact.importance(data[0], [1, 2, 3])
    with pytest.raises(quorum.DataError, match="20 are needed"):
        exact.importance(data[0][:10])
    with pytest.raises(ValueError, match="max_rows"):
        exact.importance(data[0], max_rows=0)


def test_importance_of_a_data_frame(frame):
    model, X, y = frame
    found = model.importance(X, y)
    assert found.names == ["size", "city", "day"]
    assert found.total.argmax() == 1 and np.isnan(found.lengthscale[1]) and found.total[2] < 0.05


def test_partial_dependence_is_a_mean_over_rows(exact):
    X = make_data(80, seed=6)[0]
    found = exact.partial_dependence(X, 0, values=[-1, 0.5], n_curves=4, interval=0.8)
    for k, value in enumerate([-1, 0.5]):
        changed = X.copy()
        changed[:, 0] = value
        exact.set_params(latent=True)
        mean, lower, upper = exact.predict(changed, return_interval=0.8)
        exact.set_params(latent=False)
        np.testing.assert_allclose([found.mean[k], found.lower[k], found.upper[k]],
                                   [mean.mean(), lower.mean(), upper.mean()], rtol=1e-12)
        np.testing.assert_array_equal(found.curves[:, k], mean[::20])
    assert found.names == ["x1"] and found.n_rows == 80 and found.curves.shape == (4, 2)


def test_partial_dependence_of_two_has_the_axes_in_order(exact):
    X = make_data(80, seed=6)[0]
    found = exact.partial_dependence(X, ("x2", 0), values=([0, 1, 2], [-1, 1]), n_curves=2)
    assert found.mean.shape == found.support.shape == (3, 2) and found.curves.shape == (2, 3, 2)
    changed = X.copy()
    changed[:, 1], changed[:, 0] = 2, -1
    expected = exact.predict(changed)
    np.testing.assert_allclose(found.mean[2, 0], expected.mean(), rtol=1e-12)
    np.testing.assert_array_equal(found.curves[:, 2, 0], expected[::40])


def test_partial_dependence_of_levels_and_dates(frame):
    model, X, _ = frame
    cities = model.partial_dependence(X, "city")
    assert list(cities.values[0]) == ["Bonn", "Oslo", "Rome"]
    np.testing.assert_allclose(cities.mean - cities.mean[0], [0, 3, 1], atol=0.15)
    days = model.partial_dependence(X, "day", n_values=3)
    assert days.values[0][0] == np.datetime64(X["day"].min()) and days.support.min() > 0.9
    late = model.partial_dependence(X, "day", values=pd.to_datetime(["2024-02-01", "2031-02-01"]))
    assert late.support[1] == 0
    with pytest.raises(ValueError, match="no level of city"):
        model.partial_dependence(X, "city", values=["Paris"])


@pytest.mark.parametrize("features, said", [("nothing", "none of"), (7, "number from 0 to 2"), ((0, 1, 2), "one or two"),
                                            ((0, 0), "the same")])
def test_partial_dependence_refuses(exact, data, features, said):
    with pytest.raises(ValueError, match=said):
        exact.partial_dependence(data[0], features)


def test_scikit_learns_inspection_goes_on_working(exact):
    X, y = make_data(100, seed=7)
    permuted = inspection.permutation_importance(exact, X, y, n_repeats=3, random_state=0,
                                                 scoring="neg_mean_squared_error")
    np.testing.assert_allclose(permuted.importances_mean, exact.importance(X, y).squared_error, rtol=0.3, atol=0.01)
    theirs = inspection.partial_dependence(exact, X, [0], grid_resolution=5, kind="average")
    grid = theirs["grid_values" if "grid_values" in theirs else "values"][0]
    ours = exact.partial_dependence(X, 0, values=grid)
    np.testing.assert_allclose(theirs["average"][0], ours.mean, rtol=1e-10)


# ---- Pictures of these ----


def test_plot_importance_of_inputs(exact):
    X, y = make_data(100, seed=7)
    found = exact.importance(X, y)
    ax = quorum.plot_importance(found)
    order = np.argsort(-found.total, kind="stable")
    assert [label.get_text() for label in ax.get_yticklabels()] == [found.names[i] for i in order]
    first, total = (container.lines[0].get_xdata() for container in ax.containers)
    np.testing.assert_allclose(first, 100 * found.first[order])
    np.testing.assert_allclose(total, 100 * found.total[order])
    assert "100 rows" in ax.get_title()


def test_plot_predicted_counts_what_is_outside(exact):
    X, y = make_data(300, seed=8)
    ax = quorum.plot_predicted(exact, X, y, interval=0.5)
    _, lower, upper = exact.predict(X, return_interval=0.5)
    outside = np.sum((y < lower) | (y > upper))
    assert len(ax.lines[1].get_xdata()) == 300 - outside and len(ax.lines[2].get_xdata()) == outside
    assert f"outside: {100 * outside / 300:.1f} %" in legend(ax)


def test_plot_residuals(exact):
    X, y = make_data(200, seed=8)
    mean, std = exact.predict(X, return_std=True)
    ax = quorum.plot_residuals(exact, X, y)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), (y - mean) / std)
    ax = quorum.plot_residuals(exact, X, y, by=pd.Series(X[:, 1], name="b"))
    assert ax.get_xlabel() == "b" and len(ax.lines[1].get_xdata()) == 10


def test_plot_errors_are_those_of_groups(exact, data):
    X, y = make_data(200, seed=8)
    errors = y - exact.predict(X)
    ax = quorum.plot_errors(exact, X, y, "x2")
    order = np.argsort(X[:, 1])
    expected = [np.sqrt(np.mean(errors[part] ** 2)) for part in np.array_split(order, 10)]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], expected, rtol=1e-12)
    assert ax.lines[0].get_xdata()[0] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-12)
    first, last = (ax.get_yticklabels()[k].get_text() for k in (0, -1))
    assert first.startswith(f"{X[:, 1].min():.4g} to ") and last.endswith(f" to {X[:, 1].max():.4g}")
    kind = pd.Series(np.where(X[:, 0] > 0, "plus", "minus"), name="side")
    other = small().fit(data[0][:50], data[1][:50])
    ax = quorum.plot_errors(exact, X, y, kind, before=other)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["minus", "plus"] and ax.get_ylabel() == "side"
    assert ax.patches[1].get_width() == pytest.approx(np.sqrt(np.mean(errors[kind == "plus"] ** 2)))
    assert ax.patches[3].get_width() == pytest.approx(np.sqrt(np.mean((y - other.predict(X))[kind == "plus"] ** 2)))
    assert legend(ax) == ["this model", "the earlier model"]


def test_plot_errors_of_ties_and_levels(frame):
    """A value is in one group alone; levels are called by their names."""
    model, X, y = frame
    assert {t.get_text() for t in quorum.plot_errors(model, X, y, "city").get_yticklabels()} == set(X["city"])
    values = np.repeat(np.arange(12.0), [90, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100])[:len(y)]
    names = [t.get_text() for t in quorum.plot_errors(model, X[:len(values)], y[:len(values)], values).get_yticklabels()]
    assert names[0] == "0" and len(set(names)) == len(names)


def test_plot_width_and_novelty(exact):
    X, _ = make_data(120, seed=9)
    _, lower, upper, distance = exact.predict(X, return_interval=0.8, return_distance=True)
    ax = quorum.plot_width(exact, X, interval=0.8)
    nearest = np.argsort(distance, kind="stable")[:12]
    assert ax.lines[1].get_ydata()[0] == pytest.approx((upper - lower)[nearest].mean(), rel=1e-12)
    assert "80 %" in ax.get_ylabel()
    ax = quorum.plot_novelty(exact, X)
    counts = np.histogram(exact.predict(X, return_novelty=True)[1], np.linspace(0, 1, 11))[0]
    np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], counts)


def test_plot_rows_marks_those_outside(exact, data):
    X, _ = make_data(60, seed=10)
    X[:3] += 50.0
    ax = quorum.plot_rows(exact, data[0], X, (0, "x2"))
    assert legend(ax)[2] == "outside the data: 5.0 %"
    np.testing.assert_array_equal(ax.lines[2].get_xydata(), X[:3, :2])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x2")


def between(rows, cell, way, across):
    """Whether the nearest cells with rows, on either side, have 5 rows on average."""
    near = []
    for sign in (-1, 1):
        x, y = cell[0] + sign * way[0], cell[1] + sign * way[1]
        while 0 <= x < across and 0 <= y < across and (x, y) not in rows:
            x, y = x + sign * way[0], y + sign * way[1]
        near += [rows[x, y]] if (x, y) in rows else []
    return len(near) == 2 and sum(near) >= 10


def gaps_one_by_one(places):
    """Cells of the map without a row and with some on both sides, as cli/report/gaps.c says it."""
    n = len(places)
    across, away = min(int((n / 10) ** 0.5), 24), int(0.005 * n)
    low = np.array([sorted(places[:, a])[away] for a in (0, 1)])
    step = (np.array([sorted(places[:, a])[n - 1 - away] for a in (0, 1)]) - low) / across
    rows = {}
    for place in places:
        cell = tuple(int(np.floor((place[a] - low[a]) / step[a])) for a in (0, 1))
        if all(0 <= c < across for c in cell):
            rows[cell] = rows.get(cell, 0) + 1
    found = []
    for cell in np.ndindex(across, across):
        if cell not in rows and any(between(rows, cell, way, across) for way in ((1, 0), (0, 1))):
            found.append(low + step * cell)
    return np.array(found)


def test_plot_rows_shades_gaps(exact):
    X = np.random.default_rng(11).normal(size=(4000, exact.n_features_in_))
    X = X[(np.abs(X[:, 0] - 0.4) > 0.6) | (np.abs(X[:, 1]) > 0.6)]
    ax = quorum.plot_rows(exact, X, X[:3], (0, 1))
    assert legend(ax)[0] == "gaps"
    squares = np.array([path.vertices[:4] for path in ax.collections[0].get_paths()])
    np.testing.assert_allclose(squares[:, 0], gaps_one_by_one(X[:, :2]), rtol=1e-12)
    assert len(squares) > 4 and (np.abs(squares.mean(axis=1) - [0.4, 0.0]) < 0.6).all()
    missing = np.vstack([X[:, :2], [np.nan, 0.0]])  # a row with a hole is not on the map
    np.testing.assert_allclose(find_gaps(missing)[0], squares[:, 0])
    assert not quorum.plot_rows(exact, X[:100], X[:3], (0, 1)).collections  # too few rows to tell
    whole = np.column_stack([X[:, 0], np.round(2 * X[:, 1])])  # nothing is between whole numbers
    assert len(find_gaps(whole)[0]) < 5 and len(find_gaps(whole + 0.02 * X[:, [1, 0]])[0]) > 50


def test_plot_rows_along_the_metric(data, frame):
    """One step is a length-scale along a direction; the first is the widest, the second what it leaves."""
    X, y = data
    model = small(n_experts=2, train="neighbours", metric="linear").fit(X, y)
    assert model.rotation_ is not None
    ax = quorum.plot_rows(model, X, X[:50])
    Z = (X - model.x_mean_) / model.x_scale_ @ model.rotation_.T / model.lengthscale_
    shown = ax.lines[0].get_xydata()
    first = np.argmax(Z.var(axis=0))
    left = [np.var(Z[:, k]) * (1 - np.corrcoef(Z[:, first], Z[:, k])[0, 1] ** 2) if k != first else -1
            for k in range(Z.shape[1])]
    assert {tuple(p) for p in shown.round(9)} <= {tuple(p) for p in Z[:, [first, np.argmax(left)]].round(9)}
    assert ax.get_xlabel().endswith("(in length-scales)")
    levels, table, _ = frame  # a level is where its position is
    assert np.isfinite(quorum.plot_rows(levels, table, table[:20]).lines[0].get_xydata()).all()


def axis_of_dates(axis):
    axis.axes.figure.canvas.draw()
    return [text.get_text() for text in axis.get_ticklabels()]


def is_date(texts):
    return any(text.startswith("2024-") or text in ("Mar", "May", "Sep") for text in texts)


def test_dates_are_drawn_as_dates():
    """Not as seconds since 1970, whatever the picture."""
    rng = np.random.default_rng(12)
    X = pd.DataFrame({"day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 364, 200), "D"),
                      "x": rng.uniform(0, 1, 200)})
    y = np.sin(X["day"].dt.dayofyear / 50.0) + X["x"] + 0.1 * rng.standard_normal(200)
    model = small(n_experts=1).fit(X, y)
    for ax in (quorum.plot_map(model, X, ("day", "x")), quorum.plot_rows(model, X, X[:9], ("day", "x")),
               quorum.plot_residuals(model, X, y, by=X["day"]), quorum.plot_fit(small(n_experts=1).fit(X[["day"]], y), X[["day"]], y)):
        assert is_date(axis_of_dates(ax.xaxis)), ax.get_title()
    assert is_date(axis_of_dates(quorum.plot_map(model, X, ("x", "day")).yaxis))
    for by in ("day", X["day"]):
        named = axis_of_dates(quorum.plot_errors(model, X, y, by).yaxis)
        assert len(named) == 10 and named[0].startswith("2024-01-0") and " to 2024-" in named[0]


def test_plot_effect_fades_what_has_no_rows(exact):
    X = make_data(100, seed=9)[0]
    ax = quorum.plot_effect(exact.partial_dependence(X, 0, values=np.linspace(-6, 2, 30), n_curves=2))
    assert {line.get_alpha() for line in ax.lines if line.get_linewidth() == 2} == {1, 0.25}
    assert "pale" in ax.get_title() and ax.get_xlabel() == "x1"
    ax = quorum.plot_effect(exact.partial_dependence(X, (0, 1), n_values=5))
    assert ax.get_xlabel() == "x1" and ax.get_ylabel() == "x2" and len(ax.collections) == 2


def test_plot_effect_of_levels(frame):
    model, X, _ = frame
    ax = quorum.plot_effect(model.partial_dependence(X, "city", n_curves=3))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["Bonn", "Oslo", "Rome"]
    ax = quorum.plot_effect(model.partial_dependence(X, ("size", "city"), n_values=3, max_rows=40))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Bonn", "Oslo", "Rome"]


def test_plot_map(exact, data):
    ax = quorum.plot_map(exact, data[0], ("x1", 2), n_values=7, show="std")
    middle, value = np.median(data[0], axis=0), ax.collections[0].get_array().reshape(7, 7)
    corner = [data[0][:, 0].min(), middle[1], data[0][:, 2].min()]
    assert value[0, 0] == pytest.approx(exact.predict([corner], return_std=True)[1][0])
    assert ax.get_xlabel() == "x1" and ax.get_ylabel() == "x3"
    with pytest.raises(quorum.ArgumentError, match="show"):
        quorum.plot_map(exact, data[0], (0, 1), show="sum")


def test_plot_map_of_a_data_frame(frame):
    model, X, _ = frame
    assert quorum.plot_map(model, X, ("size", "day"), n_values=4).get_ylabel() == "day"


def test_missing_cells_levels_and_new_ones():
    """Rows without a value are a group of their own, a map's range is of those that have one, and levels stand side by side."""
    rng = np.random.default_rng(13)
    X = pd.DataFrame({"size": np.where(np.arange(160) % 8 == 0, np.nan, rng.uniform(1, 3, 160)), "city": np.array(["Bonn", "Oslo", "Rome"])[np.arange(160) % 3]})
    y = np.nan_to_num(X["size"], nan=2.0) + 2.0 * (X["city"] == "Oslo") + 0.1 * rng.standard_normal(160)
    model = small(n_experts=1, missing="impute").fit(X, y)
    ax = quorum.plot_errors(model, X, y, "size")
    assert len(ax.patches) == 11 and ax.get_yticklabels()[-1].get_text() == "(no value)"
    lost = X["size"].isna().to_numpy()
    assert ax.patches[-1].get_width() == pytest.approx(np.sqrt(np.mean((y - model.predict(X))[lost] ** 2)))
    asked = X.assign(city=np.where(np.arange(160) % 5 == 0, "Bern", X["city"]))
    ax = quorum.plot_errors(model, asked, y, "city")
    assert [t.get_text() for t in ax.get_yticklabels()] == ["(new)", "Bonn", "Oslo", "Rome"]
    ax = quorum.plot_map(model, X, ("size", "city"), n_values=5)
    assert ax.get_xlim() == (X["size"].min(), X["size"].max()) and [t.get_text() for t in ax.get_yticklabels()] == ["Bonn", "Oslo", "Rome"]
    value = ax.collections[0].get_array().reshape(3, 5)
    wanted = model.predict(pd.DataFrame({"size": [X["size"].max()] * 3, "city": ["Bonn", "Oslo", "Rome"]}))
    np.testing.assert_allclose(value[:, -1], wanted, rtol=1e-12)


def test_dates_do_not_run_into_each_other():
    rng = np.random.default_rng(14)
    X = pd.DataFrame({"day": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 730, 120), "D"), "x": rng.uniform(0, 1, 120)})
    model = small(n_experts=1).fit(X, X["x"] + np.sin(X["day"].dt.dayofyear / 50.0))
    for ax in (quorum.plot_map(model, X, ("day", "x"), n_values=4), quorum.plot_effect(model.partial_dependence(X, ("day", "x"), n_values=4, max_rows=20)),
               quorum.plot_effect(model.partial_dependence(X, "day", n_values=4, max_rows=20))):
        ax.figure.set_size_inches(4.5, 4)
        ax.figure.canvas.draw()
        boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
        assert len(boxes) > 2 and all(b.x0 > a.x1 for a, b in zip(boxes, boxes[1:])), ax.get_title()


def test_matplotlib_is_imported_when_a_picture_is_drawn():
    code = "import sys, quorum; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True).stdout == "False\n"


# ---- The gallery ----


def test_the_gallery(tmp_path):
    # not as a script: it would import the package beside it, and over an installed wheel that one has no library
    code = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
    done = subprocess.run([sys.executable, "-B", "-c", code, PYTHON / "gallery.py", tmp_path], capture_output=True, text=True,
                          env={**os.environ, "MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stderr
    made = {path.name for path in tmp_path.iterdir()}
    page = (PYTHON.parent / "docs" / "gallery.md").read_text()
    kept = {path.name for path in (PYTHON.parent / "docs" / "gallery").iterdir()}
    assert made == kept and all(f"gallery/{name}" in page for name in made)
    for name in made:
        pixels = image.imread(tmp_path / name)[..., :3]
        assert pixels.std() > 0.05 and len(np.unique(pixels.reshape(-1, 3), axis=0)) > 20, f"{name} is blank"
        assert (tmp_path / name).stat().st_size < 60000
