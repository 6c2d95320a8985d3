#!/usr/bin/env python3
"""Accuracy of the paper's methods on its data sets, as committed CSV.

    bench/accuracy.py EXPERIMENT --quorum build/quorum --data DIR --out bench/results

EXPERIMENT: synthetic, pumadyn, protein-raw, protein-log.  Every line of the CSV is one
method in one space for one seed; comment lines say how it was made.  synthetic needs no data.
"""
import argparse
import gzip
import os
import sys
import tempfile

import numpy as np

from common import run, write_csv

FIELDS = ["experiment", "experts", "seed", "method", "select", "space", "smse", "msll", "mae",
          "coverage95", "experts_used", "seconds", "fit_seconds", "evaluations", "nlml"]


# The paper's way: parts by raw inputs, hyperparameters trained on those parts.
PAPER = ["--kernel", "se", "--partition-metric", "input", "--train", "parts"]


def fit_and_evaluate(quorum, train, test, name, experts, seed, fit_options, evaluations):
    """One fit, then each (method list, options) of `evaluations`; yields rows."""
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.npz")
        fit = run([quorum, "fit", train, "-o", model, "--experts", str(experts), "--seed", str(seed),
                   "--json", "--quiet", *PAPER, *fit_options])
        for methods, options in evaluations:
            for result in run([quorum, "evaluate", model, test, "--method", methods, "--json",
                               "--quiet", *options]):
                row = {"experiment": name, "experts": experts, "seed": seed,
                       "coverage95": result["coverage"]["95"], "fit_seconds": fit["seconds"]["total"],
                       "evaluations": fit["evaluations"], "nlml": fit["nlml"]}
                row.update({key: result[key] for key in FIELDS if key in result})
                yield row


def paper_function(x):
    return 5 * x**2 * np.sin(12 * x) + (x**3 - 0.5) * np.sin(3 * x - 0.5) + 4 * np.cos(2 * x)


def synthetic(args, folder):
    """The paper's f(x): 5000 points in [0, 1], 500 test points in [-0.2, 1.2], noise 0.2."""
    for seed in args.seeds:
        rng = np.random.default_rng(seed)
        files = []
        for part, n, low, high in (("train", 5000, 0.0, 1.0), ("test", 500, -0.2, 1.2)):
            x = rng.uniform(low, high, n)
            y = paper_function(x) + 0.2 * rng.standard_normal(n)
            files.append(os.path.join(folder, f"{part}{seed}.csv"))
            np.savetxt(files[-1], np.column_stack([x, y]), delimiter=",", header="x,y", comments="")
        for experts in (10, 20, 40):
            selections = "all,graph:0.8,graph:0.5,worst:0.5"
            yield from fit_and_evaluate(
                args.quorum, *files, "synthetic", experts, seed, ["--lambda", "0.1"],
                [("npae", ["--select", selections, "--graph-on", "test"]),
                 ("gpoe,rbcm,grbcm", ["--space", "latent,observed"])])


def pumadyn(args, folder):
    train, test = (os.path.join(args.data, "pumadyn32nm", f"{p}.csv.gz") for p in ("train", "test"))
    for seed in args.seeds:
        yield from fit_and_evaluate(
            args.quorum, train, test, "pumadyn32nm", 15, seed, ["--lambda", "0.1"],
            [("npae", ["--select", "all,graph:0.8,graph:0.5", "--graph-on", "test"]),
             ("poe,gpoe,bcm,rbcm,grbcm,single", ["--space", "latent,observed"]),
             ("gpoe*,rbcm*,grbcm*", ["--space", "latent,observed", "--graph-on", "test"])])


def protein(args, folder, log_target):
    files = []
    for part in ("train", "test"):
        path = os.path.join(args.data, "protein", f"{part}.csv.gz")
        if log_target:
            with gzip.open(path, "rt") as source:
                header = source.readline().strip()
                table = np.loadtxt(source, delimiter=",")
            table[:, -1] = np.log1p(table[:, -1])
            path = os.path.join(folder, f"{part}.csv")
            np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%.17g")
        files.append(path)
    name = "protein log(1+RMSD)" if log_target else "protein RMSD"
    for seed in args.seeds:
        evaluations = [("poe,gpoe,bcm,rbcm,grbcm,single", ["--space", "latent,observed"]),
                       ("poe*,gpoe*,bcm*,rbcm*,grbcm*", ["--space", "observed"])]
        if seed in args.npae_seeds:
            evaluations.insert(0, ("npae", ["--select", "all,graph:0.8"]))
        yield from fit_and_evaluate(args.quorum, *files, name, 70, seed, [], evaluations)


EXPERIMENTS = {
    "synthetic": synthetic,
    "pumadyn": pumadyn,
    "protein-raw": lambda args, folder: protein(args, folder, False),
    "protein-log": lambda args, folder: protein(args, folder, True),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--quorum", default="build/quorum", help="the command to measure")
    parser.add_argument("--data", default="", help="directory that holds the data sets")
    parser.add_argument("--out", default="bench/results", help="directory for the CSV")
    parser.add_argument("--seeds", type=int, nargs="+", default=None)
    parser.add_argument("--npae-seeds", type=int, nargs="*", default=[1],
                        help="protein: seeds that NPAE on all 70 experts is run for (minutes each)")
    args = parser.parse_args()
    args.seeds = args.seeds or (range(1, 6) if args.experiment == "synthetic" else range(1, 4))
    if args.experiment != "synthetic" and not os.path.isdir(args.data):
        sys.exit("accuracy.py: --data must name the directory of the data sets")
    path = os.path.join(args.out, args.experiment + ".csv")
    command = (f"bench/accuracy.py {args.experiment} --seeds {' '.join(map(str, args.seeds))} "
               f"--npae-seeds {' '.join(map(str, args.npae_seeds))} --data DIR")
    with tempfile.TemporaryDirectory() as folder:
        rows = EXPERIMENTS[args.experiment](args, folder)
        write_csv(path, command, args.quorum, FIELDS, rows, digits=6)
    print(path)


if __name__ == "__main__":
    main()
