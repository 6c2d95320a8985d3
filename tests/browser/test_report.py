"""The page of quorum report in a real browser: no error, no request, marks in every chart, what the pointer is told, paper, phones."""
import csv
import io
import json
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))
CSS = pathlib.Path(__file__).resolve().parents[2] / "cli" / "report" / "page.css"


def run(*args):
    return subprocess.run([QUORUM, *map(str, args)], capture_output=True, text=True, check=True, timeout=300).stdout


HOSTILE = "</script><script>document.title='harm'</script>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of a model with a category, on test rows, under names that mean harm; its rows; one page without TEST."""
    here = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(1)
    for name, n in [("train", 500), ("test", 300)]:
        with open(here / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([HOSTILE, "b", "<img src=x onerror=\"document.title='harm'\">", "y"])
            for i in range(n):
                a, b = rng.uniform(-2, 2, 2)
                writer.writerow([a, b, ["red", "<b>blue</b>"][i % 2], np.sin(2 * a) + b / 2 + i % 2 + 0.1 * rng.normal()])
    run("fit", here / "train.csv", "-o", here / "model.npz", "--experts", 4, "--graph", "glasso", "--kernel", "se", "--calibrate=no", "-q")
    run("report", here / "model.npz", "--test", here / "test.csv", "-o", here / "test.html", "-q")
    run("report", here / "model.npz", "-o", here / "left.html", "-q")
    return here


@pytest.fixture(scope="module")
def has_library(pages):
    if "reportCharts" not in (pages / "test.html").read_text():
        pytest.skip("quorum was built without Chart.js: scripts/setup installs libjs-chart.js")


CHARTS = """JSON.stringify(Object.fromEntries([...document.querySelectorAll("figure.chart")].map(figure => {
  const canvas = figure.querySelector("canvas"), chart = window.reportCharts && window.reportCharts[figure.id];
  const ink = new Set(canvas.width ? canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data : []).size;
  const marks = chart ? chart.data.datasets.map((set, k) => chart.getDatasetMeta(k).data.length) : [];
  return [figure.id, {marks, ink, width: canvas.clientWidth, height: canvas.clientHeight, live: figure.classList.contains("is-live")}];
})))"""


@pytest.mark.parametrize("name", ["test", "left"])
@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_every_chart_has_marks(browser, pages, has_library, name, width):
    browser.open(pages / f"{name}.html", width=width)
    charts = json.loads(browser.run(CHARTS))
    assert len(charts) >= 9
    for chart, found in charts.items():
        assert found["live"] and max(found["marks"]) > 0 and found["ink"] > 10, (chart, found)
        assert found["height"] >= 100 and 200 <= found["width"] <= width, (chart, found)
    assert browser.troubles() == []
    assert browser.run("document.documentElement.scrollWidth") <= width, "the page is wider than the screen"
    browser.screenshot(pages / f"{name}-{width}.png")
    assert (pages / f"{name}-{width}.png").stat().st_size > 50_000


def test_nothing_leaves_and_nothing_is_injected(browser, pages):
    browser.open(pages / "test.html")
    asked = {request["request"]["url"] for request in browser.happened("Network.requestWillBeSent")}
    assert asked == {(pages / "test.html").as_uri()}
    assert browser.run("document.title") == "Report: y"
    assert browser.run("document.querySelectorAll('img, main b, iframe').length") == 0
    assert HOSTILE in browser.run("document.body.innerText")


def test_the_policy_stops_requests(browser, pages):
    """Were something injected after all, it could not send anything."""
    browser.open(pages / "test.html")
    sent = browser.run("fetch('https://example.invalid/').then(() => 'sent', error => 'refused')")
    assert sent == "refused"
    assert any("Content Security Policy" in entry["entry"]["text"] for entry in browser.happened("Log.entryAdded")) \
        or browser.happened("Network.loadingFailed")[-1].get("blockedReason") == "csp"


POINT = """(() => { const chart = reportCharts["%s"], set = chart.data.datasets.findIndex(s => s.series.kind === "%s");
  chart.canvas.scrollIntoView({block: "center"});
  const mark = chart.getDatasetMeta(set).data[%d], box = chart.canvas.getBoundingClientRect();
  return [box.left + mark.x, box.top + mark.y]; })()"""


def hover(browser, chart, kind, number):
    """What the tooltip says with the pointer on a mark."""
    x, y = browser.run(POINT % (chart, kind, number))
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x - 30, y=y - 30)
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return browser.run(f"(reportCharts['{chart}'].tooltip.body || []).flatMap(part => part.lines)")


def test_the_pointer_is_told_what_the_files_say(browser, pages, has_library):
    browser.open(pages / "test.html")
    rows = list(csv.reader(open(pages / "test.csv")))[1:]
    means = [float(row["mean"]) for row in csv.DictReader(io.StringIO(run("predict", pages / "model.npz", pages / "test.csv")))]
    shown = browser.run("reportCharts.predicted.data.datasets[0].series.x.indexOf(Math.max(...reportCharts.predicted.data.datasets[0].series.x))")
    lines = hover(browser, "predicted", "points", shown)
    row = int(re.fullmatch(r"row (\d+)", lines[0])[1])
    np.testing.assert_allclose(float(lines[1].split(": ")[1]), float(rows[row - 1][-1]), rtol=1e-4)
    np.testing.assert_allclose(float(lines[2].split(": ")[1]), means[row - 1], rtol=1e-4)

    model = json.loads(run("inspect", pages / "model.npz", "--json"))
    lines = hover(browser, "experts-graph", "points", 0)
    expert = int(re.fullmatch(r"expert (\d+)", lines[0])[1])
    assert lines[1] == f"{model['sizes']['each'][expert - 1]} rows"
    assert any(line.startswith("neighbours: ") for line in lines)


VISIBLE = """JSON.stringify([...document.querySelectorAll("figure.chart")].map(figure => [figure.id,
  figure.querySelector(".static").getBoundingClientRect().height, figure.querySelector(".live").getBoundingClientRect().height]))"""


def test_the_pointer_is_told_dates_and_levels(browser, has_library, tmp_path):
    rng = np.random.default_rng(5)
    days = np.datetime64("2023-01-01") + rng.integers(0, 730, 300)
    towns = ["Bonn", "Rome", "Oslo"]
    lines = [f"{day},{towns[i % 3]},{4 * (i % 3) + np.sin((day - days.min()).astype(int) / 60):.4f}" for i, day in enumerate(days)]
    (tmp_path / "t.csv").write_text("\n".join(["day,town,y", *lines]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--experts", 3, "--kernel", "se", "--metric", "ard", "--calibrate=no", "-q")
    run("report", tmp_path / "m.npz", "--test", tmp_path / "t.csv", "-o", tmp_path / "r.html", "-q")
    for width in (400, 1280):
        browser.open(tmp_path / "r.html", width=width)
        drawn = json.loads(browser.run("""(() => { const scales = window.reportCharts.map.scales;
            return JSON.stringify(['x', 'y'].map(key => scales[key].ticks.map(tick => [tick.label, scales[key].getPixelForValue(tick.value)]))); })()"""))
        assert {label for axis in drawn for label, _ in axis} >= set(towns)
        dates = next(axis for axis in drawn if all(re.fullmatch(r"\d{4}(-\d\d)?", label) for label, _ in axis))
        assert len(dates) > 1 and min(np.diff([pixel for _, pixel in dates])) > 50, "dates run into each other"
        told = hover(browser, "map", "points", 0)
        row = int(told[0].split()[1]) - 1
        assert f"day: {days[row]}" in told and f"town: {towns[row % 3]}" in told


def test_paper_has_pictures(browser, pages):
    browser.ask("Emulation.setEmulatedMedia", media="print")
    try:
        browser.open(pages / "test.html", width=720)
        assert browser.run("document.documentElement.scrollWidth") <= 720, "the page is wider than the paper"
        for chart, picture, live in json.loads(browser.run(VISIBLE)):
            assert picture > 50 and live == 0, chart
        assert len(browser.ask("Page.printToPDF")["data"]) > 20_000
    finally:
        browser.ask("Emulation.setEmulatedMedia", media="")


def test_without_scripts(browser, pages):
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages / "test.html")
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    for chart, picture, live in json.loads(browser.run(VISIBLE)):
        assert picture > 50 and live == 0, chart
    assert "Is it good?" in browser.run("document.body.innerText")


def test_dark_and_light(browser, pages, has_library):
    grounds = []
    for scheme in ("dark", "light"):
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.open(pages / "test.html")
        grounds.append(browser.run("getComputedStyle(document.body).backgroundColor"))
        tick = browser.run("reportCharts.predicted.options.scales.x.ticks.color")
        assert tick == {"dark": "#b4bac3", "light": "#4f545c"}[scheme]
        browser.screenshot(pages / f"{scheme}.png")
    browser.ask("Emulation.setEmulatedMedia", features=[])
    assert grounds == ["rgb(21, 23, 27)", "rgb(255, 255, 255)"]


CONTROLS = """[...document.querySelectorAll("a[href], summary, canvas, .wide, button, input, select, [onclick]")].filter(e => e.getClientRects().length).length"""
HERE = """(() => { const here = document.activeElement; here.dataset.reached = 1;
  return [...document.querySelectorAll("[data-reached]")].length; })()"""


def test_the_keyboard_reaches_every_control(browser, pages, has_library):
    browser.open(pages / "test.html")
    browser.run("void document.body.focus()")
    wanted, reached, presses = browser.run(CONTROLS), 0, 0
    while reached < wanted and presses < 2 * wanted:
        browser.press("Tab")
        reached = browser.run(HERE)
        presses += 1
    assert wanted >= 25 and reached == wanted
    assert browser.run("[...document.querySelectorAll('[data-reached]')].some(e => e.matches('nav a')) && document.querySelectorAll('canvas[data-reached]').length") >= 9


def test_the_keyboard_reads_a_chart(browser, pages, has_library):
    """Arrows go through the marks; what the pointer would be told is shown and said."""
    browser.open(pages / "test.html")
    shares = browser.run("reportCharts.shares.canvas.focus(), JSON.parse(document.querySelector('#shares script').textContent)")
    browser.press("ArrowDown")
    said = browser.run("document.querySelector('#shares [role=status]').textContent")
    told = {f"{shares['category'][0]}, {series['name']} {float(format(series['y'][0], '.5g')):g}" for series in shares["series"]}
    assert said in told
    assert browser.run("reportCharts.shares.tooltip.opacity") == 1
    browser.press("End")
    assert browser.run("document.querySelector('#shares [role=status]').textContent").startswith(shares["category"][-1] + ", ")
    browser.press("Escape")
    assert browser.run("reportCharts.shares.tooltip.opacity") == 0
    assert browser.run("document.querySelector('#shares [role=status]').textContent") == ""


def test_what_stands_apart_by_little_is_told_apart(browser, pages, has_library, tmp_path):
    """A target of a billion and something; names in charts that end differently; legends; tables that keep to the page."""
    rng = np.random.default_rng(5)
    names = [f"a long name of a measurement that was taken in room number {k}" for k in range(3)]
    X = rng.uniform(size=(300, 3))
    y = 1e9 + 100 * X.sum(axis=1) + rng.normal(size=300)
    lines = [",".join([*names, "y"]), *(",".join(f"{v:.10g}" for v in [*x, v_y]) for x, v_y in zip(X, y))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", "--calibrate=no", "-q")
    run("report", tmp_path / "m.npz", "--test", tmp_path / "t.csv", "-o", tmp_path / "r.html", "-q")
    for width in (400, 1280):
        browser.open(tmp_path / "r.html", width=width)
        browser.run("reportCharts.predicted.canvas.focus()")
        browser.press("Home")
        said = browser.run("document.querySelector('#predicted [role=status]').textContent")
        row, actual = re.match(r"row (\d+), actual: (\d+\.?\d*), ", said).groups()
        assert abs(float(actual) - y[int(row) - 1]) < 1.0, said
        ticks = browser.run("reportCharts.shares.scales.y.ticks.map(t => t.label)")
        assert len(set(ticks)) == 3 and all("\u2026" in tick for tick in ticks), ticks
        assert browser.run("reportCharts.shares.scales.y.width") <= 0.5 * browser.run("reportCharts.shares.width")
        assert browser.run("[...document.querySelectorAll('caption span')].every(s => s.getBoundingClientRect().right <= innerWidth)")


def test_pointing_at_an_expert_shows_its_rows_and_neighbours(browser, pages, has_library):
    browser.open(pages / "test.html")
    drawn = """reportCharts["experts-graph"].data.datasets.filter(s => s.series.kind === "%s")[0]"""
    before = browser.run(drawn % "region" + ".backgroundColor")
    assert isinstance(before, str)
    hover(browser, "experts-graph", "points", 0)
    nodes, region, links = (browser.run(f"(s => ({{owner: s.series.owner, width: s.borderWidth, colour: s.backgroundColor}}))({drawn % kind})")
                            for kind in ("points", "region", "links"))
    pointed = nodes["owner"][0]
    strong = {owner for owner, colour in zip(region["owner"], region["colour"]) if colour.endswith(",1)")}
    assert strong == {pointed}
    pairs = [links["owner"][k:k + 2] for k in range(0, len(links["owner"]), 2)]
    neighbours = {o for pair in pairs if pointed in pair for o in pair} - {pointed}
    assert {o for o, width in zip(nodes["owner"], nodes["width"]) if width == 2} == neighbours & set(nodes["owner"])
    assert nodes["width"][0] == 3 and neighbours
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert all(w == 0 for w in browser.run(drawn % "points" + ".borderWidth"))


# ---- Accessibility, by axe-core -----------------------------------------------------------------

AXE = sorted(pathlib.Path("/usr/local/share/javascript/axe-core").glob("axe-*.min.js"))
RULES = """axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(found =>
  JSON.stringify({passed: found.passes.map(rule => rule.id),
    broken: found.violations.map(rule => [rule.id, rule.nodes.length, rule.nodes[0].html.slice(0, 200), rule.nodes[0].failureSummary])}))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing(browser, pages, scheme, width):
    if not AXE:
        pytest.skip("no axe-core: scripts/setup fetches it by npm")
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    try:
        browser.open(pages / "test.html", width=width)
        browser.run(AXE[-1].read_text() + "; 0")
        found = json.loads(browser.run(RULES))
    finally:
        browser.ask("Emulation.setEmulatedMedia", features=[])
    assert found["broken"] == []
    assert {"color-contrast", "html-has-lang", "list", "image-alt", "heading-order"} & set(found["passed"]) >= {"color-contrast", "html-has-lang"}


# ---- Contrast, by WCAG 2: (L1 + 0.05) / (L2 + 0.05) of relative luminances ---------------------


def luminance(colour):
    parts = np.array([int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def contrast(a, b):
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


def test_contrast():
    schemes = re.findall(r":root \{(.*?)\}", CSS.read_text(), re.S)
    assert len(schemes) == 3
    for scheme in schemes[:2]:
        colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", scheme))
        for ground in ("ground", "panel"):
            for text in ("text", "quiet", "link", "warn"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
            for mark in ("main", "warn", "rule"):
                assert contrast(colours[mark], colours[ground]) >= 3.0, (mark, ground)
        assert contrast(colours["text"], colours["bar"]) >= 4.5
