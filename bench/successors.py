#!/usr/bin/env python3
"""Ways to choose and join experts, the paper's and its successors', on one committee: errors against cost.

    bench/successors.py DIR [--quorum build/quorum] [--rows 4000] [--experts 16]

DIR holds the data sets, SET/train.csv.gz; `synthetic` is the paper's function, made here.  Of the rows of each, shuffled, the first are
fitted once, one theta for all experts, and split by K-means and at random; every prediction is of the next 1,000: no test row is looked at.  Cost is processor seconds of the whole
command, graph included, less those of the same command for `expert:1`, which reads and writes the same.  Writes
results/successors.csv.
"""
import argparse
import json
import os
import tempfile

import numpy as np

from common import RESULTS, measured, read_table, run, write_csv
from predictions import theta_of

FIELDS = ["set", "partition", "prediction", "smse", "msll", "coverage95", "processor_seconds"]
SETS = ["synthetic", "pumadyn32nm", "protein", "sarcos", "kin40k_10k30k"]
PARTITIONS = ["kmeans", "random"]
NOTHING = ("one expert", ["--select", "expert:1"])
PREDICTIONS = [
    ("npae", ["--method", "npae"]),
    ("npae*", ["--method", "npae*"]),
    *((f"npae, local:{K}", ["--method", "npae", "--select", f"local:{K}"]) for K in (1, 2, 4, 8)),
    *((f"npae, knn:{K}", ["--method", "npae", "--select", f"knn:{K}"]) for K in (1, 2, 4, 8)),
    ("groups", ["--method", "groups"]),
    ("ggm", ["--method", "ggm"]),
    ("grbcm", ["--method", "grbcm"]),
    ("rbcm", ["--method", "rbcm"]),
    ("bcm", ["--method", "bcm"]),
]
HELD_OUT = 1000
FIT = ["--kernel", "se", "--metric", "ard", "--trend", "none", "--warp", "none", "--calibrate", "false", "--quiet", "--json"]


def synthetic(rng, rows):
    """The paper's function of one input, on [0, 1], with noise of deviation 0.2."""
    x = rng.uniform(size=rows)
    f = 5 * x**2 * np.sin(12 * x) + (x**3 - 0.5) * np.sin(3 * x - 0.5) + 4 * np.cos(2 * x)
    return np.column_stack([x, f + 0.2 * rng.standard_normal(rows)])


def rows_of(args, name):
    """Rows to fit and rows to predict."""
    rng = np.random.default_rng(7)
    table = synthetic(rng, args.rows + HELD_OUT) if name == "synthetic" else read_table(args.data, name, "train")
    table = table[rng.permutation(len(table))]
    return table[: args.rows], table[args.rows : args.rows + HELD_OUT]


def evaluate(args, model, test, how):
    """Its scores, and processor seconds."""
    done = measured([args.quorum, "evaluate", model, test, "--quiet", "--json", "--neighbours", "0", *how])
    return json.loads(done["output"])[0], done["processor"]


def predictions(args, folder, name, partition, theta):
    """Lines of one set and partition, and theta."""
    train, test, model = (os.path.join(folder, n) for n in ("train.npy", "test.npy", "model.npz"))
    given = ["--theta", theta] if theta else []
    run([args.quorum, "fit", train, "-o", model, "--experts", str(args.experts), "--partition", partition, *FIT, *given])
    _, nothing = evaluate(args, model, test, NOTHING[1])
    lines = []
    for label, how in PREDICTIONS:
        scores, seconds = evaluate(args, model, test, how)
        lines.append({"set": name, "partition": partition, "prediction": label, "smse": round(scores["smse"], 5),
                      "msll": round(scores["msll"], 4), "coverage95": round(scores["coverage"]["95"], 4),
                      "processor_seconds": round(max(0.0, seconds - nothing), 2)})
    return lines, theta_of(model)[0]


def measure(args):
    for name in args.sets:
        with tempfile.TemporaryDirectory() as folder:
            for part, rows in zip(("train", "test"), rows_of(args, name)):
                np.save(os.path.join(folder, part + ".npy"), rows)
            theta = None
            for partition in PARTITIONS:
                lines, theta = predictions(args, folder, name, partition, theta)
                yield from lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", metavar="DIR", help="directory that holds the data sets")
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--rows", type=int, default=4000, help="training rows")
    parser.add_argument("--experts", type=int, default=16)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--out", default=os.path.join(RESULTS, "successors.csv"))
    args = parser.parse_args()
    write_csv(args.out, f"bench/successors.py DIR --rows {args.rows} --experts {args.experts}", args.quorum, FIELDS,
              measure(args))
    print(args.out)


if __name__ == "__main__":
    main()
