"""Model files as zips: Python's zipfile and NumPy read what quorum writes, and the other way round;
modes, links and what is left behind."""
import io
import os
import signal
import stat
import subprocess
import time
import zipfile

import numpy as np
import pytest

from conftest import QUORUM, run


class Unseekable(io.RawIOBase):
    """A stream that cannot go back, to which zipfile writes data descriptors."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, some):
        return self.file.write(some)


def repack(model, path, compression=zipfile.ZIP_STORED, force_zip64=False, stream=False, comment=b""):
    """The same members, as another program would store them."""
    with open(path, "wb") as raw, zipfile.ZipFile(model) as old, \
            zipfile.ZipFile(Unseekable(raw) if stream else raw, "w", compression) as new:
        for name in old.namelist():
            with new.open(zipfile.ZipInfo(name) if compression == zipfile.ZIP_STORED else name, "w",
                          force_zip64=force_zip64) as member:
                member.write(old.read(name))
        new.comment = comment
    return path


def predict(model, data):
    return run("predict", model, data / "queries.csv", "-q").out


def test_python_reads_what_quorum_writes(data):
    with zipfile.ZipFile(data / "model.npz") as file:
        assert file.testzip() is None
        for info in file.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
    arrays = np.load(data / "model.npz")
    assert arrays["X"].shape == (300, 2) and arrays["y"].shape == (300,)


@pytest.mark.parametrize("how", [
    dict(), dict(compression=zipfile.ZIP_DEFLATED), dict(force_zip64=True), dict(stream=True),
    dict(stream=True, compression=zipfile.ZIP_DEFLATED), dict(stream=True, force_zip64=True),
    dict(comment=b"a comment, PK\5\6 and all"),
])
def test_quorum_reads_what_python_writes(data, tmp_path, how):
    again = repack(data / "model.npz", tmp_path / "again.npz", **how)
    assert predict(again, data) == predict(data / "model.npz", data)


def test_numpys_own_compression(tmp_path):
    rows = np.random.default_rng(1).normal(size=(200, 3))
    np.savez_compressed(tmp_path / "packed.npz", X=rows[:, :2], y=rows[:, 2])
    np.savez(tmp_path / "plain.npz", X=rows[:, :2], y=rows[:, 2])
    for name in "packed", "plain":
        run("fit", tmp_path / f"{name}.npz", "-o", tmp_path / f"{name}-model.npz", "--kernel", "se", "-q")
    one, two = (np.load(tmp_path / f"{name}-model.npz") for name in ("packed", "plain"))
    assert all(np.array_equal(one[k], two[k]) for k in one.files if k.endswith(".npy") or k != "meta.json")


def fit(data, model, *more):
    run("fit", data / "train.csv", "-o", model, "--experts", 4, "--kernel", "se", "-q", *more)


def test_a_model_keeps_its_mode(data, tmp_path):
    model = tmp_path / "m.npz"
    fit(data, model)
    os.chmod(model, 0o600)
    fit(data, model)
    assert stat.S_IMODE(model.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["m.npz"]


def test_a_link_survives(data, tmp_path):
    (tmp_path / "real").mkdir()
    model, link = tmp_path / "real" / "m.npz", tmp_path / "link.npz"
    link.symlink_to("real/m.npz")
    for _ in range(2):   # one that leads nowhere yet, and one to a file
        fit(data, link)
        assert link.is_symlink() and model.is_file() and not model.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link.npz", "real"] and os.listdir(tmp_path / "real") == ["m.npz"]


def test_a_checkpoint_behind_a_link(data, tmp_path):
    """It is written there, and removed there when the fit is done."""
    (tmp_path / "real").mkdir()
    link = tmp_path / "c.npz"
    link.symlink_to("real/c.npz")
    fit(data, tmp_path / "m.npz", "--checkpoint", link)
    assert link.is_symlink() and os.listdir(tmp_path / "real") == []


def test_a_killed_fit_leaves_nothing(data, tmp_path):
    """At many moments, while the checkpoint is written again and again."""
    for i in range(20):
        process = subprocess.Popen([QUORUM, "fit", data / "train.csv", "-o", tmp_path / "m.npz", "--experts", "4",
                                    "-q", "--checkpoint", tmp_path / "c.npz"], stderr=subprocess.DEVNULL)
        time.sleep(0.01 + 0.01 * i)
        process.send_signal(signal.SIGKILL)
        process.wait()
    fit(data, tmp_path / "m.npz")
    assert set(os.listdir(tmp_path)) <= {"m.npz", "c.npz"}
    predict(tmp_path / "m.npz", data)
