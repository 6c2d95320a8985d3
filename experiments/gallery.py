"""Expert graphs on a page: one picture for each share of experts."""
from cells import share, slug
from figures import expert_graph

SHARES = (0.5, 0.7, 0.8)
LEGEND = ("Filled: the most important experts (Definition 3); a larger node is more important. Double "
          "ring: the experts with the smallest error of their own on the test set, as many as are "
          "filled. A wider edge is a stronger dependence given all other experts.")


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
        graph, pictures = book.results[cell.name], []
        for alpha in SHARES:
            selected, best = marks(graph["nodes"], alpha)
            name = f"graph-{slug(cell.name.split(':')[0])}-{round(100 * alpha)}.svg"
            expert_graph(book.path(name), graph, selected, best)
            pictures.append((name, f"M = {M}, α = {round(100 * alpha)} %: {len(selected & best)} of "
                             f"the {len(selected)} selected are among the {len(best)} best; "
                             f"{len(graph['edges'])} edges"))
        book.page.row(pictures)
    book.page.text(LEGEND)
