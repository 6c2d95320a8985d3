#!/usr/bin/env python3
"""How wide 95 % intervals are at the same coverage: quorum and conformalised gradient boosting.

    bench/intervals.py --data DIR [--quorum build/quorum] [--sets SET ...] [--rows 10000] [--held 4000] [--seeds 1 2 3]

Of the *training* file of each set (DIR/SET/train.csv.gz, header, target last; columns of text are left
out for both) `rows` rows of a seeded shuffle are for fitting and `held` others for scoring; test files
are not read.  Both sides get the same rows:

    quorum            fit --calibrate, defaults otherwise; the interval that predict gives
    boosting          scikit-learn's HistGradientBoostingRegressor(loss="quantile") at 2.5 and 97.5 %
                      with its default settings, conformalised: it sees four fifths of the rows, and of
                      the scores max(low - y, y - high) of the others the ceil((n + 1) 0.95)-th smallest
                      is added on both sides (conformalised quantile regression)
    boosting, tuned   the same with the learning rate, number and size of trees of SETTINGS that have
                      the least interval score, trained on 3/4 and scored on 1/4 of those four fifths

Writes results/intervals.csv: the share of held rows inside, mean width, interval score
(high - low) + 40 (distance outside), quorum's CRPS, and `equal_width`: the mean width when exactly 95 %
of the held rows are inside, quorum's intervals being stretched about their mean and boosting's moved
out or in by a constant, as calibration does for each.
"""
import argparse
import itertools
import os
import tempfile

import numpy as np

from calibration import numbers, predict, save
from common import RESULTS, run, write_csv

FIELDS = ["set", "seed", "way", "rows", "held", "inputs", "coverage95", "width95", "interval_score", "equal_width",
          "crps", "setting"]
LOW, HIGH, INSIDE = 0.025, 0.975, 0.95
DEFAULT = (0.1, 100, 31)
SETTINGS = list(itertools.product((0.05, 0.1), (100, 300), (15, 31)))  # learning rate, trees, leaves


def interval_score(y, low, high):
    """Width, and 2/0.05 times how far outside the target is (Gneiting and Raftery's)."""
    outside = np.maximum(0.0, np.maximum(low - y, y - high))
    return np.mean(high - low + 2 / (1 - INSIDE) * outside)


def scored(y, low, high):
    return {"coverage95": np.mean((y >= low) & (y <= high)), "width95": np.mean(high - low),
            "interval_score": interval_score(y, low, high)}


def conformal_rank(n):
    """Which of n sorted scores makes an interval cover 95 % of new rows at least; the last where n is small."""
    return min(n, int(np.ceil((n + 1) * INSIDE))) - 1


def cover_all_but_a_twentieth(scores):
    """The smallest number that 95 % of the scores are at most."""
    return np.sort(scores)[int(np.ceil(len(scores) * INSIDE)) - 1]


def moved_width(y, low, high):
    """Mean width when low - c and high + c hold 95 % of the targets."""
    return np.mean(high - low) + 2 * cover_all_but_a_twentieth(np.maximum(low - y, y - high))


def stretched_width(y, mean, low, high):
    """Mean width when mean + k (low - mean) and mean + k (high - mean) hold 95 % of the targets."""
    end = np.where(y < mean, mean - low, high - mean)
    return np.mean(high - low) * cover_all_but_a_twentieth(np.abs(y - mean) / np.maximum(end, 1e-300))


# ---- Boosting ----

def quantiles(table, X, setting, seed):
    """Both quantiles at X from boosting on the table; crossing ones change places."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    rate, trees, leaves = setting
    found = [HistGradientBoostingRegressor(loss="quantile", quantile=q, learning_rate=rate, max_iter=trees,
                                           max_leaf_nodes=leaves, early_stopping=False, random_state=seed)
             .fit(table[:, :-1], table[:, -1]).predict(X) for q in (LOW, HIGH)]
    return np.minimum(*found), np.maximum(*found)


def least_score(table, seed):
    """The setting with the least interval score on the last quarter of the table."""
    cut = len(table) * 3 // 4
    tried = {s: interval_score(table[cut:, -1], *quantiles(table[:cut], table[cut:, :-1], s, seed))
             for s in SETTINGS}
    return min(tried, key=tried.get)


def conformalised(train, X, setting, seed):
    """Ends at X: quantiles from the first four fifths, corrected on the last fifth."""
    cut = len(train) * 4 // 5
    setting = setting or least_score(train[:cut], seed)
    both = np.vstack([train[cut:, :-1], X])
    low, high = quantiles(train[:cut], both, setting, seed)
    n = len(train) - cut
    y = train[cut:, -1]
    more = np.sort(np.maximum(low[:n] - y, y - high[:n]))[conformal_rank(n)]
    return low[n:] - more, high[n:] + more, setting


def boosting(train, held, setting, seed):
    low, high, setting = conformalised(train, held[:, :-1], setting, seed)
    y = held[:, -1]
    return {**scored(y, low, high), "equal_width": moved_width(y, low, high),
            "setting": "rate {}, {} trees of {} leaves".format(*setting)}


# ---- Quorum ----

def quorum(command, header, train, held, seed, threads):
    with tempfile.TemporaryDirectory() as folder:
        fit, test = (save(os.path.join(folder, part), header, rows) for part, rows in
                     (("fit.csv", train), ("held.csv", held)))
        model = os.path.join(folder, "model.npz")
        words = ["--threads", str(threads), "-q", "--json"]
        run([command, "fit", fit, "-o", model, "--calibrate", "--seed", str(seed), *words])
        out = predict(command, model, test)
        crps = run([command, "evaluate", model, test, *words])[0]["crps"]
        kernel = run([command, "inspect", model, "--json"])["kernel"]
    y, low, high = held[:, -1], out["lower"], out["upper"]
    return {**scored(y, low, high), "equal_width": stretched_width(y, out["mean"], low, high), "crps": crps,
            "setting": kernel}


def measure(args, name, seed):
    header, table = numbers(args.data, name, seed)
    train, held = table[:args.rows], table[args.rows:args.rows + args.held]
    ways = {"quorum": lambda: quorum(args.quorum, header, train, held, seed, args.threads),
            "boosting": lambda: boosting(train, held, DEFAULT, seed),
            "boosting, tuned": lambda: boosting(train, held, None, seed)}
    for way, work in ways.items():
        yield {"set": name, "seed": seed, "way": way, "rows": len(train), "held": len(held),
               "inputs": table.shape[1] - 1, **work()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+", default=["protein", "sarcos_noleak", "diamonds"])
    parser.add_argument("--rows", type=int, default=10000, help="to fit to")
    parser.add_argument("--held", type=int, default=4000, help="to score on")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of the split and the fit")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(RESULTS, "intervals.csv"))
    args = parser.parse_args()
    command = (f"bench/intervals.py --sets {' '.join(args.sets)} --rows {args.rows} --held {args.held} "
               f"--seeds {' '.join(map(str, args.seeds))} --data DIR")
    write_csv(args.out, command, args.quorum, FIELDS,
              (row for seed in args.seeds for name in args.sets for row in measure(args, name, seed)))
    print(args.out)


if __name__ == "__main__":
    main()
