#!/usr/bin/env python3
"""How far `nearest` jumps where its set of rows changes, and what a smooth version would cost.

    /usr/bin/python3 bench/fading.py DIR/kin40k_10k30k/train.csv.gz

Of the training file 400 rows are held out and a model is fitted to the others; all that follows is
NumPy over its hyperparameters, without spread.  jump: the prediction at a held-out row from its m
nearest rows, and from the same with number m + 1 in the place of number m, as at a query where both
are equally far; in standard deviations.  fade: row i at the distance r_i has the noise s^2 / w_i,
w = (1 - u^2)^2, u = (r / R - share) / (1 - share) where that is positive, R being the distance of row
m + 1: it loses its say as it comes to the edge, and the prediction is continuous.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
from common import write_csv
from scipy.spatial import cKDTree

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "oracle"))
import reference as ref  # noqa: E402

HELD_OUT, SHARES = 400, (0.5, 0.8, 0.9)


def posterior(theta, X, y, query, noise):
    """Mean and variance of y from rows of these noises."""
    k = ref.kernel(theta, X, query)[:, 0]
    solved = np.linalg.solve(ref.kernel(theta, X, X) + np.diag(noise), np.column_stack([k, y]))
    return k @ solved[:, 1], theta.signal + theta.noise - k @ solved[:, 0]


def scores(y, predictions):
    """SMSE, and MSLL against a Gaussian of the targets."""
    mean, var = np.array(predictions).T
    loss = 0.5 * np.log(var) + 0.5 * (y - mean) ** 2 / var
    trivial = 0.5 * np.log(np.var(y)) + 0.5 * (y - y.mean()) ** 2 / np.var(y)
    return {"smse": np.mean((y - mean) ** 2) / np.var(y), "msll": np.mean(loss - trivial)}


def compare(model, Q, y, m):
    """A line for the plain prediction, with its jumps, and one for each share."""
    theta, a = model.theta, model.arrays
    X, target = a["X"], a["y"]
    distance, near = cKDTree(X / theta.lengthscale).query(Q / theta.lengthscale, k=m + 1)
    plain, jumps, faded = [], [], {share: [] for share in SHARES}
    for q in range(len(Q)):
        query, rows = Q[q:q + 1], near[q, :m]
        other = np.append(rows[:-1], near[q, m])
        noise = np.full(m, theta.noise)
        plain.append(posterior(theta, X[rows], target[rows], query, noise))
        swapped = posterior(theta, X[other], target[other], query, noise)
        jumps.append(abs(plain[-1][0] - swapped[0]) / np.sqrt(plain[-1][1]))
        for share in SHARES:
            u = np.clip((distance[q, :m] / distance[q, m] - share) / (1 - share), 0, 1 - 1e-9)
            faded[share].append(posterior(theta, X[rows], target[rows], query,
                                          theta.noise / (1 - u * u) ** 2))
    yield {"neighbours": m, "fade_from": "none", **scores(y, plain), "jump_median": np.median(jumps),
           "jump_99": np.quantile(jumps, 0.99)}
    for share in SHARES:
        yield {"neighbours": m, "fade_from": share, **scores(y, faded[share])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("train")
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--out", default="bench/results")
    given = parser.parse_args()
    table = np.loadtxt(given.train, delimiter=",", skiprows=1)
    table = table[np.random.default_rng(1).permutation(len(table))]
    with tempfile.TemporaryDirectory() as folder:
        rows, path = os.path.join(folder, "rows.npy"), os.path.join(folder, "model.npz")
        np.save(rows, table[HELD_OUT:])
        subprocess.run([given.quorum, "fit", rows, "-o", path, "-q"], check=True,
                       stdout=subprocess.DEVNULL)
        model = ref.Model(path)
    Q = model.standardise(table[:HELD_OUT, :-1])
    y = (table[:HELD_OUT, -1] - float(model.arrays["y_mean"])) / float(model.arrays["y_scale"])
    lines = [line for m in (64, 256, 512) for line in compare(model, Q, y, m)]
    name = os.path.join(*given.train.split(os.sep)[-2:])
    write_csv(os.path.join(given.out, "fading.csv"), f"bench/fading.py DIR/{name}", given.quorum,
              ["neighbours", "fade_from", "smse", "msll", "jump_median", "jump_99"], lines)


if __name__ == "__main__":
    main()
