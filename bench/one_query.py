#!/usr/bin/env python3
"""Time of one query at a time, in the library and from Python, as committed CSV.

    QUORUM_LIBRARY=build/libquorum.so PYTHONPATH=python /usr/bin/python3 bench/one_query.py --data DIR [--model FILE]

A default model of DIR/kin40k_10k30k/train.csv.gz (fitted here, or FILE from before) on one thread is asked
for mean and standard deviation of one row by experts of 640 (its default), 400 or 80 rows, again and again,
of 1, 5 or 100 places in turn: near training rows, their cells being warm after the first round.  "library" is the time of quorum_predict, called
without a callback; "python" that of QuorumRegressor.predict.  The first call of each is that of a model
just loaded, which makes the experts.  Each line of results/one_query.csv is one way; microseconds.
"""
import argparse
import ctypes
import os
import subprocess
import tempfile
import time

import numpy as np
from common import HERE, RESULTS, load, read_table, write_csv

import quorum
from quorum._library import Prediction, lib
from quorum._options import Options

WAYS = [(640, 1), (640, 5), (640, 100), (400, 1), (400, 5), (80, 1), (80, 100)]  # rows of experts, and places
FIELDS = ["caller", "expert_rows", "places", "first_ms", "p50", "p99", "calls"]


def library_call(model, X, rows):
    """A function that asks the library for one row of X."""
    options, out = Options(threads=1, method="cells", neighbours=rows), (ctypes.c_double * 2)()
    places = Prediction(mean=ctypes.addressof(out), std=ctypes.addressof(out) + 8)
    row = [X[q:q + 1].ctypes.data for q in range(len(X))]
    return lambda q, _out=out: lib.quorum_predict(model._model._handle, row[q], 1, options.handle,
                                                  ctypes.byref(places), None)


def python_call(model, X, rows):
    """A function that asks the estimator."""
    model.set_params(n_jobs=1, method="cells", neighbours=rows)
    row = [X[q:q + 1] for q in range(len(X))]
    return lambda q: model.predict(row[q], return_std=True)


def measure(caller, path, X, rows, calls):
    model = quorum.QuorumRegressor.load(path)
    vars(model).pop("feature_names_in_", None)  # queries are arrays, without names
    call = {"library": library_call, "python": python_call}[caller](model, X, rows)
    seconds = []
    for i in range(calls + len(X)):
        start = time.perf_counter()
        call(i % len(X))
        seconds.append(time.perf_counter() - start)
    warm = 1e6 * np.array(seconds[len(X):])
    return {"caller": caller, "expert_rows": rows, "places": len(X), "first_ms": 1e3 * seconds[0], "p50": np.median(warm),
            "p99": np.percentile(warm, 99), "calls": calls}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", help="fitted before, by this command's fit")
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--out", default=RESULTS)
    a = parser.parse_args()
    binary = os.path.join(HERE, "..", "build", "quorum")
    train = read_table(a.data, "kin40k_10k30k", "train")[:, :-1]
    rng = np.random.default_rng(1)
    X = np.ascontiguousarray(train[rng.choice(len(train), 100)] + 0.05 * rng.standard_normal((100, train.shape[1])))
    with tempfile.TemporaryDirectory() as folder:
        path = a.model or os.path.join(folder, "model.npz")
        if not a.model:
            subprocess.run([binary, "fit", os.path.join(a.data, "kin40k_10k30k", "train.csv.gz"), "-o", path,
                            "--graph", "none", "-q"], check=True)
        write_csv(os.path.join(a.out, "one_query.csv"), f"bench/one_query.py --data DIR --calls {a.calls}", binary, FIELDS,
                  (measure(caller, path, X[:places], rows, a.calls) for rows, places in WAYS
                   for caller in ("library", "python")), notes=[load()])


if __name__ == "__main__":
    main()
