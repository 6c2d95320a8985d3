"""Pictures: plots by gnuplot, graphs by Graphviz.  All can be told apart in grey."""
import os
import re
import subprocess
from dataclasses import dataclass

# colour, dash type and point type of each line
STYLES = {
    "NPAE": ("#111111", 1, 7), "NPAE*(0.8)": ("#0b5fa5", 2, 5), "NPAE*(0.5)": ("#5aa9e6", 4, 9),
    "GPoE": ("#7f7f7f", 1, 4), "RBCM": ("#c0392b", 2, 6), "GRBCM": ("#d68910", 4, 12),
    "exact GP": ("#000000", 3, 1), "most important": ("#0b5fa5", 1, 7),
    "least important": ("#c0392b", 2, 4), "NPAE*(0.2)": ("#8e44ad", 5, 11),
    "GRBCM*(0.8)": ("#0b5fa5", 2, 5), "GRBCM*(0.5)": ("#5aa9e6", 4, 9),
    "nearest rows": ("#111111", 1, 7), "cells": ("#7f7f7f", 3, 4),
    "local experts": ("#0b5fa5", 2, 5), "graph:0.5": ("#c0392b", 4, 9),
    "NPAE on all": ("#d68910", 5, 12), "K-means parts": ("#0b5fa5", 1, 7),
    "random parts": ("#c0392b", 1, 8),
}
FONT = "Helvetica,13"


@dataclass
class Panel:
    title: str
    xlabel: str
    series: list             # (label, [(x, y, spread), ...])
    logx: bool = False
    logy: bool = False
    xtics: str = "autofreq"
    xrange: tuple = None     # the domain, where it ends: shares end at 1
    floor: float = None      # of y: errors and seconds are not negative
    ceiling: float = None    # of y: coverage ends at 1


def gnuplot(path, width, height, lines):
    head = [f"set terminal svg size {width},{height} noenhanced font '{FONT}' "
            "background '#ffffff'", f"set output '{os.path.basename(path)}'"]
    done = subprocess.run(["gnuplot"], input="\n".join(head + lines) + "\n", text=True,
                          capture_output=True, cwd=os.path.dirname(path) or ".")
    if done.returncode != 0 or "error" in done.stderr.lower():
        raise SystemExit(f"quorum reproduce: gnuplot could not draw {path}:\n{done.stderr}")


def block(name, rows):
    return [f"${name} << EOD", *(" ".join(f"{v:.6g}" for v in row) for row in rows), "EOD"]


def style(label):
    colour, dash, point = STYLES[label]
    return f"lc rgb '{colour}' dt {dash} lw 2 pt {point} ps 0.7"


def line(data, label):
    """A line with points, and thin error bars behind it (points of size 0 are refused by some
    viewers)."""
    return (f"{data} using 1:2:3:4 with yerrorbars lc rgb '{STYLES[label][0]}' dt 1 lw 0.7 "
            f"ps 0.01, {data} using 1:2 with linespoints {style(label)}")


def dodged(panel):
    """The lines' points (x, y, low, high): each line a little beside the others, so that bars do not
    hide each other, and no bar leaves the domain."""
    xs = [x for _, points in panel.series for x, *_ in points]
    low, high = min(xs), max(xs)
    for k, (_, points) in enumerate(panel.series):
        share = 0.012 * (k - (len(panel.series) - 1) / 2)
        rows = []
        for x, y, spread in points:
            x = x * (high / low)**share if panel.logx else x + share * (high - low)
            least = y / 10 if panel.logy else panel.floor
            bottom = y - spread if least is None else max(y - spread, min(least, y))
            rows.append((x, y, bottom, y + spread))
        yield rows


def ranges(panel):
    """The axes: as wide as the points, not beyond the domain."""
    x = "*:*" if panel.xrange is None else f"{panel.xrange[0]}:{panel.xrange[1]}"
    ends = ["*" if v is None or panel.logy else v for v in (panel.floor, panel.ceiling)]
    y = f"{ends[0]}:{ends[1]}"
    margin = 0 if panel.xrange else 0.04
    below, above = (0 if v is not None else 0.04 for v in (panel.floor, panel.ceiling))
    return [f"set xrange [{x}]", f"set yrange [{y}]", f"set offsets graph {margin}, graph {margin}, "
            + ("0, 0" if panel.logy else f"graph {above}, graph {below}")]


class Sheet:
    """Panels in rows, and below them one legend for all."""

    def __init__(self, columns, rows, panel=(300, 250), legend=40):
        self.columns, self.panel = columns, panel
        self.width, self.height = columns * panel[0], rows * panel[1] + legend
        self.legend = legend / self.height
        self.script = ["set border lc rgb '#555555'", "set tmargin 2", "set multiplot", "unset key"]

    def place(self, i):
        """The i-th panel comes next."""
        x = (i % self.columns) * self.panel[0] / self.width
        y = 1 - (i // self.columns + 1) * self.panel[1] / self.height
        return [f"set origin {x:.4f},{y:.4f}",
                f"set size {self.panel[0] / self.width:.4f},{self.panel[1] / self.height:.4f}"]

    def write(self, path, entries):
        """entries: what each line of the legend looks like, and its title."""
        plots = ", ".join(f"NaN {look} title '{title}'" for look, title in entries)
        gnuplot(path, self.width, self.height, self.script + [
            "unset title; unset xlabel; unset ylabel; unset border; unset tics; unset logscale",
            "unset grid; unset arrow; unset offsets; set xrange [0:1]; set yrange [0:1]",
            f"set origin 0,0; set size 1,{self.legend:.4f}; set margins 0,0,0,0",
            "set key at screen 0.5,%.4f center center horizontal samplen 3 maxrows 2"
            % (self.legend / 2), f"plot {plots}", "unset multiplot"])


def lines(path, panels, columns=None):
    """Panels of lines with error bars."""
    labels = list(dict.fromkeys(label for p in panels for label, _ in p.series))
    columns = columns or len(panels)
    sheet = Sheet(columns, -(-len(panels) // columns))
    sheet.script += ["set grid lc rgb '#dddddd' lt 1", "set format y '%g'"]
    for i, p in enumerate(panels):
        for j, points in enumerate(dodged(p)):
            sheet.script += block(f"d{i}x{j}", points)
        sheet.script += [*sheet.place(i), f"set title '{p.title}'", f"set xlabel '{p.xlabel}'",
                         f"set xtics {p.xtics}", f"{'set' if p.logx else 'unset'} logscale x",
                         f"{'set' if p.logy else 'unset'} logscale y",
                         *ranges(p),
                         "plot " + ", ".join(line(f"$d{i}x{j}", label)
                                             for j, (label, _) in enumerate(p.series))]
    sheet.write(path, [(f"with linespoints {style(label)}", label) for label in labels])


@dataclass
class Cloud:
    title: str
    xlabel: str
    ylabel: str
    series: list             # (label, small points [(x, y), ...], large points)
    question: str            # what the guides answer: see GUIDES


# What to read a cloud of ratios by: lines, and words where it is good to be.
GUIDES = {
    "paying": ["set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc rgb '#555555' dt 3",
               "set arrow 2 from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#555555' dt 3",
               "set ytics (0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 2, 3, 5, 10)",
               "set label 1 'faster' at graph 0.03, 0.95 tc rgb '#555555'",
               "set label 2 'slower' at graph 0.97, 0.95 right tc rgb '#555555'"],
    "ranking": ["set arrow 2 from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#555555' dt 3",
                "set ytics (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)", "unset arrow 1", "set label 1 'ranking upside down' at graph 0.03, 0.95 "
                "tc rgb '#555555'", "set label 2 'ranking right' at graph 0.97, 0.12 right "
                "tc rgb '#555555'"],
}


def clouds(path, panels):
    """Panels of points on logarithmic axes, both of which are ratios."""
    sheet = Sheet(len(panels), 1, (430, 380))
    sheet.script += ["set grid lc rgb '#dddddd' lt 1", "set format xy '%g'", "set logscale xy"]
    for i, p in enumerate(panels):
        drawn = ["x with lines lc rgb '#555555' dt 3 lw 1"] if p.question == "ranking" else []
        for j, (label, *sizes) in enumerate(p.series):
            for size, points in zip((0.7, 1.5), sizes):
                if points:
                    sheet.script += block(f"d{i}x{j}x{size:g}".replace(".", "_"), points)
                    drawn.append(f"$d{i}x{j}x{size:g}".replace(".", "_") +
                                 f" using 1:2 with points {spot(label, size)}")
        x, y = ([point[k] for _, *sizes in p.series for points in sizes for point in points]
                for k in (0, 1))
        sheet.script += [*sheet.place(i), f"set title '{p.title}'", f"set xlabel '{p.xlabel}'",
                         f"set ylabel '{p.ylabel}'", *GUIDES[p.question],
                         f"set xrange {around(x)}", f"set yrange {around(y)}",
                         "plot " + ", ".join(drawn)]
    sheet.script += ["unset label"]
    labels = [label for p in panels for label, *_ in p.series]
    sheet.write(path, [(f"with points {spot(label, 1)}", label) for label in labels])


def around(numbers):
    """A logarithmic axis for these ratios, with 1 on it and a margin of a tenth."""
    low, high = min(1, *numbers), max(1, *numbers)
    margin = max(1.01, (high / low)**0.1)
    return f"[{low / margin:.4g}:{high * margin:.4g}]"


def spot(label, size):
    colour, _, point = STYLES[label]
    return f"lc rgb '{colour}' pt {point} lw 1.5 ps {size}"


def bars(path, panels, ylabel):
    """Panels (title, categories, {label: [(value, spread), ...]}) of grouped bars."""
    looks = ("lc rgb '#2e4a66' fs solid 1.0 border rgb '#111111'",
             "lc rgb '#5d8aa8' fs pattern 2 border rgb '#111111'")
    sheet = Sheet(len(panels), 1, (450, 330))
    sheet.script += ["set style data histograms", "set style histogram errorbars gap 1.5 lw 1.5",
                     "set grid y lc rgb '#dddddd' lt 1", "set xtics rotate by 35 right nomirror",
                     f"set ylabel '{ylabel}'"]
    for i, (title, categories, groups) in enumerate(panels):
        rows = [" ".join([f'"{c}"'] + [f"{number:.6g}" for g in groups.values() for number in g[n]])
                for n, c in enumerate(categories)]
        drawn = [f"$d{i} using {2 * k + 2}:{2 * k + 3}:xtic(1) {looks[k]}"
                 for k in range(len(groups))]
        top = max(value + spread for g in groups.values() for value, spread in g)
        sheet.script += [f"$d{i} << EOD", *rows, "EOD", *sheet.place(i), f"set title '{title}'",
                         f"set yrange [0:{1.05 * top:.3g}]",
                         "plot " + ", ".join(drawn)]
    sheet.write(path, [(f"with boxes {look}", label) for look, label in zip(looks, panels[0][2])])


def bands(path, panels, exact, points):
    """Panels (title, [(x, mean, lower, upper)]) of intervals against those of the exact GP."""
    look = {"99 % interval of the method": "filledcurves fc rgb '#9ecae1' fs solid 0.8 noborder",
            "its mean": "lines lc rgb '#08306b' lw 2.5",
            "99 % interval of the exact GP": "lines lc rgb '#c0392b' dt 2 lw 1.5",
            "mean of the exact GP": "lines lc rgb '#c0392b' dt 1 lw 1",
            "test points": "points lc rgb '#444444' pt 7 ps 0.18"}
    names = list(look)
    sheet = Sheet(3, 2, (340, 280))
    sheet.script += ["set xrange [-0.2:1.2]", "set yrange [-8:10]", "set xlabel 'x'",
                     *(f"set arrow from {x}, graph 0 to {x}, graph 1 nohead lc rgb '#777777' dt 3"
                       for x in (0, 1)), *block("exact", exact), *block("points", points)]
    for i, (title, rows) in enumerate(panels):
        drawn = [f"$d{i} using 1:3:4 with {look[names[0]]}",
                 f"$points using 1:2 with {look[names[4]]}",
                 f"$d{i} using 1:2 with {look[names[1]]}",
                 f"$exact using 1:3 with {look[names[2]]}",
                 f"$exact using 1:4 with {look[names[2]]}",
                 f"$exact using 1:2 with {look[names[3]]}"]
        sheet.script += [*block(f"d{i}", rows), *sheet.place(i), f"set title '{title}'",
                         "plot " + ", ".join(drawn)]
    shown = {**look, names[4]: look[names[4]].replace("0.18", "0.5")}
    sheet.write(path, [(f"with {text}", name) for name, text in shown.items()])


def clusters(graph):
    """The experts, those next to each other that depend on each other: the order of the leaves when
    the two groups with the largest mean dependence are joined, again and again."""
    names = sorted(n["expert"] for n in graph["nodes"])
    weight = {(a, b): 0.0 for a in names for b in names}
    for e in graph["edges"]:
        weight[e["from"], e["to"]] = weight[e["to"], e["from"]] = abs(e["precision"])

    def mean(a, b):
        return sum(weight[i, j] for i in a for j in b) / (len(a) * len(b))
    groups = [[name] for name in names]
    while len(groups) > 1:
        pairs = [(mean(groups[a], groups[b]), -a, -b) for a in range(len(groups))
                 for b in range(a + 1, len(groups))]
        _, a, b = max(pairs)
        joined = groups[-a] + groups[-b]
        groups = [g for k, g in enumerate(groups) if k not in (-a, -b)] + [joined]
    return groups[0], weight


def precision_map(path, graph):
    """|precision| of every pair of experts as squares, experts ordered by cluster."""
    order, weight = clusters(graph)
    largest = max(weight.values(), default=0.0) or 1.0
    cell, left, top = 16, 26, 22
    size = cell * len(order)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + size + 8} '
           f'{top + size + 34}" font-family="Helvetica, sans-serif" font-size="9">',
           f'<rect width="{left + size + 8}" height="{top + size + 34}" fill="#ffffff"/>']
    for i, a in enumerate(order):
        middle = cell * (i + 0.5)
        out.append(f'<text x="{left - 4}" y="{top + middle + 3}" text-anchor="end">{a}</text>'
                   f'<text x="{left + middle}" y="{top - 5}" text-anchor="middle">{a}</text>')
        for j, b in enumerate(order):
            share = (weight[a, b] / largest)**0.5
            shade = "#dddddd" if a == b else "#%02x%02x%02x" % tuple(
                round(255 - share * (255 - c)) for c in (11, 63, 122))
            out.append(f'<rect x="{left + cell * j}" y="{top + cell * i}" width="{cell - 1}" '
                       f'height="{cell - 1}" fill="{shade}"/>')
    out.append(f'<text x="{left}" y="{top + size + 18}">white: 0, dark: {largest:.3g}</text></svg>')
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n")


def expert_graph(path, graph, selected, best):
    """The graph of one model: selected experts are dark, the best on their own double-ringed.  Of
    many edges the strongest are drawn, two for each expert on average."""
    strongest = sorted(graph["edges"], key=lambda e: -abs(e["precision"]))
    graph = {**graph, "edges": strongest[:2 * len(graph["nodes"])]}
    largest = max((abs(e["precision"]) for e in graph["edges"]), default=1.0)
    top = max((n["importance"] for n in graph["nodes"]), default=1.0) or 1.0
    dot = ["graph g {", "layout=neato; overlap=false; splines=false; outputorder=edgesfirst;",
           "start=1; pad=0.2; bgcolor=\"#ffffff\"; ratio=0.8;",
           "node [shape=circle, style=filled, fixedsize=true, fontname=Helvetica];",
           "edge [color=\"#55555599\"];"]
    for n in sorted(graph["nodes"], key=lambda n: n["expert"]):
        i = n["expert"]
        width = 0.8 + 0.8 * (max(n["importance"], 0.0) / top)**0.5
        fill, text = ("#b03a2e", "#ffffff") if i in selected else ("#ffffff", "#222222")
        ring = "color=\"#145a32\", penwidth=3, peripheries=2" if i in best else \
            "color=\"#444444\", penwidth=2, peripheries=1"
        dot.append(f"{i} [width={width:.3f}, fontsize=34, fillcolor=\"{fill}\", "
                   f"fontcolor=\"{text}\", {ring}];")
    for e in graph["edges"]:
        share = abs(e["precision"]) / largest
        dot.append(f"{e['from']} -- {e['to']} [penwidth={1 + 8 * share:.2f}, "
                   f"len={2.8 - share**0.5:.3f}];")
    done = subprocess.run(["dot", "-Tsvg"], input="\n".join(dot + ["}"]), text=True,
                          capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"quorum reproduce: Graphviz could not draw {path}:\n{done.stderr}")
    with open(path, "w") as file:
        file.write(as_wide(done.stdout, 288))


def as_wide(svg, width):
    """The picture with another width, by its viewBox: Graphviz's own `size` rounds its factor to two
    digits, which leaves nodes beyond the edge."""
    found = re.search(r'<svg width="([\d.]+)pt" height="([\d.]+)pt"', svg)
    height = width * float(found[2]) / float(found[1])
    return svg.replace(found[0], f'<svg width="{width}pt" height="{height:.0f}pt"')
