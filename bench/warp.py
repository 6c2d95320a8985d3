#!/usr/bin/env python3
"""The option warp, on training rows: what the logarithm of a heavy-tailed target is worth.

    bench/warp.py DIR [--quorum build/quorum] [--sets diamonds protein] [--rows 6000] [--threads 1]

Of the *training* file of each set (DIR/SET/train.csv.gz, header, target last) the first `rows` rows of
a seeded shuffle are fitted and the next 4,000 scored, with `fit --calibrate --warp none`, `log` and
`auto` and defaults otherwise; test files are not read.  Columns of text with up to ten different words
become the words' mean targets over the fitted rows.  Writes results/warp.csv: SMSE, MSLL, CRPS, the
share of targets inside the 95 % interval and its mean width (evaluate --by y --json), and what auto took.
"""
import argparse
import csv
import gzip
import os
import tempfile

import numpy as np

from common import HERE, RESULTS, run, write_csv

SCORED = 4000
WARPS = ("none", "log", "auto")


def read_rows(path):
    with gzip.open(path, "rt") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def as_numbers(column, targets, fitted):
    """A column of numbers, or of words, which become their mean target over the first `fitted` rows."""
    try:
        return np.array(column, dtype=float)
    except ValueError:
        words = np.array(column)
        known = {w: targets[:fitted][words[:fitted] == w].mean() for w in set(words[:fitted])}
        assert len(known) <= 10, "a column of text has more than ten different words"
        return np.array([known.get(w, targets[:fitted].mean()) for w in words])


def split(header, rows, fitted, seed=1):
    """Two tables from a seeded shuffle, all numbers."""
    order = np.random.default_rng(seed).permutation(len(rows))[:fitted + SCORED]
    columns = list(zip(*(rows[i] for i in order)))
    targets = np.array(columns[-1], dtype=float)
    table = np.column_stack([as_numbers(c, targets, fitted) for c in columns[:-1]] + [targets])
    return table[:fitted], table[fitted:]


def write_table(path, header, table):
    np.savetxt(path, table, "%.17g", ",", header=",".join(header), comments="")


def scores(quorum, folder, warp, threads, target):
    model = os.path.join(folder, "m.npz")
    words = ["--threads", str(threads), "-q", "--json"]
    told = run([quorum, "fit", os.path.join(folder, "fit.csv"), "-o", model, "--warp", warp, "--calibrate",
                *words])
    score = run([quorum, "evaluate", model, os.path.join(folder, "score.csv"), "--by", target, *words])[0]
    rows = np.array([g["rows"] for g in score["groups"]])
    width = np.average([g["width"] for g in score["groups"]], weights=rows)
    return {"warp": warp, "taken": told["warp"], "smse": score["smse"], "msll": score["msll"],
            "crps": score["crps"], "coverage95": score["coverage"]["95"], "width95": width}


def measure(quorum, path, name, fitted, threads):
    header, rows = read_rows(path)
    with tempfile.TemporaryDirectory() as folder:
        for part, table in zip(("fit", "score"), split(header, rows, fitted)):
            write_table(os.path.join(folder, f"{part}.csv"), header, table)
        for warp in WARPS:
            yield {"set": name, "rows": fitted, **scores(quorum, folder, warp, threads, header[-1])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", metavar="DIR")
    parser.add_argument("--quorum", default=os.path.join(HERE, "..", "build", "quorum"))
    parser.add_argument("--sets", nargs="+", default=["diamonds", "protein"])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=RESULTS)
    given = parser.parse_args()
    lines = (line for name in given.sets
             for line in measure(given.quorum, os.path.join(given.data, name, "train.csv.gz"), name, given.rows,
                                 given.threads))
    write_csv(os.path.join(given.out, "warp.csv"), f"bench/warp.py DIR --rows {given.rows}", given.quorum,
              ["set", "rows", "warp", "taken", "smse", "msll", "crps", "coverage95", "width95"], lines)


if __name__ == "__main__":
    main()
