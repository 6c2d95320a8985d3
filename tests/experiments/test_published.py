"""The paper's numbers: complete, and as consistent as the paper is."""
import published

ROWS = published.load()


def value(table, dataset, partition, M, method, metric):
    return published.numbers(ROWS, table, dataset, partition, M)[method][metric]


def test_every_table_is_there():
    count = {t: sum(r["table"] == t for r in ROWS) for t in "12345"}
    assert count == {"1": 32, "2": 48, "3": 48, "4": 48, "5": 60}
    assert len({tuple(r.values())[:6] for r in ROWS}) == len(ROWS)
    for r in ROWS:
        float(r["value"])
        assert r["metric"] in ("smse", "msll")
        assert r["partition"] in ("kmeans", "random")


def test_poe_and_gpoe_share_their_smse_but_for_one_misprint():
    differ = []
    for dataset, M in (("protein", 70), ("sarcos", 72), ("song", 150)):
        for star in ("", "*"):
            pair = [value(5, dataset, "kmeans", M, name + star, "smse") for name in ("PoE", "GPoE")]
            if pair[0] != pair[1]:
                differ.append((dataset, star, *pair))
    assert differ == [("sarcos", "*", "0.038", "0.0038")]


def test_tables_repeat_each_other_up_to_rounding():
    differ = []
    for table, other, keys in ((1, 3, [("pumadyn", "kmeans", 15)]),
                               (1, 4, [("pumadyn", "random", 15)]),
                               (2, 5, [("protein", "kmeans", 70), ("sarcos", "kmeans", 72),
                                       ("song", "kmeans", 150)])):
        for key in keys:
            left, right = (published.numbers(ROWS, t, *key) for t in (table, other))
            for method in left.keys() & right.keys():
                differ += [(key[0], method, metric) for metric in ("smse", "msll")
                           if left[method][metric] != right[method][metric]]
    assert sorted(differ) == [("pumadyn", "GPoE", "msll"), ("pumadyn", "NPAE", "msll"),
                              ("sarcos", "RBCM*", "smse")]
