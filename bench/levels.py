#!/usr/bin/env python3
"""What categories cost: fits of a made table with five of twenty levels, and of the same with numbers in their place.

    bench/levels.py [--quorum build/quorum] [--rows 3000 20000] [--read 1000000] [--memory 1G]

The table has 20 columns: 15 numbers, and 5 of text with 20 levels, each with an effect of its own on the target;
with numbers the cells of these are their effects.  Default fits on one thread, the two kinds taking turns, within
--memory.  Processor seconds and peak memory are those of the whole command, reading included.  Of --read rows, which
are 20,000 over and over, reading alone is measured, with what it takes of memory.  Writes results/levels.csv.
"""
import argparse
import json
import os
import sys
import tempfile

import numpy as np

from common import measured, write_csv

FIELDS = ["what", "rows", "columns", "kind", "processor_seconds", "times_numbers", "peak_mb"]
NUMBERS, TEXTS, LEVELS, REPEATED = 15, 5, 20, 20000

# Reads a file by the library: processor seconds, and memory in MB beyond what the program had.
READER = """
import ctypes, json, resource, sys, time
from ctypes import c_char_p, c_void_p
lib = ctypes.CDLL(sys.argv[1])
lib.quorum_options_new.restype = c_void_p
lib.quorum_options_set.argtypes = [c_void_p, c_char_p, c_char_p]
lib.quorum_data_read.argtypes = [c_char_p, c_void_p, c_void_p]
options, data = lib.quorum_options_new(), c_void_p()
lib.quorum_options_set(options, b"memory", sys.argv[3].encode())
peak, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
status = lib.quorum_data_read(sys.argv[2].encode(), options, ctypes.byref(data))
print(json.dumps([status, time.process_time() - start, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024]))
"""


def write_tables(folder, n):
    rng = np.random.default_rng(n)
    X, level = rng.normal(size=(n, NUMBERS)), rng.integers(LEVELS, size=(n, TEXTS))
    effect = np.sort(rng.normal(size=(TEXTS, LEVELS)), axis=1)
    made = np.column_stack([effect[c, level[:, c]] for c in range(TEXTS)])
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + made @ np.linspace(1, 0.2, TEXTS) + 0.3 * rng.normal(size=n)
    names = ",".join([*(f"x{d}" for d in range(NUMBERS)), *(f"c{c}" for c in range(TEXTS)), "y"])
    for kind in ("numbers", "text"):
        with open(os.path.join(folder, kind + ".csv"), "w", encoding="utf-8") as file:
            file.write(names + "\n")
            for x, cells, numbers, target in zip(X.tolist(), level.tolist(), made.tolist(), y.tolist()):
                last = (f"{v:.6g}" for v in numbers) if kind == "numbers" else (f"level{v:02}" for v in cells)
                file.write(",".join([*(f"{v:.6g}" for v in x), *last, f"{target:.6g}"]) + "\n")


def result(what, rows, kind, seconds, base, peak):
    return {"what": what, "rows": rows, "columns": NUMBERS + TEXTS, "kind": kind, "processor_seconds": seconds,
            "times_numbers": seconds / base, "peak_mb": peak}


def fits(args, n):
    base = None
    with tempfile.TemporaryDirectory() as folder:
        write_tables(folder, n)
        for kind in ("numbers", "text"):
            used = measured([args.quorum, "fit", os.path.join(folder, kind + ".csv"), "-o",
                             os.path.join(folder, "m.npz"), "--threads", "1", "--memory", args.memory, "--quiet"])
            base = base or used["processor"]
            yield result("fit", n, kind, used["processor"], base, used["peak_mb"])


def repeat(path, rows):
    with open(path, encoding="utf-8") as file:
        head, body = file.read().split("\n", 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "\n")
        for _ in range(rows // REPEATED):
            file.write(body)


def readings(args):
    base = None
    library = os.path.join(os.path.dirname(os.path.abspath(args.quorum)), "libquorum.so")
    with tempfile.TemporaryDirectory() as folder:
        write_tables(folder, REPEATED)
        for kind in ("numbers", "text"):
            path = os.path.join(folder, kind + ".csv")
            repeat(path, args.read)
            used = measured([sys.executable, "-c", READER, library, path, args.memory])
            status, seconds, peak = json.loads(used["output"])
            if status != 0:
                sys.exit(f"{path}: status {status}")
            base = base or seconds
            yield result("read", args.read, kind, seconds, base, peak)


def measure(args):
    if args.read:
        yield from readings(args)
    for n in args.rows:
        yield from fits(args, n)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--rows", type=int, nargs="*", default=[3000, 20000])
    parser.add_argument("--read", type=int, default=1000000, help="0: none")
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results", "levels.csv"))
    args = parser.parse_args()
    command = f"bench/levels.py --rows {' '.join(map(str, args.rows))} --read {args.read} --memory {args.memory}"
    write_csv(args.out, command, args.quorum, FIELDS, measure(args))
    print(args.out)


if __name__ == "__main__":
    main()
