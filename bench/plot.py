#!/usr/bin/env python3
"""Draws the suite's CSV as one SVG: shares of the limits by stage, and slopes over sizes.

    bench/plot.py FILE.csv -o FILE.svg
"""
import argparse
import os

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from common import RESULTS, read_csv

COLOURS = {"DGEMM": "#4472a8", "exp": "#d08a3c", "memory": "#5a9a68", "fread": "#8a6bae"}
GREY = "#666666"


def label(row):
    parts = [row["what"]]
    if row["size"] and row["stage"] != "roofline" or row["what"].startswith("D"):
        parts.append(f"{int(row['size']):,}" if row["size"].isdigit() else row["size"])
    if int(row["D"] or 0):
        parts.append(f"D={row['D']}")
    return "  ".join(parts)


def shares(rows):
    """One bar for each series at its largest size; the limits themselves are left out."""
    last = {}
    for row in rows:
        if row["kind"] == "rate" and row["share"] and not row["what"].endswith("alone"):
            last[row["stage"], row["what"], row["D"], row["threads"]] = row
    return list(last.values())


def draw_shares(axes, rows):
    height, ticks, stage = 0.0, [], None
    for row in rows:
        if row["stage"] != stage:
            stage = row["stage"]
            height += 1.3
            axes.text(0, height - 0.15, stage, fontweight="bold", fontsize=8, va="center")
            height += 0.9
        share = 100 * float(row["share"])
        axes.barh(height, min(share, 110), 0.72, color=COLOURS[row["limit"]])
        axes.text(min(share, 110) + 1, height, f"{share:.0f} %" if share >= 1 else f"{share:.1g} %",
                  va="center", fontsize=7)
        ticks.append((height, label(row)))
        height += 1.0
    axes.set_yticks([h for h, _ in ticks], [t for _, t in ticks], fontsize=7)
    axes.set_ylim(height, 0)
    axes.set_xlim(0, 120)
    axes.set_xlabel("share of the limit in %")
    axes.set_title("Share of what limits each stage, largest size", fontsize=10, loc="left")
    handles = [plt.Rectangle((0, 0), 1, 1, color=c) for c in COLOURS.values()]
    axes.legend(handles, COLOURS, fontsize=7, title="limit", title_fontsize=7, loc="lower right")


def draw_slopes(axes, rows):
    rows = [row for row in rows if row["kind"] == "slope"]
    for height, row in enumerate(rows):
        measured, expected = float(row["rate"]), float(row["target"])
        axes.plot([measured, expected], [height, height], color="#cccccc", zorder=1)
        axes.plot(expected, height, "|", color=GREY, markersize=11, zorder=2)
        axes.plot(measured, height, "o", color="#b0413e", markersize=5, zorder=3)
        axes.text(3.35, height, f"{measured:.2f}", fontsize=7, va="center")
    axes.set_yticks(range(len(rows)), [f"{r['stage']}: {r['what']}" +
                                       (f"  D={r['D']}" if int(r["D"] or 0) else "") for r in rows],
                    fontsize=7)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(-0.1, 3.3)
    axes.set_xlabel("slope of log seconds over log size; bar: expected")
    axes.set_title("Growth over sizes", fontsize=10, loc="left")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", nargs="?", default=os.path.join(RESULTS, "suite.csv"))
    parser.add_argument("-o", "--out", help="default: beside the CSV")
    args = parser.parse_args()
    rows = read_csv(args.csv)
    bars = shares(rows)
    plt.rcParams["svg.hashsalt"] = "quorum"
    figure, (left, right) = plt.subplots(1, 2, figsize=(14, max(4, 0.19 * len(bars) + 2.5)))
    draw_shares(left, bars)
    draw_slopes(right, rows)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", color="#eeeeee")
        axes.set_axisbelow(True)
    figure.tight_layout()
    out = args.out or os.path.splitext(args.csv)[0] + ".svg"
    figure.savefig(out, metadata={"Date": None})
    print(out)


if __name__ == "__main__":
    main()
