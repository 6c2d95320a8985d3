#!/usr/bin/env python3
"""What further targets cost with --share theta: processor seconds of fit and predict, as committed CSV.

    bench/targets.py [--quorum build/quorum] [--before OLD_QUORUM] [--targets 1 2 4 8] [--rows 20000] [--queries 5000]

Rows are made: 8 inputs, a smooth target, noise.  All targets are copies of it, so that every fit searches for the same
theta and only their number differs.  Default fits but for --share theta, and predictions by nearest, with --before by
another build of the command in turns.  What all targets share has a fit of its own, so that what a further one takes
is seen between models of several: each_further = (s_T - s_2) / (T - 2) / s_1, s_T the seconds of T targets.  Writes results/targets.csv.
"""
import argparse
import os
import tempfile

import numpy as np

from common import HERE, load, made, measured, write_csv

FIELDS = ["what", "build", "rows", "targets", "processor_seconds", "each_further"]
INPUTS = 8


def write_table(path, rows, targets, seed):
    rng = np.random.default_rng(seed)
    table = made(rng, rows)
    Y = np.repeat(table[:, INPUTS:], targets, axis=1)
    names = [f"x{d}" for d in range(INPUTS)] + [f"y{t}" for t in range(targets)]
    np.savetxt(path, np.column_stack([table[:, :INPUTS], Y]), delimiter=",", header=",".join(names), comments="", fmt="%.8g")


def seconds(args, quorum, folder, targets):
    """Of a fit to so many targets, and of predicting all of them."""
    named, left = ([f"y{t}" for t in r] for r in (range(targets), range(targets, max(args.targets))))
    model = os.path.join(folder, "model.npz")
    ignored = ["--ignore", ",".join(left)] if left else []
    fit = [quorum, "fit", os.path.join(folder, "train.csv"), "-o", model, "--target", ",".join(named), *ignored,
           "--share", "theta", "--quiet"]
    predict = [quorum, "predict", model, os.path.join(folder, "test.csv"), "-o", os.path.join(folder, "out.csv"),
               "--method", "nearest", "--quiet"]
    return {"fit": measured(fit)["processor"], "predict": measured(predict)["processor"]}


def measure(args):
    builds = {"now": args.quorum, **({"before": args.before} if args.before else {})}
    of = {}
    with tempfile.TemporaryDirectory() as folder:
        write_table(os.path.join(folder, "train.csv"), args.rows, max(args.targets), 1)
        write_table(os.path.join(folder, "test.csv"), args.queries, max(args.targets), 2)
        for targets in args.targets:
            for build, quorum in builds.items():
                for what, used in seconds(args, quorum, folder, targets).items():
                    of[what, build, targets] = used
                    known = targets > 2 and all((what, build, t) in of for t in (1, 2))
                    yield {"what": what, "build": build, "rows": args.rows if what == "fit" else args.queries,
                           "targets": targets, "processor_seconds": used,
                           "each_further": (used - of[what, build, 2]) / (targets - 2) / of[what, build, 1] if known else ""}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default=os.path.join(HERE, "..", "build", "quorum"))
    parser.add_argument("--before", help="another build of the command, to compare with")
    parser.add_argument("--targets", type=int, nargs="+", default=[1, 2, 4, 8], help="1 and 2 are what others are compared with")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--output", default=os.path.join(HERE, "results", "targets.csv"))
    args = parser.parse_args()
    words = (f"--targets {' '.join(map(str, args.targets))} --rows {args.rows} --queries {args.queries}"
             + (" --before OLD_QUORUM" if args.before else ""))
    write_csv(args.output, f"bench/targets.py {words}", args.quorum, FIELDS, measure(args), [load()])


if __name__ == "__main__":
    main()
