"""Experts that overlap: rows that several experts hold are the same observation."""
import io
import json
import subprocess
import zipfile

import numpy as np
import pytest

import reference as ref
from oracle_support import (QUORUM, agree, fit, joint, predict, query_rows, quorum, same_bits,
                            training_rows)
from test_local import joint_reference

# name: seed, rows, inputs, options of fit.  Up to 8 inputs distances are made of differences,
# above of products.
MODELS = {
    "line": (81, 300, 1, ["--experts", 8, "--kernel", "matern32", "--theta", "0.3,1.2,0.1",
                          "--overlap", 0.5]),
    "three": (82, 320, 3, ["--experts", 8, "--theta", "0.7,1.2,2,1.3,0.08", "--overlap", 1]),
    "nine": (83, 280, 9, ["--experts", 6, "--kernel", "matern52", "--theta", "2.5,1.1,0.15",
                          "--overlap", 2.5]),
    "dealt": (84, 270, 2, ["--experts", 5, "--partition", "random", "--theta", "0.6,1,0.1",
                           "--overlap", 0.8]),
    "boxes": (85, 270, 12, ["--experts", 7, "--kernel", "matern12", "--theta", "4,0.9,0.1",
                            "--partition", "kdtree", "--overlap", 0.1]),
}

# select, neighbours, of method auto
QUORUMS = [("auto", "auto"), ("all", 0), ("all", 40), ("local:1", 0), ("local:3", 0), ("local:2", 16),
           ("local:auto", 0), ("local:auto", 32), ("knn:2", 0), ("graph:0.5", 0), ("graph:0.8+local:3", 30),
           ("none", 25), ("expert:2", 25)]


class Fitted:
    def __init__(self, directory, name):
        seed, n, D, options = MODELS[name]
        self.rows = training_rows(seed, n, D)
        self.rows[11, :-1] = self.rows[10, :-1]  # equal inputs, unequal targets
        self.path, self.said = fit(directory, name, self.rows, *options)
        self.model = ref.Model(self.path)
        self.queries = query_rows(seed + 100, self.rows, 20)
        self.share = options[-1]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    directory = tmp_path_factory.mktemp("overlap")
    made = {}

    def get(name):
        if name not in made:
            made[name] = Fitted(directory, name)
        return made[name]

    return get


def compare(f, method, select="auto", neighbours="auto", **how):
    """mean: to 1e-8 of the target's scale; std: to 1e-8 of itself."""
    given = ["--method", method, "--select", select, "--neighbours", neighbours]
    given += ["--latent"] if how.get("latent") else []
    got = predict(f.path, f.queries, *given, "--space", how.get("space", "latent"))
    mean, std = f.model.predict(f.queries, method, select, neighbours=neighbours, **how)
    kind = f"overlap, {method.rstrip('*')}"
    kind += " + neighbours" if method == "auto" and neighbours != 0 else ""
    agree(f"{kind}: mean", got["mean"], mean, float(f.model.arrays["y_scale"]))
    agree(f"{kind}: std", got["std"], std, std)


# ---- Which rows --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_the_rule(fitted, name):
    f = fitted(name)
    a = f.model.arrays
    expected = ref.extra_rows(f.model.theta, a["X"], a["offset"], f.share)
    assert np.array_equal(a["extra_offset"], np.cumsum([0] + [len(e) for e in expected]))
    assert np.array_equal(a["extra"], np.concatenate(expected))
    assert f.model.meta["format_version"] == 2


def test_sizes_are_said(fitted):
    f = fitted("three")
    said = json.loads(quorum("inspect", f.path, "--json"))
    assert said["rows"] == len(f.rows)
    assert said["sizes"]["each"] == [len(h) for h in f.model.held]
    assert sum(said["sizes"]["each"]) == 2 * len(f.rows)
    assert "a row is held by 2.00 experts on average" in quorum("inspect", f.path)


def test_no_overlap_is_the_plain_model(tmp_path):
    """Also a share that rounds to no row at all: the files have the same arrays."""
    rows = training_rows(86, 120, 2)
    options = ["--experts", 5, "--theta", "0.6,1,0.1"]
    plain, nothing, little = (ref.Model(fit(tmp_path, f"overlap{k}", rows, *options, *more)[0])
                              for k, more in enumerate(([], ["--overlap", 0], ["--overlap", 0.001])))
    for other in (nothing, little):
        assert other.arrays.keys() == plain.arrays.keys()
        assert other.meta["format_version"] == 1
        for name in plain.arrays:
            same_bits(name, other.arrays[name], plain.arrays[name])


# ---- Predictions -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("select,neighbours", QUORUMS)
def test_auto(fitted, name, select, neighbours):
    compare(fitted(name), "auto", select, neighbours, latent=True)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", [m for m in ref.RULE_ORDER if m not in ("npae", "groups")])
def test_other_rules(fitted, name, method):
    """They take the experts as they are; GRBCM's base has every row once."""
    f = fitted(name)
    compare(f, method)
    compare(f, method + "*", space="observed", latent=True)
    if method != "grbcm":
        compare(f, method, "local:2")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("select,neighbours", [("auto", "auto"), ("local:3", 0), ("local:2", 20),
                                               ("none", 30), ("all", 15)])
def test_joint_covariance(fitted, name, select, neighbours):
    f = fitted(name)
    mean, cov = joint(f.path, f.queries, select=select, neighbours=neighbours, latent="true")
    unit = float(f.model.arrays["y_scale"]) ** 2
    size = unit * f.model.theta.signal
    agree("overlap: joint covariance", cov,
          unit * joint_reference(f.model, f.queries, select, neighbours), size)
    got = predict(f.path, f.queries, "--select", select, "--neighbours", neighbours, "--latent")
    same_bits("overlap: joint mean", mean, got["mean"])
    agree("overlap: joint diagonal", np.diag(cov), got["std"] ** 2, size, 1e-9)


def test_graph_on_queries(fitted):
    f = fitted("three")
    order, _ = f.model.graph_order_on(f.queries)
    got = predict(f.path, f.queries, "--method", "rbcm*", "--graph-on", "test")
    mean, _ = f.model.predict(f.queries, "rbcm*", order=order)
    agree("overlap: graph on the queries", got["mean"], mean, float(f.model.arrays["y_scale"]))


# ---- Limits and equalities -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Every expert holds all rows."""
    rows = training_rows(87, 160, 3)
    path, _ = fit(tmp_path_factory.mktemp("everything"), "all", rows, "--experts", 5, "--theta",
                  "1.1,1.2,0.1", "--overlap", 1000)
    return path, query_rows(88, rows, 33)


@pytest.mark.parametrize("how,tolerance", [
    (["--select", "all"], 1e-8), (["--select", "local:3"], 1e-8), ([], 1e-8),
    (["--select", "expert:4"], 1e-8), (["--select", "local:auto"], 1e-8),
    (["--select", "local:2", "--neighbours", 50], 1e-5),
    (["--method", "gpoe"], 1e-8), (["--method", "single"], 1e-8)])
def test_experts_that_hold_everything_are_the_exact_gp(everything, how, tolerance):
    """NPAE's K_A is then singular: all experts say the same.  Jitter shares the weight between
    them, and may move the mean where somebody who knows less sits beside them."""
    path, X = everything
    model = ref.Model(path)
    a = model.arrays
    assert all(len(h) == model.n for h in model.held)
    mean, var = ref.exact_gp(model.theta, a["X"], a["y"], model.standardise(X))
    got = predict(path, X, *how, "--latent")
    agree("all hold everything: mean", got["mean"], a["y_mean"] + a["y_scale"] * mean, a["y_scale"],
          tolerance)
    agree("all hold everything: std", got["std"], a["y_scale"] * np.sqrt(var),
          a["y_scale"] * np.sqrt(var))


def test_joint_covariance_of_experts_that_hold_everything(everything):
    path, X = everything
    model = ref.Model(path)
    expected = ref.exact_gp_covariance(model.theta, model.arrays["X"], model.standardise(X))
    unit = float(model.arrays["y_scale"]) ** 2
    for how in ({"select": "all"}, {"select": "local:2", "neighbours": 30}, {}):
        _, cov = joint(path, X, latent="true", **how)
        agree("all hold everything: joint covariance", cov, unit * expected, unit * model.theta.signal)


@pytest.mark.parametrize("name", MODELS)
def test_npae_is_surer_than_any_of_its_experts(fitted, name):
    f = fitted(name)
    together = predict(f.path, f.queries, "--latent", "--select", "all")["std"]
    for e in range(1, f.model.M + 1):
        alone = predict(f.path, f.queries, "--latent", "--select", f"expert:{e}")["std"]
        assert np.all(together <= alone * (1 + 1e-14))


def test_more_rows_make_an_expert_surer(tmp_path):
    rows = training_rows(89, 240, 2)
    X = query_rows(90, rows, 30)
    options = ["--experts", 6, "--theta", "0.8,1,0.1"]
    before = None
    for share in (0, 0.5, 1, 3):
        path, _ = fit(tmp_path, f"share{share}", rows, *options, "--overlap", share)
        std = np.array([predict(path, X, "--select", f"expert:{e}", "--latent")["std"]
                        for e in range(1, 7)])
        assert before is None or np.all(std <= before * (1 + 1e-12))
        before = std


# ---- Calibration -----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0, 1])
def test_rows_held_out_leave_every_expert(tmp_path, share):
    """The ratios behind --calibrate: half of the rows, predicted a hundredth at a time from a
    model without those."""
    rows = training_rows(91, 400, 3)
    path, _ = fit(tmp_path, "calibrated", rows, "--experts", 8, "--theta", "0.5,1,0.1", "--overlap",
                  share, "--calibrate")
    model = ref.Model(path)
    a = model.arrays
    order = list(range(model.n))
    ref.Xoshiro(model.meta["seed"], 8).shuffle(order)  # parts are large: no expert runs out of rows
    ratio = []
    for first in range(0, model.n // 2, model.n // 100):
        gone = np.zeros(model.n, dtype=bool)
        gone[order[first:min(first + model.n // 100, model.n // 2)]] = True
        X = a["x_mean"] + a["x_scale"] * a["X"][gone]
        mean, std = model.without(gone).predict(X)
        y = float(a["y_mean"]) + float(a["y_scale"]) * a["y"][gone]
        ratio.extend(np.abs(y - mean) / std)
    ratio = np.sort(ratio)
    agree("calibration: ratios", a["calibration"], ratio, 1.0)


# ---- Files -----------------------------------------------------------------------------------------


def altered(path, to, meta=None, **arrays):
    """The model file with other arrays (None: left out) or meta.json entries."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            member = name.removesuffix(".npy")
            data = old.read(name)
            if name == "meta.json" and meta:
                data = json.dumps({**json.loads(data), **meta})
            if member in arrays:
                if arrays[member] is None:
                    continue
                buffer = io.BytesIO()
                np.save(buffer, arrays[member])
                data = buffer.getvalue()
            new.writestr(name, data)
    return to


def refused(path):
    done = subprocess.run([QUORUM, "inspect", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stdout
    return done.stderr


def test_hostile_files_are_refused(fitted, tmp_path):
    f = fitted("three")
    a = f.model.arrays
    extra, ends = a["extra"], a["extra_offset"]
    own = extra.copy()
    own[0] = a["offset"][0]  # expert 0 owns row 0
    twice = extra.copy()
    twice[1] = twice[0]
    backwards = extra.copy()
    backwards[:2] = backwards[1::-1]
    beyond, negative = extra.copy(), extra.copy()
    beyond[ends[1] - 1] = f.model.n
    negative[0] = -1
    late, down, short = ends.copy(), ends.copy(), ends.copy()
    late[0] = 1
    down[2] = 0
    short[-1] -= 1
    damage = [
        ("a row of the expert's own", dict(extra=own)),
        ("not ascending within", dict(extra=twice)),
        ("not ascending within", dict(extra=backwards)),
        ("altered: extra\n", dict(extra=beyond)),
        ("altered: extra\n", dict(extra=negative)),
        ("does not span", dict(extra_offset=late)),
        ("extra_offset is not ascending", dict(extra_offset=down)),
        ("does not span", dict(extra_offset=short)),
        ("extra_offset has size", dict(extra_offset=ends[:-1])),
        ("extra_offset", dict(extra_offset=None)),
        ("extra", dict(extra=None)),
        ("rotation.npy: is not in the file", dict(meta={"format_version": 3})),
        ("does not go with its format version", dict(meta={"format_version": 4})),
        ("a warp does not go with its format version", dict(meta={"format_version": 5})),
        ("categories do not go with its format version", dict(meta={"format_version": 6})),
        ("weights or known errors of rows do not go with its format version", dict(meta={"format_version": 7})),
        ("dates or made inputs do not go with its format version", dict(meta={"format_version": 8})),
        ("its list of targets is empty", dict(meta={"format_version": 9})),
        ("holes do not go with its format version", dict(meta={"format_version": 10})),
        ("its spread or noise does not go with its format version", dict(meta={"format_version": 11})),
        ("inputs of levels do not go with its format version", dict(meta={"format_version": 12})),
        ("a place does not go with its format version", dict(meta={"format_version": 13})),
        ("cells", dict(meta={"format_version": 14})),
        ("bent inputs do not go with its format version", dict(meta={"format_version": 15})),
        ("reads versions 1 to 15: use a newer quorum", dict(meta={"format_version": 16})),
    ]
    assert "experts" in quorum("inspect", altered(f.path, tmp_path / "same.npz"))
    for k, (sentence, changes) in enumerate(damage):
        path = altered(f.path, tmp_path / f"bad{k}.npz", **changes)
        assert sentence in refused(path), sentence
