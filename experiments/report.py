"""From finished cells to CSV files and a page."""
import os
from dataclasses import dataclass

import claims
import published
from cells import fits, scores
from methods import kind, rows_of
from page import Page
from tables import minus, number, pick, show, signed, stat, write_csv

SCORES = ["data", "partition", "M", "seed", "penalty", "variant", "method", "select", "space",
          "smse", "msll", "mae", "coverage95", "coverage99", "experts_used", "seconds", "cell"]
FITS = ["data", "partition", "M", "seed", "penalty", "variant", "kernel", "smallest", "largest",
        "evaluations", "nlml", "signal_variance", "noise_variance", "edges", "lambda",
        "fit_seconds", "cell"]
EXPERTS = ["data", "partition", "M", "seed", "expert", "rows", "importance", "rank", "mse",
           "mse_rank"]
DIFFERENCES = ["table", "dataset", "partition", "M", "method", "metric", "paper", "ours", "spread",
               "seeds", "difference"]
BANDS = ["method", "where", "seed", "mean_off", "width_off"]
PAGES = ("synthetic", "consistency", "pumadyn", "protein", "sarcos", "committee")
OWN = "This project's own, not in the paper"


@dataclass
class Book:
    """All that a page is made from."""
    setup: object
    page: Page
    cells: list
    results: dict
    scores: list
    fits: list
    experts: list
    cases: list
    published: list
    bands: list

    def path(self, name):
        return os.path.join(self.setup.folder, name)

    def ours(self, metric, **wanted):
        return stat(pick(self.scores, **wanted), metric)


# ---- Where it was made -------------------------------------------------------------------------


def command(setup):
    seeds = ",".join(map(str, setup.seeds))
    data = " --data DIR" if setup.data else ""
    return (f"quorum reproduce {setup.name}{data} --out DIR --seeds {seeds}"
            f"{' --quick' if setup.quick else ''}")


# ---- Parts that all pages have -----------------------------------------------------------------


def expert_rows(cells, results):
    """Tidy rows of the graphs: one for each expert."""
    for cell in cells:
        if cell.words[0] != "graph":
            continue
        nodes = results[cell.name]["nodes"]
        by_error = sorted(nodes, key=lambda n: (n["mse"], n["expert"]))
        for n in nodes:
            yield {**cell.about, **{k: n[k] for k in ("expert", "rows", "importance", "rank",
                                                      "mse")},
                   "mse_rank": 1 + by_error.index(n)}


def differences(book):
    """Every published number of this data set with ours beside it."""
    for row in book.published:
        if row["dataset"] != book.setup.name:
            continue
        wanted = rows_of(row["method"], 0.1 if row["dataset"] == "song" else 0.8)
        s = book.ours(row["metric"], data=row["dataset"], partition=row["partition"], M=row["M"],
                      **wanted)
        if s:
            yield {**row, "paper": row["value"], "ours": s.mean, "spread": s.spread,
                   "seeds": s.count, "difference": s.mean - float(row["value"])}


def comparison(book, caption, table, partition, M, paper_M=None, data=None, own=()):
    """A table of the paper with its numbers, ours and the differences; own rows set apart.

    `own`: (label, columns of scores.csv).  A quick look may have other M than the paper."""
    name = book.setup.name
    where = {"data": data or name, "partition": partition, "M": M}
    head = ["method", "type", "SMSE, paper", "ours", "difference", "MSLL, paper", "ours",
            "difference", "95 % covers", "seconds"]
    asked = book.ours("smse", **where, method="gpoe", select="all", space="latent")
    if asked:
        head.append(f"latent{', one seed' if asked.count == 1 else ''}: SMSE, MSLL")
    rows = []
    for method, paper in published.numbers(book.published, table, name, partition,
                                           paper_M or M).items():
        wanted = {**where, **rows_of(method, 0.1 if name == "song" else 0.8)}
        rows.append([method, kind(method), *beside(book, paper, wanted), *rest(book, wanted),
                     *([latent(book, wanted)] if asked else [])])
    extra = [[label, "", *beside(book, {}, w), *rest(book, w), *([""] if asked else [])]
             for label, w in own if book.ours("smse", **w)]
    book.page.table(caption, head, [("", None, rows), *([("own", OWN, extra)] if extra else [])],
                    text_columns=(1,), group_columns=(2, 5, 8, 10))


def beside(book, paper, wanted):
    cells = []
    for metric, digits in (("smse", 4), ("msll", 3)):
        s, text = book.ours(metric, **wanted), paper.get(metric, "")
        cells += [minus(text), show(s, digits),
                  signed(s.mean - float(text), digits) if s and text else ""]
    return cells


def rest(book, wanted):
    covered, seconds = book.ours("coverage95", **wanted), book.ours("seconds", **wanted)
    return [f"{100 * covered.mean:.1f} %" if covered else "",
            f"{seconds.mean:.2f}" if seconds else ""]


def latent(book, wanted):
    """The same method in latent space; NPAE has no other."""
    wanted = {**wanted, "space": "latent"}
    smse, msll = (book.ours(metric, **wanted) for metric in ("smse", "msll"))
    if wanted["method"] == "npae" or smse is None:
        return ""
    return f"{number(smse.mean, 4)}, {number(msll.mean, 3)}"


def come_out(found, dataset, rows):
    """(near, all) of the unique published cells, from rows of differences.csv."""
    ours = {(d["partition"], d["M"], d["method"], d["metric"]): float(d["ours"]) for d in found}
    cells = {k: v for k, v in published.unique(rows, dataset).items() if k in ours}
    near = [k for k, v in cells.items() if any(published.near(ours[k], x, k[3]) for x in v)]
    return len(near), len(cells)


def closeness(book):
    """How many of the published numbers come out."""
    near, count = come_out(list(differences(book)), book.setup.name, book.published)
    left_out = [text for (data, *_), text in published.MISPRINTS.items() if data == book.setup.name]
    if count:
        book.page.text(
            f"Of the paper's {count} numbers for this data, each counted once, {near} come out "
            "within 5 %, or 0.05 of an MSLL. Ours are means over the seeds with their standard "
            "deviation." + "".join(f" Not counted: {text}." for text in left_out))


def verdicts(book):
    """What agrees and what does not, by the numbers above."""
    page = book.page
    if not book.cases:  # an experiment of our own, of which the paper says nothing
        return
    page.heading("What agrees and what does not")
    sentences = dict.fromkeys(c.claim for c in book.cases)
    rows = []
    for sentence in sentences:
        holds = [c.holds for c in book.cases if c.claim == sentence]
        rows.append([sentence, claims.verdict(holds), f"{sum(holds)} of {len(holds)}"])
    page.table("The paper's claims, checked case by case (claims.csv has every case)",
               ["claim", "verdict", "cases that hold"], [("", None, rows)], text_columns=(1,))
    failing = [c for c in book.cases if not c.holds]
    if failing:
        page.commands(f"The {len(failing)} cases that do not hold",
                      [f"{c.claim}: {c.where}, {c.metric} {c.left:.4g} against {c.right:.4g}"
                       for c in failing])


def how_made(book, stored, missing):
    page = book.page
    page.heading("How this page was made")
    page.points([f"command: `{command(book.setup)}`",
                 *(f"{what}: {', '.join(sorted({s[what] for s in stored.values()}))}"
                   for what in ("machine", "version", "commit", "date"))])
    page.text(
        "Seconds are those of one `quorum evaluate` call on a machine that may have been busy "
        "with other work; they include making the experts' factors for the first method of a call "
        "and, for starred methods, learning the graph on the test inputs. The tables lie beside this "
        "page (links at its top); `cells.json` has what every command printed. In the commands, $DATA "
        "is the directory of the data sets, and work/ is made in the experiment's folder.")
    if missing:
        page.commands(f"{len(missing)} cells of the plan that were not run for this page", missing)
    page.commands(f"All {len(book.cells)} commands",
                  [stored[c.name]["command"] for c in book.cells])


def write_tables(book):
    if book.scores:
        write_csv(book.path("scores.csv"), SCORES, book.scores)
    write_csv(book.path("fits.csv"), FITS, book.fits)
    if book.cases:
        write_csv(book.path("claims.csv"), claims.COLUMNS, [c._asdict() for c in book.cases])
    if book.bands:
        write_csv(book.path("bands.csv"), BANDS, book.bands)
    if book.experts:
        write_csv(book.path("experts.csv"), EXPERTS, book.experts)
    rows = list(differences(book))
    if rows:
        write_csv(book.path("differences.csv"), DIFFERENCES, rows)


def link(book):
    """To the other pages, and to the tables beside this one."""
    tables = sorted(name for name in os.listdir(book.setup.folder) if name.endswith(".csv"))
    book.page.links = [
        ("Other pages", [(f"../{name}/{name}.html", name) for name in PAGES
                         if name != book.setup.name and not book.setup.quick]),
        ("Data", [(name, name) for name in [*tables, "cells.json"]])]


def write(experiment, setup, cells, stored):
    """Makes the page of finished cells (what is stored of them, by name); returns its path."""
    results = {name: s["result"] for name, s in stored.items()}
    missing = [c.name for c in cells if c.name not in stored]
    cells = [c for c in cells if c.name in stored]
    if not cells:
        raise SystemExit(f"quorum reproduce: {setup.folder} has no finished cells")
    rows, experts = list(scores(cells, results)), list(expert_rows(cells, results))
    book = Book(setup, Page(experiment.TITLE, setup.folder), cells, results, rows,
                list(fits(cells, results)), experts, [], published.load(), [])
    book.bands += experiment.bands(book) if hasattr(experiment, "bands") else []
    book.cases += claims.check(rows, experts, book.bands)
    if setup.quick:
        book.page.text("A quick look: fewer rows, experts and seeds than in the paper. The numbers "
                       "show that everything works, not what the paper found.", "quick")
    experiment.report(book)
    write_tables(book)
    verdicts(book)
    experiment.explain(book)
    how_made(book, stored, missing)
    link(book)
    path = book.path(setup.name + ".html")
    book.page.write(path)
    return path
