"""Weights and known noise of rows: likelihood, posteriors, aggregation, neighbours and spread from the
equations, and where rows repeated are the same."""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import reference as ref
from oracle_support import agree, fit, joint, predict, quorum, same_bits

D = 3
THETA = "0.9,1.4,2.0,1.3,0.08"


def rows_of(n, seed):
    """Inputs, weights, known errors and the target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * [1.0, 4.0, 0.2] + [5.0, -7.0, 0.0]
    weight, error = rng.uniform(0.2, 4.0, n), np.where(rng.uniform(size=n) < 0.3, 0.0, rng.gamma(1.0, 0.4, n))
    y = 20.0 + 2.0 * np.sin(2.0 * X[:, 0]) + X[:, 1] + (0.3 + error) * rng.standard_normal(n)
    return np.column_stack([X, weight, error, y])


WEIGHTED = ["--weights", D + 1, "--noise-std", D + 2]
COLUMNS = np.r_[0:D]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    directory = tmp_path_factory.mktemp("weights")
    made = {}
    for name, extra in {"four": ["--experts", 4, "--spread", 3], "plain": ["--experts", 4, "--spread", "none"],
                        "overlap": ["--experts", 4, "--spread", "none", "--overlap", 0.5],
                        "one": ["--experts", 1, "--spread", "none"],
                        "line": ["--experts", 4, "--spread", 5, "--trend", "linear"]}.items():
        path, _ = fit(directory, name, rows_of(260, 1), *WEIGHTED, "--theta", THETA, "--calibrate", "false",
                      *extra)
        made[name] = path, ref.Model(path)
    return made


def queries(b=24):
    return rows_of(b, 9)[:, COLUMNS]


# ---- What the file has -----------------------------------------------------------------------


def test_standardising_is_weighted(models):
    _, model = models["plain"]
    rows, a = rows_of(260, 1), model.arrays
    weight, y = rows[:, D], rows[:, -1]
    mean = np.average(rows[:, COLUMNS], axis=0, weights=weight)
    scale = np.sqrt(np.average((rows[:, COLUMNS] - mean) ** 2, axis=0, weights=weight))
    agree("weights: mean of inputs", a["x_mean"], mean, scale, 1e-13)
    agree("weights: scale of inputs", a["x_scale"], scale, scale, 1e-13)
    centre = np.average(y, weights=weight)
    unit = np.sqrt(np.average((y - centre) ** 2, weights=weight))
    agree("weights: target", [a["y_mean"], a["y_scale"]], [centre, unit], unit, 1e-13)
    same_bits("weights in the file", a["weight"], weight[a["row"]])
    agree("weights: errors in the file", a["error"], rows[a["row"], D + 1] / unit, 1.0, 1e-15)
    assert model.meta["format_version"] == 7


def nlml(theta, X, y, weight, error):
    """-log prod_i N(y_i; f_i, t_i)^w_i, f integrated out."""
    t = theta.noise + error**2
    C = ref.kernel(theta, X, X) + np.diag(t / weight)
    value = 0.5 * (y @ np.linalg.solve(C, y) + np.linalg.slogdet(C)[1] + len(y) * np.log(2 * np.pi))
    return value + np.sum(0.5 * (weight - 1) * np.log(2 * np.pi * t) + 0.5 * np.log(weight))


def test_the_likelihood(models):
    _, model = models["plain"]
    a = model.arrays
    whole = sum(nlml(model.theta, a["X"][r], a["y"][r], a["weight"][r], a["error"][r]) for r in model.held)
    agree("weights: likelihood", model.meta["training"]["nlml"], whole, abs(whole))


def test_the_likelihood_is_that_of_repeated_rows():
    rng = np.random.default_rng(4)
    theta = ref.Theta("se", np.array([0.7, 1.1]), 1.3, 0.2)
    X, y, weight, error = rng.normal(size=(20, 2)), rng.normal(size=20), rng.integers(1, 4, 20), rng.uniform(size=20)
    again = np.repeat(np.arange(20), weight)
    t = theta.noise + error[again] ** 2
    C = ref.kernel(theta, X[again], X[again]) + np.diag(t)
    expected = 0.5 * (y[again] @ np.linalg.solve(C, y[again]) + np.linalg.slogdet(C)[1]
                      + len(again) * np.log(2 * np.pi))
    agree("weights: identity of the reference", nlml(theta, X, y, weight, error), expected, 1.0, 1e-10)


# ---- Predictions -----------------------------------------------------------------------------


METHODS = [["--method", m] for m in ("poe", "gpoe", "bcm", "rbcm", "grbcm", "npae", "nearest")]
METHODS += [["--method", "npae", "--neighbours", "40"], ["--method", "npae", "--select", "local:2"],
            ["--method", "rbcm", "--space", "observed"], ["--method", "npae", "--select", "local:auto"]]


@pytest.mark.parametrize("name", ["four", "plain", "overlap", "line"])
@pytest.mark.parametrize("words", METHODS, ids=" ".join)
def test_every_method(models, name, words):
    path, model = models[name]
    if name == "line" and "rbcm" not in words and "nearest" not in words:
        pytest.skip("lines are test_trend's")
    if "nearest" in words:
        words = [*words, "--neighbours", "60"]
    Q = queries()
    how = {w.lstrip("-"): v for w, v in zip(words[::2], words[1::2])}
    mean, std = model.predict(Q, **how)
    got = predict(path, Q, *words)
    agree("weights: mean", got["mean"], mean, model.arrays["y_scale"])
    agree("weights: std", got["std"], std, model.arrays["y_scale"])


def test_cells_of_all_rows_are_the_nearest(models):
    """One cell that has all rows, spread included."""
    path, model = models["plain"]
    Q = queries()
    near, cell = (predict(path, Q, "--method", how, "--neighbours", str(model.n)) for how in ("nearest", "cells"))
    for name in ("mean", "std"):
        agree(f"weights: {name} of a cell", cell[name], near[name], model.arrays["y_scale"])


def test_known_errors_of_queries(models):
    path, model = models["four"]
    rows = rows_of(24, 9)
    mean, std = model.predict(rows[:, COLUMNS], method="nearest", neighbours=60, error=rows[:, D + 1])
    words = ["--method", "nearest", "--neighbours", "60"]
    full = predict(path, rows, *words)  # the training file's layout
    agree("weights: std with known errors", full["std"], std, model.arrays["y_scale"])
    agree("weights: mean with known errors", full["mean"], mean, model.arrays["y_scale"])
    named = predict(path, rows[:, [*COLUMNS, D + 1]], *words, "--noise-std", D + 1)  # inputs and one column
    same_bits("errors by the option", named["std"], full["std"])
    plain, latent = (predict(path, rows[:, COLUMNS], *words, *more) for more in ([], ["--latent"]))
    assert np.all(full["std"] >= plain["std"]) and np.any(full["std"] > 1.1 * plain["std"])
    same_bits("latent", predict(path, rows, *words, "--latent")["std"], latent["std"])


def test_the_joint_covariance(models):
    path, model = models["one"]
    a, Q = model.arrays, queries(8)
    Z = model.standardise(Q)
    ks = ref.kernel(model.theta, a["X"], Z)
    C = ref.covariance_of_targets(model.theta, a["X"], model.noise)
    expected = ref.kernel(model.theta, Z, Z) - ks.T @ np.linalg.solve(C, ks)
    _, covariance = joint(path, Q, method="npae", select="all", latent="true")
    unit = float(a["y_scale"]) ** 2
    agree("weights: joint covariance", covariance, unit * expected, unit)


# ---- Identities ------------------------------------------------------------------------------


def whole_weights(n, seed):
    rows = rows_of(n, seed)
    rows[:, D] = np.random.default_rng(seed).integers(0, 4, n)
    return rows, np.repeat(np.arange(n), rows[:, D].astype(int))


@pytest.mark.parametrize("words", [["--method", "nearest", "--neighbours", "1000"], ["--method", "npae"]],
                         ids=" ".join)
@pytest.mark.parametrize("trend", ["constant", "none", "linear"])
def test_weights_are_rows_repeated(tmp_path, words, trend):
    """Exact where theta is given and all rows take part."""
    rows, again = whole_weights(200, 5)
    given = ["--theta", THETA, "--experts", 1, "--spread", "none", "--calibrate", "false", "--trend", trend]
    one, told = fit(tmp_path, "one", rows, *WEIGHTED, *given)
    two, other = fit(tmp_path, "two", np.delete(rows[again], D, axis=1), "--noise-std", D + 1, *given)
    a, b = predict(one, queries(), *words), predict(two, queries(), *words)
    for column in ("mean", "std", "lower", "upper"):
        agree("weights: rows repeated", a[column], b[column], 1.0, 1e-9)
    agree("weights: likelihood of rows repeated", ref.Model(one).meta["training"]["nlml"],
          ref.Model(two).meta["training"]["nlml"], 1.0, 1e-8)
    assert told["rows"] == np.sum(rows[:, D] > 0) and other["rows"] == len(again)


def test_training_is_that_of_rows_repeated(tmp_path):
    """The same objective, whose minimum the search finds to its tolerance: one block of all rows."""
    rows, again = whole_weights(150, 6)
    how = ["--train", "neighbours", "--experts", 1, "--trend", "constant", "--metric", "ard", "--tolerance", "1e-12"]
    one, _ = fit(tmp_path, "one", rows, *WEIGHTED, *how)
    two, _ = fit(tmp_path, "two", np.delete(rows[again], D, axis=1), "--noise-std", D + 1, *how)
    a, b = ref.Model(one), ref.Model(two)
    agree("weights: trained theta", np.log(a.theta.numbers()), np.log(b.theta.numbers()), 1.0, 1e-3)
    agree("weights: trained likelihood", a.meta["training"]["nlml"], b.meta["training"]["nlml"], 1.0, 1e-7)


def test_threads_and_ones(tmp_path):
    rows = rows_of(2000, 7)
    how = ["--train", "neighbours", "--train-rows", 300, "--max-evaluations", 4, "--expert-size", 800, "--metric", "ard"]
    bits = [np.load(fit(tmp_path, f"t{t}", rows, *WEIGHTED, *how, "--threads", t)[0]) for t in (1, 3)]
    for name in bits[0].files:
        if name != "meta.json":
            same_bits(f"weights: {name}", bits[1][name], bits[0][name])
    assert "calibration" in bits[0].files
    rows[:, D], rows[:, D + 1] = 1.0, 0.0
    none = np.load(fit(tmp_path, "none", np.delete(rows, [D, D + 1], axis=1), *how)[0])
    ones = np.load(fit(tmp_path, "ones", rows, *WEIGHTED, *how)[0])
    assert set(none.files) == set(ones.files)
    for name in none.files:
        if name != "meta.json":
            same_bits(f"ones: {name}", ones[name], none[name])


# ---- Scores ----------------------------------------------------------------------------------


def test_evaluate_is_weighted(models, tmp_path):
    path, model = models["plain"]
    rows = rows_of(80, 11)
    np.save(tmp_path / "test.npy", rows)
    words = ["--method", "nearest", "--neighbours", "60", "--json"]
    own = json.loads(quorum("evaluate", path, tmp_path / "test.npy", "-q", *words))[0]
    mean, std = model.predict(rows[:, COLUMNS], method="nearest", neighbours=60, error=rows[:, D + 1])
    weight, error = rows[:, D], rows[:, -1] - mean
    variance = np.average((rows[:, -1] - np.average(rows[:, -1], weights=weight)) ** 2, weights=weight)
    expected = {"rmse": np.sqrt(np.average(error**2, weights=weight)), "mae": np.average(abs(error), weights=weight),
                "smse": np.average(error**2, weights=weight) / variance,
                "nlpd": np.average(0.5 * (error / std) ** 2 + np.log(std) + 0.5 * np.log(2 * np.pi), weights=weight)}
    for name, value in expected.items():
        agree(f"weights: {name}", own[name], value, 1.0)
    inside = np.abs(error) <= 1.959963984540054 * std
    agree("weights: coverage", own["coverage"]["95"], np.average(inside, weights=weight), 1.0)
    # the weights of another column, and none in a file that has only inputs and the target
    np.save(tmp_path / "short.npy", rows[:, [*COLUMNS, -1]])
    short = json.loads(quorum("evaluate", path, tmp_path / "short.npy", "-q", *words))[0]
    _, std = model.predict(rows[:, COLUMNS], method="nearest", neighbours=60)
    agree("no weights: rmse", short["rmse"], np.sqrt(np.mean(error**2)), 1.0)
    np.save(tmp_path / "other.npy", np.column_stack([rows[:, COLUMNS], rows[:, -1], weight**2]))
    other = json.loads(quorum("evaluate", path, tmp_path / "other.npy", "-q", *words, "--weights", D + 2))[0]
    agree("weights by the option: rmse", other["rmse"], np.sqrt(np.average(error**2, weights=weight**2)), 1.0)


# ---- The page of the model file --------------------------------------------------------------


def test_the_recipe_of_the_page(tmp_path):
    """What docs/model-file.md prints repeats rbcm of a model with weights and known errors."""
    rows = rows_of(300, 12)
    header = "a,b,c,w,e,y"
    np.savetxt(tmp_path / "train.csv", rows, delimiter=",", header=header, comments="")
    np.savetxt(tmp_path / "test.csv", rows_of(20, 13)[:, [*COLUMNS, -1]], delimiter=",", header="a,b,c,y", comments="")
    quorum("fit", tmp_path / "train.csv", "-o", tmp_path / "model.npz", "-q", "--weights", "w", "--noise-std", "e",
           "--theta", THETA, "--kernel", "se", "--experts", 3, "--calibrate", "false")
    quorum("predict", tmp_path / "model.npz", tmp_path / "test.csv", "-q", "--method", "rbcm", "-o", tmp_path / "rbcm.csv")
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "model-file.md").read_text()
    code = page.split("```python\n", 1)[1].split("```", 1)[0]
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    differences = [float(v) for v in re.findall(r"(?:mean|std) ([0-9.e+-]+)", done.stdout)]
    assert len(differences) == 2 and max(differences) < 1e-9, done.stdout
