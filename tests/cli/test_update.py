"""quorum update: rows join a model and leave it, by its units and encodings, and the file is the one that a fit would
have written, had it known them."""
import csv
import json
import shutil
import zipfile

import numpy as np
import pytest

from conftest import run

THETA = ["--theta", "0.6,1,0.02", "--kernel", "matern32", "--experts", "4"]
KINDS = ["ash", "fir", "oak"]


def table(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    a, kind = rng.normal(3.0, 2.0, n), rng.integers(0, 3, n)
    return {"a": a, "b": rng.uniform(-1, 1, n), "kind": np.array(KINDS)[kind],
            "w": rng.integers(1, 4, n), "e": rng.uniform(0, 0.2, n),
            "y": shift + np.sin(a) + kind + 0.1 * rng.standard_normal(n),
            "z": np.cos(a) - kind + 0.1 * rng.standard_normal(n)}


def write(path, columns):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*columns.values()))
    return path


def joined(*tables):
    return {name: np.concatenate([t[name] for t in tables]) for name in tables[0]}


def members(path):
    with zipfile.ZipFile(path) as z, np.load(path) as m:
        return {"meta": json.loads(z.read("meta.json")), **{n: m[n] for n in m.files if n != "meta.json"}}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    here = tmp_path_factory.mktemp("update")
    tables = {"old": table(300, 1), "new": table(50, 2), "moved": table(50, 3, shift=2.0)}
    for name, columns in tables.items():
        write(here / f"{name}.csv", columns)
    run("fit", here / "old.csv", "-o", here / "model.npz", "--target", "y", "--ignore", "z", "--weights", "w",
        "--noise-std", "e", "--calibrate", *THETA)
    run("fit", here / "old.csv", "-o", here / "both.npz", "--target", "y,z", "--weights", "w", "--ignore", "e",
        "--calibrate", "false", *THETA)
    run("fit", here / "old.csv", "-o", here / "shared.npz", "--target", "y,z", "--ignore", "kind,w,e",
        "--share", "theta", "--calibrate", "false", *THETA)
    return here, tables


def test_the_file_has_the_rows_in_the_models_units(files, tmp_path):
    """Every array from the equations: standardised by the old units, with the expert whose centre is nearest."""
    here, tables = files
    run("update", here / "model.npz", here / "new.csv", "-o", tmp_path / "m.npz")
    old, new, rows = members(here / "model.npz"), members(tmp_path / "m.npz"), tables["new"]
    for name in ("x_mean", "x_scale", "y_mean", "y_scale", "log_lengthscale", "log_signal_variance", "log_noise_variance"):
        assert np.array_equal(old[name], new[name])
    position = old["meta"]["categories"][0]["positions"]
    inputs = np.column_stack([rows["a"], rows["b"], [position[KINDS.index(k)] for k in rows["kind"]]])
    X = (inputs - old["x_mean"]) / old["x_scale"]
    length = np.exp(old["log_lengthscale"])
    centres = np.array([old["X"][i:j].mean(axis=0) for i, j in zip(old["offset"], old["offset"][1:])])
    expert = ((X[:, None] / length - centres / length) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(np.diff(new["offset"]), np.diff(old["offset"]) + np.bincount(expert, minlength=4))
    for e in range(4):
        mine = slice(new["offset"][e], new["offset"][e + 1])
        before = slice(old["offset"][e], old["offset"][e + 1])
        joins = np.flatnonzero(expert == e)
        assert np.array_equal(new["row"][mine], np.r_[old["row"][before], 300 + joins])
        assert np.array_equal(new["X"][mine], np.vstack([old["X"][before], X[joins]]))
        y = (rows["y"][joins] - old["y_mean"]) / old["y_scale"]
        assert np.array_equal(new["y"][mine], np.r_[old["y"][before], y])
        assert np.array_equal(new["weight"][mine], np.r_[old["weight"][before], rows["w"][joins]])
        assert np.array_equal(new["error"][mine], np.r_[old["error"][before], rows["e"][joins] / old["y_scale"]])
    assert len(new["calibration"]) == len(new["calibration_signed"])


def test_it_says_what_became_of_the_rows(files, tmp_path):
    here, _ = files
    out = run("update", here / "model.npz", here / "new.csv", "-o", tmp_path / "m.npz").out
    assert "50 rows added, 0 forgotten: 350 rows, 4 experts" in out and "NLPD" in out and "of left-out rows" in out
    told = run("update", here / "model.npz", here / "new.csv", "-o", tmp_path / "m.npz", "--json").json()
    assert told["added"] == 50 and told["scored"] == 50 and not told["drift"] and told["chance"] > 0.01


def test_drift_is_said_in_a_sentence(files, tmp_path):
    here, _ = files
    said = run("update", here / "model.npz", here / "moved.csv", "-o", tmp_path / "m.npz", "--json")
    assert said.json()["drift"] and said.json()["density"] < said.json()["expected"]
    assert "predicted worse than left-out rows" in said.err and "--start" in said.err


def test_new_rows_and_then_forgotten_is_where_it_was(files, tmp_path):
    here, _ = files
    run("update", here / "both.npz", here / "new.csv", "-o", tmp_path / "more.npz")
    run("update", tmp_path / "more.npz", "-o", tmp_path / "back.npz", "--forget", "301-350")
    with np.load(here / "both.npz") as a, np.load(tmp_path / "back.npz") as b:
        assert a.files == b.files
        for name in a.files:
            assert a[name] == b[name] if name.endswith(".json") else np.array_equal(a[name], b[name])


@pytest.mark.parametrize("model", ["model", "both", "shared"])
def test_one_at_a_time_is_all_at_once_for_nearest_rows(files, tmp_path, model):
    here, tables = files
    shutil.copy(here / f"{model}.npz", tmp_path / "a.npz")
    for k, part in enumerate(np.array_split(np.arange(50), 4)):
        some = {name: values[part] for name, values in tables["new"].items()}
        run("update", tmp_path / "a.npz", write(tmp_path / f"{k}.csv", some), "-o", tmp_path / "a.npz")
    run("update", here / f"{model}.npz", here / "new.csv", "-o", tmp_path / "b.npz", "--threads", "1")
    answers = [run("predict", tmp_path / f"{name}.npz", here / "moved.csv", "--method", "nearest", "--calibration", "off",
                   "--threads", threads).out for name, threads in (("a", 1), ("b", 2))]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("words", [["--weights", "w", "--ignore", "e"], ["--ignore", "kind,w,e", "--share", "theta"]],
                         ids=["weights and a category", "shared theta"])
@pytest.mark.parametrize("partition", ["kmeans", "kdtree", "random", "communication"])
def test_several_targets_are_updated_as_each_alone(files, tmp_path, partition, words):
    """Each alone is a fit to all rows (unit.test_update); the bits by nearest rows and by experts are the same."""
    here, _ = files
    fit = ["--calibrate", "false", "--partition", partition, *THETA]
    run("fit", here / "old.csv", "-o", tmp_path / "all.npz", "--target", "y,z", *words, *fit)
    run("update", tmp_path / "all.npz", here / "new.csv", "-o", tmp_path / "all.npz")
    ignored, rest = words[words.index("--ignore") + 1], [w for w in words[:-2] if w != "--ignore"]
    alone = ["--weights", "w"] if "w" in rest else []
    for target, other in (("y", "z"), ("z", "y")):
        model = tmp_path / f"{target}.npz"
        run("fit", here / "old.csv", "-o", model, "--target", target, "--ignore", f"{ignored},{other}", *alone, *fit)
        run("update", model, here / "new.csv", "-o", model)
        for method in ("nearest", "npae", "rbcm"):
            rows = [run("predict", tmp_path / f"{m}.npz", here / "moved.csv", "--method", method, *w).out.splitlines()[1:]
                    for m, w in (("all", ["--target", target]), (target, []))]
            assert len(rows[0]) == 50 and rows[0] == rows[1], (target, method)


def test_targets_without_a_value_leave_only_their_own_row_out(files, tmp_path):
    here, tables = files
    rows = {name: values.astype(object).copy() for name, values in tables["new"].items()}
    rows["z"][:5] = ""
    holes = write(tmp_path / "holes.csv", rows)
    told = run("update", here / "both.npz", holes, "-o", tmp_path / "m.npz", "--missing", "drop", "--json").json()
    assert told["y"]["rows"] == 350 and told["z"]["rows"] == 345
    err = run("update", here / "shared.npz", holes, "-o", tmp_path / "s.npz", "--missing", "drop", code=1).err
    assert "every new row needs all of them" in err
    err = run("update", tmp_path / "m.npz", "-o", tmp_path / "s.npz", "--forget", "1", code=1).err
    assert "different rows" in err


def test_a_window_keeps_the_last_rows(files, tmp_path):
    here, tables = files
    told = run("update", here / "model.npz", here / "new.csv", "-o", tmp_path / "m.npz", "--window", 120, "--json").json()
    assert told["rows"] == 120 and told["forgotten"] == 230
    m = members(tmp_path / "m.npz")
    assert sorted(m["row"]) == list(range(120)) and len(m["calibration"]) <= 120
    y = np.empty(120)
    y[m["row"]] = m["y"] * m["y_scale"] + m["y_mean"]
    assert np.allclose(y, joined(tables["old"], tables["new"])["y"][-120:], rtol=0, atol=1e-12)


def test_a_level_that_is_new_is_left_out(files, tmp_path):
    here, tables = files
    rows = {name: values.astype(object).copy() for name, values in tables["new"].items()}
    rows["kind"][:3] = "elm"
    new = write(tmp_path / "elm.csv", rows)
    said = run("update", here / "model.npz", new, "-o", tmp_path / "m.npz", "--json")
    assert said.json()["unseen"] == 3 and said.json()["added"] == 47 and "3 rows with a level" in said.err
    assert "was not in the training data" in run("update", here / "model.npz", new, "-o", tmp_path / "n.npz", "--unseen",
                                                 "error", code=1).err
    assert not (tmp_path / "n.npz").exists()


def test_what_is_wrong_is_said_and_nothing_is_written(files, tmp_path):
    here, _ = files
    model, out = here / "model.npz", tmp_path / "m.npz"
    for args, code, says in [
        ((model, here / "new.csv"), 2, "-o MODEL2 is missing"),
        ((model, "-o", out), 2, "NEW is missing"),
        ((model, "-o", out, "--forget", "0"), 2, "is not a list of rows"),
        ((model, "-o", out, "--forget", "5-2"), 2, "is not a list of rows"),
        ((model, "-o", out, "--forget", "1,"), 2, "is not a list of rows"),
        ((model, "-o", out, "--forget", "301"), 2, "there is no row 301"),
        ((model, "-o", out, "--forget", "1-300"), 1, "0 rows would stay"),
        ((model, "-o", out, "--window", "none"), 2, "is not a whole number"),
        ((model, "-o", out, "--window", "1"), 1, "1 row would stay"),
        ((model, here / "new.csv", "-o", out, "--missing", "nan"), 2, "cannot be taken"),
        ((here / "both.npz", "-", "-o", out), 2, "standard input can be read once"),
        ((model, here / "absent.csv", "-o", out), 1, "absent.csv"),
    ]:
        assert says in run("update", *args, code=code, stdin="").err
    assert not out.exists()


def test_a_model_can_be_replaced_by_itself(files, tmp_path):
    here, _ = files
    shutil.copy(here / "model.npz", tmp_path / "m.npz")
    run("update", tmp_path / "m.npz", here / "new.csv", "-o", tmp_path / "m.npz")
    assert len(members(tmp_path / "m.npz")["y"]) == 350


def wide(z):
    """The factor s of std at which the mean of sqrt(2) exp(-z^2 / 2 s^2) is 1, by bisection."""
    low, high = 1e-3, 1e3
    for _ in range(200):
        s = np.sqrt(low * high)
        low, high = (low, s) if np.mean(np.sqrt(2) * np.exp(-0.5 * (z / s) ** 2)) >= 1.0 else (s, high)
    return high


def test_calibration_learns_from_the_new_rows(files, tmp_path):
    """Ratios by the predictions before, and the factor of std by its equation."""
    here, tables = files
    model = tmp_path / "model.npz"
    run("fit", here / "old.csv", "-o", model, "--target", "y", "--ignore", "z,w,e", "--calibrate", "--method", "nearest", *THETA)
    said = run("predict", model, here / "new.csv", "--method", "nearest", "--calibration", "off").table()[1]
    run("update", model, here / "new.csv", "-o", tmp_path / "m.npz")
    old, new = members(model), members(tmp_path / "m.npz")
    fresh = (tables["new"]["y"] - said[:, 0]) / said[:, 1]
    assert np.allclose(new["calibration_signed"], np.sort(np.r_[old["calibration_signed"], fresh]), rtol=1e-9, atol=1e-12)
    assert np.array_equal(new["calibration"], np.sort(np.abs(new["calibration_signed"])))
    before = old["meta"]["calibration"]["scale"]
    z = old["calibration_signed"] * before / wide(old["calibration_signed"])
    assert np.isclose(new["meta"]["calibration"]["scale"], wide(np.r_[z, fresh]), rtol=1e-9)
