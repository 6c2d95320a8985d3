"""Variances that no row near a query has tested: what a fit learns of them from rows left out with all rows beyond
them, against NumPy, and what predictions make of it."""
import io
import json
import zipfile

import numpy as np
import pytest

import reference as ref
from oracle_support import agree, fit, joint, predict, quorum, same_bits

FAST = ["--train", "neighbours", "--graph", "none", "--experts", 4, "--metric", "ard", "--trend", "constant",
        "--partition-metric", "learned"]


def bent(rows, seed=1, noise=0.0):
    """Calm on one side and steeper and steeper towards the other: wilder beyond a cut than before it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (rows, 2))
    x = 0.5 * X[:, 0] + 0.5
    return np.column_stack([X, 5 * x**2 * np.sin(12 * x) + 4 * np.cos(2 * x) + 0.3 * X[:, 1] +
                            noise * rng.standard_normal(rows)])


def far(count=30, seed=3):
    Q = np.random.default_rng(seed).uniform(-1.6, 1.6, (count, 2))
    Q[0] = 1e3  # nobody is near
    return Q


@pytest.fixture(scope="module", params=[("se", 0.05), ("matern32", 0.05), ("se", 0.0)], ids=str)
def model(request, tmp_path_factory):
    kernel, noise = request.param
    path, _ = fit(tmp_path_factory.mktemp("beyond"), kernel, bent(110, noise=noise), *FAST, "--kernel", kernel)
    model = ref.Model(path)
    assert model.meta["untested"] > 1 if noise else "spread" in model.meta
    return path, model


def untested_of(m, **known):
    order = np.argsort(m.arrays["row"])
    return ref.untested(m.theta, m.arrays["X"][order], m.arrays["y"][order], m.meta.get("spread", np.inf),
                        m.meta.get("neighbours", 512), m.meta["seed"], **known)


def test_the_factor_is_what_rows_beyond_cuts_say(model):
    _, m = model
    assert m.meta["untested"] == pytest.approx(untested_of(m), rel=1e-9)


def test_targets_of_which_nothing_is_known_do_not_count(tmp_path):
    """Waves that are short against the cuts, on a slope that theta cannot know of."""
    X = np.random.default_rng(5).uniform(-1, 1, (400, 2))
    y = np.sin(30 * X[:, 0]) + np.sin(30 * X[:, 1]) + 3 * X[:, 0] ** 3
    path, _ = fit(tmp_path, "waves", np.column_stack([X, y]), *FAST, "--kernel", "matern32")
    m = ref.Model(path)
    assert m.meta["untested"] == pytest.approx(untested_of(m), rel=1e-9)
    assert m.meta["untested"] != pytest.approx(untested_of(m, known=2), rel=1e-3)


def test_predictions_have_it_where_nobody_has_tested(model):
    path, m = model
    mean, std = m.predict(far(), order=range(4))
    got = predict(path, far())
    agree("mean beyond", got["mean"], mean, np.abs(mean).max())
    agree("std beyond", got["std"], std, std, 1e-6)
    prior = np.sqrt(m.meta["untested"] * (m.theta.signal + m.theta.noise)) * float(m.arrays["y_scale"])
    assert got["std"][0] == pytest.approx(prior, rel=1e-12)


@pytest.fixture(scope="module", params=["nearest", "cells"])
def split(request, tmp_path_factory):
    """Rows on both sides of a wide gap, and wilder towards one end; few neighbours, all on one side of a query that is
    deep in it."""
    data = bent(900, seed=7, noise=0.05)
    data = data[np.abs(data[:, 0]) > 0.3]
    path, _ = fit(tmp_path_factory.mktemp("gap"), "gap", data, *FAST, "--kernel", "matern32")
    return path, ref.Model(path), request.param


def test_a_gap_is_not_outside(split):
    """What was learned beyond all rows holds outside, not in a gap."""
    path, m, method = split
    assert m.meta["untested"] > 1.1
    Q = np.column_stack([np.linspace(-1.5, 1.5, 31), np.full(31, 0.1)])
    got = predict(path, Q, "--method", method, "--neighbours", 24)
    inside = np.abs(Q[:, 0]) < 0.25
    where = (Q - m.arrays["x_mean"]) / m.arrays["x_scale"]
    rows = ref.nearest_rows(m.theta, m.arrays["X"], where, 24)
    middles = np.array([p.X.mean(axis=0) for p in m.parts])
    gaps = [ref.lies_in_gap(m.theta, m.arrays["X"][r], q, middles) for q, r in zip(where, rows)]
    alone = [ref.lies_in_gap(m.theta, m.arrays["X"][r], q, middles[:0]) for q, r in zip(where, rows)]
    assert np.all(np.array(gaps)[inside]) and not np.any(np.array(gaps)[np.abs(Q[:, 0]) > 1.05])
    assert not np.all(np.array(alone)[inside])  # it takes the experts' means
    if method == "nearest":
        mean, std = m.predict(Q, order=range(4), neighbours=24)
        agree("std in gap and outside", got["std"], std, std, 1e-6)
    wider = predict(with_untested(path, 4 * m.meta["untested"]), Q, "--method", method, "--neighbours", 24)
    assert np.array_equal(got["std"][inside], wider["std"][inside])
    assert np.all(wider["std"][[0, 1, -2, -1]] > 1.5 * got["std"][[0, 1, -2, -1]])


def with_untested(path, value):
    """The same model with another factor of untested variances, or None: nothing is known of it."""
    other = path.with_name("other.npz")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "meta.json":
                meta = {k: v for k, v in json.loads(content).items() if k != "untested"}
                content = json.dumps(meta if value is None else meta | {"untested": value})
            new.writestr(name, content)
    return other


def test_gradients_follow(model):
    path, _ = model
    Q, h = far()[1:], 1e-5
    said = predict(path, Q, "--gradient")
    for d in range(2):
        step = h * np.eye(2)[d]
        ends = [predict(path, Q + sign * step)["std"] for sign in (1, -1)]
        agree("dstd beyond", said[f"dstd_x{d + 1}"], (ends[0] - ends[1]) / (2 * h), np.abs(said["std"]).max(), 1e-5)


def test_a_file_without_it_is_as_it_was(model):
    path, m = model
    older = with_untested(path, None)
    got, (_, std) = predict(older, far()), ref.Model(older).predict(far(), order=range(4))
    agree("std of an older file", got["std"], std, std, 1e-6)
    prior = np.sqrt(m.theta.signal + m.theta.noise) * float(m.arrays["y_scale"])
    assert got["std"][0] == pytest.approx(prior, rel=1e-12)


def shrink_calibration(path, to, factor):
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "meta.json":
                meta = json.loads(content)
                meta["calibration"]["scale"] *= factor
                content = json.dumps(meta)
            if name.startswith("calibration"):
                ratios = io.BytesIO()
                np.save(ratios, factor * np.load(io.BytesIO(content)))
                content = ratios.getvalue()
            new.writestr(name, content)
    return to


def test_calibration_does_not_shrink_what_it_has_not_seen(tmp_path):
    """A calibration that makes std smaller, as if errors among rows had been 0.4 times as large as they were."""
    fitted, _ = fit(tmp_path, "calm", bent(600), *FAST, "--kernel", "se", "--calibrate")
    path = shrink_calibration(fitted, tmp_path / "shrunk.npz", 0.4)
    m, Q = ref.Model(path), far()
    scale = json.loads(quorum("inspect", path, "--json"))["calibration_scale"]
    assert scale < 0.7
    got, off = predict(path, Q), predict(path, Q, "--calibration", "off")
    prior = np.sqrt(m.meta["untested"] * (m.theta.signal + m.theta.noise)) * float(m.arrays["y_scale"])
    assert got["std"][0] == pytest.approx(prior, rel=1e-9)
    assert off["std"][0] == pytest.approx(prior, rel=1e-12)
    Z = m.standardise(Q)
    ratio = m.spreads(Z, 512, scale) / m.spreads(Z, 512)
    agree("calibrated std beyond", got["std"], scale * off["std"] * np.sqrt(ratio), got["std"], 1e-6)
    among = predict(path, bent(50, 9)[:, :-1])["std"], predict(path, bent(50, 9)[:, :-1], "--calibration", "off")["std"]
    assert np.median(among[0] / among[1]) == pytest.approx(scale, rel=0.1)
    _, cov = joint(path, Q)
    agree("joint diagonal beyond", np.sqrt(np.diag(cov)), got["std"], got["std"], 1e-7)
    drawn = json.loads(quorum("fit", tmp_path / "calm.npy", "-o", tmp_path / "none.npz", "-q", "--json", *FAST,
                              "--kernel", "se", "--spread", "none"))
    assert drawn and "untested" not in ref.Model(tmp_path / "none.npz").meta


def test_same_bits_for_any_threads(tmp_path):
    one, two = (ref.Model(fit(tmp_path, f"t{t}", bent(300), *FAST, "--kernel", "se", "--threads", t)[0]) for t in (1, 2))
    same_bits("untested", np.array([one.meta["untested"]]), np.array([two.meta["untested"]]))
