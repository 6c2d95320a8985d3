"""Section 4.2.2: Protein (CASP), 70 experts.

The paper does not say which target it used; on log(1 + RMSD) its independent rules come out."""
import numpy as np

from datasets import train_and_test
from large import (independent, local, lost_rows, npae_star, own_default, paper_fit)

PENALTY = "rel:0.1"  # 0.1 itself leaves no edge in standardised units
UNLIMITED = ("--min-size", "1", "--max-size", "100000")


def log_target(rows):
    return np.column_stack([rows[:, :-1], np.log1p(rows[:, -1])])


def plan(setup):
    M = 12 if setup.quick else 70
    train, test = train_and_test(setup, "protein", "-log", log_target)
    cells = []
    for seed in setup.seeds:
        model = paper_fit(f"log seed{seed}", "protein", train, seed, M, PENALTY)
        cells += [model, independent(model, test), npae_star(model, test), local(model, test)]
        cells += own_default("protein", train, test, seed)
    return cells + extras(setup, M, train, test)


def extras(setup, M, train, test):
    """One seed each: latent space, the paper's own lambda, no size limits, the raw target."""
    seed = setup.seeds[0]
    model = paper_fit(f"log seed{seed}", "protein", train, seed, M, PENALTY)
    cells = [independent(model, test, "latent"), *lost_rows(model, test),
             paper_fit(f"lambda 0.1 seed{seed}", "protein", train, seed, M, 0.1,
                       variant="lambda 0.1")]
    model = paper_fit(f"unlimited seed{seed}", "protein", train, seed, M, PENALTY, *UNLIMITED,
                      variant="no size limits")
    cells += [model, independent(model, test, methods="gpoe,bcm,rbcm", seconds=30)]
    raw_train, raw_test = train_and_test(setup, "protein")
    model = paper_fit(f"raw seed{seed}", "protein", raw_train, seed, M, PENALTY,
                      variant="raw target")
    return cells + [model, independent(model, raw_test)]
