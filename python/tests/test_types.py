"""The types that the package declares (py.typed, *.pyi) are those that it has; mypy looks."""
import ast
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import make_data, small

import quorum

PACKAGE = pathlib.Path(quorum.__file__).resolve().parent
NAME = PACKAGE.name  # quorum in the source tree, quorum_gp where it is installed
CONFIG = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"
pytest.importorskip("mypy")

GOOD = """
from {name} import Distribution, QuorumRegressor, demo_data, metrics
X, y = demo_data(100)
model: QuorumRegressor = QuorumRegressor(kernel="se", n_jobs=2, alpha=0.1, theta=[1.0, 2.0]).fit(X, y)
mean = model.predict(X)
first: float = float(mean.sum())
mean, std = model.predict(X, return_std=True)
mean, lower, upper = model.predict(X, return_interval=0.9)
mean, std, lower, upper = model.predict(X, return_std=True, return_interval=0.9)
spread: Distribution = model.set_params(method="nearest").distribution()
scores: dict[str, object] = metrics(y, mean, std, distribution=spread)
rows = model.suggest(X, 3)
best: int = int(rows[0])
rows, gain = model.suggest(X, 3, return_reduction=True)
model.save("m.npz")
"""
WRONG = {
    'QuorumRegressor(kernel="sme")': "'sme'",
    "QuorumRegressor(n_expert=3)": '"n_expert"',
    "QuorumRegressor().fit([[1.0]])": '"y"',
    "QuorumRegressor().length_scale_": '"length_scale_"',
    "mean, std = QuorumRegressor().predict([[1.0]], return_interval=0.9)": "unpack",
}


def mypy(*arguments, module="mypy", cwd=None):
    paths = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, "-B", "-m", module, *map(str, arguments)], cwd=cwd,
                          capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": paths, "MYPYPATH": ""})


def judged(text, tmp_path):
    (tmp_path / "user.py").write_text(text)
    return mypy("--strict", "--config-file", CONFIG, "--cache-dir", tmp_path / "cache", "user.py",
                cwd=tmp_path)


def test_stubs_and_code_have_the_same_signatures(tmp_path):
    result = mypy(NAME, "--mypy-config-file", CONFIG, "--ignore-missing-stub", module="mypy.stubtest",
                  cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "no issues found" in result.stdout


def test_a_typical_program_passes(tmp_path):
    result = judged(GOOD.format(name=NAME), tmp_path)
    assert result.returncode == 0, result.stdout


def test_wrong_programs_are_told(tmp_path):
    lines = [f"from {NAME} import QuorumRegressor", *WRONG]
    result = judged("\n".join(lines) + "\n", tmp_path)
    for number, word in enumerate(WRONG.values(), 2):
        told = [line for line in result.stdout.split("\n") if line.startswith(f"user.py:{number}: error")]
        assert told and any(word in line for line in told), (lines[number - 1], result.stdout)


def declared():
    """The attributes of QuorumRegressor in its stub: name and type."""
    tree = ast.parse((PACKAGE / "regressor.pyi").read_text())
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef)).body
    return {node.target.id: ast.unparse(node.annotation) for node in body if isinstance(node, ast.AnnAssign)}


def test_attributes_are_those_of_a_fitted_model():
    X, y = make_data(200)
    model = small(calibrate=False).fit(X, y)
    model.partial_fit(*make_data(20, seed=1))
    found = {name for name in vars(model) if name.endswith("_")}
    assert found == set(declared()) - {"feature_names_in_"}
    kinds = {"float": float, "int": int, "str": str, "_Array": np.ndarray, "list[str]": list}
    for name, annotation in declared().items():
        if annotation in kinds:
            assert isinstance(getattr(model, name), kinds[annotation]), name
    assert model.experts_[0].dtype == np.intp and model.constant_.dtype == bool
