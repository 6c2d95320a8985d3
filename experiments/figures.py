"""Pictures: plots by gnuplot, graphs by Graphviz.  All can be told apart in grey."""
import os
import subprocess
from dataclasses import dataclass, field

# colour, dash type and point type of each line
STYLES = {
    "NPAE": ("#111111", 1, 7), "NPAE*(0.8)": ("#0b5fa5", 2, 5), "NPAE*(0.5)": ("#5aa9e6", 4, 9),
    "GPoE": ("#7f7f7f", 1, 4), "RBCM": ("#c0392b", 2, 6), "GRBCM": ("#d68910", 4, 12),
    "exact GP": ("#000000", 3, 1), "most important": ("#0b5fa5", 1, 7),
    "least important": ("#c0392b", 2, 4), "own: 4 experts a query": ("#1e8449", 5, 13),
}
FONT = "Helvetica,13"


@dataclass
class Panel:
    title: str
    xlabel: str
    ylabel: str
    series: list             # (label, [(x, y, spread), ...])
    logx: bool = False
    logy: bool = False
    settings: tuple = field(default_factory=tuple)  # further gnuplot lines


def gnuplot(path, width, height, lines):
    head = [f"set terminal svg size {width},{height} dynamic noenhanced font '{FONT}' "
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


def key_panel(labels):
    """A panel that holds nothing but the legend."""
    plots = ", ".join(f"NaN with linespoints {style(label)} title '{label}'" for label in labels)
    return ["unset title; unset xlabel; unset ylabel; unset border; unset tics; unset logscale",
            "unset grid; set xrange [0:1]; set yrange [0:1]",
            "set key at graph 0.5,0.5 center center vertical samplen 4 spacing 1.4 reverse Left",
            f"plot {plots}"]


def lines(path, panels, columns=None):
    """Panels of lines with error bars, and one legend for all of them beside the last."""
    labels = list(dict.fromkeys(label for p in panels for label, _ in p.series))
    columns = columns or len(panels) + 1
    rows = -(-(len(panels) + 1) // columns)
    script = ["set grid lc rgb '#dddddd' lt 1", "set border lc rgb '#555555'",
              f"set multiplot layout {rows},{columns}", "unset key"]
    for i, p in enumerate(panels):
        for j, (_, points) in enumerate(p.series):
            script += block(f"d{i}x{j}", points)
        script += [f"set title '{p.title}'", f"set xlabel '{p.xlabel}'", f"set ylabel '{p.ylabel}'",
                   f"{'set' if p.logx else 'unset'} logscale x",
                   f"{'set' if p.logy else 'unset'} logscale y", *p.settings]
        drawn = ", ".join(f"$d{i}x{j} with yerrorlines {style(label)}"
                          for j, (label, _) in enumerate(p.series))
        script.append(f"plot {drawn}")
    gnuplot(path, 290 * columns, 300 * rows, script + key_panel(labels) + ["unset multiplot"])


def bars(path, panels, ylabel):
    """Panels (title, categories, {label: [(value, spread), ...]}) of grouped bars."""
    script = ["set style data histograms", "set style histogram errorbars gap 1.5 lw 1.5",
              "set grid y lc rgb '#dddddd' lt 1", "set border lc rgb '#555555'",
              "set xtics rotate by 35 right nomirror", f"set ylabel '{ylabel}'",
              "set key above horizontal", "set bars small",
              f"set multiplot layout 1,{len(panels)}"]
    fills = ("fc rgb '#34495e' fs solid 1.0 border lc rgb '#111111'",
             "fc rgb '#a9cce3' fs pattern 5 border lc rgb '#111111'")
    for i, (title, categories, groups) in enumerate(panels):
        rows = [" ".join([f'"{c}"'] + [f"{v[k]:.6g}" for v in (g[n] for g in groups.values())
                                       for k in (0, 1)]) for n, c in enumerate(categories)]
        script += [f"$d{i} << EOD", *rows, "EOD", f"set title '{title}'", "set yrange [0:*]"]
        plots = ", ".join(f"$d{i} using {2 * k + 2}:{2 * k + 3}:xtic(1) title '{label}' {fills[k]}"
                          for k, label in enumerate(groups))
        script.append(f"plot {plots}")
    gnuplot(path, 460 * len(panels), 360, script + ["unset multiplot"])


def bands(path, panels, exact, points):
    """Panels (title, [(x, mean, lower, upper)]) of intervals against those of the exact GP."""
    script = ["set border lc rgb '#555555'", "set xrange [-0.2:1.2]", "set yrange [-6:14]",
              "set xlabel 'x'", "set ylabel 'y'", "unset key",
              "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#999999' dt 3",
              "set arrow 2 from 1, graph 0 to 1, graph 1 nohead lc rgb '#999999' dt 3",
              *block("exact", exact), *block("points", points),
              "set multiplot layout 3,3"]
    drawn = [("using 1:3:4 with filledcurves fc rgb '#9ecae1' fs solid 0.8 noborder",
              "99 % interval of the method"),
             ("using 1:2 with lines lc rgb '#08306b' lw 2.5", "its mean")]
    common = [("$points using 1:2 with dots lc rgb '#333333'", "test points"),
              ("$exact using 1:3 with lines lc rgb '#c0392b' dt 2 lw 1.5",
               "99 % interval of the exact GP"),
              ("$exact using 1:4 with lines lc rgb '#c0392b' dt 2 lw 1.5", ""),
              ("$exact using 1:2 with lines lc rgb '#c0392b' dt 1 lw 1", "mean of the exact GP")]
    for i, (title, rows) in enumerate(panels):
        script += block(f"d{i}", rows) + [f"set title '{title}'"]
        script.append("plot " + ", ".join([f"$d{i} {what}" for what, _ in drawn] +
                                          [what for what, _ in common]))
    script += ["unset title; unset xlabel; unset ylabel; unset border; unset tics; unset arrow",
               "set multiplot next", "set key at graph 0.5,0.5 center center samplen 4 spacing 1.5",
               "plot " + ", ".join([f"$d0 {what} title '{label}'" for what, label in drawn] +
                                   [f"{what} title '{label}'" for what, label in common if label])]
    gnuplot(path, 1080, 900, script + ["unset multiplot"])


def expert_graph(path, graph, selected, best):
    """The graph of one model: selected experts are dark, the best on their own double-ringed."""
    largest = max((abs(e["precision"]) for e in graph["edges"]), default=1.0)
    top = max((n["importance"] for n in graph["nodes"]), default=1.0) or 1.0
    dot = ["graph g {", "layout=neato; overlap=false; splines=false; outputorder=edgesfirst;",
           "start=1; pad=0.1; bgcolor=\"#ffffff\"; size=\"4,4\"; ratio=0.8;",
           "node [shape=circle, style=filled, fixedsize=true, fontname=Helvetica];",
           "edge [color=\"#55555599\"];"]
    for n in sorted(graph["nodes"], key=lambda n: n["expert"]):
        i = n["expert"]
        width = 0.34 + 0.5 * (max(n["importance"], 0.0) / top)**0.5
        fill, text = ("#b03a2e", "#ffffff") if i in selected else ("#ffffff", "#222222")
        ring = "color=\"#145a32\", penwidth=2.5, peripheries=2" if i in best else \
            "color=\"#444444\", penwidth=1, peripheries=1"
        dot.append(f"{i} [width={width:.3f}, fontsize=13, fillcolor=\"{fill}\", "
                   f"fontcolor=\"{text}\", {ring}];")
    for e in graph["edges"]:
        share = abs(e["precision"]) / largest
        dot.append(f"{e['from']} -- {e['to']} [penwidth={0.3 + 3.5 * share:.2f}, "
                   f"len={2.0 - 0.8 * share**0.5:.3f}];")
    done = subprocess.run(["dot", "-Tsvg"], input="\n".join(dot + ["}"]), text=True,
                          capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"quorum reproduce: Graphviz could not draw {path}:\n{done.stderr}")
    with open(path, "w") as file:
        file.write(done.stdout)
