"""Several targets: the model of each is that of a fit to it alone, in one file, and every command knows them."""
import csv
import io
import json
import zipfile

import numpy as np
import pytest

from conftest import run

QUICK = ["--theta", "1,1,1,0.1", "--kernel", "se", "--experts", "2", "--spread", "none", "--calibrate", "false"]


def table(n, seed):
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-2, 2, n), rng.normal(size=n)
    kind = rng.integers(0, 3, n)
    day = np.sort(rng.integers(0, 800, n)).astype("timedelta64[D]") + np.datetime64("2021-03-01")
    return {
        "height": np.sin(2 * x) + np.array([1.0, -1.0, 0.3])[kind] + 0.1 * rng.normal(size=n),
        "x": x, "kind": np.array(["oak", "fir", "ash"])[kind], "day": day.astype(str), "z": z,
        "price, net": np.cos(x) * z + np.array([0.0, 2.0, 1.0])[kind] + 0.1 * rng.normal(size=n),
        "w": rng.integers(1, 4, n), "e": rng.uniform(0, 0.3, n),
        "cost": np.exp(0.4 * x + 0.3 * z + 0.1 * rng.normal(size=n)),
    }


TARGETS = ["height", "price, net", "cost"]
LIST = 'height,"price, net",cost'


def write(path, columns, names=None, header=True):
    names = names or list(columns)
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        if header:
            out.writerow(names)
        out.writerows(zip(*(columns[name] for name in names)))
    return path


def read(text):
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}


def quoted(names):
    return ",".join(f'"{name}"' for name in names)


def same_as_alone(folder, train, queries, words, targets=TARGETS):
    """Whether each target's columns have the bytes of a fit to it alone; gives the model of all."""
    model = folder / "all.npz"
    run("fit", train, "-o", model, "--target", quoted(targets), *words, "-q")
    together = read(run("predict", model, queries, "-q").out)
    names = []
    for target in targets:
        others = quoted(name for name in targets if name != target)
        run("fit", train, "-o", folder / "one.npz", "--target", target, "--ignore", others, *words, "-q")
        alone = read(run("predict", folder / "one.npz", queries, "-q").out)
        names += [f"{target}_{name}" for name in alone]
        for name, cells in alone.items():
            assert together[f"{target}_{name}"] == cells, (target, name)
    assert list(together) == names
    return model


@pytest.mark.parametrize("words", [
    ["--max-evaluations", "12", "--ignore-none"],
    ["--max-evaluations", "6", "--weights", "w", "--noise-std", "e", "--periodic", "day:year", "--experts", "2"],
    ["--max-evaluations", "6", "--calibrate", "true", "--experts", "3", "--trend", "linear"],
], ids=["default", "weights", "calibrated"])
def test_every_target_is_as_alone(tmp_path, words):
    columns = ["height", "x", "kind", "day", "z", "price, net", "cost"]
    words = [word for word in words if word != "--ignore-none"]
    columns += ["w", "e"] if "--weights" in words else []
    train = write(tmp_path / "t.csv", table(300, 1), columns)
    queries = write(tmp_path / "q.csv", table(30, 2), [c for c in columns if c not in TARGETS])
    same_as_alone(tmp_path, train, queries, words)


def test_a_missing_cell_leaves_a_row_out_of_its_target_alone(tmp_path):
    data = {name: list(column) for name, column in table(120, 3).items()}
    for i in range(0, 120, 7):
        data["height"][i] = "NA"
    for i in range(3, 120, 11):
        data["cost"][i] = "inf" if i % 2 else ""
    data["x"][50] = ""
    columns = ["x", "height", "z", "cost"]
    train = write(tmp_path / "t.csv", data, columns)
    queries = write(tmp_path / "q.csv", table(9, 4), ["x", "z"])
    words = [*QUICK, "--missing", "drop"]
    words[1] = "1,1,1,0.1"
    model = same_as_alone(tmp_path, train, queries, words, ["height", "cost"])
    rows = {name: shown["rows"] for name, shown in run("inspect", model, "--json").json().items()}
    assert rows == {"height": 120 - 18 - 1, "cost": 120 - 11 - 1}
    said = run("fit", train, "-o", tmp_path / "m.npz", "--target", "height,cost", *words).err
    assert "1 row with missing cells left out" in said
    assert "target height: 18 rows without it left out" in said and "target cost: 11 rows" in said
    said = run("fit", train, "-o", tmp_path / "m.npz", "--target", "height,cost", *QUICK, code=1).err
    assert "--missing drop" in said
    scores = run("evaluate", model, train, "--missing", "drop", "--json").json()
    assert {name: of[0]["rows"] for name, of in scores.items()} == rows


@pytest.mark.parametrize("order", ["axbzwec", "wabcxze", "ezcxbaw", "xzabcew"])
@pytest.mark.parametrize("named", [True, False], ids=["named", "by place"])
def test_columns_in_any_order(tmp_path, order, named):
    """Files with all columns, without the targets, and with one of them, with and without names."""
    data = table(80, 5)
    names = {"a": "height", "b": "price, net", "c": "cost"}
    column = lambda c: names.get(c, c)
    place = {c: column(c) if named else str(order.index(c) + 1) for c in order}

    def file(name, letters, seed, n):
        return write(tmp_path / name, table(n, seed), [column(c) for c in letters], named)

    def fit(name, targets, ignored=""):
        words = ["--ignore", quoted(place[c] for c in ignored)] if ignored else []
        return run("fit", file("t.csv", order, 5, 80), "-o", tmp_path / name, "--target",
                   quoted(place[c] for c in targets), "--weights", place["w"], "--noise-std", place["e"], *QUICK, "-q", *words)

    assert data
    fit("all.npz", "cab")
    for letters in ([order, [c for c in order if c not in "abc"]] if named else [order]):
        together = read(run("predict", tmp_path / "all.npz", file("q.csv", letters, 6, 9), "-q").out)
        shown = run("inspect", tmp_path / "all.npz", "--json").json()
        for target, key in zip("cab", shown):
            others = [c for c in "abc" if c != target]
            fit("one.npz", target, others)
            kept = [c for c in letters if c not in others]
            alone = read(run("predict", tmp_path / "one.npz", file("p.csv", kept, 6, 9), "-q").out)
            for name, cells in alone.items():
                assert together[f"{key}_{name}"] == cells
    inputs = [c for c in order if c in "xz"]
    run("predict", tmp_path / "all.npz", file("i.csv", inputs, 6, 9), "-q")
    # scores of all targets, on a file with all columns
    scores = run("evaluate", tmp_path / "all.npz", file("v.csv", order, 7, 40), "--json", "-q").json()
    for target, key in zip("cab", shown):
        others = [c for c in "abc" if c != target]
        fit("one.npz", target, others)
        one = run("evaluate", tmp_path / "one.npz", file("v1.csv", [c for c in order if c not in others], 7, 40), "--json", "-q")
        for what in ("rmse", "msll", "crps", "coverage"):
            assert scores[key][0][what] == one.json()[0][what]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("targets")
    train = write(folder / "t.csv", table(90, 8), ["height", "x", "z", "price, net", "cost"])
    test = write(folder / "v.csv", table(30, 9), ["height", "x", "z", "price, net", "cost"])
    done = run("fit", train, "-o", folder / "m.npz", "--target", LIST, *QUICK)
    return folder, train, test, folder / "m.npz", done


def test_what_a_fit_says(fitted):
    folder, train, _, _, done = fitted
    for target in TARGETS:
        assert f"90 rows, 2 inputs, target {target}\n" in done.out
    assert "for 3 targets" in done.out and done.out.count("model written to") == 1
    told = run("fit", train, "-o", folder / "j.npz", "--target", LIST, *QUICK, "--json").json()
    assert list(told) == TARGETS and all(one["rows"] == 90 for one in told.values())


def test_rows_are_stored_once(fitted):
    with zipfile.ZipFile(fitted[3]) as file:
        names = file.namelist()
        meta = json.loads(file.read("meta.json"))
    assert meta["format_version"] == 9 and [t["name"] for t in meta["targets"]] == TARGETS
    assert [n for n in names if n.endswith(("/X.npy", "/row.npy", "/offset.npy"))] == [
        "target1/X.npy", "target1/row.npy", "target1/offset.npy"]
    assert sum(n.endswith("/y.npy") for n in names) == 3


def test_scores_by_target(fitted):
    _, _, test, model, _ = fitted
    out = run("evaluate", model, test).out.splitlines()
    assert out[0].split()[:2] == ["target", "method"]
    assert [line.split("  ")[0] for line in out[1:]] == TARGETS
    scores = run("evaluate", model, test, "--json").json()
    assert list(scores) == TARGETS and all(len(of) == 1 for of in scores.values())
    one = run("evaluate", model, test, "--json", "--target", "cost", "--method", "nearest,rbcm").json()
    assert list(one) == ["cost"] and [c["method"] for c in one["cost"]] == ["nearest", "rbcm"]
    assert run("evaluate", model, test, "--by", "x").out.count("Target ") == 3
    assert "standard input can be read once" in run("evaluate", model, "-", code=2).err
    assert "--plot draws one target" in run("evaluate", model, test, "--by", "x", "--plot", "p.svg", code=2).err


def test_some_targets_alone(fitted):
    _, _, test, model, _ = fitted
    every = read(run("predict", model, test, "-q").out)
    some = read(run("predict", model, test, "-q", "--target", '3,"price, net"').out)
    assert list(some) == [f"{t}_{c}" for t in ("cost", "price, net") for c in ("mean", "std", "lower", "upper")]
    assert all(every[name] == cells for name, cells in some.items())
    assert list(read(run("predict", model, test, "-q", "--target", "price, net", "--mean-only").out)) == ["price, net_mean"]
    more = read(run("predict", model, test, "-q", "--quantiles", "0.1", "--novelty", "--above", "1", "--gradient",
                    "--keep", "x", "--row-number").out)
    assert list(more)[:3] == ["row", "x", "height_mean"]
    assert "price, net_q0.1" in more and "cost_above_1" in more and "height_dmean_x" in more and "cost_novelty" in more


def test_commands_of_one_target_ask_which(fitted, tmp_path):
    _, _, test, model, _ = fitted
    for words in (["sample", model, test], ["suggest", model, test, "-n", "2"], ["graph", model, "-o", tmp_path / "g.json"],
                  ["plot", model, "--x", "x", "-o", tmp_path / "x.svg"]):
        said = run(*words, code=2).err
        assert "the model has 3 targets" in said and "--target" in said and "height, price, net, cost" in said
        run(*words, "--target", "cost")
        assert "no target 'wood'" in run(*words, "--target", "wood", code=2).err
    grid = ["--grid", "x=0:1:3,z=0:1:2", "-o", tmp_path / "map.nc"]
    assert "a map is of one target" in run("predict", model, *grid, code=2).err
    run("predict", model, *grid, "--target", "cost")
    assert run("inspect", model).out.count("Target ") == 3
    assert run("inspect", model, "--target", "cost", "--json").json()["target"] == "cost"
    assert "twice" in run("predict", model, test, "--target", "cost,3", code=2).err


def test_a_graph_is_written_into_the_file_of_all(fitted, tmp_path):
    model = tmp_path / "m.npz"
    model.write_bytes(fitted[3].read_bytes())
    run("graph", model, "--write", "--target", "price, net")
    shown = run("inspect", model, "--json").json()
    assert list(shown) == TARGETS and [shown[t]["graph"] is not None for t in TARGETS] == [False, True, False]


@pytest.mark.parametrize("words, sentence", [
    (["--target", "cost,cost"], "column cost is in the list twice"),
    (["--target", "cost,wood"], 'has no column "wood"'),
    (["--target", "cost,x", "--ignore", "x"], "cannot be both the target and ignored"),
    (["--target", "cost,x", "--weights", "x"], "cannot be both the target and the weights"),
    (["--target", "cost,height", "--offset", "x"], "it is what is known of one target"),
    (["--target", "cost,height", "--checkpoint", "c"], "checkpoint: it is of one fit"),
    (["--target", 'cost,"height'], "a name in quotes ends with a quote"),
    (["--target", ","], "the list names no column"),
])
def test_refused(fitted, tmp_path, words, sentence):
    words = [tmp_path / "c" if word == "c" else word for word in words]
    assert sentence in run("fit", fitted[1], "-o", tmp_path / "m.npz", *words, *QUICK, code=1).err
    assert not (tmp_path / "m.npz").exists()


def test_a_constant_target_is_named(tmp_path):
    train = write(tmp_path / "t.csv", {"x": range(20), "a": np.arange(20) ** 0.5, "b": [1] * 20})
    assert "target b: the target is constant" in run("fit", train, "-o", tmp_path / "m.npz", "--target", "a,b", "--kernel", "se",
                                                      code=1).err


def altered(path, source, **changes):
    """The file with other texts of meta.json, or without members (None), or with others' content."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w") as new:
        members = {name: old.read(name) for name in old.namelist()}
        for name, change in changes.items():
            if change is None:
                del members[name]
            elif isinstance(change, str) and change in members:
                members[name] = members[change]
            else:
                members[name] = change(members[name])
        for name, content in members.items():
            new.writestr(name, content)
    return path


def with_meta(change):
    def apply(text):
        meta = json.loads(text)
        change(meta)
        return json.dumps(meta)
    return apply


def test_damaged_files_are_refused(fitted, tmp_path):
    model = fitted[3]
    bad = tmp_path / "bad.npz"

    def refused(**changes):
        said = run("inspect", altered(bad, model, **changes), code=1).err
        assert "bad.npz" in said
        return said

    assert "its list of targets" in refused(**{"meta.json": with_meta(lambda m: m.pop("targets"))})
    assert "its list of targets" in refused(**{"meta.json": with_meta(lambda m: m.update(targets=m["targets"] * 90))})
    assert "same place" in refused(**{"meta.json": with_meta(lambda m: m["targets"][1].update(place=0))})
    assert "out of range" in refused(**{"meta.json": with_meta(lambda m: m["targets"][1].update(place=-1))})
    assert "no meta.json" in refused(**{"target2/meta.json": None})
    assert "that of several" in refused(**{"target2/meta.json": "meta.json"})
    assert "same name" in refused(**{"target2/meta.json": "target1/meta.json"})
    assert "do not have the same columns" in refused(
        **{"target3/meta.json": with_meta(lambda m: m["columns"].__setitem__(0, "other"))})
    assert "y" in refused(**{"target2/y.npy": None})
    assert "X" in refused(**{"target1/X.npy": None})
    more = {"meta.json": with_meta(lambda m: m["targets"].append({"name": "d", "place": 9}))}
    assert "target 4" in refused(**more)
    refused(**{"target2/y.npy": "target1/offset.npy"})


# ---- share theta ----

SHARED = ["--share", "theta", "--kernel", "se", "--metric", "ard", "--max-evaluations", "15"]
PLAIN = ["--spread", "none", "--calibrate", "false", "--experts", "3"]


def numbers(n, seed):
    """Three targets of the same smoothness; the second is nearly the first with the other sign."""
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-2, 2, n), rng.uniform(-2, 2, n)
    a = np.sin(2 * x) + 0.5 * np.cos(z) + 0.1 * rng.normal(size=n)
    return {"x": x, "a": a, "z": z, "b": 7 - 30 * a + 2 * np.sin(x + z) + rng.normal(size=n),
            "c": np.cos(2 * x) - 0.4 * z + 0.1 * rng.normal(size=n), "w": rng.integers(1, 4, n)}


def combined(data, weights):
    """z = sum_t s_t (y_t - mean_t) / deviation_t, s_t the sign that y_t has in common with those before."""
    total = 0
    for name in ("c", "a", "b"):
        y = np.asarray(data[name])
        mean = np.average(y, weights=weights)
        y = (y - mean) / np.sqrt(np.average((y - mean) ** 2, weights=weights))
        total = total + (-1 if np.sum(weights * y * total) < 0 else 1) * y
    return total


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
def test_shared_theta_is_that_of_the_sum(tmp_path, weighted):
    data = numbers(250, 1)
    words = ["--weights", "w"] if weighted else ["--ignore", "w"]
    write(tmp_path / "t.csv", data)
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--target", "c,a,b", *SHARED, *PLAIN, *words, "-q")
    sum_of = {"x": data["x"], "z": data["z"], "w": data["w"],
              "y": combined(data, data["w"] if weighted else np.ones(250))}
    write(tmp_path / "s.csv", {k: [repr(float(v)) for v in c] for k, c in sum_of.items()})
    run("fit", tmp_path / "s.csv", "-o", tmp_path / "s.npz", "--target", "y", *SHARED[2:], *PLAIN, *words, "-q")
    shared, alone = np.load(tmp_path / "m.npz"), np.load(tmp_path / "s.npz")
    for name in ("log_lengthscale", "log_signal_variance", "log_noise_variance", "x_mean", "x_scale"):
        for t in (1, 2, 3):
            np.testing.assert_allclose(shared[f"target{t}/{name}"], alone[name], rtol=1e-5, atol=1e-6)
    # with that theta each target is the GP that a fit to it alone is
    theta = [repr(float(np.exp(v))) for v in [*shared["target1/log_lengthscale"], shared["target1/log_signal_variance"],
                                              shared["target1/log_noise_variance"]]]
    queries = write(tmp_path / "q.csv", numbers(40, 2), ["x", "z"])
    together = read(run("predict", tmp_path / "m.npz", queries, "--method", "nearest", "--neighbours", "50", "-q").out)
    for target in "cab":
        others = ",".join(c for c in "abc" if c != target) + ("" if weighted else ",w")
        run("fit", tmp_path / "t.csv", "-o", tmp_path / "one.npz", "--target", target, "--ignore", others, "--kernel", "se",
            "--theta", ",".join(theta), *PLAIN, *(words if weighted else []), "-q")
        one = read(run("predict", tmp_path / "one.npz", queries, "--method", "nearest", "--neighbours", "50", "-q").out)
        for name in ("mean", "std"):
            np.testing.assert_allclose(np.array(together[f"{target}_{name}"], float), np.array(one[name], float), rtol=1e-8)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    train = write(folder / "t.csv", numbers(400, 3), ["x", "a", "z", "b", "c"])
    test = write(folder / "v.csv", numbers(90, 4), ["x", "a", "z", "b", "c"])
    run("fit", train, "-o", folder / "m.npz", "--target", "a,b,c", *SHARED, "--calibrate", "true", "--method", "nearest", "-q")
    return train, test, folder / "m.npz"


@pytest.mark.parametrize("words", [["--method", "nearest"], ["--method", "nearest", "--neighbours", "20", "--novelty", "--quantiles", "0.2"],
                                   ["--method", "nearest", "--gradient"], ["--method", "rbcm"], ["--method", "cells", "--neighbours", "40"],
                                   ["--method", "nearest", "--mean-only"], ["--threads", "1", "--method", "nearest", "--latent"]])
def test_together_as_one_by_one(shared, words):
    _, test, model = shared
    together = read(run("predict", model, test, "-q", *words).out)
    for target in "abc":
        alone = read(run("predict", model, test, "-q", "--target", target, *words).out)
        assert alone and all(together[name] == cells for name, cells in alone.items())


def test_shared_models_are_good_and_calibrated_each(shared):
    _, test, model = shared
    scores = run("evaluate", model, test, "--json", "-q").json()
    assert all(of[0]["smse"] < 0.05 and of[0]["coverage"]["95"] > 0.85 for of in scores.values())
    with zipfile.ZipFile(model) as file:
        assert json.loads(file.read("meta.json"))["share"] == "theta"
        assert sum(name.endswith("/X.npy") for name in file.namelist()) == 1
    shown = run("inspect", model, "--json").json()
    assert len({of["calibration_scale"] for of in shown.values()}) > 1 and len({of["kernel"] for of in shown.values()}) == 1


def test_sharing_drops_rows_without_any_target(tmp_path):
    data = {name: list(column) for name, column in numbers(60, 5).items()}
    data["a"][3] = data["b"][9] = ""
    train = write(tmp_path / "t.csv", data, ["x", "a", "z", "b"])
    run("fit", train, "-o", tmp_path / "m.npz", "--target", "a,b", "--share", "theta", "--missing", "drop", *QUICK, "-q")
    assert {of["rows"] for of in run("inspect", tmp_path / "m.npz", "--json").json().values()} == {58}


@pytest.mark.parametrize("words, sentence", [
    (["--noise-std", "w"], "does not go with noise-std"), (["--trend", "linear"], "a linear trend"),
    (["--warp", "auto"], "does not go with warp"), (["--calibrate", "strict"], "calibrate strict"),
    (["--categorical", "w"], "does not go with categories")])
def test_what_is_not_shared(tmp_path, words, sentence):
    train = write(tmp_path / "t.csv", numbers(60, 6))
    assert sentence in run("fit", train, "-o", tmp_path / "m.npz", "--target", "a,b", "--share", "theta", *words, code=1).err


def test_shared_files_that_do_not_share_are_refused(shared, tmp_path):
    bad = tmp_path / "bad.npz"

    def refused(**changes):
        return run("inspect", altered(bad, shared[2], **changes), code=1).err

    assert "do not share" in refused(**{"target2/log_signal_variance.npy": "target2/log_noise_variance.npy"})
    assert "what its targets share" in refused(**{"meta.json": with_meta(lambda m: m.update(share="all"))})
    assert "what its targets share" in refused(**{"meta.json": with_meta(lambda m: m.pop("share"))})
