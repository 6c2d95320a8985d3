"""Dates on several ranks: the bytes of one process, also where the order turns late, and one error for all."""
import csv
import sqlite3

import numpy as np
import pytest
from conftest import arrays, serial, team


def write(path, n, late=()):
    rng = np.random.default_rng(n)
    hours = rng.integers(0, 24 * 80, n)
    dates = [f"{1 + h // 24 % 12:02}/{1 + h // 24 // 12:02}/2021 {h % 24:02}:00" for h in hours.tolist()]
    dates[n - len(late):] = late
    y = np.sin(2 * np.pi * hours / 24) + 0.1 * rng.normal(size=n)
    path.write_text("when,x,y\n" + "".join(f"{d},{a!r},{v!r}\n" for d, a, v in
                                           zip(dates, rng.normal(size=n).tolist(), y.tolist())))
    return path


@pytest.mark.parametrize("late", ["13/01/2021", "01/13/2021"])
def test_fit_and_predict(tmp_path, late):
    train = write(tmp_path / "train.csv", 2600, [late])
    queries = write(tmp_path / "q.csv", 100)
    options = ["--theta", "1,1,1,1,1,1,1,0.1", "--kernel", "se", "--expert-size", "1000", "--periodic", "auto"]
    serial("fit", train, "-o", tmp_path / "1.npz", *options)
    one = serial("predict", tmp_path / "1.npz", queries, "-q").out
    for ranks in (2, 3):
        model, out = tmp_path / f"r{ranks}.npz", tmp_path / f"{ranks}.csv"
        team(ranks, "fit", train, "-o", model, *options, "-q")
        a, b = arrays(tmp_path / "1.npz"), arrays(model)
        assert a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
        team(ranks, "predict", model, queries, "-q", "-o", out)
        assert out.read_text() == one


def test_errors_are_those_of_one(tmp_path):
    for train, options, said in ((write(tmp_path / "a.csv", 3000), [], "--dates dmy"),
                                 (write(tmp_path / "b.csv", 3000, ["soon"]), ["--dates", "dmy"], "soon"),
                                 (write(tmp_path / "c.csv", 3000), ["--dates", "dmy", "--periodic", "nix:3"], "nix")):
        assert said in serial("fit", train, "-o", tmp_path / "m.npz", *options, code=1).err
        assert said in team(3, "fit", train, "-o", tmp_path / "m.npz", *options, code=1).err


def test_a_database_is_read_by_one(tmp_path):
    train = write(tmp_path / "train.csv", 2600)
    with sqlite3.connect(tmp_path / "t.db") as base:
        base.execute("create table t(day text, x real, y real)")
        base.executemany("insert into t values(?, ?, ?)", csv.reader(train.read_text().splitlines()[1:]))
    base.close()
    words = ["fit", tmp_path / "t.db", "--query", "select * from t", "--dates", "dmy", "--theta", "1,1,1,0.1", "--kernel", "se", "-q"]
    serial(*words, "-o", tmp_path / "1.npz")
    team(3, *words, "-o", tmp_path / "3.npz")
    a, b = arrays(tmp_path / "1.npz"), arrays(tmp_path / "3.npz")
    assert a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
