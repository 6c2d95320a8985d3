#!/usr/bin/env python3
"""Default settings on whole test sets, beside other predictions from the same models, as committed CSV.

    bench/defaults.py --quorum build/quorum --data DIR [--sets SET ...] [--seeds 1 2 3] [--all-experts]

For every data set: `quorum fit` with default settings, then on the whole test set the default prediction, 512 and 64
nearest rows, four experts without neighbours and, with --all-experts, NPAE on all experts and on the graph's 80 %.
Writes results/defaults.csv.
"""
import argparse
import os
import tempfile

from common import RESULTS, load, run, write_csv

SETS = ["kin40k_10k30k", "pumadyn32nm", "protein", "sarcos_noleak", "satellite", "simtemps", "diamonds"]
FIELDS = ["set", "seed", "prediction", "kernel", "metric", "neighbours", "method", "smse", "msll", "rmse", "crps", "coverage95",
          "coverage95_uncalibrated", "experts_used", "fit_seconds", "calibrate_seconds", "predict_seconds"]

PREDICTIONS = [
    ("default", []),
    ("512 neighbours", ["--method", "nearest", "--neighbours", "512"]),
    ("64 neighbours", ["--method", "nearest", "--neighbours", "64"]),
    ("4 experts", ["--select", "local:4", "--neighbours", "0"]),
]
ALL_EXPERTS = [("all experts", ["--method", "npae"]), ("graph:0.8", ["--method", "npae*"])]


def measure(args, name, seed):
    train, test = (os.path.join(args.data, name, f"{part}.csv.gz") for part in ("train", "test"))
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.npz")
        fit = run([args.quorum, "fit", train, "-o", model, "--seed", str(seed), "--json", "--quiet", *args.fit])
        shown = run([args.quorum, "inspect", model, "--json"])
        for label, options in PREDICTIONS + (ALL_EXPERTS if args.all_experts else []):
            result = run([args.quorum, "evaluate", model, test, "--json", "--quiet", *options])[0]
            before = result.get("coverage_uncalibrated", result["coverage"])
            yield {"set": name, "seed": seed, "prediction": label, "kernel": fit["kernel"], "metric": shown["metric"],
                   "neighbours": shown["neighbours"], **{score: result[score] for score in ("method", "smse", "msll", "rmse", "crps")},
                   "coverage95": result["coverage"]["95"], "coverage95_uncalibrated": before["95"],
                   "experts_used": result["experts_used"],
                   "fit_seconds": fit["seconds"]["total"] - fit["seconds"]["calibrate"],
                   "calibrate_seconds": fit["seconds"]["calibrate"], "predict_seconds": result["seconds"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--fit", nargs="*", default=[], help="further options of fit")
    parser.add_argument("--all-experts", action="store_true", help="minutes on the larger sets")
    parser.add_argument("--out", default=os.path.join(RESULTS, "defaults.csv"))
    args = parser.parse_args()
    command = (f"bench/defaults.py --sets {' '.join(args.sets)} --seeds {' '.join(map(str, args.seeds))} --data DIR"
               f"{' --all-experts' if args.all_experts else ''}{' --fit ' + ' '.join(args.fit) if args.fit else ''}")
    write_csv(args.out, command, args.quorum, FIELDS,
              (row for name in args.sets for seed in args.seeds for row in measure(args, name, seed)), [load()])
    print(args.out)


if __name__ == "__main__":
    main()
