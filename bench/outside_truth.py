#!/usr/bin/env python3
"""How many of the targets outside the rows a 95 % interval covers if the model is the truth.

    bench/outside_truth.py [--functions 400] [--seed 1]

Functions are drawn from a Gaussian process, and predicted by that very process from noisy rows, at queries outside of them: intervals
are exact.  Over all functions they cover 95 %; of one function, all of whose errors beyond one side are alike, they cover what chance
gives.  line: 60 rows in [0, 1], length-scale 0.15, queries up to 0.3 beyond; cube: 400 rows in [-1, 1]^3, length-scale 0.8, queries in
[-2, 2]^3 outside.  Noise 0.02 times the signal's deviation, squared exponential.  Writes results/outside_truth.csv.
"""
import argparse
import os

import numpy as np

from common import RESULTS, write_csv
from outside import cube, line

FIELDS = ["case", "functions", "mean_covers", "within_90_99", "below_90", "above_99", "lowest", "tenth", "median"]
CASES = {"line": (line, 60, 0.15), "cube": (cube, 400, 0.8)}
NOISE = 0.02


def kernel(A, B, scale):
    return np.exp(-0.5 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2) / scale**2)


def coverages(case, functions, seed):
    """Of each function, the share of its queries that the exact intervals cover."""
    places, rows, scale = CASES[case]
    rng = np.random.default_rng([seed, rows])
    X, _, Q = places(rng, rows)
    Q = Q[rng.permutation(len(Q))[:300]]
    gain = np.linalg.solve(kernel(X, X, scale) + NOISE**2 * np.eye(rows), kernel(X, Q, scale)).T
    left = kernel(Q, Q, scale) - gain @ kernel(X, Q, scale)
    variance = np.diag(left) + NOISE**2
    values, vectors = np.linalg.eigh(0.5 * (left + left.T))
    error = (vectors * np.sqrt(np.maximum(values, 0))) @ rng.standard_normal((len(Q), functions))
    error += NOISE * rng.standard_normal(error.shape)
    return (np.abs(error) <= 1.959964 * np.sqrt(variance)[:, None]).mean(axis=0)


def measure(case, functions, seed):
    covers = coverages(case, functions, seed)
    low, high = covers < 0.9, covers > 0.99
    return {"case": case, "functions": functions, "mean_covers": covers.mean(), "within_90_99": np.mean(~low & ~high),
            "below_90": low.mean(), "above_99": high.mean(), "lowest": covers.min(), "tenth": np.quantile(covers, 0.1),
            "median": np.median(covers)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum", help="only its kernels are named")
    parser.add_argument("--functions", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(RESULTS, "outside_truth.csv"))
    args = parser.parse_args()
    command = f"bench/outside_truth.py --functions {args.functions} --seed {args.seed}"
    write_csv(args.out, command, args.quorum, FIELDS, (measure(case, args.functions, args.seed) for case in CASES))
    print(args.out)


if __name__ == "__main__":
    main()
