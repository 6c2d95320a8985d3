"""bench/outside.py: where its rows and queries lie, and a run on the smallest case."""
import os
import subprocess
import sys

import numpy as np

BENCH = os.path.join(os.path.dirname(__file__), "..", "..", "bench")
sys.path.insert(0, BENCH)
import common
import outside
import outside_truth

QUORUM = os.path.abspath(os.environ.get("QUORUM", "build/quorum"))


def test_queries_lie_where_no_rows_are():
    for case in outside.CASES:
        rows, inside, beyond = (part[:, :-1] for part in outside.made(case, 1))
        assert len(rows) == outside.CASES[case][1]
        low, high = rows.min(axis=0), rows.max(axis=0)
        out = np.any((beyond < low) | (beyond > high), axis=1)
        if case == "hole4d":
            assert np.linalg.norm(beyond, axis=1).max() <= 0.6 < np.linalg.norm(rows, axis=1).min()
        elif case == "robot4d":
            assert np.linalg.norm(beyond, axis=1).min() > np.quantile(np.linalg.norm(rows, axis=1), 0.9)
        else:
            assert out.mean() > 0.98
        assert np.mean(np.any((inside < low) | (inside > high), axis=1)) < 0.05


def test_run(tmp_path):
    done = subprocess.run([sys.executable, "-B", os.path.join(BENCH, "outside.py"), "--quorum", QUORUM, "--cases",
                           "smooth3d_500", "--out", str(tmp_path / "o.csv")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = common.read_csv(tmp_path / "o.csv")
    assert [r["prediction"] for r in rows] == list(outside.PREDICTIONS)
    assert all(0.8 < float(r["outside_covers"]) <= 1 and float(r["inside_msll"]) < -5 for r in rows)


def test_the_truth_covers_what_it_says_over_many_functions():
    """Of all functions 95 %; of one with a single input anything, of one with three about as much."""
    line, cube = (outside_truth.measure(case, 300, 2) for case in ("line", "cube"))
    assert abs(line["mean_covers"] - 0.95) < 0.02 and abs(cube["mean_covers"] - 0.95) < 0.02
    assert line["within_90_99"] < 0.3 < 0.8 < cube["within_90_99"]
