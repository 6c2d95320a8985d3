"""bench/jumps.py on a small made set: `nearest` jumps along lines, `cells` hardly."""
import os
import subprocess
import sys

import numpy as np

BENCH = os.path.join(os.path.dirname(__file__), "..", "..", "bench")
sys.path.insert(0, BENCH)
import common

QUORUM = os.path.abspath(os.environ.get("QUORUM", "build/quorum"))


def test_run(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 1, (1300, 3))
    (tmp_path / "made").mkdir()
    np.savetxt(tmp_path / "made" / "train.csv.gz", np.column_stack([X, np.sin(9 * X[:, 0]) * np.cos(7 * X[:, 1]) + X[:, 2]]),
               delimiter=",", header="a,b,c,y", comments="")
    done = subprocess.run([sys.executable, "-B", os.path.join(BENCH, "jumps.py"), "--quorum", QUORUM, "--data", str(tmp_path), "--sets",
                           "made", "--rows", "1250", "--lines", "2", "--out", str(tmp_path / "o.csv")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = common.read_csv(tmp_path / "o.csv")
    assert [(r["method"], int(r["steps"])) for r in rows] == [(m, k) for m in ("nearest", "cells") for k in (100, 200, 400, 800)]
    largest = [float(r["median_step"]) for r in rows]
    assert largest[7] < 0.5 * largest[4] and all(0 < b <= a * 1.0001 for a, b in zip(largest[4:7], largest[5:]))
