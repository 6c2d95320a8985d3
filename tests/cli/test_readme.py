"""The README is read to its end, and begins with the two commands."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text()


def test_it_is_short():
    assert len(README.encode()) < 9000


def test_it_begins_with_the_two_commands():
    beginning = README.split("\n## ")[0]
    assert "\nmake demo" in beginning and "\nmake test" in beginning


def test_it_has_one_table_of_results():
    assert README.count("<!-- table: ") == 1


def test_what_runs_where_names_tests_that_there_are():
    """Every cell but the first of a row: doors of tests/install/doors, tests of tests/CMakeLists.txt, a file, or a directory of them."""
    doors = re.findall(r"^door ([a-z0-9-]+)", (ROOT / "tests/install/doors").read_text(), re.MULTILINE)
    tests = re.findall(r"install\.\w+", (ROOT / "tests/CMakeLists.txt").read_text())
    tests += [f"{path.parent.name}.{path.stem}" for path in (ROOT / "tests").glob("*/test_*.py")] + ["mpi.*", "make test"]
    rows = [line.split("|")[2:] for line in README.split("## What runs where")[1].split("\n## ")[0].splitlines() if line.startswith("| ")]
    assert len(rows) == 10 and all(row[0].strip() for row in rows)
    for cell in (cell for row in rows[1:] for cell in row):
        before, _, after = cell.partition("door")
        assert set(re.findall("`(.+?)`", before)) <= set(tests) and set(re.findall("`(.+?)`", after)) <= set(doors), cell
