#!/usr/bin/env python3
"""Noise that grows tenfold across an input: how well the predicted std follows it.

    bench/heteroscedastic.py [--quorum build/quorum] [--inputs 1 3] [--rows 4000] [--held 2000] [--seeds 1 2]

Made data, x uniform in [-1, 1]^D, whose noise has the deviation 0.05 at x_1 = -1 and 0.5 at x_1 = 1:

    y = sin(4 x_1) + cos(2 x_2) x_3 + 0.05 * 10^((x_1 + 1) / 2) e,   e ~ N(0, 1)   (D = 1: sin(4 x_1) alone)

`quorum fit --calibrate`, then the default prediction with calibration and without it.  Writes
results/heteroscedastic.csv: for each tenth of the queries by x_1 the median of predicted std over that
of the noise, and MSLL less that of the density that the data were drawn from.
"""
import argparse
import os
import tempfile

import numpy as np

from calibration import gaussian, predict, save
from common import RESULTS, run, write_csv

TENTHS = [f"tenth{i}" for i in range(1, 11)]
FIELDS = ["inputs", "seed", "prediction", "rows", "held", "kernel", "spread", *TENTHS, "msll", "msll_truth", "msll_more"]
PREDICTIONS = {"calibrated": "auto", "uncalibrated": "off"}


def truth(X):
    """The function and the noise's deviation."""
    f = np.sin(4 * X[:, 0]) + (np.cos(2 * X[:, 1]) * X[:, 2] if X.shape[1] > 1 else 0.0)
    return f, 0.05 * 10 ** ((X[:, 0] + 1) / 2)


def made(rows, inputs, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (rows, inputs))
    f, deviation = truth(X)
    return np.column_stack([X, f + deviation * rng.standard_normal(rows)])


def by_tenths(x, ratio):
    """Medians of the ratio in tenths of the rows sorted by x."""
    return dict(zip(TENTHS, (np.median(ratio[part]) for part in np.array_split(np.argsort(x), 10))))


def measure(args, inputs, seed):
    train, held = made(args.rows, inputs, seed), made(args.held, inputs, 1000 + seed)
    header = [*(f"x{d + 1}" for d in range(inputs)), "y"]
    words = ["--threads", str(args.threads), "-q", "--json"]
    f, deviation = truth(held[:, :-1])
    best = gaussian(held[:, -1], train[:, -1], f, deviation)["msll"]
    with tempfile.TemporaryDirectory() as folder:
        fit, test = (save(os.path.join(folder, part), header, rows) for part, rows in
                     (("fit.csv", train), ("held.csv", held)))
        model = os.path.join(folder, "model.npz")
        run([args.quorum, "fit", fit, "-o", model, "--calibrate", *words])
        shown = run([args.quorum, "inspect", model, "--json"])
        for prediction, option in PREDICTIONS.items():
            std = predict(args.quorum, model, test, "--calibration", option)["std"]
            msll = run([args.quorum, "evaluate", model, test, "--calibration", option, *words])[0]["msll"]
            yield {"inputs": inputs, "seed": seed, "prediction": prediction, "rows": args.rows, "held": args.held,
                   "kernel": shown["kernel"], "spread": shown["spread"], "msll": msll, "msll_truth": best,
                   "msll_more": msll - best, **by_tenths(held[:, 0], std / deviation)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--inputs", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--rows", type=int, default=4000, help="to fit to")
    parser.add_argument("--held", type=int, default=2000, help="to score on")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(RESULTS, "heteroscedastic.csv"))
    args = parser.parse_args()
    command = (f"bench/heteroscedastic.py --inputs {' '.join(map(str, args.inputs))} --rows {args.rows} "
               f"--held {args.held} --seeds {' '.join(map(str, args.seeds))}")
    write_csv(args.out, command, args.quorum, FIELDS,
              (row for seed in args.seeds for inputs in args.inputs for row in measure(args, inputs, seed)))
    print(args.out)


if __name__ == "__main__":
    main()
