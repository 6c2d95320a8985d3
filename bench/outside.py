#!/usr/bin/env python3
"""Queries outside the rows, and in a hole among them: do 95 % intervals hold there?

    bench/outside.py [--quorum build/quorum] [--cases smooth3d_500 ...] [--seeds 1]

Made data, four cases with a bar and four others; rules were compared on functions like paper and damped1d, so that waves2d alone is fresh.  smooth3d: rows in the cube [-1, 1]^3, queries in [-2, 2]^3 outside of it; paper: the paper's function of one
input in [0, 1] with noise 0.02 and the squared exponential, queries up to 0.3 beyond; hole4d: rows in [-1, 1]^4 outside the
ball of radius 0.6, queries in it.  damped1d, waves2d, friedman5d: rows in a unit cube with noise, queries up to 0.3
beyond; robot4d: normal rows, queries farther out.  Fits with the defaults and with `--spread none`, and the latter also without calibration, which
is what theta alone says.  Writes results/outside.csv: MSLL and coverage among the rows and outside of them.
"""
import argparse
import os
import tempfile

import numpy as np

from calibration import save
from common import RESULTS, run, write_csv

FIELDS = ["case", "seed", "prediction", "rows", "kernel", "spread", "untested", "inside_msll", "inside_covers",
          "outside_smse", "outside_msll", "outside_covers"]
PREDICTIONS = {"default": ("auto", "auto"), "spread none": ("none", "auto"), "spread none, uncalibrated": ("none", "off")}


def three(X):
    return np.sin(5 * X[:, 0] + X[:, 1]) + np.cos(4 * X[:, 1]) * X[:, 2] + 0.5 * X[:, 2] ** 2


def four(X):
    return np.sin(5 * X[:, 0] + 2 * X[:, 1]) + X[:, 2] * np.cos(5 * X[:, 3]) + 0.3 * X[:, 1] * X[:, 3]


def paper(X):
    x = X[:, 0]
    return 5 * x**2 * np.sin(12 * x) + (x**3 - 0.5) * np.sin(3 * x - 0.5) + 4 * np.cos(2 * x)


def damped(X):
    return np.exp(-2 * X[:, 0]) * np.sin(15 * X[:, 0])


def waves(X):
    return np.sin(7 * X[:, 0]) * np.cos(5 * X[:, 1]) + X[:, 0] * X[:, 1]


def friedman(X):
    return 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def robot(X):
    first, second = np.pi * X[:, 0], np.pi * X[:, 1]
    return (1 + X[:, 2]) * np.cos(first) + (1 + X[:, 3]) * np.cos(first + second)


def unit(inputs):
    def places(rng, rows):
        around = rng.uniform(-0.3, 1.3, (20000, inputs))
        return (rng.uniform(0, 1, (rows, inputs)), rng.uniform(0, 1, (1000, inputs)),
                around[(np.abs(around - 0.5) > 0.5).any(axis=1)][:1500])
    return places


def cloud(rng, rows):
    around = 1.6 * rng.standard_normal((20000, 4))
    far = np.linalg.norm(around, axis=1)
    return rng.standard_normal((rows, 4)), rng.standard_normal((1000, 4)), around[(far > 3) & (far < 4.5)][:1500]


def cube(rng, rows):
    around = rng.uniform(-2, 2, (8000, 3))
    return rng.uniform(-1, 1, (rows, 3)), rng.uniform(-1, 1, (1000, 3)), around[np.abs(around).max(axis=1) > 1][:1500]


def line(rng, rows):
    beyond = np.concatenate([rng.uniform(-0.3, 0, 500), rng.uniform(1, 1.3, 500)])
    return rng.uniform(0, 1, (rows, 1)), rng.uniform(0, 1, (1000, 1)), beyond[:, None]


def ball(rng, rows):
    """Rows and queries around the hole, and queries uniform in it."""
    around = rng.uniform(-1, 1, (2 * rows + 3000, 4))
    around = around[(around**2).sum(axis=1) > 0.36]
    way = rng.standard_normal((1500, 4))
    way *= 0.6 * rng.uniform(0, 1, (1500, 1)) ** 0.25 / np.linalg.norm(way, axis=1)[:, None]
    return around[:rows], around[rows:rows + 1000], way


CASES = {"smooth3d_500": (cube, 500, three, 0.0, "auto"), "smooth3d_3000": (cube, 3000, three, 0.0, "auto"),
         "paper": (line, 2000, paper, 0.02, "se"), "hole4d": (ball, 4000, four, 0.0, "auto"),
         "damped1d": (unit(1), 1500, damped, 0.02, "auto"), "waves2d": (unit(2), 1500, waves, 0.1, "auto"),
         "friedman5d": (unit(5), 2000, friedman, 1.0, "auto"), "robot4d": (cloud, 3000, robot, 0.02, "auto")}


def made(case, seed):
    """Tables to fit to, among the rows and outside of them, target last."""
    places, rows, function, noise, _ = CASES[case]
    rng = np.random.default_rng([seed, rows])
    return [np.column_stack([X, function(X) + noise * rng.standard_normal(len(X))]) for X in places(rng, rows)]


def measure(args, case, seed):
    parts = dict(zip(("fit", "inside", "outside"), made(case, seed)))
    header = [*(f"x{d + 1}" for d in range(parts["fit"].shape[1] - 1)), "y"]
    words = ["--threads", str(args.threads), "-q", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        file = {name: save(os.path.join(folder, name + ".csv"), header, rows) for name, rows in parts.items()}
        fitted = {}
        for prediction, (spread, calibration) in PREDICTIONS.items():
            if spread not in fitted:
                fitted[spread] = os.path.join(folder, spread + ".npz")
                run([args.quorum, "fit", file["fit"], "-o", fitted[spread], "--kernel", CASES[case][4], "--spread", spread,
                     "--graph", "none", *words])
            shown = run([args.quorum, "inspect", fitted[spread], "--json"])
            row = {"case": case, "seed": seed, "prediction": prediction, "rows": len(parts["fit"]), "kernel": shown["kernel"],
                   "spread": shown["spread"], "untested": shown["untested"]}
            for part in ("inside", "outside"):
                scores = run([args.quorum, "evaluate", fitted[spread], file[part], "--calibration", calibration, *words])[0]
                row |= {f"{part}_msll": scores["msll"], f"{part}_covers": scores["coverage"]["95"],
                        f"{part}_smse": scores["smse"]}
            del row["inside_smse"]
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(RESULTS, "outside.csv"))
    args = parser.parse_args()
    command = f"bench/outside.py --cases {' '.join(args.cases)} --seeds {' '.join(map(str, args.seeds))}"
    write_csv(args.out, command, args.quorum, FIELDS,
              (row for seed in args.seeds for case in args.cases for row in measure(args, case, seed)))
    print(args.out)


if __name__ == "__main__":
    main()
