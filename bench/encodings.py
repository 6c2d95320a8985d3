#!/usr/bin/env python3
"""Positions of levels against levels that stand apart, on made tables: what each predicts of rows not in the fit.

    bench/encodings.py [--quorum build/quorum] [--rows 600]

Tables of one number x on (-2, 2), a category of K levels and noise 0.1: "adds" has y = sin x + effect of the level,
"elsewhere" y = sin(2 x + phase of the level), where levels do something else for other x.  Fits with --kernel
matern32 --metric ard, seeds 1 to 3; SMSE and MSLL on 1,000 rows, and what --encoding auto took.
Writes results/encodings.csv.
"""
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np

from common import RESULTS, run, write_csv

FIELDS = ["table", "levels", "rows", "seed", "encoding", "smse", "msll", "taken"]
OPTIONS = ["--kernel", "matern32", "--metric", "ard", "--threads", "1", "-q"]


def write_table(path, kind, levels, rows, seed):
    phase = np.random.default_rng(levels).permutation(levels) * 2 * np.pi / levels
    rng = np.random.default_rng(seed)
    x, level = rng.uniform(-2, 2, rows), rng.integers(levels, size=rows)
    y = np.sin(2 * x + phase[level]) if kind == "elsewhere" else np.sin(x) + phase[level]
    y += 0.1 * rng.normal(size=rows)
    with open(path, "w", encoding="utf-8") as file:
        file.write("x,c,y\n" + "".join(f"{u:.9g},k{k:02},{v:.9g}\n" for u, k, v in zip(x, level, y)))


def fit(quorum, folder, encoding):
    train, model, test = (os.path.join(folder, name) for name in ("train.csv", "m.npz", "test.csv"))
    subprocess.run([quorum, "fit", train, "-o", model, "--encoding", encoding, *OPTIONS], check=True,
                   capture_output=True)
    score = run([quorum, "evaluate", model, test, "--json", "--threads", "1", "-q"])[0]
    told = subprocess.run([quorum, "inspect", model, "--json"], capture_output=True, text=True, check=True).stdout
    return score, json.loads(told)["categories"][0]["encoding"]


def measure(args):
    for kind in ("adds", "elsewhere"):
        for levels in args.levels:
            for seed in args.seeds:
                with tempfile.TemporaryDirectory() as folder:
                    write_table(os.path.join(folder, "train.csv"), kind, levels, args.rows, seed)
                    write_table(os.path.join(folder, "test.csv"), kind, levels, 1000, 100 + seed)
                    for encoding in ("position", "distance", "auto"):
                        score, taken = fit(args.quorum, folder, encoding)
                        yield {"table": kind, "levels": levels, "rows": args.rows, "seed": seed, "encoding": encoding,
                               "smse": f"{score['smse']:.5f}", "msll": f"{score['msll']:.4f}", "taken": taken}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--levels", type=int, nargs="+", default=[6, 24])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--out", default=os.path.join(RESULTS, "encodings.csv"))
    args = parser.parse_args()
    command = f"bench/encodings.py --rows {args.rows}"
    write_csv(args.out, command, args.quorum, FIELDS, measure(args))
    print(args.out)


if __name__ == "__main__":
    main()
