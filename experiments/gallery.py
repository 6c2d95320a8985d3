"""Expert graphs on a page: one picture for each share of experts."""
import numpy as np

from cells import share, slug
from figures import expert_graph, precision_map
from tables import pick, show, stat

SHARES = (0.5, 0.7, 0.8)
LEGEND = ("Filled: the most important experts (Definition 3); a larger node is more important. "
          "Double ring: the experts with the smallest error of their own on the test set, as many "
          "as are filled. A wider edge is a stronger dependence given all other experts; of many "
          "edges the strongest are drawn, two for each expert on average. The squares show the "
          "dependence of all pairs, experts in the order of their clusters.")


def marks(nodes, alpha):
    """The selected experts and the best ones, by number."""
    count = share(alpha, len(nodes))
    by_error = sorted(nodes, key=lambda n: (n["mse"], n["expert"]))
    return ({n["expert"] for n in nodes if n["rank"] <= count},
            {n["expert"] for n in by_error[:count]})


def draw(book, experts, seed):
    """Rows of graphs for the models with these numbers of experts."""
    for M in experts:
        cell = next((c for c in book.cells if c.words[0] == "graph" and c.about["M"] == M and
                     c.about["seed"] == seed), None)
        if cell is None:
            continue
        graph = book.results[cell.name]
        squares = f"precision-{slug(cell.name.split(':')[0])}.svg"
        precision_map(book.path(squares), graph)
        pictures = [(squares, f"M = {M}: |precision| of all pairs of experts, by cluster; "
                     f"{len(graph['edges'])} of {M * (M - 1) // 2} pairs have an edge")]
        for alpha in SHARES:
            selected, best = marks(graph["nodes"], alpha)
            name = f"graph-{slug(cell.name.split(':')[0])}-{round(100 * alpha)}.svg"
            expert_graph(book.path(name), graph, selected, best)
            pictures.append((name, f"M = {M}, α = {round(100 * alpha)} %: {len(selected & best)} "
                             f"of the {len(selected)} selected are among the {len(best)} best"))
        book.page.row(pictures)
    book.page.text(LEGEND)
    rows = [[M, *(show(s, 2) for s in agreement(book, M))] for M in experts
            if pick(book.experts, M=M)]
    book.page.table("Rank correlation of importance over the experts, mean ± standard deviation "
                    "over seeds",
                    ["M", "with a small error of one's own", "with the number of rows"],
                    [("", None, rows)])


def ranks(numbers):
    order = np.argsort(numbers, kind="stable")
    out = np.empty(len(numbers))
    out[order] = np.arange(len(numbers))
    return out


def agreement(book, M):
    """Spearman's correlation of importance with -mse and with rows, over the seeds."""
    found = []
    for seed in book.setup.seeds:
        experts = pick(book.experts, M=M, seed=seed)
        importance = ranks([e["importance"] for e in experts])
        found.append({"error": np.corrcoef(importance, ranks([-e["mse"] for e in experts]))[0, 1],
                      "rows": np.corrcoef(importance, ranks([e["rows"] for e in experts]))[0, 1]})
    return stat(found, "error"), stat(found, "rows")
