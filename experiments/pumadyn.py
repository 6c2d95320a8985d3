"""Section 4.2.1 and its appendix: disjoint and random parts of Pumadyn-32nm."""
from cells import PAPER, evaluate, fit, graph
from datasets import train_and_test

EXPERTS = (7, 15, 20)
PARTITIONS = ("kmeans", "random")
GRAPHS = (15, 20)
ON_TEST = ("--graph-on", "test")


def plan(setup):
    train, test = train_and_test(setup, "pumadyn32nm")
    cells = []
    for seed in setup.seeds:
        for partition in PARTITIONS:
            for M in EXPERTS[:2] if setup.quick else EXPERTS:
                cells += of_model(setup, seed, partition, M, train, test)
        cells += own(seed, train, test)
    return cells


def of_model(setup, seed, partition, M, train, test):
    about = {"data": "pumadyn", "partition": partition, "M": M, "seed": seed, "penalty": 0.1}
    model = fit(f"{partition} M{M} seed{seed}", train, about, "--experts", str(M), "--partition",
                partition, *PAPER, "--lambda", "0.1", seconds=6)
    cells = [model,
             evaluate(model, "npae", test, "--method", "npae", "--select",
                      "all,graph:0.8,graph:0.5", *ON_TEST, seconds=4),
             evaluate(model, "independent", test, "--method", "gpoe,rbcm,grbcm", "--select",
                      "all,graph:0.8", "--space", "observed,latent", *ON_TEST, seconds=5),
             evaluate(model, "npae least important", test, "--method", "npae", "--select",
                      "worst:0.5", *ON_TEST, variant="alpha"),
             evaluate(model, "own local", test, "--method", "npae", "--select", "local:4",
                      variant="own: 4 best experts a query")]
    if partition == "kmeans" and M in GRAPHS:
        cells.append(graph(model, test, *ON_TEST))
    return cells


def own(seed, train, test):
    about = {"data": "pumadyn", "partition": "kmeans", "M": "auto", "seed": seed,
             "variant": "own: default settings"}
    model = fit(f"own default seed{seed}", train, about, "--calibrate", seconds=15)
    return [model, evaluate(model, "own default", test, seconds=5)]
