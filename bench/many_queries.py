#!/usr/bin/env python3
"""Memory of quorum-mpi predict by the number of queries, which are streamed, as committed CSV.

    bench/many_queries.py --quorum build/quorum [--ranks 4] [--queries 1000000 10000000 100000000]

A model of 20,000 rows of two inputs; queries are lines through a pipe, made while they are read, and predictions go to
/dev/null.  The peak memory of each rank is what it says itself with
--verbose.  It must not grow with the queries.  Writes results/many_queries.csv.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

from common import RESULTS, load, write_csv

FIELDS = ["ranks", "neighbours", "queries", "seconds", "processor_seconds_all", "peak_mb_most", "peak_mb_each"]


def make_model(quorum, folder):
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 1, (20000, 2))
    table = np.column_stack([X, np.sin(9 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(len(X))])
    np.savetxt(f"{folder}/t.csv", table, delimiter=",", header="a,b,y", comments="", fmt="%.6f")
    subprocess.run([quorum, "fit", f"{folder}/t.csv", "-o", f"{folder}/m.npz", "--kernel", "se", "--theta", "0.3,0.3,1,0.01", "-q"], check=True)


def write_lines(out, queries):
    """a,b in blocks of 10,000 made lines."""
    rng = np.random.default_rng(2)
    block = "".join(f"{a:.6f},{b:.6f}\n" for a, b in rng.uniform(0, 1, (10000, 2)).tolist()).encode()
    out.write(b"a,b\n")
    for _ in range(queries // 10000):
        out.write(block)
    out.close()


def measure(args, folder, queries):
    words = [f"{os.path.dirname(args.quorum)}/quorum-mpi", "predict", f"{folder}/m.npz", "-", "-o", "/dev/null",
             "--neighbours", str(args.neighbours), "--threads", "1", "--verbose"]
    start, before, said = time.monotonic(), os.times(), tempfile.TemporaryFile()
    run = subprocess.Popen(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(args.ranks), *words], stdin=subprocess.PIPE,
                           stderr=said)
    write_lines(run.stdin, queries)
    run.wait()
    said.seek(0)
    said = said.read().decode()
    if run.returncode != 0:
        sys.exit(said)
    after = os.times()
    peaks = [int(p) for p in re.findall(r"peak memory (\d+) MB", said)]
    return {"ranks": args.ranks, "neighbours": args.neighbours, "queries": queries, "seconds": time.monotonic() - start,
            "processor_seconds_all": after.children_user + after.children_system - before.children_user - before.children_system,
            "peak_mb_most": max(peaks), "peak_mb_each": " ".join(map(str, peaks))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--queries", type=int, nargs="+", default=[10**6, 10**7, 10**8], help="multiples of 10,000")
    parser.add_argument("--neighbours", type=int, default=4, help="rows that a query is predicted from: few, since it is memory that is looked at")
    parser.add_argument("--out", default=RESULTS)
    args = parser.parse_args()
    args.quorum = os.path.abspath(args.quorum)
    command = f"bench/many_queries.py --ranks {args.ranks} --neighbours {args.neighbours} --queries {' '.join(map(str, args.queries))}"
    with tempfile.TemporaryDirectory() as folder:
        make_model(args.quorum, folder)
        write_csv(os.path.join(args.out, "many_queries.csv"), command, args.quorum, FIELDS, (measure(args, folder, q) for q in args.queries),
                  notes=["one thread a rank, predictions to /dev/null", load()])


if __name__ == "__main__":
    main()
