"""quorum reproduce from end to end, in its quick form."""
import csv
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from conftest import EXPERIMENTS, QUORUM


def reproduce(*words, code=0, **environment):
    done = subprocess.run([QUORUM, "reproduce", *map(str, words)], capture_output=True, text=True,
                          timeout=300, env={**os.environ, **environment})
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    done = reproduce("synthetic", "--out", out, "--quick")
    return out / "synthetic-quick", done


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def cells_of(folder):
    return {cell["name"]: cell for cell in json.loads((folder / "cells.json").read_text())}


class Checker(HTMLParser):
    """Tags that are closed as they should be, and ids that occur once."""
    VOID = {"meta", "br", "img", "use", "path", "line", "polygon", "circle", "ellipse"}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.tags = [], [], {}

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.ids += [v for k, v in attrs if k == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.ids += [v for k, v in attrs if k == "id"]

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_page_is_whole_and_self_contained(quick):
    folder, _ = quick
    text = (folder / "synthetic.html").read_text()
    page = Checker()
    page.feed(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert page.tags["script"] == 1 and "src=" not in text and "http" not in outside_svg(text)
    assert page.tags["svg"] >= 12
    assert "scale(0.00)" not in text   # a matrix without inverse: some viewers draw nothing at all
    assert text.count('role="img" aria-label="') == page.tags["svg"]
    assert "A quick look" in text
    assert "quorum reproduce synthetic --out DIR --seeds 1 --quick" in text


def test_no_expert_is_cut_off(tmp_path):
    """A graph fills its picture, to the edge and not beyond."""
    import figures
    cells = cells_of(Path(EXPERIMENTS) / "results" / "pumadyn")
    figures.expert_graph(tmp_path / "graph.svg", cells["kmeans M15 seed1: graph"]["result"], {1}, {3})
    text = (tmp_path / "graph.svg").read_text()
    box = [float(v) for v in re.search(r'viewBox="0.00 0.00 ([\d.]+) ([\d.]+)"', text).groups()]
    scale = float(re.search(r"scale\(([\d.]+)", text)[1])
    corners = [[float(v) for v in point.split(",")]
               for point in re.search(r'<polygon [^>]*points="([^"]+)"', text)[1].split()]
    for size, along in zip(box, zip(*corners)):
        assert scale * (max(along) - min(along)) == pytest.approx(size, rel=1e-3)


def outside_svg(text):
    return re.sub(r"<svg.*?</svg>", "", text, flags=re.S)


def test_contents_and_links_lead_somewhere(quick):
    folder, _ = quick
    text = (folder / "synthetic.html").read_text()
    nav = text[text.index("<nav"):text.index("</nav>")]
    for target in re.findall(r'href="([^"]+)"', nav):
        if target.startswith("#"):
            assert f'id="{target[1:]}"' in text
        else:
            assert (folder / target).exists(), target
    assert nav.count('href="#') == text.count("<h2")
    numbers = [int(n) for n in re.findall(r"<b>Figure (\d+)\.</b>", text)]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 12


def test_stored_cells_make_a_page_whatever_made_them(quick, tmp_path):
    folder = tmp_path / "synthetic-quick"
    shutil.copytree(quick[0], folder)
    cells = cells_of(folder)
    for cell in cells.values():
        cell["key"], cell["commit"] = "of another version", "abc1234"
    (folder / "cells.json").write_text(json.dumps(list(cells.values())))
    done = reproduce("synthetic", "--out", folder.parent, "--quick", "--stored")
    assert "(0 of" in done.stdout
    assert "commit: abc1234" in (folder / "synthetic.html").read_text()
    del cells["M20 seed1 lambda 0.2: npae"]
    (folder / "cells.json").write_text(json.dumps(list(cells.values())))
    done = reproduce("synthetic", "--out", folder.parent, "--quick", "--stored")
    assert "1 missing" in done.stdout
    text = (folder / "synthetic.html").read_text()
    assert ("1 cells of the plan that were not run for this page</summary>"
            "<pre>M20 seed1 lambda 0.2: npae</pre>") in text


@pytest.mark.parametrize("name, tables", [("consistency", ["consistency.csv", "claims.csv"]),
                                          ("committee", ["scores.csv"])])
def test_experiments_without_data(tmp_path, name, tables):
    reproduce(name, "--out", tmp_path, "--quick")
    folder = tmp_path / f"{name}-quick"
    page = Checker()
    page.feed((folder / f"{name}.html").read_text())
    assert page.open == [] and len(page.ids) == len(set(page.ids))
    for table in tables:
        assert len(rows_of(folder / table)) >= 15


def test_again_may_name_the_fit_whose_theta_another_takes(tmp_path):
    words = ("committee", "--out", tmp_path, "--quick", "-q")
    reproduce(*words)
    before = cells_of(tmp_path / "committee-quick")
    done = reproduce(*words, "--again", "noise 0.01 seed1")
    after = cells_of(tmp_path / "committee-quick")
    assert "(6 of" in done.stdout
    for name in before:
        assert before[name]["key"] == after[name]["key"]
    theta = [after[f"noise 0.01 seed1{more}"]["result"]["lengthscale"]
             for more in ("", ", random parts")]
    assert theta[0] == pytest.approx(theta[1], rel=1e-12)


def test_the_committee_takes_the_real_sets_that_are_there(tmp_path):
    import committee

    class Setup:
        data, folder, seeds, quick = str(tmp_path), str(tmp_path), [1], False
    assert committee.real_sets(Setup) == []
    (tmp_path / "protein").mkdir()
    for part in ("train", "test"):
        np.savetxt(tmp_path / "protein" / f"{part}.csv.gz", np.zeros((5, 2)), delimiter=",",
                   header="x,y", comments="")
    assert {c.about["data"] for c in committee.real_sets(Setup)} == {"protein"}


def test_consistency_scores_are_those_of_the_truth(tmp_path):
    """NPAE of one expert is the exact GP, of the low-rank factor and of the command alike."""
    import consistency
    train, test, model, out = (str(tmp_path / n) for n in ("a.csv", "b.csv", "m.npz", "p.csv"))
    for path, part in ((train, "train"), (test, "test")):
        header, rows = consistency.points("growing", 5, 500, part)
        np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.12g")
    theta = consistency.standardised("growing", np.loadtxt(train, delimiter=",", skiprows=1))
    for words in (["fit", train, "-o", model, "--experts", "1", "--kernel", "se", "--theta", theta],
                  ["predict", model, test, "-o", out, "--latent"]):
        subprocess.run([QUORUM, *words, "-q"], check=True)
    found = rows_of(out)
    columns = {name: [float(r[name]) for r in found] for name in ("mean", "std")}
    score = consistency.score(columns, "growing", train, test)
    assert score["to_exact"] < 1e-10
    assert score["mse"] == pytest.approx(score["exact_mse"], rel=1e-4)
    assert score["loss"] == pytest.approx(score["exact_loss"], abs=1e-5)
    worse = consistency.score({**columns, "mean": [m + 1 for m in columns["mean"]]}, "growing",
                              train, test)
    assert worse["to_exact"] == pytest.approx(1.0, rel=1e-4)


def test_tables_are_tidy(quick):
    folder, _ = quick
    scores = rows_of(folder / "scores.csv")
    assert {r["method"] for r in scores} == {"nearest", "npae", "gpoe", "rbcm", "grbcm"}
    assert {r["M"] for r in scores} == {"1", "10", "20", "auto"}
    for r in scores:
        assert 0 < float(r["smse"]) < 3 and 0 <= float(r["coverage95"]) <= 1
    assert len(rows_of(folder / "experts.csv")) == 10 + 15 + 20
    assert {r["holds"] for r in rows_of(folder / "claims.csv")} <= {"True", "False"}


def test_only_what_ran_alone_has_seconds(quick):
    """Two at a time with half of the threads where nobody looks at seconds, else all of them."""
    folder, _ = quick
    rows = {r["cell"]: r["seconds"] for r in rows_of(folder / "scores.csv")}
    threads = {name: cell["threads"] for name, cell in cells_of(folder).items()}
    assert float(rows["M20 seed1: npae"]) > 0 and rows["M20 seed1: alpha"] == ""
    assert threads["M20 seed1: npae"] >= 2 * threads["M20 seed1: alpha"] or max(
        threads.values()) == 1
    assert threads["M20 seed1"] == threads["M20 seed1: alpha"]


def test_cells_say_how_they_were_made(quick):
    folder, _ = quick
    text = (folder / "cells.json").read_text()
    cells = json.loads(text)
    assert len(cells) >= 25 and len(text.splitlines()) == len(cells) + 2   # a line each
    for cell in cells:
        assert cell["command"].startswith("quorum ") and cell["version"].startswith("quorum ")
        assert {"name", "commit", "machine", "date", "key", "result"} <= cell.keys()


def test_second_run_executes_nothing(quick):
    folder, first = quick
    assert "(0 of" not in first.stdout
    wall, used = map(float, re.search(r" in (\S+) minutes; (\S+) processor minutes\)",
                                      first.stdout).groups())
    assert 0 < used <= (wall + 0.1) * len(os.sched_getaffinity(0))
    done = reproduce("synthetic", "--out", folder.parent, "--quick")
    assert "(0 of" in done.stdout
    assert done.stderr == ""


def test_interrupted_run_goes_on(quick):
    folder, _ = quick
    before = cells_of(folder)
    cells = {name: dict(cell) for name, cell in before.items()}
    cells["M10 seed1: npae"]["key"] = "of another command"
    del cells["M20 seed1: npae"]
    os.remove(folder / "work" / "m20-seed1.npz")     # its fit has to be run again
    cells["of other seeds"] = {"name": "of other seeds"}
    (folder / "cells.json").write_text(json.dumps(list(cells.values())))
    done = reproduce("synthetic", "--out", folder.parent, "--quick")
    assert "(3 of" in done.stdout
    after = cells_of(folder)
    assert after.pop("of other seeds") == {"name": "of other seeds"}
    assert {c["key"] for c in after.values()} == {c["key"] for c in before.values()}
    assert not list(folder.glob("*.part"))


@pytest.mark.parametrize("text", ["", "[{}]", '[{"name": "a"}', "7"])
def test_a_damaged_file_of_cells_is_left_alone(tmp_path, text):
    folder = tmp_path / "synthetic-quick"
    folder.mkdir()
    (folder / "cells.json").write_text(text)
    done = reproduce("synthetic", "--out", tmp_path, "--quick", code=1)
    assert "cells.json is not a list of finished cells; remove it" in done.stderr
    assert (folder / "cells.json").read_text() == text


def test_again_runs_what_is_named(quick):
    folder, _ = quick
    done = reproduce("synthetic", "--out", folder.parent, "--quick", "--again", "own default")
    assert "(2 of" in done.stdout
    assert "synthetic 1/2  own default seed1" in done.stderr and " left" in done.stderr
    quiet = reproduce("synthetic", "--out", folder.parent, "--quick", "--again", "own default",
                      "-q")
    assert quiet.stderr == ""


def test_data_sets_are_read_and_cut_for_a_quick_look(tmp_path):
    rng = np.random.default_rng(1)
    folder = tmp_path / "data" / "pumadyn32nm"
    folder.mkdir(parents=True)
    for part, n in (("train", 400), ("test", 100)):
        x = rng.normal(size=(n, 3))
        y = np.sin(x[:, 0]) + 0.1 * rng.normal(size=n)
        np.savetxt(folder / f"{part}.csv.gz", np.column_stack([x, y]), delimiter=",",
                   header="x1,x2,x3,y", comments="")
    reproduce("pumadyn", "--data", tmp_path / "data", "--out", tmp_path / "out", "--quick")
    differences = rows_of(tmp_path / "out" / "pumadyn-quick" / "differences.csv")
    assert {r["table"] for r in differences} == {"1", "3", "4"}
    text = (tmp_path / "out" / "pumadyn-quick" / "pumadyn.html").read_text()
    assert "This project's own, not in the paper" in text


@pytest.mark.parametrize("words, parts", [
    (["pumadyn", "--out", "o"], ["--data DIR is missing: only synthetic"]),
    (["synthetic"], ["--out DIR is missing"]),
    (["nosuch", "--out", "o"], ["'nosuch' is not one of synthetic"]),
    (["synthetic", "--out", "o", "--seeds", "1-5"], ["1-5", "1..5"]),
])
def test_wrong_command_lines(tmp_path, words, parts):
    done = subprocess.run([QUORUM, "reproduce", *words], capture_output=True, text=True,
                          cwd=tmp_path)
    assert done.returncode == 2
    for part in parts:
        assert part in done.stderr


def test_missing_data_is_named(tmp_path):
    done = reproduce("protein", "--data", tmp_path, "--out", tmp_path / "o", code=1)
    assert "protein/train.csv.gz is not there" in done.stderr


def test_experiments_that_are_not_there(tmp_path):
    done = reproduce("synthetic", "--out", tmp_path, code=1, QUORUM_EXPERIMENTS=str(tmp_path))
    assert "there is no __main__.py" in done.stderr


@pytest.mark.parametrize("missing, package", [("gnuplot", "gnuplot-nox"), ("dot", "graphviz")])
def test_missing_programs_are_named(tmp_path, missing, package):
    for program in ("python3", "gnuplot", "dot"):
        if program != missing:
            (tmp_path / program).symlink_to(shutil.which(program))
    done = reproduce("synthetic", "--out", tmp_path, code=1, PATH=str(tmp_path))
    assert f"'{missing}'" in done.stderr and f"apt install {package}" in done.stderr


@pytest.mark.parametrize("text, seeds", [("1..5", [1, 2, 3, 4, 5]), ("1,4,7", [1, 4, 7]),
                                         ("3", [3]), ("1..3,2,9", [1, 2, 3, 9])])
def test_seeds(text, seeds):
    place = importlib.util.spec_from_file_location("main", os.path.join(EXPERIMENTS, "__main__.py"))
    main = importlib.util.module_from_spec(place)
    sys.modules["main"] = main
    place.loader.exec_module(main)
    assert main.seed_list(text) == seeds
