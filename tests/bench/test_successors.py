"""bench/successors.py on a made set: all predictions, of both partitions, and what must hold between them."""
import os
import subprocess
import sys

import numpy as np

BENCH = os.path.join(os.path.dirname(__file__), "..", "..", "bench")
sys.path.insert(0, BENCH)
import common
import successors

QUORUM = os.path.abspath(os.environ.get("QUORUM", "build/quorum"))


def test_run(tmp_path):
    rows = common.made(np.random.default_rng(3), 900)
    (tmp_path / "made").mkdir()
    np.savetxt(tmp_path / "made" / "train.csv.gz", rows, delimiter=",", header="a,b,c,d,e,f,g,h,y", comments="")
    done = subprocess.run([sys.executable, "-B", os.path.join(BENCH, "successors.py"), str(tmp_path), "--quorum", QUORUM, "--sets",
                           "made", "--rows", "500", "--experts", "8", "--out", str(tmp_path / "o.csv")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    got = common.read_csv(tmp_path / "o.csv")
    assert [(r["partition"], r["prediction"]) for r in got] == [
        (p, label) for p in successors.PARTITIONS for label, _ in successors.PREDICTIONS]
    smse = {(r["partition"], r["prediction"]): float(r["smse"]) for r in got}
    for partition in successors.PARTITIONS:  # all experts, however they are chosen
        assert smse[partition, "npae, knn:8"] == smse[partition, "npae, local:8"] == smse[partition, "npae"]
        assert smse[partition, "npae, knn:1"] > smse[partition, "npae"]
    assert all(0 < value < 1 for value in smse.values())
