"""The recipe for Dask of docs/scaling.md, as it stands there: partitions are predicted as the whole."""
import os
import pathlib
import re

import numpy as np
import pandas as pd
import pytest

from quorum import QuorumRegressor

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "scaling.md"


def recipe(name):
    found = re.findall(rf"```python\n# {name}\n(.*?)```", PAGE.read_text(), re.S)
    assert len(found) == 1
    return found[0]


def test_dask(tmp_path):
    pytest.importorskip("dask.dataframe", reason="python3-dask is not installed")
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.uniform(0, 1, (300, 2)), columns=["a", "b"])
    model = QuorumRegressor(n_experts=1, kernel="se", max_evaluations=3).fit(X[:200], np.sin(5 * X["a"][:200]).rename("y"))
    model.save(tmp_path / "model.npz")
    parts = [X[200:230], X[230:231], X[231:]]
    for i, part in enumerate(parts):
        part.assign(id=range(len(part))).to_csv(tmp_path / f"queries-{i}.csv", index=False)
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        exec(compile(recipe("dask"), str(PAGE), "exec"), {})
    finally:
        os.chdir(before)
    for i, part in enumerate(parts):
        got = pd.read_csv(tmp_path / f"predicted-{i}.csv", float_precision="round_trip")
        mean, std = model.predict(part, return_std=True)
        assert list(got) == ["a", "b", "id", "mean", "std"]
        assert np.allclose(got["mean"], mean, rtol=1e-12) and np.allclose(got["std"], std, rtol=1e-12)


def test_recipes_are_python():
    for name in ("dask", "spark"):
        compile(recipe(name), str(PAGE), "exec")
        assert len(recipe(name).strip().splitlines()) <= 15
