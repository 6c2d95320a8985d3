"""How many neighbours a fit finds to be enough, and that the default prediction takes them."""
import json

import numpy as np

import reference as ref
from oracle_support import fit, predict, quorum, same_bits

DEFAULT = ["--kernel", "se", "--train", "neighbours", "--partition-metric", "learned"]
COUNTS = (32, 64, 128, 256, 512)


def rows_of(n, seed, noise):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 1))
    return np.column_stack([x, np.sin(3 * x[:, 0]) + noise * rng.standard_normal(n)])


def meta(path):
    return ref.Model(path).meta


def same(a, b):
    for name in ("mean", "std"):
        same_bits(name, a[name], b[name])


def test_noise_needs_neighbours(tmp_path):
    """Much noise is averaged over many rows."""
    wild, _ = fit(tmp_path, "wild", rows_of(1500, 1, 1.0), *DEFAULT)
    assert meta(wild)["neighbours"] in COUNTS and meta(wild)["neighbours"] >= 128


def test_auto_takes_what_the_fit_found(tmp_path):
    model, _ = fit(tmp_path, "some", rows_of(1500, 3, 0.1), *DEFAULT)
    queries = rows_of(50, 4, 0.1)[:, :1]
    found = meta(model)["neighbours"]
    same(predict(model, queries), predict(model, queries, "--neighbours", found))
    shown = json.loads(quorum("inspect", model, "--json"))
    assert shown["neighbours"] == found


def test_few_rows_and_other_training_know_nothing(tmp_path):
    few, _ = fit(tmp_path, "few", rows_of(900, 5, 0.1), *DEFAULT)
    other, _ = fit(tmp_path, "other", rows_of(1500, 5, 0.1), "--kernel", "se", "--train", "subset")
    assert "neighbours" not in meta(few) and "neighbours" not in meta(other)
    queries = rows_of(20, 6, 0.1)[:, :1]
    same(predict(other, queries), predict(other, queries, "--neighbours", 512))
