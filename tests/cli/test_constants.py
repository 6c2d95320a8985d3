"""scripts/check-constants: a page that quotes the code wrongly is found."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts" / "check-constants"


def check(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text + "\n")
    return subprocess.run([sys.executable, "-B", SCRIPT, page], capture_output=True, text=True)


@pytest.mark.parametrize("text", [
    "4,000<!-- src/theta/rounds.c:QUICK_ROWS --> rows",
    "blocks of 4<!-- src/theta/rounds.c:BLOCK --> given 60<!-- src/theta/rounds.c:GIVEN -->",
    "0.1 %<!-- src/partition/kmeans.c:SETTLED --> or 1e-3<!-- src/gp/covariance.c:NEAR -->",
    "1/64<!-- src/predict/predict.c:SCRATCH_SHARE -->, 64 MB<!-- src/predict/predict.c:SCRATCH_MOST -->",
    "experts of 500<!-- src/options/option_table.c:expert-size --> rows",
])
def test_what_the_code_has(tmp_path, text):
    result = check(tmp_path, text)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("text, sentence", [
    ("5,000<!-- src/theta/rounds.c:QUICK_ROWS --> rows", "page.md:1: says 5000, but src/theta/rounds.c has QUICK_ROWS = 4000"),
    ("4 %<!-- src/theta/rounds.c:BLOCK -->", "says 0.04, but"),
    ("4<!-- src/theta/rounds.c:SLAB -->", "src/theta/rounds.c has no number called SLAB; these have: none"),
    ("4<!-- src/fit/fit.c:GIVEN -->", "these have: src/theta/line.c, src/theta/rounds.c"),
    ("four<!-- src/theta/rounds.c:BLOCK -->", "no number stands before"),
    ("400<!-- src/options/option_table.c:expert-size --> rows", "says 400"),
])
def test_what_it_has_not(tmp_path, text, sentence):
    result = check(tmp_path, text)
    assert result.returncode == 1 and sentence in result.stderr, result.stderr


def test_a_page_without_any_is_an_error(tmp_path):
    assert check(tmp_path, "512 rows").returncode == 1
