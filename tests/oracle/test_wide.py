"""Few rows with many inputs: what calibrates them without being asked is a strict fit's.

    inputs^2 >= rows, and a metric that may be linear: ratios of one row in 5, held out of everything
"""
import os
import subprocess

import numpy as np
import pytest

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
