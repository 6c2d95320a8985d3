#!/usr/bin/env python3
"""How many targets the 95 % interval covers, by the distance to the nearest training row.

    bench/by_distance.py --data DIR [--quorum build/quorum] [--sets SET ...] [--held 4000] [--seeds 1 2 3]

Rows of each *training* file (DIR/SET/train.csv.gz) are held out and predicted from all others: of maps
(MAPS) those under the pattern of the test rows' places, moved elsewhere (bench/gaps.py; pattern = seed;
targets of the test file are not used), of other sets `held` random rows.  `quorum fit --calibrate`, then
`evaluate --by distance` with calibration and without it.  Writes results/by_distance.csv: for each tenth of
the rows, from the nearest to the farthest, distances in length-scales, coverage, mean width, MSLL.
"""
import argparse
import os
import tempfile

from calibration import numbers, save
from common import RESULTS, run, write_csv
from gaps import split as split_map

FIELDS = ["set", "seed", "prediction", "rows", "held", "tenth", "low", "high", "group", "coverage95", "width95", "msll"]
MAPS = ("satellite", "simtemps")
PREDICTIONS = {"calibrated": "auto", "uncalibrated": "off"}


def split(args, name, seed, folder):
    """Writes train.csv and test.csv to the folder; how many rows they have."""
    if name in MAPS:
        return split_map(args.data, name, seed, folder)
    header, table = numbers(args.data, name, seed)
    for part, rows in (("train", table[args.held:]), ("test", table[:args.held])):
        save(os.path.join(folder, part + ".csv"), header, rows)
    return len(table) - args.held, args.held


def measure(args, name, seed):
    words = ["--threads", str(args.threads), "-q", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        rows, held = split(args, name, seed, folder)
        train, test, model = (os.path.join(folder, f) for f in ("train.csv", "test.csv", "model.npz"))
        run([args.quorum, "fit", train, "-o", model, "--calibrate", "--seed", str(seed), *words])
        for prediction, option in PREDICTIONS.items():
            score = run([args.quorum, "evaluate", model, test, "--by", "distance", "--calibration", option, *words])[0]
            for tenth, group in enumerate(score["groups"], 1):
                yield {"set": name, "seed": seed, "prediction": prediction, "rows": rows, "held": held,
                       "tenth": tenth, "group": group["rows"], "coverage95": group["coverage"],
                       "width95": group["width"], **{key: group[key] for key in ("low", "high", "msll")}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+", default=["satellite", "protein", "sarcos_noleak"])
    parser.add_argument("--held", type=int, default=4000, help="rows to score on, of sets that are not maps")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of the split and the fit")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(RESULTS, "by_distance.csv"))
    args = parser.parse_args()
    command = (f"bench/by_distance.py --sets {' '.join(args.sets)} --held {args.held} "
               f"--seeds {' '.join(map(str, args.seeds))} --data DIR")
    write_csv(args.out, command, args.quorum, FIELDS,
              (row for name in args.sets for seed in args.seeds for row in measure(args, name, seed)))
    print(args.out)


if __name__ == "__main__":
    main()
