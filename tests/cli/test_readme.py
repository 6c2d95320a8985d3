"""The README is read to its end, and begins with the two commands; what it says of doors has been run."""
import csv
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text()
DOORS = re.findall(r"^door ([a-z0-9-]+)", (ROOT / "tests/install/doors").read_text(), re.MULTILINE)


def test_it_is_short():
    assert len(README.encode()) < 9000


def test_it_begins_with_the_two_commands():
    beginning = README.split("\n## ")[0]
    assert "\nmake demo" in beginning and "\nmake test" in beginning


def test_it_has_one_table_of_results():
    assert README.count("<!-- table: ") == 1


def test_what_runs_where_names_tests_that_there_are():
    """Every cell but the first of a row: doors of tests/install/doors, tests of tests/CMakeLists.txt, a file, or a directory of them."""
    tests = re.findall(r"install\.\w+", (ROOT / "tests/CMakeLists.txt").read_text())
    tests += [f"{path.parent.name}.{path.stem}" for path in (ROOT / "tests").glob("*/test_*.py")] + ["mpi.*", "make test"]
    rows = [line.split("|")[2:] for line in README.split("## What runs where")[1].split("\n## ")[0].splitlines() if line.startswith("| ")]
    assert len(rows) == 10 and all(row[0].strip() for row in rows)
    for cell in (cell for row in rows[1:] for cell in row):
        before, _, after = cell.partition("door")
        assert set(re.findall("`(.+?)`", before)) <= set(tests) and set(re.findall("`(.+?)`", after)) <= set(DOORS), cell


def test_the_record_has_doors_that_opened():
    """The committed record has doors of the script, in its order, and none that failed or was passed over; docs/install.md lists the others as not run."""
    with open(ROOT / "tests/install/record.csv", newline="") as file:
        record = list(csv.DictReader(line for line in file if not line.startswith("#")))
    names = [row["door"] for row in record]
    assert names == [door for door in DOORS if door in names] and len(names) > 5
    assert [row for row in record if row["verdict"] not in ("ok", "in part") or not row["found"] or not row["commit"]] == []


def test_doors_of_the_page_are_there():
    """`door NAME`, or `doors NAME, NAME`, of docs/install.md."""
    page = (ROOT / "docs/install.md").read_text()
    named = [name for words in re.findall(r"\bdoors? ((?:`[^`]+`(?:, | and )?)+)", page) for name in re.findall("`([^`]+)`", words)]
    assert len(named) > 5 and set(named) <= set(DOORS)


def test_what_is_left_out_under_emulation_is_there():
    """The unit tests that tests/install/check-arm64 passes over."""
    script = (ROOT / "tests/install/check-arm64").read_text()
    names = re.search(r"^left_out=\$\{WITHOUT-(.*?)\}", script, re.MULTILINE | re.DOTALL)[1].split()
    there = set(re.findall(r"^static void (\w+)\(void \*\*", "".join(path.read_text() for path in (ROOT / "tests/unit").glob("*.c")), re.MULTILINE))
    assert len(names) == 12 and set(names) <= there
