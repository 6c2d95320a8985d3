#!/usr/bin/env python3
"""Throughput beside other busy processes, as committed CSV.

    bench/busy.py --quorum build/quorum [--rows 10000] [--busy 2]

`quorum fit` and `quorum predict` alone, then beside processes that spin, in turn, best of several
rounds each.  With as many spinning processes as processors, half of the machine is left: a ratio of
about 1/2 is fair.  Processor seconds show whether threads spin while they wait.  NumPy's threaded BLAS
on the same number of threads is there to compare with.  Writes results/busy.csv.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

from common import RESULTS, blas_kernels, made, measured, write_csv

FIELDS = ["work", "alone_seconds", "busy_seconds", "throughput_ratio", "alone_processor_seconds",
          "busy_processor_seconds"]
SPIN = "while True: pass"
BLAS = """
import sys, numpy as np
A = np.random.default_rng(1).standard_normal((int(sys.argv[1]),) * 2)
for _ in range(int(sys.argv[2])):
    L = np.linalg.cholesky(A @ A.T + len(A) * np.eye(len(A)))
"""


class Spinning:
    """Busy processes for as long as the block lasts."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.started = [subprocess.Popen([sys.executable, "-S", "-c", SPIN])
                        for _ in range(self.count)]

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
            process.wait()


def works(args, folder):
    """(name, command, environment) of everything that is timed."""
    train, queries, model, out = (os.path.join(folder, name) for name in
                                  ("train.npy", "queries.npy", "model.npz", "out.csv"))
    rng = np.random.default_rng(1)
    np.save(train, made(rng, args.rows))
    np.save(queries, made(rng, args.queries))
    threads = str(args.threads)
    yield ("quorum fit", [args.quorum, "fit", train, "-o", model, "--threads", threads,
                          "--max-evaluations", str(args.evaluations), "--quiet"], {})
    yield ("quorum predict", [args.quorum, "predict", model, queries, "-o", out, "--threads", threads,
                              "--quiet"], {})
    yield ("NumPy's threaded BLAS", [sys.executable, "-c", BLAS, str(args.order), "6"],
           {"OPENBLAS_CORETYPE": blas_kernels(args.quorum), "OPENBLAS_NUM_THREADS": threads})


def measure(args, folder):
    todo = list(works(args, folder))
    best = {}
    for _ in range(args.rounds):
        for busy in (0, args.busy):
            for name, command, environment in todo:
                with Spinning(busy):
                    done = measured(command, environment)
                now = (done["wall"], done["processor"])
                best[name, busy] = min(now, best.get((name, busy), now))
    for name, _, _ in todo:
        alone, beside = best[name, 0], best[name, args.busy]
        yield {"work": name, "alone_seconds": alone[0], "busy_seconds": beside[0],
               "throughput_ratio": alone[0] / beside[0], "alone_processor_seconds": alone[1],
               "busy_processor_seconds": beside[1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=5_000)
    parser.add_argument("--evaluations", type=int, default=20, help="of fit's training")
    parser.add_argument("--order", type=int, default=2_000, help="of NumPy's matrices")
    parser.add_argument("--busy", type=int, default=2, help="spinning processes")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--note", action="append", default=[], help="a line for the CSV's head")
    parser.add_argument("--out", default=os.path.join(RESULTS, "busy.csv"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measure(args, folder))
    for row in rows:
        print(f"{row['work']:<24} alone {row['alone_seconds']:7.2f} s, beside {args.busy} busy "
              f"processes {row['busy_seconds']:7.2f} s: throughput times "
              f"{row['throughput_ratio']:.2f}")
    write_csv(args.out, f"bench/busy.py --rows {args.rows} --queries {args.queries} --busy {args.busy}"
              f" --threads {args.threads} --rounds {args.rounds}", args.quorum, FIELDS, rows, args.note)
    print(args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
