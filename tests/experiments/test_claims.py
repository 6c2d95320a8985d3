"""What a claim counts as holding, on made scores."""
import numpy as np
import pytest

import claims
import exact
import figures
import published
import report
from tables import pick


def row(method, value, metric="smse", M=10, **more):
    return {"data": "synthetic", "partition": "kmeans", "M": M, "method": method, "select": "all",
            "space": "latent" if method == "npae" else "observed", metric: value, **more}


def verdicts(function, rows):
    return [case.holds for case in function(rows, "claim")]


@pytest.mark.parametrize("few, many, holds", [(0.3, 0.5, True), (0.5, 0.3, False),
                                              (0.05, 0.09, False), (0.05, 0.12, True)])
def test_a_rule_that_is_ahead_has_not_fallen_behind(few, many, holds):
    """NPAE has 0.1 throughout; 0.05 and 0.09 are ahead of it at both ends, though nearer."""
    rows = [row("npae", 0.1), row("npae", 0.1, M=50), row("grbcm", few), row("grbcm", many, M=50)]
    assert verdicts(claims.gap_grows, rows) == [holds]


@pytest.mark.parametrize("coverage, cautious", [(0.99, True), (0.90, False)])
def test_caution_is_looked_at_where_gpoe_is(coverage, cautious):
    rows = [row("rbcm", 0.5, "coverage95"), row("gpoe", coverage, "coverage95")]
    assert verdicts(claims.rbcm_is_too_sure, rows) == [True]
    assert verdicts(claims.gpoe_is_cautious, rows) == [cautious]
    assert verdicts(claims.gpoe_is_cautious, rows[:1]) == []


def test_a_third_is_a_third():
    rows = [row("npae", 3.0, "seconds", data="pumadyn")]
    half = {**rows[0], "select": "graph:0.5"}
    for seconds, holds in ((0.9, True), (1.1, False)):
        found = verdicts(claims.a_third_of_the_time, rows + [{**half, "seconds": seconds}])
        assert found == [holds]


def test_extreme_penalties():
    where = {"select": "graph:0.8", "variant": "lambda", "M": 20, "msll": 0.0}
    rows = [row("npae", 0.2, penalty=0.1, **where), row("npae", 0.3, penalty="1", **where),
            row("npae", 0.1, penalty=0.01, **where)]
    cases = [c for c in claims.extreme_lambda_is_worse(rows, "claim") if c.metric == "smse"]
    assert [(c.where[-4:], c.holds) for c in cases] == [("0.01", False), ("=1.0", True)]


def test_verdicts():
    assert claims.verdict([True, True]) == "holds"
    assert claims.verdict([True, False]) == "holds in part"
    assert claims.verdict([False]) == "does not hold"


def test_numbers_are_picked_by_value():
    rows = [{"penalty": "1"}, {"penalty": 1.0}, {"penalty": "rel:1"}, {"penalty": ""}]
    assert pick(rows, penalty=1.0) == rows[:2] and pick(rows, penalty="rel:1") == rows[2:3]


def test_cells_of_the_paper_count_once():
    rows = published.load()
    count = {d: len(published.unique(rows, d)) for d in ("pumadyn", "protein", "sarcos", "song")}
    assert count == {"pumadyn": 96, "protein": 22, "sarcos": 21, "song": 22}   # one is a misprint
    assert published.unique(rows, "sarcos")["kmeans", "72", "RBCM*", "smse"] == ["0.0041", "0.005"]
    ours = [{"partition": "kmeans", "M": "72", "method": "RBCM*", "metric": "smse", "ours": v}
            for v in ("0.0049",)]
    assert report.come_out(ours, "sarcos", rows) == (1, 1)
    ours[0]["ours"] = "0.0045"
    assert report.come_out(ours, "sarcos", rows) == (0, 1)


def test_low_rank_is_exact():
    rng = np.random.default_rng(3)
    x, queries = rng.uniform(0, 2, 300), rng.uniform(0, 2, 40)
    y = np.sin(7 * x) + 0.2 * rng.standard_normal(300)
    mean, variance = exact.predict(x, y, queries, 0.1, 1.5, 0.04)
    K = exact.kernel(x, x, 0.1, 1.5) + 0.04 * np.eye(300)
    k = exact.kernel(x, queries, 0.1, 1.5)
    wanted = y.mean() + k.T @ np.linalg.solve(K, y - y.mean())
    assert np.abs(mean - wanted).max() < 1e-8
    assert np.abs(variance - (1.5 - (k * np.linalg.solve(K, k)).sum(axis=0))).max() < 1e-8


def test_bars_are_beside_each_other_and_stay_in_the_domain():
    series = [("NPAE", [(1, 0.1, 0.5), (2, 0.2, 0.1)]), ("GPoE", [(1, 0.1, 0.0), (2, 0.3, 0.1)])]
    plain = list(figures.dodged(figures.Panel("", "", series, floor=0.0)))
    assert plain[0][0][0] < 1 < plain[1][0][0]
    assert plain[0][0][1:] == (0.1, 0.0, 0.6)
    logged = list(figures.dodged(figures.Panel("", "", series, logx=True, logy=True)))
    assert logged[0][0][2] == pytest.approx(0.01)


def test_clusters_are_next_to_each_other():
    graph = {"nodes": [{"expert": k} for k in range(1, 7)],
             "edges": [{"from": a, "to": b, "precision": -1.0} for a, b in
                       ((1, 3), (3, 5), (1, 5), (2, 4), (4, 6), (2, 6))]}
    order, weight = figures.clusters(graph)
    assert {frozenset(order[:3]), frozenset(order[3:])} == {frozenset((1, 3, 5)),
                                                            frozenset((2, 4, 6))}
    assert weight[3, 1] == 1.0 and weight[1, 2] == 0.0
