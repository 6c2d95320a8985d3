"""--missing impute: which cells are filled, which rows are left out, and what is said."""
import sqlite3

import numpy as np
import pytest

from conftest import run

FIT = ["--kernel", "se", "--experts", "1", "--max-evaluations", "4", "--calibrate", "false", "-q"]


def table(path, n=90, seed=1, holes=("a",), texts=("red", "green", "blue"), target=True):
    """A column of numbers, one of text and one more; cells of `holes` are missing in every fifth row."""
    rng = np.random.default_rng(seed)
    lines = ["a,colour,b" + ",y" * target]
    for i in range(n):
        cells = {"a": f"{rng.normal():.6f}", "colour": texts[rng.integers(len(texts))], "b": f"{rng.normal():.6f}"}
        y = float(cells["a"]) + (cells["colour"] == "red") + 0.1 * rng.normal()
        cells |= {name: "" for name in holes} if i % 5 == 0 else {}
        lines.append(",".join([*cells.values()] + [f"{y:.6f}"] * target))
    path.write_text("\n".join(lines) + "\n")
    return path


def numbers(text):
    return np.array([[float(c) for c in line.split(",")] for line in text.splitlines()[1:]])


@pytest.fixture(scope="module", name="model")
def fixture_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("holes")
    run("fit", table(folder / "t.csv", holes=("a", "colour")), "-o", folder / "m.npz", "--missing", "impute", *FIT)
    return folder / "m.npz"


def test_a_level_and_an_input(model):
    said = run("inspect", model).out
    assert "a (missing)" in said and "(missing)" in said


def test_every_query_has_its_row(model, tmp_path):
    queries = table(tmp_path / "q.csv", 20, 2, holes=("a", "colour", "b"), target=False)
    done = run("predict", model, queries, "--missing", "impute")
    assert numbers(done.out).shape == (20, 4)
    assert "4 rows with missing cells filled" in done.err
    assert "4 of them in a column that has all its cells in the training data" in done.err
    assert run("predict", model, queries, "--missing", "drop").out.count("\n") == 17
    assert "line 2, column 1 (\"a\"): cell is empty; fix it, fill it with --missing impute, or skip" in run("predict", model, queries, code=1).err


def test_scores_are_of_all_rows(model, tmp_path):
    rows = table(tmp_path / "t.csv", 40, 3, holes=("a",)).read_text().splitlines()
    rows[-1] = rows[-1].rsplit(",", 1)[0] + ","  # no target
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    done = run("evaluate", model, tmp_path / "t.csv", "--missing", "impute")
    assert "8 rows with missing cells filled" in done.err
    assert "1 row with missing cells left out" in done.err


def test_rows_without_target_are_left_out(tmp_path):
    rows = table(tmp_path / "t.csv").read_text().splitlines()
    rows[3] = rows[3].rsplit(",", 1)[0] + ",NA"
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    said = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--missing", "impute", *FIT[:-1]).err
    assert "1 row with missing cells left out" in said


def test_wrong_cells_stay_errors(model, tmp_path):
    rows = table(tmp_path / "q.csv", 20, 2, target=False).read_text().replace("\n", "\nlots,red,1\n", 1)
    (tmp_path / "q.csv").write_text(rows)
    assert "line 2" in run("predict", model, tmp_path / "q.csv", "--missing", "impute", code=1).err


def test_a_category_without_missing_cells_has_a_new_level(tmp_path):
    run("fit", table(tmp_path / "t.csv"), "-o", tmp_path / "m.npz", "--missing", "impute", *FIT)
    queries = table(tmp_path / "q.csv", 10, 2, holes=("colour",), target=False)
    done = run("predict", tmp_path / "m.npz", queries, "--missing", "impute")
    assert "2 rows with a level" in done.err
    whole = numbers(run("predict", tmp_path / "m.npz", table(tmp_path / "w.csv", 10, 2, holes=(), target=False)).out)
    assert np.all(numbers(done.out)[[0, 5], 1] > 1.5 * whole[[0, 5], 1])
    assert run("predict", tmp_path / "m.npz", queries, "--missing", "impute", "--unseen", "error", code=1).err


@pytest.mark.parametrize("whole, most", [(20, True), (29, True), (30, False), (59, False)])
def test_dropping_most_rows_says_what_keeps_them(tmp_path, whole, most):
    lines = table(tmp_path / "t.csv", 60, holes=()).read_text().splitlines()
    holes = [line if k < whole else "," + line.split(",", 1)[1] for k, line in enumerate(lines[1:])]
    (tmp_path / "t.csv").write_text("\n".join([lines[0], *holes]) + "\n")
    err = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--missing", "drop", *FIT[:-1]).err
    assert " with missing cells left out" in err and ("--missing impute" in err) == most


def test_refusals(tmp_path):
    train = table(tmp_path / "t.csv", holes=())
    run("fit", train, "-o", tmp_path / "m.npz", *FIT)
    queries = table(tmp_path / "q.csv", 10, target=False)
    assert "fitted with it" in run("predict", tmp_path / "m.npz", queries, "--missing", "impute", code=1).err
    few = table(tmp_path / "few.csv", 29)
    assert "29 rows are too few" in run("fit", few, "-o", tmp_path / "f.npz", "--missing", "impute", *FIT, code=1).err
    lines = train.read_text().splitlines()
    empty = tmp_path / "e.csv"
    empty.write_text("\n".join(["z," + lines[0], *("," + line for line in lines[1:])]) + "\n")
    said = run("fit", empty, "-o", tmp_path / "e.npz", "--missing", "impute", *FIT, code=1).err
    assert "column z has no number in any row" in said
    holes = table(tmp_path / "h.csv")
    run("fit", holes, "-o", tmp_path / "h.npz", "--missing", "impute", *FIT)
    for command in ("sample", "suggest"):
        said = run(command, tmp_path / "h.npz", queries, "--missing", "impute", code=1).err
        assert "a is missing" in said


def test_other_formats(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = X.sum(1) + 0.1 * rng.normal(size=80)
    X[::6, 0] = np.nan
    np.savez(tmp_path / "t.npz", X=X, y=y)
    with sqlite3.connect(tmp_path / "t.db") as base:
        base.execute("create table t (x1 real, x2 real, y real)")
        base.executemany("insert into t values (?, ?, ?)",
                         [(None if a != a else a, b, t) for a, b, t in np.column_stack([X, y]).tolist()])
    found = []
    for words in ([tmp_path / "t.npz"], [tmp_path / "t.db", "--query", "select * from t"]):
        run("fit", *words, "-o", tmp_path / "m.npz", "--missing", "impute", *FIT)
        found.append(run("predict", tmp_path / "m.npz", *words, "--missing", "impute", "-q").out)
    assert found[0] == found[1] and found[0].count("\n") == 81
