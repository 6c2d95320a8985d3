#!/usr/bin/env python3
"""What calibration makes of the density and the intervals, as committed CSV; on training rows alone.

    bench/calibration.py --quorum build/quorum --data DIR [--sets SET ...] [--rows 6000] [--held 2000]

For every data set: some of its training rows (DIR/SET/train.csv.gz) for `quorum fit --calibrate`, and
others that the default prediction is scored on: without calibration; with one factor for all of it,
a Gaussian whose std is multiplied by the root mean square of the held-out ratios, and symmetric
intervals from their quantiles; with the distribution of the signed ratios; with the symmetric one of
the absolute ratios; and with that of --calibrate strict.  Columns with text are left out.  MSLL and
CRPS, and of the 90 and 95 % intervals how many targets they cover and how wide they are in the mean.
Writes results/calibration.csv.
"""
import argparse
import csv
import gzip
import os
import subprocess
import tempfile

import numpy as np
from scipy import stats

from common import RESULTS, run, write_csv

FIELDS = ["set", "prediction", "rows", "held", "scale", "msll", "crps", "coverage90", "coverage95",
          "width90", "width95", "below95", "above95"]
ENDS = [0.025, 0.05, 0.95, 0.975]


def numbers(directory, name, seed):
    """The training rows in a random order, without columns of text."""
    with gzip.open(os.path.join(directory, name, "train.csv.gz"), "rt") as file:
        lines = csv.reader(file)
        header, first, *rest = lines
    keep = [i for i, cell in enumerate(first) if is_number(cell)]
    table = np.array([[float(line[i]) for i in keep] for line in [first, *rest]])
    return [header[i] for i in keep], np.random.default_rng(seed).permutation(table)


def is_number(cell):
    try:
        return np.isfinite(float(cell))
    except ValueError:
        return False


def save(path, header, table):
    np.savetxt(path, table, delimiter=",", header=",".join(header), comments="", fmt="%.17g")
    return path


def predict(quorum, model, test, *options):
    text = subprocess.run([quorum, "predict", model, test, "-q", "--threads", "1", "--quantiles",
                           ",".join(map(str, ENDS)), *options], capture_output=True, text=True,
                          check=True).stdout.splitlines()
    return dict(zip(text[0].split(","), np.loadtxt(text[1:], delimiter=",").T))


def intervals(y, ends):
    """Coverage and width, ends being the quantiles of ENDS."""
    low, low90, high90, high = ends
    return {"coverage90": np.mean((y >= low90) & (y <= high90)), "width90": np.mean(high90 - low90),
            "coverage95": np.mean((y >= low) & (y <= high)), "width95": np.mean(high - low),
            "below95": np.mean(y < low), "above95": np.mean(y > high)}


def gaussian(y, train, mean, std):
    """MSLL and CRPS of Gaussians."""
    z = (y - mean) / std
    crps = std * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))
    trivial = stats.norm.logpdf(y, train.mean(), train.std())
    return {"msll": np.mean(trivial - stats.norm.logpdf(y, mean, std)), "crps": np.mean(crps)}


def one_factor(y, train, raw, model):
    """The Gaussian of one factor, and intervals from absolute ratios."""
    ratio = np.load(model)["calibration"]
    scale, h = np.sqrt(np.mean(ratio ** 2)), len(ratio)
    reach = [ratio[int(np.ceil((h + 1) * p)) - 1] for p in (0.9, 0.95)]
    ends = [raw["mean"] + side * r * raw["std"] for side, r in
            ((-1, reach[1]), (-1, reach[0]), (1, reach[0]), (1, reach[1]))]
    return {"scale": scale, **gaussian(y, train, raw["mean"], scale * raw["std"]), **intervals(y, ends)}


def calibrated(args, model, test, y, *options):
    out = predict(args.quorum, model, test, *options)
    found = run([args.quorum, "evaluate", model, test, "--json", "-q", "--threads", "1", *options])[0]
    scale = run([args.quorum, "inspect", model, "--json"])["calibration_scale"]
    return {"scale": scale, "msll": found["msll"], "crps": found["crps"],
            **intervals(y, [out[f"q{p}"] for p in ENDS])}


def measure(args, name):
    header, table = numbers(args.data, name, args.seed)
    train, held = table[:args.rows], table[args.rows:args.rows + args.held]
    y, y_train = held[:, -1], train[:, -1]
    with tempfile.TemporaryDirectory() as folder:
        fit, test = (save(os.path.join(folder, part), header, rows) for part, rows in
                     (("fit.csv", train), ("held.csv", held)))
        models = {}
        for how in ("true", "strict"):
            models[how] = os.path.join(folder, f"{how}.npz")
            run([args.quorum, "fit", fit, "-o", models[how], "--threads", "1", "--json", "-q",
                 f"--calibrate={how}"])
        raw = predict(args.quorum, models["true"], test, "--calibration", "off")
        found = [("uncalibrated", {"scale": 1.0, **gaussian(y, y_train, raw["mean"], raw["std"]),
                                   **intervals(y, [raw[f"q{p}"] for p in ENDS])}),
                 ("one factor", one_factor(y, y_train, raw, models["true"])),
                 ("calibrated", calibrated(args, models["true"], test, y)),
                 ("symmetric", calibrated(args, models["true"], test, y, "--interval-shape",
                                          "symmetric")),
                 ("strict", calibrated(args, models["strict"], test, y))]
    for label, values in found:
        yield {"set": name, "prediction": label, "rows": len(train), "held": len(held),
               **{key: f"{value:.6g}" for key, value in values.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+",
                        default=["protein", "sarcos_noleak", "diamonds", "kin40k_10k30k"])
    parser.add_argument("--rows", type=int, default=6000, help="to fit to")
    parser.add_argument("--held", type=int, default=2000, help="to score on")
    parser.add_argument("--seed", type=int, default=1, help="of the split")
    parser.add_argument("--out", default=os.path.join(RESULTS, "calibration.csv"))
    args = parser.parse_args()
    command = (f"bench/calibration.py --sets {' '.join(args.sets)} --rows {args.rows} --held {args.held} "
               f"--seed {args.seed} --data DIR")
    write_csv(args.out, command, args.quorum, FIELDS,
              (row for name in args.sets for row in measure(args, name)))
    print(args.out)


if __name__ == "__main__":
    main()
