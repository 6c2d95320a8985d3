"""Method ggm, the experts and the target as one graphical model, against its equations, and what it is in the limits."""
import numpy as np
import pytest

import latent_target as lt
import reference as ref
from oracle_support import agree, fit, predict, query_rows, same_bits, training_rows

# name: seed, rows, inputs, options of fit, the penalty
MODELS = {
    "regions": (181, 360, 2, ["--experts", 8, "--theta", "0.5,1.2,0.1"], {}),
    "random": (182, 330, 3, ["--experts", 6, "--kernel", "matern32", "--theta", "0.9,1.1,0.05", "--partition", "random"], {}),
    "some rows": (183, 400, 2, ["--experts", 7, "--theta", "0.4,1,0.02", "--graph-rows", 150, "--seed", 3, "--lambda", "rel:0.3"],
                  {"share": 0.3}),
    "free diagonal": (184, 300, 2, ["--experts", 6, "--theta", "0.5,1,0.1", "--free-diagonal"], {"diagonal": False}),
    "trend": (185, 300, 2, ["--experts", 5, "--theta", "0.6,1,0.1", "--trend", "linear"], {}),
    "overlap": (186, 300, 2, ["--experts", 5, "--theta", "0.5,1,0.05", "--overlap", 0.5], {}),
}


class Fitted:
    def __init__(self, directory, name):
        seed, n, D, options, how = MODELS[name]
        self.rows = training_rows(seed, n, D)
        self.path, _ = fit(directory, name, self.rows, *options, "--graph", "glasso")
        self.model = ref.Model(self.path)
        self.queries = query_rows(seed + 100, self.rows, 40)
        self.omega, self.climb = lt.learned_of(self.model, **how)


@pytest.fixture(scope="module", params=MODELS)
def fitted(request, tmp_path_factory):
    return Fitted(tmp_path_factory.mktemp("ggm"), request.param)


def compare(f, select, *given, **how):
    got = predict(f.path, f.queries, "--method", "ggm", "--select", select, *given)
    mean, std = lt.predict(f.model, f.queries, ref.selected(select, f.model.order), f.omega, **how)
    agree(f"ggm, {select}: mean", got["mean"], mean, float(f.model.arrays["y_scale"]))
    agree(f"ggm, {select}: std", got["std"], std, std)


def test_ggm(fitted):
    compare(fitted, "all")
    compare(fitted, "all", "--latent", latent=True)
    compare(fitted, "all", "--space", "observed")  # which has no meaning here
    compare(fitted, "graph:0.7")


def test_the_reference_climbs(fitted):
    """EM gains in every step and settles; and there is something to learn."""
    gains = np.diff(fitted.climb)
    assert np.all(gains > -1e-9 * np.abs(fitted.climb[0])) and 2 <= len(gains) < lt.STEPS, gains
    off = fitted.omega - np.diag(np.diag(fitted.omega))
    assert np.max(np.abs(off)) > 0.01


def test_independent_experts_are_bcm():
    """Omega = I is the Bayesian committee machine."""
    rng = np.random.default_rng(1)
    mean, var = rng.normal(size=(5, 9)), rng.uniform(0.1, 1.4, (5, 9))
    u, g = lt.standing(mean.T, 1.5 - var.T, 1.5)
    P = 1 / 1.5 + (g**2).sum(axis=1)
    expected, spread = ref.bcm(mean, var, 1.5)
    agree("ggm of independent experts: mean", (g * u).sum(axis=1) / P, expected, 1.0, 1e-13)
    agree("ggm of independent experts: variance", 1 / P, spread, 1.0, 1e-13)


def test_one_expert_is_the_exact_gp(tmp_path):
    rows = training_rows(189, 200, 2)
    path, _ = fit(tmp_path, "one", rows, "--experts", 1, "--theta", "0.5,1,0.1")
    X = query_rows(190, rows, 30)
    exact, other = predict(path, X), predict(path, X, "--method", "ggm")
    for column in exact:
        agree(f"ggm of one expert: {column}", other[column], exact[column], np.abs(exact["std"]).max(), 1e-12)


def test_company_threads_and_memory_make_no_difference(fitted):
    together = predict(fitted.path, fitted.queries, "--method", "ggm", "--threads", 1)
    half = predict(fitted.path, fitted.queries[17:], "--method", "ggm", "--threads", 3, "--memory", "10M")
    for column in together:
        same_bits(f"ggm, {column}", half[column], together[column][17:])


def test_far_away_is_the_prior(fitted):
    """Where no expert knows anything, not even in the last digit of a tiny number."""
    far = fitted.queries[:3] + 1e6
    got = predict(fitted.path, far, "--method", "ggm", "--latent")
    if "trend" not in fitted.model.arrays:
        agree("ggm far away: mean", got["mean"], np.full(3, float(fitted.model.arrays["y_mean"])), got["std"], 1e-12)
        agree("ggm far away: std", got["std"] / float(fitted.model.arrays["y_scale"]), np.full(3, fitted.model.theta.signal**0.5), 1.0, 1e-12)


def test_what_is_refused(fitted):
    for words, sentence in [(["--select", "local:2"], "same experts at all queries"), (["--neighbours", 20], "use neighbours with nearest or npae"),
                            (["--gradient"], "ggm has no gradients")]:
        with pytest.raises(Exception, match=sentence):
            predict(fitted.path, fitted.queries, "--method", "ggm", *words)
