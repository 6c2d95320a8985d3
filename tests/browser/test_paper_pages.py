"""The paper's committed pages in a real browser: they fit, nothing leaves them, and their tables sort."""
import pathlib

import pytest

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "results"
PAGES = ["synthetic", "consistency", "pumadyn", "protein", "sarcos", "committee"]


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_and_are_quiet(browser, name, width):
    browser.open(RESULTS / name / f"{name}.html", width)
    assert browser.troubles() == []
    asked = [r["request"]["url"] for r in browser.happened("Network.requestWillBeSent")]
    assert all(url.startswith(("file:", "data:")) for url in asked)
    assert browser.run("document.documentElement.scrollWidth") <= width   # wide tables scroll by themselves
    assert browser.run("[...document.querySelectorAll('figure svg')].every(s => s.getBoundingClientRect().width > 100)")
    assert browser.run("[...document.querySelectorAll('nav a')].filter(a => a.hash)"
                       ".every(a => document.getElementById(a.hash.slice(1)))")


COLUMN = "[...document.querySelector('table').tBodies[0].rows].map(r => parseFloat(r.cells[2].textContent.replace('\\u2212', '-')))"


def test_a_click_sorts_and_another_turns_round(browser):
    browser.open(RESULTS / "protein" / "protein.html")
    before = browser.run(COLUMN)
    assert len(before) > 5 and before != sorted(before)
    browser.run("document.querySelectorAll('table th button')[2].click()")
    assert browser.run(COLUMN) == sorted(before)
    browser.run("document.querySelectorAll('table th button')[2].click()")
    assert browser.run(COLUMN) == sorted(before, reverse=True)
    assert browser.run("document.querySelectorAll('th[aria-sort]').length") == 1


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_points_to_is_there(browser, name):
    """Contents, tables of numbers and the other pages; figures and tables are counted from 1 on, each by itself."""
    browser.open(RESULTS / name / f"{name}.html")
    links = browser.run("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    files = [link for link in links if not link.startswith(("#", "http"))]
    assert all((RESULTS / name / link).resolve().is_file() for link in files)
    assert {f"../{other}/{other}.html" for other in PAGES if other != name} <= set(files)
    tables = {table.name for table in (RESULTS / name).glob("*.csv")}
    assert tables and tables <= set(files)
    sections = browser.run("[...document.querySelectorAll('h2')].length")
    assert len([link for link in links if link.startswith("#")]) == sections > 2
    for kind, where in (("Figure", "figcaption"), ("Table", "caption")):
        captions = browser.run(f"[...document.querySelectorAll('{where}')].map(c => c.textContent)")
        numbers = [int(text.split()[1].rstrip(".")) for text in captions if text.startswith(kind + " ")]
        assert len(numbers) == len(captions) and numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("name", ["synthetic", "pumadyn"])
def test_graphs_stand_beside_their_heat_maps(browser, name):
    browser.open(RESULTS / name / f"{name}.html", 1280)
    tops = browser.run("[...document.querySelectorAll('figure')].filter(f => /precision|M = \\d+, α = \\d+ %:/.test(f.textContent)).map(f => "
                       "[/precision/.test(f.textContent), f.getBoundingClientRect().top])")
    maps = [top for is_map, top in tops if is_map]
    assert len(maps) >= 2 and len(tops) == 4 * len(maps)
    assert all(any(abs(top - one) < 2 for one in maps) for _, top in tops)
