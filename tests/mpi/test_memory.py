"""--memory is each rank's budget: what one rank has no room for, several have."""
import re

from conftest import arrays, make_rows, serial, team, write_csv

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


def test_factors_are_divided(tmp_path):
    """Four factors of 18 MB: two ranks have two each, four ranks one each."""
    train = write_csv(tmp_path / "train.csv", make_rows(6000, 5), "a,b,c,y")
    queries = write_csv(tmp_path / "queries.csv", make_rows(50, 6)[:, :3], "a,b,c")
    model = tmp_path / "model.npz"
    serial("fit", train, "-o", model, "--experts", "4", "--partition", "kdtree", "--theta",
           "1,1,0.1", "--graph", "none", "-q")
    words = ["predict", model, queries, "--method", "rbcm", "-v"]
    two, four = team(2, *words), team(4, *words)
    assert two.out == four.out == serial(*words[:-1], "-q").out
    assert max(peak_memory(four)) < min(peak_memory(two)) - 9
    assert len(peak_memory(four)) == 4
