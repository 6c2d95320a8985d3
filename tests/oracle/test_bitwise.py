"""The same bits: for any number of threads, any memory, any company of a query."""
import json

import numpy as np
import pytest

import reference as ref
from oracle_support import (fit, predict, probe_gp, query_rows, quorum, random_parts, random_queries,
                            random_theta, same_bits, training_rows)

CORES = [None, "Haswell", "Zen", "SandyBridge", "Prescott"]  # None: as it starts
METHODS = {  # name: options of predict
    "npae": ["--method", "npae"],
    "grbcm": ["--method", "grbcm"],
    "rbcm": ["--method", "rbcm"],
}
LOCAL = {
    "default": [],
    "local:2": ["--select", "local:2"],
    "local:auto + 20": ["--select", "local:auto", "--neighbours", 20],
    "knn:2": ["--select", "knn:2"],
    "neighbours": ["--method", "nearest", "--neighbours", 50],
    "rbcm local:3": ["--method", "rbcm", "--select", "local:3"],
}
SMALL = ["--memory", "10M"]  # the least there is


def flags():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split() for line in file if line.startswith("flags")), [])


def environment(core):
    """Environment for a kernel set of OpenBLAS; skips what this processor cannot run."""
    if core is None:
        return {}
    needed = {"Haswell": "avx2", "Zen": "avx2", "SandyBridge": "avx"}
    if core in needed and needed[core] not in flags():
        pytest.skip(f"this processor has no {needed[core]}")
    given = {"OPENBLAS_CORETYPE": core}
    if core.lower() not in quorum("--version", environment=given).lower():
        pytest.skip(f"this OpenBLAS has no kernels for {core}")
    return given


def same_prediction(what, a, b):
    for column in a:
        same_bits(f"{what}, {column}", a[column], b[column])


# ---- Predictions ----------------------------------------------------------------------------

# inputs -> model.  Parts of about 500 rows: their factors (6 MB) do not fit half of 10 MB, and
# 400 queries take NPAE three blocks there, one otherwise.


@pytest.fixture(scope="module", params=[3, 12])
def model(request, tmp_path_factory):
    """Three experts of 500 rows each."""
    rows = training_rows(41, 1500, request.param)
    theta = ["--theta", "0.8,1,0.1" if request.param == 3 else "3,1,0.1"]
    directory = tmp_path_factory.mktemp(f"inputs{request.param}")
    path, _ = fit(directory, "model", rows, "--experts", 3, "--partition", "random", *theta)
    return path, query_rows(42, rows, 400)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("method", METHODS)
def test_predictions(model, core, method):
    path, X = model
    given = environment(core)
    if core not in (None, "Haswell", "SandyBridge") and X.shape[1] == 12:
        pytest.skip("12 inputs: one set of kernels of each width is enough")
    check_company(path, X, METHODS[method], given)


def check_company(path, X, options, given):
    """A row's prediction is the same in any company, order, memory and number of threads."""
    def run(rows, *more):
        return predict(path, rows, *options, *more, environment=given)

    whole = run(X, "--threads", 1)
    order = np.random.default_rng(1).permutation(len(X))
    shuffled = run(X[order], "--threads", 4, *SMALL)
    same_prediction("permuted, 4 threads, little memory", {c: whole[c][order] for c in whole}, shuffled)
    for rows in ([len(X) - 1], [17], list(range(5, 42))):
        part = run(X[rows], "--threads", 2)
        same_prediction(f"rows {rows[0]}..", {c: whole[c][rows] for c in whole}, part)


@pytest.fixture(scope="module", params=[2, 10])
def many(request, tmp_path_factory):
    """40 experts of 40 rows: local selection has to leave some unasked.  1,300 queries are several
    blocks in 10 MB, one otherwise."""
    rows = training_rows(49, 1600, request.param)
    theta = ["--theta", "0.4,1,0.1" if request.param == 2 else "2.5,1,0.1"]
    path, _ = fit(tmp_path_factory.mktemp(f"many{request.param}"), "many", rows, "--experts", 40,
                  "--graph", "none", *theta)
    return path, query_rows(50, rows, 1300)


@pytest.mark.parametrize("core", [None, "Haswell", "SandyBridge", "Prescott"])
@pytest.mark.parametrize("quorum_of", LOCAL)
def test_a_quorum_for_every_query(many, core, quorum_of):
    path, X = many
    given = environment(core)
    if core is not None:
        X = X[:200]
    if quorum_of == "default":  # 512 neighbours take their time
        X = X[:300]
    check_company(path, X, LOCAL[quorum_of], given)


@pytest.fixture(scope="module", params=[2, 10])
def overlapping(request, tmp_path_factory):
    """20 experts of 40 rows of their own and 40 of others."""
    rows = training_rows(51, 800, request.param)
    theta = ["--theta", "0.4,1,0.1" if request.param == 2 else "2.5,1,0.1"]
    path, _ = fit(tmp_path_factory.mktemp(f"overlapping{request.param}"), "model", rows, "--experts", 20,
                  "--overlap", 1, *theta)
    return path, query_rows(52, rows, 500)


@pytest.mark.parametrize("core", [None, "Haswell", "Prescott"])
@pytest.mark.parametrize("quorum_of", [*METHODS, *LOCAL])
def test_overlapping_experts(overlapping, core, quorum_of):
    path, X = overlapping
    given = environment(core)
    if core is not None or quorum_of == "default":
        X = X[:100]
    check_company(path, X, {**METHODS, **LOCAL}[quorum_of], given)


@pytest.mark.parametrize("core", CORES)
def test_factors_wherever_they_lie(tmp_path, core):
    """Factors that are kept lie elsewhere in memory than those made anew.  Odd sizes put them on
    addresses that are multiples of 8 bytes only, which some kernels round differently."""
    given = environment(core)
    rng = np.random.default_rng(1)
    theta = random_theta(rng, "se", 3, "middle")
    parts = random_parts(rng, 3, (333, 335, 501, 7))
    Q = random_queries(rng, parts)
    kept, anew = (probe_gp(tmp_path, theta, parts, Q, keep=k, environment=given) for k in (True, False))
    for name in ("mean", "explained", "npae_mean", "npae_var"):
        same_bits(f"factors kept or not, {name}", kept[name], anew[name])


@pytest.mark.parametrize("method", [m for m in ref.RULE_ORDER if m not in METHODS] + ["npae*", "grbcm*"])
def test_other_methods(model, method):
    path, X = model
    whole = predict(path, X, "--method", method, "--threads", 1)
    same_prediction("4 threads, little memory", whole,
                    predict(path, X, "--method", method, "--threads", 4, *SMALL))
    same_prediction("one row", {c: whole[c][9:10] for c in whole},
                    predict(path, X[9:10], "--method", method))


def test_blocks_of_independent_rules(tmp_path):
    """40 inputs and 3,000 queries: three chunks and blocks in 10 MB."""
    rows = training_rows(43, 900, 40)
    path, _ = fit(tmp_path, "wide", rows, "--experts", 2, "--theta", "6,1,0.1")
    X = query_rows(44, rows, 3000)
    for method in ("rbcm", "grbcm"):
        whole = predict(path, X, "--method", method, "--threads", 1)
        same_prediction("little memory", whole, predict(path, X, "--method", method, "--threads", 2, *SMALL))


def test_evaluate(model):
    path, X = model
    test = path.parent / "test.npy"
    np.save(test, np.column_stack([X, np.sin(np.arange(len(X)))]))
    said = [json.loads(quorum("evaluate", path, test, "-q", "--json", "--method", "npae,rbcm", "--select",
                              "local:2", "--neighbours", 0, *options))
            for options in (["--threads", 1], ["--threads", 4, *SMALL])]
    for scores in said:
        for s in scores:
            s.pop("seconds")
    assert said[0] == said[1]


# ---- Fits -----------------------------------------------------------------------------------


def contents(path):
    """Arrays, and meta.json without times and the options that may differ."""
    model = ref.Model(path)
    meta = model.meta
    meta.pop("seconds")
    for name in ("threads", "memory"):
        meta["options"].pop(name)
    return model.arrays, meta


def same_model(a, b):
    (arrays, meta), (others, other_meta) = contents(a), contents(b)
    assert arrays.keys() == others.keys()
    for name in arrays:
        same_bits(name, arrays[name], others[name])
    assert meta == other_meta


@pytest.mark.parametrize("core", [None, "SandyBridge", "Prescott"])
@pytest.mark.parametrize("partition,D,kernel,overlap", [("kmeans", 3, "se", 0),
                                                        ("kdtree", 12, "matern32", 0),
                                                        ("kmeans", 12, "se", 0.7),
                                                        ("kmeans", 3, "matern32x2", 0)])
def test_fit(tmp_path, core, partition, D, kernel, overlap):
    rows = training_rows(45, 700, D)
    options = ["--experts", 7, "--partition", partition, "--kernel", kernel, "--max-evaluations", 12,
               "--overlap", overlap]
    paths = [fit(tmp_path, f"threads{t}", rows, *options, "--threads", t, environment=environment(core))[0]
             for t in (1, 2, 4)]
    same_model(paths[0], paths[1])
    same_model(paths[0], paths[2])


@pytest.mark.parametrize("core", [None, "SandyBridge"])
def test_fit_in_little_memory(tmp_path, core):
    """The graph's posteriors come from factors that are not kept."""
    given = environment(core)
    rows = training_rows(46, 1100, 2)
    options = ["--experts", 2, "--theta", "0.7,1,0.1", "--threads", 1]
    large, _ = fit(tmp_path, "large", rows, *options, environment=given)
    small, _ = fit(tmp_path, "small", rows, *options, "--memory", "12M", environment=given)
    same_model(large, small)


def test_fit_one_large_expert(tmp_path):
    """More than 2048 rows: all threads work on the tiles of one matrix."""
    rows = training_rows(47, 2100, 2)
    options = ["--experts", 1, "--max-evaluations", 2, "--graph-rows", 16]
    paths = [fit(tmp_path, f"threads{t}", rows, *options, "--threads", t)[0] for t in (1, 4)]
    same_model(*paths)
    X = query_rows(48, rows, 20)
    same_prediction("a large expert", predict(paths[0], X, "--select", "all", "--threads", 1),
                    predict(paths[0], X, "--select", "all", "--threads", 4))
    check_large_expert(paths[0])


def check_large_expert(path):
    """Its likelihood too, from the reference's own factor of 2,100 rows."""
    model = ref.Model(path)
    value = ref.nlml(model.theta, model.arrays["X"], model.arrays["y"])
    assert abs(model.meta["training"]["nlml"] - value) <= 1e-8 * model.n
