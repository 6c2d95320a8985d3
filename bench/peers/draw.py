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
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from common import read_csv  # noqa: E402

LOOKS = {"quorum": ("#b0413e", "o"), "NumPy NN-GP": ("#4472a8", "s"),
         "scikit-learn GP": ("#5a9a68", "^"), "gradient boosting": ("#c08a2e", "v"), "R laGP": ("#8a6bae", "D")}
SCORES = [("smse", "SMSE"), ("msll", "MSLL")]


def plain(value, _):
    return f"{value:g}"


def panel(axes, rows, score):
    for method, (colour, mark) in LOOKS.items():
        points = sorted((float(r["fit_seconds"]) + float(r["predict_seconds"]), float(r[score]),
                         r["setting"]) for r in rows if r["method"] == method)
        if not points:
            continue
        axes.plot([p[0] for p in points], [p[1] for p in points], mark, color=colour, markersize=6,
                  alpha=0.85, label=method)
        # quorum's labels stand left of its points, one above the other, the others' to the right
        left = method == "quorum"
        for place, (seconds, value, setting) in enumerate(sorted(points, key=lambda p: p[1])):
            axes.annotate(setting, (seconds, value), xytext=(-8 if left else 6, 11 * place - 10),
                          ha="right" if left else "left", textcoords="offset points", fontsize=6.5,
                          color=colour)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.xaxis.set_minor_formatter(NullFormatter())
    if score == "smse":
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(plain))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.6, y=0.2)
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
    grid[0][0].legend(fontsize=7, loc="center right")
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
