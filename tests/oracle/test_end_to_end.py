"""fit, then predict: numpy.load of the model and the equations reproduce every prediction."""
import json
import pathlib
import re

import numpy as np
import pytest
from scipy.stats import norm

import reference as ref
from oracle_support import agree, fit, predict, query_rows, quorum, training_rows

RULES = ref.RULE_ORDER
INDEPENDENT = [r for r in RULES if r != "npae"]
SELECTIONS = ["all", "graph:0.5", "best:0.5", "worst:0.4", "expert:2", "graph:1"]

# name: seed, rows, inputs, options of fit
MODELS = {
    "se": (1, 240, 3, ["--experts", 6, "--theta", "0.9,1.5,2.5,1.3,0.08"]),
    "matern12": (2, 200, 1, ["--experts", 4, "--theta", "1.2,0.8,0.1", "--kernel", "matern12",
                             "--partition", "kdtree"]),
    "matern32": (3, 260, 12, ["--experts", 5, "--theta", "4,1.1,0.15", "--kernel", "matern32",
                              "--partition", "random", "--seed", 7]),
    "matern52": (4, 240, 9, ["--experts", 5, "--kernel", "matern52", "--seed", 3]),
    "two scales": (8, 250, 2, ["--experts", 5, "--theta", "0.4,0.6,1.2,0.1,0.6,5", "--kernel",
                               "matern32x2"]),
    "three scales": (11, 250, 2, ["--experts", 5, "--theta", "0.2,0.3,1.2,0.1,0.6,4", "--kernel",
                                  "matern32x3"]),
    "two scales, trained": (9, 240, 3, ["--experts", 4, "--kernel", "matern52x2",
                                        "--max-evaluations", 12]),
    "trained": (5, 300, 3, ["--experts", 5, "--seed", 2, "--graph-rows", 90]),
    "inputs40": (6, 240, 40, ["--experts", 4, "--max-evaluations", 15]),
}


class Fitted:
    def __init__(self, directory, name):
        seed, n, D, options = MODELS[name]
        self.rows = training_rows(seed, n, D)
        self.rows[11, :-1] = self.rows[10, :-1]  # equal inputs, unequal targets
        self.path, self.said = fit(directory, name, self.rows, *options)
        self.model = ref.Model(self.path)
        self.queries = query_rows(seed + 100, self.rows, 45)

    def compare(self, method, select="auto", space="latent", latent=False, options=(), order=None):
        """mean: to 1e-8 of the target's scale; std: to 1e-8 of itself."""
        given = ["--method", method, "--select", select, "--space", space, *options]
        got = predict(self.path, self.queries, *given, *(["--latent"] if latent else []))
        mean, std = self.model.predict(self.queries, method, select, space, latent, order)
        kind = f"predict {method.rstrip('*')} {space}"
        agree(f"{kind}: mean", got["mean"], mean, float(self.model.arrays["y_scale"]))
        agree(f"{kind}: std", got["std"], std, std)
        return got


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    directory = tmp_path_factory.mktemp("models")
    made = {}

    def get(name):
        if name not in made:
            made[name] = Fitted(directory, name)
        return made[name]

    return get


# ---- The model file ----------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_model_file(fitted, name):
    f = fitted(name)
    a, X, y = f.model.arrays, f.rows[:, :-1], f.rows[:, -1]
    assert sorted(a["row"]) == list(range(len(y))) and a["offset"][-1] == len(y)
    for data, kind in ((X, "x"), (y[:, None], "y")):
        mean, scale = ref.standardising(data)
        agree("standardising: mean", np.ravel(a[f"{kind}_mean"]), mean, np.abs(mean) + scale, 1e-14)
        agree("standardising: scale", np.ravel(a[f"{kind}_scale"]), scale, scale, 1e-12)
    agree("standardised X", a["X"], f.model.standardise(X)[a["row"]], 1.0, 1e-12)
    agree("standardised y", a["y"], ((y - a["y_mean"]) / a["y_scale"])[a["row"]], 1.0, 1e-12)
    assert all(np.all(np.diff(p.row) > 0) for p in f.model.parts)
    assert f.said["smallest"] == min(len(p.y) for p in f.model.parts)
    assert f.said["largest"] == max(len(p.y) for p in f.model.parts)


@pytest.mark.parametrize("name", MODELS)
def test_likelihood_reported(fitted, name):
    f = fitted(name)
    total = sum(ref.nlml(f.model.theta, p.X, p.y) for p in f.model.parts)
    agree("fit --json nlml", f.said["nlml"], total, len(f.rows))


def page_kernel(model):
    """`k` of a kernel with two scales as docs/model-file.md writes it."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "model-file.md").read_text()
    text = re.search(r"```python\n(def k\(A, B\).*?)```", page, re.DOTALL).group(1)
    known = {"np": np, "m": model.arrays, "ell": model.theta.lengthscale,
             "signal": model.theta.signal}
    exec(text, known)
    return known["k"]


def test_recipe_of_two_scales(fitted):
    """The exact posterior of each expert by the page's own words."""
    f = fitted("two scales")
    assert f.model.meta["format_version"] == 4
    k, Q = page_kernel(f.model), f.model.standardise(f.queries)
    for p in f.model.parts:
        agree("kernel of the page", k(p.X, Q), ref.kernel(f.model.theta, p.X, Q),
              f.model.theta.signal, 1e-14)


def test_theta_given_is_theta_kept(fitted):
    theta = fitted("se").model.theta
    agree("theta as given", theta.logs(), np.log([0.9, 1.5, 2.5, 1.3, 0.08]), 1.0, 1e-15)
    agree("theta as given", fitted("matern32").model.theta.logs(), np.log([4.0] * 12 + [1.1, 0.15]),
          1.0, 1e-15)


@pytest.mark.parametrize("name", ["matern52", "trained"])
def test_training_ends_where_the_gradient_vanishes(fitted, name):
    """Per row, at a parameter that is not on a bound: 1e-2 a unit of log theta is as flat as a
    relative tolerance of 1e-6 on the objective leaves it; the start is steeper than 0.1."""
    model = fitted(name).model
    x = model.theta.logs()
    D = len(x) - 2
    low = np.log(np.r_[[1e-3] * D, 1e-4, 1e-6])
    high = np.log(np.r_[[300.0] * D, 1e4, 10.0])
    free = (x > low + 1e-3) & (x < high - 1e-3)
    slope = sum(ref.nlml_gradient(model.theta, p.X, p.y)[0] for p in model.parts) / model.n
    assert np.max(np.abs(slope[free])) < 1e-2, slope
    assert free[D:].all(), "signal and noise should be inside their bounds"


# ---- The graph ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_graph(fitted, name):
    model = fitted(name).model
    a, graph = model.arrays, model.meta["graph"]
    inputs = {tuple(row) for row in a["X"]}
    assert all(tuple(row) in inputs for row in a["reference"])
    assert len(a["reference"]) == (90 if name == "trained" else model.n)
    S = ref.means_covariance(np.array([p.mean for p in model.reference_posteriors()]))
    lam = 0.1 * ref.largest_off_diagonal(S)
    agree("graph lambda", graph["lambda"], lam, lam)
    agree("graph KKT of Omega", ref.kkt_violation(S, a["precision"], lam), 0.0, np.max(np.diag(S)), 1e-6)
    omega = ref.graphical_lasso(S, lam)
    agree("graph Omega against ADMM", a["precision"], omega, np.max(np.abs(omega)), 1e-5)
    scores = ref.importance(a["precision"])
    agree("graph importance of a model", a["importance"], scores, np.max(scores), 1e-14)
    assert graph["ranking"] == ref.ranking(a["importance"])
    assert graph["edges"] == np.count_nonzero(np.triu(a["precision"], 1)) > 0


@pytest.mark.parametrize("how", [["--lambda", "1000"], ["--graph", "none"]])
def test_empty_graph_ranks_by_explained_variance(tmp_path, how):
    rows = training_rows(9, 200, 2)
    path, _ = fit(tmp_path, "empty", rows, "--experts", 5, "--theta", "0.4,1,0.1", *how)
    quorum("graph", path, "--write", "-q")
    model = ref.Model(path)
    assert not np.any(model.arrays["importance"])
    explained = np.array([np.mean(p.explained) for p in model.reference_posteriors()])
    assert model.meta["graph"]["ranking"] == ref.ranking(explained)
    X = query_rows(10, rows, 20)
    got = predict(path, X, "--method", "npae*")
    mean, std = model.predict(X, "npae*")
    agree("predict npae latent: mean", got["mean"], mean, float(model.arrays["y_scale"]))
    agree("predict npae latent: std", got["std"], std, std)


# ---- Predictions ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", RULES)
def test_every_method_on_every_model(fitted, name, method):
    f = fitted(name)
    f.compare(method)
    f.compare(method + "*")
    f.compare(method, "all", latent=True)


@pytest.mark.parametrize("name", ["se", "matern32", "trained"])
@pytest.mark.parametrize("method", INDEPENDENT)
def test_observed_space(fitted, name, method):
    """Noisy predictions are aggregated and nothing is added: PoE's variance, for one, may end
    below s^2."""
    f = fitted(name)
    f.compare(method, space="observed")
    f.compare(method + "*", space="observed")
    f.compare(method, space="observed", latent=True)


@pytest.mark.parametrize("method", RULES)
@pytest.mark.parametrize("select", SELECTIONS)
def test_selections(fitted, method, select):
    f = fitted("se")
    got = f.compare(method, select)
    starred = predict(f.path, f.queries, "--method", method + "*", "--select", select)
    assert np.array_equal(got["std"], starred["std"])  # a selection that is given wins


@pytest.mark.parametrize("method", ["nearest", "npae"])
def test_joint_methods_in_observed_space_are_latent(fitted, method):
    f = fitted("se")
    a = predict(f.path, f.queries, "--method", method)
    b = predict(f.path, f.queries, "--method", method, "--space", "observed")
    assert all(np.array_equal(a[k], b[k]) for k in a)


@pytest.mark.parametrize("probability", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("latent", [False, True])
def test_interval(fitted, probability, latent):
    f = fitted("trained")
    got = f.compare("rbcm", latent=latent, options=["--interval", probability])
    z = norm.ppf(0.5 + probability / 2)
    agree("interval", got["lower"], got["mean"] - z * got["std"], got["std"], 1e-12)
    agree("interval", got["upper"], got["mean"] + z * got["std"], got["std"], 1e-12)


@pytest.mark.parametrize("method", ["nearest", "npae", "rbcm", "grbcm", "gpoe*"])
def test_mean_only(fitted, method):
    f = fitted("se")
    alone = predict(f.path, f.queries, "--method", method, "--mean-only")
    assert list(alone) == ["mean"]
    assert np.array_equal(alone["mean"], predict(f.path, f.queries, "--method", method)["mean"])


@pytest.mark.parametrize("method", RULES)
def test_mean_only_of_one_expert(fitted, method):
    """One expert alone: its mean is the rule's mean for all rules but RBCM, which draws it
    towards the prior by its entropy weight."""
    f = fitted("se")
    given = ["--method", method, "--select", "expert:2"]
    alone = predict(f.path, f.queries, *given, "--mean-only")["mean"]
    mean, _ = f.model.predict(f.queries, method, "expert:2")
    agree("mean-only of one expert", alone, mean, float(f.model.arrays["y_scale"]))


@pytest.mark.parametrize("name", ["se", "trained"])
@pytest.mark.parametrize("method", ["npae", "rbcm", "grbcm"])
def test_graph_on_the_queries(fitted, name, method):
    """The paper's graph: the importance comes from the queries of the call."""
    f = fitted(name)
    order, scores = f.model.graph_order_on(f.queries)
    chosen = 3
    gap = scores[order[chosen - 1]] - scores[order[chosen]]
    assert gap > 1e-3 * max(scores) and scores[order[0]] - scores[order[1]] > 1e-3 * max(scores)
    f.compare(method, f"graph:{chosen / f.model.M}", options=["--graph-on", "test"], order=order)


def test_constant_column_and_offset_target(tmp_path):
    """A constant input gets scale 1; a target far from 0 keeps its digits."""
    rows = training_rows(13, 150, 3)
    rows[:, 1] = 0.3
    rows[:, -1] += 1e6
    path, _ = fit(tmp_path, "constant", rows, "--experts", 3, "--theta", "1,1,1,1,0.1")
    model = ref.Model(path)
    assert model.arrays["x_scale"][1] == 1.0
    X = query_rows(14, rows, 20)
    for method in ("nearest", "npae", "rbcm"):
        got, (mean, std) = predict(path, X, "--method", method), model.predict(X, method)
        # the target itself is known to 1e6 eps = 1e-10 only, 2e-11 of its scale
        agree("predict, target near 1e6: mean", got["mean"], mean, float(model.arrays["y_scale"]))
        agree("predict, target near 1e6: std", got["std"], std, std)


# ---- Scores ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name,shift", [("se", 0.0), ("trained", 0.0), ("trained", 40.0)])
def test_evaluate(fitted, name, shift):
    """Scores of quorum's own predictions, by the definitions; CRPS by quadrature.  With a
    shift the test targets lie elsewhere than the training ones."""
    f = fitted(name)
    rng = np.random.default_rng(77)
    X = query_rows(55, f.rows, 60)
    y = f.model.predict(X)[0] + shift + 3.0 * rng.standard_normal(60)
    test = f.path.parent / "test.npy"
    np.save(test, np.column_stack([X, y]))
    said = json.loads(quorum("evaluate", f.path, test, "-q", "--json", "--method", "nearest,npae,grbcm,poe*",
                             "--space", "latent,observed"))
    assert [(s["method"], s["select"], s["space"]) for s in said] == [
        (m, "graph:0.8" if m == "poe*" else "auto", space)
        for space in ("latent", "observed") for m in ("nearest", "npae", "grbcm", "poe*")]
    for s in said:
        got = predict(f.path, X, "--method", s["method"], "--space", s["space"])
        a = f.model.arrays
        expected = ref.metrics(y, got["mean"], got["std"], float(a["y_mean"]), float(a["y_scale"]))
        for key in ("smse", "msll", "mae", "rmse", "nlpd", "crps"):
            size = abs(s["nlpd"]) + 1.0 if key == "msll" else abs(expected[key])
            agree(f"evaluate {key}", s[key], expected[key], size, 1e-11)  # quadrature: 1e-12
        assert s["coverage"] == expected["coverage"]
        _, select, _ = ref.settings(s["method"], s["select"], "auto", 2)
        everyone = len(ref.selected(select, f.model.order))
        assert s["experts_used"] == min(everyone, ref.local_size(select) or everyone)
        assert s["unsure"] == 0  # as few experts as these are all asked
