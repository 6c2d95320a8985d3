"""Proposition 1: does a selection converge to NPAE, and to the truth, as rows and experts grow?

Rows n and experts M = 8 sqrt(n / 500) grow together, so that parts of n / M rows grow too, as the
proposition asks.  Hyperparameters are given, so that nothing but n changes; test points lie inside
the range of the data.  Two ways of growing: the domain stays (the paper's function on [0, 1]), or
it grows with M (a draw of the prior, two length-scales an expert).  The exact GP is NumPy's.
"""
import functools
import os

import numpy as np

import exact
import figures
from cells import fit, predict
from datasets import made, read_csv
from synthetic import function
from tables import pick, show, stat, write_csv

TITLE = "Consistency: Proposition 1 as rows and experts grow"
SIZES = (500, 2000, 8000, 32000, 64000)
TESTS = 200
PARTITIONS = ("kmeans", "random")
NOISE = 0.04                                      # variance
THETA = {"fixed": (0.235, 60.0, NOISE),           # length-scale, signal and noise variance
         "growing": (0.1, 1.0, NOISE)}
DOMAINS = {"fixed": "fixed domain [0, 1], the paper's function",
           "growing": "growing domain [0, M / 5], a draw of the prior"}
METHODS = {"NPAE": ("npae", "all"), "NPAE*(0.8)": ("npae", "graph:0.8"),
           "NPAE*(0.5)": ("npae", "graph:0.5"), "NPAE*(0.2)": ("npae", "graph:0.2"),
           "GRBCM": ("grbcm", "all"), "GRBCM*(0.8)": ("grbcm", "graph:0.8"),
           "GRBCM*(0.5)": ("grbcm", "graph:0.5")}
WAVES = 500                                       # of a draw of the prior
COLUMNS = ["data", "partition", "n", "M", "seed", "method", "select", "mse", "worst", "loss",
           "to_exact", "exact_mse", "exact_loss", "cell"]


def experts_of(n):
    return round(8 * (n / 500)**0.5)


# ---- Data ------------------------------------------------------------------------------------


def draw(seed, lengthscale):
    """A function that is a draw of the prior: a sum of cosines with random frequencies."""
    rng = np.random.default_rng([seed, 24])
    frequency = rng.standard_normal(WAVES) / lengthscale
    phase = rng.uniform(0, 2 * np.pi, WAVES)

    def value(x):
        return np.array([np.cos(frequency * v + phase).sum() for v in x]) * (2 / WAVES)**0.5
    return value


def truth(domain, seed):
    return function if domain == "fixed" else draw(seed, THETA[domain][0])


def length(domain, n):
    return 1.0 if domain == "fixed" else experts_of(n) / 5


def points(domain, seed, n, part):
    """Training rows have noise, test rows have none."""
    rng = np.random.default_rng([seed, n, part == "test"])
    x = rng.uniform(0, length(domain, n), TESTS if part == "test" else n)
    noise = 0.0 if part == "test" else NOISE**0.5 * rng.standard_normal(len(x))
    return "x,y", np.column_stack([x, truth(domain, seed)(x) + noise])


def standardised(domain, rows):
    """The hyperparameters in units of the rows' own spread, as --theta takes them."""
    lengthscale, signal, noise = THETA[domain]
    spread = rows.std(axis=0)
    return ",".join(f"{v:.12g}" for v in (lengthscale / spread[0], signal / spread[1]**2,
                                          noise / spread[1]**2))


# ---- Scores: against the truth without noise, and against the exact GP -------------------------


def loss(error, variance):
    """-log N(y; mean, variance + noise), averaged over the noise of y about the truth."""
    total = variance + NOISE
    return 0.5 * np.log(2 * np.pi * total) + (error**2 + NOISE) / (2 * total)


@functools.lru_cache(maxsize=2)
def exact_gp(domain, train, test):
    rows, queries = (read_csv(path)[1] for path in (train, test))
    return exact.predict(rows[:, 0], rows[:, 1], queries[:, 0], *THETA[domain])


def score(columns, domain, train, test):
    y = read_csv(test)[1][:, 1]
    mean, std = (np.array(columns[name]) for name in ("mean", "std"))
    best, variance = exact_gp(domain, train, test)
    found = {"mse": ((mean - y)**2).mean(), "worst": ((mean - y)**2).max(),
             "loss": loss(mean - y, std**2).mean(), "to_exact": ((mean - best)**2).mean(),
             "exact_mse": ((best - y)**2).mean(), "exact_loss": loss(best - y, variance).mean()}
    return {name: float(f"{value:.6g}") for name, value in found.items()}


# ---- What to run -----------------------------------------------------------------------------


def sizes(setup):
    return (500, 1000) if setup.quick else SIZES


def plan(setup):
    return [cell for n in sizes(setup) for domain in DOMAINS for seed in setup.seeds
            for partition in PARTITIONS for cell in of_model(setup, n, domain, seed, partition)]


def of_model(setup, n, domain, seed, partition):
    train, test = (made(setup, f"{domain}-n{n}-seed{seed}-{part}.csv",
                        lambda part=part: points(domain, seed, n, part))
                   for part in ("train", "test"))
    paths = [os.path.join(setup.folder, word) for word in (train, test)]
    M = experts_of(n)
    about = {"data": domain, "partition": partition, "n": n, "M": M, "seed": seed}
    model = fit(f"{domain} {partition} n{n} seed{seed}", train, about, "--experts", str(M),
                "--partition", partition, "--partition-metric", "input", "--kernel", "se",
                "--theta", standardised(domain, read_csv(paths[0])[1]), seconds=n / 2e4)
    cells = [model]
    for name, (method, select) in METHODS.items():
        cells.append(predict(model, name, test, ("mean", "std"), "--latent", "--method", method,
                             "--select", select, "--graph-on", "test", seconds=(n / 15000)**2 + 0.2,
                             score=lambda columns, paths=paths: score(columns, domain, *paths),
                             method=method, select=select))
    return cells
