#!/usr/bin/env python3
"""Memory and seconds of what brings all rows to every rank, beside what does not, as committed CSV.

    bench/whole_rows.py --quorum build/quorum [--rows 200000] [--ranks 1 2 4]

Made rows of 8 inputs in experts of 500.  `fit` and `predict` by nearest rows divide the rows among the ranks; NPAE over experts,
GRBCM, overlap and calibration do not.  With "little memory" no rank keeps its experts' factors; with 1 GB a rank keeps them where
its share of them fits into half of that.  One thread a rank.  Peak memory, the most rows that a rank held and the processor seconds of
its computation are what each rank says itself with --verbose.  Writes results/whole_rows.csv.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

from common import RESULTS, load, made, measured, write_csv

FIELDS = ["rows", "what", "ranks", "seconds", "computed_most", "peak_mb_most", "peak_mb_each", "rows_each"]
FIT = ["--kernel", "matern32", "--theta", "1.5,1,0.05", "--partition", "kdtree"]
WAYS = {"fit": ["fit", *FIT],
        "fit, overlap 0.2": ["fit", *FIT, "--overlap", "0.2"],
        "fit, calibration": ["fit", *FIT, "--calibrate"],
        "predict, nearest": ["predict", "--neighbours", "64"],
        "predict, npae of 8 local experts": ["predict", "--method", "npae", "--select", "local:8"],
        "predict, grbcm": ["predict", "--method", "grbcm"]}
LITTLE = ["--memory", "300M"]
WAYS.update({f"{what}, little memory": [*WAYS[what], *LITTLE] for what in ("predict, npae of 8 local experts", "predict, grbcm")})


def measure(args, folder, what, ranks):
    command, *options = WAYS[what]
    files = [f"{folder}/train.npy", "-o", f"{folder}/other.npz"] if command == "fit" else [f"{folder}/model.npz", f"{folder}/queries.npy",
                                                                                           "-o", "/dev/null"]
    words = [command, *files, "--memory", "1G", *options, "--threads", "1", "--verbose"]
    if ranks == 1:
        used = measured([args.quorum, *words])
        peaks, rows, computed, seconds = [round(1.048576 * used["peak_mb"])], [args.rows], [used["processor"]], used["wall"]
    else:
        start = time.monotonic()
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks),
                               f"{os.path.dirname(args.quorum)}/quorum-mpi", *words], capture_output=True, text=True)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            sys.exit(done.stderr)
        said = re.findall(r"([\d.]+) processor seconds.*peak memory (\d+) MB, (\d+) rows", done.stderr)
        computed, peaks, rows = [float(s[0]) for s in said], [int(s[1]) for s in said], [int(s[2]) for s in said]
    return {"rows": args.rows, "what": what, "ranks": ranks, "seconds": seconds, "computed_most": max(computed),
            "peak_mb_most": max(peaks), "peak_mb_each": " ".join(map(str, peaks)), "rows_each": " ".join(map(str, rows))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=64)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--out", default=RESULTS)
    args = parser.parse_args()
    args.quorum = os.path.abspath(args.quorum)
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/train.npy", made(rng, args.rows))
        np.save(f"{folder}/queries.npy", made(rng, args.queries)[:, :8])
        subprocess.run([args.quorum, "fit", f"{folder}/train.npy", "-o", f"{folder}/model.npz", *WAYS["fit"][1:], "-q"], check=True)
        command = f"bench/whole_rows.py --rows {args.rows} --queries {args.queries} --ranks {' '.join(map(str, args.ranks))}"
        write_csv(os.path.join(args.out, "whole_rows.csv"), command, args.quorum, FIELDS,
                  (measure(args, folder, what, ranks) for what in WAYS for ranks in args.ranks), ["one thread a rank, --memory 1G, or 300M where memory is little", load()])


if __name__ == "__main__":
    main()
