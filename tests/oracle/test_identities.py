"""What must hold whatever the numbers: limits and equalities between the methods."""
import subprocess

import numpy as np
import pytest

import reference as ref
from oracle_support import QUORUM, agree, fit, predict, query_rows, same_bits, training_rows

THETA = ["--theta", "1.1,1.2,0.1"]


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """One expert: the exact GP."""
    rows = training_rows(31, 160, 3)
    path, _ = fit(tmp_path_factory.mktemp("one"), "one", rows, "--experts", 1, *THETA)
    return path, query_rows(32, rows, 33)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    rows = training_rows(33, 240, 3)
    path, _ = fit(tmp_path_factory.mktemp("many"), "many", rows, "--experts", 6, *THETA)
    return path, query_rows(34, rows, 33)


def same_prediction(what, a, b, scale):
    agree(f"{what}: mean", a["mean"], b["mean"], scale, 1e-12)
    agree(f"{what}: std", a["std"], b["std"], b["std"], 1e-12)


@pytest.mark.parametrize("method", ["auto", "npae", "poe", "gpoe", "bcm", "grbcm", "single"])
@pytest.mark.parametrize("latent", [[], ["--latent"]])
def test_one_expert_is_the_exact_gp(one, method, latent):
    path, X = one
    model = ref.Model(path)
    a = model.arrays
    mean, var = ref.exact_gp(model.theta, a["X"], a["y"], model.standardise(X))
    var = var + (0.0 if latent else model.theta.noise)
    got = predict(path, X, "--method", method, *latent)
    agree("M=1 is the exact GP: mean", got["mean"], a["y_mean"] + a["y_scale"] * mean, a["y_scale"])
    agree("M=1 is the exact GP: std", got["std"], a["y_scale"] * np.sqrt(var), a["y_scale"] * np.sqrt(var))


def test_one_expert_of_many_rows_is_the_exact_gp_by_default(tmp_path):
    """No neighbours and no spread, although the model has one; --neighbours still counts."""
    rows = training_rows(35, 700, 3)
    path, _ = fit(tmp_path, "exact", rows, "--experts", 1, *THETA, "--spread", 4)
    model, X = ref.Model(path), query_rows(36, rows, 40)
    a = model.arrays
    mean, var = ref.exact_gp(model.theta, a["X"], a["y"], model.standardise(X))
    std = a["y_scale"] * np.sqrt(var + model.theta.noise)
    for options in ([], ["--memory", "10M"]):
        got = predict(path, X, *options)
        agree("exact GP of 700 rows: mean", got["mean"], a["y_mean"] + a["y_scale"] * mean, a["y_scale"])
        agree("exact GP of 700 rows: std", got["std"], std, std)
    few = predict(path, X, "--neighbours", 64)
    assert np.abs(few["std"] / std - 1).max() > 0.01


def test_the_exact_gp_keeps_to_memory(tmp_path):
    rows = training_rows(37, 1200, 3)
    path, _ = fit(tmp_path, "large", rows, "--experts", 1, *THETA)
    queries = tmp_path / "queries.csv"
    np.savetxt(queries, query_rows(38, rows, 5), delimiter=",")
    done = subprocess.run([QUORUM, "predict", path, queries, "--memory", "10M"], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1 and "raise memory, predict by method nearest" in done.stderr
    assert predict(path, query_rows(38, rows, 5), "--memory", "10M", "--neighbours", 64)


@pytest.mark.parametrize("space", ["latent", "observed"])
def test_poe_and_gpoe_share_their_mean(many, space):
    """And the variances differ by the factor M."""
    path, X = many
    poe, gpoe = (predict(path, X, "--method", m, "--space", space,
                         *(["--latent"] if space == "latent" else [])) for m in ("poe", "gpoe"))
    agree("PoE and GPoE: mean", poe["mean"], gpoe["mean"], 7.0, 1e-13)
    agree("PoE and GPoE: std", poe["std"] * np.sqrt(6.0), gpoe["std"], gpoe["std"], 1e-13)


def test_npae_is_surer_than_any_single_expert(many):
    path, X = many
    joint = predict(path, X, "--latent", "--select", "all")["std"]
    for e in range(1, 7):
        alone = predict(path, X, "--latent", "--method", "poe", "--select", f"expert:{e}")["std"]
        assert np.all(joint <= alone * (1 + 1e-14))
    single = predict(path, X, "--latent", "--method", "single")["std"]
    assert np.all(joint <= single * (1 + 1e-14)) and np.mean(joint < 0.95 * single) > 0.5


@pytest.mark.parametrize("method", ref.RULE_ORDER)
@pytest.mark.parametrize("share", ["graph:1", "best:1", "worst:1.0"])
def test_share_one_is_no_selection(many, method, share):
    path, X = many
    everyone = predict(path, X, "--method", method)
    selected = predict(path, X, "--method", method, "--select", share)
    for column in everyone:
        same_bits(f"{share} {column}", everyone[column], selected[column])


@pytest.mark.parametrize("method", ["nearest", "npae", "bcm", "rbcm", "gpoe"])
@pytest.mark.parametrize("latent", [[], ["--latent"]])
def test_the_prior_returns_far_from_the_data(many, method, latent):
    path, X = many
    model = ref.Model(path)
    far = X[:5] + 1e4 * model.arrays["x_scale"]
    got = predict(path, far, "--method", method, *latent)
    var = model.theta.signal + (0.0 if latent else model.theta.noise)
    scale = float(model.arrays["y_scale"])
    agree("prior far away: mean", got["mean"], np.full(5, model.arrays["y_mean"]), scale, 1e-14)
    agree("prior far away: std", got["std"], np.full(5, scale * np.sqrt(var)), scale, 1e-14)


@pytest.mark.parametrize("quorum_of", [[], ["--method", "npae"]])
def test_far_away_fades_to_the_prior(many, quorum_of):
    """On the way out the variance grows to the prior's, without a jump where experts stop
    explaining anything."""
    path, X = many
    model = ref.Model(path)
    step = np.linspace(0.0, 12.0, 200)
    line = model.arrays["x_mean"] + step[:, None] * model.arrays["x_scale"]
    std = predict(path, line, "--latent", *quorum_of)["std"]
    beyond = std[step > 5.0]
    assert np.all(np.diff(beyond) >= -1e-12 * beyond[1:])
    assert np.max(np.abs(np.diff(beyond))) < 0.1 * beyond[-1]


@pytest.mark.parametrize("method", ["nearest", *ref.RULE_ORDER])
def test_units_do_not_matter(tmp_path, method):
    """Inputs and target in other units (powers of 2: exactly scaled) give the same predictions
    in those units."""
    rows = training_rows(35, 150, 3)
    X = query_rows(36, rows, 17)
    factor = np.array([4.0, 0.125, 1024.0, 0.5])
    a, _ = fit(tmp_path, "a", rows, "--experts", 4, *THETA)
    b, _ = fit(tmp_path, "b", rows * factor, "--experts", 4, *THETA)
    here, there = predict(a, X, "--method", method), predict(b, X * factor[:3], "--method", method)
    for column in here:
        same_bits(f"other units, {column}", here[column] * factor[3], there[column])


def test_experts_by_themselves(many):
    """expert:I is the GP on the rows of part I."""
    path, X = many
    model = ref.Model(path)
    scale = float(model.arrays["y_scale"])
    for e, p in enumerate(model.parts):
        mean, var = ref.exact_gp(model.theta, p.X, p.y, model.standardise(X))
        got = predict(path, X, "--method", "npae", "--select", f"expert:{e + 1}", "--latent")
        agree("one expert alone: mean", got["mean"], model.arrays["y_mean"] + scale * mean, scale)
        agree("one expert alone: std", got["std"], scale * np.sqrt(var), scale * np.sqrt(var))


def test_the_reference_leaves_rows_out():
    """By the inverse, which is quick, what it is by its definition: each row predicted from the others."""
    rng = np.random.default_rng(35)
    X, y, noise = rng.normal(size=(40, 3)), rng.normal(size=40), rng.uniform(0.01, 0.3, 40)
    theta = ref.Theta("matern32", np.array([0.8, 1.1, 2.0]), 1.3, 0.1)
    missed, latent = ref.left_out(theta, X, y, noise)
    for i in range(40):
        others = np.arange(40) != i
        p = ref.posterior(theta, X[others], y[others], X[i:i + 1], noise[others])
        agree("left out: error", missed[i], y[i] - p.mean[0], 1.0, 1e-11)
        agree("left out: variance", latent[i], theta.signal - p.explained[0], 1.0, 1e-11)
