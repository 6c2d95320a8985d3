"""Section 4.2.2: Sarcos, 72 experts; the official split, and the one without its leaked rows."""
import numpy as np

import published
from cells import evaluate, fit, fit_again, fit_with_noise
from datasets import read_csv, target, train_and_test
from large import (ON_TEST, hurt, independent, local, lost_rows, npae_star, own_default, paper_fit, tables,
                   times, variants)
from methods import rows_of
from report import closeness
from tables import minus, pick, show, stat

EXPERTS = 72
TITLE = "Sarcos, 72 experts (section 4.2.2 and appendix)"

UNLIMITED = ("--min-size", "1", "--max-size", "100000")
PENALTY = 0.1
SMALLER_NOISE = (0.5, 0.2)  # of what training found


def experts(setup):
    return 12 if setup.quick else EXPERTS


def plan(setup):
    M = experts(setup)
    cells = []
    for data in ("sarcos", "sarcos_noleak"):
        train, test = train_and_test(setup, data)
        for seed in setup.seeds:
            model = paper_fit(f"{data} seed{seed}", data, train, seed, M, PENALTY)
            cells += [model, independent(model, test), local(model, test)]
            if data == "sarcos" or seed == setup.seeds[0]:
                cells.append(npae_star(model, test))
            cells += own_default(data, train, test, seed)
    return cells + extras(setup, M, *train_and_test(setup, "sarcos"))


def extras(setup, M, train, test):
    """One seed each: latent space, which rows a selection hurts, no size limits, less noise."""
    seed = setup.seeds[0]
    model = paper_fit(f"sarcos seed{seed}", "sarcos", train, seed, M, PENALTY)
    unlimited = paper_fit(f"unlimited seed{seed}", "sarcos", train, seed, M, PENALTY, *UNLIMITED,
                          variant="no size limits")
    return [independent(model, test, "latent"), *lost_rows(model, test), unlimited,
            independent(unlimited, test, methods="gpoe,bcm,rbcm,grbcm"),
            *less_noise(model, train, test, M, seed),
            *other_readings(setup, model, train, test, M, seed)]


# Other readings, each with what it changes: one seed, theta of the first fit but for the tolerance.
TRIED = {"loose training": "training stops at a tolerance of 1e-3",
         "communication": "one random part, K-means for the others, no size limits",
         "learned metric": "parts by the learned length-scales instead of the inputs as they are",
         "torque lambda": "λ = 0.1 in units of the torque, squared"}


def other_readings(setup, model, train, test, M, seed):
    same = ("--experts", str(M), "--kernel", "se", "--graph", "glasso")
    torque = 0.1 / target(setup, train).var()
    options = {
        "loose training": ("--partition-metric", "input", "--lambda", str(PENALTY), "--train",
                           "parts", "--tolerance", "1e-3"),
        "communication": ("--partition-metric", "input", "--lambda", str(PENALTY), "--partition",
                          "communication", *UNLIMITED),
        "learned metric": ("--partition-metric", "learned", "--lambda", str(PENALTY)),
        "torque lambda": ("--partition-metric", "input", "--lambda", f"{torque:.4g}")}
    cells = []
    for name, words in options.items():
        about = {"data": "sarcos", "partition": "kmeans", "M": M, "seed": seed, "variant": name}
        if name == "loose training":
            one = fit(f"tried {name}", train, about, *same, *words, seconds=30)
        else:
            one = fit_again(model, f"tried {name}", train, about, *same, *words)
        cells += [one, evaluate(one, "independent", test, "--method", "gpoe,bcm,rbcm,grbcm",
                                "--select", "all,graph:0.8", "--space", "observed", *ON_TEST,
                                seconds=60, timed=False)]
    return cells


def less_noise(model, train, test, M, seed):
    cells = []
    for factor in SMALLER_NOISE:
        about = {"data": "sarcos", "partition": "kmeans", "M": M, "seed": seed,
                 "variant": f"noise x {factor}"}
        less = fit_with_noise(model, factor, train, about, "--experts", str(M), "--kernel", "se",
                              "--partition-metric", "input", "--graph", "glasso", "--lambda",
                              str(PENALTY))
        cells += [less, *(independent(less, test, space, methods="bcm,rbcm,grbcm", seconds=30)
                          for space in ("observed", "latent"))]
    return cells


# ---- The page ----------------------------------------------------------------------------------


def report(book):
    M, page = experts(book.setup), book.page
    page.text(
        "44,484 training rows with 21 inputs, 4,449 test rows, the first torque as target, "
        "K-means, λ = 0.1, α = 0.8, the graph learned on the test inputs. Independent rules in "
        "observed space, as in the paper (which spells the set ‘Sacros’).")
    closeness(book)
    page.heading("Tables 2 and 5: the official split")
    tables(book, "sarcos", M, EXPERTS)
    page.heading("The same without the leaked rows")
    page.text(
        "Every row of the official test set is also a training row. Here these rows are left out "
        "of the training set: 40,035 rows. NPAE* for one seed. The paper's numbers are those of "
        "the official split.")
    tables(book, "sarcos_noleak", M, EXPERTS)
    page.heading("Running time (figure in the appendix)")
    times(book, "sarcos", M, "times.svg", "Sarcos")


def leaked(setup):
    """How many test rows are training rows: the i-th is the 10 i-th, up to the last digits."""
    train, test = (read_csv(f"{setup.data}/sarcos/{part}.csv.gz")[1] for part in ("train", "test"))
    same = np.abs(train[::10][:len(test)] - test).max(axis=1) < 1e-5
    return same.sum(), len(test)


RULES = ("BCM", "BCM*", "RBCM", "RBCM*", "GRBCM", "GRBCM*")
READINGS = [("as in the tables, observed space", "", "observed"), ("latent space", "", "latent"),
            *((f"{factor} of the noise{more}", f"noise x {factor}", space)
              for factor in SMALLER_NOISE
              for more, space in (("", "observed"), (", latent space", "latent"))),
            ("parts without size limits", "no size limits", "observed"),
            *((label, variant, "observed") for variant, label in TRIED.items())]


def tried(scores, paper, seed):
    """The paper's numbers, then each reading's: "SMSE / MSLL" of each rule; nothing where not run."""
    def both(rows):
        return " / ".join(f"{stat(rows, m).mean:.{digits}f}"
                          for m, digits in (("smse", 4), ("msll", 3))) if rows else ""
    yield ["the paper", *(f"{paper[n]['smse']} / {paper[n]['msll']}" for n in RULES)]
    for label, variant, space in READINGS:
        yield [label, *(both(pick(scores, data="sarcos", seed=seed, variant=variant,
                                  **{**rows_of(name), "space": space})) for name in RULES)]


def tried_table(book, seed):
    paper = published.numbers(book.published, 5, "sarcos", "kmeans", EXPERTS)
    rows = [[label, *map(minus, cells)] for label, *cells in tried(book.scores, paper, seed)]
    book.page.table(
        "What was tried to come nearer to the paper: SMSE / MSLL, first seed, official split. Less "
        "noise: theta as found, its noise variance reduced. Hyperparameters of each expert's own "
        "were tried with another program and did not match either; quorum has none",
        ["reading", *RULES], [("", None, rows)],
        group_columns=(1, 3, 5))


def explain(book):
    page, M, seed = book.page, experts(book.setup), book.setup.seeds[0]
    _, test = train_and_test(book.setup, "sarcos")
    count, rows = leaked(book.setup)
    page.heading("Why", 3)
    variants(book, "sarcos", [("official split, all seeds", {}),
                              ("no size limits of parts", {"variant": "no size limits"})])
    share = hurt(book, f"sarcos seed{seed}", test)
    tried_table(book, seed)

    def both(method, select, space):
        return [book.ours("smse", data=d, M=M, method=method, select=select, space=space)
                for d in ("sarcos", "sarcos_noleak")]
    rbcm, npae = both("rbcm", "all", "observed"), both("npae", "graph:0.8", "latent")
    starred = book.ours("smse", data="sarcos", M=M, method="poe", select="graph:0.8",
                        space="observed")
    own = [book.ours("smse", data=d, variant="own: default settings")
           for d in ("sarcos", "sarcos_noleak")]
    noise = {v: stat(pick(book.fits, data="sarcos", variant=v), "noise_variance")
             for v in ("", "own: default settings")}
    local_smse = book.ours("smse", data="sarcos", M=M, variant="own: 4 best experts a query")
    page.points([
        f"{count} of the {rows} official test rows are in the training set. Without them RBCM's "
        f"SMSE is {show(rbcm[1], 4)} instead of {show(rbcm[0], 4)}, NPAE*'s {show(npae[1], 4)} "
        f"instead of {show(npae[0], 4)}. Figures on the official split say how well training "
        "targets are smoothed, not how well new ones are predicted.",
        "A misprint: the paper's GPoE* has SMSE 0.0038 and its PoE* 0.038, but PoE and GPoE with "
        f"weights 1/M have the same mean, so both must be 0.038. Ours is {show(starred, 4)} for "
        "both. RBCM* is 0.0041 in the paper's table 2 and 0.005 in table 5.",
        "Starred rules. In the paper each is better than the plain rule. Here they are not: parts "
        f"are regions, and {100 * share:.0f} % of the test rows lose their surest expert; the "
        "table of RBCM's errors shows that the loss is in these rows. No other reading changes this: "
        "in the last table every starred rule has a larger SMSE than the plain one.",
        "The paper's BCM, RBCM, GRBCM and NPAE* are better than ours here. On a split that leaks, "
        "a smaller noise wins, because training rows are to be repeated. The last table shows it: "
        "everything else the same, half of the noise takes about a fifth off the errors, a fifth of "
        "it a third or more, and the paper's SMSE of 0.007, 0.0045 and 0.0037 are within that "
        "range. The MSLL says the same only in latent space; in observed space less noise is "
        "punished. So the paper's figures need a smaller noise than the likelihood of the parts "
        "asks for here, and its SMSE and MSLL together fit no one row of the table. This project's "
        "default "
        f"settings found a noise of {noise['own: default settings'].mean:.1g} of the variance "
        f"(the paper's way: {noise[''].mean:.2g}) and have SMSE {own[0].mean:.1g} on the official "
        f"split, but {show(own[1], 4)} without the leaked rows. So numbers on the official split "
        "depend on the noise that training found, which the paper does not give, at least as much "
        "as on the rule.",
        "Choosing experts for each query instead of once for all avoids the loss: with the same "
        f"experts (official split), SMSE is {show(local_smse, 4)} with the 4 best of each query "
        f"and {show(npae[0], 4)} with the 58 of NPAE*.",
    ])
