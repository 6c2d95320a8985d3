"""Puts the committed results into docs/reproduction.md.

    python3 experiments/summary.py [--check]

Between `<!-- table: NAME -->` and `<!-- end -->` stands a table made from experiments/results; this
writes it anew, so that text and results cannot disagree.
"""
import os
import re
import sys

import claims
import committee
import consistency
import protein
import published
import sarcos
from methods import rows_of
from tables import pick, read_csv, stat

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "docs", "reproduction.md")
RESULTS = os.path.join(HERE, "results")


def scores(experiment):
    return read_csv(os.path.join(RESULTS, experiment, "scores.csv"))


def table(header, lines):
    return "\n".join(["| " + " | ".join(header) + " |", "|" + "---|" * len(header)] +
                     ["| " + " | ".join(map(str, line)) + " |" for line in lines])


def shown(found, metric, digits):
    """The mean of these rows; nothing without rows."""
    mean = stat(found, metric)
    return f"{mean.mean:.{digits}f}" if mean else ""


def seeds(found):
    return len({r["seed"] for r in found})


# ---- The tables --------------------------------------------------------------------------------


def claims_table():
    return table(["claim", "verdict", "cases that hold"], []) + "\n" + "\n".join(claims.lines(RESULTS))


def consistency_table():
    """The loss above that of all experts, by n."""
    rows = read_csv(os.path.join(RESULTS, "consistency", "consistency.csv"))

    def gap(selection, **where):
        method, select = consistency.METHODS[selection]
        chosen, whole = (stat(pick(rows, method=method, select=s, **where), "loss")
                         for s in (select, "all"))
        return f"{chosen.mean - whole.mean:.4f}" if chosen and whole else ""

    lines = [[f"{domain}, {partition}", selection,
              *(gap(selection, data=domain, partition=partition, n=n) for n in consistency.SIZES)]
             for domain in consistency.DOMAINS for partition in consistency.PARTITIONS
             for selection in ("NPAE*(0.8)", "NPAE*(0.5)", "GRBCM*(0.8)")]
    many = {n: seeds(pick(rows, n=n)) for n in consistency.SIZES}
    return table(["domain, parts", "selection", *(f"n = {n:,}" for n in consistency.SIZES)], lines) + (
        "\n\nMeans over seeds: " + ", ".join(f"{many[n]} at {n:,}" for n in consistency.SIZES) + ".")


def protein_table():
    """The paper's numbers under the communication reading."""
    rows, lines, near = scores("protein"), [], []
    paper = {**published.numbers(published.load(), 2, "protein", "kmeans", protein.EXPERTS),
             **published.numbers(published.load(), 5, "protein", "kmeans", protein.EXPERTS)}
    for name, numbers in paper.items():
        found = [r for k in (0, *protein.SPLITS)
                 for r in pick(rows, variant=f"communication, split {k}", **rows_of(name))]
        line = [name, len(found)]
        for metric, digits in (("smse", 4), ("msll", 3)):
            mean = stat(found, metric)
            line += [numbers[metric], shown(found, metric, digits)]
            if mean:
                near.append(published.near(mean.mean, numbers[metric], metric))
                line.append("yes" if near[-1] else "no")
            else:
                line.append("")
        lines.append(line)
    header = ["rule", "runs", *(word for metric in ("SMSE", "MSLL")
                                for word in (f"{metric}, paper", "ours", "comes out"))]
    return table(header, lines) + (
        f"\n\n{sum(near)} of {len(near)} numbers come out.")


def sarcos_table():
    """SMSE / MSLL of one seed under each reading."""
    paper = published.numbers(published.load(), 5, "sarcos", "kmeans", sarcos.EXPERTS)
    return table(["reading", *sarcos.RULES], sarcos.tried(scores("sarcos"), paper, seed=1))


PAIRS = (("local experts", "nearest rows"), ("local experts", "NPAE on all"),
         ("graph:0.5", "NPAE on all"), ("NPAE on all", "nearest rows"), ("cells", "nearest rows"))


def ratio_table(rows, variants):
    """Error and seconds of one way over those of another: of made data, and of each real set."""
    def ratios(pair, metric, of):
        means = [[stat(pick(rows, variant=v, method=m, select=s), metric).mean
                  for m, s in (committee.METHODS[name] for name in pair)] for v in of]
        found = sorted(left / right for left, right in means)
        return f"{found[0]:.2f}" + (f" to {found[-1]:.2f}" if len(found) > 1 else "")

    where = [("made data", variants), *((name, [name]) for name in committee.REAL)]
    return table(["one way over another", *(f"{name}: {metric}" for name, _ in where
                                            for metric in ("error", "seconds"))],
                 [[" / ".join(pair), *(ratios(pair, metric, of) for _, of in where
                                       for metric in ("smse", "seconds"))] for pair in PAIRS])


def halves_table(rows):
    """SMSE of NPAE on the most and on the least important half of the experts, and on all."""
    made = [f"{factor} {value:g}" for factor, levels in committee.FACTORS.items()
            if factor != "queries" for value in levels
            if factor == "lengthscale" or value != committee.BASE[factor]]
    lines = []
    for name in (*made, *committee.REAL):
        parts = [[stat(pick(rows, variant=name + more, method="npae", select=s), "smse")
                  for s in (*committee.HALVES, "all")] for more in ("", committee.RANDOM)]
        lines.append([name, *(f"{s.mean:.4f}" if s else "" for part in parts for s in part)])
    return table(["data", *(f"{parts}: {which}" for parts in ("K-means parts", "random parts")
                            for which in ("most important", "least important", "all"))], lines)


def committee_table():
    """SMSE of each way, mean of the seeds."""
    rows = scores("committee")
    others = [f"{factor} {value:g}" for factor, levels in committee.FACTORS.items()
              for value in levels if value != committee.BASE[factor]]
    cases = [("base", f"lengthscale {committee.BASE['lengthscale']:g}"),
             *((name, name) for name in (*others, *committee.REAL))]
    lines = [[label, *(shown(pick(rows, variant=variant, method=m, select=s), "smse", 4)
                       for m, s in committee.METHODS.values())] for label, variant in cases]
    return "\n\n".join((
        table(["data", *committee.METHODS], lines),
        ratio_table(rows, [variant for _, variant in cases[:-len(committee.REAL)]]),
        halves_table(rows)))


TABLES = {"claims": claims_table, "consistency": consistency_table, "protein": protein_table,
          "sarcos": sarcos_table, "committee": committee_table}


def filled(text):
    return re.sub(r"<!-- table: (\w+) -->\n.*?<!-- end -->",
                  lambda m: f"<!-- table: {m[1]} -->\n{TABLES[m[1]]()}\n<!-- end -->", text,
                  flags=re.DOTALL)


def main():
    with open(PAGE) as file:
        text = file.read()
    anew = filled(text)     # all of it before the page is opened to be written
    if "--check" in sys.argv:
        if anew != text:
            sys.exit("docs/reproduction.md differs from the results; run experiments/summary.py")
        return
    with open(PAGE, "w") as file:
        file.write(anew)


if __name__ == "__main__":
    main()
