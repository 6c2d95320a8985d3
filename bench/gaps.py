#!/usr/bin/env python3
"""Which kernel holds in gaps: a map's gaps laid elsewhere over its training rows.

    bench/gaps.py --data DIR [--sets satellite] [--patterns 0 1 2 3] [--kernels auto matern12 ...]

The test rows of `satellite` and `simtemps` are one pattern of clouds on a grid.  That pattern,
mirrored and shifted, is laid over the training rows; what it covers is left out and predicted.
Of the test file only the places are used, never the targets.  Writes results/gaps.csv.
"""
import argparse
import os
import tempfile

import numpy as np

from common import read_table, run, write_csv

FIELDS = ["set", "pattern", "kernel", "chosen", "neighbours", "rows", "queries", "rmse", "mae",
          "crps", "msll", "coverage95"]
MOST_QUERIES = 6000


def on_grid(*tables):
    """The cells of each table's places, and the shape of the grid."""
    places = np.vstack([t[:, :2] for t in tables]).round(6)
    axes = [np.unique(places[:, d]) for d in range(2)]
    cells = [tuple(np.searchsorted(axes[d], t[:, d].round(6)) for d in range(2)) for t in tables]
    return cells, tuple(map(len, axes))


def covered(train, test, pattern):
    """Which training rows lie under the test rows' pattern, moved to another place."""
    (own, gaps), shape = on_grid(train, test)
    mask = np.zeros(shape, bool)
    mask[gaps] = True
    random = np.random.default_rng(pattern)
    mask = mask[::1 - 2 * (pattern % 2), ::1 - 2 * (pattern // 2 % 2)]
    mask = np.roll(mask, [random.integers(n) for n in shape], (0, 1))
    return mask[own]


def split(data, name, pattern, folder):
    """Files of the rows that are left and of those to predict; their numbers."""
    train, test = (read_table(data, name, part) for part in ("train", "test"))
    out = covered(train, test, pattern)
    queries = train[out]
    keep = np.random.default_rng(pattern).permutation(len(queries))[:MOST_QUERIES]
    for part, rows in (("train", train[~out]), ("test", queries[keep])):
        np.savetxt(os.path.join(folder, part + ".csv"), rows, fmt="%.17g", delimiter=",",
                   header="x1,x2,y", comments="")
    return int((~out).sum()), len(keep)


def measure(args, name, pattern):
    with tempfile.TemporaryDirectory() as folder:
        rows, queries = split(args.data, name, pattern, folder)
        train, test, model = (os.path.join(folder, f) for f in
                              ("train.csv", "test.csv", "model.npz"))
        for kernel in args.kernels:
            run([args.quorum, "fit", train, "-o", model, "--kernel", kernel, "--seed", "1",
                 "--graph", "none", "--json", "--quiet"])
            result = run([args.quorum, "evaluate", model, test, "--json", "--quiet"])[0]
            shown = run([args.quorum, "inspect", model, "--json"])
            yield {"set": name, "pattern": pattern, "kernel": kernel, "chosen": shown["kernel"],
                   "neighbours": shown["neighbours"], "rows": rows, "queries": queries,
                   "coverage95": result["coverage"]["95"],
                   **{score: result[score] for score in ("rmse", "mae", "crps", "msll")}}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+", default=["satellite"])
    parser.add_argument("--patterns", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--kernels", nargs="+", default=["auto", "matern12", "matern32"])
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results",
                                                      "gaps.csv"))
    args = parser.parse_args()
    command = (f"bench/gaps.py --sets {' '.join(args.sets)} --patterns "
               f"{' '.join(map(str, args.patterns))} --kernels {' '.join(args.kernels)} --data DIR")
    write_csv(args.out, command, args.quorum, FIELDS,
              (row for name in args.sets for pattern in args.patterns
               for row in measure(args, name, pattern)))
    print(args.out)


if __name__ == "__main__":
    main()
