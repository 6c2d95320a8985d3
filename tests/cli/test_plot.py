"""quorum plot: slices as SVG, whose marks are where predict and the training rows are."""
import os
import re
import shutil
import xml.etree.ElementTree as xml

import numpy as np
import pytest

from conftest import make_rows, run, write_csv

NUMBER = r"-?\d+(?:\.\d+)?"


def paths(svg):
    return [e for e in xml.fromstring(svg).iter() if e.tag.endswith("path")]


def places(path):
    return np.array([[float(v) for v in pair] for pair in re.findall(f"[ML]({NUMBER}) ({NUMBER})", path.get("d"))])


def texts(svg):
    return ["".join(e.itertext()) for e in xml.fromstring(svg).iter() if e.tag.endswith("text")]


def to_data(pixels, ticks):
    """Pixels to data by two ticks, (pixel, value)."""
    (p0, v0), (p1, v1) = ticks
    return v0 + (pixels - p0) * (v1 - v0) / (p1 - p0)


def ticks(svg, anchor):
    """The first and last tick of an axis, by where their numbers stand."""
    found = [(float(e.get("x")) if anchor == "middle" else float(e.get("y")) - 4.0, float(e.text))
             for e in xml.fromstring(svg).iter() if e.tag.endswith("text") and e.get("text-anchor") == anchor
             and re.fullmatch(NUMBER, e.text)]
    return found[0], found[-1]


def test_a_line_is_the_mean_in_its_interval(data):
    svg = run("plot", data / "model.npz", "--x", "a=-1:1", "--at", "b=0.5", "--interval", "0.8").out
    line = next(p for p in paths(svg) if "L" in p.get("d") and p.get("fill") == "none")
    band = next(p for p in paths(svg) if p.get("stroke") == "none")
    table = run("predict", data / "model.npz", "--grid", "a=-1:1:301,b=0.5", "-q", "--interval", "0.8").table()[1]
    x, y = (to_data(places(line)[:, k], ticks(svg, anchor)) for k, anchor in ((0, "middle"), (1, "end")))
    np.testing.assert_allclose(x, table[:, 0], atol=5e-4)
    np.testing.assert_allclose(y, table[:, 2], atol=5e-3)
    ends = to_data(places(band)[:, 1], ticks(svg, "end"))
    np.testing.assert_allclose(ends, np.concatenate([table[:, 5], table[::-1, 4]]), atol=5e-3)
    assert "at b = 0.5" in texts(svg) and "y by a" in texts(svg) and "interval of probability 0.8" in texts(svg)


def test_other_inputs_are_at_their_medians_and_near_rows_are_rows(data):
    rows = np.loadtxt(data / "train.csv", delimiter=",", skiprows=1)
    svg = run("plot", data / "model.npz", "--x", "a").out
    assert f"at b = {np.median(rows[:, 1]):.4g}" in texts(svg)
    points = places(next(p for p in paths(svg) if "h0" in p.get("d") and len(places(p)) > 3))
    found = np.column_stack([to_data(points[:, k], ticks(svg, anchor)) for k, anchor in ((0, "middle"), (1, "end"))])
    nearest = rows[np.argsort(abs(rows[:, 1] - np.median(rows[:, 1])))[:40]][:, [0, 2]]
    assert len(found) == 40
    for point in found:
        assert abs(nearest - point).max(axis=1).min() < 0.01


def lightness(colour):
    """CIE L* of #rrggbb, by its definition."""
    light = [((v / 255 + 0.055) / 1.055) ** 2.4 if v / 255 > 0.04045 else v / 255 / 12.92
             for v in (int(colour[i:i + 2], 16) for i in (1, 3, 5))]
    y = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
    return 116 * y ** (1 / 3) - 16


def test_maps_and_their_scale(data):
    svg = run("plot", data / "model.npz", "--x", "a", "--y", "b").out
    assert "mean of y" in texts(svg) and "std of y" in texts(svg)
    bars = [e for e in xml.fromstring(svg).iter() if e.tag.endswith("rect") and e.get("width") == "14"
            and e.get("fill") != "none"][:64]
    steps = np.diff([lightness(b.get("fill")) for b in bars])
    assert len(bars) == 64 and (steps > 0.3).all() and lightness(bars[0].get("fill")) < 25
    # cells: those of the mean are coloured by the mean at their place
    rows = np.loadtxt(data / "train.csv", delimiter=",", skiprows=1)
    ends = [(rows[:, d].min() - 0.03 * np.ptp(rows[:, d]), rows[:, d].max() + 0.03 * np.ptp(rows[:, d])) for d in (0, 1)]
    grid = ",".join(f"{name}={low:.17g}:{high:.17g}:81" for name, (low, high) in zip("ab", ends))
    mean = run("predict", data / "model.npz", "--grid", grid, "-q", "--mean-only").table()[1][:, 2].reshape(81, 81)
    wanted = np.clip(np.floor(64 * (mean - mean.min()) / np.ptp(mean)), 0, 63)
    found = np.full((81, 81), -1)
    colours = [b.get("fill") for b in bars]
    for p in paths(svg):
        if p.get("fill") not in colours:
            continue
        for x, y, w in re.findall(f"M({NUMBER}) ({NUMBER})h({NUMBER})v", p.get("d")):
            column, row = (float(x) - 66) / 340 * 81, 80 - (float(y) - 74) / 340 * 81
            if column < 81:
                width = round((float(w) - 0.4) / 340 * 81)
                found[round(row), round(column):round(column) + width] = colours.index(p.get("fill"))
    assert (found >= 0).all() and (found != wanted).mean() < 0.01 # but for rounding at the border of two colours


def test_categories_offsets_and_names(tmp_path):
    rng = np.random.default_rng(2)
    lines = [f'{a:.3f},{"red" if i % 3 else "blue"},{10 * a:.3f},{12 * a + i % 3:.3f}'
             for i, a in enumerate(rng.uniform(0, 1, 90))]
    (tmp_path / "t.csv").write_text("\n".join(["a<b,colour,base,y&z", *lines]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--offset", "base", "--theta", "1,1,1,0.1", "-q")
    plot = ["plot", tmp_path / "m.npz", "--x", "a<b"]
    assert "at colour = red" in texts(run(*plot).out)
    assert "at colour = blue" in texts(run(*plot, "--at", "colour=blue,base=3").out)
    run(*plot, "-o", tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text() == run(*plot).out
    assert "no level" in run(*plot, "--at", "colour=green", code=1).err


def column_of_levels(svg):
    """What is drawn of each level of a picture with one axis: name, x, bottom and top of the band, mean, in pixels."""
    names = [(e.text, float(e.get("x"))) for e in xml.fromstring(svg).iter() if e.tag.endswith("text")
             and e.get("text-anchor") == "middle" and e.get("y") == "440.0"]
    bands = [places(p) for p in paths(svg) if p.get("stroke") == "none"]
    means = [places(p) for p in paths(svg) if p.get("fill") == "none" and len(places(p)) == 2 and "L" in p.get("d")]
    return [(name, x, band[:, 1].max(), band[:, 1].min(), mean[0, 1]) for (name, x), band, mean in zip(names, bands, means)]


def test_levels_side_by_side(dated):
    svg = run("plot", dated / "m.npz", "--x", "city", "--at", "x=1,day=2024-02-10").out
    drawn = column_of_levels(svg)
    assert [name for name, *_ in drawn] == ["Oslo", "Rome"]
    for (name, x, low, high, mean), left in zip(drawn, (72, 72 + 350)):
        assert x == pytest.approx(left + 175, abs=0.1)
        row = run("predict", dated / "m.npz", "--grid", f"day=2024-02-10,city={name},x=1", "-q").out.splitlines()[1]
        wanted = [float(v) for v in row.split(",")[3:]]
        np.testing.assert_allclose(to_data(np.array([mean, low, high]), ticks(svg, "end")), [wanted[0], wanted[2], wanted[3]], atol=5e-3)
    words = texts(run("plot", dated / "m.npz", "--x", "x", "--y", "city").out)
    assert words.count("Oslo") == words.count("Rome") == 2 and "-0.5" not in words


def test_long_names_of_levels_are_cut_and_many_left_out(tmp_path):
    long = "Auf den grünen Wäldern & <Wiesen>"
    names = [long] + [f"L{i:02d}" for i in range(39)]
    rows = [f"{name},{0.1 * k},{k + 0.3 * i}" for k in range(3) for i, name in enumerate(names)]
    (tmp_path / "t.csv").write_text("\n".join(["c,a,y", *rows]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,1,0.1", "--kernel", "se", "-q")
    words = texts(run("plot", tmp_path / "m.npz", "--x", "a", "--y", "c").out)
    assert words.count("Auf den grünen Wä…") == 2 and words.count("L07") + words.count("L08") >= 2
    words = texts(run("plot", tmp_path / "m.npz", "--x", "c").out)
    assert "L01" in words and "L02" not in words
    more = [f"M{i},{0.1 * k},{i + k}" for k in range(3) for i in range(61)]
    (tmp_path / "t.csv").write_text("\n".join(["c,a,y", *more]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,1,0.1", "--kernel", "se", "-q")
    assert '"c" has 61 levels, and a picture shows up to 60; give it one by --at c=LEVEL' in run("plot", tmp_path / "m.npz", "--x", "c", code=1).err


def test_one_input_shows_all_rows(tmp_path):
    write_csv(tmp_path / "t.csv", make_rows(50)[:, [0, 2]], header="a,y")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,0.1", "-q")
    assert "the 50 training rows nearest to it" in texts(run("plot", tmp_path / "m.npz", "--x", "a").out)


def test_what_is_refused(data, tmp_path):
    for words, code, sentence in (([], 2, "--x is missing"), (["--x", "z"], 1, "no input"), (["--x", "a=1"], 2, "FROM:TO"),
                                  (["--x", "a=2:1"], 2, "FROM:TO"), (["--x", "a", "--y", "a"], 2, "the same input"),
                                  (["--x", "a", "--at", "a=1"], 2, "varies already"), (["--x", "a", "--at", "z=1"], 1, "no input"),
                                  (["--x", "a", "--at", "b=1:2:3"], 2, "one value"), (["--x", "a", "--at", "b=x"], 1, "a number"),
                                  (["--x", "a", "-o", tmp_path / "p.pdf"], 2, ".svg or .png")):
        assert sentence in run("plot", data / "model.npz", *words, code=code).err, words


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    """Rows of February 2024 in two cities."""
    folder, rng = tmp_path_factory.mktemp("dated"), np.random.default_rng(5)
    rows = [f"2024-02-{1 + i % 28:02d},{'Rome' if i % 4 else 'Oslo'},{x:.3f},{np.sin(x) + 0.01 * i:.3f}"
            for i, x in enumerate(rng.uniform(0, 3, 400))]
    (folder / "t.csv").write_text("\n".join(["day,city,x,y", *rows]) + "\n")
    run("fit", folder / "t.csv", "-o", folder / "m.npz", "--theta", "1,1,1,1,0.1", "--kernel", "se", "-q")
    return folder


def test_dates_are_written_as_dates(dated):
    drawn = texts(run("plot", dated / "m.npz", "--x", "x").out)
    assert any(re.search(r"day = 2024-02-\d\d", t) for t in drawn)
    drawn = texts(run("plot", dated / "m.npz", "--x", "x", "--at", "day=2024-02-03,city=Oslo").out)
    assert "at day = 2024-02-03, city = Oslo" in drawn
    assert "2024-02-30" in run("plot", dated / "m.npz", "--x", "x", "--at", "day=2024-02-30", code=1).err


@pytest.mark.parametrize("span, ticks", [
    ("2024-02-01 06:00:2024-02-01 18:00", ["06:00", "08:00", "10:00", "12:00", "14:00", "16:00", "18:00"]),
    ("2024-02-01:2024-02-03", ["02-01 00:00", "02-01 06:00", "02-01 12:00", "02-01 18:00", "02-02 00:00", "02-02 06:00",
                               "02-02 12:00", "02-02 18:00", "02-03 00:00"]),
    ("2024-02-27:2024-03-03", ["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02", "2024-03-03"]),
    ("2023-11-15:2024-05-15", ["2023-12", "2024-01", "2024-02", "2024-03", "2024-04", "2024-05"]),
    ("1968-01-01:1976-01-01", ["1968", "1969", "1970", "1971", "1972", "1973", "1974", "1975", "1976"]),
    ("1900-01-01:2050-01-01", ["1900", "1920", "1940", "1960", "1980", "2000", "2020", "2040"])])
def test_ticks_of_dates_are_round(dated, span, ticks):
    """Where time is along x, each at its own place: equal steps of a calendar."""
    root = xml.fromstring(run("plot", dated / "m.npz", "--x", "day=" + span).out)
    found = [e for e in root.iter() if e.tag.endswith("text") and e.text in ticks]
    assert [e.text for e in found] == ticks
    places = [float(e.get("x")) for e in found]
    steps = np.diff(places)
    assert (steps > 40).all() and steps.max() < 1.15 * steps.min()


def test_dates_along_y_and_in_effects(dated):
    drawn = texts(run("plot", dated / "m.npz", "--x", "x", "--y", "day=2024-02-01:2024-02-09").out)
    assert drawn.count("02-03") == 2  # of two maps
    run("effects", dated / "m.npz", dated / "t.csv", "--x", "day", "--rows", 20, "-o", dated / "e.svg")
    assert "2024-02-15" in texts((dated / "e.svg").read_text())
    lines = run("effects", dated / "m.npz", dated / "t.csv", "--x", "day=2024-02-02:2024-02-04", "--points", 3, "--rows", 20, "-q").out
    assert [line.split(",")[0] for line in lines.split()] == ["day", "2024-02-02", "2024-02-03", "2024-02-04"]
    for words, code in (("day=2024-02-04:2024-02-02", 2), ("day=2024-02-04", 2), ("day=then:now", 1)):
        assert "effects: " in run("effects", dated / "m.npz", dated / "t.csv", "--x", words, code=code).err


def test_long_numbers_do_not_touch(tmp_path):
    """Numbers of ten digits below the axis."""
    rows = np.column_stack([np.linspace(1.7e9, 1.8e9, 40), np.sin(np.arange(40.0))])
    write_csv(tmp_path / "t.csv", rows, header="a,y")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,0.1", "-q")
    root = xml.fromstring(run("plot", tmp_path / "m.npz", "--x", "a").out)
    below = sorted((float(e.get("x")), e.text) for e in root.iter() if e.tag.endswith("text") and e.get("y") == "440.0")
    assert len(below) > 3
    for (x, text), (next_x, next_text) in zip(below, below[1:]):
        assert next_x - x > 3.3 * (len(text) + len(next_text))


def test_rows_of_other_levels_are_not_near(tmp_path):
    """Though the category's length-scale is long: rows of Rome, about 0, would stretch the picture of Oslo, about 100."""
    rng = np.random.default_rng(6)
    rows = [f"{x:.3f},{z:.3f},{'Rome' if i % 4 else 'Oslo'},{np.sin(x) + (0 if i % 4 else 100):.3f}"
            for i, (x, z) in enumerate(rng.uniform(0, 3, (400, 2)))]
    (tmp_path / "t.csv").write_text("\n".join(["x,z,city,y", *rows]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,10,9,0.001", "--kernel", "se", "-q")
    svg = run("plot", tmp_path / "m.npz", "--x", "x", "--at", "city=Oslo").out
    assert any("training rows nearest to it" in text for text in texts(svg))
    assert min(value for _, value in ticks(svg, "end")) > 50


def test_rows_without_a_cell_that_varies_are_not_drawn(tmp_path):
    """What the fit filled in is no row: it would stand at the mean."""
    rng = np.random.default_rng(8)
    x = rng.uniform(0, 3, 200)
    rows = [f"{'' if i % 4 == 0 else f'{v:.3f}'},{i % 2},{np.sin(v):.3f}" for i, v in enumerate(x)]
    (tmp_path / "t.csv").write_text("\n".join(["x,z,y", *rows]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--missing", "impute", "--theta", "1,1e3,1,1,0.01", "--kernel", "se", "-q")
    svg = run("plot", tmp_path / "m.npz", "--x", "x").out
    points = places(next(p for p in paths(svg) if "h0" in p.get("d") and len(places(p)) > 3))
    found = to_data(points[:, 0], ticks(svg, "middle"))
    assert len(found) == 40
    assert abs(x[np.arange(200) % 4 > 0] - found[:, None]).min(axis=1).max() < 0.01


@pytest.fixture(scope="module")
def parted(tmp_path_factory):
    """Half of the rows have b = -5 and days of January, half b = 5 and July: between them is nothing, but two rows of Oslo are a little nearer."""
    folder, rng = tmp_path_factory.mktemp("parted"), np.random.default_rng(7)
    rows = [f"{a:.3f},{c:.3f}," + (f"5,7,{city},2024-07-{1 + i % 20:02d} 06:30" if i % 2 else f"-5,7,{city},2024-01-{1 + i % 20:02d}") +
            f",{np.sin(a) + 2 * (city == 'Oslo'):.3f}"
            for i, (a, c) in enumerate(rng.uniform(0, 3, (200, 2))) for city in ['"Rome, Italy"' if i % 3 == 0 else "Oslo"]]
    (folder / "t.csv").write_text("\n".join(["a,c,b,same,\"city, or town\",day,y", *rows, "1.5,0,-4,7,Oslo,2024-03-25,3", "1.5,0,4,7,Oslo,2024-04-05,3"]) + "\n")
    run("fit", folder / "t.csv", "-o", folder / "m.npz", "--theta", "1,5,0.5,1,1,1,1,0.1", "--kernel", "se", "-q")
    return folder


NO_ROW = "no training row is near it"


@pytest.mark.parametrize("words, inputs", [([], ["c", "b", "day"]), (["--at", '"city, or town"="Rome, Italy",c=0,same=8'], ["c", "b", "city, or town", "day"]),
                                           (["--y", "c"], ["b", "day"])])
def test_a_slice_where_no_row_is_says_so(parted, words, inputs):
    """On stderr and in the picture; the --at that is told is one where rows are."""
    plot = ["plot", parted / "m.npz", "--x", "a"]
    done = run(*plot, *words)
    assert done.err.startswith("quorum plot: note: no training row is near this slice") and done.err.count("\n") == 1
    assert any(NO_ROW in text for text in texts(done.out)) and "nearest to it" not in done.out
    at = re.search("--at '(.*)' puts it through the nearest one$", done.err.strip()).group(1)
    assert [name for name in ("c", "b", "same", "city, or town", "day") if re.search(f'(^|,)"?{name}"?=', at)] == inputs
    moved = run(*plot, *(words if "--y" in words else []), "--at", at)
    assert moved.err == "" and NO_ROW not in moved.out and "training row" in moved.out
    assert run(*plot, *words, "-q").err == ""


def test_a_slice_where_rows_are_says_nothing(data, parted):
    assert run("plot", data / "model.npz", "--x", "a").err == ""
    assert run("plot", parted / "m.npz", "--x", "a", "--at", "b=-5,day=2024-01-03").err == ""


def test_more_inputs_than_at_takes(tmp_path):
    """Of inputs of which all matter more are not told than can be given; of those that hardly matter none."""
    rows = np.random.default_rng(8).uniform(-1, 1, (60, 18))
    write_csv(tmp_path / "t.csv", np.column_stack([rows, rows.sum(axis=1)]), header=",".join([*(f"x{i}" for i in range(18)), "y"]))
    for scales, sentence in (([0.1] * 18, "--at NAME=VALUE,... puts it where rows are"), ([0.1] * 9 + [200] * 9, "puts it through the nearest one")):
        run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", ",".join(map(str, [*scales, 1, 0.1])), "--kernel", "se", "--calibrate=no", "-q")
        said = run("plot", tmp_path / "m.npz", "--x", "x0").err
        assert sentence in said and "x12" not in said


# ---- PNG ----

needs_librsvg = pytest.mark.skipif(not shutil.which("rsvg-convert"), reason="rsvg-convert is not installed")


def pixels(path):
    return pytest.importorskip("matplotlib.image").imread(str(path))[:, :, :3] * 255


@needs_librsvg
def test_png_has_the_colours_of_the_svg_at_their_places(data, tmp_path):
    plot = ["plot", data / "model.npz", "--x", "a", "--y", "b", "--neighbours", 5]
    run(*plot, "-o", tmp_path / "map.PNG")
    svg, image = run(*plot).out, pixels(tmp_path / "map.PNG")
    root = xml.fromstring(svg)
    assert image.shape[:2] == (2 * float(root.get("height")), 2 * float(root.get("width")))
    bars = [e for e in root.iter() if e.tag.endswith("rect") and e.get("width") == "14" and e.get("fill") != "none"]
    assert len(bars) == 128
    for bar in bars:
        x, y = (2 * (float(bar.get(k)) + float(bar.get(size)) / 2) for k, size in (("x", "width"), ("y", "height")))
        colour = [int(bar.get("fill")[i:i + 2], 16) for i in (1, 3, 5)]
        np.testing.assert_allclose(image[int(y), int(x)], colour, atol=1)
    assert os.listdir(tmp_path) == ["map.PNG"]


@needs_librsvg
@pytest.mark.parametrize("words", [["evaluate", "--by", "a", "--plot"], ["importance", "--rows", 20, "--plot"],
                                   ["effects", "--x", "a", "--rows", 20, "-o"]], ids=lambda w: w[0])
def test_other_pictures_as_png(data, tmp_path, words):
    command, *flags = words
    for name in ("p.svg", "p.png"):
        run(command, data / "model.npz", data / "test.csv", *flags, tmp_path / name)
    root, image = xml.parse(tmp_path / "p.svg").getroot(), pixels(tmp_path / "p.png")
    assert image.shape[:2] == (2 * float(root.get("height")), 2 * float(root.get("width")))
    assert image.std() > 5, "something is drawn"


@pytest.mark.parametrize("program, code, sentence", [
    (None, 1, "apt install librsvg2-bin"), ("exit 1", 1, "'rsvg-convert' failed"), ("cat >/dev/null; exit 1", 1, "failed"),
    ("kill -9 $$", 1, "failed"), ("cat", 0, "")])
def test_a_converter_that_is_missing_or_fails(data, tmp_path, program, code, sentence):
    folder, picture = tmp_path / "bin", tmp_path / "p.png"
    folder.mkdir()
    picture.write_text("old")
    if program:
        (folder / "rsvg-convert").write_text(f"#!/bin/sh\nPATH={os.environ['PATH']}\n{program}\n")
        (folder / "rsvg-convert").chmod(0o755)
    plot = ["plot", data / "model.npz", "--x", "a", "--y", "b", "--neighbours", 5]
    result = run(*plot, "-o", picture, code=code, env={**os.environ, "PATH": str(folder)})
    assert sentence in result.err and sorted(os.listdir(tmp_path)) == ["bin", "p.png"]
    assert picture.read_text() == ("old" if code else run(*plot).out)


def test_a_missing_converter_is_said_before_the_model_is_read(tmp_path):
    result = run("plot", tmp_path / "no.npz", "--x", "a", "-o", tmp_path / "p.png", code=1, env={**os.environ, "PATH": ""})
    assert "librsvg2-bin" in result.err and "no.npz" not in result.err
