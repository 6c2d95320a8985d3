#!/usr/bin/env python3
"""Intervals of small tables: as a fit calibrates them by default, and as theta states them.

    Rscript bench/r_tables.R DIR
    bench/few_rows.py DIR [--quorum build/quorum] [--sets NAME ...] [--seeds 1 2 3] [--threads 1]

Of DIR/SET.csv (header, target last) four fifths of a seeded shuffle are fitted, with --calibrate auto and false, and
the other rows scored: MSLL and CRPS (evaluate), the share of targets inside the 95 % interval, its mean width and
interval score (width, and 40 times the distance of a target outside; predict), and the fit's processor seconds.
Writes results/few_rows.csv.
"""
import argparse
import csv
import os
import tempfile

import numpy as np

from common import HERE, RESULTS, measured, run, write_csv
from heavy_tails import split

SETS = ("Forbes2000", "CASchools", "Guns", "HousePrices", "USSeatBelts", "Sacramento", "attrition", "bdf", "car_prices", "nlschools",
        "Municipalities")


def intervals(quorum, folder, model, words):
    """Of the scored rows: lower and upper end, and the target."""
    out, scored = os.path.join(folder, "out.csv"), os.path.join(folder, "score.csv")
    measured([quorum, "predict", model, scored, "-o", out, *words])
    with open(scored, newline="", encoding="utf-8") as file:
        target = np.array([float(row[-1]) for row in list(csv.reader(file))[1:]])
    ends = np.genfromtxt(out, delimiter=",", names=True)
    return ends["lower"], ends["upper"], target


def scores(quorum, folder, calibrate, threads):
    model, words = os.path.join(folder, "m.npz"), ["--threads", str(threads), "-q"]
    seconds = measured([quorum, "fit", os.path.join(folder, "fit.csv"), "-o", model, "--calibrate", calibrate, "--graph", "none",
                        *words])["processor"]
    score = run([quorum, "evaluate", model, os.path.join(folder, "score.csv"), "--json", *words])[0]
    low, high, y = intervals(quorum, folder, model, words)
    width, outside = np.mean(high - low), np.mean(np.maximum(0, low - y) + np.maximum(0, y - high))
    return {"calibrate": calibrate, "msll": score["msll"], "crps": score["crps"], "coverage95": np.mean((low <= y) & (y <= high)),
            "width95": width, "interval_score": width + 40 * outside, "fit_seconds": seconds}


def measure(given, name, seed):
    with tempfile.TemporaryDirectory() as folder:
        fitted = split(os.path.join(given.data, name + ".csv"), folder, seed)
        for calibrate in ("auto", "false"):
            yield {"set": name, "seed": seed, "rows": fitted, **scores(given.quorum, folder, calibrate, given.threads)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", metavar="DIR")
    parser.add_argument("--quorum", default=os.path.join(HERE, "..", "build", "quorum"))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=RESULTS)
    given = parser.parse_args()
    seeds = " ".join(map(str, given.seeds))
    write_csv(os.path.join(given.out, "few_rows.csv"), f"bench/few_rows.py DIR --seeds {seeds}", given.quorum,
              ["set", "seed", "rows", "calibrate", "msll", "crps", "coverage95", "width95", "interval_score", "fit_seconds"],
              (line for name in given.sets for seed in given.seeds for line in measure(given, name, seed)))


if __name__ == "__main__":
    main()
