#!/usr/bin/env python3
"""Seconds of very many queries of a map: 10^6 queries of a default model of 10^5 rows with 2 inputs, as committed CSV.

    bench/map_queries.py [--quorum build/quorum] [--rows 100000] [--queries 1000000] [--threads 2] [--turns 3]

Sines with noise over a square; queries are drawn over it.  The model is fitted once, with default settings, and all queries are
predicted by the command in every turn, csv in and csv out.  The aim is a minute of wall time on two processors.  Writes
results/map_queries.csv.
"""
import argparse
import os
import tempfile

import numpy as np

from common import RESULTS, load, measured, run, write_csv

FIELDS = ["rows", "queries", "threads", "turn", "kernel", "method", "neighbours", "wall_seconds", "processor_seconds", "peak_mb"]
AIM = 60.0


def surface(X):
    return np.sin(9 * X[:, 0]) * np.cos(7 * X[:, 1]) + 0.3 * np.sin(23 * X[:, 0] + 11 * X[:, 1])


def write_tables(folder, rows, queries):
    rng = np.random.default_rng(1)
    X, Q = rng.uniform(0, 1, (rows, 2)), rng.uniform(0, 1, (queries, 2))
    y = surface(X) + 0.1 * rng.standard_normal(rows)
    np.savetxt(f"{folder}/rows.csv", np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="", fmt="%.7f")
    np.savetxt(f"{folder}/queries.csv", Q, delimiter=",", header="a,b", comments="", fmt="%.7f")


def measure(args, folder):
    write_tables(folder, args.rows, args.queries)
    model, threads = f"{folder}/model.npz", ["--threads", str(args.threads)]
    fit = run([args.quorum, "fit", f"{folder}/rows.csv", "-o", model, "--json", "--quiet", *threads])
    known = run([args.quorum, "inspect", model, "--json"])
    for turn in range(args.turns):
        used = measured([args.quorum, "predict", model, f"{folder}/queries.csv", "-o", f"{folder}/answers.csv", "--quiet", *threads])
        yield {"rows": args.rows, "queries": args.queries, "threads": args.threads, "turn": turn + 1, "kernel": fit["kernel"],
               "method": fit.get("chosen_method", "nearest"), "neighbours": known.get("neighbours", ""), "wall_seconds": used["wall"],
               "processor_seconds": used["processor"], "peak_mb": used["peak_mb"]}


def told(rows):
    """Says each turn as it comes."""
    for row in rows:
        verdict = "met" if row["wall_seconds"] <= AIM else "not met"
        print(f"turn {row['turn']}: {row['wall_seconds']:.1f} s, {row['processor_seconds']:.1f} processor s; the aim of {AIM:.0f} s is {verdict}", flush=True)
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--rows", type=int, default=10**5)
    parser.add_argument("--queries", type=int, default=10**6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", default=RESULTS)
    args = parser.parse_args()
    args.quorum = os.path.abspath(args.quorum)
    command = f"bench/map_queries.py --rows {args.rows} --queries {args.queries} --threads {args.threads} --turns {args.turns}"
    with tempfile.TemporaryDirectory() as folder:
        write_csv(os.path.join(args.out, "map_queries.csv"), command, args.quorum, FIELDS, told(measure(args, folder)), notes=[load()])


if __name__ == "__main__":
    main()
