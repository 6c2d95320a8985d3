"""Few rows with many inputs: what calibrates them without being asked are strict fits.

    inputs^2 >= rows, and a metric that may be linear: ratios of one row in 5, held out of everything
    200 to 1,999 rows, at most 50 for each input and level: of so many fifths that there are 400, or of all five
"""
import os
import subprocess

import numpy as np
import pytest
import reference as ref
from scipy.optimize import minimize_scalar
from scipy.stats import norm

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))
ROWS, INPUTS = 2000, 45


def fit(here, name, *options, rows="train.npy"):
    done = subprocess.run([QUORUM, "fit", here / rows, "-o", here / name, "-q", "--kernel", "se", "--max-evaluations", "5",
                           *options], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return dict(np.load(here / name))


@pytest.fixture(scope="module", name="here")
def fixture_here(tmp_path_factory):
    here = tmp_path_factory.mktemp("wide")
    rng = np.random.default_rng(11)
    X = rng.normal(size=(ROWS, INPUTS))
    y = np.sin(X[:, 0] + 0.5 * X[:, 1]) + 0.3 * X[:, 2:12].sum(1) + 0.5 * rng.normal(size=ROWS)
    np.save(here / "train.npy", np.column_stack([X, y]))
    np.save(here / "narrow.npy", np.column_stack([X[:, :44], y]))
    return here


def test_the_calibration_is_that_of_a_strict_fit(here):
    """And theta that of a fit to all rows, not of the strict one."""
    wide, strict, plain = fit(here, "w.npz"), fit(here, "s.npz", "--calibrate", "strict"), fit(here, "p.npz", "--calibrate", "false")
    assert len(wide["calibration_signed"]) == ROWS / 5
    assert np.array_equal(wide["calibration_signed"], strict["calibration_signed"])
    for name in ("X", "y", "log_lengthscale", "log_noise_variance"):
        assert np.array_equal(wide[name], plain[name]), name
    assert not np.array_equal(wide["log_lengthscale"], strict["log_lengthscale"])


@pytest.mark.parametrize("options, rows", [(["--metric", "ard"], "train.npy"), ([], "narrow.npy")])
def test_others_are_calibrated_by_rows_left_out_in_turn(here, options, rows):
    assert len(fit(here, "o.npz", *options, rows=rows)["calibration_signed"]) == 2000


# ---- Small tables -------------------------------------------------------------------------------------------


def save_small(here, name, rows, inputs, levels=0):
    """csv, of numbers and, with levels, one column of texts; the rows as lines."""
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, inputs))
    text = rng.integers(levels, size=rows) if levels else np.zeros(rows, int)
    y = np.sin(2 * X[:, 0]) + 0.5 * X.sum(1) + 0.3 * text + 0.4 * rng.standard_t(3, size=rows)
    head = ",".join([*(f"x{d}" for d in range(inputs)), *(["kind"] if levels else []), "y"])
    lines = [",".join([*(repr(float(v)) for v in X[i]), *([f"level{text[i]}"] if levels else []), repr(float(y[i]))])
             for i in range(rows)]
    (here / name).write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return head, lines


def count_ratios(here, rows, inputs, *options, levels=0):
    save_small(here, "t.csv", rows, inputs, levels)
    return len(fit(here, "t.npz", *options, rows="t.csv").get("calibration_signed", ()))


def folds_of(n):
    """Each fifth is drawn in one pass from the rows that those before it have left, by the same numbers."""
    random, taken, wanted = ref.Xoshiro(1, 11), np.zeros(n, int), n // 5
    for fold in range(1, 6):
        left, need = int(np.sum(taken == 0)), wanted
        for i in np.flatnonzero(taken == 0):
            if random.below(left) < need:
                taken[i] = fold
                need -= 1
            left -= 1
        yield np.flatnonzero(taken == fold)


def predicted(here, queries):
    done = subprocess.run([QUORUM, "predict", here / "rest.npz", here / queries, "-q", "--calibration", "off"], capture_output=True,
                          text=True, timeout=600, check=True)
    return np.array([[float(v) for v in line.split(",")[:2]] for line in done.stdout.split()[1:]]).T


def test_a_small_table_has_the_ratios_of_all_folds(tmp_path):
    """Each row is predicted by a fit that has not seen its fifth; std is multiplied by what makes the CRPS of all least."""
    n = 303
    head, lines = save_small(tmp_path, "all.csv", n, 7)
    ratios, stds, seen = [], [], []
    for held in folds_of(n):
        for name, rows in (("rest.csv", np.setdiff1d(np.arange(n), held)), ("held.csv", held)):
            (tmp_path / name).write_text("\n".join([head, *(lines[i] for i in rows)]) + "\n", encoding="utf-8")
        fit(tmp_path, "rest.npz", "--calibrate", "false", rows="rest.csv")
        mean, std = predicted(tmp_path, "held.csv")
        y = np.array([float(lines[i].split(",")[-1]) for i in held])
        ratios.append((y - mean) / std)
        stds.append(std / np.std([float(lines[i].split(",")[-1]) for i in np.setdiff1d(np.arange(n), held)]))
        seen += list(held)
    assert len(seen) == len(set(seen)) == 300
    own, plain = fit(tmp_path, "m.npz", rows="all.csv"), fit(tmp_path, "p.npz", "--calibrate", "false", rows="all.csv")
    z, std = np.concatenate(ratios), np.concatenate(stds)
    np.testing.assert_allclose(own["calibration_signed"], np.sort(z), rtol=0, atol=1e-6)

    def crps(s):
        u = z / s
        return np.sum(std * s * (u * (2 * norm.cdf(u) - 1) + 2 * norm.pdf(u) - 1 / np.sqrt(np.pi)))
    best = minimize_scalar(crps, bounds=(0.3, 3), method="bounded", options={"xatol": 1e-8}).x
    assert ref.Model(tmp_path / "m.npz").meta["calibration"]["scale"] == pytest.approx(best, rel=1e-4)
    for name in ("X", "y", "log_lengthscale", "log_noise_variance"):
        assert np.array_equal(own[name], plain[name]), name


@pytest.mark.parametrize("rows, inputs, options, levels, wanted", [
    (300, 6, [], 0, 300), (301, 6, [], 0, 0),          # 50 rows an input
    (200, 6, [], 0, 200), (199, 6, [], 0, 0),          # and so many that 95 % can be seen
    (500, 10, [], 0, 400), (1000, 20, [], 0, 400),     # folds: as many as it takes
    (400, 2, [], 6, 400), (400, 2, [], 4, 0),          # a level counts as an input, and its column does
    (300, 6, ["--calibrate", "false"], 0, 0), (300, 6, ["--method", "nearest"], 0, 0), (300, 6, ["--train", "parts"], 0, 0)])
def test_which_small_tables_are_calibrated(tmp_path, rows, inputs, options, levels, wanted):
    assert count_ratios(tmp_path, rows, inputs, *options, levels=levels) == wanted


def test_a_small_table_is_calibrated_alike_on_any_threads(tmp_path):
    save_small(tmp_path, "t.csv", 260, 5, 3)
    one, two = (fit(tmp_path, f"{t}.npz", "--threads", str(t), rows="t.csv") for t in (1, 2))
    assert all(np.array_equal(one[name], two[name]) for name in one if name != "meta.json")
