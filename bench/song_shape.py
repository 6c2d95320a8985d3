#!/usr/bin/env python3
"""Whether a job of YearPredictionMSD's shape runs, and in what time and memory: made rows with 90 inputs.

    bench/song_shape.py [--quorum build/quorum] [--rows 100000] [--test-rows 2000]

Inputs are correlated, as the official set's averages and covariances of timbre are, and heavy-tailed; the target is a smooth function of ten
combinations of them with as much noise as signal, skewed like years.  `fit` with default settings, and with one kernel, theta found on
2,000 rows and nothing calibrated, the least that a first look needs; then `evaluate` by default, and of the second by method bcm.  Seconds are of
the processors, and of the wall while others used the machine.  Writes results/song_shape.csv.
"""
import argparse
import json
import os
import tempfile

import numpy as np

from common import RESULTS, load, measured, write_csv

INPUTS, COMBINATIONS = 90, 10
LEAST = ["--kernel", "matern32", "--metric", "ard", "--trend", "none", "--warp", "none", "--spread", "none", "--calibrate", "false", "--train-rows", "2000"]
FIELDS = ["stage", "rows", "inputs", "wall_seconds", "processor_seconds", "peak_mb", "smse", "msll", "coverage95"]


def made_songs(rng, rows):
    """rows x (90 inputs, target)."""
    mixing = rng.standard_normal((INPUTS, INPUTS)) / np.sqrt(INPUTS)
    X = (rng.standard_t(5, (rows, INPUTS)) @ mixing) * np.exp(rng.uniform(0, 5, INPUTS))
    Z = (X / X.std(axis=0)) @ rng.standard_normal((INPUTS, COMBINATIONS)) / np.sqrt(INPUTS)
    f = np.tanh(Z).sum(axis=1) + np.sin(2 * Z[:, 0] * Z[:, 1])
    y = f / f.std() + rng.standard_normal(rows)
    return np.column_stack([X, np.round(2011 - 8 * np.log1p(np.exp(-y)))])


def line(stage, rows, done, scores=None):
    scores = scores or {"smse": "", "msll": "", "coverage": {"95": ""}}
    return {"stage": stage, "rows": rows, "inputs": INPUTS, "wall_seconds": done["wall"], "processor_seconds": done["processor"],
            "peak_mb": done["peak_mb"], "smse": scores["smse"], "msll": scores["msll"], "coverage95": scores["coverage"]["95"]}


def measure(args):
    with tempfile.TemporaryDirectory() as folder:
        train, test, model = (os.path.join(folder, n) for n in ("train.npy", "test.npy", "model.npz"))
        rows = made_songs(np.random.default_rng(1), args.rows + args.test_rows)
        np.save(train, rows[: args.rows])
        np.save(test, rows[args.rows :])
        del rows
        for how, flags, methods in (("defaults", [], ["auto"]), ("least", LEAST, ["auto", "bcm"])):
            yield line(f"fit, {how}", args.rows, measured([args.quorum, "fit", train, "-o", model, "--quiet", *flags]))
            for method in methods:
                done = measured([args.quorum, "evaluate", model, test, "--quiet", "--json", "--method", method])
                yield line(f"evaluate, {how}, {method}", args.test_rows, done, json.loads(done["output"])[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--test-rows", type=int, default=2000)
    parser.add_argument("--out", default=os.path.join(RESULTS, "song_shape.csv"))
    args = parser.parse_args()
    write_csv(args.out, f"bench/song_shape.py --rows {args.rows} --test-rows {args.test_rows}", args.quorum, FIELDS, measure(args), [load()])
    print(args.out)


if __name__ == "__main__":
    main()
