"""The command in a country of decimal commas: the same bytes as anywhere."""
import os
import subprocess

import pytest
from conftest import run


@pytest.fixture(scope="module", params=["de_DE", "tr_TR"])
def abroad(request, tmp_path_factory):
    """An environment with this locale, made here."""
    place = tmp_path_factory.mktemp("locale")
    name = request.param + ".UTF-8"
    try:
        subprocess.run(["localedef", "-i", request.param, "-f", "UTF-8", place / name], check=True,
                       capture_output=True)
    except (OSError, subprocess.CalledProcessError) as reason:
        pytest.skip(f"localedef cannot make {name} (install the package locales): {reason}")
    environment = {**os.environ, "LOCPATH": str(place), "LC_ALL": name, "LANG": name}
    if request.param == "de_DE":  # the locale is there, and it is what it should be
        shown = subprocess.run(["/usr/bin/printf", "%.1f", "0,5"], env=environment,
                               capture_output=True, text=True)
        assert shown.stdout == "0,5"
    return environment


def test_every_command_prints_the_same(data, tmp_path, abroad):
    home = {**os.environ, "LC_ALL": "C"}
    model, test = data / "model.npz", data / "test.csv"
    for args in (["predict", model, data / "queries.csv", "--interval", "0.9"],
                 ["predict", model, test, "--select", "graph:0.75"],
                 ["inspect", model], ["inspect", model, "--json"], ["fit", "--help"],
                 ["options", "--markdown"]):
        assert run(*args, env=abroad).out == run(*args, env=home).out


def test_a_model_from_abroad_is_the_same(data, tmp_path, abroad):
    for name, environment in (("here", {**os.environ, "LC_ALL": "C"}), ("there", abroad)):
        run("fit", data / "train.csv", "-o", tmp_path / f"{name}.npz", "--experts", 2, "--kernel",
            "se", "--tolerance", "1e-3", "--lambda", "rel:0.2", "-q", env=environment)
    queries = data / "queries.csv"
    assert run("predict", tmp_path / "here.npz", queries, env=abroad).out \
        == run("predict", tmp_path / "there.npz", queries).out


def test_complaints_have_points(data, abroad):
    result = run("predict", data / "model.npz", data / "queries.csv", "--interval", "0,9", code=2,
                 env=abroad)
    assert '"0,9" is not a number' in result.err
    assert "0.001 to 0.999999" in run("predict", data / "model.npz", data / "queries.csv",
                                      "--interval", "7", code=2, env=abroad).err
