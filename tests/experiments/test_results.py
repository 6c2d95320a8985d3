"""The committed results against the paper's claims: which hold, which do not."""
import os

import pytest

import claims
import committee
import consistency
import published
import report
import sarcos
import summary
from conftest import EXPERIMENTS
from tables import pick, read_csv, stat

RESULTS = os.path.join(EXPERIMENTS, "results")
DONE = ("synthetic", "consistency", "pumadyn", "protein", "sarcos", "committee")
TABLES = {"synthetic": ("scores", "experts", "bands"), "pumadyn": ("scores", "experts"),
          "protein": ("scores",), "sarcos": ("scores",), "consistency": ("consistency",)}


def table(experiment, name):
    """A committed table; one that is missing or empty is an error, not a claim without cases."""
    rows = read_csv(os.path.join(RESULTS, experiment, name))
    assert rows, f"{experiment}/{name} has no rows"
    return rows


def cases_of(experiment):
    tables = {name: table(experiment, name + ".csv") for name in TABLES[experiment]}
    if experiment == "consistency":
        return consistency.cases(tables["consistency"])
    return claims.check(tables["scores"], tables.get("experts", []), tables.get("bands", []))


@pytest.mark.parametrize("experiment", TABLES)
def test_claims_are_those_of_the_scores(experiment, capsys):
    """Lists the cases that do not hold; the page must say the same."""
    cases = cases_of(experiment)
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


def test_a_missing_table_is_an_error():
    with pytest.raises(FileNotFoundError):
        table("synthetic", "nosuch.csv")


@pytest.mark.parametrize("experiment, count", [("pumadyn", (82, 96)), ("protein", (14, 22)),
                                               ("sarcos", (2, 21))])
def test_unique_numbers_that_come_out(experiment, count):
    found = table(experiment, "differences.csv")
    assert report.come_out(found, experiment, published.load()) == count
    with open(os.path.join(EXPERIMENTS, "..", "docs", "reproduction.md")) as file:
        assert f"{count[0]} of {count[1]}" in file.read()


def test_the_docs_have_the_results():
    """Tables of docs/reproduction.md are those that the committed results make."""
    with open(summary.PAGE) as file:
        page = file.read()
    for name in summary.TABLES:
        assert f"<!-- table: {name} -->" in page
    assert summary.filled(page) == page
    assert summary.filled(page.replace(" holds in part ", " holds ")) == page


def test_a_table_that_cannot_be_made_leaves_the_page(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table: claims -->\n<!-- end -->\n")
    monkeypatch.setattr(summary, "PAGE", page)
    monkeypatch.setattr(summary, "RESULTS", str(tmp_path))
    with pytest.raises(FileNotFoundError):
        summary.main()
    assert page.read_text().startswith("before\n")


def test_nothing_that_was_asked_for_is_missing():
    """Every rule under every reading of Sarcos, every real set."""
    tried = list(sarcos.tried(table("sarcos", "scores.csv"), published.numbers(
        published.load(), 5, "sarcos", "kmeans", sarcos.EXPERTS), seed=1))
    assert len(tried) == 12 and all(all(cells) for cells in tried)
    for _, *cells in tried[1:]:       # docs/reproduction.md: no reading makes a star pay
        smse = [float(c.split(" / ")[0]) for c in cells]
        assert all(starred > plain for plain, starred in zip(smse[::2], smse[1::2]))
    rows = table("committee", "scores.csv")
    for name in committee.REAL:
        assert all(pick(rows, variant=name, method=m, select=s)
                   for m, s in (*committee.METHODS.values(), ("npae", committee.HALVES[1])))


def test_proposition_1():
    """It holds for random parts, and half of K-means' parts do not approach all of them."""
    rows = table("consistency", "claims.csv")
    random = [r["holds"] for r in rows if " random " in r["where"]]
    assert random and set(random) == {"True"}
    half = [r["holds"] for r in rows if "(III)" in r["claim"] and " kmeans NPAE*(0.5)" in r["where"]]
    assert half and set(half) == {"False"}


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
    assert page.count("<script>") == 1 and 'id="how-this-page-was-made"' in page
    for name in TABLES.get(experiment, ()):
        assert f'href="{name}.csv"' in page
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


def test_the_ranking_is_no_guide_where_all_experts_are_of_use():
    """docs/reproduction.md says so of random parts, and of kin40k with regions."""
    rows = table("committee", "scores.csv")

    def smse(variant, select):
        return stat(pick(rows, variant=variant, method="npae", select=select), "smse").mean
    random = sorted({r["variant"] for r in rows if r["variant"].endswith(committee.RANDOM)})
    assert len(random) == 7
    for variant in random:
        most, least, whole = (smse(variant, s) for s in (*committee.HALVES, "all"))
        assert 0.95 < most / least < 1.05 and 1.1 < most / whole < 1.75
    assert smse("kin40k_10k30k", "graph:0.5") > 5 * smse("kin40k_10k30k", "worst:0.5")


@pytest.mark.parametrize("experiment", DONE)
def test_no_table_of_a_page_is_empty(experiment):
    with open(os.path.join(RESULTS, experiment, experiment + ".html"), encoding="utf-8") as file:
        text = file.read()
    assert "<tbody>" in text and "<tbody>\n</tbody>" not in text
