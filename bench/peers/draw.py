#!/usr/bin/env python3
"""Draws the comparison with peers: accuracy against time, one panel a data set.

    bench/peers/draw.py bench/results/peers.csv -o bench/results/peers.svg
"""
import argparse
import os
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from common import read_csv  # noqa: E402

LOOKS = {"quorum": ("#b0413e", "o"), "NumPy NN-GP": ("#4472a8", "s"),
         "scikit-learn GP": ("#5a9a68", "^"), "R laGP": ("#8a6bae", "D")}
SCORES = [("smse", "SMSE"), ("msll", "MSLL")]


def panel(axes, rows, score):
    for method, (colour, mark) in LOOKS.items():
        points = sorted((float(r["fit_seconds"]) + float(r["predict_seconds"]), float(r[score]),
                         r["setting"]) for r in rows if r["method"] == method)
        if not points:
            continue
        axes.plot([p[0] for p in points], [p[1] for p in points], mark + "-", color=colour,
                  linewidth=0.8, markersize=6, label=method)
        for seconds, value, setting in points:
            axes.annotate(setting, (seconds, value), xytext=(5, 4), textcoords="offset points",
                          fontsize=6.5, color=colour)
    axes.set_xscale("log")
    if score == "smse":
        axes.set_yscale("log")
    axes.margins(x=0.25, y=0.15)
    axes.grid(color="#eeeeee")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def draw(path, out):
    rows = read_csv(path)
    sets = list(dict.fromkeys(row["set"] for row in rows))
    plt.rcParams["svg.hashsalt"] = "quorum"
    figure, grid = plt.subplots(2, len(sets), figsize=(3.9 * len(sets) + 1, 7), squeeze=False)
    for column, name in enumerate(sets):
        for line, (score, title) in enumerate(SCORES):
            axes = grid[line][column]
            panel(axes, [r for r in rows if r["set"] == name], score)
            axes.set_ylabel(f"{title} (lower is better)" if column == 0 else title)
            if line == 0:
                axes.set_title(name, fontsize=10)
            else:
                axes.set_xlabel("seconds to fit and predict all test rows")
    grid[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv")
    parser.add_argument("-o", "--out", required=True)
    args = parser.parse_args()
    draw(args.csv, args.out)


if __name__ == "__main__":
    main()
