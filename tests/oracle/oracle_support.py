"""Shared by the oracle tests: running the program and the probe, comparing, problems.

QUORUM is the command-line program, QUORUM_BUILD_DIR the build directory, in
which tests/oracle_probe is the probe.
"""
import ctypes
import json
import os
import subprocess

# The tests' own BLAS: one thread, so as not to fight for the machine.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import pytest

import reference as ref

BUILD = os.path.abspath(os.environ.get("QUORUM_BUILD_DIR", "build"))
QUORUM = os.path.abspath(os.environ.get("QUORUM", os.path.join(BUILD, "quorum")))
PROBE = os.path.join(BUILD, "tests", "oracle_probe")

TOLERANCE = 1e-8  # of every comparison with the reference, relative to the scale that is given

largest = {}  # comparison -> largest deviation seen, shown at the end of the run


def agree(what, actual, expected, scale, tolerance=TOLERANCE):
    """|actual - expected| <= tolerance * scale, everywhere; scale is a number or an array."""
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, expected {expected.shape}"
    assert np.all(np.isfinite(actual)), f"{what}: not finite"
    deviation = np.abs(actual - expected) / np.maximum(scale, np.finfo(float).tiny)
    worst = float(np.max(deviation, initial=0.0))
    largest[what] = max(largest.get(what, 0.0), worst)
    where = np.unravel_index(np.argmax(deviation), deviation.shape) if deviation.size else ()
    assert worst <= tolerance, (f"{what}: off by {worst:.3g} of its scale at {where}: "
                                f"{actual[where]!r}, expected {expected[where]!r}")


def same_bits(what, a, b):
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    assert a.shape == b.shape and a.dtype == b.dtype, f"{what}: {a.shape} {a.dtype}, {b.shape} {b.dtype}"
    different = a.view(np.uint8) != b.view(np.uint8)
    assert not different.any(), f"{what}: {len(np.flatnonzero(a != b))} of {a.size} numbers differ"


# ---- Running -----------------------------------------------------------------------------


def quorum(*args, environment=None):
    """Runs the program and returns its stdout."""
    done = subprocess.run([QUORUM, *map(str, args)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == 0, f"quorum {' '.join(map(str, args))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


# What these tests rely on whatever fit's defaults are; the last value given wins.
PLAIN = ["--kernel", "se", "--train", "parts", "--partition-metric", "input", "--graph", "glasso"]


def fit(directory, name, rows, *options, environment=None):
    """Fits to rows (target last); returns the model's path and fit's JSON."""
    train, model = directory / f"{name}.npy", directory / f"{name}.npz"
    np.save(train, rows)
    said = quorum("fit", train, "-o", model, "-q", "--json", *PLAIN, *options,
                  environment=environment)
    return model, json.loads(said)


def predict(model, X, *options, environment=None):
    """The columns mean, std, lower, upper at the queries X."""
    queries = model.parent / "queries.npy"
    np.save(queries, X)
    text = quorum("predict", model, queries, "-q", *options, environment=environment)
    lines = text.splitlines()
    numbers = np.array([[float(c) for c in line.split(",")] for line in lines[1:]])
    return {name: numbers[:, i].copy() for i, name in enumerate(lines[0].split(","))}


def _library():
    """The shared library; skips a build with sanitizers, which Python cannot load."""
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        if any(line.startswith("QUORUM_SANITIZE") and line.strip().split("=")[1] for line in file):
            pytest.skip("Python cannot load a library with sanitizers")
    library = ctypes.CDLL(os.path.join(BUILD, "libquorum.so"))
    library.quorum_options_new.restype = ctypes.c_void_p
    library.quorum_message.restype = ctypes.c_char_p
    return library


def joint(model, X, **options):
    """quorum_predict_joint: mean and covariance at the queries X."""
    library = _library()
    X = np.ascontiguousarray(X, dtype=float)
    mean, covariance = np.empty(len(X)), np.empty((len(X), len(X)))
    handle, given = ctypes.c_void_p(), ctypes.c_void_p(library.quorum_options_new())

    def call(function, *args):
        assert function(*args) >= 0, library.quorum_message().decode()

    def numbers(array):
        return array.ctypes.data_as(ctypes.c_void_p)

    call(library.quorum_load, str(model).encode(), ctypes.byref(handle))
    for name, value in options.items():
        call(library.quorum_options_set, given, name.encode(), str(value).encode())
    call(library.quorum_predict_joint, handle, numbers(X), ctypes.c_size_t(len(X)), given,
         numbers(mean), numbers(covariance))
    library.quorum_model_free(handle)
    library.quorum_options_free(given)
    return mean, covariance


def probe(directory, what, environment=None, **arrays):
    """Runs the probe; scalars are int64 arrays without dimensions."""
    given, shown = directory / "probe_in.npz", directory / "probe_out.npz"
    np.savez(given, **{k: np.int64(v) if isinstance(v, (int, bool)) else v for k, v in arrays.items()})
    done = subprocess.run([PROBE, what, given, shown], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == 0, done.stderr
    with np.load(shown) as file:
        return {k: file[k] for k in file.files}


def probe_gp(directory, theta, parts, Q, threads=1, keep=True, share_rows=False,
             environment=None):
    offset = np.concatenate([[0], np.cumsum([len(p.y) for p in parts])]).astype(np.int64)
    rows = {"row": np.concatenate([p.row for p in parts]).astype(np.int64)} if share_rows else {}
    shown = probe(directory, "gp", X=np.vstack([p.X for p in parts]),
                  y=np.concatenate([p.y for p in parts]), offset=offset, Q=Q,
                  theta=theta.numbers(),
                  kernel=ref.KERNELS.index(theta.kernel), threads=threads, keep=keep,
                  environment=environment, **rows)
    b = len(Q)
    shown["gamma"] = [shown["gamma"][s * b:e * b].reshape(b, -1).T
                      for s, e in zip(offset[:-1], offset[1:])]
    return shown


# ---- Problems ----------------------------------------------------------------------------

DIMENSIONS = [1, 3, 9, 12, 40]  # distances by differences up to 8 inputs, by products above
LENGTHS = {"short": 0.3, "middle": 1.0, "long": 4.0}  # of sqrt(D)


def random_theta(rng, kernel, D, length, noise=None):
    l = LENGTHS[length] * np.sqrt(D) * rng.uniform(0.6, 1.6, D)
    theta = ref.Theta(kernel, l, float(rng.uniform(0.5, 2.0)),
                      float(rng.uniform(0.02, 0.2)) if noise is None else noise)
    if theta.has_scales():
        theta.share, theta.reach = float(rng.uniform(0.2, 0.8)), float(rng.uniform(2.0, 6.0))
    return theta


def target(X, rng):
    return np.sin(2.0 * X[:, 0]) + 0.5 * X[:, -1] + 0.2 * rng.standard_normal(len(X))


def random_parts(rng, D, sizes, duplicates=True, nearly=1e-9):
    """Local parts: clouds around different centres.  Some rows are equal: within a part,
    across two parts, and one up to `nearly`, where products of coordinates would cancel."""
    parts, at = [], 0
    for m in sizes:
        X = rng.normal(size=D) * 0.7 + rng.normal(size=(m, D)) * 0.8
        parts.append(ref.Part(X, target(X, rng), np.arange(at, at + m)))
        at += m
    if duplicates:
        parts[0].X[1] = parts[0].X[0]
        parts[0].X[3] = parts[0].X[2] * (1.0 + nearly)
        parts[-1].X[-1] = parts[0].X[0]
    return parts


def random_queries(rng, parts, b=32):
    """Near the data, on the data (first and last rows) and one far away."""
    X = np.vstack([p.X for p in parts])
    Q = X[rng.integers(0, len(X), b)] + 0.3 * rng.normal(size=(b, X.shape[1]))
    Q[0], Q[1] = parts[0].X[0], parts[-1].X[-1]
    Q[2] += 3.0
    return Q


def training_rows(seed, n, D):
    """A table as a user has it: own units, a target that two inputs explain."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    y = target(X, rng)
    return np.column_stack([X * rng.uniform(0.5, 20.0, D) + rng.uniform(-50, 50, D), 30.0 + 7.0 * y])


def query_rows(seed, rows, b):
    """Queries among the training rows, some on them."""
    rng = np.random.default_rng(seed)
    X = rows[:, :-1]
    Q = X[rng.integers(0, len(X), b)] + 0.3 * X.std(axis=0) * rng.normal(size=(b, X.shape[1]))
    Q[: b // 8] = X[: b // 8]
    return Q
