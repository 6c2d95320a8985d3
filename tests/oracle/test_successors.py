"""Methods that join experts by what their graph says: groups, and what they are in the limits."""
import numpy as np
import pytest

import reference as ref
from oracle_support import agree, fit, predict, query_rows, quorum, same_bits, training_rows

# name: seed, rows, inputs, options of fit
MODELS = {
    "regions": (81, 500, 2, ["--experts", 14, "--theta", "0.5,1.2,0.1"]),
    "random": (82, 420, 3, ["--experts", 9, "--kernel", "matern32", "--theta", "0.9,1.1,0.05", "--partition", "random"]),
    "sparse": (83, 480, 2, ["--experts", 12, "--theta", "0.3,1,0.1", "--lambda", "rel:0.6"]),
    "trend": (84, 400, 2, ["--experts", 8, "--theta", "0.6,1,0.1", "--trend", "linear"]),
}


class Fitted:
    def __init__(self, directory, name):
        seed, n, D, options = MODELS[name]
        self.rows = training_rows(seed, n, D)
        self.path, _ = fit(directory, name, self.rows, *options)
        self.model = ref.Model(self.path)
        self.queries = query_rows(seed + 100, self.rows, 40)


@pytest.fixture(scope="module", params=MODELS)
def fitted(request, tmp_path_factory):
    return Fitted(tmp_path_factory.mktemp("successors"), request.param)


def compare(f, method, select="auto", *given, **how):
    got = predict(f.path, f.queries, "--method", method, "--select", select, *given)
    mean, std = f.model.predict(f.queries, method, select, **how)
    agree(f"{method}, {select}: mean", got["mean"], mean, float(f.model.arrays["y_scale"]))
    agree(f"{method}, {select}: std", got["std"], std, std)


# ---- Groups ------------------------------------------------------------------------------------


def test_groups(fitted):
    compare(fitted, "groups")
    compare(fitted, "groups", "all", "--latent", latent=True)
    compare(fitted, "groups", "graph:0.7")
    compare(fitted, "groups*", "auto", "--space", "observed")  # which has no meaning for them


def test_there_is_something_to_group(fitted):
    """Otherwise the test above would show nothing: several groups, one of several experts."""
    sizes = [len(g) for g in ref.expert_groups(fitted.model.arrays["precision"], list(range(fitted.model.M)))]
    assert len(sizes) > 1 and max(sizes) > 1, sizes


def test_a_graph_without_edges_is_bcm(tmp_path):
    rows = training_rows(85, 300, 2)
    path, _ = fit(tmp_path, "alone", rows, "--experts", 6, "--theta", "0.5,1,0.1", "--lambda", "rel:2")
    X = query_rows(86, rows, 30)
    groups, bcm = (predict(path, X, "--method", m) for m in ("groups", "bcm"))
    for column in bcm:  # NPAE leaves out who explains 1e-13 of the variance or less, of which the mean is the root
        agree(f"groups of one are bcm: {column}", groups[column], bcm[column], np.abs(bcm["std"]).max(), 1e-6)


def test_one_group_is_npae(tmp_path):
    """Two experts make one group."""
    rows = training_rows(87, 300, 2)
    path, _ = fit(tmp_path, "two", rows, "--experts", 2, "--theta", "0.5,1,0.1")
    assert np.all(ref.Model(path).arrays["precision"] != 0)
    X = query_rows(88, rows, 30)
    groups, npae = (predict(path, X, "--method", m) for m in ("groups", "npae"))
    for column in npae:
        agree(f"one group is npae: {column}", groups[column], npae[column], np.abs(npae["std"]).max(), 1e-12)


@pytest.mark.parametrize("method", ["groups"])
def test_one_expert_is_the_exact_gp(tmp_path, method):
    rows = training_rows(89, 200, 2)
    path, _ = fit(tmp_path, "one", rows, "--experts", 1, "--theta", "0.5,1,0.1")
    X = query_rows(90, rows, 30)
    exact, other = predict(path, X), predict(path, X, "--method", method)
    for column in exact:
        agree(f"{method} of one expert: {column}", other[column], exact[column], np.abs(exact["std"]).max(), 1e-12)


@pytest.mark.parametrize("method", ["groups"])
def test_company_threads_and_memory_make_no_difference(fitted, method):
    given = ["--method", method]
    together = predict(fitted.path, fitted.queries, *given, "--threads", 1)
    half = predict(fitted.path, fitted.queries[17:], *given, "--threads", 3, "--memory", "10M")
    for column in together:
        same_bits(f"{method}, {column}", half[column], together[column][17:])


@pytest.mark.parametrize("method", ["groups"])
def test_a_graph_that_is_learned_when_asked_for(tmp_path, method):
    """It is the one that the fit would have learned."""
    rows, answers = training_rows(91, 300, 2), []
    for graph in ("glasso", "auto"):
        path, _ = fit(tmp_path, graph, rows, "--experts", 7, "--theta", "0.5,1,0.1", "--graph", graph)
        answers.append(predict(path, query_rows(92, rows, 20), "--method", method))
    for column in answers[0]:
        same_bits(column, *(a[column] for a in answers))


def test_what_is_refused(fitted):
    for words, sentence in [
            (["--method", "groups", "--select", "local:2"], "same experts at all queries"),
            (["--method", "groups", "--select", "knn:2"], "same experts at all queries"),
            (["--method", "groups", "--neighbours", 20], "use neighbours with nearest or npae"),
            (["--method", "groups", "--gradient"], "groups has no gradients")]:
        with pytest.raises(Exception, match=sentence):
            predict(fitted.path, fitted.queries, *words)


def test_calibrated(tmp_path):
    """Rows held out of a fit are predicted by the same groups; a saved model knows what it is for."""
    rows = training_rows(93, 400, 2)
    path, _ = fit(tmp_path, "calibrated", rows, "--experts", 6, "--theta", "0.5,1,0.1", "--method", "groups",
                  "--calibrate", "true")
    on, off = (predict(path, query_rows(94, rows, 20), "--method", "groups", "--calibration", c) for c in ("auto", "off"))
    assert np.array_equal(on["mean"], off["mean"]) and not np.array_equal(on["std"], off["std"])
