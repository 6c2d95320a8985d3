#!/usr/bin/env python3
"""Local selection against all experts, and against the exact GP, as committed CSV.

    bench/local.py --quorum build/quorum --data DIR [--cases protein kin40k exact]

protein   squared exponential, the paper's fit with 70 experts: the 4 best experts of each query
          against NPAE on all of them, and the pair work of both
kin40k    kin40k_10k30k, squared exponential: 256 neighbours, 8 experts, both together, the default
          prediction
exact     the exact GP on kin40k_10k30k, one expert of all 10,000 rows, with the theta of the default
          fit (--metric ard), and a search for a theta of its own, broken off after 5 evaluations: the difference is
          what 5 of the 40 or so cost that a search takes

Minutes each.  Writes results/local.csv.
"""
import argparse
import os
import tempfile

from common import run, write_csv
from predictions import theta_of

FIELDS = ["case", "prediction", "smse", "msll", "coverage95", "pairs_a_query", "fit_seconds",
          "predict_seconds"]
EVERYBODY = ["--method", "npae"]
EXACT = ["--experts", "1", "--graph", "none"]
DEFAULT_THETA = "theta of the default fit"
CASES = {
    "protein": ("protein", [
        (["--experts", "70", "--train", "parts", "--partition-metric", "input"], [
            ("4 experts", ["--select", "local:4", "--neighbours", "0"]),
            ("all 70 experts", EVERYBODY)])]),
    "kin40k": ("kin40k_10k30k", [
        ([], [
            ("256 neighbours", ["--method", "nearest", "--neighbours", "256"]),
            ("8 experts", ["--select", "local:8", "--neighbours", "0"]),
            ("256 neighbours, 8 experts", ["--select", "local:8", "--neighbours", "256"]),
            ("default", [])])]),
    "exact": ("kin40k_10k30k", [
        ([*EXACT, "--theta", DEFAULT_THETA], [("exact GP, theta given", EVERYBODY)]),
        ([*EXACT, "--train", "parts", "--partition-metric", "input", "--max-evaluations", "5"],
         [("exact GP, 5 evaluations", EVERYBODY)])]),
}


def measure(args, case):
    name, fits = CASES[case]
    train, test = (os.path.join(args.data, name, f"{part}.csv.gz") for part in ("train", "test"))
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.npz")
        for options, predictions in fits:
            if DEFAULT_THETA in options:
                run([args.quorum, "fit", train, "-o", model, "--kernel", "se", "--metric", "ard", "--json",
                     "--quiet"])
                options = [theta_of(model)[0] if o == DEFAULT_THETA else o for o in options]
            fit = run([args.quorum, "fit", train, "-o", model, "--kernel", "se", "--json",
                       "--quiet", *options])
            for label, how in predictions:
                result = run([args.quorum, "evaluate", model, test, "--json", "--quiet",
                              *how])[0]
                yield line(case, label, fit, result)


def line(case, label, fit, result):
    used = result["experts_used"]
    return {"case": case, "prediction": label, "smse": result["smse"], "msll": result["msll"],
            "coverage95": result["coverage"]["95"], "pairs_a_query": max(0.0, used * (used - 1) / 2),
            "fit_seconds": fit["seconds"]["total"], "predict_seconds": result["seconds"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results",
                                                      "local.csv"))
    args = parser.parse_args()
    write_csv(args.out, f"bench/local.py --data DIR --cases {' '.join(args.cases)}", args.quorum, FIELDS,
              (row for case in args.cases for row in measure(args, case)))
    print(args.out)


if __name__ == "__main__":
    main()
