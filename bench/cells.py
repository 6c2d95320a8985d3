#!/usr/bin/env python3
"""Method cells against nearest: scores and processor seconds, in turns, as committed CSV.

    bench/cells.py DIR [--quorum build/quorum] [--sets SET ...] [--rows 8000] [--held 2000] [--times 8]

DIR holds the data sets.  Of every training file --rows rows are fitted and --held others predicted, on one
thread and without calibration; no test row is looked at.  Queries are these rows, and the same --times times
over, which costs what so many different ones cost; nearest takes as long for each of them and has them once.
The methods take turns.  Writes results/cells.csv.
"""
import argparse
import gzip
import json
import os
import tempfile

import numpy as np

from common import measured, run, write_csv

FIELDS = ["set", "rows", "queries", "method", "neighbours", "smse", "msll", "processor_seconds",
          "processor_ms_per_query"]
SETS = ["kin40k_10k30k", "pumadyn32nm", "protein", "sarcos_noleak", "satellite", "diamonds"]


def split(args, name, folder):
    """train.csv, few.csv and many.csv, and how many rows each of the first two has."""
    with gzip.open(os.path.join(args.data, name, "train.csv.gz"), "rt") as file:
        head, *rows = file.read().splitlines()
    order = np.random.default_rng(11).permutation(len(rows))
    held = min(args.held, len(rows) // 4)
    fitted = min(args.rows, len(rows) - held)
    parts = {"few": order[:held], "many": np.tile(order[:held], args.times), "train": order[held:held + fitted]}
    for part, chosen in parts.items():
        with open(os.path.join(folder, part + ".csv"), "w") as file:
            file.write("\n".join([head, *(rows[i] for i in chosen)]) + "\n")
    return fitted, held


def score(args, folder, part, method):
    words = [args.quorum, "evaluate", os.path.join(folder, "model.npz"), os.path.join(folder, part + ".csv"),
             "--method", method, "--calibration", "off", "--threads", "1", "--json", "--quiet"]
    used = measured(words)
    return json.loads(used["output"])[0], used["processor"]


def measure(args, name):
    with tempfile.TemporaryDirectory() as folder:
        fitted, held = split(args, name, folder)
        model = os.path.join(folder, "model.npz")
        run([args.quorum, "fit", os.path.join(folder, "train.csv"), "-o", model, "--json", "--quiet"])
        known = run([args.quorum, "inspect", model, "--json"]).get("neighbours", 512)
        for part, method in (("few", "nearest"), ("few", "cells"), ("many", "cells")):
            queries = held if part == "few" else held * args.times
            neighbours = known if method == "nearest" else 5 * known // 4
            result, seconds = score(args, folder, part, method)
            yield {"set": name, "rows": fitted, "queries": queries, "method": method,
                   "neighbours": min(neighbours, fitted), "smse": result["smse"], "msll": result["msll"],
                   "processor_seconds": seconds, "processor_ms_per_query": 1000 * seconds / queries}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", metavar="DIR")
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--held", type=int, default=2000)
    parser.add_argument("--times", type=int, default=8)
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results", "cells.csv"))
    args = parser.parse_args()
    command = (f"bench/cells.py DIR --sets {' '.join(args.sets)} --rows {args.rows} --held {args.held} "
               f"--times {args.times}")
    write_csv(args.out, command, args.quorum, FIELDS, (row for name in args.sets for row in measure(args, name)))
    print(args.out)


if __name__ == "__main__":
    main()
