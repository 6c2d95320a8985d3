"""What the documentation shows is what comes out."""
import doctest
import os
import pathlib
import subprocess
import sys

import pytest

import quorum

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLAGS = doctest.ELLIPSIS


def test_the_worked_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python.md").read_text()
    page = page.replace("quorum_gp.", quorum.regressor.__name__.replace("regressor", ""))  # not installed: quorum.
    test = doctest.DocTestParser().get_doctest(page, {"__name__": "__main__"}, "python.md", None, 0)
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert result.attempted > 20 and result.failed == 0


def test_the_example_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = (ROOT / "README.md").read_text().split("```python\n")[1].split("```")[0]
    X, y = quorum.demo_data(200)
    names = {"X": X, "y": y, "X_new": X[:5] + 0.001}
    exec(example, names)
    assert len(names["mean"]) == 5 and (names["lower"] < names["mean"]).all() and (names["mean"] < names["upper"]).all()
    assert (tmp_path / "model.npz").exists()


def test_the_example_of_the_class():
    result = doctest.testmod(quorum.regressor, optionflags=FLAGS)
    assert result.attempted > 3 and result.failed == 0


@pytest.mark.parametrize("script", sorted((ROOT / "python" / "examples").glob("*.py")),
                         ids=lambda path: path.stem)
def test_examples_run(script, tmp_path):
    result = subprocess.run([sys.executable, "-B", script], cwd=tmp_path, capture_output=True,
                            text=True, env={**os.environ, "MPLBACKEND": "Agg"})
    assert result.returncode == 0, result.stderr
    assert result.stdout and "Traceback" not in result.stderr
