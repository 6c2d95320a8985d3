#!/usr/bin/env python3
"""What the expert graph adds to a rule: processor seconds of starred rules beside plain ones.

    bench/starred.py DIR [--quorum build/quorum] [--before OLD] [--times 3]

DIR holds the data sets, SET/{train,test}.csv.gz.  Each is divided among as many experts as in the paper, and every rule predicts the test
rows, starred ones with the graph of the test inputs (--graph-on test), as in the paper.  Seconds are of `evaluate --method poe,RULE`
less those of `evaluate --method poe`, so that reading and the experts' factors, which all rules share, do not count; the least of
some runs, in turns.  With --before the same of another build, in the same turns.  Writes results/starred.csv.
"""
import argparse
import os
import tempfile

from common import RESULTS, measured, run, write_csv

FIELDS = ["set", "experts", "rule", "plain", "starred", "starred_before", "ratio", "ratio_before"]
SETS = {"pumadyn32nm": 15, "protein": 70, "sarcos_noleak": 72}
RULES = ["gpoe", "bcm", "rbcm", "grbcm", "npae"]
FIT = ["--kernel", "se", "--metric", "ard", "--trend", "none", "--warp", "none", "--calibrate", "false", "--train-rows", "2000",
       "--quiet", "--json"]


def seconds_of(quorum, model, test, methods):
    return measured([quorum, "evaluate", model, test, "--quiet", "--json", "--threads", "1", "--graph-on", "test", "--space",
                     "observed", "--method", ",".join(methods)])["processor"]


def least(builds, model, test, rule, times):
    """Of each build (NAME: command): seconds of the rule, plain and starred, beyond poe's."""
    found = {}
    for _ in range(times):
        for name, quorum in builds.items():
            for methods in (["poe"], ["poe", rule], ["poe", rule + "*"]):
                found.setdefault((name, methods[-1]), []).append(seconds_of(quorum, model, test, methods))
    best = {key: min(seconds) for key, seconds in found.items()}
    return {key: seconds - best[key[0], "poe"] for key, seconds in best.items()}


def measure(args, builds):
    for name in args.sets:
        with tempfile.TemporaryDirectory() as folder:
            train, test = (os.path.join(args.data, name, f"{part}.csv.gz") for part in ("train", "test"))
            model = os.path.join(folder, "model.npz")
            run([args.quorum, "fit", train, "-o", model, "--experts", str(SETS[name]), *FIT])
            for rule in args.rules:
                s = least(builds, model, test, rule, args.times)
                line = {"set": name, "experts": SETS[name], "rule": rule, "plain": s["now", rule],
                        "starred": s["now", rule + "*"], "ratio": s["now", rule + "*"] / s["now", rule]}
                if args.before:
                    line["starred_before"] = s["before", rule + "*"]
                    line["ratio_before"] = s["before", rule + "*"] / s["before", rule]
                yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", metavar="DIR", help="directory that holds the data sets")
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--before", help="another build to compare with")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--rules", nargs="+", default=RULES)
    parser.add_argument("--out", default=os.path.join(RESULTS, "starred.csv"))
    args = parser.parse_args()
    builds = {"now": args.quorum, **({"before": args.before} if args.before else {})}
    write_csv(args.out, f"bench/starred.py DIR --times {args.times}" + (" --before OLD" if args.before else ""), args.quorum,
              FIELDS, measure(args, builds), digits=3)
    print(args.out)


if __name__ == "__main__":
    main()
