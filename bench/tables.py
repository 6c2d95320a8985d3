#!/usr/bin/env python3
"""Puts the committed figures into the documentation.

    bench/tables.py [--check] [PAGE ...]

Between `<!-- table: NAME -->` and `<!-- end -->` stands a table made from bench/results, of the
campaigns from tests/campaign/results, or of the doors from tests/install/record.csv; this writes it
anew, so that text and CSV cannot disagree.
"""
import argparse
import os
import re
import sys

from common import HERE, RESULTS, read_csv
from uci import PUBLISHED, same_masks

PAGES = [os.path.join(os.path.dirname(HERE), page)
         for page in ("docs/performance.md", "docs/training.md", "docs/methods.md", "docs/accuracy.md",
                      "docs/reliability.md", "docs/install.md", "docs/updating.md", "docs/serving.md",
                      "docs/scaling.md", "README.md")]
CAMPAIGNS = os.path.join(os.path.dirname(HERE), "tests", "campaign", "results")
DOORS = os.path.join(os.path.dirname(HERE), "tests", "install")


def rows_of(name, **wanted):
    rows = read_csv(os.path.join(RESULTS, name + ".csv"))
    return [r for r in rows if all(r[key] == value for key, value in wanted.items())]


def heads(name):
    """The comment lines on top of a CSV, by their first word."""
    with open(os.path.join(RESULTS, name + ".csv")) as file:
        lines = [line[2:].strip() for line in file if line.startswith("# ")]
    return [tuple(line.split(": ", 1)) for line in lines]


def source(name):
    """Where a table comes from, as a line below it."""
    known = dict(heads(name))
    link = f"[{name}.csv](../bench/results/{name}.csv)"
    text = (f"{link}: `{known['command']}`; {known['machine']}, {known['kernels']} kernels, "
            f"commit {known['commit']}, {known['date']}.")
    return " ".join([text, *(note[0].upper() + note[1:] + "." for note in notes(name))])


def notes(name):
    return [value for key, value in heads(name) if key == "note"]


def table(header, lines):
    lines = [[str(cell) for cell in line] for line in lines]
    return "\n".join(["| " + " | ".join(header) + " |", "|" + "---|" * len(header)] +
                     ["| " + " | ".join(line) + " |" for line in lines])


def percent(share):
    value = 100 * float(share)
    return f"{value:.0f} %" if value >= 1 else f"{value:.1g} %"


def number(text, digits=3):
    return f"{float(text):.{digits}g}" if text else ""


def short(text):
    """A number without an exponent where that is readable."""
    value = float(text)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


# ---- The suite ----

def limits():
    lines = {}
    for r in rows_of("suite", stage="roofline", kind="rate"):
        if r["what"].endswith(" alone"):
            lines.setdefault((r["what"][:-6], r["unit"]), {})[r["threads"]] = number(r["rate"])
    return table(["limit", "1 thread", "2 threads", "unit"],
                 [[what, by.get("1", ""), by.get("2", ""), unit]
                  for (what, unit), by in lines.items()])


def by_size(stage, columns):
    """Shares: one line a size, one column for each (title, what, D)."""
    rows = rows_of("suite", stage=stage, kind="rate")
    sizes = list(dict.fromkeys(int(r["size"]) for r in rows if r["what"] == columns[0][1]))
    lines = []
    for size in sorted(sizes):
        line = [size]
        for _, what, D in columns:
            hit = [r for r in rows if (r["what"], r["D"], r["size"]) == (what, D, str(size))]
            line.append(percent(hit[0]["share"]) if hit else "")
        lines.append(line)
    return table(["m", *(title for title, _, _ in columns)], lines)


def lapack():
    return by_size("roofline", [(name, name, "0") for name in ("DPOTRF", "DPOTRI", "DSYRK")])


def by_inputs(stage, what):
    return by_size(stage, [("SE, D = 9", f"{what}, se", "9"), ("SE, D = 90", f"{what}, se", "90"),
                           ("Matern-3/2, D = 9", f"{what}, matern32", "9")])


def lines_of(*stages):
    rows = [r for stage in stages for r in rows_of("suite", stage=stage, kind="rate")]
    return table(["what", "size", "D", "seconds", "rate", "limit", "share"],
                 [[r["what"], f"{int(r['size']):,}", r["D"] if r["D"] != "0" else "", number(r["seconds"]),
                   f"{number(r['rate'])} {r['unit']}" if r["rate"] else "",
                   f"{number(r['limit_rate'])} ({r['limit']})" if r["limit"] else "",
                   percent(r["share"]) if r["share"] else ""] for r in rows])


def kernels():
    """Shares of exp at the largest size: one line a kernel, one column for each D."""
    rows = [r for r in rows_of("suite", stage="kernel", kind="rate") if "slopes" in r["what"]]
    most = max(int(r["size"]) for r in rows)
    rows = [r for r in rows if int(r["size"]) == most]
    inputs = sorted({int(r["D"]) for r in rows})
    names = list(dict.fromkeys(r["what"] for r in rows))
    share = {(r["what"], int(r["D"])): percent(r["share"]) for r in rows}
    return table([f"{most:,} rows", *(f"D = {D}" for D in inputs)],
                 [[name, *(share[name, D] for D in inputs)] for name in names])


def flushing():
    ratio = next(r["rate"] for r in rows_of("suite", stage="kernel", kind="claim")
                 if "not flushed" in r["what"])
    return (f"A product of subnormal terms takes {number(ratio)} times as long when they are not "
            "flushed.")


def claims(*stages):
    rows = {r["what"]: r for r in rows_of("suite", kind="claim")
            if r["target"] and r["stage"] in stages}.values()
    return table(["claim", "measured", "target", ""],
                 [[r["what"], number(r["rate"]), r["target"].replace("<=", "at most ").replace(
                     ">=", "at least "), "reached" if reached(r) else "**missed**"] for r in rows])


def reached(r):
    value, target = float(r["rate"]), float(r["target"][2:])
    return value <= target if r["target"].startswith("<=") else value >= target


def latency():
    found = {}
    for r in rows_of("suite", stage="latency", kind="claim"):
        way, n = re.match(r"one query of (.*), n = (\d+):", r["what"]).groups()
        cell = found.setdefault((way, int(n)), {})
        median = re.search(r"p50 ([\d.e+-]+)\)", r["what"])
        if median:
            cell["p50"], cell["p99"] = median.group(1), r["rate"]
        else:
            cell["first" if "first call" in r["what"] else "allocations"] = r["rate"]
    known = [k for k in ("p50", "p99", "first") if all(k in c for c in found.values())]
    titles = {"p50": "p50, ms", "p99": "p99, ms", "first": "first call, ms"}
    return table(["prediction", "rows", *(titles[k] for k in known), "allocations per call"],
                 [[way, f"{n:,}", *(number(c[k]) for k in known), c["allocations"]]
                  for (way, n), c in found.items()])


def slopes():
    return table(["stage", "what", "D", "sizes", "slope", "expected"],
                 [[r["stage"], r["what"], r["D"], r["size"], f"{float(r['rate']):.2f}",
                   number(r["target"])] for r in rows_of("suite", kind="slope")])


# ---- The scripts ----

def scale():
    return table(["rows", "command", "wall s", "processor s", "peak MB", "read s", "partition s",
                  "train s", "graph s"],
                 [[f"{int(r['rows']):,}", r["command"] + (f", {int(r['queries']):,} queries"
                                                           if r["queries"] != "0" else ""),
                   short(r["wall_seconds"]), short(r["processor_seconds"]), short(r["peak_mb"]),
                   *(short(r[k]) if r[k] else "" for k in ("read", "partition", "train", "graph"))]
                  for r in rows_of("scale")])


def busy():
    return table(["work", "alone: wall, processor s", "beside busy processes", "throughput"],
                 [[r["work"], f"{short(r['alone_seconds'])}, {short(r['alone_processor_seconds'])}",
                   f"{short(r['busy_seconds'])}, {short(r['busy_processor_seconds'])}",
                   f"{float(r['throughput_ratio']):.2f} of alone"] for r in rows_of("busy")])


def processor(r):
    """Fit's and predict's together; not known of R."""
    if not r["fit_processor_seconds"]:
        return ""
    return short(float(r["fit_processor_seconds"]) + float(r["predict_processor_seconds"]))


def peers():
    return table(["set", "method", "setting", "fit s", "predict s", "processor s", "peak MB", "SMSE",
                  "MSLL", "95 % covers"],
                 [[r["set"], r["method"], r["setting"], short(r["fit_seconds"]),
                   short(r["predict_seconds"]), processor(r), short(r["peak_mb"]), number(r["smse"]),
                   f"{float(r['msll']):.3f}", f"{100 * float(r['coverage95']):.1f}"]
                  for r in rows_of("peers")])


def single_precision():
    return table(["set", "parts", "mean off by: median, 99 %, most (std)",
                  "std off by: median, most", "systems not positive definite",
                  "needed jitter: double, single", "queries", "products faster"],
                 [[r["set"], f"{r['experts']}, {r['partition']}", f"{number(r['mean_error_median'])}, "
                   f"{number(r['mean_error_99'])}, {number(r['mean_error_max'])}",
                   f"{percent(r['std_error_median'])}, {percent(r['std_error_max'])}", r["indefinite"],
                   f"{r['jittered_double']}, {r['jittered_single']}", r["queries"],
                   f"{number(r['speedup'], 2)} times"]
                  for r in rows_of("single_precision")])


# ---- Accuracy ----

SETS = {"pumadyn32nm": "pumadyn32nm", "protein": "protein (raw RMSD)", "sarcos_noleak": "sarcos_noleak",
        "kin40k_10k30k": "kin40k_10k30k"}


def significant(value):
    """Three digits that matter."""
    return f"{value:.5f}" if value < 0.01 else f"{value:.4f}"


def scores(smse, msll):
    return f"{significant(smse)} / {msll:.3f}"


def mean(rows, column):
    return sum(float(r[column]) for r in rows) / len(rows)


def ends(rows, column, factor=1.0, digits=0):
    """The smallest and the largest of a column, once where they are the same."""
    found = sorted(f"{v:.{digits}f}" for v in (factor * float(r[column]) for r in rows))
    found.sort(key=float)
    return found[0] if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def seeds_of(rows, least):
    """ (seed 1) behind what has fewer seeds than the others."""
    found = sorted({r["seed"] for r in rows})
    return f" (seed {', '.join(found)})" if len(found) < least else ""


def chosen(rows):
    """What the fits of several seeds chose, each once."""
    return "; ".join(dict.fromkeys(f"{r['kernel']}, {r['metric']}, {r['method']}" for r in rows))


def defaults():
    """A line a set: the default prediction, what it chose, and other predictions from the same models."""
    rows = rows_of("defaults")
    others = [p for p in dict.fromkeys(r["prediction"] for r in rows) if p != "default"]
    lines = []
    for name in dict.fromkeys(r["set"] for r in rows):
        by = {p: [r for r in rows if r["set"] == name and r["prediction"] == p] for p in ("default", *others)}
        own = by["default"]
        digits = 5 if mean(own, "smse") < 0.01 else 4
        in_units = 0 if mean(own, "rmse") >= 100 else 3
        lines.append([name, scores(mean(own, "smse"), mean(own, "msll")) + seeds_of(own, len({r["seed"] for r in rows})),
                      ends(own, "smse", digits=digits), ends(own, "rmse", digits=in_units), ends(own, "crps", digits=in_units),
                      ends(own, "coverage95", 100, 1), chosen(own),
                      *(scores(mean(by[p], "smse"), mean(by[p], "msll")) if by[p] else "" for p in others)])
    return table(["set", "default: SMSE / MSLL", "SMSE, lowest and highest", "RMSE", "CRPS", "95 % covers",
                  "chosen: kernel, metric, method", *others], lines)


def metric():
    """One line a data set: inputs as they are, and what left-out rows choose."""
    lines = []
    for name in dict.fromkeys(r["set"] for r in rows_of("metric")):
        line = [name]
        for wanted in ("ard", "auto"):
            found = rows_of("metric", set=name, metric=wanted)
            line += [scores(mean(found, "smse"), mean(found, "msll")),
                     f"{100 * mean(found, 'coverage95'):.1f}",
                     f"{mean(found, 'fit_seconds'):.0f} + {mean(found, 'predict_seconds'):.0f}"]
        chosen = rows_of("metric", set=name, metric="auto")
        line.append("; ".join(dict.fromkeys(
            f"{r['chosen']}, {r['kernel']}, {r['neighbours']}" for r in chosen)))
        lines.append(line)
    titles = ["SMSE / MSLL", "95 %", "seconds"]
    return table(["set", *(f"`ard`: {titles[0]}", *titles[1:]), *(f"`auto`: {titles[0]}", *titles[1:]),
                  "chosen: metric, kernel, neighbours"], lines)


def calibration():
    """One line a set and prediction: density, CRPS, and intervals."""
    lines = [[r["set"], r["prediction"], f"{float(r['scale']):.3f}", f"{float(r['msll']):.3f}", number(r["crps"], 4),
              *(f"{100 * float(r[f'coverage{p}']):.1f} / {number(r[f'width{p}'], 4)}" for p in (90, 95)),
              f"{100 * float(r['below95']):.1f} / {100 * float(r['above95']):.1f}"] for r in rows_of("calibration")]
    return table(["set", "prediction", "std times", "MSLL", "CRPS", "90 %: covers / width", "95 %: covers / width",
                  "95 %: below / above"], lines)


def intervals():
    """One line a set and way: means over the seeds."""
    rows, lines = rows_of("intervals"), []
    for name, way in dict.fromkeys((r["set"], r["way"]) for r in rows):
        found = rows_of("intervals", set=name, way=way)
        lines.append([name, way, ends(found, "coverage95", 100, 1),
                      *(number(mean(found, column), 4) for column in ("width95", "equal_width", "interval_score")),
                      number(mean(found, "crps"), 4) if found[0]["crps"] else ""])
    return table(["set", "way", "95 % covers, lowest and highest", "mean width", "mean width at 95.0 %",
                  "interval score", "CRPS"], lines)


def beside_trees():
    """One line a table; bold is the smallest error."""
    lines = []
    for r in rows_of("beside_trees"):
        found = [float(r[way]) for way in ("quorum", "boosting", "extra_trees")]
        marked = [f"**{number(e)}**" if e == min(found) else number(e) for e in found]
        lines.append([r["set"], r["fitted"], f"{r['inputs']} ({r['texts']})", *marked, number(r["msll"]),
                      f"{100 * float(r['coverage95']):.1f}"])
    return table(["table", "rows fitted", "inputs (texts)", "quorum", "boosting", "extra trees", "quorum's MSLL", "95 %"], lines)


def heavy_tails():
    """One line a set: each split, as the inputs are and bent."""
    lines = []
    for name in dict.fromkeys(r["set"] for r in rows_of("heavy_tails")):
        plain, bent = (rows_of("heavy_tails", set=name, input_warp=w) for w in ("none", "asinh"))
        pairs = [f"{number(float(r['smse']), 3)} / {number(float(r['msll']), 3)}" for runs in (plain, bent) for r in runs]
        ratio = mean(bent, "mae") / mean(plain, "mae")
        lines.append([name, plain[0]["rows"], bent[0]["bent"], ", ".join(pairs[:len(plain)]), ", ".join(pairs[len(plain):]),
                      number(ratio, 3)])
    return table(["table", "rows", "inputs bent", "`none`", "`asinh`", "mean absolute error"], lines)


def few_rows():
    """One line a set: means over the splits, with the calibration that a fit makes of itself and without one."""
    lines = []
    for name in dict.fromkeys(r["set"] for r in rows_of("few_rows")):
        own, plain = (rows_of("few_rows", set=name, calibrate=c) for c in ("auto", "false"))
        ratios = [number(mean(own, what) / mean(plain, what), 3) for what in ("crps", "width95", "interval_score")]
        lines.append([name, own[0]["rows"], *(f"{100 * mean(runs, 'coverage95'):.1f}" for runs in (plain, own)),
                      *(number(mean(runs, "msll"), 3) for runs in (plain, own)), *ratios,
                      *(number(mean(runs, "fit_seconds"), 2) for runs in (plain, own))])
    return table(["table", "rows", "95 % covers, `false`", "`auto`", "MSLL, `false`", "`auto`", "CRPS, ratio", "width, ratio",
                  "interval score, ratio", "fit s, `false`", "`auto`"], lines)


def by_distance():
    """One line a set and prediction: the mean coverage of each tenth, and over all seeds the lowest and the highest."""
    rows, lines = rows_of("by_distance"), []
    for name, prediction in dict.fromkeys((r["set"], r["prediction"]) for r in rows):
        found = rows_of("by_distance", set=name, prediction=prediction)
        cells = [mean([r for r in found if int(r["tenth"]) == tenth], "coverage95") for tenth in range(1, 11)]
        lines.append([name, prediction, *(f"{100 * c:.1f}" if 0.9 <= c <= 0.98 else f"**{100 * c:.1f}**" for c in cells),
                      ends(found, "coverage95", 100, 1)])
    return table(["set", "prediction", "nearest tenth", *map(str, range(2, 10)), "farthest", "one seed: lowest and highest"],
                 lines)


def outside():
    """Queries outside the rows, each seed; bold: not within 90 to 99 %."""
    found, lines = {}, []
    for r in rows_of("outside"):
        found.setdefault((r["case"], r["rows"], r["prediction"]), []).append(r)
    for (case, rows, prediction), runs in found.items():
        covers = [100 * float(r["outside_covers"]) for r in runs]
        lines.append([case, rows, prediction, ", ".join(number(r["untested"]) for r in runs if float(r["untested"])),
                      ", ".join(f"{float(r['inside_msll']):.3f}" for r in runs),
                      ", ".join(f"{100 * float(r['inside_covers']):.1f}" for r in runs),
                      ", ".join(f"{float(r['outside_msll']):.3f}" for r in runs),
                      ", ".join(f"{c:.1f}" if 90 <= c <= 99 else f"**{c:.1f}**" for c in covers)])
    header = ["case", "rows", "prediction", "u", "inside: MSLL", "95 % covers", "outside: MSLL", "95 % covers"]
    return table(header, lines)


def outside_truth():
    """Of functions drawn from a process and predicted by it: how many are covered as wanted."""
    keys = ("mean_covers", "below_90", "within_90_99", "above_99", "lowest")
    return table(["case", "functions", "covered, mean", "functions below 90 %", "90 to 99 %", "above 99 %", "least of one"],
                 [[r["case"], r["functions"], *(f"{100 * float(r[key]):.1f} %" for key in keys)] for r in rows_of("outside_truth")])


def jumps():
    """The largest step of the mean along a line, by how many steps it is cut into."""
    found = {}
    for r in rows_of("jumps"):
        found.setdefault((r["set"], r["method"]), {})[int(r["steps"])] = [float(r["median_step"]), float(r["largest_step"])]
    steps = sorted(next(iter(found.values())))
    return table(["set", "method", *(f"{k} steps" for k in steps)],
                 [[*key, *(f"{of[k][0]:.4f}, {of[k][1]:.4f}" for k in steps)] for key, of in found.items()])


def heteroscedastic():
    """One line a number of inputs and prediction: predicted over true deviation by tenths, means over the seeds."""
    rows, lines = rows_of("heteroscedastic"), []
    for inputs, prediction in dict.fromkeys((r["inputs"], r["prediction"]) for r in rows):
        found = rows_of("heteroscedastic", inputs=inputs, prediction=prediction)
        cells = [mean(found, f"tenth{i}") for i in range(1, 11)]
        lines.append([inputs, prediction, *(f"{c:.2f}" if 0.8 <= c <= 1.2 else f"**{c:.2f}**" for c in cells),
                      f"{mean(found, 'msll_more'):.3f}"])
    return table(["inputs", "prediction", "calmest tenth", *map(str, range(2, 10)), "wildest", "MSLL less the truth's"], lines)


def uci():
    """One line a set: over the masks of the published means, and over all that were measured."""
    rows, lines = rows_of("uci"), []
    for name in dict.fromkeys(r["set"] for r in rows):
        own, same = [r for r in rows if r["set"] == name], same_masks(name, rows)
        which, masks, rmse, nll = PUBLISHED.get(name, ("", None, None, None))
        lines.append([
            name, f"{int(own[0]['rows']):,} x {own[0]['inputs']}",
            f"{rmse} / {nll} ({which}; {f'masks {masks[0]} to {masks[-1]}' if masks else 'masks not known'})"
            if which else "",
            f"{mean(same, 'rmse'):.4f} / {mean(same, 'nll'):.3f}",
            f"{mean(own, 'rmse'):.4f} / {mean(own, 'nll'):.3f}, {len(own)} masks",
            f"{ends(own, 'rmse', digits=3)} / {ends(own, 'nll', digits=3)}",
            ends(own, "coverage95", 100, 1), ", ".join(sorted({r["kernel"] for r in own}))])
    return table(["set", "rows x inputs", "exact GP, published: RMSE / NLL", "default, the same masks",
                  "default, all masks measured", "lowest and highest", "95 % covers", "kernels"], lines)


# ---- Several kernels ----

def gained(row, score):
    """1: better than the best single kernel by more than two standard errors, -1: worse, 0: neither."""
    less, error = float(row[f"{score}_less"]), float(row[f"{score}_error"])
    return 0 if abs(less) <= 2 * error + 1e-12 else (1 if less < 0 else -1)  # 1e-12: the same but for rounding


def marked(text, row, score):
    return {1: f"**{text}**", 0: text, -1: f"*{text}*"}[gained(row, score)]


def quorum_cell(row, first):
    """Change of SMSE in per cent and of MSLL, beside the best single kernel."""
    share = 100 * float(row["smse_less"]) / float(first["smse"])
    return (marked(f"{share:+.1f} %", row, "smse") + " / " +
            marked(f"{float(row['msll_less']):+.3f}", row, "msll"))


def counted(rows, score):
    found = [gained(r, score) for r in rows]
    return f"{found.count(1)} / {found.count(-1)}"


def kernel_quorum():
    rows = rows_of("kernel_quorum", part="all", seed="1")
    first = {r["set"]: r for r in rows if r["way"] == "best single kernel"}
    chosen = {name: next(r["way"].split()[0] for r in rows if r["set"] == name and r["way"].endswith(" alone")
                         and r["weights"] == first[name]["weights"]) for name in first}
    lines = [["best single kernel", *(f"{chosen[n]}: {scores(float(r['smse']), float(r['msll']))}"
                                      for n, r in first.items())]]
    for way in dict.fromkeys(r["way"] for r in rows):
        if way != "best single kernel" and not way.endswith(" alone"):
            by = {r["set"]: r for r in rows if r["way"] == way}
            lines.append([way, *(quorum_cell(by[n], first[n]) for n in first)])
    return table(["way", *first], lines)


def kernel_quorum_counts():
    rows = rows_of("kernel_quorum", seed="1")
    lines = []
    for way in dict.fromkeys(r["way"] for r in rows):
        if way != "best single kernel" and not way.endswith(" alone"):
            of = {part: [r for r in rows if (r["way"], r["part"]) == (way, part)]
                  for part in ("all", "alone", "gaps")}
            lines.append([way, *(counted(found, score) for found in of.values()
                                 for score in ("smse", "msll", "wide"))])
    return table(["way", *(f"{part}: {score}" for part in ("all rows", "alone", "in gaps")
                           for score in ("SMSE", "MSLL", "MSLL, widths"))], lines)


def predictions():
    rows = [r for r in rows_of("predictions") if (r["spread"], r["overlap"]) != ("none", "0")
            or r["set"] == "pumadyn32nm"]
    names = ["kin40k_10k30k", "pumadyn32nm", "sarcos_noleak", "protein"]
    lines = {}
    for r in rows:
        experts = {"none": "", "local:1": "1 expert, "}.get(
            r["select"], r["select"].replace("local:", "") + " experts, ")
        label = f"{experts}{r['neighbours']} neighbours"
        label += f", `--overlap {r['overlap']}`" if r["overlap"] != "0" else ""
        lines.setdefault(label, {}).setdefault(r["set"], r)
    return table(["prediction", *names],
                 [[f"**{label}**" if label == "512 neighbours" else label,
                   *(f"{scores(float(by[n]['smse']), float(by[n]['msll']))}, "
                     f"{float(by[n]['processor_seconds']):.1f}" if n in by else "" for n in names)]
                  for label, by in lines.items()])


def training():
    lines = {}
    for r in rows_of("training"):
        lines.setdefault((r["train"], r["kernel"], r["options"]), {})[r["set"]] = r
    shown = {"--partition-metric input": "", "--spread none": ", no scales of blocks' own"}
    return table(["`--train`", "kernel", *SETS.values()],
                 [[train + shown.get(options, options), kernel, *(
                     scores(float(by[n]["smse_256"]), float(by[n]["msll_256"])) +
                     f", {float(by[n]['seconds_train']):.0f} s" +
                     (f" ({by[n]['chosen']})" if kernel == "auto" else "") if n in by else ""
                     for n in SETS)]
                  for (train, kernel, options), by in lines.items()])


def means(name, method, select, space):
    """SMSE, MSLL and coverage of one prediction, means over the seeds; None: not measured."""
    found = rows_of(name, method=method, select=select, space=space)
    return [mean(found, column) for column in ("smse", "msll", "coverage95")] if found else None


def pumadyn():
    names = {("npae", "all"): "npae", ("npae", "graph:0.8"): "npae*, 12 of 15 experts",
             ("npae", "graph:0.5"): "npae, best 8 of 15", ("grbcm", "all"): "grbcm",
             ("grbcm*", "graph:0.8"): "grbcm*", ("rbcm", "all"): "rbcm", ("bcm", "all"): "bcm",
             ("gpoe", "all"): "gpoe", ("poe", "all"): "poe", ("single", "all"): "single"}
    lines = []
    for (method, select), name in names.items():
        line = [name]
        for space in ("latent", "observed"):
            found = means("pumadyn", method, select, space)
            line += [f"{found[0]:.4f}", f"{found[1]:.3f}", f"{100 * found[2]:.1f}"] if found else [""] * 3
        seconds = mean(rows_of("pumadyn", method=method, select=select, space="latent"), "seconds")
        lines.append([*line, f"{seconds:.2f}"])
    return table(["method", "SMSE", "MSLL", "95 %", "SMSE, observed", "MSLL, observed",
                  "95 %, observed", "seconds, latent"], lines)


def synthetic():
    names = {("npae", "all"): "npae", ("npae", "graph:0.8"): "npae, most important 80 %",
             ("npae", "graph:0.5"): "npae, most important 50 %",
             ("npae", "worst:0.5"): "npae, least important 50 %", ("grbcm", "all"): "grbcm",
             ("rbcm", "all"): "rbcm", ("gpoe", "all"): "gpoe"}
    sizes = ("10", "20", "40")
    lines = []
    for (method, select), name in names.items():
        found = [rows_of("synthetic", method=method, select=select, space="latent", experts=M)
                 for M in sizes]
        lines.append([name, *(f"{mean(f, 'smse'):.4f} / {mean(f, 'msll'):.3f} / "
                              f"{100 * mean(f, 'coverage95'):.1f}" for f in found)])
    return table(["method", *(f"{M} experts" for M in sizes)], lines)


def published_protein(method):
    """What the paper says (its table 2), or nothing."""
    path = os.path.join(os.path.dirname(HERE), "experiments", "published.csv")
    found = {r["metric"]: float(r["value"]) for r in read_csv(path)
             if (r["table"], r["dataset"], r["method"].lower()) == ("2", "protein", method)}
    return f"{found['smse']:.3f} / {found['msll']:.3f}" if found else ""


def protein():
    """Only NPAE has fewer seeds and one space, which is latent."""
    lines = []
    for method in ("poe", "gpoe", "bcm", "rbcm", "grbcm", "single", "npae", "npae*"):
        select = "graph:0.8" if method.endswith("*") else "all"
        line = [method + (" (seed 1)" if "npae" in method else ""), published_protein(method)]
        for name, space in (("protein-log", "observed"), ("protein-log", "latent"),
                            ("protein-raw", "observed"), ("protein-raw", "latent")):
            found = means(name, method, select, space)
            line.append(f"{found[0]:.3f} / {found[1]:.3f}" if found else "")
        lines.append(line)
    return table(["method", "paper", "log target, observed", "log target, latent",
                  "raw target, observed", "raw target, latent"], lines)


def glasso_r():
    rows = rows_of("glasso", r_thr="1e-06")
    lines = []
    for p in dict.fromkeys(r["p"] for r in rows):
        pair = [next(r for r in rows if (r["p"], r["kind"]) == (p, kind)) for kind in ("local", "random")]
        lines.append([p, "local / random", *(" / ".join(number(r[column], 2) for r in pair) for column in
                                              ("ours_seconds", "r_seconds", "ratio", "difference"))])
    return table(["experts", "matrix", "ours, s", "R, s", "ours is faster by", "objective, ours - R's"],
                 lines)


def beside():
    """The default and the largest setting of each other tool, one line a set."""
    shown = [("quorum", "default"), ("NumPy NN-GP", "64 neighbours"), ("scikit-learn GP", "1000 rows"), ("gradient boosting", "scikit-learn")]
    lines = []
    for name in dict.fromkeys(r["set"] for r in rows_of("peers")):
        found = [rows_of("peers", set=name, method=m, setting=s)[0] for m, s in shown]
        lines.append([name, *(f"{number(r['smse'])} / {float(r['msll']):.2f}, "
                              f"{float(r['fit_seconds']) + float(r['predict_seconds']):.0f} s"
                              for r in found)])
    return table(["set", "quorum, defaults", "NN-GP in NumPy, 64 rows",
                  "scikit-learn's GP, 1,000 rows", "its boosting"], lines)


def local(case):
    return table(["prediction", "SMSE / MSLL", "pairs of experts per query"],
                 [[r["prediction"], scores(float(r["smse"]), float(r["msll"])),
                   f"{int(r['pairs_a_query']):,}"]
                  for r in rows_of("local") if r["case"] in case])


def successors(partition):
    """A line a prediction, a column a set: SMSE / MSLL; and processor seconds, the sum over sets."""
    rows = rows_of("successors", partition=partition)
    sets = list(dict.fromkeys(r["set"] for r in rows))
    lines = []
    for label in dict.fromkeys(r["prediction"] for r in rows):
        own = {r["set"]: r for r in rows if r["prediction"] == label}
        lines.append([f"`{label}`", *(scores(float(own[s]["smse"]), float(own[s]["msll"])) for s in sets),
                      f"{sum(float(r['processor_seconds']) for r in own.values()):.2f}"])
    return table(["prediction", *(s.replace("_10k30k", "") for s in sets), "processor seconds"], lines)


# ---- Models that live ----

def update():
    """A line a model and number of new rows, wall and processor seconds of what took turns."""
    whats = {"update": ("wall_seconds", "processor_seconds"), "update_before": ("wall_seconds",), "inspect": ("wall_seconds",),
             "fit": ("wall_seconds",), "sync": ("wall_seconds",)}
    rows = rows_of("update")
    whats = {what: keys for what, keys in whats.items() if any(r["what"] == what for r in rows)}
    heads = {("update", "wall_seconds"): "`update`, wall s", ("update", "processor_seconds"): "`update`, processor s",
             ("update_before", "wall_seconds"): "before, wall s", ("inspect", "wall_seconds"): "`inspect`", ("fit", "wall_seconds"): "`fit --theta`",
             ("sync", "wall_seconds"): "write and sync"}
    lines, keys_of = [], [key for key in ("rows", "method", "new") if key in rows[0]]
    for case in dict.fromkeys(tuple(r[key] for key in keys_of) for r in rows):
        by = {r["what"]: r for r in rows if tuple(r[key] for key in keys_of) == case}
        lines.append([*(f"{int(c):,}" if c.isdigit() else c for c in case), *(f"{float(by[what][key]):.2f}" for what, keys in whats.items() for key in keys)])
    return table([*keys_of, *(heads[what, key] for what, keys in whats.items() for key in keys)], lines)


def update_blocks():
    return table(["rows", "partition", "new", "bytes of the file", "blocks as they were, at their place", "anywhere", "bytes that are new"],
                 [[f"{int(r['rows']):,}", r["partition"], f"{int(r['new']):,}", f"{int(r['bytes']):,}", f"{100 * float(r['same_place']):.1f} %",
                   f"{100 * float(r['anywhere']):.1f} %", f"{int(r['changed']):,}"] for r in rows_of("update_blocks")])


def serve():
    return table(["prediction", "queries", "a second", "errors", "half within, ms", "99 %", "99.9 %", "all", "server's processor s"],
                 [[r["prediction"], f"{int(r['queries']):,}", short(r["achieved_rate"]), r["errors"],
                   *(number(r[key]) for key in ("p50_ms", "p99_ms", "p999_ms", "worst_ms")), number(r["server_processor_seconds"])]
                  for r in rows_of("serve")])


def whole_rows():
    """Of the rank with the most, by the number of ranks."""
    rows = rows_of("whole_rows")
    lines = []
    for what in dict.fromkeys(r["what"] for r in rows):
        own = [r for r in rows if r["what"] == what]
        held = ["all" if all(int(n) == int(r["rows"]) for n in r["rows_each"].split()) else f"{max(map(int, r['rows_each'].split())):,}"
                for r in own]
        lines.append([what, ", ".join(r["peak_mb_most"] for r in own) + " MB", ", ".join(f"{float(r['computed_most']):.2f}" for r in own),
                      ", ".join(held)])
    ranks = ", ".join(dict.fromkeys(r["ranks"] for r in rows))
    return table(["", f"peak memory of a rank, {ranks} ranks", "its processor seconds", "rows that a rank held at most"], lines)


def many_queries():
    return table(["queries", "peak memory of each rank", "processor seconds of all"],
                 [[f"{int(r['queries']):,}", ", ".join(r["peak_mb_each"].split()) + " MB", short(r["processor_seconds_all"])]
                  for r in rows_of("many_queries")])


# ---- Reliability ----

def campaign_source(name):
    path = os.path.join(CAMPAIGNS, name + ".csv")
    with open(path) as file:
        known = dict(line[2:].strip().split(": ", 1) for line in file if line.startswith("# "))
    return (f"[{name}.csv](../tests/campaign/results/{name}.csv): `{known['command']}`; "
            f"commit {known['commit']}, {known['date']}.")


def campaigns():
    rows = read_csv(os.path.join(CAMPAIGNS, "campaigns.csv"))
    return table(["campaign", "verdict", "seconds", "counts"],
                 [[r["campaign"], r["verdict"], short(r["seconds"]), r["counts"]] for r in rows])


def fuzzing():
    rows = read_csv(os.path.join(CAMPAIGNS, "fuzz.csv"))
    total = sum(int(r["executions"]) for r in rows), sum(int(r["findings"]) for r in rows)
    lines = [[f"`fuzz_{r['harness']}`", r["what"], f"{int(r['executions']):,}", r["findings"]]
             for r in rows]
    return table(["harness", "what", "executions", "findings"],
                 [*lines, ["all", "", f"{total[0]:,}", total[1]]])


def doors():
    """Every door of the script; one without a line in the record has not been run."""
    rows = {r["door"]: r for r in read_csv(os.path.join(DOORS, "record.csv"))}
    with open(os.path.join(DOORS, "doors")) as script:
        names = re.findall(r"^door ([a-z0-9-]+)", script.read(), re.MULTILINE)
    lines = [[f"`{name}`", *(door_cells(rows[name]) if name in rows else ["**not run**", "", "", ""])] for name in names]
    when, machines = (", ".join(dict.fromkeys(r[key] for r in rows.values())) for key in ("date", "machine"))
    return (table(["door", "", "what it found", "seconds", "commit"], lines) +
            f"\n\n[record.csv](../tests/install/record.csv), {when}, {machines}.")


def door_cells(r):
    verdict = r["verdict"] if r["verdict"] == "ok" else f"**{r['verdict']}**"
    return [verdict, r["found"].replace("|", "\\|"), short(r["seconds"]), r["commit"]]


RELIABILITY = {"doors": doors, "campaigns": lambda: campaigns() + "\n\n" + campaign_source("campaigns"),
               "fuzzing": lambda: fuzzing() + "\n\n" + campaign_source("fuzz")}
ACCURACY = {"defaults": defaults, "predictions": predictions, "training": training,
            "pumadyn": pumadyn, "synthetic": synthetic, "protein": protein, "glasso_r": glasso_r,
            "kernel_quorum_counts": kernel_quorum_counts, "beside": beside, "local_protein": lambda: local(["protein"]),
            "local_kin40k": lambda: local(["kin40k", "exact"]),
            "successors_kmeans": lambda: successors("kmeans"), "successors_random": lambda: successors("random")}
SUITE = {"limits": limits, "lapack": lapack,
         "kernel": lambda: "\n\n".join([kernels(), claims("kernel"), flushing()]),
         "train_shares": lambda: by_inputs("train", "value and gradient"),
         "pair_shares": lambda: by_inputs("pairs", "covariances"),
         "train": lambda: by_inputs("train", "value and gradient") + "\n\n" + claims("train"),
         "posterior": lambda: by_inputs("posterior", "mean and variance"),
         "pairs": lambda: by_inputs("pairs", "covariances") + "\n\n" + claims("pairs"),
         "solve": lambda: lines_of("solve"), "rows": lambda: lines_of("kmeans", "neighbours"),
         "glasso": lambda: lines_of("glasso"), "reading": lambda: lines_of("reading"),
         "whole": lambda: lines_of("whole"), "latency": latency, "slopes": slopes}
SCRIPTS = {"calibration": calibration, "heavy_tails": heavy_tails, "few_rows": few_rows, "beside_trees": beside_trees, "intervals": intervals, "by_distance": by_distance,
           "heteroscedastic": heteroscedastic, "outside": outside, "outside_truth": outside_truth, "jumps": jumps, "metric": metric, "uci": uci, "kernel_quorum": kernel_quorum,
           "update": update, "update_blocks": update_blocks, "serve": serve, "whole_rows": whole_rows, "many_queries": many_queries,
           "scale": scale, "busy": busy, "peers": peers, "single_precision": single_precision}


def make(name):
    if name == "source":
        return source("suite")
    if name in SCRIPTS:
        return SCRIPTS[name]() + "\n\n" + source(name)
    return {**SUITE, **ACCURACY, **RELIABILITY}[name]()


def filled(text):
    return re.sub(r"<!-- table: (\w+) -->\n.*?<!-- end -->",
                  lambda m: f"<!-- table: {m[1]} -->\n{make(m[1])}\n<!-- end -->", text,
                  flags=re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--check", action="store_true", help="change nothing, fail if something would")
    args = parser.parse_args()
    for page in args.pages:
        with open(page) as file:
            text = file.read()
        if args.check and filled(text) != text:
            sys.exit(f"{page}: tables differ from the results; run bench/tables.py")
        if not args.check:
            with open(page, "w") as file:
                file.write(filled(text))
        print(page)


if __name__ == "__main__":
    main()
