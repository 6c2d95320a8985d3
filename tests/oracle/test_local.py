"""A quorum for every query: local selection and the query's own nearest rows.

The reference asks every expert everywhere and sorts all distances (reference.py); the program
asks only candidates, shares work between queries and searches with an index."""
import json
import os

import numpy as np
import pytest

import reference as ref
from oracle_support import agree, fit, joint, predict, query_rows, quorum, same_bits, training_rows

INDEPENDENT = [r for r in ref.RULE_ORDER if r not in ("npae", "groups", "grbcm")]

# name: seed, rows, inputs, options of fit.  Up to 8 inputs distances are made of differences,
# above of products.
MODELS = {
    "line": (61, 400, 1, ["--experts", 10, "--kernel", "matern32", "--theta", "0.3,1.2,0.1"]),
    "three": (62, 360, 3, ["--experts", 9, "--theta", "0.7,1.2,2,1.3,0.08"]),
    "nine": (63, 330, 9, ["--experts", 7, "--kernel", "matern52", "--theta", "2.5,1.1,0.15"]),
    "twelve": (64, 330, 12, ["--experts", 8, "--kernel", "matern12", "--theta", "4,0.9,0.1",
                             "--partition", "kdtree"]),
    "spread": (65, 340, 3, ["--experts", 8, "--kernel", "matern32", "--theta", "0.9,1.2,0.05",
                            "--spread", 2]),
}

# select, neighbours, of method auto
QUORUMS = [("auto", "auto"), ("auto", 20), ("auto", 0), ("local:1", 0), ("local:3", "auto"), ("local:2", 16),
           ("local:4", 64), ("none", 1), ("none", 50), ("none", 10000), ("all", 40),
           ("expert:2", 25), ("graph:0.8+local:3", 0), ("graph:0.8+local:3", 30),
           ("worst:0.5+local:2", 20), ("local:auto", 0), ("local:auto", 32),
           ("graph:0.7+local:auto", 8), ("knn:1", 0), ("knn:3", 0), ("knn:2", 24), ("knn:100", 0),
           ("graph:0.8+knn:3", 0)]


class Fitted:
    def __init__(self, directory, name):
        seed, n, D, options = MODELS[name]
        self.rows = training_rows(seed, n, D)
        self.rows[11, :-1] = self.rows[10, :-1]  # equal inputs, unequal targets
        self.path, _ = fit(directory, name, self.rows, *options)
        self.model = ref.Model(self.path)
        self.queries = query_rows(seed + 100, self.rows, 25)
        self.queries[-1] += 30.0 * self.rows[:, :-1].std(axis=0)  # far from everything

    def compare(self, method, select, neighbours="auto", **how):
        """mean: to 1e-8 of the target's scale; std: to 1e-8 of itself."""
        given = ["--method", method, "--select", select, "--neighbours", neighbours]
        given += ["--latent"] if how.get("latent") else []
        given += ["--space", how.get("space", "latent")]
        got = predict(self.path, self.queries, *given)
        mean, std = self.model.predict(self.queries, method, select, neighbours=neighbours, **how)
        joint_rule = method in ("auto", "nearest", "npae")
        kind = "npae" if joint_rule else "independent rules"
        kind = f"{kind}, knn" if "knn" in select else f"{kind}, local" if "local" in select else f"{kind}, {select.split(':')[0]}"
        kind += " + neighbours" if neighbours != 0 and joint_rule else ""
        agree(f"{kind}: mean", got["mean"], mean, float(self.model.arrays["y_scale"]))
        agree(f"{kind}: std", got["std"], std, std)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    directory = tmp_path_factory.mktemp("local")
    made = {}

    def get(name):
        if name not in made:
            made[name] = Fitted(directory, name)
        return made[name]

    return get


# ---- Predictions ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("select,neighbours", QUORUMS)
def test_auto(fitted, name, select, neighbours):
    fitted(name).compare("auto", select, neighbours, latent=True)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method,select,neighbours", [
    ("nearest", "auto", "auto"), ("nearest", "auto", 50), ("nearest", "none", 7), ("npae", "auto", "auto"),
    ("npae", "auto", 0), ("npae", "auto", 20), ("npae", "local:2", 16), ("npae", "none", 50)])
def test_nearest_and_npae(fitted, name, method, select, neighbours):
    fitted(name).compare(method, select, neighbours, latent=True)


@pytest.mark.parametrize("name", ["three", "twelve"])
@pytest.mark.parametrize("method", INDEPENDENT)
def test_independent_rules(fitted, name, method):
    f = fitted(name)
    f.compare(method, "local:3")
    f.compare(method, "local:1", latent=True)
    f.compare(method, "knn:2", latent=True)
    f.compare(method + "*", "graph:0.8+local:2", space="observed")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("neighbours", [0, 24])
def test_experts_used(fitted, name, neighbours):
    """local:auto says how many it took, the others how many they were told to."""
    f = fitted(name)
    test = f.path.parent / "test.npy"
    np.save(test, np.column_stack([f.queries, np.arange(len(f.queries))]))
    said = json.loads(quorum("evaluate", f.path, test, "-q", "--json", "--select",
                             "local:auto,local:3,none" if neighbours else "local:auto,local:3,all",
                             "--neighbours", neighbours))
    Q = f.model.standardise(f.queries)
    automatic = f.model.quorums(Q, list(range(f.model.M)), "auto", neighbours)
    used = [len(q.experts) for q in automatic]
    assert len(set(used)) > 1 or neighbours  # otherwise there is nothing automatic about it
    agree("local:auto: experts used", said[0]["experts_used"], np.mean(used), 1.0, 1e-12)
    assert said[1]["experts_used"] == 3
    assert said[2]["experts_used"] == (0 if neighbours else f.model.M)


def test_neighbourhood_that_is_an_expert(tmp_path):
    """Parts far from each other, as many neighbours as a part has rows: two seats for the same
    rows.  K_A is singular, and jitter shares the weight between them."""
    rng = np.random.default_rng(5)
    centres = np.array([[0.0, 0.0], [60.0, 0.0], [0.0, 60.0], [60.0, 60.0]])
    X = np.vstack([c + rng.normal(size=(40, 2)) for c in centres])
    rows = np.column_stack([X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(160)])
    path, _ = fit(tmp_path, "islands", rows, "--experts", 4, "--theta", "0.05,1,0.05")
    model = ref.Model(path)
    assert sorted(len(p.y) for p in model.parts) == [40] * 4
    queries = X[::9] + 0.2
    np.save(tmp_path / "test.npy", np.column_stack([queries, queries[:, 0]]))
    for select in ("local:1", "local:2", "all"):
        given = ["--select", select, "--neighbours", 40]
        got = predict(path, queries, *given, "--latent")
        mean, std = model.predict(queries, select=select, neighbours=40, latent=True)
        agree("singular K_A: mean", got["mean"], mean, float(model.arrays["y_scale"]))
        agree("singular K_A: std", got["std"], std, std)
        alone = predict(path, queries, "--method", "nearest", "--neighbours", 40, "--latent")
        agree("singular K_A against one of the two: std", got["std"], alone["std"], alone["std"], 1e-6)
        [said] = json.loads(quorum("evaluate", path, tmp_path / "test.npy", "-q", "--json", *given))
        assert said["jittered"] >= len(queries) and said["pseudo_inverses"] == 0


# ---- Candidates: not every expert is asked ------------------------------------------------------


def poe_of_best(model, Q, K):
    """Latent variance of the PoE of the K experts that explain most, all of them asked: a
    fingerprint of the picks."""
    explained = np.array([ref.posterior(model.theta, p.X, p.y, Q).explained for p in model.parts])
    best = -np.sort(-explained, axis=0)[:K]
    return 1.0 / np.sum(1.0 / (model.theta.signal - best), axis=0)


def missed(path, model, X, K, tmp_path):
    """Which queries were given other experts than the exhaustive choice, and how many the program
    was unsure about."""
    got = predict(path, X, "--method", "poe", "--select", f"local:{K}", "--latent")["std"]
    expected = float(model.arrays["y_scale"]) * np.sqrt(poe_of_best(model, model.standardise(X), K))
    test = tmp_path / "picks.npy"
    np.save(test, np.column_stack([X, X[:, 0]]))
    [said] = json.loads(quorum("evaluate", path, test, "-q", "--json", "--method", "poe", "--select",
                               f"local:{K}"))
    return np.abs(got - expected) > 1e-9 * expected, said["unsure"]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """60 experts of clustered data in 5 dimensions; the parts are compact in the learned metric."""
    rng = np.random.default_rng(71)
    X = rng.normal(size=(30, 5))[rng.integers(0, 30, 3000)] + 0.4 * rng.normal(size=(3000, 5))
    rows = np.column_stack([X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(3000)])
    path, _ = fit(tmp_path_factory.mktemp("crowd"), "crowd", rows, "--experts", 60, "--theta",
                  "0.8,1.2,0.05", "--graph", "none")
    return path, ref.Model(path), rows


@pytest.mark.parametrize("K", [1, 4, 8])
def test_picks_are_the_exhaustive_ones(crowd, tmp_path, K):
    path, model, rows = crowd
    assert 3 * K + 8 < model.M
    other, unsure = missed(path, model, query_rows(72, rows, 1000), K, tmp_path)
    assert np.mean(other) <= 1e-3, f"{np.sum(other)} of {len(other)} queries"
    assert np.sum(other) <= unsure


def test_what_could_be_missed_is_counted(tmp_path):
    """Parts drawn at random have the same centre: candidates are no better than any.  Every query
    that gets other experts than the best must be among those it was unsure about."""
    rows = training_rows(73, 1200, 3)
    path, _ = fit(tmp_path, "random", rows, "--experts", 40, "--partition", "random", "--theta",
                  "0.5,1,0.1", "--graph", "none")
    other, unsure = missed(path, ref.Model(path), query_rows(74, rows, 300), 2, tmp_path)
    assert np.mean(other) > 0.5
    assert np.sum(other) <= unsure <= 300


# as trained on 5 of the parts, SE and Matern-3/2
PROTEIN_THETA = {"se": "0.218,63.3,0.912,0.162,0.291,0.352,0.0781,0.275,0.395,0.73,0.06",
                 "matern32": "0.381,0.937,27.8,0.264,0.411,0.291,0.103,0.285,0.0982,0.922,0.02"}


@pytest.mark.skipif("QUORUM_DATA" not in os.environ,
                    reason="set QUORUM_DATA to the directory that holds protein/train.csv.gz")
@pytest.mark.parametrize("experts,kernel", [(70, "se"), (82, "matern32")])
def test_picks_on_protein(tmp_path, experts, kernel):
    directory = os.path.join(os.environ["QUORUM_DATA"], "protein")
    path = tmp_path / "protein.npz"
    quorum("fit", os.path.join(directory, "train.csv.gz"), "-o", path, "-q", "--experts", experts,
           "--kernel", kernel, "--theta", PROTEIN_THETA[kernel], "--graph", "none")
    X = np.loadtxt(os.path.join(directory, "test.csv.gz"), delimiter=",", skiprows=1)[::2, :-1]
    other, unsure = missed(path, ref.Model(path), X, 4, tmp_path)
    print(f"protein, M={experts}: {np.sum(other)} of {len(X)} queries got other experts; "
          f"unsure at {unsure}")
    assert np.sum(other) <= unsure
    assert np.mean(other) <= 1e-3, f"{np.sum(other)} of {len(other)} queries"


# ---- Joint covariance ---------------------------------------------------------------------------


def joint_reference(model, X, select, neighbours):
    """Cov(f - a'y): row by row of the data, a is the sum of w_s Gamma_s over who holds the row."""
    _, select, neighbours = ref.settings("auto", select, neighbours, model.M)
    Q, n = model.standardise(X), model.n
    A = np.zeros((n, len(Q)))
    at = {row: i for i, row in enumerate(model.arrays["row"])}
    quorums = model.quorums(Q, ref.selected(select, model.order), ref.local_size(select), neighbours)
    for q, table in enumerate(quorums):
        for member, weight in zip(table.members, table.npae.weights[0]):
            gamma = ref.posterior(model.theta, member.X, member.y, Q[q:q + 1]).gamma[:, 0]
            np.add.at(A[:, q], [at[r] for r in member.row], weight * gamma)
    everything = model.arrays["X"]
    k_star = ref.kernel(model.theta, everything, Q)
    scale = np.sqrt(model.spreads(Q, neighbours))
    return np.outer(scale, scale) * (ref.kernel(model.theta, Q, Q) - A.T @ k_star - k_star.T @ A
            + A.T @ ref.covariance_of_targets(model.theta, everything) @ A)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("select,neighbours", [("auto", "auto"), ("local:3", 0), ("local:2", 20),
                                               ("none", 30), ("all", 15), ("knn:3", 0)])
def test_joint_covariance(fitted, name, select, neighbours):
    f = fitted(name)
    how = {"select": select, "neighbours": neighbours}
    mean, cov = joint(f.path, f.queries, **how, latent="true")
    unit = float(f.model.arrays["y_scale"]) ** 2
    rows = ref.settings("auto", select, neighbours, f.model.M)[2]
    scale = f.model.spreads(f.model.standardise(f.queries), rows)
    size = unit * f.model.theta.signal * scale.max()
    agree("joint covariance", cov, unit * joint_reference(f.model, f.queries, select, neighbours), size)
    assert np.array_equal(cov, cov.T)
    assert np.linalg.eigvalsh(cov)[0] > -1e-12 * size
    got = predict(f.path, f.queries, "--select", select, "--neighbours", neighbours, "--latent")
    same_bits("joint mean", mean, got["mean"])
    # where jitter was needed, the weights are not quite those that the variance's formula assumes
    agree("joint diagonal", np.diag(cov), got["std"] ** 2, size, 1e-9)
    _, noisy = joint(f.path, f.queries, **how)
    agree("joint, noise on the diagonal", noisy - cov,
          unit * f.model.theta.noise * np.diag(scale), size, 1e-14)


# ---- Identities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("neighbours", [0, 20])
@pytest.mark.parametrize("kind", ["local", "knn"])
def test_local_with_room_for_all_is_all(fitted, name, neighbours, kind):
    f = fitted(name)
    everyone, local = (predict(f.path, f.queries, "--select", s, "--neighbours", neighbours)
                       for s in ("all", f"{kind}:{f.model.M}"))
    for column in everyone:
        same_bits(f"{kind}:M is all, {column}", local[column], everyone[column])


def test_of_one_expert_knn_is_the_exact_gp(tmp_path):
    rows = training_rows(78, 200, 2)
    path, _ = fit(tmp_path, "one", rows, "--experts", 1, "--theta", "0.9,1.1,0.1")
    X = query_rows(79, rows, 30)
    exact, knn = predict(path, X), predict(path, X, "--method", "npae", "--select", "knn:3")
    for column in exact:
        same_bits(f"knn of one expert, {column}", knn[column], exact[column])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("select", ["none", "local:2", "all"])
def test_all_rows_as_neighbours_are_the_exact_gp(fitted, name, select):
    """Experts beside it that say nearly the same may need jitter: 1e-9 of the variance, the square
    root of which the mean may move by."""
    f = fitted(name)
    a = f.model.arrays
    got = predict(f.path, f.queries, "--select", select, "--neighbours", f.model.n, "--latent")
    mean, var = ref.exact_gp(f.model.theta, a["X"], a["y"], f.model.standardise(f.queries))
    agree(f"neighbours=n is the exact GP, select {select}: mean", got["mean"],
          a["y_mean"] + a["y_scale"] * mean, a["y_scale"], 1e-8 if select == "none" else 1e-5)
    var = var * f.model.spreads(f.model.standardise(f.queries), f.model.n)
    agree("neighbours=n is the exact GP: std", got["std"], a["y_scale"] * np.sqrt(var),
          a["y_scale"] * np.sqrt(var))


def test_one_expert_joint_is_the_exact_gp(tmp_path):
    rows = training_rows(75, 300, 3)
    path, _ = fit(tmp_path, "one", rows, "--experts", 1, "--theta", "1.1,1.2,0.1")
    model = ref.Model(path)
    X = query_rows(76, rows, 20)
    _, cov = joint(path, X, latent="true")
    expected = ref.exact_gp_covariance(model.theta, model.arrays["X"], model.standardise(X))
    unit = float(model.arrays["y_scale"]) ** 2
    agree("M=1: joint covariance of the exact GP", cov, unit * expected, unit * model.theta.signal)


@pytest.mark.parametrize("name", MODELS)
def test_company_never_hurts(fitted, name):
    """More at the table, less variance: experts, neighbourhood, and both together."""
    f = fitted(name)

    def std(select, neighbours):
        return predict(f.path, f.queries, "--select", select, "--neighbours", neighbours,
                       "--latent")["std"]

    both = std("local:3", 20)
    for fewer in (std("local:3", 0), std("none", 20), std("local:2", 20)):
        assert np.all(both <= fewer * (1 + 1e-9))
    assert np.mean(both < 0.999 * np.minimum(std("local:3", 0), std("none", 20))) > 0.1
