"""--memory is each rank's budget: what one rank has no room for, several have."""
import re

import numpy as np
import pytest
from conftest import PLAIN, arrays, make_rows, serial, team, write_csv

FIT = ["--experts", "4", "--partition", "kdtree", "--train", "parts", "--kernel", "se",
       "--max-evaluations", "5", "--graph", "none", "-q"]


def test_training_that_one_rank_refuses(tmp_path):
    """Four experts trained at a time need four workspaces, on four ranks one each."""
    train = write_csv(tmp_path / "train.csv", make_rows(2000, 4), "a,b,c,y")
    out = tmp_path / "model.npz"
    words = ["fit", train, "-o", out, *FIT, "--threads", "4"]
    for refused in [serial(*words, "--memory", "12M", code=1),
                    team(1, *words, "--memory", "12M", code=1)]:
        assert "more than memory" in refused.err
    team(4, *words, "--memory", "12M")
    many = arrays(out)
    serial(*words)
    assert many == arrays(out)


def peak_memory(result):
    """Of each rank, in MB."""
    return [float(text) for text in re.findall(r"peak memory (\d+) MB", result.err)]


def rows_held(result):
    """Of each rank: the most training rows that it held at a time."""
    return [int(text) for text in re.findall(r"(\d+) rows at most", result.err)]


# Cells, which the default may be, are made of all rows at every rank.
SCATTERED = ["--kernel", "se", "--train-rows", "300", "--max-evaluations", "3", "--graph", "none",
             "--method", "nearest"]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Directory with 40,960 rows, 100 queries and plain.npz: several slices and boxes a rank."""
    here = tmp_path_factory.mktemp("many")
    np.save(here / "train.npy", make_rows(40960, 7))
    np.save(here / "queries.npy", make_rows(100, 8)[:, :3])
    serial("fit", here / "train.npy", "-o", here / "plain.npz", *SCATTERED, *PLAIN, "-q")
    return here


def check_that_rows_are_divided(many, tmp_path, ranks, options, wanted):
    """No rank, rank 0 least of all, ever has more than its share of the rows and a box or two."""
    out = tmp_path / "model.npz"
    held = rows_held(team(ranks, "fit", many / "train.npy", "-o", out, *options, "-v"))
    assert len(held) == ranks
    assert max(held) <= 1.2 * 40960 / ranks, held
    assert arrays(out) == arrays(wanted)


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_rows_of_a_plain_fit_are_divided(many, tmp_path, ranks):
    check_that_rows_are_divided(many, tmp_path, ranks, [*SCATTERED, *PLAIN], many / "plain.npz")


def test_rows_of_a_fit_with_all_its_choices_are_divided(many, tmp_path):
    serial("fit", many / "train.npy", "-o", tmp_path / "one.npz", *SCATTERED, "-q")
    check_that_rows_are_divided(many, tmp_path, 3, SCATTERED, tmp_path / "one.npz")


@pytest.mark.parametrize("ranks", [2, 4])
def test_rows_of_a_model_are_divided(many, ranks):
    words = ["predict", many / "plain.npz", many / "queries.npy"]
    for way in [["--memory", "500M"], ["--method", "rbcm"]]:
        result = team(ranks, *words, *way, "-v")
        assert result.out == serial(*words, *way, "-q").out
        held = rows_held(result)
        assert len(held) == ranks and max(held) <= 1.2 * 40960 / ranks, (way, held)
    for way in [[], ["--select", "local:4"]]:  # few rows; pairs of experts
        assert rows_held(team(ranks, *words, *way, "-v")) == ranks * [40960]


GIVEN = ["--theta", "1,1,0.1"]


@pytest.mark.parametrize("options", [
    ["--partition", "kdtree", "--experts", "50", *GIVEN],
    ["--partition", "random", "--experts", "60", *GIVEN],
    ["--partition", "kmeans", "--experts", "300", "--min-size", "1", *GIVEN],
    ["--partition", "kmeans", "--experts", "30", "--max-size", "1400", *GIVEN],
    ["--train", "parts", "--train-experts", "3", "--experts", "60", "--max-evaluations", "3"],
    ["--graph", "glasso", "--experts", "40", *GIVEN],
], ids=["kdtree", "random", "groups", "halved parts", "some experts trained", "graph"])
def test_rows_in_slices(many, tmp_path, options):
    words = ["fit", many / "train.npy", "--kernel", "se", "-q"]
    if "--graph" not in options:
        words += ["--graph", "none"]
    serial(*words, *options, "-o", tmp_path / "one.npz")
    team(3, *words, *options, "-o", tmp_path / "three.npz")
    assert arrays(tmp_path / "three.npz") == arrays(tmp_path / "one.npz")


def test_equal_rows_in_slices(tmp_path):
    """Ties, whole columns of them: splits and searches go by row numbers then."""
    rng = np.random.default_rng(9)
    rows = make_rows(3000, 9)
    rows[:, :2] = rng.integers(-2, 3, (3000, 2))
    rows[:, 2] = -0.0
    rows[::3, 2] = 0.0
    np.save(tmp_path / "train.npy", rows)
    np.save(tmp_path / "queries.npy", rows[:60, :3])
    words = ["fit", tmp_path / "train.npy", *SCATTERED, *PLAIN, "--partition", "kdtree", "--experts", "20", "-q"]
    serial(*words, "-o", tmp_path / "one.npz")
    team(4, *words, "-o", tmp_path / "four.npz")
    assert arrays(tmp_path / "four.npz") == arrays(tmp_path / "one.npz")
    predict = ["predict", tmp_path / "one.npz", tmp_path / "queries.npy", "--neighbours", "50",
               "--memory", "20M", "-q"]
    assert team(4, *predict).out == serial(*predict).out


@pytest.mark.parametrize("text", ["a,b\n", "a,b,y\n1,2,3\n1,2,nan\n", "a,b,y\n1,2,3\n2,3,3\n"],
                         ids=["no rows", "not a number", "constant"])
def test_bad_data(tmp_path, text):
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    words = ["fit", path, "-o", tmp_path / "m.npz", "-q"]
    one, two = serial(*words, code=1), team(2, *words, code=1)
    assert one.err.strip().splitlines()[0] in two.err


def test_factors_are_divided(tmp_path):
    """Four factors of 18 MB: two ranks have two each, four ranks one each."""
    train = write_csv(tmp_path / "train.csv", make_rows(6000, 5), "a,b,c,y")
    queries = write_csv(tmp_path / "queries.csv", make_rows(50, 6)[:, :3], "a,b,c")
    model = tmp_path / "model.npz"
    serial("fit", train, "-o", model, "--experts", "4", "--partition", "kdtree", *GIVEN,
           "--graph", "none", "-q")
    words = ["predict", model, queries, "--method", "rbcm", "-v"]
    two, four = team(2, *words), team(4, *words)
    assert two.out == four.out == serial(*words[:-1], "-q").out
    assert max(peak_memory(four)) < min(peak_memory(two)) - 9
    assert len(peak_memory(four)) == 4


def test_reading_a_table_stays_within_each_ranks_memory(tmp_path):
    """24 MB: too much for 10 MB on one rank and on two."""
    path = tmp_path / "t.csv"
    path.write_text("1,2,3,4,5,6,7,8,9,0\n" * 300_000)
    words = ["fit", path, "-o", tmp_path / "m.npz", "--memory", "10M"]
    assert "t.csv: reading more than" in serial(*words, code=1).err
    assert "a process's share: reading more than" in team(2, *words, code=1).err
