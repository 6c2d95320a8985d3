"""--weights and --noise-std: which columns are taken, with and without names, and what is said."""
import json

import numpy as np
import pytest

from conftest import run

FIT = ["--theta", "1,1,1,0.1", "--kernel", "se", "--experts", "1", "--spread", "none", "--calibrate", "false", "-q"]
COLUMNS = {"a": 0, "b": 1, "w": 2, "e": 3, "y": 4}


def table(n=60, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    weight, error = rng.integers(1, 4, n), rng.uniform(0.0, 0.5, n)
    return np.column_stack([X, weight, error, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)])


def write(path, rows, order, named=True):
    np.savetxt(path, rows[:, [COLUMNS[c] for c in order]], delimiter=",", fmt="%.17g", comments="",
               header=",".join(order) if named else "")
    if not named:
        path.write_text(path.read_text().lstrip("\n"))
    return path


def numbers(text):
    return np.array([[float(c) for c in line.split(",")] for line in text.splitlines()[1:]])


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Predictions at queries with their errors, and without."""
    folder = tmp_path_factory.mktemp("weights")
    train, queries = write(folder / "t.csv", table(), "abwey"), write(folder / "q.csv", table(9, 2), "abe")
    run("fit", train, "-o", folder / "m.npz", "--weights", "w", "--noise-std", "e", *FIT)
    with_errors = numbers(run("predict", folder / "m.npz", queries, "-q").out)
    plain = numbers(run("predict", folder / "m.npz", write(folder / "p.csv", table(9, 2), "ab"), "-q").out)
    np.testing.assert_allclose(with_errors[:, 1], np.hypot(plain[:, 1], table(9, 2)[:, 3]))
    return with_errors, plain


@pytest.mark.parametrize("order", ["abwey", "eywba", "ywaeb", "webya", "aywbe"])
@pytest.mark.parametrize("named", [True, False], ids=["named", "by place"])
def test_columns_in_any_order(tmp_path, expected, order, named):
    place = {c: c if named else str(order.index(c) + 1) for c in order}
    train = write(tmp_path / "t.csv", table(), order, named)
    run("fit", train, "-o", tmp_path / "m.npz", "--target", place["y"], "--weights", place["w"], "--noise-std",
        place["e"], *FIT)
    swapped = order.index("a") > order.index("b")
    inputs = [c for c in order if c in "ab"]

    def predict(columns, *words):
        got = run("predict", tmp_path / "m.npz", write(tmp_path / "q.csv", table(9, 2), columns, named), "-q", *words)
        return numbers(got.out)

    with_errors, plain = expected
    same = dict(rtol=1e-9, atol=1e-12) if swapped else dict(rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(predict(order), with_errors, **same)
    np.testing.assert_allclose(predict(inputs), plain, **same)
    np.testing.assert_allclose(predict([c for c in order if c in "aby"]), plain, **same)
    for columns in (["e", *inputs], [*inputs, "e"], [inputs[0], "e", inputs[1]]):
        at = "e" if named else str(columns.index("e") + 1)
        np.testing.assert_allclose(predict(columns, "--noise-std", at), with_errors, **same)
        if named:
            np.testing.assert_allclose(predict(columns), with_errors, **same)


def scores(*words):
    return json.loads(run("evaluate", *words, "-q", "--json").out)[0]


def test_evaluate(tmp_path):
    train, test = write(tmp_path / "t.csv", table(), "abwey"), table(40, 3)
    run("fit", train, "-o", tmp_path / "m.npz", "--weights", "w", "--noise-std", "e", *FIT)
    again = np.repeat(np.arange(40), test[:, 2].astype(int))
    full, by_hand = write(tmp_path / "f.csv", test, "abwey"), write(tmp_path / "r.csv", test[again], "abey")
    short = write(tmp_path / "s.csv", test, "abey")
    a, b, c = scores(tmp_path / "m.npz", full), scores(tmp_path / "m.npz", by_hand), scores(tmp_path / "m.npz", short)
    for name in ("smse", "msll", "mae", "rmse", "nlpd", "crps"):
        assert a[name] == pytest.approx(b[name], rel=1e-11) and a[name] != pytest.approx(c[name], rel=1e-4)
    assert a["coverage"] == pytest.approx(b["coverage"]) and (a["rows"], b["rows"]) == (40, len(again))
    groups = [scores(tmp_path / "m.npz", file, "--by", "a")["groups"] for file in (full, by_hand)]
    assert len(groups[0]) == 10
    one = scores(tmp_path / "m.npz", write(tmp_path / "one.csv", test, "abey"), "--weights", "e", "--by", "a")
    assert one["rmse"] != pytest.approx(c["rmse"], rel=1e-4)


def test_a_column_that_is_left_out_moves_the_others(tmp_path):
    rows = table(40)
    train = [f"id{i},{r[2]:g},{r[0]!r},{r[1]!r},{r[3]!r},{r[4]!r}" for i, r in enumerate(rows.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(train) + "\n")
    said = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--weights", "2", "--noise-std", "5",
               "--header", "no", *FIT[:-1]).err
    assert "left out" in said
    with np.load(tmp_path / "m.npz") as made:
        meta = json.loads(made["meta.json"])
        assert (meta["weights_place"], meta["noise_place"], meta["target_place"]) == (0, 3, 2)
        np.testing.assert_array_equal(made["weight"], rows[made["row"], 2])


def test_inspect_and_help(tmp_path):
    train = write(tmp_path / "t.csv", table(), "abwey")
    run("fit", train, "-o", tmp_path / "m.npz", "--weights", "w", "--noise-std", "e", *FIT)
    told = run("inspect", tmp_path / "m.npz").out
    assert "rows count as the column w says" in told and "known errors of the column e" in told
    told = json.loads(run("inspect", tmp_path / "m.npz", "--json").out)
    assert (told["weights"], told["noise_std"]) == ("w", "e")
    assert "--weights" in run("fit", "--help").out and "--noise-std" in run("predict", "--help").out


@pytest.mark.parametrize("words", [["--target", "y", "--weights", "w"], ["--target", "y", "--noise-std", "w"],
                                   ["--target", "w,y"], ["--target", "y,w"], ["--target", "y", "--offset", "w"]])
def test_texts_and_holes_beside_the_inputs(tmp_path, words):
    """A column that is no input is not to be left out, and is not the target because it is read last."""
    rows = "".join(f"{k * 0.37},{'low' if k else 'high'},{k % 7}\n" for k in range(40))
    (tmp_path / "t.csv").write_text("x,w,y\n" + rows)
    err = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *words, code=1).err
    assert "column 2 (\"w\"), no input, is text: choose others with --target, --offset, --weights or --noise-std, or write" in err
    for column in (1, 2):
        (tmp_path / "t.csv").write_text("x,w,y\n1,2,3\n" + ("4,,5\n" if column == 1 else "4,5,\n") + "5,6,7\n")
        err = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *words, code=1).err
        assert "line 3" in err and "cell is empty" in err and "--ignore" not in err


def test_two_columns_of_the_name(tmp_path):
    train = write(tmp_path / "t.csv", table(), "abwey")
    run("fit", train, "-o", tmp_path / "m.npz", "--noise-std", "e", "--ignore", "w", *FIT)
    (tmp_path / "q.csv").write_text("a,b,e,e\n1,2,3,4\n")
    said = run("predict", tmp_path / "m.npz", tmp_path / "q.csv", code=1).err
    assert "columns 3 and 4 are both named" in said


def lost(tmp_path, weight):
    """What a fit to noisy rows of these weights says of them on stderr, "" where nothing; and the noise it finds."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (150, 2))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=150)
    train = write(tmp_path / "t.csv", np.column_stack([X, weight, weight, y]), "abwy")
    done = run("fit", train, "-o", tmp_path / "m.npz", "--weights", "w", "--kernel", "se", "--calibrate=no", "--json")
    return done.err.partition("; weights are ")[2], np.sqrt(json.loads(done.out)["noise_variance"])


def test_a_noise_lost_to_weights_is_explained(tmp_path):
    """Weights of 10 to 1000 leave no noise, which is said with what to do; what is to be done helps."""
    rng = np.random.default_rng(2)
    weight = rng.uniform(10, 1000, 150)
    said, noise = lost(tmp_path, weight)
    assert said.startswith(f"{weight.mean():.3g} on average") and noise < 0.01
    assert "divide them by their mean" in said and "noise-std" in said
    for fine in (weight / weight.mean(), rng.integers(1, 4, 150)): # counts that leave a noise are as good as any
        said, noise = lost(tmp_path, fine)
        assert said == "" and noise > 0.1
