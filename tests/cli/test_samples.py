"""quorum sample and quorum suggest: tables, flags, what is refused."""
import numpy as np
import pytest

from conftest import make_rows, run, write_csv


def test_sample_writes_a_column_per_draw(data, tmp_path):
    result = run("sample", data / "model.npz", data / "queries.csv", "-n", 3)
    header, table = result.table()
    assert header == "s1,s2,s3" and table.shape == (80, 3)
    assert "3 draws at 80 rows" in result.err
    out = tmp_path / "draws.csv"
    assert run("sample", data / "model.npz", data / "queries.csv", "-n", 3, "-o", out).out == ""
    assert out.read_text() == result.out
    one = run("sample", data / "model.npz", data / "queries.csv", "-q")
    assert one.err == "" and one.table()[0] == "s1"
    np.testing.assert_array_equal(one.table()[1], table[:, :1])


def test_sample_of_stdin_and_of_nothing(data):
    text = (data / "queries.csv").read_text()
    assert run("sample", data / "model.npz", "-", stdin=text).out == \
        run("sample", data / "model.npz", data / "queries.csv").out
    assert run("sample", data / "model.npz", "-", "-n", 2, stdin="a,b\n").out == "s1,s2\n"


@pytest.mark.parametrize("flags, sentence", [
    (["--count", "0"], "--count: '0' is not a whole number"),
    (["--count", "2.5"], "not a whole number"), (["--count", "many"], "not a whole number"),
    (["--seed", "-1"], "--seed"), (["--mean-only"], "mean-only")])
def test_sample_refuses(data, flags, sentence):
    result = run("sample", data / "model.npz", data / "queries.csv", *flags, code=2)
    assert sentence in result.err and result.out == ""


def test_sample_within_memory(data):
    rows = write_csv(data / "many.csv", make_rows(9000, seed=8)[:, :2], header="a,b")
    result = run("sample", data / "model.npz", rows, "--memory", "20M", code=1)
    assert "more than memory" in result.err


def test_suggest_writes_rank_row_inputs_and_reduction(data):
    result = run("suggest", data / "model.npz", data / "queries.csv", "-n", 5)
    header, table = result.table()
    assert header == "rank,row,a,b,reduction" and table.shape == (5, 5)
    _, given = (None, np.loadtxt(data / "queries.csv", delimiter=",", skiprows=1))
    np.testing.assert_array_equal(table[:, 2:4], given[table[:, 1].astype(int) - 1])
    assert "which take the mean variance from" in result.err
    few = write_csv(data / "few.csv", given[:3], header="a,b")
    assert len(run("suggest", data / "model.npz", few).table()[1]) == 3
    assert len(set(table[:, 1])) == 5


def test_suggest_passes_rows_on_as_they_stand(tmp_path):
    """Levels by name, dates as dates, and columns that are no inputs."""
    rows = [f"{'ab'[i % 2]},2024-01-{1 + i % 28:02d},{i % 7},{i}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["kind,day,x,y", *rows]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,1,1,0.1", "--kernel", "se", "-q")
    lines = ["7,a,2024-02-03,1.50", '"8,5",b,2024-03-04,2']
    (tmp_path / "q.csv").write_text("\n".join(["id,kind,day,x", *lines]) + "\n")
    header, *found = run("suggest", tmp_path / "m.npz", tmp_path / "q.csv").out.split("\n")[:3]
    assert header == "rank,row,id,kind,day,x,reduction"
    for line in found:
        rank, row, rest = line.split(",", 2)
        assert rest.rsplit(",", 1)[0] == lines[int(row) - 1]


def test_suggest_says_that_it_takes_a_sample(data):
    rows = write_csv(data / "lots.csv", make_rows(2500, seed=8)[:, :2], header="a,b")
    result = run("suggest", data / "model.npz", rows, "-n", 2, "--over", data / "queries.csv")
    assert "2000 of 2500 candidates are looked at" in result.err


def test_suggest_refuses(data):
    run("suggest", data / "model.npz", data / "queries.csv", "-n", 0, code=2)
    result = run("suggest", data / "model.npz", "-", stdin="a,b\n", code=1)
    assert "no rows" in result.err
