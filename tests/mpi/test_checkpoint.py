"""fit --checkpoint: a fit that was broken off goes on, on one process or several."""
import os
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import ENVIRONMENT, QUORUM, arrays, command, make_rows, serial, team, write_csv

FIT = ["--train", "parts", "--experts", "6", "--kernel", "se", "--max-evaluations", "30",
       "--tolerance", "0", "--threads", "1", "-q"]


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """Directory with a fit that takes some seconds: train.csv, and serial.npz of it."""
    here = tmp_path_factory.mktemp("slow")
    write_csv(here / "train.csv", make_rows(3300, 3), "a,b,c,y")
    serial("fit", here / "train.csv", "-o", here / "serial.npz", *FIT)
    return here


def evaluations(path):
    """How many evaluations a checkpoint has, 0 when there is none yet."""
    try:
        with np.load(path) as file:
            return len(file["evaluations"])
    except FileNotFoundError:
        return 0


def wait_for(path, count, process):
    """Until the checkpoint has so many evaluations; False: the fit was over before anybody looked."""
    end = time.monotonic() + 300  # a busy machine's
    while time.monotonic() < end:
        if evaluations(path) >= count:
            return True
        if process.poll() is not None:
            assert process.returncode == 0, process.communicate()
            return False
        time.sleep(0.01)
    raise AssertionError("the training does not get on")


def ranks_of(process):
    """The process numbers of the ranks that this mpirun started."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent == process.pid:
            found.append(int(name))
    return sorted(found)


# mpirun may end before it has passed on what its last ranks wrote: each writes to a file of its own.
# It sends the others SIGTERM, and SIGKILL a second later unless told to be more patient.
TALK = 'exec "$@" 2> "$TALK.$OMPI_COMM_WORLD_RANK"'
PATIENT = {**ENVIRONMENT, "OMPI_MCA_odls_base_sigkill_timeout": "5"}


def started(words, talk):
    """The fit on 3 ranks, whose stderr goes to talk.0 to talk.2."""
    mpirun, np_, ranks, program, *rest = command(3, *words)
    return subprocess.Popen([mpirun, np_, ranks, "sh", "-c", TALK, "sh", program, *rest],
                            env={**PATIENT, "TALK": str(talk)}, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def broken_off(words, out, checkpoint, victim):
    """Starts the fit, kills one of its ranks while it trains, again if it was too quick; what mpirun
    and the ranks said."""
    talk = out.parent / "talk"
    for _ in range(5):
        with started(words, talk) as process:
            ranks = ranks_of(process) if wait_for(checkpoint, 2, process) else []
            if len(ranks) == 3:
                os.kill(ranks[victim], signal.SIGKILL)
            _, error = process.communicate(timeout=120)
        if process.returncode != 0 and not out.exists():
            return error + "".join(path.read_text() for path in out.parent.glob("talk.*"))
        out.unlink()
    raise AssertionError("the fit is always over before a rank is killed")


@pytest.mark.parametrize("victim", [0, 2])
def test_a_killed_rank(slow, tmp_path, victim):
    out, checkpoint = tmp_path / "model.npz", tmp_path / "fit.checkpoint"
    words = ["fit", slow / "train.csv", "-o", out, "--checkpoint", checkpoint, *FIT]
    error = broken_off(words, out, checkpoint, victim)
    assert "signal 9" in error, error
    if victim != 0:
        assert "another process of it was lost" in error, error
    assert evaluations(checkpoint) >= 2
    team(2, *words)  # also on another number of ranks
    assert arrays(out) == arrays(slow / "serial.npz")
    assert not checkpoint.exists()


def test_serial_goes_on(slow, tmp_path):
    out, checkpoint = tmp_path / "model.npz", tmp_path / "fit.checkpoint"
    words = ["fit", slow / "train.csv", "-o", out, "--checkpoint", checkpoint, *FIT]
    broken_off(words, out, checkpoint, 1)
    serial(*words)
    assert arrays(out) == arrays(slow / "serial.npz")
    assert not checkpoint.exists()


def test_an_interrupted_default_fit(data, tmp_path):
    """First look, kernels and last round are one list; Ctrl-C in the middle of it."""
    out, checkpoint = tmp_path / "model.npz", tmp_path / "fit.checkpoint"
    options = ["--train-rows", "600", "--tolerance", "0", "--max-evaluations", "30", "-q"]
    words = ["fit", data / "train.csv", "-o", out, "--checkpoint", checkpoint, *options]
    with subprocess.Popen([QUORUM, *map(str, words)], stderr=subprocess.PIPE, text=True) as process:
        assert wait_for(checkpoint, 40, process)
        process.send_signal(signal.SIGINT)
        assert "cancelled" in process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert evaluations(checkpoint) >= 40
    serial(*words)
    serial("fit", data / "train.csv", "-o", tmp_path / "plain.npz", *options)
    assert arrays(out) == arrays(tmp_path / "plain.npz")


def test_other_options(data, tmp_path):
    """A checkpoint belongs to one fit; threads and memory do not matter."""
    checkpoint = tmp_path / "fit.checkpoint"
    words = ["fit", data / "train.csv", "--checkpoint", checkpoint, "--train-rows", "600", "-q"]
    with subprocess.Popen([QUORUM, *map(str, words), "-o", str(tmp_path / "a.npz")],
                          stderr=subprocess.DEVNULL) as process:
        assert wait_for(checkpoint, 3, process)
        process.kill()
    words += ["-o", tmp_path / "b.npz"]
    assert "not the same options" in serial(*words, "--seed", "2", code=1).err
    other = write_csv(tmp_path / "other.csv", make_rows(700, 9), "a,b,c,y")
    assert "not the same data" in serial("fit", other, *words[2:], code=1).err
    serial(*words, "--threads", "1", "--memory", "1G")


def test_foreign_files(data, tmp_path):
    checkpoint = tmp_path / "fit.checkpoint"
    words = ["fit", data / "train.csv", "-o", tmp_path / "m.npz", "--checkpoint", checkpoint, "-q"]
    for content in [b"", b"not a checkpoint", (data / "serial.npz").read_bytes()]:
        checkpoint.write_bytes(content)
        for result in [serial(*words, code=1), team(2, *words, code=1)]:
            assert "is not the checkpoint of this fit" in result.err
            assert "remove it, or give checkpoint another name" in result.err
        assert checkpoint.read_bytes() == content


def test_a_directory_that_is_not_there(data, tmp_path):
    words = ["fit", data / "train.csv", "-o", tmp_path / "m.npz", "--checkpoint",
             tmp_path / "no" / "c", "-q"]
    assert "cannot be written" in serial(*words, code=1).err
    assert "cannot be written" in team(2, *words, code=1).err
