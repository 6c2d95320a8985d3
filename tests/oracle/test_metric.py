"""The linear metric: when directions are taken, which ones, and what a model with them predicts."""
import json
import subprocess
import time
import zipfile

import numpy as np
import pytest

import reference as ref
from oracle_support import QUORUM, agree, fit, joint, predict, quorum, same_bits

DEFAULT = ["--kernel", "auto", "--train", "neighbours", "--partition-metric", "learned"]
TARGETS = {  # of four standard normal inputs
    "turned": lambda x: np.sin(3.0 * (x[:, 0] + x[:, 1])),
    "axes": lambda x: np.sin(3.0 * x[:, 0]) + 0.5 * np.sin(2.0 * x[:, 1]),
}
UNITS = np.array([1.0, 20.0, 0.3, 5.0])  # of the inputs: directions are of standardised ones


def rows_of(kind, n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    y = TARGETS[kind](x) + 0.05 * rng.standard_normal(n)
    return np.column_stack([7.0 + UNITS * x, 30.0 + 4.0 * y])


class Fitted:
    def __init__(self, directory, kind, metric, *options):
        self.path, self.said = fit(directory, f"{kind}-{metric}", rows_of(kind, 600, 1), *DEFAULT,
                                   "--metric", metric, *options)
        self.model = ref.Model(self.path)
        self.test = rows_of(kind, 500, 2)

    def error(self):
        got = predict(self.path, self.test[:, :-1])
        return float(np.mean((got["mean"] - self.test[:, -1]) ** 2))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    directory, made = tmp_path_factory.mktemp("metric"), {}

    def get(kind, metric):
        if (kind, metric) not in made:
            made[kind, metric] = Fitted(directory, kind, metric)
        return made[kind, metric]

    return get


@pytest.fixture(scope="module", params=[[], ["--overlap", "0.5"]], ids=["parts", "overlap"])
def experts(request, tmp_path_factory):
    """A model with a rotation and five experts."""
    return Fitted(tmp_path_factory.mktemp("experts"), "turned", "linear", "--experts", 5,
                  "--max-evaluations", 20, *request.param)


# ---- The choice -------------------------------------------------------------------------------


def test_auto_takes_directions_that_predict_better(fitted):
    auto, ard = fitted("turned", "auto"), fitted("turned", "ard")
    assert auto.said["metric"] == "linear" and ard.said["metric"] == "ard"
    assert auto.error() < 0.6 * ard.error()


def test_the_first_direction_is_the_targets(fitted):
    model = fitted("turned", "auto").model
    expected = np.array([1.0, 1.0, 0.0, 0.0]) / np.sqrt(2.0)
    assert np.abs(model.arrays["rotation"][0] - expected).max() < 0.05
    length = np.exp(model.arrays["log_lengthscale"])
    assert length[0] < 0.1 * length[1:].min()  # the others hardly matter


def test_auto_keeps_inputs_that_are_directions(fitted):
    auto, ard = fitted("axes", "auto"), fitted("axes", "ard")
    assert auto.said["metric"] == "ard" or auto.error() < 1.05 * ard.error()


def test_ard_has_no_rotation(fitted):
    model = fitted("turned", "ard").model
    assert "rotation" not in model.arrays and model.meta["format_version"] == 1


def test_auto_without_directions_is_ard(fitted):
    """Where the inputs stay, having looked for directions leaves no trace."""
    auto, ard = fitted("axes", "auto"), fitted("axes", "ard")
    if auto.said["metric"] == "linear":
        pytest.skip("directions were taken")
    for name, array in ard.model.arrays.items():
        same_bits(name, auto.model.arrays[name], array)


@pytest.mark.parametrize("options", [["--train", "parts"], ["--train", "random"], ["--train", "subset"],
                                     ["--theta", "1,1,0.1"]])
def test_other_ways_to_train_have_no_rotation(tmp_path, options):
    path, said = fit(tmp_path, "other", rows_of("turned", 300, 1), "--max-evaluations", 5, "--metric",
                     "linear", *options)
    assert said["metric"] == "ard" and "rotation" not in ref.Model(path).arrays


# ---- The rotation -----------------------------------------------------------------------------


def test_rows_are_standardised_then_turned(fitted):
    """X = rotation @ standardised inputs; distances between rows stay what they were."""
    a = fitted("turned", "auto").model.arrays
    X = rows_of("turned", 600, 1)[a["row"], :-1]
    Z = (X - X.mean(0)) / X.std(0)
    agree("turned rows", a["X"], Z @ a["rotation"].T, 1.0, 1e-12)
    agree("rotation: orthonormal", a["rotation"] @ a["rotation"].T, np.eye(4), 1.0, 1e-13)
    agree("turned rows: norms", (a["X"] ** 2).sum(1), (Z ** 2).sum(1), 1.0, 1e-12)


def test_lengthscales_along_inputs(fitted):
    """fit and inspect tell 1 / l_d^2 = sum_k R_kd^2 / l_k^2."""
    one = fitted("turned", "auto")
    a = one.model.arrays
    expected = 1.0 / np.sqrt((a["rotation"] ** 2 / np.exp(2.0 * a["log_lengthscale"])[:, None]).sum(0))
    agree("length-scales along inputs", one.said["lengthscale"], expected, expected, 1e-12)
    shown = json.loads(quorum("inspect", one.path, "--json"))
    agree("length-scales along inputs, inspect",
          [h["lengthscale"] for h in shown["hyperparameters"]], expected, expected, 1e-12)


# ---- Predictions ------------------------------------------------------------------------------


@pytest.mark.parametrize("method,neighbours", [("auto", "auto"), ("nearest", 40), ("npae", 0), ("grbcm", 0),
                                               ("rbcm", 0), ("gpoe", 0), ("npae*", 0)])
def test_predictions_follow_the_equations(experts, method, neighbours):
    X = experts.test[:60, :-1]
    got = predict(experts.path, X, "--method", method, "--neighbours", neighbours)
    mean, std = experts.model.predict(X, method, neighbours=neighbours)
    agree("linear metric: mean", got["mean"], mean, float(experts.model.arrays["y_scale"]), 1e-9)
    agree("linear metric: std", got["std"], std, std, 1e-9)


def test_the_exact_gp_of_the_file(fitted):
    """One expert of all rows, written out without the reference's classes."""
    one = fitted("turned", "auto")
    a, kernel = one.model.arrays, one.model.meta["kernel"]
    assert kernel == "se" and len(a["offset"]) == 2
    signal, noise = np.exp(a["log_signal_variance"]), np.exp(a["log_noise_variance"])
    length = np.exp(a["log_lengthscale"])

    def k(A, B):
        return signal * np.exp(-0.5 * (((A[:, None] - B[None]) / length) ** 2).sum(-1))

    Q = ((one.test[:50, :-1] - a["x_mean"]) / a["x_scale"]) @ a["rotation"].T
    C, ks = k(a["X"], a["X"]) + noise * np.eye(len(a["y"])), k(a["X"], Q)
    mean = a["y_mean"] + a["y_scale"] * (ks.T @ np.linalg.solve(C, a["y"]))
    var = signal + noise - np.einsum("ij,ij->j", ks, np.linalg.solve(C, ks))
    got = predict(one.path, one.test[:50, :-1], "--method", "npae")
    scale = float(a["y_scale"])
    agree("exact GP, linear metric: mean", got["mean"], mean, scale, 1e-9)
    agree("exact GP, linear metric: std", got["std"], scale * np.sqrt(var), scale, 1e-9)


def test_joint_covariance(experts):
    X = experts.test[:20, :-1]
    mean, covariance = joint(experts.path, X, method="npae")
    expected, std = experts.model.predict(X, "npae", neighbours=0)
    agree("linear metric: joint mean", mean, expected, float(experts.model.arrays["y_scale"]), 1e-9)
    agree("linear metric: joint variance", np.sqrt(np.diag(covariance)), std, std, 1e-8)


# ---- The same bits ----------------------------------------------------------------------------


def test_threads(fitted, tmp_path):
    arrays = fitted("turned", "auto").model.arrays
    for threads in (1, 2):
        path, _ = fit(tmp_path, f"threads{threads}", rows_of("turned", 600, 1), *DEFAULT, "--threads", threads)
        again = ref.Model(path).arrays
        assert sorted(again) == sorted(arrays)
        for name, array in arrays.items():
            same_bits(f"{threads} threads, {name}", again[name], array)


def evaluations(path):
    try:
        with np.load(path) as file:
            return len(file["evaluations"])
    except (OSError, ValueError):  # not there yet
        return 0


def break_off(words, checkpoint, count):
    """Kills the fit once its checkpoint has so many evaluations; whether it came to that."""
    with subprocess.Popen([QUORUM, *map(str, words)], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and evaluations(checkpoint) < count:
            time.sleep(0.001)
        process.kill()
    return evaluations(checkpoint) >= count


def test_a_fit_that_was_broken_off_goes_on(fitted, tmp_path):
    """Killed where it trains along directions already."""
    whole = fitted("turned", "auto")
    train, out, checkpoint = (tmp_path / name for name in ("t.npy", "m.npz", "checkpoint"))
    np.save(train, rows_of("turned", 600, 1))
    words = ["fit", train, "-o", out, "-q", "--json", "--graph", "glasso", "--checkpoint", checkpoint]
    assert any(break_off(words, checkpoint, 0.8 * whole.said["evaluations"]) for _ in range(5))
    quorum(*words)
    again = ref.Model(out).arrays
    for name, array in whole.model.arrays.items():
        same_bits(f"broken off, {name}", again[name], array)


def test_the_old_option_of_that_name_is_understood(fitted, tmp_path):
    """Older files say metric=input of what is partition-metric now."""
    old = tmp_path / "old.npz"
    with zipfile.ZipFile(fitted("axes", "ard").path) as source, zipfile.ZipFile(old, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "meta.json":
                meta = json.loads(data)
                del meta["options"]["partition-metric"]
                meta["options"]["metric"] = "input"
                data = json.dumps(meta)
            target.writestr(name, data)
    x = fitted("axes", "ard").test[:20, :-1]
    same_bits("mean", predict(old, x)["mean"], predict(fitted("axes", "ard").path, x)["mean"])
    assert "kernel" in json.loads(quorum("inspect", old, "--json"))
