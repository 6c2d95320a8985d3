"""Section 4.2.2 and its appendix: what Protein, Sarcos and Song have in common."""
import numpy as np

import figures
from cells import PAPER, evaluate, fit, predict
from datasets import target
from methods import PLAIN, rows_of
from report import comparison
from tables import pick, show, stat

INDEPENDENT = "poe,gpoe,bcm,rbcm,grbcm"
ON_TEST = ("--graph-on", "test")


def paper_fit(name, data, train, seed, M, penalty, *options, variant="", seconds=40):
    about = {"data": data, "partition": "kmeans", "M": M, "seed": seed, "penalty": penalty}
    if variant:
        about["variant"] = variant
    return fit(name, train, about, "--experts", str(M), *PAPER, "--lambda", str(penalty), *options,
               seconds=seconds)


def independent(model, test, space="observed", methods=INDEPENDENT, seconds=60):
    """Of the paper's own reading, observed space and no variant, the page has the seconds."""
    return evaluate(model, f"independent {space}", test, "--method", methods, "--select",
                    "all,graph:0.8", "--space", space, *ON_TEST, seconds=seconds,
                    timed=space == "observed" and "variant" not in model.about)


def npae_star(model, test, alpha=0.8, seconds=120):
    return evaluate(model, "npae*", test, "--method", "npae", "--select", f"graph:{alpha}",
                    *ON_TEST, seconds=seconds, timed="variant" not in model.about)


def local(model, test):
    return evaluate(model, "own local", test, "--method", "npae", "--select", "local:4", seconds=5,
                    variant="own: 4 best experts a query")


def own_default(data, train, test, seed):
    about = {"data": data, "partition": "kmeans", "M": "auto", "seed": seed,
             "variant": "own: default settings"}
    model = fit(f"own default {data} seed{seed}", train, about, "--calibrate", seconds=35)
    return [model, evaluate(model, "own default", test, seconds=25)]


def lost_rows(model, test):
    """Who is hurt by a selection: the surest expert of each row before and after it, and RBCM's
    means."""
    return [predict(model, f"{method} {select}", test, (column,), "--method", method, "--select",
                    select, "--space", "observed", *ON_TEST, seconds=6)
            for method, column in (("single", "std"), ("rbcm", "mean"))
            for select in ("all", "graph:0.8")]


# ---- The page ----------------------------------------------------------------------------------


def own_rows(data, M):
    return [("NPAE, 4 experts a query",
             {"data": data, "M": M, "variant": "own: 4 best experts a query"}),
            ("default settings, calibrated", {"data": data, "variant": "own: default settings"})]


def tables(book, data, M, paper_M):
    comparison(book, "Paper, table 2", 2, "kmeans", M, paper_M, data, own_rows(data, M))
    comparison(book, "Paper, table 5 (appendix)", 5, "kmeans", M, paper_M, data, own_rows(data, M))


def times(book, data, M, file_name, title):
    groups = {"all experts": [], "the important 80 % (starred)": []}
    for name in PLAIN:
        for label, star in zip(groups, ("", "*")):
            s = book.ours("seconds", data=data, M=M, **rows_of(name + star))
            groups[label].append((s.mean, s.spread))
    figures.bars(book.path(file_name), [(title, list(PLAIN), groups)], "seconds")
    npae = book.ours("seconds", data=data, M=M, method="npae")
    book.page.figure(file_name, "Running time of the independent rules on the whole test set, mean "
                     "over the seeds, bars are one standard deviation. Starred ones include "
                     f"learning the graph on the test inputs. NPAE* took {show(npae, 0)} s.")


def variants(book, data, labels):
    """The same rules under other readings of the paper, for one seed."""
    rows = []
    for label, wanted in labels:
        for name in ("GPoE", "BCM", "RBCM"):
            found = []
            for star in ("", "*"):
                where = {**rows_of(name + star), "data": data, **wanted}
                found += [show(stat(pick(book.scores, **where), m), 4) for m in ("smse", "msll")]
            if found[0]:
                rows.append([label, name, *found])
    book.page.table("Plain and starred rules under other readings of the paper (one seed where not "
                    "said otherwise)",
                    ["reading", "rule", "SMSE", "MSLL", "SMSE, starred", "MSLL, starred"],
                    [("", None, rows)], text_columns=(1,), group_columns=(2, 4))


def hurt(book, fit_name, test):
    """RBCM's error in the rows whose surest expert the selection drops, and in the others."""
    def column(what, name):
        return np.array(book.results[f"{fit_name}: {what}"][name])
    y = target(book.setup, test)
    lost = column("single graph:0.8", "std") > 1.000001 * column("single all", "std")
    rows = []
    for label, chosen in (("keep their surest expert", ~lost), ("lose it", lost)):
        errors = [((y - column(f"rbcm {select}", "mean"))[chosen]**2).sum() / (len(y) * y.var())
                  for select in ("all", "graph:0.8")]
        rows.append([f"rows that {label}", f"{chosen.sum()} ({100 * chosen.mean():.0f} %)",
                     *(f"{e:.4f}" for e in errors)])
    rows.append(["all rows", len(y), *(f"{sum(float(r[k]) for r in rows):.4f}" for k in (2, 3))])
    book.page.table("Where RBCM and RBCM* make their errors: share of the SMSE (first seed)",
                    ["test rows", "how many", "RBCM", "RBCM*"], [("", None, rows)])
    return lost.mean()
