"""Files as found in the wild: every one is read right or refused with a sentence."""
import gzip
import io
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from conftest import QUORUM, SANITIZED, make_rows, run, write_csv

ROWS = make_rows(120, seed=3)


def fit(path, *args, code=0, out=None):
    """Fits quickly: three experts and fixed hyperparameters."""
    out = out or path.parent / "model.npz"
    return run("fit", path, "-o", out, "--experts", 3, "--theta", "1,1,0.1", *args, code=code)


def predictions(path, *args):
    """Means of a model of this file at three fixed queries without names."""
    fit(path, *args)
    queries = "0.5,0.5\n-1,0.25\n1.5,-1.75\n"
    return run("predict", path.parent / "model.npz", "-", stdin=queries).out


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    path = write_csv(tmp_path_factory.mktemp("plain") / "train.csv", ROWS)
    return predictions(path)


# ---- Formats: the same numbers give the same model, bit for bit --------------------------------------


@pytest.mark.parametrize("header", ["a,b,y", ""])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_csv_dialects(tmp_path, expected, header, delimiter, newline):
    path = write_csv(tmp_path / "train.csv", ROWS, header, delimiter, newline)
    assert predictions(path) == expected


def test_byte_order_mark(tmp_path, expected):
    path = write_csv(tmp_path / "train.csv", ROWS)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert predictions(path, "--target", "y", "--ignore", "") == expected
    assert run("inspect", tmp_path / "model.npz", "--json").json()["names"] == ["a", "b"]


def test_quotes(tmp_path, expected):
    path = tmp_path / "train.csv"
    lines = ['"a, first","b ""2""","y"'] + [",".join(f'"{float(v)!r}"' for v in r) for r in ROWS]
    path.write_text("\n".join(lines) + "\n")
    assert predictions(path) == expected
    assert run("inspect", tmp_path / "model.npz", "--json").json()["names"] == ["a, first", 'b "2"']


def test_no_newline_at_the_end_and_blank_lines(tmp_path, expected):
    path = write_csv(tmp_path / "train.csv", ROWS)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert predictions(path) == expected
    path.write_bytes(path.read_bytes() + b"\n\n  \n")
    assert predictions(path) == expected


def test_trailing_blanks_and_scientific_notation(tmp_path, expected):
    path = tmp_path / "train.csv"
    lines = [" , ".join(f"{v:.17e}" for v in r) + "  " for r in ROWS]
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n")
    assert predictions(path) == expected


def test_gzip_by_content_not_by_name(tmp_path, expected):
    plain = write_csv(tmp_path / "plain.csv", ROWS).read_bytes()
    for name in ["train.csv.gz", "train.csv"]:
        path = tmp_path / name
        path.write_bytes(gzip.compress(plain))
        assert predictions(path) == expected


def test_truncated_gzip(tmp_path):
    path = tmp_path / "train.csv.gz"
    whole = gzip.compress(write_csv(tmp_path / "plain.csv", ROWS).read_bytes())
    path.write_bytes(whole[: len(whole) // 2])
    result = fit(path, code=1)
    assert str(path) in result.err and "truncated" in result.err


def test_what_follows_gzip_data(tmp_path, expected):
    """Members are joined and zeros passed over, as gzip does; anything else is an error."""
    plain = write_csv(tmp_path / "plain.csv", ROWS).read_bytes()
    half = plain.index(b"\n", len(plain) // 2) + 1
    members = gzip.compress(plain[:half]) + gzip.compress(plain[half:])
    path = tmp_path / "train.csv.gz"
    for tail in [b"", bytes(512)]:
        path.write_bytes(members + tail)
        assert predictions(path) == expected
    path.write_bytes(members + b"garbage")
    assert f"{path}: something follows the end of the gzip data" in fit(path, code=1).err


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_a_silent_pipe_can_be_interrupted(tmp_path, data, command):
    """Nothing comes, and nothing ends: the first signal is enough, within a second."""
    words = {"fit": ["fit", "-", "-o", tmp_path / "m.npz"],
             "predict": ["predict", data / "model.npz", "-"]}[command]
    child = subprocess.Popen([QUORUM, *map(str, words)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child.stdin.write("a,b,y\n1,2,3\n")
    child.stdin.flush()
    time.sleep(0.5)
    assert child.poll() is None
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    child.wait(10)
    assert time.monotonic() - start < 1
    assert child.returncode == 130 and "cancelled during read" in child.stderr.read()
    child.stdin.close()


def test_standard_input(tmp_path, expected):
    text = write_csv(tmp_path / "train.csv", ROWS).read_text()
    run("fit", "-", "-o", tmp_path / "model.npz", "--experts", 3, "--theta", "1,1,0.1", stdin=text)
    queries = "0.5,0.5\n-1,0.25\n1.5,-1.75\n"
    assert run("predict", tmp_path / "model.npz", "-", stdin=queries).out == expected


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, expected, order):
    np.save(tmp_path / "train.npy", np.array(ROWS, order=order))
    assert predictions(tmp_path / "train.npy") == expected


def test_npz(tmp_path, expected):
    np.savez(tmp_path / "train.npz", X=ROWS[:, :2], y=ROWS[:, 2])
    assert predictions(tmp_path / "train.npz") == expected
    np.savez_compressed(tmp_path / "train.npz", X=ROWS[:, :2], y=ROWS[:, 2])
    assert predictions(tmp_path / "train.npz") == expected
    np.savez(tmp_path / "train.npz", table=ROWS)
    assert predictions(tmp_path / "train.npz") == expected


def test_truncated_npy(tmp_path):
    path = tmp_path / "train.npy"
    np.save(path, ROWS)
    path.write_bytes(path.read_bytes()[:-100])
    result = fit(path, code=1)
    assert str(path) in result.err
    assert not (tmp_path / "model.npz").exists()


# ---- Columns ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["y", "1", "-3"])
def test_target_by_name_and_number(tmp_path, expected, target):
    path = write_csv(tmp_path / "train.csv", ROWS[:, [2, 0, 1]], header="y,a,b")
    assert predictions(path, "--target", target) == expected


def test_ignored_columns_need_not_be_numbers(tmp_path, expected):
    path = tmp_path / "train.csv"
    lines = ["id,a,b,note,y"]
    lines += [f"r{i},{float(r[0])!r},{float(r[1])!r},text,{float(r[2])!r}" for i, r in enumerate(ROWS)]
    path.write_text("\n".join(lines) + "\n")
    assert predictions(path, "--ignore", "id,note") == expected
    assert predictions(path, "--ignore", "1,4") == expected


def test_header_option(tmp_path):
    rows = [[1.0, 2.0, 3.0]] + [list(r) for r in ROWS]
    path = write_csv(tmp_path / "train.csv", rows, header="")
    assert fit(path, "--json").json()["rows"] == 121
    assert fit(path, "--json", "--header", "yes").json()["rows"] == 120
    path = write_csv(tmp_path / "named.csv", ROWS)
    assert "named.csv" in fit(path, "--header", "no", code=1).err


@pytest.mark.parametrize("flag", ["--target", "--ignore"])
def test_unknown_column_lists_the_columns(tmp_path, flag):
    path = write_csv(tmp_path / "train.csv", ROWS)
    result = fit(path, flag, "price", code=1)
    for part in ["train.csv", '"price"', '"a"', '"b"', '"y"']:
        assert part in result.err


LATIN = b"Gr\xf6\xdfe,b,y\n"


def test_latin_1_header(tmp_path, expected):
    """Converted, said, and the same names as in UTF-8: in the model, and in queries of either kind."""
    path = write_csv(tmp_path / "train.csv", ROWS, header="")
    path.write_bytes(LATIN + path.read_bytes())
    result = fit(path)
    assert f'note: {path}: the column names are not UTF-8 and were read as Windows-1252: "Größe"' in result.err
    assert run("inspect", tmp_path / "model.npz", "--json").json()["names"] == ["Größe", "b"]
    assert predictions(path, "--target", "y", "--ignore", "") == expected
    queries = tmp_path / "q.csv"
    answers = []
    for coding in ["utf-8", "utf-8-sig", "latin-1"]:
        queries.write_bytes("b,Größe\n0.5,0.25\n".encode(coding))
        result = run("predict", tmp_path / "model.npz", queries)
        answers.append(result.out)
        assert ("read as Windows-1252" in result.err) == (coding == "latin-1")
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("name, sentence", [
    (b"a\x81", "the column name has the byte 0x81, which is neither UTF-8 nor Windows-1252"),
    (b"a\x1b[31m", "the column name has the byte 0x1B, a control character"),
    (b"a\x00", "zero byte"),
    ("\ufeffa".encode("utf-16-le"), "is UTF-16 text"),
    (b"\xef\xbb\xbf\xf6", "which is not UTF-8, though the file begins with UTF-8's mark")])
def test_headers_that_are_refused(tmp_path, name, sentence):
    path = write_csv(tmp_path / "train.csv", ROWS, header="")
    path.write_bytes(name + b",b,y\n" + path.read_bytes())
    assert sentence in fit(path, code=1).err
    assert not (tmp_path / "model.npz").exists()


def test_two_columns_of_one_name(tmp_path):
    """Which is meant?  A copy of the target among the inputs would explain everything."""
    rows = ROWS[:, [0, 2, 1, 2]]
    path = write_csv(tmp_path / "train.csv", rows, header="a,price,b,price")
    assert (f'{path}: columns 2 and 4 are both named "price", one of them the target: rename one, or '
            "leave one out with --ignore 2") in fit(path, code=1).err
    assert not (tmp_path / "model.npz").exists()
    assert 'columns 2 and 4 are both named "price"' in fit(path, "--target", "price", code=1).err
    assert fit(path, "--ignore", 2, "--json").json()["inputs"] == 2
    path = write_csv(tmp_path / "train.csv", rows, header="a,b,a,y")
    assert 'columns 1 and 3 are both named "a": rename one' in fit(path, code=1).err
    path = write_csv(tmp_path / "train.csv", rows, header=",x1,b,y")
    assert 'column 1 has no name, and "x1", which it would get, is the name of column 2' in fit(path, code=1).err


def test_two_queries_columns_of_one_name(tmp_path, data):
    path = write_csv(tmp_path / "q.csv", ROWS, header="a,b,a")
    result = run("predict", data / "model.npz", path, code=1)
    assert f'{path}: columns 1 and 3 are both named "a", which the model needs as an input' in result.err
    path = write_csv(tmp_path / "q.csv", ROWS[:, [0, 1, 0, 0]], header="a,b,c,c")
    plain = write_csv(tmp_path / "p.csv", ROWS[:, :2], header="a,b")
    assert run("predict", data / "model.npz", path).out == run("predict", data / "model.npz", plain).out


# ---- Cells that cannot be used -------------------------------------------------------------------------


def with_cell(tmp_path, cell, row=6, column=1):
    """train.csv in which one cell is replaced; its line is row + 2 (header, counted from 1)."""
    lines = write_csv(tmp_path / "train.csv", ROWS).read_text().splitlines()
    cells = lines[row + 1].split(",")
    cells[column] = cell
    lines[row + 1] = ",".join(cells)
    path = tmp_path / "train.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("cell", ["", "NA", "nan", "inf", "-Infinity", "?", "hello", "1,5x", "0x10"])
def test_bad_cell_is_an_error_that_says_where(tmp_path, cell):
    path = with_cell(tmp_path, f'"{cell}"' if "," in cell else cell)
    result = fit(path, code=1)
    assert result.out == ""
    for part in [str(path), "line 8", '"b"', "--missing drop"]:
        assert part in result.err
    assert not (tmp_path / "model.npz").exists()


@pytest.mark.parametrize("cell", ["", "NA", "nan", "inf", "hello"])
def test_missing_drop_skips_and_counts(tmp_path, cell):
    path = with_cell(tmp_path, cell)
    result = fit(path, "--missing", "drop", "--json")
    assert result.json()["rows"] == 119
    assert result.json()["dropped"] == 1
    assert "note: 1 row with missing cells left out" in result.err


def test_a_spreadsheet_of_a_country_with_decimal_commas(tmp_path, expected):
    path = tmp_path / "train.csv"
    lines = ["a;b;y"] + [";".join(repr(float(v)).replace(".", ",") for v in row) for row in ROWS]
    path.write_text("\n".join(lines) + "\n")
    result = fit(path)
    assert "note: numbers are read with decimal commas; --decimal says which mark is meant" in result.err
    assert predictions(path) == expected
    for comma, point in (("comma", "point"), (",", ".")):  # by name or itself
        assert "decimal commas" not in fit(path, "--decimal", comma).err
        assert "1 with --decimal" not in fit(path, "--decimal", point, code=1).err
        assert "with --decimal comma" in fit(path, "--decimal", point, code=1).err


def test_queries_with_decimal_commas(tmp_path, data):
    path = tmp_path / "q.csv"
    path.write_text("a;b\n0,5;1\n-0,25;2\n")
    plain = tmp_path / "plain.csv"
    plain.write_text("a,b\n0.5,1\n-0.25,2\n")
    wanted = run("predict", data / "model.npz", plain).out
    result = run("predict", data / "model.npz", path)
    assert result.out == wanted
    assert result.err.count("numbers are read with decimal commas") == 1
    path.write_text("# places\na;b\n0,500;1\n# half\n-0,25;2\n")
    message = run("predict", data / "model.npz", path, code=1).err
    assert "Line 1 begins with #: if that is a comment, give --comment '#'" in message
    assert run("predict", data / "model.npz", path, "--comment", "#", "--decimal", "comma").out == wanted


def test_thousands_are_asked_for(tmp_path, expected):
    path = tmp_path / "train.csv"
    lines = ["a;b;y"] + [";".join(f"{v:.17g}" for v in row) for row in ROWS] + ["236,300;0;0"]
    path.write_text("\n".join(lines) + "\n")
    message = fit(path, code=1).err
    assert 'cell is "236,300" after numbers with decimal points: 236.3 with --decimal comma and ' in message
    assert "236300 with --thousands comma" in message
    assert fit(path, "--thousands", ",", "--json").json()["rows"] == len(ROWS) + 1


def with_text(tmp_path):
    """Columns city, a, day, b, y, of which the first and the third are text."""
    path = tmp_path / "train.csv"
    lines = [f"Graz,{a},2020-01-{i % 28 + 1:02},{b},{y}" for i, (a, b, y) in enumerate(ROWS)]
    path.write_text("\n".join(["city,a,day,b,y", *lines]) + "\n")
    return path


def test_all_columns_of_text_are_named_with_what_helps(tmp_path):
    path = with_text(tmp_path)
    message = fit(path, "--categorical", "none", "--dates", "none", code=1).err
    assert 'columns 1 ("city"), 3 ("day") are text: leave them out with --ignore city,day, or' in message
    assert "--missing" not in message
    assert fit(path, "--ignore", "city,day", "--json").json()["inputs"] == 2


def test_dropping_all_rows_says_why(tmp_path):
    message = fit(with_text(tmp_path), "--missing", "drop", "--categorical", "none", "--dates", "none", code=1).err
    assert f"has no usable rows: all {len(ROWS)} were dropped.  The first: line 2: cell is" in message
    assert "--ignore city,day" in message and "--missing" not in message


def test_queries_are_not_advised_to_ignore(tmp_path, data):
    path = tmp_path / "q.csv"
    path.write_text("a,b,y\nred,2,1\nblue,1,2\n")
    for command in ["predict", "evaluate"]:
        message = run(command, data / "model.npz", path, code=1).err
        assert 'column 1 ("a") is text: the model needs numbers there' in message
        assert "--ignore" not in message and "--missing" not in message


def test_wrong_number_of_columns(tmp_path):
    path = write_csv(tmp_path / "train.csv", ROWS)
    lines = path.read_text().splitlines()
    lines[9] += ",7"
    path.write_text("\n".join(lines) + "\n")
    result = fit(path, code=1)
    for part in [str(path), "line 10", "4 columns", "3"]:
        assert part in result.err


@pytest.mark.parametrize("text", ["", "\n", "a,b,y\n"])
def test_empty_files(tmp_path, text):
    path = tmp_path / "train.csv"
    path.write_text(text)
    assert str(path) in fit(path, code=1).err


def test_one_column_is_not_enough(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("y\n" + "1\n2\n3\n" * 10)
    assert str(path) in fit(path, code=1).err


def test_binary_file(tmp_path):
    path = tmp_path / "train.csv"
    path.write_bytes(bytes(range(256)) * 10)
    assert str(path) in fit(path, code=1).err


def test_no_such_file(tmp_path):
    path = tmp_path / "none.csv"
    result = fit(path, code=1)
    assert result.err == f"quorum fit: {path}: cannot be opened: No such file or directory\n"


def test_directory_instead_of_file(tmp_path):
    assert "is a directory" in run("fit", tmp_path, "-o", tmp_path / "m.npz", code=1).err


# ---- Data that are odd but readable -----------------------------------------------------------------------


def test_constant_target(tmp_path):
    rows = ROWS.copy()
    rows[:, 2] = 5.0
    result = run("fit", write_csv(tmp_path / "t.csv", rows), "-o", tmp_path / "m.npz", code=1)
    assert "the target is constant (5, 120 rows)" in result.err
    assert not (tmp_path / "m.npz").exists()


def test_constant_column_and_duplicate_rows(tmp_path):
    rows = np.insert(ROWS, 1, 4.0, axis=1)
    rows = np.vstack([rows, rows[:20]])
    path = write_csv(tmp_path / "t.csv", rows, header="a,c,b,y")
    run("fit", path, "-o", tmp_path / "m.npz", "--experts", 3)
    queries = write_csv(tmp_path / "q.csv", rows[:, :3], header="a,c,b")
    header, values = run("predict", tmp_path / "m.npz", queries).table()
    assert np.isfinite(values).all()
    assert np.mean((values[:, 0] - rows[:, 3]) ** 2) < 0.05


def test_constant_column_is_left_out_and_said(tmp_path):
    """All is as it is without the column, also where queries have another value of it."""
    rows = np.insert(ROWS, 1, 7.0, axis=1)
    fit = run("fit", write_csv(tmp_path / "t.csv", rows, header="a,c,b,y"), "-o", tmp_path / "m.npz", "--json")
    assert "note: constant in the training data, and so without effect on predictions: c\n" in fit.err
    assert fit.json()["constant"] == ["c"] and fit.json()["lengthscale"][1] is None
    run("fit", write_csv(tmp_path / "t2.csv", ROWS), "-o", tmp_path / "m2.npz")
    inputs = run("inspect", tmp_path / "m.npz", "--json").json()["hyperparameters"]
    assert [i["constant"] for i in inputs] == [False, True, False]
    assert inputs[1]["inverse_lengthscale_share"] == 0 and inputs[1]["mean"] == 7
    assert any(line.split()[0] == "c" and "constant: no effect" in line
               for line in run("inspect", tmp_path / "m.npz").out.splitlines() if line)
    without = run("predict", tmp_path / "m2.npz", write_csv(tmp_path / "q2.csv", ROWS[:9, :2], header="a,b"))
    as_trained = None
    for value, said in ((7.0, False), (8.0, True)):
        q = write_csv(tmp_path / "q.csv", np.insert(ROWS[:9, :2], 1, value, axis=1), header="a,c,b")
        result = run("predict", tmp_path / "m.npz", q)
        as_trained = as_trained or result.out
        assert result.out == as_trained
        np.testing.assert_allclose(result.table()[1], without.table()[1], rtol=1e-6)
        assert ("note: 9 rows with another value of a constant input (c)" in result.err) == said
    rows[:, 1] = 8.0
    result = run("evaluate", tmp_path / "m.npz", write_csv(tmp_path / "e.csv", rows, header="a,c,b,y"), "--json")
    assert result.err.count("another value of a constant input (c)") == 1
    assert result.json()[0]["off_constants"] == len(rows)


def test_more_inputs_than_rows(tmp_path):
    """Thousands of inputs end, in seconds, and it is said that so few rows cannot tell them apart."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((60, 3001))
    rows[:, -1] = rows[:, 0] + 0.1 * rows[:, -1]
    np.save(tmp_path / "t.npy", rows)
    result = run("fit", tmp_path / "t.npy", "-o", tmp_path / "m.npz")
    assert "note: 3000 inputs are more than the 60 rows can tell apart: fit fewer" in result.err
    assert "100 %" not in result.said


def test_no_input_varies(tmp_path):
    rows = ROWS.copy()
    rows[:, :2] = 3.0
    result = run("fit", write_csv(tmp_path / "t.csv", rows), "-o", tmp_path / "m.npz", code=1)
    assert "no input varies (a is 3 in all 120 rows): there is nothing to learn the target from" in result.err


def test_fewer_rows_than_experts(tmp_path):
    path = write_csv(tmp_path / "t.csv", ROWS[:5])
    result = run("fit", path, "-o", tmp_path / "m.npz", "--experts", 20, code=1)
    assert "20" in result.err and "5" in result.err and "expert" in result.err


def test_few_rows_by_default(tmp_path):
    path = write_csv(tmp_path / "t.csv", ROWS[:12])
    assert run("fit", path, "-o", tmp_path / "m.npz", "--json").json()["experts"] == 1


# ---- Queries ---------------------------------------------------------------------------------------------


def test_queries_are_matched_by_name(tmp_path, data):
    rows = make_rows(30, seed=5)
    plain = write_csv(tmp_path / "plain.csv", rows[:, :2], header="a,b")
    mixed = write_csv(tmp_path / "mixed.csv", rows[:, [2, 1, 0]], header="y,b,a")
    expected = run("predict", data / "model.npz", plain).out
    assert run("predict", data / "model.npz", mixed).out == expected


def test_queries_without_names_go_by_position(tmp_path, data):
    rows = make_rows(30, seed=5)
    plain = write_csv(tmp_path / "plain.csv", rows[:, :2], header="a,b")
    expected = run("predict", data / "model.npz", plain).out
    np.save(tmp_path / "q.npy", rows[:, :2])
    np.savez(tmp_path / "q.npz", X=rows[:, :2])
    for name in ["q.npy", "q.npz"]:
        assert run("predict", data / "model.npz", tmp_path / name).out == expected
    bare = write_csv(tmp_path / "bare.csv", rows[:, :2], header="")
    assert run("predict", data / "model.npz", bare).out == expected


def test_queries_with_other_columns(tmp_path, data):
    queries = write_csv(tmp_path / "q.csv", make_rows(5)[:, :2], header="a,c")
    result = run("predict", data / "model.npz", queries, code=1)
    assert result.out == ""
    assert str(queries) in result.err and '"b"' in result.err and "capitals" not in result.err
    result = run("predict", data / "model.npz", write_csv(queries, make_rows(5)[:, :2], header="a,B"), code=1)
    assert result.err.rstrip().endswith('; column 2 is called "B": capitals count, rename it')


def test_queries_with_too_few_columns(tmp_path, data):
    queries = write_csv(tmp_path / "q.csv", make_rows(5)[:, :1], header="")
    result = run("predict", data / "model.npz", queries, code=1)
    assert str(queries) in result.err and "1 column" in result.err and "2" in result.err


def test_test_data_without_target(tmp_path, data):
    result = run("evaluate", data / "model.npz", data / "queries.csv", code=1)
    assert "queries.csv" in result.err and '"y"' in result.err


def test_queries_with_missing_cells(tmp_path, data):
    path = tmp_path / "q.csv"
    path.write_text("a,b\n1,2\n,1\n0,0\n")
    result = run("predict", data / "model.npz", path, code=1)
    for part in [str(path), "line 3", '"a"', "--missing drop"]:
        assert part in result.err
    result = run("predict", data / "model.npz", path, "--missing", "drop")
    assert len(result.out.splitlines()) == 3
    assert "1 row with missing cells left out" in result.err


# ---- Memory -----------------------------------------------------------------------------------------------

def peak_of_fit(path, tmp_path, *more, code=1):
    """Standard error and peak memory (MB) of a fit."""
    script = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:]); "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024); sys.exit(r.returncode)")
    done = subprocess.run([sys.executable, "-c", script, QUORUM, "fit", str(path), "-o", str(tmp_path / "m.npz"), "-q",
                           *map(str, more)], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr
    return done.stderr, int(done.stdout)


def tables_of_a_million_cells(tmp_path, scale=3):
    """What reads as 24 MB, in every format; csv does not say how many rows it has."""
    rows = np.random.default_rng(0).integers(0, 9, (100_000 * scale, 10)).astype(float)
    text = "\n".join(",".join(str(int(v)) for v in row) for row in rows) + "\n"
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    np.save(tmp_path / "t.npy", rows.astype("i1"))
    np.savez_compressed(tmp_path / "t.npz", X=rows[:, :-1].astype("i1"), y=rows[:, -1])
    return ["t.csv", "t.csv.gz", "t.npy", "t.npz"]


@pytest.mark.skipif(SANITIZED, reason="the address sanitizer keeps what was freed")
def test_a_table_larger_than_memory_is_refused_while_it_is_read(tmp_path):
    small = tmp_path / "small.csv"
    small.write_text("1,2,3\n4,5\n")
    base = peak_of_fit(small, tmp_path)[1]
    for name in tables_of_a_million_cells(tmp_path):
        message, peak = peak_of_fit(tmp_path / name, tmp_path, "--memory", "16M")
        assert name in message and "--memory" in message and "memory" in message and "16 MB" in message
        assert peak < base + 18, name


def test_a_table_that_memory_has_room_for_is_read_within_it(tmp_path):
    rows = make_rows(30_000)
    path = write_csv(tmp_path / "t.csv", rows)
    result = run("fit", path, "-o", tmp_path / "m.npz", "--memory", "10M", "--theta", "1,1,0.1", "--graph", "none",
                 "--expert-size", 100, "--threads", 1, "--json")
    assert result.json()["rows"] == 30_000


def compressed(path, pieces):
    with gzip.open(path, "wb", compresslevel=1) as file:
        for piece in pieces:
            file.write(piece)


@pytest.mark.parametrize("piece, says", [
    (b"1" * 1_000_000, "longer than"),                # a line of one cell
    (b"1," * 500_000, "longer than"),                 # a line of many cells
    (b'"\n1' * 250_000, "longer than"),              # an open quote
    (b"1,2,3\n" * 150_000, "more than memory"),      # rows
], ids=["cell", "line", "quote", "rows"])
def test_a_small_file_that_unpacks_to_much(tmp_path, piece, says):
    path = tmp_path / "t.csv.gz"
    first = b'"a,b\n' if piece[:1] == b'"' else b""
    body = [first] + [piece.replace(b'"', b"x")] * 200
    compressed(path, body)
    assert path.stat().st_size < 3_000_000
    message, peak = peak_of_fit(path, tmp_path, "--memory", "20M")
    assert says in message
    assert peak < 100


def test_queries_that_are_needed_at_once(tmp_path, data):
    path = tmp_path / "q.csv"
    path.write_text("a,b\n" + "1,2\n" * 400_000)
    result = run("predict", data / "model.npz", path, "--method", "npae*", "--graph-on", "test", "--memory", "10M",
                 code=1)
    assert "at once take more than memory, which is 10 MB" in result.err


# ---- Model files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["predict", "evaluate", "inspect", "graph"])
def test_not_a_model(tmp_path, data, command):
    words = {"predict": [data / "queries.csv"], "evaluate": [data / "test.csv"], "inspect": [],
             "graph": ["-o", tmp_path / "g.dot"]}[command]
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    for path in [data / "train.csv", tmp_path / "other.npz", tmp_path / "none.npz"]:
        result = run(command, path, *words, code=1)
        assert result.out == ""
        assert result.err.startswith(f"quorum {command}: {path}: ")


def test_truncated_model(tmp_path, data):
    whole = (data / "model.npz").read_bytes()
    for share in [0.1, 0.5, 0.99]:
        (tmp_path / "m.npz").write_bytes(whole[: int(share * len(whole))])
        assert str(tmp_path / "m.npz") in run("inspect", tmp_path / "m.npz", code=1).err


def test_altered_model(tmp_path, data):
    """A changed byte in any member is found by its CRC."""
    whole = bytearray((data / "model.npz").read_bytes())
    with zipfile.ZipFile(data / "model.npz") as file:
        # the first and the last byte of each: a header of 30 bytes and two texts comes before
        ends = [(m.header_offset + 30 + int.from_bytes(whole[m.header_offset + 26:][:2], "little") +
                 int.from_bytes(whole[m.header_offset + 28:][:2], "little"), m.compress_size)
                for m in file.infolist()]
    for place in [start for start, _ in ends] + [start + size - 1 for start, size in ends]:
        altered = whole.copy()
        altered[place] ^= 0x40
        (tmp_path / "m.npz").write_bytes(altered)
        assert str(tmp_path / "m.npz") in run("inspect", tmp_path / "m.npz", code=1).err


def test_model_opens_in_numpy(data):
    with np.load(data / "model.npz") as model:
        assert model["X"].shape == (300, 2)
        assert model["offset"].shape == (5,)
        assert sorted(model["row"]) == list(range(300))
        assert model["precision"].shape == (4, 4)


def test_all_columns_with_faults_are_named_at_once(tmp_path):
    path = tmp_path / "t.csv"
    rows = [[i, i * 7 % 5, i * i % 11, f"2020-01-{1 + i % 28:02}", i % 3] for i in range(150)]
    rows[3][1] = ""
    rows[9][1] = "NA"
    rows[120][0] = "inf"
    rows[130][3] = "soon"
    rows[7][4] = ""
    path.write_text("a,b,c,day,y\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    err = fit(path, code=1).err
    assert 'line 5, column 2 ("b"): cell is empty' in err
    for said in ('1 ("a"): 1 wrong one, from line 122', '2 ("b"): 2 missing cells, from line 5', '4 ("day"): 1 wrong one, from line 132',
                 '5 ("y"): 1 missing cell, from line 9', "--ignore 1,2,4;", "Skip the rows with --missing drop, fill missing inputs with --missing impute, or leave"):
        assert said in err, err
    assert '("c")' not in err
    only = fit(path, "--ignore", "a,day", "--target", "c", code=1).err
    assert "All columns" in only and '5 ("y")' in only
    assert "All columns" not in fit(path, "--ignore", "a,day,y", "--target", "c", code=1).err  # one alone
    fit(path, "--missing", "drop")
    np.save(tmp_path / "t.npy", np.array([[np.nan, 1, 2], [3, np.inf, 4], [5, 6, 7.0]]))
    err = run("fit", tmp_path / "t.npy", "-o", tmp_path / "m.npz", code=1).err
    assert '1 ("x1"): 1 missing cell, from row 1; 2 ("x2"): 1 wrong one, from row 2' in err
