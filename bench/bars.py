#!/usr/bin/env python3
"""The default prediction against 512 nearest rows, and the default fit against an older one, in turns, as committed CSV.

    bench/bars.py DIR [--quorum build/quorum] [--reference OLD_QUORUM] [--sets SET ...] [--held 4000] [--rows N] [--turns 3]

DIR holds the data sets.  Of every training file --held rows, a fifth at most, are predicted by a default model of the others (of
--rows of them), once as it predicts by default and once by --method nearest --neighbours 512, in turns; no test row is looked
at.  With --reference, the command of another commit, both fit the same rows in turns, and its model predicts the same rows.  One
thread, processor seconds, the median of the turns.  The bars:

    error     SMSE of the default at most 1.01 of nearest's
    density   MSLL of the default at most 1 % of its size above nearest's
    time      of the default at most 1.2 of nearest's on any set, and a third in sum
    fit       processor seconds at most half of the reference's, with an SMSE at most 1.01 of its

Writes results/bars.csv and says which bars are met.
"""
import argparse
import gzip
import json
import os
import statistics
import tempfile

import numpy as np

from common import RESULTS, load, measured, write_csv

SETS = ["kin40k_10k30k", "pumadyn32nm", "protein", "sarcos_noleak", "satellite", "diamonds"]
FIELDS = ["set", "rows", "queries", "what", "smse", "msll", "fit_seconds", "predict_seconds"]
NEAREST = ["--method", "nearest", "--neighbours", "512"]


def split(args, name, folder):
    """train.csv and held.csv; how many rows each has."""
    with gzip.open(os.path.join(args.data, name, "train.csv.gz"), "rt") as file:
        head, *rows = file.read().splitlines()
    order = np.random.default_rng(17).permutation(len(rows))
    held = min(args.held, len(rows) // 5)
    parts = {"held": order[:held], "train": order[held:][:args.rows]}
    for part, chosen in parts.items():
        with open(os.path.join(folder, part + ".csv"), "w") as file:
            file.write("\n".join([head, *(rows[i] for i in chosen)]) + "\n")
    return len(parts["train"]), held


def fit(quorum, folder, model):
    words = [quorum, "fit", f"{folder}/train.csv", "-o", f"{folder}/{model}.npz", "--graph", "none", "--seed", "1", "--threads", "1", "--quiet"]
    return measured(words)["processor"]


def evaluate(quorum, folder, model, how):
    used = measured([quorum, "evaluate", f"{folder}/{model}.npz", f"{folder}/held.csv", *how, "--threads", "1", "--json", "--quiet"])
    return json.loads(used["output"])[0], used["processor"]


def ways(args):
    """What is compared: name, command, model and how it predicts."""
    yield "default", args.quorum, "own", []
    yield "nearest 512", args.quorum, "own", NEAREST
    if args.reference:
        yield "reference", args.reference, "reference", []


def measure(args, name):
    """A row for each way."""
    with tempfile.TemporaryDirectory() as folder:
        rows, held = split(args, name, folder)
        fits, predictions, scores = {}, {}, {}
        for _ in range(args.turns):
            for what, quorum, model, how in ways(args):
                if not how:
                    fits.setdefault(model, []).append(fit(quorum, folder, model))
                scores[what], seconds = evaluate(quorum, folder, model, how)
                predictions.setdefault(what, []).append(seconds)
        for what, _, model, how in ways(args):
            yield {"set": name, "rows": rows, "queries": held, "what": what, "smse": scores[what]["smse"], "msll": scores[what]["msll"],
                   "fit_seconds": "" if how else statistics.median(fits[model]), "predict_seconds": statistics.median(predictions[what])}


def is_met(what, value, most):
    return f"{what} {value:.3g} (at most {most:.3g}): {'met' if value <= most else 'NOT MET'}"


def judge(rows):
    """Sentences on one set's bars."""
    by = {row["what"]: row for row in rows}
    own, nearest, old = by["default"], by["nearest 512"], by.get("reference")
    yield is_met("SMSE over nearest's", own["smse"] / nearest["smse"], 1.01)
    yield is_met("MSLL beyond nearest's", own["msll"] - nearest["msll"], 0.01 * abs(nearest["msll"]))
    yield is_met("time over nearest's", own["predict_seconds"] / nearest["predict_seconds"], 1.2)
    if old:
        yield is_met("fit over the reference's", own["fit_seconds"] / old["fit_seconds"], 0.5)
        yield is_met("SMSE over the reference's", own["smse"] / old["smse"], 1.01)


def judge_all(rows):
    """The bar of the sum over all sets."""
    def total(what):
        return sum(row["predict_seconds"] for row in rows if row["what"] == what)
    return is_met("time over nearest's, in sum", total("default") / total("nearest 512"), 1 / 3)


def told(args):
    """All rows, and what they mean as they come."""
    everything = []
    for name in args.sets:
        rows = list(measure(args, name))
        everything += rows
        for sentence in judge(rows):
            print(f"{name}: {sentence}", flush=True)
        yield from rows
    print(judge_all(everything), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--reference", help="command of an older commit")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--held", type=int, default=4000)
    parser.add_argument("--rows", type=int, help="rows to fit; all that are not held out")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", default=RESULTS)
    args = parser.parse_args()
    args.quorum = os.path.abspath(args.quorum)
    rows = f" --rows {args.rows}" if args.rows else ""
    command = f"bench/bars.py DIR --sets {' '.join(args.sets)} --held {args.held}{rows} --turns {args.turns}{' --reference OLD' if args.reference else ''}"
    write_csv(os.path.join(args.out, "bars.csv"), command, args.quorum, FIELDS, told(args), notes=["one thread, medians of the turns", load()])


if __name__ == "__main__":
    main()
