"""Shared by the tests of quorum-mpi: running it beside the serial command, on small data.

Run with QUORUM=path/to/quorum QUORUM_MPI=path/to/quorum-mpi /usr/bin/python3 -m pytest tests/mpi
"""
import os
import shutil
import subprocess

import numpy as np
import pytest

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))
QUORUM_MPI = os.path.abspath(os.environ.get("QUORUM_MPI", "quorum-mpi"))
RANKS = [1, 2, 3, 4]

# More ranks than processors, on one machine, possibly as root: be patient, stay on loopback.
ENVIRONMENT = {**os.environ,
               "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OMPI_MCA_btl": "self,vader",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
               "OMPI_MCA_btl_base_warn_component_unused": "0"}
SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "leaks.supp")
# What MPI itself never frees is not ours to report; whole stacks, since it unloads its plug-ins.
ENVIRONMENT["LSAN_OPTIONS"] = f"suppressions={SUPPRESSIONS}:print_suppressions=0"
ENVIRONMENT["ASAN_OPTIONS"] = "fast_unwind_on_malloc=0"


def pytest_collection_modifyitems(items):
    if shutil.which("mpirun") and os.access(QUORUM_MPI, os.X_OK):
        return
    for item in items:
        item.add_marker(pytest.mark.skip(reason="mpirun or quorum-mpi is missing"))


class Result:
    """Exit code, stdout and stderr of one run."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr


def finish(command, code, env):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300,
                          env=env, check=False)
    result = Result(done)
    good = result.code == code if code is not None else result.code != 0
    assert good, f"exit {result.code}, wanted {code}\n{result.out}\n{result.err}"
    return result


def serial(*args, code=0):
    """Runs quorum and checks its exit code (None: any failure)."""
    return finish([QUORUM, *args], code, dict(os.environ))


def command(ranks, *args):
    return list(map(str, ["mpirun", "-np", ranks, QUORUM_MPI, *args]))


def team(ranks, *args, code=0):
    """The same on so many ranks."""
    return finish(command(ranks, *args), code, ENVIRONMENT)


def arrays(path):
    """Everything in a model file that is a number: name to bytes."""
    with np.load(path) as file:
        return {name: file[name].tobytes() for name in file.files if name != "meta.json"}


def make_rows(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, (n, 3))
    y = np.sin(2.0 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * rng.standard_normal(n)
    return np.column_stack([x, y])


def write_csv(path, rows, header):
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.17g")
    return path


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Directory with train.csv (700 rows), test.csv (150), queries.csv and serial.npz."""
    here = tmp_path_factory.mktemp("data")
    write_csv(here / "train.csv", make_rows(700, 1), "a,b,c,y")
    test = make_rows(150, 2)
    write_csv(here / "test.csv", test, "a,b,c,y")
    write_csv(here / "queries.csv", test[:, :3], "a,b,c")
    serial("fit", here / "train.csv", "-o", here / "serial.npz", *FIT)
    return here


# Without the choices that a fit makes by rows left out, which take most of its time.
PLAIN = ["--metric", "ard", "--local-noise", "no", "--spread", "none", "--no-calibrate", "--method", "nearest"]
FIT = ["--experts", "7", "--kernel", "se", "--train-rows", "200", "--graph", "glasso", "-q"]
