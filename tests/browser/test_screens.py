"""What a report looks like at three widths, against committed pictures.

Pictures are of the whole page, made small, and compared section by section and in blocks, so that another rasteriser or the last digit of a
number does not matter, but a chart that is missing, a column that has moved or a colour that has changed does.  To refresh them after a change
that is meant, look at them and commit:

    QUORUM_SCREENS=write QUORUM=build/quorum python3 -m pytest tests/browser/test_screens.py
"""
import io
import json
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image", reason="no Pillow: scripts/setup installs python3-pil")
from PIL.PngImagePlugin import PngInfo  # noqa: E402

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))
SCREENS = pathlib.Path(__file__).resolve().parent / "screens"
SCALE = {400: 0.5, 1280: 0.4, 2560: 0.25}
COLOURS, BLOCK = 64, 8
FAR, SHARE, HEIGHT = 12, 0.012, 0.06  # of 255 grey levels; of the blocks of a section; of its height
FEW = 4  # blocks
FONT = "DejaVu Sans"  # fonts-dejavu-core
SECTIONS = """JSON.stringify(["header", ...[...document.querySelectorAll("main > section")].map(s => "#" + s.id)].map(name => {
  const box = document.querySelector(name).getBoundingClientRect(); return [name, box.top + scrollY, box.height]; }))"""


def run(*args):
    subprocess.run([QUORUM, *map(str, args)], capture_output=True, text=True, check=True, timeout=300)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page of made data, in one font, without what changes from run to run."""
    here = tmp_path_factory.mktemp("screens")
    rng = np.random.default_rng(7)
    for name, n in [("train", 600), ("test", 300)]:
        X = rng.uniform(-2, 2, (n, 3))
        X[:, 2] = X[:, 0] + 0.3 * X[:, 2]
        level = rng.integers(0, 3, n)
        y = np.sin(2 * X[:, 0]) + X[:, 1] / 2 + level + 0.15 * rng.normal(size=n)
        lines = [f"{a:.6f},{b:.6f},{c:.6f},{['clay', 'loam', 'sand'][k]},{t:.6f}" for (a, b, c), k, t in zip(X, level, y)]
        (here / f"{name}.csv").write_text("\n".join(["depth,slope,moisture,soil,yield", *lines]) + "\n")
    run("fit", here / "train.csv", "-o", here / "model.npz", "--experts", 5, "--graph", "glasso", "--kernel", "se", "--calibrate=no", "-q")
    run("report", here / "model.npz", "--test", here / "test.csv", "-o", here / "report.html", "-q")
    text = (here / "report.html").read_text()
    if "reportCharts" not in text:
        pytest.skip("quorum was built without Chart.js: scripts/setup installs libjs-chart.js")
    text = text.replace("</style>", f'body {{ font-family: "{FONT}" !important; }}</style>', 1)
    text = re.sub(r"[\d.]+ seconds", "0.50 seconds", text).replace(str(here), "")
    text = re.sub(r"Made by quorum [^<]*", "Made by quorum.", text)
    (here / "report.html").write_text(text)
    return here / "report.html"


def take(browser, page, width):
    """The picture, and where its sections are."""
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    try:
        browser.open(page, width=width)
        browser.run("document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))")
        parts = json.loads(browser.run(SECTIONS))
        picture = Image.open(io.BytesIO(browser.picture(SCALE[width]))).convert("RGB")
    finally:
        browser.ask("Emulation.setEmulatedMedia", features=[])
    return picture, [[name, top * SCALE[width], height * SCALE[width]] for name, top, height in parts]


def section(picture, top, height):
    return picture.crop((0, round(top), picture.width, round(top + height)))


def blocks(picture, size):
    """Mean colours of blocks of the picture, which is brought to the size first."""
    size = [max(BLOCK, side // BLOCK * BLOCK) for side in size]
    values = np.asarray(picture.resize(size, Image.Resampling.BOX), float)
    return values.reshape(size[1] // BLOCK, BLOCK, size[0] // BLOCK, BLOCK, 3).mean(axis=(1, 3))


def differs(now, then):
    """The share of blocks whose colour is far off, a few of them passed over: a rare colour may not be among those of the committed picture."""
    far = abs(blocks(now, then.size) - blocks(then, then.size)).max(axis=2) > FAR
    return max(far.sum() - FEW, 0) / far.size


@pytest.mark.parametrize("width", SCALE)
def test_looks_as_it_did(browser, page, width, tmp_path):
    path = SCREENS / f"report-{width}.png"
    now, parts = take(browser, page, width)
    if os.environ.get("QUORUM_SCREENS") == "write":
        about = PngInfo()
        about.add_text("sections", json.dumps(parts))
        SCREENS.mkdir(exist_ok=True)
        now.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True, pnginfo=about)
    then = Image.open(path)
    were = json.loads(then.text["sections"])
    now.save(tmp_path / "now.png")
    now = now.quantize(palette=then, dither=Image.Dither.NONE).convert("RGB")  # by the colours that the committed one has
    then = then.convert("RGB")
    assert path.stat().st_size < 150_000
    assert [name for name, _, _ in parts] == [name for name, _, _ in were] and now.width == then.width
    for (name, top, height), (_, old_top, old_height) in zip(parts, were):
        assert abs(height / old_height - 1) < HEIGHT, (name, height, old_height)
        share = differs(section(now, top, height), section(then, old_top, old_height))
        assert share < SHARE, f"{name} at {width} px: {100 * share:.1f} % of it is not as it was; see {tmp_path / 'now.png'}, and this file's head"


def test_a_missing_chart_is_seen(browser, page):
    """The comparison can fail: one chart is taken away."""
    now, parts = take(browser, page, 1280)
    name, top, height = next(part for part in parts if part[0] == "#sure")
    whole = section(now, top, height)
    left, above, wide, high = (SCALE[1280] * side for side in browser.run(
        "(b => [b.left, b.top - document.querySelector('#sure').getBoundingClientRect().top, b.width, b.height])(document.querySelector('#coverage .live').getBoundingClientRect())"))
    less = whole.copy()
    less.paste((245, 246, 248), tuple(map(round, (left, above, left + wide, above + high))))
    assert differs(less, whole) > SHARE
