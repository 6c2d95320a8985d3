#!/usr/bin/env python3
"""Which prediction the defaults should be: compared on validation rows, as committed CSV.

    bench/predictions.py --quorum build/quorum --data DIR [--sets SET ...]

A part of every training file is held out; no test row is looked at.  The default fit with
--metric ard, which --theta can repeat, finds theta; models with and without overlap and spread are
then made of it and predict the held-out rows in several ways.  Seconds are of the processors.  Writes results/predictions.csv, the figures
of docs/training.md ("The prediction") and of docs/methods.md ("Spread").
"""
import argparse
import gzip
import json
import os
import resource
import tempfile
import zipfile

import numpy as np

from common import run, write_csv

FIELDS = ["set", "kernel", "spread", "overlap", "select", "neighbours", "smse", "msll",
          "coverage95", "processor_seconds"]
HELD_OUT = {"kin40k_10k30k": 2000, "pumadyn32nm": 1433, "sarcos_noleak": 4000, "protein": 4116}
# spread, overlap: select, neighbours
WAYS = {("learned", 0): [("none", 256), ("none", 400), ("none", 512), ("local:4", 256),
                         ("local:2", 256), ("local:1", 400), ("local:2", 400)],
        ("learned", 0.5): [("local:2", 256)],
        ("learned", 1): [("local:4", 256)],
        ("none", 0): [("none", 256)]}


def split(args, name, folder):
    with gzip.open(os.path.join(args.data, name, "train.csv.gz"), "rt") as file:
        head, *rows = file.read().splitlines()
    order = np.random.default_rng(7).permutation(len(rows))
    held = HELD_OUT[name]
    for part, chosen in (("test", order[:held]), ("train", order[held:])):
        with open(os.path.join(folder, part + ".csv"), "w") as file:
            file.write("\n".join([head] + [rows[i] for i in sorted(chosen)]) + "\n")


def theta_of(model):
    arrays = np.load(model)
    logs = [*arrays["log_lengthscale"], arrays["log_signal_variance"], arrays["log_noise_variance"]]
    with zipfile.ZipFile(model) as file:
        meta = json.loads(file.read("meta.json"))
    return ",".join(repr(float(v)) for v in np.exp(logs)), meta["kernel"], meta.get("spread", "none")


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(args, name):
    with tempfile.TemporaryDirectory() as folder:
        train, test, model = (os.path.join(folder, f) for f in ("train.csv", "test.csv", "m.npz"))
        split(args, name, folder)
        run([args.quorum, "fit", train, "-o", model, "--metric", "ard", "--graph", "none", "--json",
             "--quiet"])
        theta, kernel, learned = theta_of(model)
        for (spread, overlap), ways in WAYS.items():
            spread = learned if spread == "learned" else spread
            run([args.quorum, "fit", train, "-o", model, "--theta", theta, "--kernel", kernel,
                 "--spread", str(spread), "--overlap", str(overlap), "--graph", "none", "--json",
                 "--quiet"])
            for select, neighbours in ways:
                before = processor_seconds()
                experts = ["--method", "nearest"] if select == "none" else ["--select", select]
                result = run([args.quorum, "evaluate", model, test, *experts, "--neighbours",
                              str(neighbours), "--json", "--quiet"])[0]
                yield {"set": name, "kernel": kernel, "spread": spread, "overlap": overlap,
                       "select": select, "neighbours": neighbours, "smse": result["smse"],
                       "msll": result["msll"], "coverage95": result["coverage"]["95"],
                       "processor_seconds": processor_seconds() - before}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+", default=list(HELD_OUT), choices=list(HELD_OUT))
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results",
                                                      "predictions.csv"))
    args = parser.parse_args()
    write_csv(args.out, f"bench/predictions.py --data DIR --sets {' '.join(args.sets)}", args.quorum,
              FIELDS, (row for name in args.sets for row in measure(args, name)))
    print(args.out)


if __name__ == "__main__":
    main()
