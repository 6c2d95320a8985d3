"""The README is read to its end, and begins with the two commands."""
import pathlib

README = (pathlib.Path(__file__).resolve().parent.parent.parent / "README.md").read_text()


def test_it_is_short():
    assert len(README.encode()) < 9000


def test_it_begins_with_the_two_commands():
    beginning = README.split("\n## ")[0]
    assert "\nmake demo" in beginning and "\nmake test" in beginning


def test_it_has_one_table_of_results():
    assert README.count("<!-- table: ") == 1
