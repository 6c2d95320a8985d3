"""bench/intervals.py, by_distance.py and heteroscedastic.py: scores and corrections against their definitions, runs on made sets."""
import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

import by_distance
import common
import heteroscedastic
import intervals
from conftest import BENCH, QUORUM

ROWS = 700
os.environ.setdefault("OMP_NUM_THREADS", "1")  # boosting's threads wait for each other where others work


def write(path, header, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.write("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """`made`, with a column of text, and `satellite`, a grid whose test rows are a hole."""
    directory = tmp_path_factory.mktemp("sets")
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (ROWS, 2))
    y = 5 + np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(ROWS)
    write(str(directory / "made" / "train.csv.gz"), "a,word,b,y",
          [(a, "red", b, t) for (a, b), t in zip(X.tolist(), y.tolist())])
    grid = np.array([(i, j) for i in range(24) for j in range(24)], float)
    map_y = np.sin(grid[:, 0] / 4) + np.cos(grid[:, 1] / 3) + 0.1 * rng.standard_normal(len(grid))
    hole = (grid[:, 0] < 6) & (grid[:, 1] < 6)
    for part, keep in (("train", ~hole), ("test", hole)):
        write(str(directory / "satellite" / f"{part}.csv.gz"), "Lon,Lat,Temp",
              np.column_stack([grid, map_y])[keep].tolist())
    return directory


def bench(name, directory, out, *options):
    done = subprocess.run([sys.executable, "-B", os.path.join(BENCH, name), "--data", str(directory), "--quorum",
                           QUORUM, "--out", str(out), *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return common.read_csv(out)


def test_interval_score_by_definition():
    y, low, high = np.array([0.0, 3.0, -2.0]), np.array([-1.0, 0.0, -1.0]), np.array([1.0, 2.0, 1.0])
    assert intervals.interval_score(y, low, high) == pytest.approx((2 + (2 + 40 * 1) + (2 + 40 * 1)) / 3)


def test_widths_at_equal_coverage_are_of_intervals_that_hold_so_many():
    rng = np.random.default_rng(2)
    mean, half = rng.normal(size=1000), rng.uniform(0.5, 2.0, 1000)
    y, low, high = mean + rng.normal(size=1000), mean - half, mean + 2 * half
    moved = (intervals.moved_width(y, low, high) - np.mean(high - low)) / 2
    inside = (y >= low - moved - 1e-12) & (y <= high + moved + 1e-12)
    assert inside.sum() == 950
    k = intervals.stretched_width(y, mean, low, high) / np.mean(high - low)
    inside = (y >= mean + k * (low - mean) - 1e-12) & (y <= mean + k * (high - mean) + 1e-12)
    assert inside.sum() == 950


def test_conformal_correction_by_definition():
    assert [intervals.conformal_rank(n) + 1 for n in (10, 19, 39, 99, 1999)] == [10, 19, 38, 95, 1900]
    rng = np.random.default_rng(3)
    train, X = rng.normal(size=(500, 3)), rng.normal(size=(50, 2))
    low, high, _ = intervals.conformalised(train, X, intervals.DEFAULT, 1)
    raw = intervals.quantiles(train[:400], X, intervals.DEFAULT, 1)
    calm = intervals.quantiles(train[:400], train[400:, :-1], intervals.DEFAULT, 1)
    more = raw[0] - low
    assert np.allclose(more, more[0]) and np.allclose(high - raw[1], more[0])
    inside = (train[400:, -1] >= calm[0] - more[0] - 1e-9) & (train[400:, -1] <= calm[1] + more[0] + 1e-9)
    assert inside.sum() == 96  # ceil(101 * 0.95) of 100


def test_intervals_on_a_made_set(sets, tmp_path):
    rows = bench("intervals.py", sets, tmp_path / "i.csv", "--sets", "made", "--rows", "400", "--held", "200",
                 "--seeds", "1")
    assert [r["way"] for r in rows] == ["quorum", "boosting", "boosting, tuned"]
    assert {(r["rows"], r["held"], r["inputs"]) for r in rows} == {("400", "200", "2")}
    for r in rows:
        assert 0.85 <= float(r["coverage95"]) <= 1 and float(r["interval_score"]) >= float(r["width95"]) > 0.3
    assert float(rows[0]["width95"]) == pytest.approx(0.4, abs=0.08)  # 3.92 times the noise
    assert rows[0]["crps"] and not rows[1]["crps"]


def test_coverage_of_a_table_and_of_a_map(sets, tmp_path):
    rows = bench("by_distance.py", sets, tmp_path / "c.csv", "--sets", "made", "satellite", "--held", "200",
                 "--seeds", "1")
    for name in ("made", "satellite"):
        for prediction in by_distance.PREDICTIONS:
            own = [r for r in rows if (r["set"], r["prediction"]) == (name, prediction)]
            assert [int(r["tenth"]) for r in own] == list(range(1, len(own) + 1)) and 2 <= len(own) <= 10
            assert sum(int(r["group"]) for r in own) == int(own[0]["held"])
            ends = [float(r[end]) for r in own for end in ("low", "high")]
            assert ends == sorted(ends)
    made = [r for r in rows if r["set"] == "made"]
    assert {(r["rows"], r["held"]) for r in made} == {("500", "200")} and len(made) == 20


def test_noise_that_grows(tmp_path):
    X = np.array([[-1.0, 0.0, 1.0], [1.0, 0.0, 2.0]])
    f, deviation = heteroscedastic.truth(X)
    assert f == pytest.approx(np.sin(4 * X[:, 0]) + X[:, 2]) and deviation == pytest.approx([0.05, 0.5])
    done = subprocess.run([sys.executable, "-B", os.path.join(BENCH, "heteroscedastic.py"), "--quorum", QUORUM,
                           "--inputs", "1", "--rows", "1000", "--held", "200", "--seeds", "1", "--out",
                           str(tmp_path / "h.csv")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = common.read_csv(tmp_path / "h.csv")
    assert [r["prediction"] for r in rows] == ["calibrated", "uncalibrated"]
    for r in rows:
        assert all(0.3 < float(r[t]) < 4 for t in heteroscedastic.TENTHS) and -0.05 < float(r["msll_more"]) < 0.5
        assert float(r["msll_more"]) == pytest.approx(float(r["msll"]) - float(r["msll_truth"]), abs=1e-3)
