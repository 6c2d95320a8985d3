#!/usr/bin/env python3
"""What single precision for the products of pairs of experts would do to NPAE, as committed CSV.

    bench/single_precision.py --data DIR --quorum build/quorum

For each set, `quorum fit --kernel se` makes a model of local and one of random parts.  Here, in NumPy,
NPAE of all experts is computed at some test rows twice: K_A's entries as Gamma_i' (k(X_i, X_j) Gamma_j)
in double precision, and with the inner product in single.  Errors are in units of the double result's
standard deviation.  Writes results/single_precision.csv.
"""
import argparse
import itertools
import os
import tempfile
import time

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from accuracy import paper_function
from common import RESULTS, measured, read_table, write_csv

FIELDS = ["set", "partition", "experts", "queries", "speedup", "smallest_eigenvalue",
          "mean_error_median", "mean_error_99", "mean_error_max", "std_error_median", "std_error_max",
          "indefinite", "jittered_double", "jittered_single"]
PARTITIONS = ["kmeans", "random"]  # experts of regions; experts that all know the same
KINDS = (np.float64, np.float32)
KNOWS_NOTHING, PSEUDO = 1e-13, 1e-5
SMALLEST_PIVOT, JITTERS = 1e-9, [0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5]


class Model:
    """The arrays of a model file, inputs divided by their length-scales."""

    def __init__(self, path):
        a = np.load(path)
        self.l, self.y, self.offset = np.exp(a["log_lengthscale"]), a["y"], a["offset"]
        self.signal, self.noise = (float(np.exp(a[f"log_{k}_variance"])) for k in ("signal", "noise"))
        self.experts = len(self.offset) - 1
        self.x_mean, self.x_scale, self.Z = a["x_mean"], a["x_scale"], a["X"] / self.l
        self.rotation = a["rotation"] if "rotation" in a else np.eye(len(self.l))

    def kernel(self, A, B):
        s = (A * A).sum(1)[:, None] + (B * B).sum(1) - 2 * A @ B.T
        return self.signal * np.exp(-0.5 * np.maximum(s, 0.0))

    def queries(self, X):
        return (X - self.x_mean) / self.x_scale @ self.rotation.T / self.l

    def part(self, e):
        rows = slice(self.offset[e], self.offset[e + 1])
        return self.Z[rows], self.y[rows]


def opinions(model, Q):
    """Gamma, mean and k_A of every expert at the queries."""
    for e in range(model.experts):
        Z, y = model.part(e)
        L = cholesky(model.kernel(Z, Z) + model.noise * np.eye(len(y)), lower=True)
        k = model.kernel(Z, Q)
        yield cho_solve((L, True), k), k.T @ cho_solve((L, True), y), (
            solve_triangular(L, k, lower=True) ** 2).sum(0)


def joint(model, Q):
    """mean, k_A (M x b), K_A (b x M x M) with products in double and in single precision, and how
    many times faster the products in single are, conversion included."""
    gamma, mean, explained = zip(*opinions(model, Q))
    M = model.experts
    K, seconds = {kind: np.empty((len(Q), M, M)) for kind in KINDS}, dict.fromkeys(KINDS, 0.0)
    for i in range(M):
        for j in range(i):
            C = model.kernel(model.part(i)[0], model.part(j)[0])
            for kind in KINDS:
                start = time.perf_counter()
                product = C.astype(kind, copy=False) @ gamma[j].astype(kind, copy=False)
                seconds[kind] += time.perf_counter() - start
                K[kind][:, i, j] = K[kind][:, j, i] = (gamma[i] * product).sum(0)
        for kind in KINDS:
            K[kind][:, i, i] = explained[i]
    return np.array(mean), np.array(explained), K, seconds[KINDS[0]] / seconds[KINDS[1]]


def solve(model, mean, explained, K):
    """docs/methods.md, "Dependent experts": one query's mean, latent variance, jitter, and the
    smallest eigenvalue of its system scaled to a unit diagonal."""
    knows = explained > KNOWS_NOTHING * model.signal
    if not knows.any():
        return 0.0, model.signal, 0.0, 1.0
    mean, explained, K = mean[knows], explained[knows], K[np.ix_(knows, knows)]
    d = 1 / np.sqrt(explained)
    R = K * np.outer(d, d)
    lowest = np.linalg.eigvalsh(R)[0]
    for jitter in JITTERS:
        try:
            L = cholesky(R + jitter * np.eye(len(d)), lower=True)
        except np.linalg.LinAlgError:
            continue
        if np.diag(L).min() ** 2 >= SMALLEST_PIVOT:
            weights = d * cho_solve((L, True), d * explained)
            return weights @ mean, variance(model, explained, weights), jitter, lowest
    values, vectors = np.linalg.eigh(R)
    inverse = np.where(values > PSEUDO * values[-1], 1 / values, 0.0)
    weights = d * (vectors @ (inverse * (vectors.T @ (d * explained))))
    return weights @ mean, variance(model, explained, weights), np.inf, lowest


def variance(model, explained, weights):
    """Between 0 and the best expert's."""
    return min(max(model.signal - weights @ explained, 0.0), model.signal - explained.max())


def tables_of(args, name):
    """Training and test rows; "synthetic" is the paper's function of one input."""
    if name != "synthetic":
        return [read_table(args.data, name, part) for part in ("train", "test")]
    rng = np.random.default_rng(1)
    x = [rng.uniform(0.0, 1.0, 5000), rng.uniform(-0.2, 1.2, 500)]
    return [np.column_stack([v, paper_function(v) + 0.2 * rng.standard_normal(len(v))]) for v in x]


def measure(args, name, partition):
    table, test = tables_of(args, name)
    with tempfile.TemporaryDirectory() as folder:
        train, path = os.path.join(folder, "train.npy"), os.path.join(folder, "model.npz")
        np.save(train, table)
        measured([args.quorum, "fit", train, "-o", path, "--kernel", "se", "--partition",
                  partition, "--graph", "none", "--quiet"])
        model = Model(path)
    Q = model.queries(test[:args.queries, :-1])
    mean, explained, K, speedup = joint(model, Q)
    double, single = (np.array([solve(model, mean[:, q], explained[:, q], K[kind][q])
                                for q in range(len(Q))]) for kind in KINDS)
    std = np.sqrt(double[:, 1] + model.noise)
    off = np.abs(single[:, 0] - double[:, 0]) / std
    ratio = np.abs(np.sqrt(single[:, 1] + model.noise) / std - 1)
    return {"set": name, "partition": partition, "experts": model.experts, "queries": len(Q), "speedup": speedup,
            "smallest_eigenvalue": float(np.median(double[:, 3])),
            "mean_error_median": float(np.median(off)),
            "mean_error_99": float(np.quantile(off, 0.99)), "mean_error_max": float(off.max()),
            "std_error_median": float(np.median(ratio)), "std_error_max": float(ratio.max()),
            "indefinite": int((single[:, 3] <= 0).sum()),
            "jittered_double": int((double[:, 2] > 0).sum()),
            "jittered_single": int((single[:, 2] > 0).sum())}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+", default=["protein", "pumadyn32nm", "synthetic"])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--out", default=os.path.join(RESULTS, "single_precision.csv"))
    args = parser.parse_args()
    rows = []
    for name, partition in itertools.product(args.sets, PARTITIONS):
        rows.append(measure(args, name, partition))
        print("  ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}"
                        for k, v in rows[-1].items()), flush=True)
    write_csv(args.out, f"bench/single_precision.py --data DIR --sets {' '.join(args.sets)} --queries "
              f"{args.queries}", args.quorum, FIELDS, rows)
    print(args.out)


if __name__ == "__main__":
    main()
