#!/usr/bin/env python3
"""Whether predictions jump: the largest change of the mean from step to step along lines, for steps ever smaller.

    bench/jumps.py --data DIR [--quorum build/quorum] [--sets kin40k_10k30k] [--rows 3000] [--lines 8]

Of a set's training file `rows` random rows are fitted, others are ends of lines: from one towards another, a twentieth of the way.  Each
line is cut into 100, 200, 400 and 800 steps.  From 100 to 800 the largest step of a continuous surface falls to an eighth, that of one
that jumps stays.  Writes results/jumps.csv: the median and the largest over lines of the largest step, in standard deviations.
"""
import argparse
import os
import subprocess
import tempfile

import numpy as np

from calibration import numbers, save
from common import RESULTS, run, write_csv

FIELDS = ["set", "rows", "method", "steps", "median_step", "largest_step"]
STEPS, WAY = (100, 200, 400, 800), 0.05


def walk(args, model, method, ends, folder):
    """Largest step of each line, for each number of steps: every STEPS[-1] / k-th of the finest."""
    t = WAY * np.linspace(0, 1, STEPS[-1] + 1)[:, None]
    places = np.concatenate([a + t * (b - a) for a, b in ends])
    queries, out = os.path.join(folder, "queries.npy"), os.path.join(folder, "out.csv")
    np.save(queries, places)
    subprocess.run([args.quorum, "predict", model, queries, "-o", out, "--method", method, "--threads", str(args.threads), "-q"],
                   check=True)
    said = np.genfromtxt(out, delimiter=",", names=True)
    mean, std = (said[key].reshape(len(ends), -1) for key in ("mean", "std"))
    for k in STEPS:
        every = mean[:, ::STEPS[-1] // k]
        yield k, np.abs(np.diff(every, axis=1)).max(axis=1) / np.median(std, axis=1)


def measure(args, name):
    header, table = numbers(args.data, name, 1)
    left = table[args.rows:args.rows + 2 * args.lines, :-1]
    ends = list(zip(left[::2], left[1::2]))
    with tempfile.TemporaryDirectory() as folder:
        train, model = save(os.path.join(folder, "train.csv"), header, table[:args.rows]), os.path.join(folder, "model.npz")
        run([args.quorum, "fit", train, "-o", model, "--threads", str(args.threads), "-q", "--json"])
        for method in ("nearest", "cells"):
            for steps, largest in walk(args, model, method, ends, folder):
                yield {"set": name, "rows": args.rows, "method": method, "steps": steps,
                       "median_step": np.median(largest), "largest_step": largest.max()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+", default=["kin40k_10k30k"])
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--lines", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(RESULTS, "jumps.csv"))
    args = parser.parse_args()
    command = f"bench/jumps.py --sets {' '.join(args.sets)} --rows {args.rows} --lines {args.lines} --data DIR"
    write_csv(args.out, command, args.quorum, FIELDS, (row for name in args.sets for row in measure(args, name)))
    print(args.out)


if __name__ == "__main__":
    main()
