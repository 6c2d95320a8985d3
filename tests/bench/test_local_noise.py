"""bench/local_noise.py on a made set whose noise grows tenfold: noise and nested rows each change the predictions."""
import os
import subprocess
import sys

import numpy as np

BENCH = os.path.join(os.path.dirname(__file__), "..", "..", "bench")
sys.path.insert(0, BENCH)
import common
import local_noise

QUORUM = os.path.abspath(os.environ.get("QUORUM", "build/quorum"))


def test_run(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 1, (1500, 1))
    y = np.sin(6 * X[:, 0]) + 0.05 * 10 ** X[:, 0] * rng.standard_normal(1500)
    (tmp_path / "made").mkdir()
    np.savetxt(tmp_path / "made" / "train.csv.gz", np.column_stack([X, y]), delimiter=",", header="a,y", comments="")
    done = subprocess.run([sys.executable, "-B", os.path.join(BENCH, "local_noise.py"), "--quorum", QUORUM, "--data", str(tmp_path),
                           "--sets", "made", "--rows", "1200", "--held", "300", "--out", str(tmp_path / "o.csv")],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = {r["prediction"]: r for r in common.read_csv(tmp_path / "o.csv")}
    assert list(rows) == list(local_noise.PREDICTIONS)
    assert all(int(r["rows"]) == 1200 and int(r["held"]) == 300 and 0.85 < float(r["coverage95"]) <= 1 for r in rows.values())
    assert rows["not nested"]["msll"] != rows["auto"]["msll"] and rows["not nested"]["smse"] == rows["auto"]["smse"]
    assert rows["local"]["msll"] != rows["constant"]["msll"]
