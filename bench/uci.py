#!/usr/bin/env python3
"""Default settings on sets of the `uci_datasets` collection, beside published exact GPs.

    bench/uci.py DIR [--quorum build/quorum] [--sets SET ...] [--masks 0 1 2] [--fit ...]

DIR/SET/data.csv.gz has no header and its target last; DIR/SET/test_mask.csv.gz has a row for each of
its rows and a column for each published split, 1 for a row of the test part.  For every set and
mask: `quorum fit` on the rows without the mark, `quorum evaluate` on the others.  With y_mean and
y_sd (divided by n) of the training targets, scores are those of z = (y - y_mean) / y_sd:

    rmse = RMSE(y) / y_sd,   nll = NLPD(y) - log y_sd,   p(z) = y_sd p(y)

Inputs are given as they are: fit standardises them by the training rows.  Writes results/uci.csv.
"""
import argparse
import gzip
import os
import sys
import tempfile

import numpy as np

from common import read_csv, run, write_csv

FIELDS = ["set", "mask", "rows", "inputs", "test_rows", "rmse", "nll", "smse", "msll", "coverage95",
          "metric", "kernel", "neighbours", "fit_seconds", "predict_seconds"]

# Means of RMSE and NLL of z: of which exact GP, over which masks (None: not known), the two figures
PUBLISHED = {
    "elevators": ("conjugate gradients", range(5), 0.352, 0.379),
    "protein": ("conjugate gradients", range(5), 0.5035, 0.619),
    "pol": ("conjugate gradients", None, 0.081, -1.17),
    "bike": ("conjugate gradients", None, 0.037, -2.6),
    "kin40k": ("best with a length-scale per input", None, 0.065, -1.32),
}


def table(path):
    with gzip.open(path, "rt") as file:
        return np.loadtxt(file, delimiter=",", ndmin=2)


def read_set(directory, name):
    """The rows (n x D+1) and the marks of test rows (n x splits) of a set."""
    rows, marks = (table(os.path.join(directory, name, f"{part}.csv.gz"))
                   for part in ("data", "test_mask"))
    if len(rows) != len(marks) or not np.isin(marks, (0, 1)).all():
        sys.exit(f"{name}: test_mask.csv.gz does not have a row of 0 and 1 for each row of data.csv.gz")
    return rows, marks == 1


def in_training_units(result, y):
    """RMSE and NLPD of a target standardised by the mean and deviation of y."""
    return {"rmse": result["rmse"] / float(y.std()), "nll": result["nlpd"] - float(np.log(y.std()))}


def measure(args, name, rows, is_test, mask):
    train, test = rows[~is_test], rows[is_test]
    with tempfile.TemporaryDirectory() as folder:
        data, queries, model = (os.path.join(folder, f) for f in ("train.npy", "test.npy", "model.npz"))
        np.save(data, train)
        np.save(queries, test)
        fit = run([args.quorum, "fit", data, "-o", model, "--seed", str(args.seed), "--json",
                   "--quiet", *args.fit])
        result = run([args.quorum, "evaluate", model, queries, "--json", "--quiet"])[0]
        shown = run([args.quorum, "inspect", model, "--json"])
    return {"set": name, "mask": mask, "rows": len(train), "inputs": rows.shape[1] - 1,
            "test_rows": len(test), **in_training_units(result, train[:, -1]),
            "smse": result["smse"], "msll": result["msll"], "coverage95": result["coverage"]["95"],
            "metric": shown["metric"], "kernel": fit["kernel"], "neighbours": shown["neighbours"],
            "fit_seconds": fit["seconds"]["total"], "predict_seconds": result["seconds"]}


def same_masks(name, rows):
    """Those of a set's rows whose masks the published means are of; all where that is not known."""
    masks = PUBLISHED.get(name, (None,) * 4)[1]
    return [r for r in rows if r["set"] == name and (masks is None or int(r["mask"]) in masks)]


def beside_published(rows):
    """A sentence for each set."""
    for name in dict.fromkeys(r["set"] for r in rows):
        found = same_masks(name, rows)
        if not found:
            yield f"{name}: none of the masks that the published figures are of"
            continue
        rmse, nll = (np.mean([float(r[column]) for r in found]) for column in ("rmse", "nll"))
        text = f"{name}: RMSE {rmse:.4f}, NLL {nll:.3f}, mean of masks {' '.join(r['mask'] for r in found)}"
        if name in PUBLISHED:
            which, masks, their_rmse, their_nll = PUBLISHED[name]
            text += (f"; exact GP ({which}), {'the same masks' if masks else 'masks not known'}: "
                     f"{their_rmse}, {their_nll}")
            if masks and len(found) < len(masks):
                text += " (of which not all were measured here)"
        yield text


def measure_all(args):
    for name in args.sets:
        rows, marks = read_set(args.data, name)
        if max(args.masks) >= marks.shape[1]:
            sys.exit(f"{name}: there are masks 0 to {marks.shape[1] - 1}")
        for mask in args.masks:
            yield measure(args, name, rows, marks[:, mask], mask)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="directory that holds the data sets")
    parser.add_argument("--quorum", default="build/quorum", help="the command to measure")
    parser.add_argument("--sets", nargs="+", help="all in the directory when absent")
    parser.add_argument("--masks", type=int, nargs="+", default=[0, 1, 2],
                        help="columns of test_mask.csv.gz, from 0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fit", nargs=argparse.REMAINDER, default=[],
                        help="further options of fit, to the end of the line")
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results", "uci.csv"))
    args = parser.parse_args()
    if min(args.masks) < 0:
        sys.exit("masks count from 0")
    args.sets = args.sets or sorted(
        d for d in os.listdir(args.data)
        if os.path.exists(os.path.join(args.data, d, "test_mask.csv.gz")))
    command = (f"bench/uci.py DIR --sets {' '.join(args.sets)} --masks "
               f"{' '.join(map(str, args.masks))}{f' --seed {args.seed}' if args.seed != 1 else ''}"
               f"{' --fit ' + ' '.join(args.fit) if args.fit else ''}")
    write_csv(args.out, command, args.quorum, FIELDS, measure_all(args))
    print(*beside_published(read_csv(args.out)), args.out, sep="\n")


if __name__ == "__main__":
    main()
