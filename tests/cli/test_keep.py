"""Joining predictions to their queries: kept columns, row numbers, rows with missing cells."""
import csv
import gzip
import io
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from conftest import QUORUM, SANITIZED, make_rows, run, write_csv, without_progress

HARD = ["plain", "a,b", 'say "so"', "two\nlines", " blanks ", "", "0042", "1e5", "2024-01-31T00:00", "größe", "'", "#", "nan",
        'cr\rhere', "crlf\r\nhere", '"', ";", "\ttab"]


def cells_of(text):
    """The csv as Python reads it: header and rows of texts."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    return rows[0], rows[1:]


def predict(data, path, *more, code=0, command="predict", stdin=None):
    """Bytes in, bytes out: line ends stay as they are."""
    done = subprocess.run([QUORUM, command, str(data / "model.npz"), str(path), *map(str, more)], capture_output=True,
                          timeout=300, input=stdin)
    assert done.returncode == code, done.stderr
    return done.stdout.decode(), without_progress(done.stderr.decode())


def write_queries(path, texts, delimiter=",", end="\r\n", encoding="utf-8"):
    """Columns id, a, text, b with the given texts; `a` and `b` are those of make_rows."""
    x = make_rows(len(texts), seed=4)[:, :2]
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(["id", "a", "text", "b"])
    for i, text in enumerate(texts):
        writer.writerow([f"{i:03d}", repr(float(x[i, 0])), text, repr(float(x[i, 1]))])
    content = out.getvalue().encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["q.csv", "q.csv.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_texts_are_passed_on_as_they_are(data, tmp_path, name, end, delimiter):
    path = write_queries(tmp_path / name, HARD, delimiter, end)
    header, rows = cells_of(predict(data, path, "--keep", "text,id,a")[0])
    assert header == ["text", "id", "a", "mean", "std", "lower", "upper"]
    x = make_rows(len(HARD), seed=4)[:, :2]
    assert [row[:3] for row in rows] == [[t, f"{i:03d}", repr(float(x[i, 0]))] for i, t in enumerate(HARD)]
    _, alone = cells_of(predict(data, path)[0])
    assert [row[3:] for row in rows] == alone


def test_blanks_stay_beside_quotes_or_not(data, tmp_path):
    """One line with a quote is read another way than one without."""
    path = tmp_path / "q.csv"
    path.write_text('a,b,t,u\n1,2, x ,plain\n1,2, x ,"quoted"\n1,2, "x" ,end \n1,2,"a"b,\n')
    _, rows = cells_of(predict(data, path, "--keep", "t,u", "--mean-only")[0])
    assert [row[:2] for row in rows] == [[" x ", "plain"], [" x ", "quoted"], ["x", "end "], ['"a"b', ""]]


def test_columns_of_blanks_and_carriage_returns_alone(data, tmp_path):
    path = tmp_path / "q.csv"
    path.write_bytes(b'a  b  t\n1  2  "x y"\n 1 2 z\n')
    assert [r[0] for r in cells_of(predict(data, path, "--keep", "t")[0])[1]] == ["x y", "z"]
    path.write_bytes(b'a,b,t\r1,2,x\r1,2,y\r')
    assert [r[0] for r in cells_of(predict(data, path, "--keep", "t")[0])[1]] == ["x", "y"]
    path.write_bytes(b'a,b,t,\r\n1,2,x,\r\n1,2,y,\r\n')
    assert [r[0] for r in cells_of(predict(data, path, "--keep", "t")[0])[1]] == ["x", "y"]


def test_all_columns_and_numbers(data, tmp_path):
    path = write_queries(tmp_path / "q.csv", HARD)
    header, rows = cells_of(predict(data, path, "--keep", "all", "--row-number", "--mean-only")[0])
    assert header == ["row", "id", "a", "text", "b", "mean"]
    assert [row[0] for row in rows] == [str(i + 1) for i in range(len(HARD))]
    assert [row[3] for row in rows] == HARD
    assert cells_of(predict(data, path, "--keep", "-2,1", "--mean-only")[0])[0] == ["text", "id", "mean"]
    assert cells_of(predict(data, path, "--row-number")[0])[0] == ["row", "mean", "std", "lower", "upper"]


def test_names_in_quotes(data, tmp_path):
    path = tmp_path / "q.csv"
    path.write_text('"lon, deg","say ""so""",a,b,all\n1,2,0,0,3\n')
    out, _ = predict(data, path, "--keep", '"lon, deg","say ""so""",b', "--mean-only")
    assert cells_of(out)[0] == ["lon, deg", 'say "so"', "b", "mean"]
    assert cells_of(predict(data, path, "--keep", '"all"', "--mean-only")[0])[0] == ["all", "mean"]
    assert len(cells_of(predict(data, path, "--keep", "all", "--mean-only")[0])[0]) == 6
    for open_quote in ('"lon, deg', '"b"x'):
        assert "a name in quotes" in predict(data, path, "--keep", open_quote, code=1)[1]


@pytest.mark.parametrize("header, flags, sentence", [
    ("a,b,id", ["--keep", "ide"], 'keep: {}: has no column "ide"; its 3 columns are "a", "b", "id"'),
    ("a,b,mean", ["--keep", "mean"], 'column "mean" of {} has the name of a column of the result'),
    ("a,b,mean", ["--keep", "all"], 'column "mean" of {}'),
    ("a,b,std", ["--keep", "std"], 'column "std" of {}'),
    ("a,b,q0.5", ["--keep", "3", "--quantiles", "0.5"], 'column "q0.5"'),
    ("a,b,above_3", ["--keep", "all", "--above", "3"], 'column "above_3"'),
    ("a,b,dstd_a", ["--keep", "all", "--gradient"], 'column "dstd_a"'),
    ("a,b,row", ["--keep", "row", "--row-number"], 'two columns would be named "row"'),
    ("a,b,t,t", ["--keep", "all"], 'two columns would be named "t"'),
    ("a,b,t", ["--keep", "a,a"], 'two columns would be named "a"'),
])
def test_names_that_are_refused(data, tmp_path, header, flags, sentence):
    path = tmp_path / "q.csv"
    path.write_text(header + "\n" + ",".join("1" * (header.count(",") + 1)) + "\n")
    out, said = predict(data, path, *flags, code=1)
    assert sentence.format(path) in said and out == "" and len(said.splitlines()) == 1


def test_names_that_only_look_alike(data, tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("a,b,std,q0.5,Mean\n1,1,2,3,4\n")
    out, _ = predict(data, path, "--keep", "std,q0.5,Mean", "--mean-only")
    assert cells_of(out)[0] == ["std", "q0.5", "Mean", "mean"]


def test_no_header_goes_by_number(data, tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("1,2,007\n2,1,008\n")
    header, rows = cells_of(predict(data, path, "--keep", "3", "--mean-only")[0])
    assert header == ["x3", "mean"] and [row[0] for row in rows] == ["007", "008"]


def test_other_encodings(data, tmp_path):
    """A file has one encoding; where the header does not tell, a cell does."""
    path = write_queries(tmp_path / "q.csv", ["größe", "plain", "5 €"], encoding="cp1252")
    out, said = predict(data, path, "--keep", "text")
    assert [row[0] for row in cells_of(out)[1]] == ["größe", "plain", "5 €"]
    assert said.count("cells that are kept are not UTF-8 and were read as Windows-1252") == 1
    path.write_bytes("a,b,größe\n1,2,Ã¼\n".encode("cp1252"))  # as UTF-8 the cell would be one letter
    out, said = predict(data, path, "--keep", "größe")
    assert cells_of(out)[0][0] == "größe" and cells_of(out)[1][0][0] == "Ã¼"
    assert "column names are not UTF-8" in said and "cells that are kept" not in said
    path.write_bytes(b"a,b,t\n1,2,\x81\xff\n")
    assert cells_of(predict(data, path, "--keep", "t")[0])[1][0][0] == "\x81ÿ"
    path.write_bytes("\ufeffa,b,t\n1,2,größe\n".encode())
    assert cells_of(predict(data, path, "--keep", "t,a")[0])[1][0][:2] == ["größe", "1"]


def test_pipes(data, tmp_path):
    path = write_queries(tmp_path / "q.csv", HARD)
    wanted, _ = predict(data, path, "--keep", "all", "-q")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes())).start()
    assert predict(data, pipe, "--keep", "all", "-q")[0] == wanted
    assert predict(data, "-", "--keep", "all", "-q", stdin=path.read_bytes())[0] == wanted


@pytest.mark.parametrize("kind", ["C", "F", "npz"])
def test_arrays_pass_numbers(data, tmp_path, kind):
    rows = np.column_stack([make_rows(9, seed=5)[:, :2], np.arange(9) * 0.1])
    rows[4, 2] = np.nan
    rows[5, 2] = np.inf
    path = tmp_path / ("q.npz" if kind == "npz" else "q.npy")
    if kind == "npz":
        np.savez(path, X=rows[:, :2], y=rows[:, 2])
    else:
        np.save(path, np.asarray(rows, order=kind))
    header, cells = cells_of(predict(data, path, "--keep", "3,1", "--row-number", "--mean-only")[0])
    assert header == ["row", "y" if kind == "npz" else "x3", "x1", "mean"]
    assert [float(row[2]) for row in cells] == list(rows[:, 0])
    assert cells[4][1] == "" and cells[5][1] == "inf"
    assert [float(row[1]) for row in cells[:4]] == list(rows[:4, 2])
    rows[2, 0] = np.nan
    np.save(tmp_path / "h.npy", np.asarray(rows, order="F" if kind == "F" else "C"))
    out, said = predict(data, tmp_path / "h.npy", "--keep", "3", "--missing", "nan", "--row-number", "--mean-only")
    with_hole = cells_of(out)[1]
    assert with_hole[2] == ["3", repr(0.2), ""] or with_hole[2] == ["3", "0.20000000000000001", ""]
    assert [row[2] for i, row in enumerate(with_hole) if i != 2] == [row[3] for i, row in enumerate(cells) if i != 2]
    assert "1 row with missing cells has empty cells in the result: row 3" in said


# ---- Rows with missing cells ------------------------------------------------------------------------------


def with_holes(path, n, holes):
    """Queries with ids; those of `holes` lack an input, in one way or another."""
    x = make_rows(n, seed=6)[:, :2]
    ways = [",{},{}", "{},{}", "{},NA,{}", "{},text,{}", "{},inf,{}", "{},nan,{}", "{},1,{},5,6"]
    lines = ["a,b,id"]
    for i in range(n):
        a, b = (repr(float(v)) for v in x[i])
        way = ways[holes.index(i) % len(ways)] if i in holes else None
        lines.append(way.format(a, f"id{i}") if way else f"{a},{b},id{i}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("command, flags", [("predict", []), ("predict", ["--mean-only"]), ("sample", ["-n", "2"]),
                                            ("predict", ["--gradient", "--novelty", "--quantiles", "0.1,0.9"]),
                                            ("predict", ["--method", "npae*", "--graph-on", "test"]),
                                            ("sample", [])])
def test_rows_stay_aligned(data, tmp_path, command, flags):
    holes = [0, 3, 4, 5, 11, 19, 20, 29]
    path = with_holes(tmp_path / "q.csv", 30, holes)
    out, said = predict(data, path, "--missing", "nan", "--row-number", *flags, command=command)
    header, rows = cells_of(out)
    assert [row[0] for row in rows] == [str(i + 1) for i in range(30)]
    assert all(len(row) == len(header) for row in rows)
    assert [i for i, row in enumerate(rows) if set(row[1:]) == {""}] == holes
    assert "8 rows with missing cells have empty cells in the result: rows 1, 4, 5, 6, 12, 20, 21 and 30" in said
    dropped, said = predict(data, path, "--missing", "drop", *flags, command=command)
    assert cells_of(dropped)[1] == [row[1:] for i, row in enumerate(rows) if i not in holes]
    assert "8 rows with missing cells left out" in said and "(rows 1, 4, 5, 6, 12, 20, 21 and 30)" in said
    alone, _ = predict(data, path, "--missing", "nan", *flags, command=command)
    assert cells_of(alone)[1] == [row[1:] for row in rows]
    assert len(alone.splitlines()) == 31 and all(alone.splitlines())  # a blank line would be passed over


def test_numbers_of_dropped_rows(data, tmp_path):
    path = with_holes(tmp_path / "q.csv", 60, list(range(5, 40, 2)))
    out, said = predict(data, path, "--missing", "drop", "--row-number", "--keep", "id")
    assert "(rows 6, 8, 10, 12, 14, 16, 18, 20, 22, 24 and 8 more)" in said
    assert all(row[1] == f"id{int(row[0]) - 1}" for row in cells_of(out)[1])
    comments = tmp_path / "c.csv"
    comments.write_text("a,b\n# one\n1,2\n\n,1\n# two\n3,4\n")
    out, said = predict(data, comments, "--missing", "drop", "--row-number", "--comment", "#")
    assert [row[0] for row in cells_of(out)[1]] == ["1", "3"] and "(row 2)" in said


def test_all_rows_have_holes(data, tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("a,b,id\n,1,x\n1,,y\n")
    out, said = predict(data, path, "--missing", "nan", "--keep", "id")
    assert out == "id,mean,std,lower,upper\nx,,,,\ny,,,,\n"
    assert "2 rows with missing cells have empty cells in the result: rows 1 and 2" in said
    assert predict(data, path, "--missing", "nan", "--keep", "id", command="sample")[0] == "id,s1\nx,\ny,\n"
    path.write_text("a,b,id\n")
    assert predict(data, path, "--missing", "nan", "--keep", "id")[0] == "id,mean,std,lower,upper\n"


def test_an_offset_may_be_missing_too(tmp_path):
    rows = make_rows(100, seed=7)
    train = write_csv(tmp_path / "t.csv", np.column_stack([rows, rows[:, 0]]), header="a,b,y,o")
    run("fit", train, "-o", tmp_path / "model.npz", "--target", "y", "--offset", "o", "--kernel", "se", "-q")
    (tmp_path / "q.csv").write_text("a,b,o\n1,1,5\n1,1,\n0,1,7\n")
    rows = cells_of(predict(tmp_path, tmp_path / "q.csv", "--missing", "nan", "--mean-only")[0])[1]
    (tmp_path / "q.csv").write_text("a,b,o\n1,1,5\n0,1,7\n")
    whole = cells_of(predict(tmp_path, tmp_path / "q.csv", "--mean-only")[0])[1]
    assert rows == [whole[0], [""], whole[1]]


def test_where_nan_is_refused(data, tmp_path):
    assert "nan is for predictions" in run("fit", data / "train.csv", "-o", tmp_path / "m.npz", "--missing", "nan",
                                           code=1).err
    assert "none to score" in predict(data, data / "test.csv", "--missing", "nan", code=1, command="evaluate")[1]
    path = with_holes(tmp_path / "q.csv", 9, [2])
    assert "cannot be suggested" in predict(data, path, "--missing", "nan", code=2, command="suggest")[1]


def test_suggest_numbers_rows_as_the_file_does(data, tmp_path):
    path = with_holes(tmp_path / "q.csv", 12, [0, 1, 5])
    out, said = predict(data, path, "--missing", "drop", "-n", "12", command="suggest")
    assert sorted(int(row[1]) for row in cells_of(out)[1]) == [i + 1 for i in range(12) if i not in (0, 1, 5)]
    assert "rows 1, 2 and 6" in said


# ---- Bounds -----------------------------------------------------------------------------------------------


def test_long_texts_go_through_in_short_blocks(data, tmp_path):
    """36 MB of text through 10 MB of memory, in the bits of the same queries without it."""
    x = make_rows(300, seed=8)[:, :2]
    path, plain = tmp_path / "q.csv.gz", write_csv(tmp_path / "p.csv", x, header="a,b")
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("a,b,t\n")
        for i, row in enumerate(x):
            file.write(f"{float(row[0])!r},{float(row[1])!r},{chr(97 + i % 26) * 120_000}\n")
    out, _ = predict(data, path, "--keep", "t", "--memory", "10M")
    rows = cells_of(out)[1]
    assert [len(row[0]) for row in rows] == [120_000] * 300
    assert [row[0][0] for row in rows] == [chr(97 + i % 26) for i in range(300)]
    assert [row[1:] for row in rows] == cells_of(predict(data, plain)[0])[1]
    said = predict(data, path, "--keep", "t", "--memory", "10M", code=1, command="sample")[1]
    assert "the columns that are kept take more than memory" in said
    if not SANITIZED:
        assert peak_of_predict(data, path, "--keep", "t") < peak_of_predict(data, plain) + 10


def peak_of_predict(data, path, *more):
    """Peak memory (MB) of a prediction within 10 MB."""
    script = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024); sys.exit(r.returncode)")
    done = subprocess.run([sys.executable, "-c", script, QUORUM, "predict", data / "model.npz", path, "--memory", "10M",
                           "--threads", "1", "-q", *more], capture_output=True, text=True, timeout=300, check=True)
    return int(done.stdout)


def test_many_columns(data, tmp_path):
    names = [f"c{i}" for i in range(20_000)]
    path = tmp_path / "q.csv"
    path.write_text("a,b," + ",".join(names) + "\n" + "".join(f"1,{i}," + ",".join(names) + "\n" for i in range(30)))
    header, rows = cells_of(predict(data, path, "--keep", "all", "--memory", "10M", "--mean-only")[0])
    assert header[2:-1] == names and all(row[2:-1] == names for row in rows) and len(rows) == 30
