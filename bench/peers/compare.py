#!/usr/bin/env python3
"""quorum beside a NumPy nearest-neighbour GP, scikit-learn's GP and gradient boosting and, if installed, R's laGP.

    bench/peers/compare.py --data DIR [--quorum build/quorum] [--sets SET ...]

Everyone gets the same training and test rows, the same number of threads and the same OpenBLAS
kernels (OPENBLAS_CORETYPE), and runs in processes of its own.  Wall and processor seconds to fit and
to predict all test rows, peak memory, SMSE, MSLL and coverage of the 95 % interval, computed here from
each one's means and standard deviations.  quorum's seconds are of whole processes, starting and
reading included; the peers' are of fit and predict alone.  Writes results/peers.csv and peers.svg.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from common import RESULTS, blas_kernels, made, measured, read_table, write_csv  # noqa: E402
from draw import draw  # noqa: E402

SETS = ["pumadyn32nm", "protein", "kin40k_10k30k", "sarcos_noleak"]
FIELDS = ["set", "method", "setting", "fit_seconds", "predict_seconds", "fit_processor_seconds",
          "predict_processor_seconds", "peak_mb", "smse", "msll", "coverage95"]
PREDICTIONS = [("default", []), ("64 neighbours", ["--method", "nearest", "--neighbours", "64"]),
               ("4 experts", ["--select", "local:4", "--neighbours", "0"])]
NORMAL_95 = 1.959963984540054


def scores(train, test, mean, std):
    """SMSE, MSLL and coverage of the 95 % interval."""
    y, trivial = test[:, -1], train[:, -1]
    loss = 0.5 * np.log(2 * np.pi * std**2) + (y - mean) ** 2 / (2 * std**2)
    plain = 0.5 * np.log(2 * np.pi * trivial.var()) + (y - trivial.mean()) ** 2 / (2 * trivial.var())
    return {"smse": float(np.mean((y - mean) ** 2) / y.var()), "msll": float(np.mean(loss - plain)),
            "coverage95": float(np.mean(np.abs(y - mean) <= NORMAL_95 * std))}


class Contest:
    """One data set in a folder as .npy, and everyone's turn on it."""

    def __init__(self, args, folder, train, test):
        self.args, self.folder, self.train, self.test = args, folder, train, test
        self.environment = {"OPENBLAS_CORETYPE": blas_kernels(args.quorum),
                            "OPENBLAS_NUM_THREADS": str(args.threads),
                            "OMP_NUM_THREADS": str(args.threads)}
        np.save(self.path("train.npy"), train)
        np.save(self.path("test.npy"), test)

    def path(self, name):
        return os.path.join(self.folder, name)

    def quorum(self):
        threads = ["--threads", str(self.args.threads), "--quiet"]
        fit = measured([self.args.quorum, "fit", self.path("train.npy"), "-o", self.path("model.npz"),
                        "--seed", str(self.args.seed), *threads])
        for setting, options in PREDICTIONS:
            done = measured([self.args.quorum, "predict", self.path("model.npz"),
                             self.path("test.npy"), "-o", self.path("out.csv"), *options, *threads])
            out = np.genfromtxt(self.path("out.csv"), delimiter=",", names=True)
            yield {"method": "quorum", "setting": setting, "fit_seconds": fit["wall"],
                   "predict_seconds": done["wall"], "fit_processor_seconds": fit["processor"],
                   "predict_processor_seconds": done["processor"],
                   "peak_mb": max(fit["peak_mb"], done["peak_mb"]),
                   **scores(self.train, self.test, out["mean"], out["std"])}

    def python_peer(self, method, module, setting, options):
        done = measured([sys.executable, "-B", os.path.join(HERE, module), self.path("train.npy"),
                         self.path("test.npy"), self.path("out.npy"), "--seed",
                         str(self.args.seed), *options], self.environment)
        seconds = json.loads(done["output"])
        mean, std = np.load(self.path("out.npy"))
        return {"method": method, "setting": setting, "fit_seconds": seconds["fit"],
                "predict_seconds": seconds["predict"],
                "fit_processor_seconds": seconds["fit_processor"],
                "predict_processor_seconds": seconds["predict_processor"],
                "peak_mb": done["peak_mb"], **scores(self.train, self.test, mean, std)}

    def sklearn(self):
        for rows in self.args.sklearn_rows:
            yield self.python_peer("scikit-learn GP", "sklearn_gp.py", f"{rows} rows",
                                   ["--rows", str(rows)])

    def numpy(self):
        yield self.python_peer("NumPy NN-GP", "numpy_nngp.py", "64 neighbours",
                               ["--rows", str(self.args.nngp_rows), "--neighbours", "64"])

    def boosting(self):
        yield self.python_peer("gradient boosting", "boosting.py", "scikit-learn", [])

    def r(self):
        script = os.path.join(HERE, "r_tools.R")
        if not shutil.which("Rscript") or subprocess.run(["Rscript", script, "--probe"],
                                                         capture_output=True).returncode != 0:
            return
        for part, table in (("train", self.train), ("test", self.test)):
            np.savetxt(self.path(f"{part}.csv"), table, delimiter=",", fmt="%.17g")
        done = measured(["Rscript", script, self.path("train.csv"), self.path("test.csv"),
                         self.path("r.csv"), str(self.args.threads)], self.environment)
        seconds = json.loads(done["output"])
        out = np.genfromtxt(self.path("r.csv"), delimiter=",", names=True)
        yield {"method": "R laGP", "setting": "50 nearest", "fit_seconds": seconds["fit"],
               "predict_seconds": seconds["predict"], "peak_mb": done["peak_mb"],
               **scores(self.train, self.test, out["mean"], out["std"])}


def compare(args, name):
    if args.quick:
        rng = np.random.default_rng(1)
        train, test = made(rng, 1200), made(rng, 100)
    else:
        train, test = (read_table(args.data, name, part) for part in ("train", "test"))
    with tempfile.TemporaryDirectory() as folder:
        contest = Contest(args, folder, train, test)
        for turn in (contest.quorum, contest.numpy, contest.boosting, contest.sklearn, contest.r):
            for row in turn():
                row = {"set": name, **row}
                print("  ".join(f"{v:.4g}" if isinstance(v, float) else str(v)
                                for v in row.values()), flush=True)
                yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sklearn-rows", type=int, nargs="+", default=[500, 1000])
    parser.add_argument("--nngp-rows", type=int, default=1500, help="that NN-GP trains on")
    parser.add_argument("--note", action="append", default=[], help="a line for the CSV's head")
    parser.add_argument("--quick", action="store_true", help="a small made set, to see that it runs")
    parser.add_argument("--out", default=RESULTS, help="directory for peers.csv and peers.svg")
    args = parser.parse_args()
    if args.quick:
        args.sets, args.sklearn_rows, args.nngp_rows = ["made"], [100], 100
    elif not args.data:
        parser.error("--data must name the directory of the data sets")
    rows = [row for name in args.sets for row in compare(args, name)]
    path = os.path.join(args.out, "peers.csv")
    write_csv(path, f"bench/peers/compare.py --data DIR --sets {' '.join(args.sets)} --seed "
              f"{args.seed} --threads {args.threads} --sklearn-rows "
              f"{' '.join(map(str, args.sklearn_rows))}", args.quorum, FIELDS, rows, args.note)
    draw(path, os.path.splitext(path)[0] + ".svg")
    print(path)


if __name__ == "__main__":
    main()
