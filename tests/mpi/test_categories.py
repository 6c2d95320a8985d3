"""Categories on several ranks: the bytes of one process, and one reading for all."""
import numpy as np
import pytest
from conftest import PLAIN, arrays, serial, team

TOWNS = ["Aix", "Brno", "Cork", "Delft", "Graz"]


def write(path, n, seed, towns, late=None):
    rng = np.random.default_rng(seed)
    code, x = rng.integers(len(towns), size=n), rng.uniform(-2, 2, n)
    y = np.sin(2 * x) + 0.5 * code + 0.1 * rng.normal(size=n)
    number = rng.integers(1, 6, n).astype(str)
    if late:
        number[-5:] = late
    lines = [f"{towns[c]},id{i},{k},{a!r},{v!r}" for i, (c, k, a, v) in
             enumerate(zip(code.tolist(), number, x.tolist(), y.tolist()))]
    path.write_text("town,id,k,x,y\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("late, encoding", [(None, "auto"), ("5b", "position"), (None, "distance")])
def test_fit_and_predict(tmp_path, late, encoding):
    train = write(tmp_path / "train.csv", 5000, 1, TOWNS, late)
    queries = write(tmp_path / "q.csv", 200, 2, TOWNS + ["New"])
    options = ["--train-rows", "300", "--kernel", "se", "--expert-size", "1000", "--max-evaluations", "4",
               "--encoding", encoding, *PLAIN]
    note = serial("fit", train, "-o", tmp_path / "1.npz", *options).err
    assert "left out" in note and "id" in note
    one = serial("predict", tmp_path / "1.npz", queries, "-q").out
    for ranks in (1, 2, 3):
        model, out = tmp_path / f"r{ranks}.npz", tmp_path / f"{ranks}.csv"
        team(ranks, "fit", train, "-o", model, *options, "-q")
        a, b = arrays(tmp_path / "1.npz"), arrays(model)
        assert a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
        team(ranks, "predict", model, queries, "-q", "-o", out)
        assert out.read_text() == one


def test_a_wrong_cell_fails_on_all(tmp_path):
    rows = "".join(f"{i * 0.37},{i}\n" for i in range(6000))
    (tmp_path / "t.csv").write_text("a,y\n" + rows + "12.5kg,3\n")
    wanted = serial("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", code=1).err
    got = team(3, "fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", code=1).err
    assert "12.5kg" in wanted and "--categorical a" in wanted
    assert "12.5kg" in got and "--categorical a" in got
