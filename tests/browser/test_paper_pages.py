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
