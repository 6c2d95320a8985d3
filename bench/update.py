#!/usr/bin/env python3
"""New rows into a model: seconds of quorum update, beside reading the model and a fit to all rows, as committed CSV.

    bench/update.py [--quorum build/quorum] [--before OLD_QUORUM] [--rows 100000 1000000] [--new 1 1000 10000] [--turns 3]

Rows are made: 8 inputs, a smooth target, noise.  A model of --rows rows is trained on few of them and calibrated.
`update` takes --new rows in; `inspect` reads the model and does nothing else; `fit` is what an update replaces at
the least: a fit to all rows with theta given, without training or calibration; `sync` writes as many bytes as the model has
to a new file and waits until the disk has them, as every rewrite of it must.  With --before, `update_before` is the
same update by another build of the command, and both must write the same bytes.  They take turns, and the median of
--turns is kept.  Writes results/update.csv.
"""
import argparse
import filecmp
import os
import statistics
import sys
import tempfile

import numpy as np

from common import HERE, load, made, measured, write_csv

FIELDS = ["rows", "method", "new", "what", "wall_seconds", "processor_seconds", "peak_mb"]


def save(folder, name, rows):
    path = os.path.join(folder, name)
    np.save(path, rows)
    return path


def prepare(args, folder, rows):
    """The model, and files of new rows and of all by their number."""
    rng = np.random.default_rng(3)
    old, model = made(rng, rows), os.path.join(folder, "model.npz")
    measured([args.quorum, "fit", save(folder, "old.npy", old), "-o", model, "--quiet", "--kernel", "matern32",
              "--metric", "ard", "--train-rows", "2000", "--partition", "kdtree"])
    files = {}
    for new in args.new:
        fresh = made(rng, new)
        files[new] = save(folder, f"new{new}.npy", fresh), save(folder, f"all{new}.npy", np.vstack([old, fresh]))
    return model, files


SYNC = """
import os, sys
data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "wb") as file:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())
"""


def updates(args, folder, model, new):
    builds = {"update": args.quorum, "update_before": args.before}
    return {what: [quorum, "update", model, new, "-o", os.path.join(folder, what + ".npz"), "--quiet"]
            for what, quorum in builds.items() if quorum}


def same_models(args, folder):
    """Whether both builds wrote the same."""
    return not args.before or filecmp.cmp(*(os.path.join(folder, what + ".npz")
                                            for what in ("update", "update_before")), shallow=False)


def commands(args, folder, model, new, everything):
    other = os.path.join(folder, "other.npz")
    return {**updates(args, folder, model, new),
            "sync": [sys.executable, "-S", "-c", SYNC, model, other],
            "inspect": [args.quorum, "inspect", model],
            "fit": [args.quorum, "fit", everything, "-o", other, "--quiet", "--kernel", "matern32", "--theta", "1,1,0.1",
                    "--partition", "kdtree"]}


def method_of(quorum, model):
    """Of predictions by default: a model of cells has them found anew by an update."""
    return "cells" if "cells by default" in measured([quorum, "inspect", model])["output"] else "nearest"


def measure(args, rows):
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        model, files = prepare(args, folder, rows)
        method = method_of(args.quorum, model)
        for new, (fresh, everything) in files.items():
            lines = commands(args, folder, model, fresh, everything)
            turns = [{what: measured(words) for what, words in lines.items()}
                     for _ in range(args.turns)]
            if not same_models(args, folder):
                sys.exit("the two builds wrote different models")
            for what in lines:
                used = [turn[what] for turn in turns]
                yield {"rows": rows, "method": method, "new": new, "what": what,
                       "wall_seconds": statistics.median(u["wall"] for u in used),
                       "processor_seconds": statistics.median(u["processor"] for u in used),
                       "peak_mb": max(u["peak_mb"] for u in used)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quorum", default=os.path.join(HERE, "..", "build", "quorum"))
    parser.add_argument("--before", help="another build of the command, to compare with")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--new", type=int, nargs="+", default=[1, 1000, 10_000])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--folder", help="where files are made; the system's temporary folder")
    parser.add_argument("--output", default=os.path.join(HERE, "results", "update.csv"))
    args = parser.parse_args()
    rows = (row for count in args.rows for row in measure(args, count))
    words = [f"--{name} {' '.join(map(str, getattr(args, name)))}" for name in ("rows", "new")]
    words += ["--before OLD_QUORUM"] if args.before else []
    write_csv(args.output, f"bench/update.py {' '.join(words)} --turns {args.turns}", args.quorum, FIELDS, rows, [load()])


if __name__ == "__main__":
    main()
