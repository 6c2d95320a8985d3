"""Hostile tables, each with its verdict: tests/hostile/verdicts.csv says what every file must give.

A line is a file, the words of the command, the exit code and, for success, the rows and the means of all columns of the
model (of predict: how many rows come out), for a refusal a part of the sentence.  A new case is a file and a line; files
that are large, or are no files, are made in `special` below.
"""
import csv
import gzip
import os
import pathlib
import subprocess
import threading
import unicodedata

import numpy as np
import pytest

from conftest import QUORUM, SANITIZED, run, without_progress

HOSTILE = pathlib.Path(__file__).parent.parent / "hostile"
SECONDS = 100 if SANITIZED else 20  # a command that takes longer hangs
FIT = ["--theta", "1,1,0.1", "--experts", "1", "--graph", "none", "--json"]


def verdicts():
    with open(HOSTILE / "verdicts.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.npz"
    run("fit", HOSTILE / "files" / "good.csv", "-o", path, *FIT)
    return path


def write_pieces(path, pieces):
    with gzip.open(path, "wb", compresslevel=1) if path.suffix == ".gz" else open(path, "wb") as file:
        for piece in pieces:
            file.write(piece)


def make_pipe(path):
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_bytes((HOSTILE / "files" / "good.csv").read_bytes())).start()


def make_unreadable(path):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    path.write_text("a,b,y\n1,2,3\n")
    path.chmod(0)


def wide(columns):
    return [",".join(f"x{i}" for i in range(columns)).encode() + b"\n", b"1," * (columns - 1) + b"2\n",
            b"2," * (columns - 1) + b"1\n"]


SPECIAL = {
    "nowhere.csv": lambda path: None,
    "a-directory": lambda path: path.mkdir(),
    "unreadable.csv": make_unreadable,
    "pipe": make_pipe,
    "loop": lambda path: path.symlink_to(path),
    "wide.csv": lambda path: write_pieces(path, wide(100_000)),
    "too-wide.csv": lambda path: write_pieces(path, wide(1_100_000)),
    "long-line.csv": lambda path: write_pieces(path, [b"1," * 500_000] * 80),
    "long-cell.csv": lambda path: write_pieces(path, [b"a,b,y\n1,", b"9" * 1_000_000, b",3\n4,5,7\n"]),
    "long-name.csv": lambda path: write_pieces(path, [b"a" * 1_000_000, b",b,y\n1,2,3\n4,5,7\n"]),
    "bomb-rows.csv.gz": lambda path: write_pieces(path, [b"1,2,3\n" * 100_000] * 300),
    "bomb-line.csv.gz": lambda path: write_pieces(path, [b"1" * 1_000_000] * 300),
    "large.npy": lambda path: np.save(path, np.zeros((400_000, 10), "i1")),
}


def place_of(name, model, folder):
    """The path that a file of the verdicts stands for."""
    if name == "MODEL":
        return model
    if name in SPECIAL:
        SPECIAL[name](folder / name)
        return folder / name
    return name if name in ("-", "") or name.startswith("/") else HOSTILE / "files" / name


def words_of(case, model, folder):
    command, *more = case["words"].split()
    table = place_of(case["file"], model, folder)
    if command == "fit":
        return ["fit", table, "-o", folder / "m.npz", *FIT, *more]
    if more and more[0].startswith("MODEL="):
        model = HOSTILE / "files" / more.pop(0)[len("MODEL="):]
    return [command, model, table, *more]


def outcome(case, model, folder):
    """Exit code, rows, means and standard error of a case."""
    words = words_of(case, model, folder)
    done = subprocess.run([QUORUM, *map(str, words)], capture_output=True, text=True, timeout=SECONDS, errors="replace",
                          stdin=subprocess.DEVNULL)
    rows = means = ""
    if done.returncode == 0 and words[0] == "fit":
        with np.load(folder / "m.npz") as made:
            rows = str(len(made["X"]))
            numbers = [*made["x_mean"][:3], made["y_mean"]]
        means = " ".join(f"{float(v):.9g}" for v in numbers)
    elif done.returncode == 0:
        rows = str(len(done.stdout.splitlines()) - 1)
    return done.returncode, rows, means, without_progress(done.stderr)


@pytest.mark.parametrize("case", verdicts(), ids=lambda c: f"{c['words']} {c['file']}")
def test_verdict(tmp_path, model, case):
    code, rows, means, said = outcome(case, model, tmp_path)
    assert (str(code), rows, means) == (case["exit"], case["rows"], case["means"]), said
    assert case["says"] in said
    assert code == 0 or len(said.strip().splitlines()) == 1 and said.startswith("quorum ")
    assert all(c == "\n" or unicodedata.category(c)[0] != "C" for c in said)
    assert code == 0 or not (tmp_path / "m.npz").exists()


def test_every_file_has_a_verdict():
    assert {path.name for path in (HOSTILE / "files").iterdir()} <= {case["file"] for case in verdicts()}
    assert len(verdicts()) > 0
