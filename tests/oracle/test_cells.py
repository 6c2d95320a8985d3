"""Method cells against the equations of docs/methods.md, "Cells", and against the methods that it
must agree with: one cell is the exact GP, and a query's numbers depend on that query alone."""
import os

import numpy as np
import pytest

import reference as ref
from oracle_support import agree, fit, predict, quorum, query_rows, same_bits, training_rows

TAIL, COUNT, CORE_SHARE, LEAST_CORE, ROUNDS, POOL, SEATS, AROUND, FAR = 256, 128, 16, 4, 8, 4, 3, 3, 2
SPREAD = ["--kernel", "matern32", "--train", "neighbours", "--metric", "ard", "--spread", "2"]
FIXED = ["--train", "subset", "--spread", "2"]


def split(Z, core):
    """Parts of at most `core` rows, as few as can be: cuts along the input of the largest variance, at the
    row that leaves half of the parts on either side, the second half having one more where they are odd."""
    count = -(-len(Z) // core)
    bound = [k * len(Z) // count for k in range(count + 1)]

    def cut(rows, first, last):
        if last - first == 1:
            return [rows]
        middle = next(m for m in boundaries if first < m < last)
        rows = rows[np.lexsort((rows, Z[rows, np.argmax(Z[rows].var(axis=0))]))]
        size = bound[middle] - bound[first]
        return cut(rows[:size], first, middle) + cut(rows[size:], middle, last)

    levels = (count - 1).bit_length()
    boundaries = [k * count >> level for level in range(levels + 1) for k in range(2**level + 1)]
    return cut(np.arange(len(Z)), 0, count)


def nearest_centre(Z, centre):
    return np.argmin(((Z[:, None] - centre[None]) ** 2).sum(axis=2), axis=1)


def cells(Z, core):
    """Centres, and the cell of every row."""
    parts = split(Z, core)
    centre = np.array([Z[p].mean(axis=0) for p in parts])
    for _ in range(ROUNDS - 1):
        label = nearest_centre(Z, centre)
        for k in np.unique(label):
            centre[k] = Z[label == k].mean(axis=0)
    return centre, nearest_centre(Z, centre)


def expert_rows(Z, centre, own, m):
    """m rows, the cell's own first, then those nearest to any of them."""
    core = Z[own] if len(own) else centre[None]
    pool = np.argsort(((Z - centre) ** 2).sum(axis=1), kind="stable")[:min(POOL * m, len(Z))]
    pool = np.sort(np.setdiff1d(pool, own))
    distance = ((Z[pool, None] - core[None]) ** 2).sum(axis=2).min(axis=1)
    return np.concatenate([own, pool[np.argsort(distance, kind="stable")]])[:m]


class Cells:
    def __init__(self, model, m):
        self.model, self.theta, a = model, model.theta, model.arrays
        self.m = min(m, model.n)
        self.X, self.y, self.Z = a["X"], a["y"], a["X"] / model.theta.lengthscale
        core = max(model.n, 2) if self.m == model.n else max(self.m // CORE_SHARE, LEAST_CORE)
        self.centre, self.label = cells(self.Z, core)

    def shares(self, query):
        """The cells with the nearest centres, and how much each counts."""
        d = ((query / self.theta.lengthscale - self.centre) ** 2).sum(axis=1)
        seats = max(1, min(SEATS, len(d) - 1))
        near = np.argsort(d, kind="stable")
        fading = d[near[seats]] - d[near[:seats]] if len(d) > 1 else np.ones(1)
        return near[:seats], fading / fading.sum()

    def is_far(self, query):
        """Whether it is more than sqrt(2) times as far from the nearest centre as the cell's rows and the three
        centres around it."""
        d = ((query / self.theta.lengthscale - self.centre) ** 2).sum(axis=1)
        centre, own = self.centre[np.argmin(d)], self.Z[self.label == np.argmin(d)]
        others = np.sort(((self.centre - centre) ** 2).sum(axis=1))[:AROUND + 1]
        return len(d) > 1 and d.min() > FAR * max(((own - centre) ** 2).sum(axis=1).max(initial=0.0), others[-1])

    def expert(self, k, query):
        """Mean, variances of f and of y, and how it weighs the features of its rows."""
        own = np.flatnonzero(self.label == k)
        rows = expert_rows(self.Z, self.centre[k], own, self.m)
        around = (ref.noise_around(self.theta, self.X[rows], self.y[rows]) if self.model.meta.get("noise")
                  else ref.Around(self.theta.noise))
        p = ref.posterior(self.theta, self.X[rows], self.y[rows], query, np.full(len(rows), around.noise))
        tail = rows[:len(own) + TAIL]
        near = tail[np.argsort(-ref.kernel(self.theta, self.X[tail], query)[:, 0], kind="stable")[:COUNT]]
        order = np.concatenate([near, np.setdiff1d(rows, near)])
        factor = ref.spread(self.theta, self.X[order], self.y[order], query, *self.model.spread_rule(),
                            around=around)
        var = self.theta.signal - p.explained[0]
        return p.mean[0], var, factor * (var + around.noise), p.gamma.T @ self.model.features(self.X[rows])

    def at(self, query):
        """Mean, variance of y and doubt at one query (1 x D), standardised: the product of the experts."""
        cells, share = self.shares(query)
        mean, _, observed, lift = zip(*(self.expert(k, query) for k in cells))
        precision = share / np.array(observed)
        weight = precision / precision.sum()
        u = self.model.features(query) - sum(w * a for w, a in zip(weight, lift))
        return weight @ np.array(mean), 1.0 / precision.sum(), self.model.doubts(u)[0]

    def predict(self, X):
        a, Q = self.model.arrays, self.model.standardise(X)
        mean, var, doubt = np.array([self.at(Q[q:q + 1]) for q in range(len(Q))]).T
        if "trend" in a:
            mean = mean + self.model.features(Q) @ a["trend"]
        far = [self.is_far(Q[q:q + 1]) for q in range(len(Q))]
        nearest = self.model.predict(X, method="nearest", neighbours=self.m)
        return (np.where(far, nearest[0], float(a["y_mean"]) + float(a["y_scale"]) * mean),
                np.where(far, nearest[1], float(a["y_scale"]) * np.sqrt(var + doubt)))


@pytest.mark.parametrize("D,m,options", [
    (1, 64, [*FIXED, "--kernel", "se"]),
    (3, 160, [*FIXED, "--kernel", "matern32"]),
    (3, 33, [*FIXED, "--kernel", "matern52", "--trend", "linear"]),
    (20, 200, [*FIXED, "--kernel", "matern32x2"]),
    (3, 160, [*FIXED, "--kernel", "matern32", "--local-noise", "yes"]),
    (3, 400, ["--train", "subset", "--spread", "none", "--kernel", "matern12"]),
])
def test_equations(tmp_path, D, m, options):
    rows = training_rows(D + m, 900, D)
    model, _ = fit(tmp_path, "model", rows, *options)
    X = query_rows(D, rows, 16)
    mean, std = Cells(ref.Model(model), m).predict(X)
    found = predict(model, X, "--method", "cells", "--neighbours", m)
    agree("mean", found["mean"], mean, np.std(rows[:, -1]))
    agree("std", found["std"], std, np.std(rows[:, -1]))


def test_queries_in_a_gap_ask_their_own_rows(tmp_path):
    """Rows on two sides of a gap: inside it, and outside of all rows, cells are nearest to the bit, in any company."""
    rows = training_rows(31, 1800, 2)
    x = rows[:, 0]
    gap = np.quantile(x, [0.3, 0.7])
    rows = rows[(x < gap[0]) | (x > gap[1])]
    model, _ = fit(tmp_path, "model", rows, *FIXED, "--kernel", "matern32")
    X = rows[::20, :-1].copy()
    X[::2, 0] = np.linspace(*gap, len(X[::2]))
    X[1] = rows[:, :-1].max(axis=0) + 3.0 * rows[:, :-1].std(axis=0)
    how = ["--neighbours", 80]
    cells, nearest = (predict(model, X, "--method", m, *how) for m in ("cells", "nearest"))
    known = Cells(ref.Model(model), 80)
    far = np.array([known.is_far(q[None]) for q in known.model.standardise(X)])
    assert 10 < far.sum() < len(X) - 10 and far[1]
    for name in ("mean", "std"):
        same_bits(name, cells[name][far], nearest[name][far])
        assert (cells[name][~far] != nearest[name][~far]).mean() > 0.9
        alone = [predict(model, X[q:q + 1], "--method", "cells", *how)[name][0] for q in range(0, len(X), 7)]
        same_bits(f"{name} alone", cells[name][::7], np.array(alone))
    one, many = (predict(model, X, "--method", "cells", *how, "--threads", n, "--memory", m)
                 for n, m in ((1, "1GB"), (3, "40MB")))
    same_bits("threads and memory", one["mean"], many["mean"])


def test_one_cell_is_the_exact_gp(tmp_path):
    """With all rows in the expert, cells and nearest are the same GP, spread included."""
    rows = training_rows(5, 700, 2)
    model, _ = fit(tmp_path, "model", rows, *FIXED)
    X = query_rows(6, rows, 60)
    cell = predict(model, X, "--method", "cells", "--neighbours", 700)
    near = predict(model, X, "--method", "nearest", "--neighbours", 700)
    for name in ("mean", "std"):
        agree(name, cell[name], near[name], np.std(rows[:, -1]))


def differences(model, X, how):
    """(2, b, D): derivatives of mean and std by differences of predictions, to the fourth order."""
    b, D = X.shape
    step = 1e-6 * X.std(axis=0)
    at = [X + k * step * np.eye(D)[d] for d in range(D) for k in (-2, -1, 1, 2)]
    said = predict(model, np.vstack(at), *how)
    out = []
    for name in ("mean", "std"):
        low2, low, high, high2 = said[name].reshape(D, 4, b).transpose(1, 2, 0)
        out.append((8.0 * (high - low) - (high2 - low2)) / (12.0 * step))
    return np.array(out)


def gradients(model, X, how):
    said = predict(model, X, "--gradient", *how)
    names = list(said)
    plain = predict(model, X, *how)
    for name in plain:
        same_bits(name, said[name], plain[name])
    D = X.shape[1]
    return np.array([[said[n] for n in names[4 + D * k:4 + D * (k + 1)]] for k in (0, 1)]).transpose(0, 2, 1)


@pytest.mark.parametrize("D,m,options,how", [
    (1, 64, ["--kernel", "se", "--spread", "none"], []),
    (3, 100, ["--kernel", "matern32", "--calibrate"], []),
    (3, 60, ["--kernel", "matern52", "--trend", "linear"], []),
    (3, 160, ["--kernel", "matern32", "--local-noise", "yes"], []),
    (3, 160, ["--kernel", "matern32", "--local-noise", "yes"], ["--latent"]),
    (2, 80, ["--kernel", "se"], []),
    (110, 120, ["--kernel", "se"], []),
])
def test_gradients_are_those_of_differences(tmp_path, D, m, options, how):
    """To 1e-6, but at the few queries where a cell, a row of the spread or of a far query's own changes within
    the difference; with more inputs than are solved at once too."""
    rows = training_rows(D + m, 900, D)
    theta = ",".join([f"{0.8 * np.sqrt(D)}"] * D + ["1", "0.1"])
    model, _ = fit(tmp_path, "model", rows, "--train", "neighbours", "--spread", "2", "--theta", theta, *options)
    X = rows[::40, :-1] + 0.02 * rows[:, :-1].std(axis=0)
    X[-2:] += 4.0 * rows[:, :-1].std(axis=0)  # far: by their own nearest rows
    X = X[-4:] if D > 100 else X
    how = ["--method", "cells", "--neighbours", m, *how]
    unit = rows[:, :-1].std(axis=0)
    found, expected = (f(model, X, how) * unit for f in (gradients, differences))
    error = np.abs(found - expected).max(axis=2) / np.abs(expected).max(axis=(1, 2))[:, None]
    assert np.quantile(error, 0.9) < 1e-6 and np.median(error) < 1e-7, np.sort(error)


def test_gradients_of_one_cell_are_those_of_nearest(tmp_path):
    rows = training_rows(5, 700, 2)
    for options in ([], ["--trend", "linear"]):
        model, _ = fit(tmp_path, "model", rows, *FIXED, *options)
        X = query_rows(6, rows, 40)
        cell, near = (gradients(model, X, ["--method", m, "--neighbours", 700]) for m in ("cells", "nearest"))
        for k in range(2):
            agree("gradient", cell[k], near[k], np.abs(near[k]).max(axis=0), 1e-7)


def test_gradients_are_those_of_a_query_alone(tmp_path):
    rows = training_rows(8, 1500, 3)
    model, _ = fit(tmp_path, "model", rows, *SPREAD)
    X = query_rows(9, rows, 60)
    how = ["--method", "cells", "--neighbours", 120]
    whole = gradients(model, X, [*how, "--threads", 1])
    same_bits("threads and memory", whole, gradients(model, X, [*how, "--threads", 3, "--memory", "12MB"]))
    alone = [gradients(model, X[q:q + 1], how)[:, 0] for q in range(0, 60, 9)]
    same_bits("alone", whole[:, ::9].transpose(1, 0, 2), np.array(alone))
    means = predict(model, X, "--gradient", "--mean-only", *how)
    same_bits("means alone", np.array(list(means.values())[1:]).T, whole[0])


def test_duplicates_and_few_rows(tmp_path):
    """Rows that are all the same but for a few, which no split can part, and cells without rows."""
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(12, 2)), 25, axis=0)
    rows = np.column_stack([X, X[:, 0] + 0.1 * rng.normal(size=len(X))])
    model, _ = fit(tmp_path, "model", rows, "--kernel", "se", *FIXED)
    Q = rng.normal(size=(20, 2))
    found = predict(model, Q, "--method", "cells", "--neighbours", 40)
    assert np.isfinite(found["mean"]).all() and (found["std"] > 0).all()


def test_same_bits(tmp_path):
    """For any threads, memory and batch; means alone are the same means."""
    rows = training_rows(8, 1500, 3)
    model, _ = fit(tmp_path, "model", rows, *SPREAD)
    X = query_rows(9, rows, 150)
    cell = ["--method", "cells", "--neighbours", 200]
    all_at_once = predict(model, X, *cell, "--threads", 1)
    others = {"threads": predict(model, X, *cell, "--threads", 3),
              "memory": predict(model, X, *cell, "--memory", "12MB"),
              "one by one": [predict(model, X[q:q + 1], *cell) for q in range(0, 150, 10)],
              "means": predict(model, X, *cell, "--mean-only")}
    for name in ("mean", "std"):
        for how in ("threads", "memory"):
            same_bits(f"{name}, {how}", all_at_once[name], others[how][name])
        same_bits(f"{name}, one by one", all_at_once[name][::10],
                  np.array([r[name][0] for r in others["one by one"]]))
    same_bits("mean alone", all_at_once["mean"], others["means"]["mean"])


def test_surface_has_no_jumps(tmp_path):
    """Along a line, the largest step of mean and std shrinks with the distance of queries, which that of a
    jump does not; the spread, which asks the nearest rows, is left out."""
    rows = training_rows(21, 2000, 2)
    model, _ = fit(tmp_path, "model", rows, "--train", "subset", "--spread", "none", "--kernel", "se")
    low, high = rows[:, :-1].min(axis=0), rows[:, :-1].max(axis=0)
    steps = []
    for count in (2001, 40001):
        t = np.linspace(0.25, 0.75, count)
        found = predict(model, low + np.column_stack([t, 0.3 + 0.4 * t]) * (high - low), "--method", "cells",
                        "--neighbours", 64)
        steps.append([np.abs(np.diff(found[name])).max() for name in ("mean", "std")])
    assert (np.array(steps[1]) < 0.2 * np.array(steps[0])).all(), steps


def test_neighbours_auto_are_those_of_nearest_and_a_quarter(tmp_path):
    rows = training_rows(10, 1300, 2)
    model, _ = fit(tmp_path, "model", rows, "--kernel", "se", "--train", "neighbours")
    known = ref.Model(model).meta["neighbours"]
    X = query_rows(11, rows, 20)
    a, b = (predict(model, X, "--method", "cells", "--neighbours", m) for m in ("auto", 5 * known // 4))
    same_bits("mean", a["mean"], b["mean"])
    same_bits("std", a["std"], b["std"])


def test_calibration_for_cells(tmp_path):
    """fit --calibrate --method cells holds out rows of cells, and is for cells alone; with a line and
    an overlap among the experts, which cells do not ask."""
    rows = training_rows(12, 600, 2)
    how = ["--method", "cells", "--neighbours", "100"]
    model, _ = fit(tmp_path, "model", rows, *FIXED, "--kernel", "se", "--trend", "linear", "--overlap", "0.5",
                   "--calibrate", *how)
    assert "method cells, neighbours 100" in quorum("inspect", model)
    X = query_rows(13, rows, 30)
    on, off = predict(model, X, *how), predict(model, X, *how, "--calibration", "off")
    assert np.ptp(on["std"] / off["std"]) < 1e-9 and not np.allclose(on["std"], off["std"], rtol=1e-6)


def test_calibration_of_the_default_serves_cells(tmp_path):
    """Of the size that goes with the neighbours, and not of others."""
    rows = training_rows(15, 2100, 2)
    model, _ = fit(tmp_path, "model", rows, "--kernel", "se", "--train", "neighbours", "--metric", "ard")
    known, X = ref.Model(model).meta["neighbours"], query_rows(16, rows, 20)
    assert f"for predictions by method nearest, neighbours {known}, or method cells\n" in quorum("inspect", model)
    for neighbours, serves in (("auto", True), (5 * known // 4, True), (5 * known // 4 + 1, False)):
        how = ["--method", "cells", "--neighbours", neighbours]
        on, off = predict(model, X, *how), predict(model, X, *how, "--calibration", "off")
        near = [predict(model, X, "--method", "nearest", *c)["std"] for c in ([], ["--calibration", "off"])]
        expected = near[0][0] / near[1][0] if serves else 1.0
        agree("factor of std", on["std"] / off["std"], np.full(20, expected), 1.0)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model of 1,900 rows, and a file of queries."""
    here, rows = tmp_path_factory.mktemp("large"), training_rows(14, 1900, 2)
    np.savetxt(here / "queries.csv", rows[:5, :-1], delimiter=",")
    return fit(here, "model", rows, *FIXED, "--kernel", "se", "--theta", "1,1,0.1")[0], here / "queries.csv"


@pytest.mark.parametrize("options,says", [
    (["--select", "all"], "method cells asks no experts"),
    (["--neighbours", "0"], "method cells has no rows"),
    (["--neighbours", "1800", "--memory", "10MB"], "give fewer neighbours"),
])
def test_refusals(large, options, says):
    model, table = large
    with pytest.raises(AssertionError) as error:
        quorum("predict", model, table, "-o", os.devnull, "--method", "cells", *options)
    assert says in str(error.value)
