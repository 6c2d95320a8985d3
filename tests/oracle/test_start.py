"""The option start: training begins with a model's theta, kernel and metric, in the units of the new rows."""
import json
import subprocess
import zipfile

import numpy as np
import pytest

from oracle_support import QUORUM, agree, quorum, same_bits

NAMES = "a,b,c,y"


def rows_of(n, seed, unit=1.0, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 5.0, 0.2] * unit + shift
    y = np.sin(X[:, 0] + 0.2 * X[:, 1]) + 0.5 * np.sin(1.5 * X[:, 0] - 0.3 * X[:, 1]) + np.sin(6.0 * X[:, 2]) + 0.1 * rng.standard_normal(n)
    return np.column_stack([X, 40.0 * y])


def save(path, rows, names=NAMES):
    np.savetxt(path, rows, delimiter=",", header=names, comments="", fmt="%.17g")
    return path


def load(path):
    with np.load(path) as m, zipfile.ZipFile(path) as z:
        return json.loads(z.read("meta.json")), {n: m[n] for n in m.files if n != "meta.json"}


def metric_of(path):
    """Distances in the data's units: (x - x')' A (x - x'); and the variances in the target's."""
    meta, m = load(path)
    E = m.get("rotation", np.eye(3)) / m["x_scale"]
    A = E.T @ np.diag(np.exp(-2.0 * m["log_lengthscale"])) @ E
    variances = np.exp([m["log_signal_variance"], m["log_noise_variance"]]) * m["y_scale"] ** 2
    return meta["kernel"], A, variances


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    here = tmp_path_factory.mktemp("start")
    old = save(here / "old.csv", rows_of(400, 1))
    for name, options in {"ard": ["--metric", "ard", "--kernel", "matern52"],
                          "linear": ["--metric", "linear", "--kernel", "matern32"],
                          "two": ["--metric", "ard", "--kernel", "matern32x2"]}.items():
        quorum("fit", old, "-o", here / f"{name}.npz", "-q", "--max-evaluations", 25, *options)
    save(here / "new.csv", rows_of(300, 2, unit=[1.3, 0.4, 2.0], shift=[0.3, 0.0, -0.8]))
    return here


def begin(models, tmp_path, start, *options):
    """A fit that may look at its start alone."""
    quorum("fit", models / "new.csv", "-o", tmp_path / "m.npz", "-q", "--start", models / f"{start}.npz",
           "--max-evaluations", 1, "--spread", "none", "--calibrate", "false", *options)
    return tmp_path / "m.npz"


@pytest.mark.parametrize("start", ["ard", "linear", "two"])
@pytest.mark.parametrize("train", ["neighbours", "parts", "random"])
def test_it_begins_where_the_model_is(models, tmp_path, start, train):
    if start == "linear" and train != "neighbours":
        pytest.skip("directions are found with train=neighbours alone")
    kernel, A, variances = metric_of(models / f"{start}.npz")
    found = metric_of(begin(models, tmp_path, start, "--train", train))
    assert found[0] == kernel
    agree("metric of the start", found[1], A, np.sqrt(np.outer(np.diag(A), np.diag(A))))
    agree("variances of the start", found[2], variances, variances)


def test_what_options_name_goes_first(models, tmp_path):
    """A kernel that is given stays; without directions the length-scales are those along the inputs."""
    _, A, variances = metric_of(models / "linear.npz")
    kernel, found, now = metric_of(begin(models, tmp_path, "linear", "--metric", "ard", "--kernel", "matern12"))
    assert kernel == "matern12"
    agree("length-scales along the inputs", found, np.diag(np.diag(A)), np.max(np.diag(A)))
    agree("variances of the start", now, variances, variances)


def test_it_goes_on_from_there(models, tmp_path):
    """A fit of the same rows from its own theta needs few evaluations, and ends no worse."""
    quorum("fit", models / "old.csv", "-o", tmp_path / "first.npz", "-q", "--kernel", "matern52", "--metric", "ard")
    said = json.loads(quorum("fit", models / "old.csv", "-o", tmp_path / "again.npz", "-q", "--json", "--start",
                             tmp_path / "first.npz"))
    first = json.loads(quorum("inspect", tmp_path / "first.npz", "--json"))
    assert said["kernel"] == "matern52" and said["evaluations"] < 0.7 * first["evaluations"]
    assert said["nlml"] < first["nlml"] + 0.01 * abs(first["nlml"])


def test_the_model_says_nothing_of_its_start(models, tmp_path):
    """Other fits' files are as they were before there was a start."""
    meta, _ = load(begin(models, tmp_path, "ard"))
    assert "start" not in meta["options"]


def test_threads_and_files_do_not_matter(models, tmp_path):
    one = load(begin(models, tmp_path, "linear", "--threads", 1))[1]
    two = load(begin(models, tmp_path, "linear", "--threads", 2))[1]
    for name in one:
        same_bits(name, one[name], two[name])


@pytest.mark.parametrize("make, says", [
    (lambda d: ["--start", d / "absent.npz"], "absent.npz"),
    (lambda d: ["--start", d / "ard.npz", "--ignore", "a"], "has 3 inputs, and these data 2"),
    (lambda d: ["--start", d / "ard.npz", "--theta", "1,1,0.1"], "does not go with theta"),
    (lambda d: ["--start", d / "new.csv"], "new.csv"),
])
def test_what_does_not_fit_is_said(models, tmp_path, make, says):
    done = subprocess.run([QUORUM, "fit", models / "new.csv", "-o", tmp_path / "m.npz", *map(str, make(models))],
                          capture_output=True, text=True)
    assert done.returncode == 1 and says in done.stderr and not (tmp_path / "m.npz").exists()


def test_other_names_are_refused(models, tmp_path):
    other = save(tmp_path / "other.csv", rows_of(50, 4), "a,b,d,y")
    done = subprocess.run([QUORUM, "fit", other, "-o", tmp_path / "m.npz", "--start", models / "ard.npz"],
                          capture_output=True, text=True)
    assert done.returncode == 1 and 'input 3 of the model is "c"' in done.stderr
