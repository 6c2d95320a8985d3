"""What each command prints and writes."""
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import zipfile
import xml.etree.ElementTree as xml

import numpy as np
import pytest

from conftest import QUORUM, make_rows, parse_csv, rename_columns, rewrite_meta, run, write_csv

FIT_KEYS = ["rows", "inputs", "experts", "smallest", "largest", "evaluations", "nlml", "seconds"]
EVALUATE_KEYS = ["method", "select", "space", "smse", "msll", "mae", "rmse", "nlpd", "crps",
                 "coverage", "seconds", "experts_used"]


# ---- fit --------------------------------------------------------------------------------------------------


GRAPH = {"reference", "precision", "importance"}


def members(path):
    with np.load(path) as model:
        return {name: model[name] for name in model.files if name != "meta.json"}


def graph_of(path):
    return json.loads(zipfile.ZipFile(path).read("meta.json")).get("graph")


def test_the_graph_is_learned_when_first_asked_for(tmp_path, data):
    """By a prediction for itself, by graph --write for the file: with the bits of --graph glasso."""
    words = ["--experts", 6, "--theta", "1,1,0.1"]
    now, later = tmp_path / "now.npz", tmp_path / "later.npz"
    run("fit", data / "train.csv", "-o", now, *words, "--graph", "glasso")
    said = run("fit", data / "train.csv", "-o", later, *words)
    assert "expert graph" not in said.out and said.err == ""
    said = run("fit", data / "train.csv", "-o", later, *words, "--json").json()
    assert said["edges"] is said["lambda"] is None and said["seconds"]["graph"] < 1e-3
    assert GRAPH.isdisjoint(members(later)) and graph_of(later) is None
    before = later.read_bytes()
    assert f"Expert graph: not learned yet; 'quorum graph {later} --write' learns it" in \
        run("inspect", later).out
    assert run("inspect", later, "--json").json()["graph"] is None
    for way in (["--method", "npae*"], ["--method", "grbcm", "--select", "worst:0.5"]):
        asked = run("predict", later, data / "queries.csv", *way, "-v")
        assert asked.out == run("predict", now, data / "queries.csv", *way).out
        assert "graph" in asked.err
    for model in (now, later):
        run("graph", model, "-o", tmp_path / f"{model.stem}.json", "--test", data / "test.csv")
    assert (tmp_path / "now.json").read_text() == (tmp_path / "later.json").read_text()
    assert later.read_bytes() == before
    assert "edges, is in" in run("graph", later, "--write").err
    ours, theirs = members(later), members(now)
    assert GRAPH <= set(ours) == set(theirs) and graph_of(later) == graph_of(now)
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    after = later.read_bytes()
    assert "has its expert graph already" in run("graph", later, "--write").err
    assert later.read_bytes() == after
    refused = run("graph", later, "--write", "--test", data / "test.csv", "--graph-on", "test", code=2)
    assert "--write is for the model's own graph" in refused.err


def test_older_files_without_a_graph_learn_it(tmp_path, data):
    """They have an importance of zeros and the experts in their order."""
    words = ["--experts", 6, "--theta", "1,1,0.1"]
    run("fit", data / "train.csv", "-o", tmp_path / "m.npz", *words)
    with zipfile.ZipFile(tmp_path / "m.npz") as new, \
            zipfile.ZipFile(tmp_path / "old.npz", "w") as old:
        for name in new.namelist():
            content = new.read(name)
            if name == "meta.json":
                meta = json.loads(content)
                meta["graph"] = {"lambda": 0.0, "edges": 0, "ranking": list(range(6))}
                content = json.dumps(meta)
            old.writestr(name, content)
        with old.open("importance.npy", "w") as file:
            np.save(file, np.zeros(6))
    assert "not learned yet" in run("inspect", tmp_path / "old.npz").out
    new, old = (run("predict", tmp_path / name, data / "queries.csv", "--method", "rbcm*", "--select",
                    "graph:0.5").out for name in ("m.npz", "old.npz"))
    assert new == old


def test_graph_of_very_many_experts(tmp_path):
    """Learned for those who ask for it, where there is memory."""
    np.save(tmp_path / "t.npy", make_rows(1200))
    run("fit", "t.npy", "-o", "m.npz", "--experts", 520, "--theta", "0.5,1,0.01", cwd=tmp_path)
    words = ["predict", "m.npz", "t.npy", "--method", "rbcm*"]
    refused = run(*words, "--memory", "10M", code=1, cwd=tmp_path)
    assert refused.out == "" and "the graph of 520 experts needs 0.02 GB, more than memory" in refused.err
    assert run(*words, cwd=tmp_path).out.count("\n") == 1201


def test_fit_json(tmp_path, data):
    result = run("fit", data / "train.csv", "-o", tmp_path / "m.npz", "--experts", 4, "--json",
                 "--train", "parts")
    summary = result.json()
    assert list(summary)[: len(FIT_KEYS)] == FIT_KEYS
    assert list(summary["seconds"])[:4] == ["read", "partition", "train", "total"]
    assert (summary["rows"], summary["inputs"], summary["experts"]) == (300, 2, 4)
    assert 1 <= summary["smallest"] <= 75 <= summary["largest"] <= 300
    assert summary["evaluations"] > 1
    assert summary["status"] == "ok" and summary["at_bound"] == []
    assert summary["train_experts"] == 4 and summary["dropped"] == 0
    seconds = summary["seconds"]
    assert all(s >= 0 for s in seconds.values())
    assert seconds["total"] >= seconds["read"] + seconds["train"]


def test_fit_tells_the_seconds_of_calibration(tmp_path, data):
    words = ("fit", data / "train.csv", "-o", tmp_path / "m.npz", "--experts", 4, "--calibrate")
    seconds = run(*words, "--json").json()["seconds"]
    parts = sum(s for name, s in seconds.items() if name != "total")
    assert 0 < seconds["calibrate"] < parts <= seconds["total"]
    for result in (run(*words), run("inspect", tmp_path / "m.npz")):
        assert re.search(r"train [\d.]+, calibrate [\d.]+\n", result.out)
    assert "calibrate" not in run("fit", *words[1:-1]).out


def test_calibration_is_for_one_prediction(tmp_path, data):
    model, queries = tmp_path / "m.npz", data / "queries.csv"
    train = ("fit", data / "train.csv", "-o", model, "--experts", 4, "--theta", "0.5,1,0.01")
    run(*train, "--calibrate")
    assert "std times" in run("inspect", model).out
    assert run("inspect", model, "--json").json()["calibration_for"] == \
        "method nearest, neighbours 300"
    calibrated = run("predict", model, queries)
    assert "note" not in calibrated.err
    for same in (["--neighbours", 512], ["--method", "nearest"],
                 ["--method", "npae", "--select", "none", "--neighbours", 512]):
        assert run("predict", model, queries, *same).out == calibrated.out
    plain = run("predict", model, queries, "--calibration", "off")
    assert plain.out != calibrated.out and "note" not in plain.err
    other = run("predict", model, queries, "--method", "rbcm")
    assert "note: std and interval are not calibrated: this model's calibration is for new " \
        "observations by method nearest, neighbours 300" in other.err
    assert "note" not in run("predict", model, queries, "--method", "rbcm", "--mean-only").err
    scores = run("evaluate", model, data / "test.csv", "--method", "nearest,rbcm,poe", "--json")
    assert "note: 2 of 3 predictions are not calibrated" in scores.err
    assert [s["calibrated"] for s in scores.json()] == [True, False, False]
    run(*train, "--calibrate", "--method", "rbcm", "--space", "observed")
    assert "for predictions by method rbcm, select all, neighbours 0, space observed\n" in \
        run("inspect", model).out
    assert "note" not in run("predict", model, queries, "--method", "rbcm", "--space",
                             "observed").err


def test_options_of_prediction_are_for_calibrate(tmp_path, data):
    for word, value in (("--method", "rbcm"), ("--select", "all"), ("--neighbours", 5),
                        ("--space", "latent")):
        result = run("fit", data / "train.csv", "-o", tmp_path / "m.npz", word, value, code=2)
        assert f"{word} says which prediction --calibrate is for" in result.err
        assert not (tmp_path / "m.npz").exists()


@pytest.mark.parametrize("how", [
    {"method": "npae", "select": "auto", "neighbours": "auto"},
    {"method": "npae", "select": "none", "neighbours": "auto"},
    {"method": "npae", "select": "none", "neighbours": "300", "space": "latent", "graph_on": "train"}])
def test_older_files_call_nearest_npae(tmp_path, data, how):
    run("fit", data / "train.csv", "-o", tmp_path / "m.npz", "--experts", 4, "--theta",
        "0.5,1,0.01", "--calibrate")
    with zipfile.ZipFile(tmp_path / "m.npz") as new, \
            zipfile.ZipFile(tmp_path / "old.npz", "w") as old:
        for name in new.namelist():
            content = new.read(name)
            if name == "meta.json":
                meta = json.loads(content)
                scale = meta["calibration"]["scale"]
                meta["calibration"] = {**how, "scale": scale}
                content = json.dumps(meta)
            old.writestr(name, content)
    new, old = (run("predict", tmp_path / name, data / "queries.csv")
                for name in ("m.npz", "old.npz"))
    assert new.out == old.out and "note" not in old.err
    assert "by method nearest, neighbours 300\n" in run("inspect", tmp_path / "old.npz").out


def test_notes_on_noise_are_true(tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("x,y\n1,2\n2,3\n3,5\n4,4\n5,6\n6,8\n")
    result = run("fit", few, "-o", tmp_path / "m.npz", "--kernel", "se")
    assert "note: 6 rows of 1 input are too few to tell the signal that was found from chance: " \
        "it is hardly more likely than noise alone\n" in result.err
    rows = make_rows(400, seed=5)
    rows[:, 2] = np.random.default_rng(6).standard_normal(400)
    result = run("fit", write_csv(tmp_path / "noise.csv", rows), "-o", tmp_path / "m.npz")
    assert "note: what was found is no more likely than noise alone" in result.err
    rows[:, 2] += 3 * rows[:, 1]
    result = run("fit", write_csv(tmp_path / "line.csv", rows), "-o", tmp_path / "m.npz")
    assert "noise alone" not in result.err


def test_a_graph_that_cannot_be_learned_is_told(tmp_path):
    x = np.linspace(0, 1, 400)
    train = write_csv(tmp_path / "t.csv", np.column_stack([x, np.sin(3 * x)]), header="x,y")
    model = tmp_path / "m.npz"
    words = ("fit", train, "-o", model, "--experts", 20, "--theta", "0.5,1,1e-8", "--kernel", "se")
    run(*words, "--lambda", "1e-14")
    refused = run("graph", model, "--write", code=1)
    assert "could not be learned" in refused.err and "larger lambda" in refused.err
    assert "not learned yet" in run("inspect", model).out
    refused = run("predict", model, train, "--method", "npae*", code=1)
    assert refused.out == "" and "since it could not be learned" in refused.err
    words += ("--graph", "glasso")
    result = run(*words, "--lambda", "1e-14")
    assert "the model has no expert graph" in result.err and "use a larger lambda" in result.err
    assert "smaller --lambda" not in result.err and "expert graph: none\n" in result.out
    assert "larger lambda" in run(*words, "--lambda", "1e-14", "--json").json()["graph_trouble"]
    text = run("inspect", model).out
    assert "Expert graph: none: the graphical lasso" in text and "not learned yet" not in text
    assert "larger lambda" in run("inspect", model, "--json").json()["graph"]["trouble"]
    refused = run("graph", model, "-o", tmp_path / "g.dot", code=1)
    assert "could not be learned" in refused.err and "larger lambda" in refused.err
    for wanted in (["--method", "npae*"], ["--method", "rbcm", "--select", "worst:0.5"]):
        refused = run("predict", model, train, *wanted, code=1)
        assert refused.out == "" and "no graph to select by, since it could not be learned" in \
            refused.err
    assert "graph of these inputs could not be learned" in \
        run("predict", model, train, "--method", "rbcm*", "--graph-on", "test", code=1).err
    assert run("predict", model, train).out.count("\n") == 401
    for other in (["--lambda", "rel:0.1"], ["--graph", "none", "--lambda", "1e-14"]):
        result = run(*words, *other)
        assert "graph" not in result.err


def test_fit_prints_a_summary(tmp_path, data):
    result = run("fit", data / "train.csv", "-o", tmp_path / "m.npz", "--experts", 4)
    lines = result.out.splitlines()
    assert lines[0] == "300 rows, 2 inputs, target y"
    assert re.fullmatch(r"4 experts \(kmeans\), \d+ to \d+ rows each", lines[1])
    assert lines[-1] == f"model written to {tmp_path / 'm.npz'}"
    assert result.err == ""


def test_fit_is_reproducible(tmp_path, data):
    for name in ["1.npz", "2.npz"]:
        run("fit", data / "train.csv", "-o", tmp_path / name, "--experts", 4, "--seed", 7)
    with np.load(tmp_path / "1.npz") as a, np.load(tmp_path / "2.npz") as b:
        for key in a.files:
            if key != "meta.json":
                assert np.array_equal(a[key], b[key]), key


def test_fit_names_inputs_on_the_bound(tmp_path):
    rows = make_rows(400, seed=8)
    noise = np.random.default_rng(9).uniform(-1, 1, (400, 1))
    path = write_csv(tmp_path / "t.csv", np.hstack([noise, rows]), header="useless,a,b,y")
    result = run("fit", path, "-o", tmp_path / "m.npz", "--experts", 2, "--json")
    if "lengthscale:useless" in result.json()["at_bound"]:
        assert ("length-scales on their upper bound (the target hardly changes with these inputs): "
                "useless") in result.err
        assert "hardly any effect" in run("inspect", tmp_path / "m.npz").out
    else:
        assert result.json()["lengthscale"][0] > 5 * result.json()["lengthscale"][1]


def test_fit_says_when_it_trains_on_some_experts(tmp_path, data):
    result = run("fit", data / "train.csv", "-o", tmp_path / "m.npz", "--experts", 4,
                 "--train", "parts", "--train-experts", 2, "--json")
    assert result.json()["train_experts"] == 2
    assert "trained on 2 of the 4 experts" in result.err


def test_fit_on_noise_is_said_aloud(tmp_path):
    rows = np.random.default_rng(1).standard_normal((200, 3))
    result = run("fit", write_csv(tmp_path / "t.csv", rows), "-o", tmp_path / "m.npz", "--experts",
                 2, "--json")
    assert result.json()["status"] in ("no-signal", "at-bound", "ok")
    if result.json()["status"] != "ok":
        assert "quorum fit: note: " in result.err


def test_empty_graph(tmp_path, data):
    """A smaller lambda is advised only where there is one."""
    words = ["fit", data / "train.csv", "-o", tmp_path / "m.npz", "--experts", 4, "--theta", "1,1,0.1"]
    empty = run(*words, "--graph", "glasso", "--lambda", 1000)
    assert "no edges" in empty.err and "a smaller --lambda gives edges" in empty.err
    assert "expert graph: 0 edges, lambda 1000\n" in empty.out
    none = run(*words, "--graph", "none")
    assert none.err == "" and "lambda" not in none.out


def test_fit_checks_the_output_before_the_work(tmp_path, data):
    path = tmp_path / "none" / "m.npz"
    result = run("fit", data / "train.csv", "-o", path, code=1)
    assert result.err == (f"quorum fit: {path}: cannot be written: {tmp_path / 'none'}: "
                          "No such file or directory\n")
    assert "is a directory" in run("fit", data / "train.csv", "-o", tmp_path, code=1).err


def test_failed_fit_leaves_the_old_model(tmp_path, data):
    (tmp_path / "m.npz").write_text("old")
    run("fit", tmp_path / "none.csv", "-o", tmp_path / "m.npz", code=1)
    assert (tmp_path / "m.npz").read_text() == "old"
    assert os.listdir(tmp_path) == ["m.npz"]


def test_quiet_and_verbose(tmp_path, data):
    words = ["fit", data / "train.csv", "-o", tmp_path / "m.npz", "--experts", 4,
             "--train-experts", 2]
    assert run(*words, "--quiet").err == ""
    said = run(*words, "-v").err
    assert "quorum fit: experts = 4\n" in said
    assert "BLAS kernels" in said


# ---- How flags can be written ----------------------------------------------------------------------------------


def test_spellings_of_flags(tmp_path, data):
    def experts(*words):
        return run("fit", data / "train.csv", *words, "--json").json()["experts"]

    model = tmp_path / "m.npz"
    assert experts("-o", model, "--experts", "3", "--train-experts", "1") == 3
    assert experts(f"-o{model}", "--experts=3", "--train_experts=1") == 3
    assert experts("-qo", model, "--experts=5", "--experts=3") == 3
    assert experts(f"--output={model}", "--experts", "3", "--no-free-diagonal") == 3


def test_flags_switched_on_and_off(data):
    def std(*words):
        return run("predict", data / "model.npz", data / "queries.csv", *words).table()[1][:, 1]

    noisy, latent = std(), std("--latent")
    assert (latent < noisy).all()
    assert np.array_equal(std("--latent", "--no-latent"), noisy)
    assert np.array_equal(std("--latent=false"), noisy)
    assert np.array_equal(std("--latent=yes"), latent)


def test_two_dashes_end_the_options(tmp_path, data):
    shutil.copy(data / "train.csv", tmp_path / "-odd.csv")
    run("fit", "-o", "m.npz", "--experts", 2, "--", "-odd.csv", cwd=tmp_path)
    assert (tmp_path / "m.npz").exists()


# ---- predict ------------------------------------------------------------------------------------------------------


def test_predict_columns(data):
    result = run("predict", data / "model.npz", data / "queries.csv", "--interval", 0.9)
    header, values = result.table()
    assert header == "mean,std,lower,upper"
    assert values.shape == (80, 4)
    mean, std, lower, upper = values.T
    z = 1.6448536269514722
    assert np.allclose(upper, mean + z * std, rtol=1e-9)
    assert np.allclose(lower, mean - z * std, rtol=1e-9)
    truth = np.loadtxt(data / "test.csv", delimiter=",", skiprows=1)[:, 2]
    assert np.mean((truth - mean) ** 2) < 0.05
    assert re.fullmatch(r"(quorum predict: note: .*\n)*quorum predict: 80 rows in \d+\.\d\d s, "
                        r"each from its nearest rows\n", result.err)


WRONG_TOGETHER = {"--method rbcm --neighbours 64": "use neighbours with nearest or npae",
                  "--method nearest --select local:2": "leave select out",
                  "--method grbcm --select local:2": "select local does not apply",
                  "--method rbcm --select local:auto": "use select local:K",
                  "--select none --neighbours 0": "give neighbours 1 or more",
                  "--select expert:9": "the model has 4 experts"}


@pytest.mark.parametrize("words", WRONG_TOGETHER)
def test_predict_writes_nothing_when_options_do_not_go_together(tmp_path, data, words):
    """Also where no query ever comes."""
    for queries in (data / "queries.csv", "-"):
        done = subprocess.Popen([QUORUM, "predict", data / "model.npz", queries, *words.split()],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        assert done.wait(60) == 1
        assert done.stdout.read() == "" and WRONG_TOGETHER[words] in done.stderr.read()
        for pipe in (done.stdin, done.stdout, done.stderr):
            pipe.close()
    run("predict", data / "model.npz", data / "queries.csv", *words.split(), "-o",
        tmp_path / "o.csv", code=1)
    assert not (tmp_path / "o.csv").exists()
    result = run("evaluate", data / "model.npz", "-", *words.split(), code=1, stdin="")
    assert WRONG_TOGETHER[words] in result.err


def test_predict_writes_nothing_when_the_first_rows_fail(tmp_path, data):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3,oops\n")
    assert run("predict", data / "model.npz", bad, code=1).out == ""
    bad.write_text("a,b\n")
    assert run("predict", data / "model.npz", bad).out == "mean,std,lower,upper\n"


def test_predict_mean_only(data):
    both = run("predict", data / "model.npz", data / "queries.csv").table()[1]
    header, values = run("predict", data / "model.npz", data / "queries.csv", "--mean-only").table()
    assert header == "mean"
    assert values.shape == (80, 1)
    assert np.allclose(values[:, 0], both[:, 0], rtol=1e-12)


@pytest.mark.parametrize("method", ["nearest", "npae", "npae*", "rbcm", "grbcm", "single"])
def test_predict_streams_to_the_same_result(tmp_path, data, method):
    """Any chunk, any number of threads, any company of other rows: the same bits."""
    rows = make_rows(3000, seed=11)[:, :2]
    queries = write_csv(tmp_path / "q.csv", rows, header="a,b")
    whole = run("predict", data / "model.npz", queries, "--method", method).out
    small = run("predict", data / "model.npz", queries, "--method", method, "--memory", "10M",
                "--threads", 1).out
    assert small == whole
    last = write_csv(tmp_path / "last.csv", rows[-7:], header="a,b")
    alone = run("predict", data / "model.npz", last, "--method", method, "--threads", 2).out
    assert alone.splitlines()[1:] == whole.splitlines()[-7:]


def test_predict_with_the_graph_of_all_queries(tmp_path, data):
    """Blocks must not show: the graph is that of the whole file."""
    queries = write_csv(tmp_path / "q.csv", make_rows(3000, seed=11)[:, :2], header="a,b")
    words = ["predict", data / "model.npz", queries, "--method", "npae*", "--graph-on", "test"]
    assert run(*words).out == run(*words, "--memory", "10M").out


def test_predict_writes_the_same_to_a_file(tmp_path, data):
    expected = run("predict", data / "model.npz", data / "queries.csv").out
    result = run("predict", data / "model.npz", data / "queries.csv", "-o", tmp_path / "out.csv")
    assert result.out == ""
    assert (tmp_path / "out.csv").read_text() == expected
    assert os.listdir(tmp_path) == ["out.csv"]
    dash = run("predict", data / "model.npz", data / "queries.csv", "-o", "-")
    assert dash.out == expected


def test_predict_replaces_the_file_and_keeps_its_mode(tmp_path, data):
    out = tmp_path / "out.csv"
    out.write_text("old")
    out.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(out)
    run("predict", data / "model.npz", data / "queries.csv", "-o", link)
    assert link.is_symlink()
    assert out.read_text().startswith("mean,std,lower,upper\n")
    assert out.stat().st_mode & 0o777 == 0o640


def test_new_files_have_the_usual_mode(tmp_path, data):
    out = tmp_path / "out.csv"
    subprocess.run(["sh", "-c", 'umask 027; exec "$@"', "sh", QUORUM, "predict",
                    data / "model.npz", data / "queries.csv", "-o", out], check=True,
                   capture_output=True)
    assert out.stat().st_mode & 0o777 == 0o640


def test_failed_predict_leaves_the_old_file(tmp_path, data):
    """The bad cell is the last one: much has been predicted by then."""
    queries = write_csv(tmp_path / "q.csv", make_rows(5000)[:, :2], header="a,b")
    with open(queries, "a") as file:
        file.write("1,oops\n")
    (tmp_path / "out.csv").write_text("old")
    result = run("predict", data / "model.npz", queries, "-o", tmp_path / "out.csv", "--memory",
                 "10M", code=1)
    assert "line 5002" in result.err and '"b"' in result.err
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "q.csv"]


def test_predict_into_nowhere(tmp_path, data):
    out = tmp_path / "none" / "out.csv"
    result = run("predict", data / "model.npz", data / "queries.csv", "-o", out, code=1)
    assert str(out) in result.err and "No such file or directory" in result.err
    run("predict", data / "model.npz", data / "queries.csv", "-o", "/dev/null")
    result = run("predict", data / "model.npz", data / "queries.csv", "-o", "/dev/full", code=1)
    assert "No space left on device" in result.err


def test_predict_nothing(tmp_path, data):
    (tmp_path / "q.csv").write_text("a,b\n")
    assert run("predict", data / "model.npz", tmp_path / "q.csv").out == "mean,std,lower,upper\n"


def test_closed_pipe_ends_quietly(data):
    line = f"'{QUORUM}' predict '{data}/model.npz' '{data}/queries.csv' -q | head -n 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.stdout == "mean,std,lower,upper\n"
    assert done.stderr == ""


# ---- evaluate ---------------------------------------------------------------------------------------------------------


def test_evaluate_json(data):
    result = run("evaluate", data / "model.npz", data / "test.csv", "--method", "all", "--json")
    scores = result.json()
    assert len(scores) >= 7
    assert len({s["method"] for s in scores}) == len(scores)
    for s in scores:
        assert list(s)[: len(EVALUATE_KEYS)] == EVALUATE_KEYS
        assert list(s["coverage"]) == ["50", "90", "95", "99"]
        assert (s["select"], s["space"], s["rows"]) == ("auto", "latent", 80)
        assert s["unsure"] == 0  # 4 experts are all asked
        assert s["smse"] < 0.5 and s["seconds"] >= 0


@pytest.mark.parametrize("method", ["nearest", "npae", "rbcm"])
def test_evaluate_agrees_with_predict(data, method):
    """Each score from its definition, applied to what predict writes."""
    [score] = run("evaluate", data / "model.npz", data / "test.csv", "--method", method,
                  "--json").json()
    mean, std, _, _ = run("predict", data / "model.npz", data / "queries.csv", "--method",
                          method).table()[1].T
    y = np.loadtxt(data / "test.csv", delimiter=",", skiprows=1)[:, 2]
    train = np.loadtxt(data / "train.csv", delimiter=",", skiprows=1)[:, 2]
    error = y - mean
    nlpd = 0.5 * np.log(2 * np.pi * std**2) + 0.5 * (error / std) ** 2
    trivial = 0.5 * np.log(2 * np.pi * train.var()) + 0.5 * (y - train.mean()) ** 2 / train.var()
    assert np.isclose(score["smse"], np.mean(error**2) / y.var(), rtol=1e-9)
    assert np.isclose(score["mae"], np.mean(abs(error)), rtol=1e-9)
    assert np.isclose(score["rmse"], np.sqrt(np.mean(error**2)), rtol=1e-9)
    assert np.isclose(score["nlpd"], np.mean(nlpd), rtol=1e-9)
    assert np.isclose(score["msll"], np.mean(nlpd - trivial), rtol=2e-3)
    for name, z in [("50", 0.6744897501960817), ("90", 1.6448536269514722),
                    ("95", 1.959963984540054), ("99", 2.5758293035489004)]:
        assert np.isclose(score["coverage"][name], np.mean(abs(error) <= z * std))


def test_evaluate_lists(data):
    scores = run("evaluate", data / "model.npz", data / "test.csv", "--method", "npae,rbcm*",
                 "--select", "auto,all,worst:0.5", "--space", "latent,observed", "--json").json()
    names = [(s["method"], s["select"], s["space"]) for s in scores]
    assert names == [(m, "graph:0.8" if m == "rbcm*" and s == "auto" else s, p)
                     for p in ["latent", "observed"] for s in ["auto", "all", "worst:0.5"]
                     for m in ["npae", "rbcm*"]]
    used = {(s["method"], s["select"]): s["experts_used"] for s in scores}
    assert used["npae", "all"] == used["rbcm*", "graph:0.8"] == used["npae", "auto"] == 4
    assert used["npae", "worst:0.5"] == 2


def test_star_is_a_selection(data):
    def scores(*words):
        [s] = run("evaluate", data / "model.npz", data / "test.csv", *words, "--json").json()
        return {k: v for k, v in s.items() if k not in ("method", "seconds")}

    assert scores("--method", "rbcm*") == scores("--method", "rbcm", "--select", "graph:0.8")
    assert (scores("--method", "npae", "--select", "graph:1")["smse"] ==
            scores("--method", "npae*", "--select", "all")["smse"])


def test_the_default_is_nearest(data):
    words = [data / "model.npz", data / "test.csv", "--json"]
    [default] = run("evaluate", *words).json()
    [named] = run("evaluate", *words, "--method", "nearest").json()
    [spelled] = run("evaluate", *words, "--select", "none", "--neighbours", 512).json()
    [fewer] = run("evaluate", *words, "--neighbours", 64).json()
    assert default["nlpd"] == named["nlpd"] == spelled["nlpd"] != fewer["nlpd"]
    for score in (default, named, spelled, fewer):
        assert score["method"] == "nearest" and score["experts_used"] == 0
    [experts] = run("evaluate", *words, "--neighbours", 0).json()
    [four] = run("evaluate", *words, "--select", "local:4", "--neighbours", 0).json()
    assert experts["nlpd"] == four["nlpd"] and experts["experts_used"] == 4
    assert experts["method"] == four["method"] == "npae"


def test_npae_is_of_experts(data):
    words = [data / "model.npz", data / "test.csv", "--json"]
    [every] = run("evaluate", *words, "--method", "npae").json()
    [selected] = run("evaluate", *words, "--select", "all").json()
    assert every["nlpd"] == selected["nlpd"] and every["experts_used"] == 4
    assert every["method"] == selected["method"] == "npae"
    [joined] = run("evaluate", *words, "--method", "npae", "--neighbours", 32).json()
    assert joined["nlpd"] != every["nlpd"] and joined["experts_used"] == 4


def test_all_methods_of_a_selection_are_those_that_ask_experts(data):
    words = [data / "model.npz", data / "test.csv", "--method", "all", "--json"]
    every = [s["method"] for s in run("evaluate", *words).json()]
    assert every[:3] == ["nearest", "cells", "npae"]
    selected = [s["method"] for s in run("evaluate", *words, "--select", "graph:0.8").json()]
    assert selected == every[2:]


@pytest.mark.parametrize("words, message", [
    (["--method", "grbcm", "--select", "local:2"],
     "method grbcm joins all experts with one base: select local does not apply"),
    (["--method", "rbcm", "--neighbours", "16"],
     "method rbcm takes the experts as independent, which a neighbourhood is not: use neighbours "
     "with nearest or npae"),
    (["--method", "poe*", "--neighbours", "16"],
     "method poe takes the experts as independent, which a neighbourhood is not: use neighbours "
     "with nearest or npae"),
    (["--method", "nearest", "--neighbours", "0"],
     "method nearest has no rows to predict from: give neighbours 1 or more"),
    (["--method", "nearest", "--select", "all"],
     "method nearest asks no experts, and select names some: leave select out, or use method npae"),
    (["--method", "poe", "--select", "none"],
     "select none leaves method poe nobody to ask: use method nearest"),
])
def test_what_does_not_go_together(data, words, message):
    for command, file in [("predict", "queries.csv"), ("evaluate", "test.csv")]:
        result = run(command, data / "model.npz", data / file, *words, code=1)
        assert result.err.splitlines()[-1] == f"quorum {command}: {message}"
        assert "nan" not in result.out


@pytest.fixture(scope="module")
def scattered(tmp_path_factory):
    """30 parts drawn at random, all with the same centre: no candidate is better than another."""
    here = tmp_path_factory.mktemp("scattered")
    run("fit", write_csv(here / "t.csv", make_rows(900, seed=21)), "-o", here / "m.npz", "--experts",
        30, "--partition", "random", "--theta", "0.5,1,0.1", "--graph", "none", "-q")
    return here


def test_unsure_queries_are_told(scattered):
    said = "at {} of 900 queries another expert might explain more: raise K in local:K"
    words = ["evaluate", scattered / "m.npz", scattered / "t.csv", "--select"]
    result = run(*words, "local:2", "--json", "-v")
    [score] = result.json()
    assert 9 < score["unsure"] <= 900
    assert said.format(score["unsure"]) in result.err
    assert said.format(score["unsure"]) in run("predict", scattered / "m.npz", scattered / "t.csv",
                                               "--select", "local:2", "-v").err
    assert "might explain more" not in run(*words, "local:2").err  # the bound is crude: a detail
    result = run(*words, "local:10", "--json")  # 38 candidates: all of them
    assert result.json()[0]["unsure"] == 0 and "might explain more" not in result.err


def test_few_unsure_queries_are_a_detail(tmp_path, scattered):
    """Far queries are sure: nobody can explain anything there."""
    rows = np.vstack([make_rows(1, seed=21), make_rows(150, seed=22, low=80.0, high=90.0)])
    test = write_csv(tmp_path / "test.csv", rows)
    words = ["evaluate", scattered / "m.npz", test, "--select", "local:2", "--json"]
    result = run(*words)
    assert result.json()[0]["unsure"] == 1 and "might explain more" not in result.err
    assert "at 1 of 151 queries another expert might explain more" in run(*words, "-v").err


def test_evaluate_chunks_do_not_matter(tmp_path, data):
    test = write_csv(tmp_path / "test.csv", make_rows(3000, seed=12))
    def scores(*words):
        result = run("evaluate", data / "model.npz", test, "--method", "npae,gpoe", "--json", *words)
        return [[s[k] for k in ("smse", "msll", "mae", "crps")] for s in result.json()]

    assert np.allclose(scores(), scores("--memory", "10M", "--threads", 1), rtol=1e-10)


def test_evaluate_with_the_graph_of_the_test_inputs(data):
    scores = run("evaluate", data / "model.npz", data / "test.csv", "--method", "npae*",
                 "--graph-on", "test", "--json").json()
    assert np.isfinite(scores[0]["smse"]) and scores[0]["rows"] == 80


def test_evaluate_table(data):
    result = run("evaluate", data / "model.npz", data / "test.csv", "--method", "npae,gpoe")
    head, *rows = result.out.splitlines()
    assert re.split(r"  +", head) == ["method", "select", "space", "SMSE", "MSLL", "MAE", "RMSE",
                                      "NLPD", "CRPS", "50 %", "90 %", "95 %", "99 %", "experts",
                                      "seconds"]
    assert [row.split()[0] for row in rows] == ["npae", "gpoe"]
    assert {len(row) for row in rows} == {len(head)}


def test_evaluate_defaults_to_what_predict_does(data):
    [score] = run("evaluate", data / "model.npz", data / "test.csv", "--json").json()
    assert score["method"] == "nearest"


# ---- inspect -------------------------------------------------------------------------------------------------------------


def test_inspect_json(data):
    model = run("inspect", data / "model.npz", "--json").json()
    assert (model["rows"], model["inputs"], model["experts"]) == (300, 2, 4)
    assert model["names"] == ["a", "b"] and model["target"] == "y"
    sizes = model["sizes"]
    assert sum(sizes["each"]) == 300
    assert sizes["smallest"] == min(sizes["each"]) and sizes["largest"] == max(sizes["each"])
    assert sizes["median"] == np.median(sizes["each"])
    train = np.loadtxt(data / "train.csv", delimiter=",", skiprows=1)
    for d, h in enumerate(model["hyperparameters"]):
        assert np.isclose(h["mean"], train[:, d].mean(), rtol=1e-9)
        assert np.isclose(h["lengthscale_in_units"], h["lengthscale"] * h["scale"])
    assert np.isclose(sum(h["inverse_lengthscale_share"] for h in model["hyperparameters"]), 1.0)
    scores = model["kernel_scores"]
    assert not scores or sorted(scores) == ["matern12", "matern32", "matern52", "se"]
    assert model["spread"] is None or model["spread"] > 0
    assert model["train"] == "neighbours" and model["calibration_rows"] == 0
    graph = model["graph"]
    assert sorted(graph["ranking"]) == [1, 2, 3, 4]
    if graph["edges"]:
        ranked = [graph["importance"][i - 1] for i in graph["ranking"]]
        assert ranked == sorted(ranked, reverse=True)


def test_inspect_text(data):
    lines = run("inspect", data / "model.npz").out.splitlines()
    assert lines[:3] == ["rows        300", "inputs      2", "target      y"]
    assert re.fullmatch(r"experts     4 \(kmeans\), rows each: \d+ smallest, [\d.]+ median, "
                        r"\d+ largest", lines[3])
    assert any(re.match(r"rank +expert +rows +importance", line) for line in lines)
    assert len(lines[-4:]) == 4 and lines[-1].split()[0] == "4"


@pytest.fixture(scope="module")
def turned(tmp_path_factory):
    """A model whose metric is linear: the target changes along bbb - aaa of standardised inputs."""
    here = tmp_path_factory.mktemp("turned")
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 3))
    y = np.sin(3.0 * (x[:, 1] - 0.6 * x[:, 0])) + 0.05 * rng.standard_normal(300)
    write_csv(here / "t.csv", np.column_stack([x, y]), header="aaa,bbb,ccc,y")
    run("fit", here / "t.csv", "-o", here / "m.npz", "--metric", "linear", "-q")
    return here / "m.npz"


def test_inspect_shows_directions(turned):
    text = run("inspect", turned).out
    assert "The metric is linear: 3 directions in the inputs, these first\n" in text
    assert re.search(r"^direction +length-scale +share +of standardised inputs$", text, re.M)
    assert re.search(r"^ +1 +[\d.]+ +[\d.]+ % +#+ +0\.8\d bbb - 0\.5\d aaa$", text, re.M), text
    assert re.search(r"^aaa +[\d.]+ +[\d.]+ +[\d.]+ %", text, re.M)  # along the inputs themselves


def test_inspect_json_has_directions(turned):
    model = run("inspect", turned, "--json").json()
    with np.load(turned) as file:
        rotation, length = file["rotation"], np.exp(file["log_lengthscale"])
    assert model["metric"] == "linear" and len(model["directions"]) == 3
    assert np.array_equal([k["weights"] for k in model["directions"]], rotation)
    assert np.allclose([k["lengthscale"] for k in model["directions"]], length, rtol=1e-14)
    share = [k["inverse_lengthscale_share"] for k in model["directions"]]
    assert np.allclose(share, 1 / length / (1 / length).sum()) and not any(h["at_bound"] for h in model["hyperparameters"])
    along = 1 / np.sqrt((rotation**2 / length[:, None]**2).sum(0))
    assert np.allclose([h["lengthscale"] for h in model["hyperparameters"]], along)
    assert np.isclose(sum(h["inverse_lengthscale_share"] for h in model["hyperparameters"]), 1.0)


def test_inspect_without_directions(tmp_path, data):
    run("fit", data / "train.csv", "-o", tmp_path / "m.npz", "--metric", "ard", "--kernel", "se", "-q")
    model = run("inspect", tmp_path / "m.npz", "--json").json()
    assert model["metric"] == "ard" and model["directions"] == []
    assert "metric is linear" not in run("inspect", tmp_path / "m.npz").out


def test_directions_of_evil_names(tmp_path, turned):
    """Names from anywhere, long ones too, stay text."""
    rename_columns(turned, tmp_path / "m.npz", {"aaa": "\x1b]0;owned\x07", "bbb": "é" * 2000})
    text = run("inspect", tmp_path / "m.npz").out
    assert "\x1b" not in text and "\\x1b]0;owned" in text and "The metric is linear" in text


def test_fit_tells_the_metric(tmp_path, data, turned):
    for metric, said in (("ard", "ard"), ("linear", "linear")):
        made = run("fit", turned.parent / "t.csv", "-o", tmp_path / "m.npz", "--metric", metric, "--json", "-q",
                   "--max-evaluations", 5).json()
        assert made["metric"] == said
    assert "auto|ard|linear" in run("fit", data / "train.csv", "-o", tmp_path / "m.npz", "--metric", "input", code=2).err


# ---- graph ----------------------------------------------------------------------------------------------------------------


def test_graph_json(tmp_path, data):
    run("graph", data / "model.npz", "-o", tmp_path / "g.json", "--select", "graph:0.5", "--test",
        data / "test.csv", "-q")
    graph = json.loads((tmp_path / "g.json").read_text())
    nodes = graph["nodes"]
    assert [n["rank"] for n in nodes] == [1, 2, 3, 4]
    assert [n["selected"] for n in nodes] == [True, True, False, False]
    best = sorted(nodes, key=lambda n: n["mse"])
    assert [n["best"] for n in best] == [True, True, False, False]
    ranking = run("inspect", data / "model.npz", "--json").json()["graph"]
    assert [n["expert"] for n in nodes] == ranking["ranking"]
    assert len(graph["edges"]) == ranking["edges"]
    with np.load(data / "model.npz") as model:
        for edge in graph["edges"]:
            assert edge["precision"] == model["precision"][edge["from"] - 1, edge["to"] - 1]


def test_graph_worst(tmp_path, data):
    run("graph", data / "model.npz", "-o", tmp_path / "g.json", "--select", "worst:0.25", "-q")
    nodes = json.loads((tmp_path / "g.json").read_text())["nodes"]
    assert [n["selected"] for n in nodes] == [False, False, False, True]


def test_graph_on_test_inputs(tmp_path, data):
    """The selection is the one that evaluate makes."""
    run("graph", data / "model.npz", "-o", tmp_path / "g.json", "--select", "graph:0.25", "--test",
        data / "test.csv", "--graph-on", "test", "-q")
    first = json.loads((tmp_path / "g.json").read_text())["nodes"][0]["expert"]
    words = ["evaluate", data / "model.npz", data / "test.csv", "--method", "poe", "--json"]
    chosen = run(*words, "--select", "graph:0.25", "--graph-on", "test").json()[0]
    assert chosen["smse"] == run(*words, "--select", f"expert:{first}").json()[0]["smse"]
    result = run("graph", data / "model.npz", "-o", tmp_path / "g.json", "--graph-on", "test", code=2)
    assert "--graph-on test needs --test TEST" in result.err


def test_graph_selects_by_importance_unless_told(tmp_path, data):
    run("graph", data / "model.npz", "-o", tmp_path / "g.json", "-q")
    assert json.loads((tmp_path / "g.json").read_text())["select"] == "graph:0.8"


def test_graph_of_one_expert(tmp_path, data):
    run("fit", data / "train.csv", "-o", tmp_path / "m.npz", "--experts", 1, "--theta", "1,1,0.1")
    run("graph", tmp_path / "m.npz", "-o", tmp_path / "g.dot")
    assert "e1 [" in (tmp_path / "g.dot").read_text()


def test_graph_dot(tmp_path, data):
    result = run("graph", data / "model.npz", "-o", tmp_path / "g.dot", "--test", data / "test.csv")
    assert result.out == ""
    text = (tmp_path / "g.dot").read_text()
    assert text.startswith("graph experts {\n") and text.endswith("}\n")
    assert len(re.findall(r"^  e\d+ \[", text, re.M)) == 4
    assert "&lambda; = " in text and "&alpha; = 0.8" in text


@pytest.mark.skipif(not shutil.which("neato"), reason="Graphviz is not installed")
def test_graph_svg(tmp_path, data):
    run("graph", data / "model.npz", "-o", tmp_path / "g.svg", "--test", data / "test.csv")
    root = xml.parse(tmp_path / "g.svg").getroot()
    nodes = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "node"]
    assert len(nodes) == 4
    assert os.listdir(tmp_path) == ["g.svg"]
    run("graph", data / "model.npz", "-o", tmp_path / "g.png")
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_graph_without_graphviz(tmp_path, data):
    (tmp_path / "g.svg").write_text("old")
    result = run("graph", data / "model.npz", "-o", tmp_path / "g.svg", code=1,
                 env={**os.environ, "PATH": str(tmp_path)})
    assert "apt install graphviz" in result.err
    assert (tmp_path / "g.svg").read_text() == "old"
    assert os.listdir(tmp_path) == ["g.svg"]


# ---- demo and interruption ------------------------------------------------------------------------------------------------


def test_demo(tmp_path):
    result = run("demo", "-o", tmp_path / "new", "-q")
    lines = result.out.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("method"))
    assert re.split(r"  +", lines[head]) == ["method", "SMSE", "MSLL", "MAE", "95 %", "seconds"]
    methods = [re.split(r"  +", line)[0] for line in lines[head + 1 : lines.index("", head)]]
    assert methods[:4] == ["nearest", "cells", "npae", "npae*"]
    assert methods[4:] == ["groups", "ggm", "grbcm", "rbcm", "bcm", "gpoe", "gpoe-entropy", "poe", "single"]
    picture = tmp_path / "new" / "demo.svg"
    assert str(picture) in result.out
    root = xml.parse(picture).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "true function" in texts and any(t.startswith("nearest: SMSE ") for t in texts)


def test_demo_json(tmp_path):
    scores = run("demo", "-o", tmp_path, "--experts", 10, "--kernel", "se", "--json", "-q").json()
    best = {(s["method"], s["select"]): s for s in scores}
    assert best["nearest", "auto"]["smse"] < best["poe", "auto"]["smse"]
    assert best["npae", "auto"]["experts_used"] == 10 and best["nearest", "auto"]["experts_used"] == 0
    assert best["npae*", "graph:0.8"]["rows"] == 500


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_fit(tmp_path, number, code):
    """Training six large experts takes long enough to be stopped."""
    path = write_csv(tmp_path / "t.csv", make_rows(12000, seed=4))
    child = subprocess.Popen([QUORUM, "fit", path, "-o", tmp_path / "m.npz", "--experts", "6",
                              "--tolerance", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
    time.sleep(1.5)
    assert child.poll() is None
    child.send_signal(number)
    out, err = child.communicate(timeout=120)
    assert child.returncode == code
    assert out == ""
    assert err.splitlines()[-1].startswith("quorum fit: cancelled")
    assert os.listdir(tmp_path) == ["t.csv"]


def test_progress_lines_go_to_stderr(tmp_path):
    """Without a terminal: plain lines, no control characters."""
    path = write_csv(tmp_path / "t.csv", make_rows(800, seed=4))
    result = run("fit", path, "-o", tmp_path / "m.npz", "--kernel", "se", "-v", "--json")
    result.json()
    assert "\r" not in result.said and "\x1b" not in result.said
    assert all(line.startswith("quorum fit: ") for line in result.said.splitlines())


@pytest.mark.skipif(not shutil.which("script"), reason="script(1) is not installed")
def test_progress_bar_on_a_terminal(tmp_path):
    """On a terminal a bar is drawn, and it is gone at the end."""
    path = write_csv(tmp_path / "t.csv", make_rows(1900, seed=4))
    line = f"'{QUORUM}' fit '{path}' -o '{tmp_path}/m.npz' --kernel se --json >'{tmp_path}/out'"
    done = subprocess.run(["script", "-qec", line, "/dev/null"], capture_output=True)
    assert done.returncode == 0
    json.loads((tmp_path / "out").read_text())
    drawn = done.stdout.split(b"\r\x1b[K")
    assert any(b"train  [" in bar for bar in drawn)
    assert max(map(len, drawn)) < 100
    assert b"[" not in drawn[-1]


def test_small_scores_keep_their_digits(tmp_path):
    """A target without noise: errors far below 0.0001 of its variance."""
    x = np.random.default_rng(3).uniform(-2, 2, (300, 1))
    path = write_csv(tmp_path / "t.csv", np.hstack([x, np.sin(x)]), header="x,y")
    run("fit", path, "-o", tmp_path / "m.npz", "--kernel", "se", "--experts", 1, "-q")
    words = ["evaluate", tmp_path / "m.npz", path]
    smse = run(*words, "--json").json()[0]["smse"]
    assert 0 < smse < 1e-4
    row = re.split(r"  +", run(*words).out.splitlines()[1])
    assert float(row[3]) == pytest.approx(smse, rel=0.01)


@pytest.mark.parametrize("targets, why", [([0.5], "one target has no variance"),
                                          ([0.1, 0.1, 0.1], "the targets are all the same")])
def test_scores_that_do_not_exist_are_explained(data, tmp_path, targets, why):
    rows = np.column_stack([np.linspace(0, 1, len(targets)), np.ones(len(targets)), targets])
    path = write_csv(tmp_path / "t.csv", rows)
    result = run("evaluate", data / "model.npz", path)
    assert why in result.err
    assert re.split(r"  +", result.out.splitlines()[1])[3] == "-"
    assert "inf" not in result.out and "nan" not in result.out
    result = run("evaluate", data / "model.npz", path, "--json")
    assert result.json()[0]["smse"] is None and why in result.err
    assert "SMSE" not in run("evaluate", data / "model.npz", data / "test.csv").err


def test_percentages_are_answered_with_the_share(data):
    for words, meant in ((["--interval", "95"], "did you mean 0.95?"),
                         (["--select", "graph:80"], "did you mean graph:0.8?")):
        result = run("predict", data / "model.npz", data / "queries.csv", *words, code=2)
        assert meant in result.err


# ---- What takes long ------------------------------------------------------------------------


def first_note(*words, seconds):
    """The first note of a command that is broken off then, or after so long; None without one."""
    with subprocess.Popen([QUORUM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        stop = threading.Timer(seconds, process.kill)
        stop.start()
        said = next((line for line in process.stderr if "note: " in line), None)
        stop.cancel()
        process.kill()
    return said


def test_hours_are_told_at_their_beginning(tmp_path):
    """Millions of queries by the default neighbourhoods, of which the first thousands say how long all take."""
    model, queries = tmp_path / "m.npz", tmp_path / "q.npy"
    run("fit", write_csv(tmp_path / "t.csv", make_rows(2000, seed=3)), "-o", model, "--theta", "1,1,0.01",
        "--graph", "none")
    np.save(queries, np.random.default_rng(4).uniform(-2, 2, (2_000_000, 2)).astype(np.float32))
    said = first_note("predict", model, queries, "-o", tmp_path / "o.csv", "--threads", 1, "--memory", "20M",
                      seconds=250)
    assert said and re.search(r"this will take about [0-9.]+ (minutes|hours) more; --neighbours 64 is many times faster", said)


# ---- evaluate --by ----------------------------------------------------------------------------------------------------


def test_by_table(data):
    out = run("evaluate", data / "model.npz", data / "test.csv", "--by", "a", "-q").out
    scores, groups = out.split("\n\n")
    assert len(scores.splitlines()) == 2
    lines = groups.splitlines()
    assert lines[0].split() == ["a", "rows", "95", "%", "expected", "width", "RMSE", "MSLL"]
    assert len(lines) == 11 and all(" 8 " in line for line in lines[1:])
    out = run("evaluate", data / "model.npz", data / "test.csv", "--by", "distance", "--method",
              "nearest,rbcm", "-q").out
    assert [line.split()[0] for line in out.split("\n\n")[1].splitlines()] == (
        ["method"] + 10 * ["nearest"] + 10 * ["rbcm"])


def test_by_says_what_is_wrong(tmp_path, data):
    model, test = data / "model.npz", data / "test.csv"
    assert "has no column \"nowhere\"" in run("evaluate", model, test, "--by", "nowhere", code=1).err
    assert "--plot draws the groups of --by" in run("evaluate", model, test, "--plot", "x.svg", code=2).err
    err = run("evaluate", model, test, "--by", "a", "--plot", tmp_path / "no" / "x.svg", code=1).err
    assert "cannot be written" in err
    lines = test.read_text().splitlines()
    words = tmp_path / "words.csv"
    words.write_text("\n".join([lines[0] + ",place"] + [line + ",Rome" for line in lines[1:]]) + "\n")
    assert "place" in run("evaluate", model, words, "--by", "place", code=1).err
    assert run("evaluate", model, words, "--by", "a").code == 0


def test_by_stays_within_memory(tmp_path, data):
    """Of 200,000 rows 56 bytes each are more than 10 MB; scores alone keep nothing."""
    rows = make_rows(40, seed=3)
    long = tmp_path / "long.csv"
    write_csv(long, np.tile(rows, (5000, 1)))
    words = ["evaluate", data / "model.npz", long, "--method", "gpoe", "--memory", "10M"]
    err = run(*words, "--by", "a", code=1).err
    assert "--by keeps 56 bytes of every test row" in err and "raise --memory" in err
    run(*words)


# ---- fit --warp -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def warped(tmp_path_factory):
    """Positive targets, and the model of their logarithms."""
    here = tmp_path_factory.mktemp("warped")
    rows = make_rows(200, seed=5)
    rows[:, 2] = np.exp(rows[:, 2])
    write_csv(here / "train.csv", rows)
    run("fit", here / "train.csv", "-o", here / "m.npz", "--warp", "log", "--kernel", "se", "-q")
    return here


def test_inspect_shows_the_warp(tmp_path, warped, data):
    text = run("inspect", warped / "m.npz").out
    assert "warp        log: the model is of log(y)\n" in text
    assert "away from the rows logarithms return to" in text and "in units of log(y)\n" in text
    assert run("inspect", warped / "m.npz", "--json").json()["warp"] == {"kind": "log", "shift": 0.0}
    assert run("inspect", data / "model.npz", "--json").json()["warp"] == {"kind": "none", "shift": 0.0}
    assert "warp" not in run("inspect", data / "model.npz").out


def test_a_warp_has_its_format_version(tmp_path, warped, data):
    """A reader of earlier versions refuses it; of a fit with a spread that is the version."""
    for model, version, wrong in ((warped / "m.npz", 5, 4), (data / "model.npz", 11, 5)):
        def change(content):
            meta = json.loads(content)
            assert meta["format_version"] == version
            return json.dumps({**meta, "format_version": wrong})
        rewrite_meta(model, tmp_path / "wrong.npz", change)
        assert "does not go with its format version" in run("inspect", tmp_path / "wrong.npz", code=1).err
