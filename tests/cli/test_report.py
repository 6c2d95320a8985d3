"""quorum report: figures as NumPy finds them from the predictions, left-out rows, thinning, size, and names that cannot inject."""
import csv
import html.parser
import io
import json
import os
import re
import subprocess

import numpy as np
import pytest
from scipy import stats

from conftest import make_rows, run, write_csv

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIT = ["--kernel", "se", "--calibrate=no", "-q"]


class Page(html.parser.HTMLParser):
    """The elements of a page, its text, and the JSON of each figure by the figure's id."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.scripts, self.charts, self.numbers = [], "", [], {}, None
        self.figure, self.script, self.pictures = None, None, {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag == "figure":
            self.figure = attributes["id"]
        if tag in ("svg", "table") and self.figure:
            self.pictures.setdefault(self.figure, tag)
        if tag == "script":
            self.script = attributes

    def handle_endtag(self, tag):
        self.figure = None if tag == "figure" else self.figure
        self.script = None if tag == "script" else self.script

    def handle_data(self, data):
        if self.script is None:
            self.text += data
            return
        self.scripts.append(data)
        if self.script.get("id") == "numbers":
            self.numbers = json.loads(data)
        elif self.script.get("type") == "application/json":
            self.charts[self.figure] = json.loads(data)

    def count(self, name):
        return sum(tag == name for tag, _ in self.tags)


def report(*args, **kwargs):
    return Page(run("report", *args, "-q", **kwargs).out)


def predict(model, path, *more):
    rows = list(csv.DictReader(io.StringIO(run("predict", model, path, *more).out)))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Directory with two models of four experts, the earlier one without b, and a test file."""
    here = tmp_path_factory.mktemp("report")
    write_csv(here / "train.csv", make_rows(600, seed=1))
    write_csv(here / "test.csv", make_rows(300, seed=2))
    run("fit", here / "train.csv", "-o", here / "model.npz", "--experts", 4, "--graph", "glasso", *FIT)
    run("fit", here / "train.csv", "-o", here / "old.npz", "--ignore", "b", *FIT)
    return here


@pytest.fixture(scope="module")
def page(made):
    return report(made / "model.npz", "--test", made / "test.csv", "--before", made / "old.npz")


# ---- Figures ---------------------------------------------------------------------------------


def test_scores_are_those_of_the_predictions(made, page):
    found, y = predict(made / "model.npz", made / "test.csv"), make_rows(300, seed=2)[:, -1]
    error, std = y - found["mean"], found["std"]
    train = make_rows(600, seed=1)[:, -1]
    nlpd = np.mean(0.5 * np.log(2 * np.pi * std ** 2) + 0.5 * (error / std) ** 2)
    plain = stats.norm(train.mean(), train.std())
    numbers = page.numbers
    wanted = {"rmse": np.sqrt(np.mean(error ** 2)), "mae": np.mean(abs(error)), "smse": np.mean(error ** 2) / y.var(),
              "nlpd": nlpd, "msll": nlpd + np.mean(plain.logpdf(y))}
    for key, value in wanted.items():
        np.testing.assert_allclose(numbers["scores"][key], value, rtol=1e-9, err_msg=key)
    np.testing.assert_allclose(numbers["trivial"]["rmse"], np.sqrt(np.mean((y - train.mean()) ** 2)), rtol=1e-9)
    np.testing.assert_allclose(numbers["trivial"]["nlpd"], -np.mean(plain.logpdf(y)), rtol=1e-9)
    assert (numbers["rows"], numbers["training_rows"], numbers["left_out"]) == (300, 600, False)


def test_shares_are_those_of_importance(made, page):
    [changed] = re.findall(r"From (\d+) rows, each changed", page.text)
    found = json.loads(run("importance", made / "model.npz", made / "test.csv", "--rows", changed, "--json", "-q").out)
    wanted = sorted(found["inputs"], key=lambda i: -i["total"]["value"])
    chart = page.charts["shares"]
    assert chart["category"] == [i["input"] for i in wanted] and found["rows"] == int(changed) == 200
    for series, key in zip(chart["series"], ("total", "first")):
        np.testing.assert_allclose(series["y"], [100 * i[key]["value"] for i in wanted], rtol=1e-9)
    first = max(wanted, key=lambda i: i["first"]["value"])
    assert f"By itself {first['input']} tells most: {100 * first['first']['value']:.0f} %" in page.text
    low, high = (100 * wanted[0]["total"][end] for end in ("low", "high"))
    assert f"{low:.1f} to {high:.1f} %" in page.text


def test_effects_are_those_of_effects(made, page):
    """The same values by the command; and of the rows as they are by NumPy."""
    rows, mean = make_rows(300, seed=2), predict(made / "model.npz", made / "test.csv")["mean"]
    count = page.numbers["effect_rows"]
    assert f"in {count} of the asked rows" in page.text
    assert [e["input"] for e in page.numbers["effects"]] == ["a", "b"]
    for place, found in enumerate(page.numbers["effects"]):
        at = np.array(found["value"])
        np.testing.assert_allclose(at[[0, -1]], np.sort(rows[:, place])[[1, -2]], rtol=1e-12)
        out = run("effects", made / "model.npz", made / "test.csv", "--rows", count, "--points", len(at), "-q",
                  "--x", f"{found['input']}={at[0]:.17g}:{at[-1]:.17g}").out
        wanted = list(csv.DictReader(io.StringIO(out)))
        for key in ("mean", "lower", "upper", "support"):
            np.testing.assert_allclose(found[key], [float(row[key]) for row in wanted], rtol=1e-9, err_msg=key)
        half = (at[1] - at[0]) / 2
        near = [mean[abs(rows[:, place] - v) <= half] for v in at]
        np.testing.assert_allclose(np.array(found["occurring"], float), [n.mean() if len(n) >= 5 else np.nan for n in near], rtol=1e-9)
        band, line, _ = page.charts[f"effect-of-{place + 1}"]["series"]
        assert (band["y"], band["y2"], line["y"]) == (found["lower"], found["upper"], found["mean"])
        assert line["faded"] == [s < 0.5 for s in found["support"]]


def test_effects_fade_and_gaps_show(tmp_path):
    """Two inputs that go together but for a hole in the middle: the effect of either is faded where the other forbids it."""
    rng = np.random.default_rng(21)
    a = rng.uniform(-1, 1, 3000)
    b = a + 0.1 * rng.normal(size=3000)
    level = np.where(rng.uniform(size=3000) < 0.5, "low", "<i>high")
    X = rng.uniform(-1, 1, (3000, 2))
    hole = np.hypot(*X.T) < 0.5
    y = np.sin(3 * a) + b + (level == "low") + 0.1 * rng.normal(size=3000)
    lines = [f"{u},{v},{c},{t}" for u, v, c, t in zip(a, b, level, y)]
    (tmp_path / "train.csv").write_text("a,b,c,y\n" + "\n".join(lines[:1500]) + "\n")
    (tmp_path / "test.csv").write_text("a,b,c,y\n" + "\n".join(lines[1500:2000]) + "\n")
    run("fit", tmp_path / "train.csv", "-o", tmp_path / "model.npz", *FIT)
    page = report(tmp_path / "model.npz", "--test", tmp_path / "test.csv")
    faded = page.charts["effect-of-1"]["series"][1]["faded"]
    assert all(faded[:3]) and all(faded[-3:])
    spans, points, there = page.charts["effect-of-3"]["series"]
    assert page.charts["effect-of-3"]["category"] == ["<i>high", "low"] and spans["kind"] == "spans" and not any(points["faded"])
    np.testing.assert_allclose(np.diff(points["y"]), 1.0, atol=0.15)

    z = X.sum(axis=1) + 0.1 * rng.normal(size=3000)
    write_csv(tmp_path / "ring.csv", np.column_stack([X, z])[~hole], header="u,v,y")
    write_csv(tmp_path / "disc.csv", np.column_stack([X, z])[hole], header="u,v,y")
    run("fit", tmp_path / "ring.csv", "-o", tmp_path / "ring.npz", *FIT)
    page = report(tmp_path / "ring.npz", "--test", tmp_path / "disc.csv")
    gaps = next(s for s in page.charts["map"]["series"] if s["kind"] == "cells")
    at = np.column_stack([gaps["x"], gaps["y"]])
    assert len(at) >= 10 and np.hypot(*at.T).max() < 0.6
    half = np.array(gaps["cell"]) / 2
    inside = [(abs(at - row) <= half).all(axis=1).any() for row in X[hole]]
    assert page.numbers["gaps"]["rows"] == sum(inside) > 0.7 * hole.sum()
    assert f"{sum(inside)} of the asked rows are there" in page.text

    band = np.abs(X[:, 1]) < 0.3  # a band without rows is a gap; between whole numbers there is none
    write_csv(tmp_path / "band.csv", np.column_stack([X, z])[~band], header="u,v,y")
    run("fit", tmp_path / "band.csv", "-o", tmp_path / "band.npz", *FIT)
    page = report(tmp_path / "band.npz", "--test", tmp_path / "disc.csv")
    axis = "xy"[page.charts["map"]["y_label"].startswith("v")]
    gaps = next(s for s in page.charts["map"]["series"] if s["kind"] == "cells")
    assert len(gaps[axis]) >= 10 and np.abs(gaps[axis]).max() < 0.3
    write_csv(tmp_path / "whole.csv", np.column_stack([X[:, 0], np.round(3 * X[:, 1]), z]), header="u,v,y")
    run("fit", tmp_path / "whole.csv", "-o", tmp_path / "whole.npz", *FIT)
    assert not any(s["kind"] == "cells" for s in report(tmp_path / "whole.npz").charts["map"]["series"])


def test_few_rows_tell_little_and_the_page_says_so(made):
    """What matters is then of training rows."""
    write_csv(made / "few.csv", make_rows(19, seed=3))
    page = report(made / "model.npz", "--test", made / "few.csv")
    for said in ("19 rows cannot tell. There it errs by", "19 rows cannot tell: a group of them needs 20.", "So few rows cannot tell, though nothing is wrong",
                 "too few rows to say", "what matters is of training rows", "of the training rows, while"):
        assert said in page.text, said
    found = json.loads(run("importance", made / "model.npz", made / "train.csv", "--rows", 200, "--json", "-q").out)
    wanted = sorted(found["inputs"], key=lambda i: -i["total"]["value"])
    assert page.charts["shares"]["category"] == [i["input"] for i in wanted]
    np.testing.assert_allclose(page.charts["shares"]["series"][0]["y"], [100 * i["total"]["value"] for i in wanted], atol=8)  # other rows of them
    assert all(value is None for effect in page.numbers["effects"] for value in effect["occurring"])
    nearly = [*make_rows(19, seed=3), *make_rows(1, seed=4)]
    write_csv(made / "nearly.csv", np.array(nearly))
    assert "cannot tell. There" not in report(made / "model.npz", "--test", made / "nearly.csv").text


def test_one_wrong_cell_is_no_bad_region(made):
    """The group that has it is not called the worst, and the row is named; without it the figures are those of the other rows."""
    rows = make_rows(300, seed=2)
    rows[123, -1] += 500.0
    write_csv(made / "wrong.csv", rows)
    page = report(made / "model.npz", "--test", made / "wrong.csv")
    others = np.delete(rows[:, -1] - predict(made / "model.npz", made / "wrong.csv")["mean"], 123)
    explained = 1 - np.mean(others ** 2) / np.delete(rows[:, -1], 123).var()
    rmse = np.sqrt(np.mean(others ** 2))
    assert f"1 row makes 100 % of the squared error: without it it errs by {rmse:.4g} and explains {100 * explained:.1f} %." in page.text
    assert "Nowhere much more than elsewhere" in page.text and "is that of row 124 alone" in page.text
    rows = make_rows(300, seed=2)
    rows[:, -1] += np.where(rows[:, 0] > np.quantile(rows[:, 0], 0.9), 3.0 * (-1.0) ** np.arange(300), 0.0)
    write_csv(made / "region.csv", rows)
    text = report(made / "model.npz", "--test", made / "region.csv").text
    assert "Worst where a is" in text and "of the squared error" not in text


def test_an_interval_that_is_right_on_average_alone(made):
    """Beside the data targets are wild, away from them they are as predicted: the answer says both, with the groups' figures."""
    rows = make_rows(600, seed=15)
    rows[300:, :2] *= 1.6
    write_csv(made / "plain.csv", rows)
    found = predict(made / "model.npz", made / "plain.csv", "--novelty")
    far = found["novelty"] > np.median(found["novelty"])
    wild = np.random.default_rng(16).normal(size=600) * found["std"]
    rows[:, -1] = found["mean"] + np.where(far, 0.0, 2.0 * wild)
    write_csv(made / "uneven.csv", rows)
    page = report(made / "model.npz", "--test", made / "uneven.csv")
    groups = page.numbers["by_distance"]["groups"]
    low, high = (pick(groups, key=lambda g: g["coverage"]) for pick in (min, max))
    assert low["coverage"] < 0.8 and high["coverage"] == 1.0
    assert f"nearest training row is {low['name']} length-scales away only {100 * low['coverage']:.1f} % are." in page.text
    assert "length-scales away only" not in report(made / "model.npz", "--test", made / "test.csv").text


def test_large_numbers_keep_the_digits_that_tell_them_apart(tmp_path):
    rows = make_rows(200, seed=11)
    rows[:, -1] = 1e9 + 100 * rows[:, -1]
    rows[:, 0] += 2_450_000
    write_csv(tmp_path / "train.csv", rows)
    write_csv(tmp_path / "test.csv", rows[:60])
    run("fit", tmp_path / "train.csv", "-o", tmp_path / "model.npz", *FIT)
    page = report(tmp_path / "model.npz", "--test", tmp_path / "test.csv")
    misses = page.text[page.text.index("The worst misses"):]
    assert "e+" not in misses and "10000000" in misses or "9999999" in misses
    names = [g["name"] for g in page.numbers["by_column"][0]["groups"]]
    assert all(name.startswith(("2449", "2450")) and "." in name for name in names), names
    assert "e+" not in run("evaluate", tmp_path / "model.npz", tmp_path / "test.csv", "--by", "a", "-q").out.split("\n\n")[1]


def test_an_effect_of_few_values_is_at_these(tmp_path):
    rng = np.random.default_rng(12)
    dose, x = 10.0 * rng.integers(0, 5, 400), rng.uniform(size=400)
    y = dose / 20 + np.sin(3 * x) + 0.1 * rng.normal(size=400)
    write_csv(tmp_path / "t.csv", np.column_stack([dose, x, y]), header="dose,x,y")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *FIT)
    page = report(tmp_path / "m.npz", "--test", tmp_path / "t.csv")
    found = {effect["input"]: effect for effect in page.numbers["effects"]}
    assert found["dose"]["value"] == [0, 10, 20, 30, 40] and len(found["x"]["value"]) == 15
    mean = predict(tmp_path / "m.npz", tmp_path / "t.csv")["mean"]
    np.testing.assert_allclose(found["dose"]["occurring"], [mean[dose == d].mean() for d in (0, 10, 20, 30, 40)], rtol=1e-9)
    chance = mean.std() / np.sqrt(page.numbers["effect_rows"])
    assert f"would lie higher or lower, by about {chance:.4g}." in page.text


def test_inputs_of_chance_have_no_effect_chart(tmp_path):
    """Of many inputs each has a first share of several per cent by chance, from the few rows that there is time for."""
    X = np.random.default_rng(13).normal(size=(600, 40))
    y = X[:, 3] + 2 * X[:, 4] * X[:, 5] + 0.1 * np.random.default_rng(14).normal(size=600)
    write_csv(tmp_path / "t.csv", np.column_stack([X, y]), header=",".join([*(f"x{k}" for k in range(40)), "y"]))
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--metric", "ard", "--max-evaluations", "40", *FIT)
    page = report(tmp_path / "m.npz", "--test", tmp_path / "t.csv")
    first = page.charts["shares"]["series"][1]["y"]
    assert sum(share > 1.0 for share in first) > 5  # per cent: of chance, but for x3
    assert {e["input"] for e in page.numbers["effects"]} == {"x3", "x4", "x5"}
    assert re.search(r"Hardly anything depends on x\d+, x\d+, x\d+, x\d+, x\d+ and \d+ more\.", page.text)


def test_coverage_and_its_band(made, page):
    found, y = predict(made / "model.npz", made / "test.csv"), make_rows(300, seed=2)[:, -1]
    z = abs(y - found["mean"]) / found["std"]
    c = page.numbers["coverage"]
    stated = np.array(c["stated"])
    np.testing.assert_allclose(stated, [*np.arange(0.05, 0.96, 0.05), 0.99], atol=1e-12)
    np.testing.assert_allclose(c["share"], [np.mean(z <= stats.norm.ppf(0.5 + p / 2)) for p in stated], atol=1e-12)
    np.testing.assert_allclose(c["low"], stats.binom.ppf(0.025, 300, stated) / 300, atol=1e-12)
    np.testing.assert_allclose(c["high"], stats.binom.ppf(0.975, 300, stated) / 300, atol=1e-12)
    drawn = page.charts["coverage"]["series"]
    np.testing.assert_allclose(np.array(drawn[1]["y"]) / 100, c["share"], atol=1e-12)
    np.testing.assert_allclose(np.array([drawn[0]["y"], drawn[0]["y2"]]) / 100, [c["low"], c["high"]], atol=1e-12)


def test_coverage_of_a_calibrated_model_is_that_of_evaluate(made):
    run("fit", made / "train.csv", "-o", made / "calibrated.npz", "--kernel", "se", "-q")
    c = report(made / "calibrated.npz", "--test", made / "test.csv").numbers["coverage"]
    scores = json.loads(run("evaluate", made / "calibrated.npz", made / "test.csv", "--json").out)[0]
    shares = dict(zip(np.round(c["stated"], 2), c["share"]))
    np.testing.assert_allclose([shares[p] for p in (0.5, 0.9, 0.95, 0.99)], list(scores["coverage"].values()), atol=1e-12)


def test_points_are_the_rows(made, page):
    found, rows = predict(made / "model.npz", made / "test.csv", "--novelty"), make_rows(300, seed=2)
    points = page.charts["predicted"]["series"][0]
    at = np.array(points["row"]) - 1
    assert sorted(at) == list(range(300))
    np.testing.assert_array_equal(points["x"], rows[at, -1])
    np.testing.assert_allclose(points["y"], found["mean"][at], rtol=1e-9)
    residual = page.charts["residuals"]["series"][0]
    np.testing.assert_allclose(residual["y"], rows[at, -1] - found["mean"][at], rtol=1e-6, atol=1e-9)
    bars = page.charts["novelty"]["series"][0]["y"]
    assert bars == list(np.histogram(found["novelty"], np.linspace(0, 1, 11))[0])
    training, known, new = page.charts["map"]["series"]
    assert (len(training["x"]), len(known["x"]), len(new["x"])) == (600, 300 - sum(found["novelty"] > 0.9), sum(found["novelty"] > 0.9))
    assert {page.charts["map"]["x_label"], page.charts["map"]["y_label"]} == {"a", "b"}
    places = {"a": 0, "b": 1}
    for label, values in [("x_label", known["x"]), ("y_label", known["y"])]:
        np.testing.assert_array_equal(values, rows[np.array(known["row"]) - 1, places[page.charts["map"][label]]])


def test_errors_by_tenths_of_a_column(made, page):
    found, rows = predict(made / "model.npz", made / "test.csv"), make_rows(300, seed=2)
    error = rows[:, -1] - found["mean"]
    for place, column in enumerate(page.numbers["by_column"]):
        order = np.argsort(rows[:, place])
        rmse = [np.sqrt(np.mean(error[part] ** 2)) for part in np.split(order, 10)]
        width = [np.mean((found["upper"] - found["lower"])[part]) for part in np.split(order, 10)]
        np.testing.assert_allclose([g["rmse"] for g in column["groups"]], rmse, rtol=1e-9)
        np.testing.assert_allclose([g["width"] for g in column["groups"]], width, rtol=1e-9)
        np.testing.assert_allclose(page.charts[f"error-by-{place + 1}"]["series"][0]["y"], rmse, rtol=1e-9)
        old = rows[:, -1] - predict(made / "old.npz", made / "test.csv")["mean"]
        before = [np.sqrt(np.mean(old[part] ** 2)) for part in np.split(order, 10)]
        plain = rows[:, -1] - make_rows(600, seed=1)[:, -1].mean()
        np.testing.assert_allclose([g["rmse_before"] for g in column["groups"]], before, rtol=1e-9)
        np.testing.assert_allclose([g["rmse_trivial"] for g in column["groups"]], [np.sqrt(np.mean(plain[part] ** 2)) for part in np.split(order, 10)], rtol=1e-9)
        np.testing.assert_allclose(page.charts[f"error-by-{place + 1}"]["series"][1]["y"], before, rtol=1e-9)


def test_the_earlier_model(made, page):
    found = json.loads(run("compare", made / "old.npz", made / "model.npz", made / "test.csv", "--json").out)
    change = found["squared_error"]
    assert f"Squared error changes by {100 * change['relative_change']:+.1f} %" in page.text
    assert f"{100 * change['low']:+.1f} to {100 * change['high']:+.1f}): better than the earlier one" in page.text
    np.testing.assert_allclose(page.numbers["before"]["rmse"] ** 2, change["a"], rtol=1e-9)


def test_the_worst_misses(made, page):
    found, y = predict(made / "model.npz", made / "test.csv"), make_rows(300, seed=2)[:, -1]
    worst = np.argsort(-abs(y - found["mean"]) / found["std"])[:10] + 1
    listed = page.text[page.text.index("The worst misses"):page.text.index("What matters?", page.text.index("The worst misses"))]
    places = [listed.index(f"{row}{y[row - 1]:.4g}") for row in worst]
    assert places == sorted(places)


def test_experts(made, page):
    model = run("inspect", made / "model.npz", "--json").json()
    region, links, nodes, erring = page.charts["experts-graph"]["series"]
    assert erring["about"] == []
    sizes = {}
    for about in nodes["about"]:
        lines = about.split("\n")
        sizes[int(lines[0].split()[1])] = int(lines[1].split()[0])
    assert [sizes[e + 1] for e in range(4)] == model["sizes"]["each"]
    assert len(links["x"]) == 2 * min(model["graph"]["edges"], 8)
    asked = sum(int(about.split(" of the ")[1].split()[0]) for about in nodes["about"] if " of the " in about)
    assert asked == 300
    # the region of an expert: its rows, of which there are as many as it has, and nine tenths of them within what is said
    assert np.bincount(region["owner"], minlength=5)[1:].tolist() == model["sizes"]["each"]
    label = page.charts["experts-graph"]["x_label"]
    for owner, about in zip(nodes["owner"], nodes["about"]):
        low, high = map(float, re.search(rf"region: {label} (\S+) to ([^,]+),", about).groups())
        own = np.sort(np.array(region["x"])[np.array(region["owner"]) == owner])
        away = int(0.05 * len(own))
        np.testing.assert_allclose([low, high], [own[away], own[-1 - away]], rtol=1e-3, atol=1e-3)
    pairs = np.array(links["owner"]).reshape(-1, 2)
    middle = {owner: (x, y) for owner, x, y in zip(nodes["owner"], nodes["x"], nodes["y"])}
    np.testing.assert_array_equal([middle[o] for o in pairs.ravel()], np.column_stack([links["x"], links["y"]]))


def test_experts_that_err(made):
    """Rows on one side of a are moved: the experts there err."""
    rows = make_rows(300, seed=2)
    rows[rows[:, 0] > 1.0, -1] += 1.0
    write_csv(made / "moved.csv", rows)
    page = report(made / "model.npz", "--test", made / "moved.csv")
    _, _, nodes, erring = page.charts["experts-graph"]["series"]
    overall = page.numbers["scores"]["rmse"]
    for series, errs in [(nodes, False), (erring, True)]:
        for about in series["about"]:
            error, asked = about.split("RMSE ")[1].split(" of the ")
            assert (float(error) > 1.5 * overall and int(asked.split()[0]) >= 10) == errs
    places = dict(zip([page.charts["map"]["x_label"], page.charts["map"]["y_label"]], [erring["x"], erring["y"]]))
    assert places["a"] and min(places["a"]) > 0.5
    assert float(re.search(r"Worst where a is (\S+) to", page.text)[1]) > 0.9


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    """Rows of two years in five towns, of which one is far dearer than the others, and a column that matters less."""
    here, rng = tmp_path_factory.mktemp("towns"), np.random.default_rng(21)
    towns = ["Bonn", "Köln <am Rhein>", "Oslo", "Rome", "Graz, Ost"]
    days = np.datetime64("2023-01-01") + rng.integers(0, 730, 500)
    lines = [f'{day},"{towns[i % 5]}",{x:.3f},{3 * (i % 5) + np.sin((day - days.min()).astype(int) / 100) + 0.1 * x:.4f}'
             for i, (day, x) in enumerate(zip(days, rng.uniform(size=500)))]
    (here / "t.csv").write_text("\n".join(["day,town,x,y", *lines]) + "\n")
    run("fit", here / "t.csv", "-o", here / "m.npz", "--experts", "4", "--metric", "ard", *FIT)
    return here, days, towns


def test_dates_and_levels_are_axes_in_their_own_words(towns):
    here, days, names = towns
    page = report(here / "m.npz", "--test", here / "t.csv")
    for figure in ("map", "experts-graph"):
        chart = page.charts[figure]
        keys = {chart[f"{key}_label"]: key for key in "xy"}
        assert sorted(keys) == ["day", "town"]
        day, town = keys["day"], keys["town"]
        assert chart[f"{day}_dates"] and all(re.fullmatch(r"\d{4}(-\d\d)?", tick["text"]) for tick in chart[f"{day}_ticks"])
        assert not chart[f"{town}_dates"] and sorted(tick["text"] for tick in chart[f"{town}_ticks"]) == sorted(names)
    training = page.charts["map"]["series"][0]
    at = {tick["at"]: tick["text"] for tick in page.charts["map"][f"{town}_ticks"]}
    rows = np.array(training["row"]) - 1
    assert [at[z] for z in training[town]] == [names[i % 5] for i in rows]
    np.testing.assert_allclose(training[day], days[rows].astype("datetime64[s]").astype(float), atol=1)
    regions = [about.split("region: ")[1].split("\n")[0] for kind in page.charts["experts-graph"]["series"] for about in kind.get("about", [])]
    assert len(regions) == 4
    for region in regions:
        assert re.search(r"day \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d", region) and any(f"town {name}" in region for name in names), region


# ---- Left-out rows ---------------------------------------------------------------------------


def test_without_test_rows_are_left_out(made):
    """The same by hand: the rows are forgotten by the model, which then predicts them."""
    page = report(made / "model.npz")
    assert page.numbers["left_out"] and page.numbers["rows"] == 60
    assert "60 of the 600 training rows were taken out" in page.text
    points = page.charts["predicted"]["series"][0]
    rows = np.array(points["row"])
    data = make_rows(600, seed=1)
    np.testing.assert_allclose(points["x"], data[rows - 1, -1], rtol=1e-9)
    write_csv(made / "gone.csv", data[rows - 1])
    run("update", made / "model.npz", "-o", made / "less.npz", "--forget", ",".join(map(str, rows)), "-q")
    np.testing.assert_allclose(points["y"], predict(made / "less.npz", made / "gone.csv")["mean"], rtol=1e-7)


def test_left_out_rows_of_the_second_target(made):
    rows = make_rows(400, seed=3)
    write_csv(made / "two.csv", np.column_stack([rows, rows[:, 0] ** 2]), header="a,b,y,z")
    run("fit", made / "two.csv", "-o", made / "two.npz", "--target", "y,z", *FIT)
    page = report(made / "two.npz", "--target", "z")
    points = page.charts["predicted"]["series"][0]
    np.testing.assert_allclose(points["x"], rows[np.array(points["row"]) - 1, 0] ** 2, atol=1e-9)
    assert page.numbers["rows"] == 40 and page.numbers["scores"]["smse"] < 0.01


def test_left_out_rows_have_their_levels(tmp_path):
    """The level decides: a row that came back with another would be far off."""
    rng = np.random.default_rng(12)
    lines = ["a,c,y"]
    for i in range(300):
        a, level = rng.uniform(), rng.integers(4)
        lines.append(f"{a},{'klmn'[level]},{10 * [0, 2, 1, 3][level] + a + 0.1 * rng.normal()}")
    (tmp_path / "levels.csv").write_text("\n".join(lines) + "\n")
    for encoding in ("position", "distance"):
        run("fit", tmp_path / "levels.csv", "-o", tmp_path / "levels.npz", "--encoding", encoding, *FIT)
        page = report(tmp_path / "levels.npz")
        assert page.numbers["scores"]["rmse"] < 0.3
        assert [group["name"] for group in page.numbers["by_column"][1]["groups"]] == list("klmn")
        alike = page.text.split("Which levels are alike")[1]
        if encoding == "distance":
            assert "any two are as far from each other as any others" in alike
        else:
            wanted = json.loads(run("inspect", tmp_path / "levels.npz", "--json").out)["categories"][0]
            assert wanted["levels"] == list("kmln")
            assert ", ".join(f"{name} ({at:.2f})" for name, at in zip(wanted["levels"], wanted["positions"])) in alike


def test_left_out_rows_have_their_holes(tmp_path):
    """Where the cell is missing, nothing tells the target: asked with the filled cell, such rows would be as sure as others."""
    rng = np.random.default_rng(14)
    lines = ["a,b,y"]
    for i, (a, b) in enumerate(rng.uniform(-1, 1, (400, 2))):
        lines.append(f"{'' if i % 4 == 0 else a},{b},{10 * a + b + 0.1 * rng.normal()}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--missing", "impute", *FIT)
    page = report(tmp_path / "m.npz")
    *parts, missing = page.numbers["by_column"][0]["groups"]
    assert missing["name"] == "(missing)" and missing["rmse"] > 3 and missing["width"] > 10
    assert all(g["rmse"] < 1 and g["width"] < 3 for g in parts)
    assert f"{missing['rows']} rows have missing cells that were filled in" in page.text


def test_many_levels_are_cut_short(tmp_path):
    rng = np.random.default_rng(13)
    level = rng.integers(40, size=1200)
    lines = [f"{a},L{c:02d},{c + a}" for a, c in zip(rng.uniform(size=1200), level)]
    (tmp_path / "t.csv").write_text("\n".join(["a,c,y", *lines]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *FIT)
    text = report(tmp_path / "m.npz").text.split("Which levels are alike")[1]
    assert "... (16 more)" in text and "L11" in text and "L12 (" not in text and "L28" in text


def test_what_cannot_be_left_out(made):
    write_csv(made / "few.csv", make_rows(60, seed=4))
    run("fit", made / "few.csv", "-o", made / "few.npz", *FIT)
    assert "too few to leave some out: give test data by --test" in run("report", made / "few.npz", code=1).err
    rows = make_rows(200, seed=4)
    write_csv(made / "offset.csv", np.column_stack([rows, rows[:, 0]]), header="a,b,y,o")
    run("fit", made / "offset.csv", "-o", made / "offset.npz", "--target", "y", "--offset", "o", *FIT)
    assert "does not keep the offset of its rows (column o)" in run("report", made / "offset.npz", code=1).err
    assert report(made / "offset.npz", "--test", made / "offset.csv").numbers["rows"] == 200


# ---- Size and thinning -----------------------------------------------------------------------


def test_large_tables_are_thinned_fairly(made):
    rng = np.random.default_rng(5)
    inputs = [f"x{k}" for k in range(30)]
    data = np.column_stack([rng.uniform(-1, 1, (12300, 30)), rng.normal(size=12300)])
    data[:, -1] += 3 * data[:, 0]
    write_csv(made / "wide.csv", data[:300], header=",".join([*inputs, "y"]))
    write_csv(made / "many.csv", data[300:], header=",".join([*inputs, "y"]))
    run("fit", made / "wide.csv", "-o", made / "wide.npz", "--metric", "ard", "--max-evaluations", 20, *FIT)
    run("report", made / "wide.npz", "--test", made / "many.csv", "-o", made / "wide.html", "-q")
    text = (made / "wide.html").read_bytes()
    assert len(text) < 2_000_000
    page = Page(text.decode())
    rows = np.array(page.charts["predicted"]["series"][0]["row"])
    assert len(rows) == 1500 == page.numbers["rows_shown"] and page.numbers["rows"] == 12000
    assert "show 1500 of them" in page.text
    # as likely as any other: their numbers are spread like those of a random sample, not at even steps
    assert stats.kstest(rows / 12000, "uniform").pvalue > 1e-4
    steps = np.bincount(np.diff(rows))
    assert steps.max() < 400 and len(steps) > 20
    assert sum(name.startswith("error-by-") for name in page.charts) == 12 and "12 columns, of 30" in page.text
    assert page.text.index("Errors by the other columns") > 0
    run("report", made / "wide.npz", "--test", made / "many.csv", "-o", made / "again.html", "-q", "--threads", 1)
    assert (made / "again.html").read_bytes() == text


# ---- Without scripts -------------------------------------------------------------------------


def test_every_chart_has_a_picture_or_a_table(page):
    assert set(page.charts) == set(page.pictures) and len(page.charts) >= 8
    assert {name: tag for name, tag in page.pictures.items() if tag == "table"}.keys() == \
        {"error-by-1", "error-by-2", "shares", "bends", "novelty"}
    assert page.pictures["effect-of-1"] == "svg"


def test_nothing_is_asked_of_a_network(made, page):
    for tag, attributes in page.tags:
        assert tag not in ("link", "iframe", "img", "object", "embed", "form"), tag
        assert not {"src", "srcset", "action", "poster"} & attributes.keys(), (tag, attributes)
        assert attributes.get("href", "#").startswith("#")
    policy = [a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policy) == 1 and "default-src 'none'" in policy[0]


def test_a_build_without_the_library(tmp_path):
    """embed.cmake makes an empty array of a library that is not there."""
    here = os.path.join(ROOT, "cli", "report")
    made = tmp_path / "assets.c"
    subprocess.run(["cmake", f"-DOUT={made}", f"-DSTYLE={here}/page.css", f"-DSCRIPT={here}/page.js", "-DLIBRARY=",
                    f"-DLICENCE={here}/licence-chart.js.txt", "-P", f"{here}/embed.cmake"], check=True)
    text = made.read_text()
    assert "asset_library_size = 0;" in text
    assert f"asset_style_size = {os.path.getsize(here + '/page.css')};" in text


# ---- Names that mean harm --------------------------------------------------------------------

HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\"'><svg/onload=alert(3)>", "<!--", "]]>&lt;b&gt;",
           "a\u2028b", "{{constructor}}", "<script>"]


def test_hostile_names_and_levels_stay_text(made, tmp_path):
    rng = np.random.default_rng(6)
    path = tmp_path / "x'\"><b onclick=alert(4)>.csv"
    names = [HOSTILE[0], HOSTILE[2], "level", HOSTILE[1]]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for i in range(200):
            a, b, level = rng.uniform(), rng.uniform(), rng.integers(len(HOSTILE))
            writer.writerow([a, b, HOSTILE[level], np.sin(3 * a) + b + level + 0.1 * rng.normal()])
    run("fit", path, "-o", tmp_path / "hostile.npz", *FIT)
    text = run("report", tmp_path / "hostile.npz", "--test", path, "-q").out
    page, plain = Page(text), report(made / "model.npz", "--test", made / "test.csv")
    assert page.count("script") - len(page.charts) == plain.count("script") - len(plain.charts)
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in plain.tags}
    allowed = {key for _, attributes in plain.tags for key in attributes}
    assert {key for _, attributes in page.tags for key in attributes} <= allowed
    assert not any("\u2028" in script for script in page.scripts)
    assert [column["name"] for column in page.numbers["by_column"]] == names[:3]
    assert sorted(group["name"] for group in page.numbers["by_column"][2]["groups"]) == sorted(HOSTILE)
    assert all(name in page.text for name in HOSTILE[:3])


# ---- All kinds of models ---------------------------------------------------------------------


def test_dates_categories_missing_cells_and_places(tmp_path):
    rng = np.random.default_rng(7)
    lines = ["day,city,x,y"]
    for i in range(200):
        number = int(rng.integers(0, 300))
        day = np.datetime64("2024-01-01") + number
        city, x = ["Rome", "Oslo", "Bonn"][i % 3], rng.uniform()
        lines.append(f"{day},{city},{'' if i % 20 == 7 else x},{i % 3 + np.sin(6 * x) + number / 100 + 0.1 * rng.normal()}")
    (tmp_path / "mixed.csv").write_text("\n".join(lines) + "\n")
    run("fit", tmp_path / "mixed.csv", "-o", tmp_path / "mixed.npz", "--missing", "impute", *FIT)
    page = report(tmp_path / "mixed.npz", "--test", tmp_path / "mixed.csv", "--missing", "impute")
    columns = {column["name"]: column["groups"] for column in page.numbers["by_column"]}
    assert [g["name"] for g in columns["city"]] == ["Bonn", "Oslo", "Rome"]
    assert columns["day"][0]["name"].startswith("2024-01-0") and " to 2024-" in columns["day"][0]["name"]
    hours = [re.sub(r"^(\d{4}-\d\d-\d\d)", r"\1 06:30", line) for line in lines]
    (tmp_path / "hours.csv").write_text("\n".join(hours) + "\n")
    run("fit", tmp_path / "hours.csv", "-o", tmp_path / "hours.npz", "--missing", "impute", *FIT)
    timed = report(tmp_path / "hours.npz", "--test", tmp_path / "hours.csv", "--missing", "impute")
    assert [g["name"] for g in timed.numbers["by_column"][0]["groups"]] == [g["name"] for g in columns["day"]]
    assert " 06:30" in timed.text
    along = page.charts["effect-of-1"]
    assert along["x_label"] == "day" and len(along["x_ticks"]) > 3
    for tick in along["x_ticks"]:  # the first of a month
        assert np.datetime64(tick["text"] + "-01", "s").astype(int) == tick["at"]
    *parts, missing = columns["x"]
    assert sum(g["rows"] for g in parts) == 190 and (missing["name"], missing["rows"]) == ("(missing)", 10)
    assert "rows have missing cells that were filled in" in page.text

    lon, lat = rng.uniform(-10, 10, 200), rng.uniform(40, 60, 200)
    write_csv(tmp_path / "place.csv", np.column_stack([lon, lat, np.sin(lon / 3) + lat / 20]), header="lon,lat,y")
    run("fit", tmp_path / "place.csv", "-o", tmp_path / "place.npz", "--lonlat", "lon,lat", *FIT)
    page = report(tmp_path / "place.npz")
    assert (page.charts["map"]["x_label"], page.charts["map"]["y_label"]) == ("lon", "lat")
    place = page.charts["map"]["series"][0]
    np.testing.assert_allclose(place["x"], lon[np.array(place["row"]) - 1], atol=1e-9)


def test_one_input_and_weights(tmp_path):
    rows = make_rows(150, seed=8)[:, [0, 2]]
    weight = np.arange(150) % 3
    write_csv(tmp_path / "train.csv", rows, header="a,y")
    write_csv(tmp_path / "weighted.csv", np.column_stack([rows, weight]), header="a,y,w")
    write_csv(tmp_path / "repeated.csv", np.repeat(rows, weight, axis=0), header="a,y")
    run("fit", tmp_path / "train.csv", "-o", tmp_path / "one.npz", *FIT)
    weighted = report(tmp_path / "one.npz", "--test", tmp_path / "weighted.csv", "--weights", "w")
    repeated = report(tmp_path / "one.npz", "--test", tmp_path / "repeated.csv")
    assert weighted.charts["map"]["y_label"] == "y"
    for key in ("rmse", "mae", "nlpd"):
        np.testing.assert_allclose(weighted.numbers["scores"][key], repeated.numbers["scores"][key], rtol=1e-9)
        np.testing.assert_allclose(weighted.numbers["trivial"][key], repeated.numbers["trivial"][key], rtol=1e-9)
    np.testing.assert_allclose(weighted.numbers["coverage"]["share"], repeated.numbers["coverage"]["share"], atol=1e-12)
    effective = int(weight.sum() ** 2 / (weight ** 2).sum())  # 90 of 150 rows: chance has more room
    np.testing.assert_allclose(weighted.numbers["coverage"]["low"], stats.binom.ppf(0.025, effective, weighted.numbers["coverage"]["stated"]) / effective, atol=1e-12)
    assert f"of {effective} rows there" in weighted.text
    order = np.argsort(rows[:, 0], kind="stable")
    first = weight[order][:weighted.numbers["by_column"][0]["groups"][0]["rows"]]
    effective = int(first.sum() ** 2 / (first ** 2).sum())
    np.testing.assert_allclose(weighted.numbers["by_column"][0]["groups"][0]["expected"], stats.binom.ppf([0.025, 0.975], effective, 0.95) / effective, atol=1e-12)
    assert "have the very inputs of a training row" in repeated.text


def test_warnings_say_what_is_wrong(made):
    far = make_rows(200, seed=9)
    far[:, :2] += 40.0
    write_csv(made / "far.csv", far)
    text = report(made / "model.npz", "--test", made / "far.csv").text
    assert "rows are outside the data" in text and "hardly better than the training mean" in text
    shifted = make_rows(200, seed=9)
    shifted[:, -1] += 2.0
    write_csv(made / "shifted.csv", shifted)
    text = report(made / "model.npz", "--test", made / "shifted.csv").text
    assert "Predictions are too low on average, by " in text and "interval is too narrow" in text
    assert "not calibrated: fit again without --calibrate=no" in text
    run("fit", made / "train.csv", "-o", made / "plain.npz", "--kernel", "se", "-q")  # auto, of 600 rows
    assert "there were too few rows for it" in report(made / "plain.npz", "--test", made / "shifted.csv").text
    good = report(made / "model.npz", "--test", made / "test.csv").text
    assert "too low on average" not in good and "outside the data: the training" not in good


def test_usage(made):
    model, test = made / "model.npz", made / "test.csv"
    assert "--before needs --test" in run("report", model, "--before", made / "old.npz", code=2).err
    assert "name ends in .html" in run("report", model, "-o", made / "x.pdf", code=2).err
    assert "standard input can be read once" in run("report", model, "--test", "-", "--before", model, code=2).err
    write_csv(made / "other.csv", make_rows(200, seed=1), header="a,b,z")
    run("fit", made / "other.csv", "-o", made / "z.npz", *FIT)
    assert "predicts y and --before predicts z" in run("report", model, "--test", test, "--before", made / "z.npz", code=1).err
    (made / "empty.csv").write_text("a,b,y\n")
    assert run("report", model, "--test", made / "empty.csv", "-o", made / "none.html", code=1).err
    assert not (made / "none.html").exists()
    assert report(model, "--test", "-", stdin=test.read_text()).numbers["rows"] == 300
