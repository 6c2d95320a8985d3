"""Section 4.2.2: Sarcos, 72 experts; the official split, and the one without its leaked rows."""
from datasets import train_and_test
from large import (independent, local, lost_rows, npae_star, own_default, paper_fit)

UNLIMITED = ("--min-size", "1", "--max-size", "100000")
PENALTY = 0.1


def plan(setup):
    M = 12 if setup.quick else 72
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
    """One seed each: latent space, which rows a selection hurts, no size limits."""
    seed = setup.seeds[0]
    model = paper_fit(f"sarcos seed{seed}", "sarcos", train, seed, M, PENALTY)
    unlimited = paper_fit(f"unlimited seed{seed}", "sarcos", train, seed, M, PENALTY, *UNLIMITED,
                          variant="no size limits")
    return [independent(model, test, "latent"), *lost_rows(model, test), unlimited,
            independent(unlimited, test, methods="gpoe,bcm,rbcm", seconds=30)]
