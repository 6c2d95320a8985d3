"""When does a committee of experts pay, and does the graph help to choose it?

The paper compares committees with each other.  Here they stand beside predictions from the nearest
rows, with the same hyperparameters, on made functions of which one thing is changed at a time, and
on real sets where --data has them.  What the graph's ranking is worth shows beside the half of the
experts that it finds least important, for regions and for random parts.
"""
import numpy as np

import figures
from cells import evaluate, fit, fit_again
from datasets import found, is_there, made, read_csv
from tables import pick, show, stat

TITLE = "When a committee pays: experts, their graph, and nearest rows"
ROWS = 4000
BASE = {"lengthscale": 0.6, "noise": 0.1, "inputs": 4, "queries": 1000}
FACTORS = {"lengthscale": (0.2, 0.6, 2.0), "noise": (0.01, 0.1, 1.0), "inputs": (2, 4, 8),
           "queries": (100, 1000, 10000)}
LABELS = {"lengthscale": "length-scale (smoothness)", "noise": "noise, standard deviation",
          "inputs": "number of inputs", "queries": "number of queries"}
REAL = {"kin40k_10k30k": (10000, 2000), "protein": (10000, 2000)}   # rows taken, queries taken
METHODS = {"nearest rows": ("nearest", "auto"), "cells": ("cells", "all"),
           "local experts": ("npae", "local:2"), "graph:0.5": ("npae", "graph:0.5"),
           "NPAE on all": ("npae", "all")}
HALVES = ("graph:0.5", "worst:0.5")       # the most and the least important half
RANDOM = ", random parts"                 # of the same rows, with the same hyperparameters
WAVES = 1000


def rough_draw(seed, D, lengthscale):
    """A draw of the Matern 3/2 prior: waves whose frequencies have a Student t of 3 degrees."""
    rng = np.random.default_rng([seed, D, round(1000 * lengthscale)])
    spread = np.sqrt(3 / rng.chisquare(3, WAVES))
    frequency = rng.standard_normal((D, WAVES)) * spread / lengthscale
    phase = rng.uniform(0, 2 * np.pi, WAVES)
    return lambda X: np.cos(X @ frequency + phase).sum(axis=1) * (2 / WAVES)**0.5


def points(seed, part, lengthscale, noise, inputs, queries, rows):
    """Inputs are uniform in the unit cube; test rows have no noise, so the score is the function's.
    The length-scale is for 4 inputs and grows with the diagonal of the cube."""
    rng = np.random.default_rng([seed, part == "test", inputs])
    X = rng.uniform(size=(queries if part == "test" else rows, inputs))
    value = rough_draw(seed, inputs, lengthscale * (inputs / 4)**0.5)
    y = np.concatenate([value(block) for block in np.array_split(X, -(-len(X) // 1000))])
    noise_of = 0.0 if part == "test" else noise
    y = y + noise_of * rng.standard_normal(len(y))
    return ",".join([f"x{d + 1}" for d in range(inputs)] + ["y"]), np.column_stack([X, y])


def made_sets(setup):
    """(factor, value, settings), each setting once."""
    for factor, levels in FACTORS.items():
        for value in levels[:2] if setup.quick else levels:
            if value != BASE[factor] or factor == "lengthscale":
                yield factor, value, {**BASE, factor: value}


def plan(setup):
    rows = 600 if setup.quick else ROWS
    cells = []
    for seed in setup.seeds:
        for factor, value, settings in made_sets(setup):
            if setup.quick:
                settings = {**settings, "queries": min(settings["queries"], 300)}
            name = f"{factor} {value:g} seed{seed}"
            train, test = (made(setup, f"{factor}-{value:g}-seed{seed}-{part}.csv",
                                lambda part=part: points(seed, part, rows=rows, **settings))
                           for part in ("train", "test"))
            about = {"data": "made", "partition": "kmeans", "seed": seed, "M": max(rows // 250, 4),
                     "variant": f"{factor} {value:g}"}
            of_this = of_set(name, about, train, test)
            cells += of_this
            if factor != "queries":       # the same fits again, asked elsewhere
                cells += ranking(of_this[0], train, test)
    return cells + real_sets(setup)


def real_sets(setup):
    """Those that --data has."""
    cells = []
    for name, counts in REAL.items():
        if not setup.data or not is_there(setup, name):
            continue
        words = [made(setup, f"{name}-{part}.csv", lambda part=part, count=count:
                      first_rows(setup, found(setup, name, part), count))
                 for part, count in zip(("train", "test"), counts)]
        seed = setup.seeds[0]
        about = {"data": name, "partition": "kmeans", "seed": seed, "M": 20, "variant": name}
        of_this = of_set(f"{name} seed{seed}", about, *words, kernel="auto")
        cells += [*of_this, least_important(of_this[0], words[1])]
    return cells


def first_rows(setup, word, count):
    """Of a file in no particular order, as both are."""
    header, rows = read_csv(word.replace("$DATA", setup.data))
    return header, rows[:count // 5 if setup.quick else count]


def of_set(name, about, train, test, kernel="matern32"):
    model = fit(name, train, about, "--experts", str(about["M"]), "--kernel", kernel, "--overlap",
                "0.5", "--graph", "glasso", "--no-calibrate", seconds=10)
    by_rows = evaluate(model, "rows", test, "--method", "nearest,cells", seconds=4)
    by_experts = evaluate(model, "experts", test, "--method", "npae", "--select",
                          "local:2,graph:0.5,all", seconds=8)
    return [model, by_rows, by_experts]


def least_important(model, test):
    return evaluate(model, "least important", test, "--method", "npae", "--select", HALVES[1],
                    timed=False)


def ranking(model, train, test):
    """What the graph's ranking is worth: the least important half; and both halves of random parts."""
    about = {**model.about, "partition": "random", "variant": model.about["variant"] + RANDOM}
    other = fit_again(model, model.name + RANDOM, train, about, "--experts", str(about["M"]),
                      "--partition", "random", "--kernel", "matern32", "--overlap", "0.5", "--graph",
                      "glasso", "--no-calibrate", seconds=1)
    return [least_important(model, test), other,
            evaluate(other, "halves", test, "--method", "npae", "--select",
                     ",".join((*HALVES, "all")), timed=False)]


# ---- The page ----------------------------------------------------------------------------------


def ours(book, metric, name, factor, value):
    """The base is stored once, under the first factor."""
    if value == BASE[factor]:
        factor, value = "lengthscale", BASE["lengthscale"]
    method, select = METHODS[name]
    return stat(pick(book.scores, variant=f"{factor} {value:g}", method=method, select=select),
                metric)


def npae(book, variant, select):
    return stat(pick(book.scores, variant=variant, method="npae", select=select), "smse")


def made_variants(book):
    return [f"{factor} {value:g}" for factor, value, _ in made_sets(book.setup)]


def over_nearest(book, name, variants):
    """(seconds, error) of a way over those of nearest rows, of each set."""
    def numbers(variant, way):
        rows = pick(book.scores, variant=variant, method=METHODS[way][0], select=METHODS[way][1])
        return [stat(rows, metric) for metric in ("seconds", "smse")]
    pairs = [(numbers(v, name), numbers(v, "nearest rows")) for v in variants]
    return [tuple(a.mean / b.mean for a, b in zip(*pair)) for pair in pairs if pair[0][0]]


def over_all(book, variants):
    """Errors of the least and of the most important half over that of all experts, of each set."""
    found_ = [[npae(book, v, select) for select in (*HALVES[::-1], "all")] for v in variants]
    return [(least.mean / all_.mean, most.mean / all_.mean)
            for least, most, all_ in found_ if least and most and all_]


def draw_verdict(book):
    """One figure: when a committee pays, and when the graph's ranking helps to choose it."""
    made_, real = made_variants(book), [name for name in REAL]
    left = [(name, over_nearest(book, name, made_), over_nearest(book, name, real))
            for name in ("cells", "local experts", "NPAE on all")]
    right = [("K-means parts", over_all(book, made_), over_all(book, real)),
             ("random parts", over_all(book, [v + RANDOM for v in made_]), [])]
    figures.clouds(book.path("committee.svg"), [
        figures.Cloud("When a committee pays", "seconds over those of nearest rows",
                      "error over that of nearest rows", left, "paying"),
        figures.Cloud("When the ranking helps", "least important half: error over that of all",
                      "most important half: error over that of all", right, "ranking")])
    book.page.heading("When a committee pays, and when the ranking helps")
    book.page.figure(
        "committee.svg", "Each point is a set of data, small ones are made (means over the seeds), "
        "large ones real (one seed); all axes are logarithmic. Left: prediction time and SMSE over "
        "those of nearest rows; below 1 on both axes is better and faster. Right: SMSE of NPAE on half "
        "of the experts over that on all, the half that the graph finds most important upwards, the "
        "other half to the right. On the diagonal one half is as good as the other, below it the "
        "ranking is right; a half at 1 has the error of all.")


def report(book):
    page = book.page
    page.text(
        f"{ROWS:,} training rows of a draw of the Matérn 3/2 prior, uniform in a cube; parts of 250 "
        "rows by K-means, each with half as many near rows of others; hyperparameters learned once "
        "for all methods. One thing is changed at a time from length-scale 0.6, noise 0.1, 4 inputs, "
        "1,000 queries; the length-scale grows with the cube's diagonal. The error is against the "
        "function without noise. Local experts: the two that explain most at each query. graph:0.5: "
        "the half that is most important in the graph, for all queries. Real sets: the "
        "first 10,000 rows and 2,000 queries, 20 experts, one seed; their errors are against noisy "
        "targets.")
    draw_verdict(book)
    page.heading("Error and time against what the data are like")
    panels = []
    for metric, title in (("smse", "SMSE"), ("seconds", "seconds")):
        for factor, levels in FACTORS.items():
            series = []
            for name in METHODS:
                found_ = [(v, ours(book, metric, name, factor, v)) for v in levels]
                series.append((name, [(v, s.mean, s.spread) for v, s in found_ if s]))
            panels.append(figures.Panel(title, LABELS[factor], series, logx=True, logy=True))
    figures.lines(book.path("factors.svg"), panels, columns=4)
    page.figure("factors.svg", "Error (above) and prediction time (below) against smoothness, "
                "noise, inputs and queries; mean over the seeds, bars are one standard deviation, "
                "all axes logarithmic. Seconds of one method are those of a call that may be the "
                "first to make factors, on a machine with other work: read them as ratios.")
    page.heading("All numbers")
    for metric, digits in (("smse", 5), ("msll", 3), ("seconds", 2)):
        rows = [[f"{factor} {value:g}", *(show(ours(book, metric, name, factor, value), digits)
                                          for name in METHODS)]
                for factor, levels in FACTORS.items() for value in levels]
        rows += [[name, *(show(stat(pick(book.scores, variant=name, method=m, select=s), metric),
                               digits) for m, s in METHODS.values())]
                 for name in REAL if pick(book.scores, variant=name)]
        page.table("Seconds" if metric == "seconds" else metric.upper(), ["data", *METHODS],
                   [("", None, rows)])
    ranking_table(book)


def ranking_table(book):
    rows = []
    for variant in (*made_variants(book), *REAL):
        for label in (variant, variant + RANDOM):
            line = [npae(book, label, select) for select in (*HALVES, "all")]
            if all(line):
                rows.append([label, *(show(s, 4) for s in line)])
    book.page.table("SMSE of NPAE on half of the experts",
                    ["data", "most important half", "least important half", "all"],
                    [("", None, rows)])


def explain(book):
    def ratio(metric, left, right):
        found_ = [ours(book, metric, left, f, v).mean / ours(book, metric, right, f, v).mean
                  for f, levels in FACTORS.items() for v in levels if ours(book, metric, left, f, v)]
        return f"{min(found_):.2f} to {max(found_):.2f}"

    def ahead(*variants):
        pairs = over_all(book, [v for some in variants for v in some])
        return f"{sum(most < least for least, most in pairs)} of {len(pairs)}"

    def on_real(name):
        ways = [(label, *over_nearest(book, way, [name])[0])
                for label, way in (("two experts of each query", "local experts"),
                                   ("all experts", "NPAE on all"))]
        return f"{name}, over nearest rows: " + "; ".join(
            f"{label} {error:.2f} of the error in {seconds:.2f} of the time"
            for label, seconds, error in ways) + "."
    made_ = made_variants(book)
    random = [v + RANDOM for v in made_]
    book.page.heading("What it says")
    book.page.points([
        f"Two experts of each query against the nearest rows: {ratio('smse', 'local experts', 'nearest rows')} "
        f"of their error, in {ratio('seconds', 'local experts', 'nearest rows')} of their time.",
        f"All experts against the nearest rows: {ratio('smse', 'NPAE on all', 'nearest rows')} of their "
        f"error, in {ratio('seconds', 'NPAE on all', 'nearest rows')} of their time.",
        "The graph's half against all experts: "
        f"{ratio('smse', 'graph:0.5', 'NPAE on all')} of their error, in "
        f"{ratio('seconds', 'graph:0.5', 'NPAE on all')} of their time.",
        "The most important half is ahead of the least important one on "
        f"{ahead(made_, REAL)} sets with K-means parts and on {ahead(random)} with random parts.",
        *(on_real(name) for name in REAL if over_nearest(book, "local experts", [name])),
    ])
