"""bench/bars.py and bench/map_queries.py: verdicts from rows, and whole runs on little data."""
import gzip
import os
import subprocess
import sys

import numpy as np

import bars
import common
from conftest import BENCH, QUORUM


def row(what, smse=0.1, msll=-1.0, fit=4.0, predict=1.0):
    return {"what": what, "smse": smse, "msll": msll, "fit_seconds": fit, "predict_seconds": predict}


def verdicts(*rows):
    return [sentence.endswith(": met") for sentence in bars.judge(rows)]


def test_bars_are_met_up_to_their_limits():
    assert verdicts(row("default", smse=0.10099, msll=-0.9901, predict=1.19), row("nearest 512")) == [True, True, True]
    assert verdicts(row("default", smse=0.1012), row("nearest 512")) == [False, True, True]
    assert verdicts(row("default", msll=-0.985), row("nearest 512")) == [True, False, True]
    assert verdicts(row("default", predict=1.21), row("nearest 512")) == [True, True, False]


def test_the_fit_is_compared_with_the_reference():
    assert verdicts(row("default", fit=2.0), row("nearest 512"), row("reference"))[3:] == [True, True]
    assert verdicts(row("default", fit=2.1, smse=0.2), row("nearest 512", smse=0.2), row("reference"))[3:] == [False, False]


def test_the_sum_of_all_sets_has_its_bar():
    few = [row("default", predict=1.0), row("nearest 512", predict=3.1)]
    assert bars.judge_all(few).endswith(": met")
    assert bars.judge_all(few + [row("default", predict=1.0), row("nearest 512", predict=1.0)]).endswith("NOT MET")


def test_a_whole_run(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (400, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(400)
    os.makedirs(tmp_path / "made")
    with gzip.open(tmp_path / "made" / "train.csv.gz", "wt") as file:
        np.savetxt(file, np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
    out = subprocess.run([sys.executable, os.path.join(BENCH, "bars.py"), str(tmp_path), "--sets", "made", "--turns", "1", "--held", "50", "--rows", "300",
                          "--quorum", QUORUM, "--reference", QUORUM, "--out", str(tmp_path)], capture_output=True, text=True, check=True).stdout
    assert "made: SMSE over nearest's" in out and "in sum" in out
    rows = common.read_csv(str(tmp_path / "bars.csv"))
    assert [r["what"] for r in rows] == ["default", "nearest 512", "reference"]
    assert rows[0]["smse"] == rows[2]["smse"] and rows[0]["rows"] == "300" and rows[0]["queries"] == "50"


def test_a_map_is_asked_in_turns(tmp_path):
    subprocess.run([sys.executable, os.path.join(BENCH, "map_queries.py"), "--rows", "300", "--queries", "500", "--turns", "2", "--threads", "1",
                    "--quorum", QUORUM, "--out", str(tmp_path)], capture_output=True, text=True, check=True)
    rows = common.read_csv(str(tmp_path / "map_queries.csv"))
    assert [r["turn"] for r in rows] == ["1", "2"] and float(rows[0]["wall_seconds"]) > 0
