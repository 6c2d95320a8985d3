#!/usr/bin/env python3
"""What hyperparameters should be trained on: the comparison behind fit's defaults.

    bench/training.py DATA [--quorum build/quorum] [--out bench/results/training.csv]

DATA is the directory of the data sets.  Rows for validation are split from the *training* file
of each set; test files are not read.  Every way to train gets the same rows; its theta is judged
by a plain GP on the 64 and the 256 nearest rows of each validation row (distance in theta's own
metric), computed here in NumPy from the saved model.
"""
import argparse
import io
import json
import os
import tempfile
import zipfile

import numpy as np

from common import read_table, run, write_csv

SETS = ["pumadyn32nm", "protein", "kin40k_10k30k", "sarcos_noleak"]
PAPER = ["--partition-metric", "input"]
WAYS = [  # train, kernel, other options
    ("parts", "se", PAPER),
    ("parts", "matern32", PAPER),
    ("random", "se", []),
    ("random", "matern32", []),
    ("subset", "se", []),
    ("subset", "matern32", []),
    ("neighbours", "se", []),
    ("neighbours", "matern12", []),
    ("neighbours", "matern32", []),
    ("neighbours", "matern52", []),
    ("neighbours", "se", ["--spread", "none"]),
    ("neighbours", "matern12", ["--spread", "none"]),
    ("neighbours", "matern32", ["--spread", "none"]),
    ("neighbours", "auto", []),
]
FIELDS = ["set", "rows", "validation", "train", "kernel", "options", "seed", "chosen", "seconds_train",
          "seconds_fit", "evaluations", "signal", "noise", "smse_64", "msll_64", "smse_256", "msll_256"]

# g(s) of a kernel, s the scaled squared distance
KERNELS = {
    "se": lambda s: np.exp(-0.5 * s),
    "matern12": lambda s: np.exp(-np.sqrt(s)),
    "matern32": lambda s: (1 + np.sqrt(3 * s)) * np.exp(-np.sqrt(3 * s)),
    "matern52": lambda s: (1 + np.sqrt(5 * s) + 5 * s / 3) * np.exp(-np.sqrt(5 * s)),
}


def read_model(path):
    with zipfile.ZipFile(path) as file:
        arrays = {n[:-4]: np.load(io.BytesIO(file.read(n))) for n in file.namelist()
                  if n.endswith(".npy")}
        return arrays, json.loads(file.read("meta.json"))


def squared_distances(A, B):
    """|a - b|^2 between the rows of batches (b, p, D) and (b, q, D)."""
    s = (A * A).sum(-1)[:, :, None] + (B * B).sum(-1)[:, None, :] - 2 * A @ B.transpose(0, 2, 1)
    return np.maximum(s, 0.0)


def nearest(Z, Q, m):
    """Numbers of the m rows of Z nearest to each row of Q, in blocks of queries."""
    norm, found = (Z * Z).sum(1), []
    for i in range(0, len(Q), 250):
        d = norm - 2 * Q[i:i + 250] @ Z.T
        found.append(np.argpartition(d, m - 1, axis=1)[:, :m])
    return np.concatenate(found)


def neighbour_gp(model, meta, X, m):
    """Mean and variance (with noise) at X (standardised) from each query's m nearest rows."""
    l = np.exp(model["log_lengthscale"])
    signal, noise = (float(np.exp(model[f"log_{k}_variance"])) for k in ("signal", "noise"))
    g = KERNELS[meta["kernel"]]
    Z, y, Q = model["X"] / l, model["y"], X / l
    near = nearest(Z, Q, m)
    mean, var = np.empty(len(Q)), np.empty(len(Q))
    step = max(1, 6_000_000 // m**2)
    for i in range(0, len(Q), step):
        part = slice(i, i + step)
        A = Z[near[part]] - Q[part, None, :]  # about the query: near distances keep their digits
        C = signal * g(squared_distances(A, A)) + noise * np.eye(m)
        k = signal * g((A * A).sum(-1))
        solved = np.linalg.solve(C, np.stack([k, y[near[part]]], axis=-1))
        mean[part] = (k * solved[:, :, 1]).sum(1)
        var[part] = signal - (k * solved[:, :, 0]).sum(1)
    return mean, np.maximum(var, 0.0) + noise


def scores(model, meta, table, m):
    """SMSE and MSLL on the rows of `table`, in standardised units."""
    X = (table[:, :-1] - model["x_mean"]) / model["x_scale"]
    X = X @ model["rotation"].T if "rotation" in model else X
    y = (table[:, -1] - model["y_mean"]) / model["y_scale"]
    mean, var = neighbour_gp(model, meta, X, m)
    smse = np.mean((y - mean) ** 2) / y.var()
    msll = np.mean(0.5 * np.log(var) + 0.5 * (y - mean) ** 2 / var - 0.5 * y**2)
    return float(smse), float(msll)


def compare(args, folder, name, seed):
    """One row of results for each way to train."""
    table = read_table(args.data, name, "train")
    order = np.random.default_rng(seed).permutation(len(table))
    held = min(len(table) // 5, args.validation)
    validation, training = table[order[:held]], table[order[held:]]
    data, path = (os.path.join(folder, f) for f in ("train.npy", "model.npz"))
    np.save(data, training)
    for train, kernel, options in (way for way in WAYS if way[0] in args.train):
        fit = run([args.quorum, "fit", data, "-o", path, "--json", "--quiet", "--seed", str(seed),
                   "--train", train, "--kernel", kernel, *options])
        model, meta = read_model(path)
        row = {"set": name, "rows": len(training), "validation": held, "train": train,
               "kernel": kernel, "options": " ".join(options), "seed": seed,
               "chosen": meta["kernel"], "seconds_train": fit["seconds"]["train"],
               "seconds_fit": fit["seconds"]["total"], "evaluations": fit["evaluations"],
               "signal": fit["signal_variance"], "noise": fit["noise_variance"]}
        for m in (64, 256):
            row[f"smse_{m}"], row[f"msll_{m}"] = scores(model, meta, validation, m)
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="directory that holds the data sets")
    parser.add_argument("--quorum", default="build/quorum", help="the command to measure")
    parser.add_argument("--out", default="bench/results/training.csv")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--train", nargs="+", default=["parts", "random", "subset", "neighbours"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--validation", type=int, default=4000,
                        help="validation rows at most (a fifth of the training file otherwise)")
    args = parser.parse_args()
    command = (f"bench/training.py DATA --sets {' '.join(args.sets)} --train {' '.join(args.train)} --seeds "
               f"{' '.join(map(str, args.seeds))} --validation {args.validation}")
    with tempfile.TemporaryDirectory() as folder:
        write_csv(args.out, command, args.quorum, FIELDS,
                  (row for name in args.sets for seed in args.seeds
                   for row in compare(args, folder, name, seed)))
    print(args.out)


if __name__ == "__main__":
    main()
