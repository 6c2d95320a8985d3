#!/usr/bin/env python3
"""Fit and predict with default settings as the data grow, as committed CSV.

    bench/scale.py --quorum build/quorum [--rows 100000 316228 1000000] [--queries 100000]

Made data with 8 inputs, read from .npy files; `quorum fit` and `quorum predict` as a user would call
them, with --memory 8G.  Wall and processor seconds, peak memory, fit's own seconds of each stage, and
the slopes of log seconds over log rows: at most 1.1 for fit, 0.2 a query for predict.  Writes
results/scale.csv.
"""
import argparse
import json
import os
import sys
import tempfile

import numpy as np

from common import RESULTS, made, measured, slope, write_csv

FIELDS = ["rows", "queries", "command", "wall_seconds", "processor_seconds", "peak_mb", "read",
          "partition", "train", "graph", "rmse"]
QUERY_SEED, TRAIN_SEED = 2, 1


def rmse_of(predictions, queries):
    """The mean column against the made target."""
    table = np.genfromtxt(predictions, delimiter=",", names=True)
    return float(np.sqrt(np.mean((table["mean"] - queries[:, -1]) ** 2)))


def measure(args, folder, rows, queries):
    train, asked, model, out = (os.path.join(folder, name) for name in
                                ("train.npy", "queries.npy", "model.npz", "predictions.csv"))
    np.save(train, made(np.random.default_rng(TRAIN_SEED), rows))
    np.save(asked, queries)
    common = ["--memory", args.memory, "--threads", str(args.threads), "--quiet"]
    fit = measured([args.quorum, "fit", train, "-o", model, "--json", *common])
    seconds = json.loads(fit["output"])["seconds"]
    yield {"rows": rows, "queries": 0, "command": "fit", "wall_seconds": fit["wall"],
           "processor_seconds": fit["processor"], "peak_mb": fit["peak_mb"],
           **{key: seconds[key] for key in ("read", "partition", "train", "graph") if key in seconds}}
    predict = measured([args.quorum, "predict", model, asked, "-o", out, *common])
    yield {"rows": rows, "queries": len(queries), "command": "predict",
           "wall_seconds": predict["wall"], "processor_seconds": predict["processor"],
           "peak_mb": predict["peak_mb"], "rmse": rmse_of(out, queries)}


def show(row):
    stages = " ".join(f"{k} {row[k]:.1f}" for k in ("read", "partition", "train", "graph") if k in row)
    print(f"{row['rows']:>9} rows  {row['command']:<8} {row['wall_seconds']:9.1f} s wall "
          f"{row['processor_seconds']:9.1f} s processor {row['peak_mb']:8.0f} MB  {stages}",
          flush=True)


def slopes(rows):
    """Lines about the growth of each command's wall and processor seconds."""
    for command, target in (("fit", 1.1), ("predict", 0.2)):
        chosen = [r for r in rows if r["command"] == command]
        for kind in ("wall_seconds", "processor_seconds"):
            found = slope([r["rows"] for r in chosen], [r[kind] for r in chosen])
            if found is not None:
                yield f"slope of {command}'s {kind} over rows: {found:.2f} (at most {target})"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 316_228, 1_000_000])
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--memory", default="8G")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--note", action="append", default=[], help="a line for the CSV's head")
    parser.add_argument("--out", default=os.path.join(RESULTS, "scale.csv"))
    args = parser.parse_args()
    queries, rows = made(np.random.default_rng(QUERY_SEED), args.queries), []
    with tempfile.TemporaryDirectory() as folder:
        for count in args.rows:
            for row in measure(args, folder, count, queries):
                show(row)
                rows.append(row)
    notes = list(slopes(rows))
    print(*notes, sep="\n")
    notes += args.note
    write_csv(args.out, f"bench/scale.py --rows {' '.join(map(str, args.rows))} --queries "
              f"{args.queries} --memory {args.memory} --threads {args.threads}", args.quorum, FIELDS,
              rows, notes)
    print(args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
