"""Data files: found below --data, or made in the experiment's folder."""
import gzip
import os

import numpy as np

from cells import WORK


def path_of(setup, name, part):
    return os.path.join(setup.data, name, f"{part}.csv.gz")


def is_there(setup, name):
    return all(os.path.exists(path_of(setup, name, part)) for part in ("train", "test"))


def found(setup, name, part):
    """The word of a data set's file, $DATA/NAME/PART.csv.gz; stops when it is not there."""
    path = path_of(setup, name, part)
    if not os.path.exists(path):
        raise SystemExit(f"quorum reproduce: {path} is not there; --data DIR must hold "
                         f"{name}/train.csv.gz and {name}/test.csv.gz, inputs and then the target")
    return f"$DATA/{name}/{part}.csv.gz"


def read_csv(path):
    """Header and rows of a csv or csv.gz file."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        header = file.readline().strip()
        return header, np.loadtxt(file, delimiter=",")


def made(setup, file_name, make):
    """The word of a made file; make() gives header and rows."""
    word = f"{WORK}/data/{file_name}"
    path = os.path.join(setup.folder, word)
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        header, rows = make()
        np.savetxt(path + ".part", rows, delimiter=",", header=header, comments="", fmt="%.12g")
        os.replace(path + ".part", path)
    return word


def train_and_test(setup, name, variant="", change=lambda rows: rows):
    """The two files of a data set, as they are, or changed, or for a quick look cut short."""
    words = []
    for part, limit in (("train", setup.quick_rows), ("test", setup.quick_rows // 5)):
        word = found(setup, name, part)
        if variant or setup.quick:
            def make(word=word, limit=limit):
                header, rows = read_csv(word.replace("$DATA", setup.data))
                return header, change(rows[:limit] if setup.quick else rows)
            word = made(setup, f"{name}{variant}-{part}.csv", make)
        words.append(word)
    return words


def target(setup, word):
    """The last column of a data file."""
    path = os.path.join(setup.folder, word.replace("$DATA", setup.data or ""))
    return read_csv(path)[1][:, -1]
