"""Section 4.1 and its appendix: the paper's one-dimensional function."""
import numpy as np

from cells import PAPER, evaluate, fit, graph, predict
from datasets import made

EXPERTS = (10, 20, 30, 40, 50)
GRAPHS = (10, 15, 20)
ALPHAS = tuple(round(0.1 * k, 1) for k in range(1, 11))
LAMBDAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
ON_TEST = ("--graph-on", "test")
BANDS = (("NPAE*(0.5)", ("--method", "npae", "--select", "graph:0.5", *ON_TEST)),
         ("NPAE*(0.8)", ("--method", "npae", "--select", "graph:0.8", *ON_TEST)),
         ("NPAE", ("--method", "npae", "--select", "all")),
         ("GPoE", ("--method", "gpoe", "--space", "observed")),
         ("RBCM", ("--method", "rbcm", "--space", "observed")),
         ("GRBCM", ("--method", "grbcm", "--space", "observed")))


def function(x):
    return 5 * x**2 * np.sin(12 * x) + (x**3 - 0.5) * np.sin(3 * x - 0.5) + 4 * np.cos(2 * x)


def points(seed, n, low, high):
    rng = np.random.default_rng([seed, n])
    x = rng.uniform(low, high, n)
    return "x,y", np.column_stack([x, function(x) + 0.2 * rng.standard_normal(n)])


def sizes(setup):
    return (1500, 150) if setup.quick else (5000, 500)


def plan(setup):
    n, n_test = sizes(setup)
    cells = []
    for seed in setup.seeds:
        train = made(setup, f"train-seed{seed}.csv", lambda: points(seed, n, 0.0, 1.0))
        test = made(setup, f"test-seed{seed}.csv", lambda: points(seed, n_test, -0.2, 1.2))
        cells += of_seed(setup, seed, train, test)
    return cells


def of_seed(setup, seed, train, test):
    experts = EXPERTS[:2] if setup.quick else EXPERTS
    cells = []
    models = {}
    for M in sorted({*experts, *GRAPHS}):
        about = {"data": "synthetic", "partition": "kmeans", "M": M, "seed": seed, "penalty": 0.1}
        models[M] = fit(f"M{M} seed{seed}", train, about, "--experts", str(M), *PAPER, "--lambda",
                        "0.1", seconds=1)
        cells.append(models[M])
    for M in experts:
        cells += quality(models[M], test)
    cells += [graph(models[M], test, *ON_TEST) for M in GRAPHS]
    cells += exact(seed, train, test) + own(seed, train, test)
    cells += alphas(setup, models[20], test) + lambdas(setup, seed, train, test)
    if seed == setup.seeds[0]:
        cells += [predict(models[20], f"band {name}", test, ("mean", "lower", "upper"),
                          "--interval", "0.99", *options) for name, options in BANDS]
    return cells


def quality(model, test):
    return [evaluate(model, "npae", test, "--method", "npae", "--select",
                     "all,graph:0.8,graph:0.5", *ON_TEST),
            evaluate(model, "independent", test, "--method", "gpoe,rbcm,grbcm", "--space",
                     "latent,observed"),
            evaluate(model, "own local", test, "--method", "npae", "--select", "local:4",
                     variant="own: 4 best experts a query")]


def exact(seed, train, test):
    about = {"data": "synthetic", "partition": "none", "M": 1, "seed": seed}
    model = fit(f"exact seed{seed}", train, about, "--experts", "1", *PAPER, "--graph", "none",
                seconds=60)
    return [model, evaluate(model, "gp", test, "--method", "npae", "--select", "all"),
            predict(model, "band", test, ("mean", "lower", "upper"), "--interval", "0.99",
                    "--method", "npae", "--select", "all")]


def own(seed, train, test):
    about = {"data": "synthetic", "partition": "kmeans", "M": "auto", "seed": seed,
             "variant": "own: default settings"}
    model = fit(f"own default seed{seed}", train, about, "--calibrate")
    return [model, evaluate(model, "own default", test)]


def alphas(setup, model, test):
    """Figure 'importance': the most and the least important alpha, M=20."""
    shares = ALPHAS[1::3] if setup.quick else ALPHAS
    select = ",".join(f"{kind}:{a}" for a in shares for kind in ("best", "worst") if a < 1)
    return [evaluate(model, "alpha", test, "--method", "npae", "--select", select, *ON_TEST,
                     seconds=8, variant="alpha")]


def lambdas(setup, seed, train, test):
    """Figure 'lambda': NPAE*(0.5) and NPAE*(0.8) against the penalty, M=20."""
    cells = []
    for value in LAMBDAS[::4] if setup.quick else LAMBDAS:
        about = {"data": "synthetic", "partition": "kmeans", "M": 20, "seed": seed,
                 "penalty": value, "variant": "lambda"}
        model = fit(f"M20 seed{seed} lambda {value}", train, about, "--experts", "20", *PAPER,
                    "--lambda", str(value), seconds=1)
        cells += [model, evaluate(model, "npae", test, "--method", "npae", "--select",
                                  "graph:0.5,graph:0.8", *ON_TEST)]
    return cells
