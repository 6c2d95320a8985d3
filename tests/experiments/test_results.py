"""The committed results against the paper's claims: which hold, which do not."""
import os

import pytest

import claims
from conftest import EXPERIMENTS
from tables import read_csv

RESULTS = os.path.join(EXPERIMENTS, "results")
DONE = ("synthetic", "pumadyn", "protein", "sarcos")


def table(experiment, name):
    path = os.path.join(RESULTS, experiment, name)
    return read_csv(path) if os.path.exists(path) else []


@pytest.mark.parametrize("experiment", DONE)
def test_claims_are_those_of_the_scores(experiment, capsys):
    """Lists the cases that do not hold; the page must say the same."""
    cases = claims.check(table(experiment, "scores.csv"), table(experiment, "experts.csv"))
    committed = table(experiment, "claims.csv")
    key = [(c.claim, c.where, c.metric) for c in cases]
    assert key == [(c["claim"], c["where"], c["metric"]) for c in committed]
    for case, row in zip(cases, committed):
        near = abs(case.left - case.right) <= 2e-5 * abs(case.right)   # digits of the CSV
        assert near or str(case.holds) == row["holds"], row
    with capsys.disabled():
        failing = [c for c in cases if not c.holds]
        print(f"\n{experiment}: {len(failing)} of {len(cases)} cases of the paper's claims do not "
              "hold")
        for c in failing:
            print(f"  {c.claim}: {c.where}, {c.metric} {c.left:.4g} against {c.right:.4g}")


def share_that_holds(experiment, sentence):
    cases = [c for c in table(experiment, "claims.csv") if c["claim"].startswith(sentence)]
    assert cases
    return sum(c["holds"] == "True" for c in cases) / len(cases)


def test_what_must_hold():
    """Directions that no reading of the paper can turn round."""
    assert share_that_holds("synthetic", "The most important experts beat") == 1
    assert share_that_holds("synthetic", "Importance finds") == 1
    for experiment in ("protein", "sarcos"):
        assert share_that_holds(experiment, "PoE and GPoE share") == 1


@pytest.mark.parametrize("experiment", DONE)
def test_results_say_where_they_come_from(experiment):
    with open(os.path.join(RESULTS, experiment, experiment + ".html")) as file:
        page = file.read()
    for word in ("command: ", "machine: ", "version: ", "commit: ", "date: "):
        assert word in page
    assert "A quick look" not in page
    assert "/tmp/" not in page and "/home/" not in page and "/work/" not in page


@pytest.mark.parametrize("method", ("bcm", "rbcm", "grbcm"))
@pytest.mark.parametrize("space", ("observed", "latent"))
def test_less_noise_repeats_leaked_rows_better(method, space):
    """The Sarcos page explains the paper's figures by it, with these numbers."""
    with open(os.path.join(RESULTS, "sarcos", "sarcos.html")) as file:
        page = file.read()
    found = [next(float(r["smse"]) for r in table("sarcos", "scores.csv")
                  if (r["data"], int(r["seed"]), r["method"], r["select"], r["space"], r["variant"])
                  == ("sarcos", 1, method, "all", space, variant))
             for variant in ("", "noise x 0.5", "noise x 0.2")]
    assert found == sorted(found, reverse=True)
    assert all(f"{smse:.4f}" in page for smse in found)
