#!/usr/bin/env python3
"""Seconds per 1,000 queries as the training data grow, as committed CSV.

    bench/queries.py --quorum build/quorum [--rows 10000 100000 1000000]

Made data with 8 inputs, experts of 500 rows in boxes of equal size, fixed hyperparameters (they do
not change the work).  Every prediction is made of one file of 60,000 queries and of one of 10,000;
the difference is what 50,000 queries cost once the model is read and its factors are made.  Seconds
of the clock, and of the processors, which other work on the machine does not change.  Writes
results/queries.csv.
"""
import argparse
import os
import tempfile

import numpy as np

from common import made, measured, run, write_csv

FIELDS = ["rows", "prediction", "fit_seconds", "few_seconds", "seconds_per_1000",
          "processor_seconds_per_1000"]
FEW, MANY = 10_000, 60_000
PREDICTIONS = [("local:4, 64 neighbours", ["--select", "local:4", "--neighbours", "64"]),
               ("default", [])]
THETA = "1.5,1,0.05"


def predict(args, folder, name, options):
    used = measured([args.quorum, "evaluate", os.path.join(folder, "model.npz"),
                     os.path.join(folder, name), "--json", "--quiet", *options])
    return used["wall"], used["processor"]


def measure(args, rows):
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "train.npy"), made(rng, rows))
        np.save(os.path.join(folder, "few.npy"), made(rng, FEW))
        np.save(os.path.join(folder, "many.npy"), made(rng, MANY))
        fit = run([args.quorum, "fit", os.path.join(folder, "train.npy"), "-o",
                   os.path.join(folder, "model.npz"), "--theta", THETA, "--partition", "kdtree",
                   "--graph", "none", "--json", "--quiet"])
        for label, options in PREDICTIONS:
            few = predict(args, folder, "few.npy", options)
            many = predict(args, folder, "many.npy", options)
            thousands = (MANY - FEW) / 1000
            yield {"rows": rows, "prediction": label, "fit_seconds": fit["seconds"]["total"],
                   "few_seconds": few[0], "seconds_per_1000": (many[0] - few[0]) / thousands,
                   "processor_seconds_per_1000": (many[1] - few[1]) / thousands}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results",
                                                      "queries.csv"))
    args = parser.parse_args()
    write_csv(args.out, f"bench/queries.py --rows {' '.join(map(str, args.rows))}", args.quorum, FIELDS,
              (row for rows in args.rows for row in measure(args, rows)))
    print(args.out)


if __name__ == "__main__":
    main()
