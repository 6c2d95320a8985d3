#!/usr/bin/env python3
"""The option input-warp: what it is worth to bend inputs with heavy tails.

    Rscript bench/r_tables.R DIR
    bench/heavy_tails.py DIR [--quorum build/quorum] [--sets NAME ...] [--seeds 1 2 3] [--threads 1]

Of DIR/SET.csv (header, target last) four fifths of a seeded shuffle are fitted, `fit --input-warp none` and
`asinh` with defaults otherwise, and the other rows scored.  Writes results/heavy_tails.csv: SMSE, MSLL, the mean
absolute error and the share of targets inside the 95 % interval (evaluate --json), the kernel, and the inputs bent.
"""
import argparse
import csv
import os
import tempfile

import numpy as np

from common import HERE, RESULTS, run, write_csv

SETS = ("Forbes2000", "Guns", "USSeatBelts", "bdf")


def split(path, folder, seed):
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    order = np.random.default_rng(seed).permutation(len(rows))
    fitted = len(rows) * 4 // 5
    for part, chosen in (("fit", order[:fitted]), ("score", order[fitted:])):
        with open(os.path.join(folder, part + ".csv"), "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *(rows[i] for i in chosen)])
    return fitted


def scores(quorum, folder, warp, threads):
    model = os.path.join(folder, "m.npz")
    words = ["--threads", str(threads), "-q", "--json"]
    told = run([quorum, "fit", os.path.join(folder, "fit.csv"), "-o", model, "--input-warp", warp, "--graph", "none", *words])
    bent = sum("bend_width" in i for i in run([quorum, "inspect", model, "--json"])["hyperparameters"])
    score = run([quorum, "evaluate", model, os.path.join(folder, "score.csv"), *words])[0]
    return {"input_warp": warp, "bent": bent, "kernel": told["kernel"], "smse": score["smse"], "msll": score["msll"],
            "mae": score["mae"], "coverage95": score["coverage"]["95"]}


def measure(quorum, directory, name, seed, threads):
    with tempfile.TemporaryDirectory() as folder:
        fitted = split(os.path.join(directory, name + ".csv"), folder, seed)
        for warp in ("none", "asinh"):
            yield {"set": name, "seed": seed, "rows": fitted, **scores(quorum, folder, warp, threads)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", metavar="DIR")
    parser.add_argument("--quorum", default=os.path.join(HERE, "..", "build", "quorum"))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=RESULTS)
    given = parser.parse_args()
    lines = (line for name in given.sets for seed in given.seeds
             for line in measure(given.quorum, given.data, name, seed, given.threads))
    write_csv(os.path.join(given.out, "heavy_tails.csv"), "bench/heavy_tails.py DIR", given.quorum,
              ["set", "seed", "rows", "input_warp", "bent", "kernel", "smse", "msll", "mae", "coverage95"], lines)


if __name__ == "__main__":
    main()
