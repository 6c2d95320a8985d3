"""The noise around a query: which one its nearest rows have, against NumPy, what predictions make of it, and when a
fit takes it."""
import json
import zipfile

import numpy as np
import pytest

import reference as ref
from oracle_support import agree, fit, joint, predict, quorum, same_bits
from test_gradients import central

GIVEN = ["--graph", "none", "--experts", 4, "--kernel", "matern32", "--theta", "0.6,1.5,0.002", "--spread", 2,
         "--local-noise", "yes"]
LEARNED = ["--train", "neighbours", "--graph", "none", "--kernel", "matern32", "--metric", "ard", "--experts", 8]


def rows_of(n=500, seed=1, louder=30.0):
    """A smooth function of two inputs whose noise is `louder` times as large at one end as at the other."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    noise = 0.02 * louder ** (0.5 * X[:, 0] + 0.5)
    return np.column_stack([X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + noise * rng.standard_normal(n)])


def queries_of(count=12, seed=2):
    Q = np.random.default_rng(seed).uniform(-1.1, 1.1, (count, 2))
    Q[0] = 1e3
    return Q


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path, _ = fit(tmp_path_factory.mktemp("noise"), "given", rows_of(), *GIVEN)
    return path, ref.Model(path)


def test_noise_is_what_leaving_rows_out_says():
    """The reference's own shortcut, by the inverse, against rows that are really left out."""
    theta = ref.Theta("matern32", np.array([0.6, 0.6]), 1.5, 0.002)
    rows = rows_of(90, louder=200.0)
    weight, error = np.tile([1.0, 3.0, 0.5], 30), np.tile([0.0, 0.1], 45)
    X, y = rows[:, :2], rows[:, 2]
    for start in (0, 20, 40):
        near = ref.nearest_rows(theta, X, X[start:start + 1] + 0.01, 50)[0]
        densities, levels = [], []
        for f in 4.0 ** np.arange(5):
            one = f * theta.noise + error[near] ** 2
            v, z2 = np.empty(25), np.empty(25)
            for i in range(25):
                others = np.arange(50) != i
                p = ref.posterior(theta, X[near][others], y[near][others], X[near][i:i + 1],
                                  (one / weight[near])[others])
                v[i] = theta.signal - p.explained[0] + one[i]
                z2[i] = (y[near][i] - p.mean[0]) ** 2 / v[i]
            w = weight[near][:25]
            levels.append(np.exp(np.average(-np.log(v), weights=w)))
            s = (levels[-1] / levels[0] + np.sum(w * z2)) / (1 + np.sum(w))
            densities.append(-0.5 * np.sum(w * (np.log(v * s) + z2 / s)))
        k = int(np.argmax(densities))
        got = ref.noise_around(theta, X[near], y[near], weight[near], error[near])
        assert got == pytest.approx((4.0**k * theta.noise, levels[k] / levels[0]), rel=1e-9)


@pytest.mark.parametrize("neighbours", [40, 128, 200])
def test_predictions_have_it(model, neighbours):
    path, m = model
    Q, options = queries_of(), ["--neighbours", neighbours, "--calibration", "off"]
    around = m.noises(m.standardise(Q), neighbours)
    assert len({a.noise for a in around}) >= 2  # else this shows little
    for latent in (False, True):
        mean, std = m.predict(Q, method="nearest", neighbours=neighbours, order=range(4), latent=latent)
        got = predict(path, Q, "--method", "nearest", *options, *(["--latent"] if latent else []))
        agree("mean", got["mean"], mean, np.abs(mean).max())
        agree("std", got["std"], std, std, 1e-6)


def test_rows_with_weights_and_known_errors(tmp_path):
    rng = np.random.default_rng(5)
    rows, n = rows_of(300), 300
    table = np.column_stack([rows[:, :2], rng.choice([0.5, 1.0, 4.0], n), rng.choice([0.0, 0.05, 0.4], n), rows[:, 2]])
    path, _ = fit(tmp_path, "own", table, *GIVEN, "--weights", 3, "--noise-std", 4)
    m, Q = ref.Model(path), queries_of(8)
    mean, std = m.predict(Q, method="nearest", neighbours=150, order=range(4))
    got = predict(path, Q, "--method", "nearest", "--neighbours", 150)
    agree("mean", got["mean"], mean, np.abs(mean).max())
    agree("std", got["std"], std, std, 1e-6)


def test_far_from_rows_the_prior_comes_back(model):
    path, m = model
    got = predict(path, np.array([[1e3, -1e3], [50.0, 0.0], [0.0, -30.0]]))
    assert max(a.noise for a in m.noises(m.standardise(np.array([[1e3, -1e3]])), 512)) > m.theta.noise
    prior = np.sqrt(m.theta.signal + m.theta.noise) * float(m.arrays["y_scale"])
    np.testing.assert_allclose(got["std"], prior, rtol=1e-12)
    np.testing.assert_allclose(got["mean"], float(m.arrays["y_mean"]), rtol=1e-12)


def test_gradients_equal_differences(model, monkeypatch):
    """The neighbours and their noise being those that they are."""
    path, m = model
    Q, find, choose = queries_of(8)[1:], ref.nearest_rows, ref.noise_around
    got = predict(path, Q, "--gradient", "--method", "nearest", "--neighbours", 100)
    for q in range(len(Q)):
        centre = m.standardise(Q[q:q + 1])
        near = find(m.theta, m.arrays["X"], centre, 100)[0]
        noise = choose(m.theta, m.arrays["X"][near], m.arrays["y"][near])
        monkeypatch.setattr(ref, "nearest_rows", lambda theta, X, z, count: [near] * len(z))
        monkeypatch.setattr(ref, "noise_around", lambda *rows: noise)
        for d in range(2):
            mean, std = central(lambda x: np.array(m.predict(x, method="nearest", neighbours=100,
                                                             order=range(4)))[:, 0], Q[q:q + 1], d, 1e-3)
            assert got[f"dmean_x{d + 1}"][q] == pytest.approx(mean, rel=1e-6, abs=1e-6)
            assert got[f"dstd_x{d + 1}"][q] == pytest.approx(std, rel=1e-5, abs=1e-6)


def test_joint_variances_are_the_predictions(model):
    path, _ = model
    Q = queries_of(10)
    mean, covariance = joint(path, Q)
    got = predict(path, Q)
    agree("joint mean", mean, got["mean"], np.abs(got["mean"]).max())
    agree("joint variance", np.diag(covariance), got["std"] ** 2, got["std"] ** 2, 1e-8)
    scale = np.sqrt(np.diag(covariance))
    assert np.abs(covariance / np.outer(scale, scale)).max() <= 1 + 1e-12


def test_same_bits_for_threads_and_batches(model):
    path, _ = model
    Q = queries_of(30)
    whole = predict(path, Q, "--threads", 1)
    same_bits("threads", whole["std"], predict(path, Q, "--threads", 2)["std"])
    for first in (0, 7, 29):
        same_bits("batch", whole["std"][first:first + 1], predict(path, Q[first:first + 1])["std"])


def test_experts_do_not_know_it(model):
    """Experts are joined by the covariances of one theta."""
    path, m = model
    Q = queries_of(6)
    mean, std = m.predict(Q, method="npae", neighbours=0, select="all", order=range(4))
    got = predict(path, Q, "--method", "npae", "--neighbours", 0, "--select", "all")
    agree("npae mean", got["mean"], mean, np.abs(mean).max())
    agree("npae std", got["std"], std, std, 1e-6)


@pytest.mark.parametrize("louder, is_local", [(1.0, True), (100.0, False)])
def test_fit_takes_what_predicts_better(tmp_path, louder, is_local):
    """A Matern-3/2 kernel of a smooth function leans on too few rows, and a larger noise mends that; where the noise
    is another everywhere and the spread knows it, there is nothing to gain."""
    rows, held, scores = rows_of(1600, louder=louder), tmp_path / "held.npy", {}
    np.save(held, rows_of(600, seed=7, louder=louder))
    for name in ("auto", "yes", "no"):
        path, _ = fit(tmp_path, name, rows, *LEARNED, "--local-noise", name)
        scores[name] = json.loads(quorum("evaluate", path, held, "--json", "-q"))[0]
    taken, other = ("yes", "no") if is_local else ("no", "yes")
    meta = ref.Model(tmp_path / "auto.npz").meta
    assert (meta.get("noise") == "local") == is_local and meta["format_version"] == 11
    assert ("local noise" in quorum("inspect", tmp_path / "auto.npz")) == is_local
    same_bits("predictions", *(predict(tmp_path / f"{name}.npz", queries_of())["std"] for name in ("auto", taken)))
    assert scores["auto"]["nlpd"] == scores[taken]["nlpd"] < scores[other]["nlpd"] + 0.01


@pytest.mark.parametrize("change", [{"noise": "loud"}, {"noise": 1}, {"format_version": 1}, {"format_version": 8}])
def test_a_changed_file_is_refused(model, tmp_path, change):
    path, _ = model
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "bad.npz", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "meta.json":
                content = json.dumps(json.loads(content) | change)
            new.writestr(name, content)
    with pytest.raises(AssertionError, match="noise"):
        predict(tmp_path / "bad.npz", queries_of(3))
