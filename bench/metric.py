#!/usr/bin/env python3
"""What the linear metric, and the rest of what left-out rows choose, give on whole test sets.

    bench/metric.py --quorum build/quorum --data DIR [--sets SET ...] [--seeds 1]

For every data set: `quorum fit` with default settings and with `--metric ard`, then the default
prediction of the test set.  Writes results/metric.csv.
"""
import argparse
import os
import tempfile

from common import run, write_csv

FIELDS = ["set", "seed", "metric", "chosen", "kernel", "neighbours", "smse", "msll", "rmse",
          "coverage95", "fit_seconds", "predict_seconds"]
SETS = ["kin40k_10k30k", "protein", "pumadyn32nm", "sarcos_noleak", "satellite", "simtemps"]


def measure(args, name, seed, metric):
    train, test = (os.path.join(args.data, name, f"{part}.csv.gz") for part in ("train", "test"))
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.npz")
        fit = run([args.quorum, "fit", train, "-o", model, "--seed", str(seed), "--metric", metric,
                   "--json", "--quiet"])
        result = run([args.quorum, "evaluate", model, test, "--json", "--quiet"])[0]
        shown = run([args.quorum, "inspect", model, "--json"])
    return {"set": name, "seed": seed, "metric": metric, "chosen": shown["metric"],
            "kernel": fit["kernel"], "neighbours": shown["neighbours"],
            "smse": result["smse"], "msll": result["msll"], "rmse": result["rmse"],
            "coverage95": result["coverage"]["95"], "fit_seconds": fit["seconds"]["total"],
            "predict_seconds": result["seconds"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results",
                                                      "metric.csv"))
    args = parser.parse_args()
    command = (f"bench/metric.py --sets {' '.join(args.sets)} --seeds "
               f"{' '.join(map(str, args.seeds))} --data DIR")
    write_csv(args.out, command, args.quorum, FIELDS,
              (measure(args, name, seed, metric) for name in args.sets for seed in args.seeds
               for metric in ("ard", "auto")))
    print(args.out)


if __name__ == "__main__":
    main()
