#!/usr/bin/env python3
"""A quorum of kernels, tried: do several kernels, joined by their left-out errors, beat the best one?

    bench/kernel_quorum.py DIR [--quorum build/quorum] [--sets SET ...] [--seeds 1] [--keep FOLDER]

Rows come from the *training* file of each set (of uci/SET the training rows of mask 0), 14,000 at
most; test files are not read.  A seventh is held out for part A, from which weights are learned,
and a seventh for part B, on which they are scored.  Half of each part are single rows (alone), half
are whole balls, a centre and its nearest rows in standardised inputs, 16 or 64 rows each (gaps).
`quorum fit --kernel K` on the other rows, one model a kernel, predicts both parts: mean mu_k and
variance s_k^2 of a new observation.  With errors e_k = mu_k - y on part A the ways to join are

    least squares   mu = w' mu_k,  w = Theta 1 / 1' Theta 1,  Theta a sparse inverse of E[e e'] by the
                    graphical lasso, penalty by cross-validation in A;  variance c w' (s_k^2), c from A
    no negatives    the same with w >= 0, minimising w' E[e e'] w
    by distance     the same in each of three classes of novelty (latent variance over prior
                    variance, of the best kernel), cut at the thirds of A
    per query       errors over s_k have second moments R (sparse as above); at a query the errors'
                    covariance is C = diag(s) R diag(s), w = C^-1 1 / 1' C^-1 1, variance 1 / 1' C^-1 1
    mixture         density sum_k w_k N(mu_k, s_k^2), w by maximum likelihood on A
    log-linear      density prod_k N(mu_k, s_k^2)^w_k, normalised, w likewise

and the equal weights 1/4, beside the best single kernel by the density of A: as it is, with c s^2, and as
a mixture of four widths of its own (a mixture has heavier tails, which is no merit of several kernels).  Writes
results/kernel_quorum.csv: SMSE and MSLL on B with the difference to the best single kernel and its
paired standard error, where a ball counts as one draw; `wide` is the MSLL against the mixture of widths.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import minimize

from common import HERE, run, write_csv
from training import read_model
from uci import read_set

KERNELS = ["se", "matern12", "matern32", "matern52"]
SETS = ["kin40k_10k30k", "protein", "pumadyn32nm", "sarcos_noleak", "satellite", "simtemps", "elevators",
        "diamonds"]
MOST_ROWS = 14_000
BALLS = (16, 64)
PENALTIES = (1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0)  # of the largest second moment of two kernels
FOLDS = 5
WIDENED = "best single kernel, mixture of widths"
WIDTHS = np.array([0.25, 1.0, 4.0, 16.0])  # times the variance of one kernel
CLASSES = 3
FIELDS = ["set", "seed", "rows", "part", "way", "kernels", "weights", "smse", "msll", "smse_less", "smse_error",
          "msll_less", "msll_error", "wide_less", "wide_error"]


# ---- Data ----

def training_rows(directory, name):
    """The rows of a training file, columns of numbers alone, the target last."""
    path = os.path.join(directory, name, "train.csv.gz")
    if not os.path.exists(path):
        rows, marks = read_set(os.path.join(directory, "uci"), name)
        return rows[~marks[:, 0]]
    table = np.genfromtxt(path, delimiter=",", skip_header=1)  # words become NaN
    return table[:, ~np.isnan(table).all(axis=0)]


def ball_rows(Z, free, centre, size):
    """The `size` free rows that are nearest to a centre."""
    distance = np.where(free, ((Z - Z[centre]) ** 2).sum(1), np.inf)
    return np.argsort(distance, kind="stable")[:size]


def parts(table, rng):
    """Part of each row ("" for training) and its draw: balls have one number for all their rows."""
    n = len(table)
    scale = table[:, :-1].std(0)
    Z = table[:, :-1] / np.where(scale > 0, scale, 1.0)
    part, draw = np.full(n, "", dtype="U8"), np.arange(n)
    each = n // 14
    if each < sum(BALLS):
        sys.exit(f"{n} rows are too few: two balls a part need {14 * sum(BALLS)}")
    for k in range(2 * (each // sum(BALLS))):
        for size in BALLS:
            centre = rng.choice(np.flatnonzero(part == ""))
            ball = ball_rows(Z, part == "", centre, size)
            part[ball] = "AB"[k % 2] + " gaps"
            draw[ball] = n + centre
    single = rng.permutation(np.flatnonzero(part == ""))
    part[single[:each]], part[single[each:2 * each]] = "A alone", "B alone"
    return part, draw


# ---- Predictions ----

def predict(args, model, queries, *options):
    out = queries + ".out.csv"
    subprocess.run([args.quorum, "predict", model, queries, "-o", out, "--quiet", *options], check=True)
    return np.loadtxt(out, delimiter=",", skiprows=1, usecols=(0, 1), ndmin=2).T


def opinions(args, train, queries, seed):
    """Means, variances and novelties (n x K) at the queries, one kernel after the other."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        data, asked, path = (os.path.join(folder, f) for f in ("train.npy", "asked.npy", "model.npz"))
        np.save(data, train)
        np.save(asked, queries[:, :-1])
        for kernel in KERNELS:
            run([args.quorum, "fit", data, "-o", path, "--kernel", kernel, "--seed", str(seed), "--json",
                 "--quiet"])
            model, _ = read_model(path)
            mean, deviation = predict(args, path, asked)
            _, latent = predict(args, path, asked, "--latent")
            prior = np.exp(model["log_signal_variance"]) * model["y_scale"] ** 2
            found.append([mean, deviation**2, latent**2 / prior])
    return np.moveaxis(np.array(found), 0, 2)  # 3 x n x K


def predictions(args, name, seed):
    """What all ways start from: y, opinions, part and draw of the held-out rows, training y."""
    kept = os.path.join(args.keep, f"{name}-{seed}.npz") if args.keep else None
    if kept and os.path.exists(kept):
        with np.load(kept) as file:
            return dict(file)
    rng = np.random.default_rng(seed)
    table = training_rows(args.data, name)
    table = table[rng.permutation(len(table))[:args.rows]]
    part, draw = parts(table, rng)
    held = part != ""
    mean, variance, novelty = opinions(args, table[~held], table[held], seed)
    known = {"y": table[held, -1], "mean": mean, "variance": variance, "novelty": novelty,
             "part": part[held], "draw": draw[held], "train": table[~held, -1]}
    if kept:
        np.savez(kept, **known)
    return known


# ---- Weights ----

def graphical_lasso():
    """The library's own, from the build of the command."""
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), "python"))
    import quorum
    return quorum.graphical_lasso


def sparse_weights(S, penalty, glasso):
    """Theta 1 / 1' Theta 1, and Theta; S is scaled to a mean diagonal of 1 first."""
    scale = np.trace(S) / len(S)
    largest = np.abs(S - np.diag(np.diag(S))).max()
    Theta = glasso(S / scale, penalty * largest / scale, free_diagonal=True) / scale
    w = Theta.sum(1)
    return w / w.sum(), Theta


def moments(E):
    return E.T @ E / len(E)


def chosen_penalty(E, draw, loss, glasso):
    """The penalty whose matrix from the other folds has the smallest loss; balls stay whole."""
    fold = np.unique(draw, return_inverse=True)[1] % FOLDS
    def total(penalty):
        return sum(loss(sparse_weights(moments(E[fold != f]), penalty, glasso), fold == f)
                   for f in range(FOLDS))
    return min(PENALTIES, key=total)


def least_squares(E, draw, glasso):
    penalty = chosen_penalty(E, draw, lambda found, rows: ((E[rows] @ found[0]) ** 2).sum(), glasso)
    return sparse_weights(moments(E), penalty, glasso)[0]


def on_simplex(loss, K):
    """Weights >= 0 that sum to one and have the smallest loss."""
    found = minimize(loss, np.full(K, 1 / K), method="SLSQP", bounds=[(0, 1)] * K,
                     constraints={"type": "eq", "fun": lambda w: w.sum() - 1}, options={"ftol": 1e-12})
    w = np.maximum(found.x, 0)
    return np.where(w < 1e-4, 0, w) / w[w >= 1e-4].sum()


def no_negatives(E):
    S = moments(E)
    return on_simplex(lambda w: w @ S @ w / np.trace(S), len(S))


# ---- Densities ----

def gaussian_loss(y, mean, variance):
    return 0.5 * np.log(2 * np.pi * variance) + 0.5 * (y - mean) ** 2 / variance


def mixture_loss(y, mean, variance, w):
    logs = -gaussian_loss(y[:, None], mean, variance)
    top = logs.max(1)
    return -(top + np.log(np.maximum((w * np.exp(logs - top[:, None])).sum(-1), 1e-300)))


def pooled(mean, variance, w):
    """The log-linear pool of Gaussians is one: precisions and means weighted by w."""
    precision = (w / variance).sum(-1)
    return (w * mean / variance).sum(-1) / precision, 1 / precision


def from_covariance(mean, variance, Theta):
    """Best unbiased combination for errors of covariance diag(s) Theta^-1 diag(s)."""
    s = np.sqrt(variance)
    rows = (1 / s) @ Theta / s            # C^-1 1, n x K
    total = rows.sum(1)
    return (rows * mean).sum(1) / total, 1 / total, rows / total[:, None]


# ---- Ways ----

def linear_way(a, b, W_a, W_b):
    """Means by weights (n x K or K), variances by them, scaled so that errors of A fit."""
    def joined(part, W):
        return (W * part["mean"]).sum(1), np.maximum((W * part["variance"]).sum(1),
                                                     part["variance"].min(1))
    mean, variance = joined(a, W_a)
    factor = np.mean((a["y"] - mean) ** 2 / variance)
    mean, variance = joined(b, W_b)
    return mean, gaussian_loss(b["y"], mean, factor * variance)


def by_class(a, b, best, learn):
    """Weights of A's rows and of B's, learned in each class of novelty of the best kernel."""
    cuts = np.quantile(a["novelty"][:, best], np.arange(1, CLASSES) / CLASSES)
    in_a, in_b = (np.searchsorted(cuts, p["novelty"][:, best]) for p in (a, b))
    W = np.array([learn(np.flatnonzero(in_a == c)) for c in range(CLASSES)])
    return W[in_a], W[in_b], W


def ways(a, b, glasso):
    """Yields name, weights (for show), mean on B and loss (negative log density) on B."""
    K = len(KERNELS)
    one, E = np.eye(K), a["mean"] - a["y"][:, None]
    loss_a = gaussian_loss(a["y"][:, None], a["mean"], a["variance"])
    best = int(np.argmin(loss_a.mean(0)))

    def single(k):
        return b["mean"][:, k], gaussian_loss(b["y"], b["mean"][:, k], b["variance"][:, k])

    def mixed(W, part):
        return (W * part["mean"]).sum(1), mixture_loss(part["y"], part["mean"], part["variance"], W)

    yield "best single kernel", one[best], *single(best)
    for k, kernel in enumerate(KERNELS):
        yield f"{kernel} alone", one[k], *single(k)
    yield "best single kernel, variance scaled", one[best], *linear_way(a, b, one[best], one[best])
    yield WIDENED, one[best], *widened(a, b, best)
    W_a, W_b, W = by_class(a, b, best, lambda rows: one[np.argmin(loss_a[rows].mean(0))])
    yield "best single kernel by distance", W, *mixed(W_b, b)
    equal = np.full(K, 1 / K)
    yield "equal weights", equal, *linear_way(a, b, equal, equal)
    yield "equal weights, mixture", equal, *mixed(equal, b)

    w = least_squares(E, a["draw"], glasso)
    yield "least squares", w, *linear_way(a, b, w, w)
    w = no_negatives(E)
    yield "no negatives", w, *linear_way(a, b, w, w)
    W_a, W_b, W = by_class(a, b, best, lambda rows: least_squares(E[rows], a["draw"][rows], glasso))
    yield "least squares by distance", W, *linear_way(a, b, W_a, W_b)
    W_a, W_b, W = by_class(a, b, best, lambda rows: no_negatives(E[rows]))
    yield "no negatives by distance", W, *linear_way(a, b, W_a, W_b)

    yield "per query", *per_query(a, b, E, glasso)

    def likeliest(rows):
        return on_simplex(lambda w: mixture_loss(a["y"][rows], a["mean"][rows], a["variance"][rows], w).mean(), K)
    w = likeliest(slice(None))
    yield "mixture", w, *mixed(w, b)
    W_a, W_b, W = by_class(a, b, best, likeliest)
    yield "mixture by distance", W, *mixed(W_b, b)
    w = on_simplex(lambda w: gaussian_loss(a["y"], *pooled(a["mean"], a["variance"], w)).mean(), K)
    mean, variance = pooled(b["mean"], b["variance"], w)
    yield "log-linear", w, mean, gaussian_loss(b["y"], mean, variance)


def widened(a, b, k):
    """One kernel with as many components as there are kernels: what a mixture's tails give by themselves."""
    def components(part):
        return part["y"], part["mean"][:, [k] * len(WIDTHS)], part["variance"][:, [k]] * WIDTHS
    w = on_simplex(lambda w: mixture_loss(*components(a), w).mean(), len(WIDTHS))
    return b["mean"][:, k], mixture_loss(*components(b), w)


def per_query(a, b, E, glasso):
    standard = E / np.sqrt(a["variance"])

    def loss(found, rows):
        mean, variance, _ = from_covariance(a["mean"][rows], a["variance"][rows], found[1])
        return gaussian_loss(a["y"][rows], mean, variance).sum()
    penalty = chosen_penalty(standard, a["draw"], loss, glasso)
    Theta = sparse_weights(moments(standard), penalty, glasso)[1]
    mean, variance, W = from_covariance(b["mean"], b["variance"], Theta)
    return W.mean(0), mean, gaussian_loss(b["y"], mean, variance)


# ---- Scores ----

def paired(difference, draw):
    """Mean difference and its standard error, rows of a ball being one draw."""
    mean = difference.mean()
    sums = np.bincount(np.unique(draw, return_inverse=True)[1], difference - mean)
    return float(mean), float(np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(difference))


def select(known, part):
    rows = np.char.startswith(known["part"], part)
    return {key: known[key][rows] for key in ("y", "mean", "variance", "novelty", "draw", "part")}


def compare(args, name, seed, glasso):
    known = predictions(args, name, seed)
    a, b = select(known, "A"), select(known, "B")
    centre, spread = known["train"].mean(), known["train"].var()
    plain = gaussian_loss(b["y"], centre, spread)
    found = [(way, np.atleast_2d(w), (b["y"] - mean) ** 2 / b["y"].var(), loss)
             for way, w, mean, loss in ways(a, b, glasso)]
    losses = {way: loss for way, _, _, loss in found}
    _, _, first_error, first_loss = found[0]
    for way, w, error, loss in found:
        against = {"smse": error - first_error, "msll": loss - first_loss, "wide": loss - losses[WIDENED]}
        for part in ("B", "B alone", "B gaps"):
            rows = np.char.startswith(b["part"], part)
            row = {"set": name, "seed": seed, "rows": int(rows.sum()), "part": part[2:] or "all", "way": way,
                   "kernels": int((np.abs(w) > 1e-3).any(0).sum()),
                   "weights": "; ".join(" ".join(f"{v:.2f}" for v in line) for line in w),
                   "smse": float(error[rows].mean()), "msll": float((loss - plain)[rows].mean())}
            for score, difference in against.items():
                row[f"{score}_less"], row[f"{score}_error"] = paired(difference[rows], b["draw"][rows])
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="directory that holds the data sets")
    parser.add_argument("--quorum", default="build/quorum", help="the command to measure")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--rows", type=int, default=MOST_ROWS, help="rows of a set at most")
    parser.add_argument("--keep", help="folder for the kernels' predictions, which are used again")
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results",
                                                      "kernel_quorum.csv"))
    args = parser.parse_args()
    os.environ.setdefault("QUORUM_LIBRARY", os.path.join(os.path.dirname(os.path.abspath(args.quorum)),
                                                         "libquorum.so"))
    glasso = graphical_lasso()
    command = (f"bench/kernel_quorum.py DIR --sets {' '.join(args.sets)} --seeds "
               f"{' '.join(map(str, args.seeds))} --rows {args.rows}")
    write_csv(args.out, command, args.quorum, FIELDS,
              (row for name in args.sets for seed in args.seeds
               for row in compare(args, name, seed, glasso)))
    print(args.out)


if __name__ == "__main__":
    main()
