"""Tables of SQLite databases: the same model as from csv, and what is refused."""
import csv
import io
import sqlite3

import numpy as np
import pytest
from conftest import run

FIT = ["--kernel", "se", "--experts", "1", "--max-evaluations", "4"]


@pytest.fixture(name="base")
def fixture_base(tmp_path):
    if "without SQLite" in run("fit", make(tmp_path / "t.db"), "-o", tmp_path / "m.npz", code=1).err:
        pytest.skip("built without SQLite")
    return tmp_path / "t.db"


def make(path, n=200):
    rng = np.random.default_rng(5)
    with sqlite3.connect(path) as base:
        base.execute("create table t(day text, x real, n integer, town text, y real)")
        for i in range(n):
            base.execute("insert into t values(?,?,?,?,?)",
                         (f"2020-01-{1 + i % 28:02}", rng.normal(), None if i % 50 == 7 else i % 9 - 2**40,
                          ['a "q"', "b, c", "Évora\n2", "d"][i % 4], rng.normal() / 3))
        base.execute("create view v as select * from t where n is not null")
    base.close()
    return path


def export(base, query, path):
    connection = sqlite3.connect(base)
    cursor = connection.execute(query)
    with open(path, "w", encoding="utf-8") as out:
        out.write(",".join(d[0] for d in cursor.description) + "\n")
        for row in cursor:
            cells = ("" if v is None else '"' + v.replace('"', '""') + '"' if isinstance(v, str) else repr(v) for v in row)
            out.write(",".join(cells) + "\n")
    connection.close()
    return path


def test_same_as_csv(tmp_path, base):
    query = "select * from v"
    export(base, query, tmp_path / "t.csv")
    run("fit", base, "-o", tmp_path / "a.npz", "--query", query, "--periodic", "day:week", *FIT)
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "b.npz", "--periodic", "day:week", *FIT)
    a, b = np.load(tmp_path / "a.npz"), np.load(tmp_path / "b.npz")
    assert all(np.array_equal(a[k], b[k]) for k in a if k != "meta.json")
    query = "select rowid as id, * from t"
    export(base, query, tmp_path / "q.csv")
    for words in (["predict", "--missing", "nan", "--keep", "id,day,n"], ["predict", "--missing", "drop", "--row-number"],
                  ["evaluate", "--missing", "drop", "--json"], ["sample", "--missing", "drop"], ["suggest", "--missing", "drop"]):
        got = run(words[0], tmp_path / "a.npz", base, "--query", query, *words[1:])
        want = run(words[0], tmp_path / "b.npz", tmp_path / "q.csv", *words[1:])
        if words[0] == "evaluate":
            assert [r["smse"] for r in got.json()] == [r["smse"] for r in want.json()]
        elif words[0] == "suggest":  # cells between are as the file has them
            ends = [[row[:3] + row[-1:] for row in csv.reader(io.StringIO(one.out))] for one in (got, want)]
            assert ends[0] == ends[1] and len(ends[0]) == 21
        else:
            assert got.out == want.out, words


def test_places_are_rows(tmp_path, base):
    err = run("fit", base, "-o", tmp_path / "m.npz", "--query", "select x, n, y from t", code=1).err
    assert 'row 8, column 2 ("n"): cell is empty' in err
    err = run("fit", base, "-o", tmp_path / "m.npz", "--query", "select x, y, town from t", code=1).err
    assert "row 1" in err and 'column 3 ("town"), the target, is text' in err


@pytest.mark.parametrize("query,said", [
    ("", "its tables: t, v"), ("  ;", "its tables: t, v"), ("select 1; select 2", "several statements"),
    ("insert into t values(1, 2, 3, 4, 5)", "something else than reading"), ("drop table t", "not authorized"),
    ("delete from t returning *", "something else than reading"), ("pragma journal_mode=wal", "something else than reading"),
    ("attach 'x.db' as x", "something else than reading"), ("vacuum into 'x.db'", "t.db"), ("begin", "something else"),
    ("explain select * from t", "t.db"), ("selec", "syntax error"), ("select * from nix", "no such table"),
    ("select x, x, y from t", 'both named "x"'), ("select x, y from t where x > 99", "has no rows"),
    ("select x, y, zeroblob(9) as b from t", "is a blob"), ("select x, y, randomblob(3) b from t", "is a blob"),
    ("select x, y, hex(zeroblob(20000000)) as b from t", "more than 16 MB"), ("-- nothing", "gives no rows"),
    ("select load_extension('x'), y from t", "t.db"), ("select 1e999 as x, y from t", "non-finite"),
    ("select y from t", "no input column")])
def test_what_is_refused(tmp_path, base, query, said):
    before = base.read_bytes()
    err = run("fit", base, "-o", tmp_path / "m.npz", *(["--query", query] if query else []), code=1).err
    assert said in err, err
    assert base.read_bytes() == before and not (tmp_path / "m.npz").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.db"]


def test_damaged_bases(tmp_path, base):
    whole = base.read_bytes()
    for name, content, said in (("cut", whole[:5000], "damaged"), ("head", whole[:16], "t"), ("noise", whole[:100] + b"\xA5" * 4000, "base"),
                                ("turned", whole[:4096] + whole[4096:][::-1], "damaged"), ("text", b"x,y\n1,2\n", "no SQLite"),
                                ("empty", b"", "no SQLite")):
        (tmp_path / f"{name}.db").write_bytes(content)
        err = run("fit", tmp_path / f"{name}.db", "-o", tmp_path / "m.npz", "--query", "select x, y from t", code=1).err
        assert said in err, (name, err)
    err = run("fit", "-", "-o", tmp_path / "m.npz", "--query", "select 1", stdin="x,y\n1,2\n", code=1).err
    assert "no SQLite" in err


def test_one_column_keeps_its_rows(tmp_path, base):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i},{i * i % 7}\n" for i in range(40)))
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *FIT)
    out = run("predict", tmp_path / "m.npz", base, "--query", "select n as x from t limit 9", "--missing", "nan").out
    assert len(out.splitlines()) == 10 and out.splitlines()[8].startswith(",")


def test_other_formats_say_what_to_do(tmp_path):
    for start, said in ((b"PAR1", "pandas.read_parquet"), (b"ARROW1\0\0", "pandas.read_feather"), (b"FEA1\0\0\0\0", "pandas.read_feather")):
        (tmp_path / "t.bin").write_bytes(start + bytes(100))
        assert said in run("fit", tmp_path / "t.bin", "-o", tmp_path / "m.npz", code=1).err


def test_a_first_row_of_data_is_doubted(tmp_path):
    (tmp_path / "t.csv").write_text("red,1.5,2\n" + "".join(f"{'red' if i % 2 else 'blue'},{i},{i % 5}\n" for i in range(40)))
    assert "--header no" in run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *FIT).err
    assert "--header no" in run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--target", "y", code=1).err
    assert "--header" not in run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--header", "no", *FIT).err
    (tmp_path / "t.csv").write_text("a,b,c\n" + "".join(f"{i % 3},{i},{i % 5}\n" for i in range(40)))
    assert "--header" not in run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *FIT).err
