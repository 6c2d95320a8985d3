"""quorum compare: scores as evaluate has them, changes and their intervals as NumPy finds them."""
import csv
import io
import json

import numpy as np
import pytest

from conftest import make_rows, run, write_csv


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Directory with a good model, one that does not see input b, and a test file."""
    here = tmp_path_factory.mktemp("two")
    write_csv(here / "train.csv", make_rows(600, seed=1))
    write_csv(here / "test.csv", make_rows(300, seed=2))
    fit = ["--kernel", "se", "--calibrate=no"]
    run("fit", here / "train.csv", "-o", here / "good.npz", *fit)
    run("fit", here / "train.csv", "-o", here / "bad.npz", "--ignore", "b", *fit)
    return here


def compared(two, first="bad", second="good", *more):
    return json.loads(run("compare", two / f"{first}.npz", two / f"{second}.npz", two / "test.csv", "--json", *more).out)


def predicted(two, name):
    """Squared errors and minus log densities of the test rows, from the means and stds of predict."""
    rows = list(csv.DictReader(io.StringIO(run("predict", two / f"{name}.npz", two / "test.csv").out)))
    y = make_rows(300, seed=2)[:, -1]
    mean, std = (np.array([float(row[key]) for row in rows]) for key in ("mean", "std"))
    return (y - mean) ** 2, 0.5 * np.log(2 * np.pi * std ** 2) + 0.5 * ((y - mean) / std) ** 2


def drawn(statistic, *losses):
    """The central 95 % of a statistic of rows that are drawn again."""
    rng = np.random.default_rng(7)
    draws = [statistic(*(loss[rows] for loss in losses)) for rows in rng.integers(0, len(losses[0]), (4000, len(losses[0])))]
    return np.quantile(draws, [0.025, 0.975])


def test_means_changes_and_intervals(two):
    found = compared(two)
    (square_a, density_a), (square_b, density_b) = predicted(two, "bad"), predicted(two, "good")
    for key, a, b, change in [("squared_error", square_a, square_b, lambda a, b: b.mean() / a.mean() - 1),
                              ("nlpd", density_a, density_b, lambda a, b: b.mean() - a.mean())]:
        np.testing.assert_allclose([found[key]["a"], found[key]["b"]], [a.mean(), b.mean()], rtol=1e-10)
        told = found[key].get("relative_change", found[key].get("change"))
        np.testing.assert_allclose(told, change(a, b), rtol=1e-10)
        low, high = drawn(change, a, b)
        np.testing.assert_allclose([found[key]["low"], found[key]["high"]], [low, high], atol=0.1 * (high - low))
        assert found[key]["better"] == "B"
    assert found["rows"] == 300


def test_the_scores_are_those_of_evaluate(two):
    found = compared(two)
    for side, name in [("a", "bad"), ("b", "good")]:
        scores = json.loads(run("evaluate", two / f"{name}.npz", two / "test.csv", "--json").out)[0]
        np.testing.assert_allclose(found["squared_error"][side], scores["rmse"] ** 2, rtol=1e-10)
        np.testing.assert_allclose(found["nlpd"][side], scores["nlpd"], rtol=1e-10)
        np.testing.assert_allclose(found["crps"][side], scores["crps"], rtol=1e-10)


def test_the_other_way_round_and_the_same(two):
    assert {compared(two, "good", "bad")[key]["better"] for key in ("squared_error", "nlpd", "crps")} == {"A"}
    same = run("compare", two / "good.npz", two / "good.npz", two / "test.csv").out
    assert same.count("the same") == 3 and "better" not in same


def test_chance_is_called_chance(two):
    """Ten rows cannot tell two smooth kernels apart."""
    write_csv(two / "few.csv", make_rows(10, seed=5))
    run("fit", two / "train.csv", "-o", two / "other.npz", "--kernel", "matern52", "--calibrate=no")
    out = run("compare", two / "good.npz", two / "other.npz", two / "few.csv").out
    assert "may be chance" in out


def test_groups_by_a_column(two):
    found = compared(two, "bad", "good", "--by", "b")
    groups = found["groups"]
    assert found["by"] == "b" and len(groups) == 10 and sum(g["rows"] for g in groups) == 300
    total = sum(g["rows"] * g["squared_error"]["a"] for g in groups) / 300
    np.testing.assert_allclose(total, found["squared_error"]["a"], rtol=1e-10)
    table = run("compare", two / "bad.npz", two / "good.npz", two / "test.csv", "--by", "distance").out
    assert table.count("\n\n") == 2 and "distance" in table


def test_weights_count_as_rows(two):
    rows = make_rows(300, seed=2)
    weight = np.arange(300) % 3
    write_csv(two / "weighted.csv", np.column_stack([rows, weight]), header="a,b,y,w")
    write_csv(two / "repeated.csv", np.repeat(rows, weight, axis=0))
    first = json.loads(run("compare", two / "bad.npz", two / "good.npz", two / "weighted.csv", "--weights", "w", "--json").out)
    second = json.loads(run("compare", two / "bad.npz", two / "good.npz", two / "repeated.csv", "--json").out)
    for key in ("squared_error", "nlpd", "crps"):
        np.testing.assert_allclose([first[key]["a"], first[key]["b"]], [second[key]["a"], second[key]["b"]], rtol=1e-10)


def test_what_cannot_be_compared(two):
    rows = make_rows(600, seed=1)
    write_csv(two / "otherwise.csv", rows, header="a,b,z")
    run("fit", two / "otherwise.csv", "-o", two / "z.npz", "--kernel", "se", "--calibrate=no")
    error = run("compare", two / "good.npz", two / "z.npz", two / "test.csv", code=1).err
    assert "A predicts y and B predicts z" in error
    holes = (two / "test.csv").read_text().splitlines()
    cells = holes[3].split(",")
    holes[3] = ",".join([cells[0], "", *cells[2:]])  # b, which the bad model does not need
    (two / "holes.csv").write_text("\n".join(holes) + "\n")
    error = run("compare", two / "good.npz", two / "bad.npz", two / "holes.csv", "--missing", "drop", code=1).err
    assert "do not leave out the same rows: row 3 is predicted by B alone" in error
    assert "A leaves it out (line 4, column 2 (\"b\"): cell is empty; fix it): give a file without such rows" in error
    error = run("compare", two / "bad.npz", two / "good.npz", two / "holes.csv", "--missing", "drop", "--by", "b", code=1).err
    assert "row 3 is predicted by A alone; B leaves it out (line 4, column 2 (\"b\"): cell is empty; fix it)" in error
    assert "standard input can be read once" in run("compare", two / "good.npz", two / "bad.npz", "-", code=2).err


@pytest.fixture(scope="module")
def holed(tmp_path_factory):
    """Two models that fill what is missing, the second without input b; test files with holes in b, and in a column that is no input."""
    here, rows, rng = tmp_path_factory.mktemp("holed"), make_rows(200, seed=3), np.random.default_rng(6)
    hour = rng.integers(0, 4, 200)
    write_csv(here / "train.csv", rows)
    fit = ["--theta", "1,1,1,0.1", "--kernel", "se", "--calibrate=no", "--missing", "impute", "-q"]
    run("fit", here / "train.csv", "-o", here / "with.npz", *fit)
    run("fit", here / "train.csv", "-o", here / "without.npz", *fit, "--theta", "1,1,0.1", "--ignore", "b")
    for name, row, column in (("hour", 3, 3), ("b", 3, 1)):
        cells = [[f"{v:.17g}" for v in row] + [str(k)] for row, k in zip(rows, hour)]
        for i in (row, 10):
            cells[i][column] = "" if i == row else "NA"
        (here / f"{name}.csv").write_text("a,b,y,hour\n" + "".join(",".join(c) + "\n" for c in cells))
    numbers = np.column_stack([rows, hour])
    numbers[[3, 10], 3] = np.nan
    return here, numbers


@pytest.mark.parametrize("by", ["hour", "-1"])
@pytest.mark.parametrize("missing", ["error", "drop", "impute"])
def test_rows_without_a_key_are_a_group(holed, by, missing):
    """Whatever is done with missing cells: nothing is predicted by this column.  All scores are those without --by."""
    here, numbers = holed
    words = [here / "hour.csv", "--by", by, "--missing", missing, "--json", "-q"]
    for first, second in (("with", "without"), ("without", "with")):
        found = json.loads(run("compare", here / f"{first}.npz", here / f"{second}.npz", *words).out)
        plain = json.loads(run("compare", here / f"{first}.npz", here / f"{second}.npz", here / "hour.csv", "--json", "-q").out)
        assert [(g["name"], g["rows"]) for g in found["groups"]] == [
            *((str(k), (numbers[:, 3] == k).sum()) for k in range(4)), ("(no value)", 2)]
        assert found["rows"] == 200
        for side in "ab":
            np.testing.assert_allclose(found["squared_error"][side], plain["squared_error"][side], rtol=1e-12)
        last = found["groups"][-1]
        assert last["low"] is None and last["high"] is None
    [score] = json.loads(run("evaluate", here / "with.npz", *words).out)
    assert [(g["name"], g["rows"]) for g in score["groups"]] == [(g["name"], g["rows"]) for g in found["groups"]]
    mean = np.array([float(line.split(",")[0]) for line in run("predict", here / "with.npz", here / "hour.csv", "-q").out.splitlines()[1:]])
    error = (numbers[:, 2] - mean)[[3, 10]]
    np.testing.assert_allclose(score["groups"][-1]["rmse"], np.sqrt(np.mean(error ** 2)), rtol=1e-9)


def test_rows_whose_key_is_filled_are_a_group(holed):
    here, _ = holed
    for first, second in (("with", "without"), ("without", "with")):
        words = [here / f"{first}.npz", here / f"{second}.npz", here / "b.csv", "--by", "b", "--missing", "impute", "--json", "-q"]
        groups = json.loads(run("compare", *words).out)["groups"]
        assert [g["rows"] for g in groups[:10]] == [20, 20, 20, 20, 19, 20, 20, 20, 20, 19]
        assert (groups[10]["name"], groups[10]["rows"], len(groups)) == ("(no value)", 2, 11)


def test_a_picture_of_eleven_groups(holed, tmp_path):
    here, _ = holed
    done = run("evaluate", here / "with.npz", here / "b.csv", "--by", "b", "--missing", "impute", "--plot", tmp_path / "p.svg")
    assert "\n(no value) " in done.out and "11 is (no value)" in (tmp_path / "p.svg").read_text()


def test_a_column_without_any_key_is_one_group(holed, tmp_path):
    here, _ = holed
    lines = (here / "hour.csv").read_text().splitlines()
    (tmp_path / "t.csv").write_text("\n".join([lines[0], *(line.rpartition(",")[0] + "," for line in lines[1:])]) + "\n")
    groups = json.loads(run("evaluate", here / "with.npz", tmp_path / "t.csv", "--by", "hour", "--json", "-q").out)[0]["groups"]
    assert [(g["name"], g["rows"]) for g in groups] == [("(no value)", 200)]


def test_holes_elsewhere_are_faults_still(holed):
    here, _ = holed
    error = run("evaluate", here / "with.npz", here / "b.csv", "--by", "b", code=1).err
    assert "line 5, column 2 (\"b\")" in error
    words = ["evaluate", here / "without.npz", here / "hour.csv", "--by", "hour", "--weights", "hour"]
    assert "line 5, column 4 (\"hour\")" in run(*words, code=1).err


def test_rows_that_are_left_out(two, tmp_path):
    """What both leave out is said; of more rows than are listed the reason is not known."""
    lines = (two / "test.csv").read_text().splitlines()

    def write(count, column):
        """Cells of the first rows are empty, of the column, but of row 40 input b alone."""
        cells = [line.split(",") for line in lines]
        for row in [*range(1, count + 1)]:
            cells[row][column] = ""
        cells[40][1] = ""
        (tmp_path / "t.csv").write_text("\n".join(",".join(c) for c in cells) + "\n")

    words = ["compare", two / "good.npz", two / "bad.npz", tmp_path / "t.csv", "--missing", "drop"]
    write(9, 0)
    error = run(*words, code=1).err
    assert "row 40 is predicted by B alone; A leaves it out (line 41, column 2 (\"b\"): cell is empty; fix it)" in error
    write(10, 0)
    error = run(*words, code=1).err
    assert "row 40 is predicted by B alone; give a file without missing cells" in error
    (tmp_path / "t.csv").write_text("\n".join([*lines[:3], ",1,1", *lines[4:]]) + "\n")
    assert "note: 1 row with missing cells left out: row 3\n" in run(*words).err
