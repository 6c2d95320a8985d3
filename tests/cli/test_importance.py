"""quorum importance and quorum effects: what they print, write and draw, of columns of all kinds, and what they refuse."""
import csv
import io
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from conftest import make_rows, run, write_csv

FIT = ["--kernel", "se", "--metric", "ard", "--calibrate=no"]
HOSTILE = "<script>&,\"x\""
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    here = tmp_path_factory.mktemp("plain")
    write_csv(here / "train.csv", make_rows(300, seed=1))
    write_csv(here / "test.csv", make_rows(200, seed=2))
    run("fit", here / "train.csv", "-o", here / "m.npz", *FIT)
    return here


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """A table of a category, a date, a place, a name that hurts, an offset, weights and a constant."""
    here, rng = tmp_path_factory.mktemp("kinds"), np.random.default_rng(4)
    with open(here / "d.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["city", "day", "lon", "lat", HOSTILE, "same", "base", "w", "y"])
        for _ in range(300):
            city, day = rng.choice(["Rome", "<b>Oslo", "Bonn"]), rng.integers(0, 700)
            lon, lat, x, base = rng.uniform(5, 25), rng.uniform(40, 60), rng.random(), rng.random()
            y = {"Rome": 0, "<b>Oslo": 3, "Bonn": 1}[city] + 0.2 * lat + 2 * x + base + 0.05 * rng.standard_normal()
            date = np.datetime64("2023-01-01") + day
            out.writerow([city, date, lon, lat, x, 7, base, rng.integers(1, 3), y])
    run("fit", here / "d.csv", "-o", here / "m.npz", "--lonlat", "lon,lat", "--offset", "base", "--weights", "w", *FIT)
    return here


def told(*args):
    return json.loads(run("importance", *args, "--json").out)


# ---- Importance ----


def test_table_names_what_it_shows(plain):
    result = run("importance", plain / "m.npz", plain / "test.csv")
    lines = result.out.splitlines()
    assert lines[0].split()[:2] == ["input", "squared"] and "first" in lines[0] and "length-scale" in lines[0]
    assert lines[1].startswith("a ") and lines[2].startswith("b ")
    assert "200 rows" in result.out and "not how much it matters" in result.out
    assert max(map(len, lines[:3])) <= 130


def test_csv_json_and_file_are_the_same_numbers(plain, tmp_path):
    args = ["importance", plain / "m.npz", plain / "test.csv"]
    printed = run(*args, "--csv").out
    run(*args, "-o", tmp_path / "i.csv")
    assert (tmp_path / "i.csv").read_text() == printed
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [row["input"] for row in rows] == ["a", "b"]
    for row, one in zip(rows, told(*args[1:])["inputs"]):
        for kind in ("squared_error", "nlpd", "first", "total"):
            assert float(row[kind]) == one[kind]["value"]
            assert float(row[kind + "_low"]) <= float(row[kind]) <= float(row[kind + "_high"])
        assert float(row["lengthscale"]) == one["lengthscale"]


def test_losses_are_those_of_evaluate(plain):
    scores = json.loads(run("evaluate", plain / "m.npz", plain / "test.csv", "--json").out)[0]
    found = told(plain / "m.npz", plain / "test.csv")
    assert found["nlpd"] == pytest.approx(scores["nlpd"], rel=1e-12)
    assert found["squared_error"] == pytest.approx(scores["rmse"] ** 2, rel=1e-12)


def test_lengthscales_are_those_of_inspect(plain):
    inputs = json.loads(run("inspect", plain / "m.npz", "--json").out)["hyperparameters"]
    found = told(plain / "m.npz", plain / "test.csv")["inputs"]
    assert {one["input"]: one["lengthscale"] for one in found} == pytest.approx(
        {one["name"]: one["lengthscale_in_units"] for one in inputs})


def test_columns_of_all_kinds_are_one_input_each(kinds):
    found = {one["input"]: one for one in told(kinds / "m.npz", kinds / "d.csv")["inputs"]}
    assert set(found) == {"city", "day", "lon, lat", HOSTILE, "same"}, "the place is one, the offset none"
    assert found["city"]["total"]["value"] > 0.2 and found["lon, lat"]["total"]["value"] > 0.2
    assert found["day"]["total"]["value"] < 0.02
    assert found["same"]["total"]["value"] == 0 and found["same"]["squared_error"]["value"] == 0
    assert found["city"]["lengthscale"] is None


def test_picture_of_importance(kinds, tmp_path):
    run("importance", kinds / "m.npz", kinds / "d.csv", "--plot", tmp_path / "i.svg")
    texts = [text.text for text in ET.parse(tmp_path / "i.svg").iter(SVG + "text")]
    assert {"city", "day", "lon, lat", HOSTILE, "same"} <= set(texts)


def test_rows_and_seeds(plain):
    args = [plain / "m.npz", plain / "test.csv", "--rows", 20]
    assert told(*args)["rows"] == 20 and told(*args)["rows_once"] == 200
    assert told(*args) == told(*args) and told(*args) != told(*args, "--seed", 2)


@pytest.mark.parametrize("args, said", [
    (["--rows", "5"], "not a whole number from 20"),
    (["--csv", "--json"], "one of them"),
    (["--seed", "x"], "seed"),
    (["--plot", "/nowhere/i.svg"], "/nowhere"),
])
def test_importance_refuses(plain, args, said):
    result = run("importance", plain / "m.npz", plain / "test.csv", *args, code=1 if "/nowhere" in said else 2)
    assert said in result.err and result.out == ""


def test_data_without_target_or_with_few_rows(plain, tmp_path):
    write_csv(tmp_path / "x.csv", make_rows(30)[:, :2], header="a,b")
    assert "y" in run("importance", plain / "m.npz", tmp_path / "x.csv", code=1).err
    write_csv(tmp_path / "few.csv", make_rows(19))
    assert "19 rows: 20 are needed" in run("importance", plain / "m.npz", tmp_path / "few.csv", code=1).err


# ---- Effects ----


def effect(*args):
    return list(csv.DictReader(io.StringIO(run("effects", *args).out)))


def test_effects_as_csv(plain):
    rows = effect(plain / "m.npz", plain / "test.csv", "--x", "a", "--curves", 3)
    assert list(rows[0]) == ["a", "mean", "lower", "upper", "support", "curve_1", "curve_2", "curve_3"]
    a, mean, support = (np.array([float(row[key]) for row in rows]) for key in ("a", "mean", "support"))
    assert len(rows) == 41 and a[0] == make_rows(200, seed=2)[:, 0].min()
    np.testing.assert_allclose(mean - mean.mean(), np.sin(2 * a) - np.sin(2 * a).mean(), atol=0.08)
    assert (support[3:-3] > 0.9).all()
    beyond = effect(plain / "m.npz", plain / "test.csv", "--x", "a=3:5", "--points", 3)
    assert [float(row["support"]) for row in beyond[1:]] == [0, 0]


def test_effects_say_that_there_are_no_rows(plain):
    assert "3 of 3 points have a support below 0.5" in run("effects", plain / "m.npz", plain / "test.csv", "--x", "a=5:9", "--points", 3).err


def test_levels_and_dates_are_written_as_the_data_have_them(kinds):
    levels = effect(kinds / "m.npz", kinds / "d.csv", "--x", "city")
    assert [row["city"] for row in levels] == ["<b>Oslo", "Bonn", "Rome"]
    mean = [float(row["mean"]) for row in levels]
    np.testing.assert_allclose(np.array(mean) - mean[2], [3, 1, 0], atol=0.1)
    dates = effect(kinds / "m.npz", kinds / "d.csv", "--x", "day", "--points", 3)
    assert dates[0]["day"].startswith("2023-01-0")
    both = effect(kinds / "m.npz", kinds / "d.csv", "--x", "city", "--y", HOSTILE, "--points", 2)
    assert len(both) == 6 and list(both[0])[:2] == ["city", HOSTILE]
    assert len(effect(kinds / "m.npz", kinds / "d.csv", "--x", "lat", "--points", 4)) == 4


@pytest.mark.parametrize("axes", [["--x", "city"], ["--x", HOSTILE], ["--x", "day"], ["--x", "lon", "--y", "lat", "--points", "5"]])
def test_pictures_of_effects(kinds, tmp_path, axes):
    run("effects", kinds / "m.npz", kinds / "d.csv", *axes, "--rows", 60, "-o", tmp_path / "e.svg")
    tree = ET.parse(tmp_path / "e.svg")
    assert any(axes[1] in (text.text or "") for text in tree.iter(SVG + "text"))
    assert len(list(tree.iter(SVG + "path"))) > 3


def test_levels_have_their_names_on_both_axes(kinds, tmp_path):
    for axes, times in ((["--x", "city"], 1), (["--x", "city", "--y", HOSTILE], 2), (["--x", HOSTILE, "--y", "city"], 2)):
        run("effects", kinds / "m.npz", kinds / "d.csv", *axes, "--rows", 40, "--points", 4, "-o", tmp_path / "e.svg")
        words = [text.text for text in ET.parse(tmp_path / "e.svg").iter(SVG + "text")]
        assert [words.count(name) for name in ("Bonn", "Rome", "<b>Oslo")] == [times] * 3, axes
        assert "-0.5" not in words and "2.5" not in words


def test_what_has_no_support_is_faded(plain, tmp_path):
    def opacities(axis):
        run("effects", plain / "m.npz", plain / "test.csv", "--x", axis, "--curves", 0, "-o", tmp_path / "e.svg")
        return [path.get("stroke-opacity") for path in ET.parse(tmp_path / "e.svg").iter(SVG + "path")
                if path.get("stroke") == "#1f4e9e" and path.get("d").count("L") > 1]
    assert opacities("a") == ["1"] and set(opacities("a=-6:6")) == {"1", "0.2"}
    run("effects", plain / "m.npz", plain / "test.csv", "--x", "a=-6:6", "--y", "b", "--points", 6, "-o", tmp_path / "e.svg")
    pale = [r for r in ET.parse(tmp_path / "e.svg").iter(SVG + "rect") if r.get("fill-opacity") == "0.75"]
    assert 12 <= len(pale) < 72, "some cells of both maps"


@pytest.mark.parametrize("args, code, said", [
    ([], 2, "--x is missing"),
    (["--x", "z"], 1, '"z" is no input'),
    (["--x", "a", "--y", "a"], 2, "the same input"),
    (["--x", "a", "--points", "1"], 2, "--points"),
    (["--x", "a", "--y", "b", "--curves", "3", "-o", "x.svg"], 2, "a map has none"),
])
def test_effects_refuse(plain, args, code, said):
    assert said in run("effects", plain / "m.npz", plain / "test.csv", *args, code=code).err


def test_a_constant_input_or_a_range_of_levels_is_refused(kinds):
    assert "one value in all rows" in run("effects", kinds / "m.npz", kinds / "d.csv", "--x", "same", code=1).err
    assert "category" in run("effects", kinds / "m.npz", kinds / "d.csv", "--x", "city=0:1", code=2).err
