"""Columns of text from end to end: which are categories, which are not, and what is said of it."""
import json
import subprocess
import zipfile

import numpy as np
import pytest
from conftest import QUORUM, make_rows, run

RNG = np.random.default_rng(3)
COLOURS = ["red", "green", "blue"]


def write(path, columns, n=None):
    """columns: name -> list of texts."""
    names = list(columns)
    rows = zip(*(columns[k] for k in names))
    path.write_text(",".join(names) + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    return path


def table(n=120, **more):
    code = RNG.integers(3, size=n)
    x = RNG.uniform(-1, 1, n)
    y = (x + code + 0.1 * RNG.normal(size=n)).tolist()
    return {"colour": [COLOURS[c] for c in code], "x": x.tolist(), **more, "y": y}


def categories(model):
    with zipfile.ZipFile(model) as z:
        meta = json.loads(z.read("meta.json"))
    return {meta["columns"][c["input"]]: c["levels"] for c in meta.get("categories", [])}, meta


def fit(tmp_path, columns, *options, code=0):
    write(tmp_path / "t.csv", columns)
    return run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *options, code=code)


def test_text_is_a_category(tmp_path):
    fit(tmp_path, table())
    assert categories(tmp_path / "m.npz")[0] == {"colour": sorted(COLOURS)}
    out = run("inspect", tmp_path / "m.npz").out
    at = [out.index(c) for c in COLOURS]
    assert at == sorted(at)  # by position, which follows the target
    shown = run("inspect", tmp_path / "m.npz", "--json").json()["categories"]
    assert shown[0]["input"] == "colour" and shown[0]["levels"] == COLOURS
    assert shown[0]["positions"] == sorted(shown[0]["positions"])
    score = run("evaluate", tmp_path / "m.npz", tmp_path / "t.csv", "--json").json()
    assert score["results"][0]["smse"] < 0.05 if "results" in score else score


def test_tables_without_text_stay_as_they_were(tmp_path):
    fit(tmp_path, {"a": [0.1 * i for i in range(50)], "y": [i % 7 for i in range(50)]})
    assert categories(tmp_path / "m.npz")[1]["format_version"] < 6
    assert "categories" not in categories(tmp_path / "m.npz")[1]


def test_none_refuses_text_and_names_all(tmp_path):
    err = fit(tmp_path, table(city=["a", "b"] * 60), "--categorical", "none", code=1).err
    assert "colour" in err and "city" in err and "--categorical auto" in err


def test_numbers_by_name(tmp_path):
    k = RNG.integers(1, 5, 120)
    fit(tmp_path, table(k=k.tolist()), "--categorical", "k")
    found = categories(tmp_path / "m.npz")[0]
    assert found["k"] == ["1", "2", "3", "4"] and found["colour"] == sorted(COLOURS)
    assert "target" in fit(tmp_path, table(), "--categorical", "y", code=1).err
    assert "no column" in fit(tmp_path, table(), "--categorical", "nix", code=1).err


def test_text_that_comes_late(tmp_path):
    k = RNG.integers(1, 5, 400).tolist()
    k[-1] = k[-2] = "4b"
    fit(tmp_path, table(400, k=k))
    assert categories(tmp_path / "m.npz")[0]["k"] == ["1", "2", "3", "4", "4b"]
    text = (tmp_path / "t.csv").read_text()
    err = run("fit", "-", "-o", tmp_path / "m.npz", stdin=text, code=1).err
    assert "4b" in err and "--categorical k" in err
    run("fit", "-", "-o", tmp_path / "p.npz", "--categorical", "k", stdin=text)
    assert categories(tmp_path / "p.npz")[0] == {"colour": sorted(COLOURS), "k": ["1", "2", "3", "4", "4b"]}


def test_a_wrong_cell_among_numbers_is_an_error(tmp_path):
    u, v = RNG.normal(size=300).tolist(), RNG.normal(size=300).tolist()
    u[200], v[250] = "12kg", "n.a."
    err = fit(tmp_path, table(300, u=u, v=v), code=1).err
    assert "12kg" in err and "line 202" in err and "--categorical u" in err and err.rstrip().endswith("also v")
    assert "2 rows with missing cells" in fit(tmp_path, table(300, u=u, v=v), "--missing", "drop").err


def test_identifiers_are_left_out(tmp_path):
    note = fit(tmp_path, table(120, id=[f"row{i}" for i in range(120)])).err
    assert "id" in note and "left out" in note
    _, meta = categories(tmp_path / "m.npz")
    assert meta["columns"] == ["colour", "x", "y"] and meta["target_place"] == 2
    run("predict", tmp_path / "m.npz", tmp_path / "t.csv")
    fit(tmp_path, table(120, id=[f"row{i}" for i in range(120)]), "--categorical", "id")
    assert len(categories(tmp_path / "m.npz")[0]["id"]) == 120
    err = fit(tmp_path, {"id": [f"r{i}" for i in range(30)], "y": list(range(30))}, code=1).err
    assert "id" in err and "nothing to learn" in err


def test_texts_some_of_which_are_numbers_are_left_out_too(tmp_path):
    """Models of cars: most are names, some are 90 or 900."""
    cars = [f"{k}" if k % 4 == 0 else f"car {k}" for k in range(120)]
    err = fit(tmp_path, table(120, car=cars), "--theta", "1,1,1,0.1").err
    assert "nearly every row has a text of its own there: car" in err
    assert categories(tmp_path / "m.npz")[1]["columns"] == ["colour", "x", "y"]
    run("predict", tmp_path / "m.npz", tmp_path / "t.csv")
    few = [f"{k + 0.5}" if k % 4 else "none at all" for k in range(120)]
    assert "none at all" in fit(tmp_path, table(120, few=few), code=1).err  # a wrong cell among numbers
    commas = [f'"{k},5"' if k else "car" for k in range(120)]
    assert "car" in fit(tmp_path, table(120, u=commas), code=1).err


def test_none_is_an_answer(tmp_path):
    """No airbags: a level like others, also where cells are missing, which are called so elsewhere."""
    bags = (["None", "Driver", "Both"] * 40)[:120]
    fit(tmp_path, table(120, bags=bags), "--theta", "1,1,1,1,0.1")
    assert categories(tmp_path / "m.npz")[0]["bags"] == ["Both", "Driver", "None"]
    assert "not in the training" not in run("predict", tmp_path / "m.npz", tmp_path / "t.csv").err
    bags[7] = "NA"
    assert 'line 9, column 3 ("bags"): cell is "NA", a missing value' in fit(tmp_path, table(120, bags=bags), code=1).err
    k = [str(i % 9) for i in range(120)]
    k[5] = "None"
    assert 'cell is "None", a missing value' in fit(tmp_path, table(120, k=k), code=1).err  # among numbers


@pytest.mark.parametrize("texts, found", [
    (["31%", "5 %", "7%"], False), (["31%", "5%", "7.5%"], True), (["$1,200", "$3", "$40"], True), (["€5", "€6", "€9"], True),
    (["12 kg", "3 kg", "1 kg"], True), (["12 kg", "3 g", "1 kg"], False), (["C1", "C2", "C3"], False), (["1-2", "3-4", "5-6"], False),
    (["12%", "3%"], False), (["-5%", "7%", "9%"], True)])
def test_numbers_with_a_unit_are_said_to_be_categories(tmp_path, texts, found):
    column = [f'"{texts[k % len(texts)]}"' for k in range(120)]
    err = fit(tmp_path, table(120, share=column), "--theta", "1,1,1,1,0.1").err
    assert (f"numbers with a sign or unit: share ({min(texts)}); write the numbers alone" in err) == found
    assert categories(tmp_path / "m.npz")[0]["share"] == sorted(texts)


def test_target_of_text(tmp_path):
    columns = table()
    columns["y"] = columns["colour"]
    err = fit(tmp_path, columns, code=1).err
    assert "\"y\"" in err and "--target" in err


def test_cells_as_found(tmp_path):
    """Quotes, blanks, Windows-1252, line ends in cells; missing words stay missing."""
    cells = [b'"a ""b"""', b" caf\xe9 ", b'"x\ny"'] * 20
    rows = b"".join(c + b"," + str(i * 0.1).encode() + b"," + str(i % 3 + i * 0.01).encode() + b"\n"
                    for i, c in enumerate(cells))
    (tmp_path / "t.csv").write_bytes(b"c,x,y\n" + rows)
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz")
    assert categories(tmp_path / "m.npz")[0]["c"] == sorted(['a "b"', "café", "x y"], key=lambda t: t.encode())
    out = run("predict", tmp_path / "m.npz", tmp_path / "t.csv")
    assert "not in the training" not in out.err
    (tmp_path / "t.csv").write_bytes(b"c,x,y\n" + rows + b",1,1\n")
    assert "cell is empty" in run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", code=1).err


def test_new_levels(tmp_path):
    fit(tmp_path, table())
    write(tmp_path / "q.csv", {"colour": ["red", "violet"], "x": [0, 0]})
    done = run("predict", tmp_path / "m.npz", tmp_path / "q.csv")
    rows = done.table()[1]
    assert rows[1, 1] > 2 * rows[0, 1] and "1 row with a level" in done.err
    err = run("predict", tmp_path / "m.npz", tmp_path / "q.csv", "--unseen", "error", code=1).err
    assert "violet" in err and "line 3" in err and "colour" in err
    done = run("predict", tmp_path / "m.npz", tmp_path / "q.csv", "--unseen", "error", "--missing", "drop")
    assert len(done.table()[1]) == 1
    assert "colour" in run("sample", tmp_path / "m.npz", tmp_path / "q.csv", code=1).err


def test_arrays_of_numbers(tmp_path):
    """In npy files levels are numbers' texts."""
    k = RNG.integers(1, 4, 90).astype(float) / 2
    rows = np.column_stack([k, RNG.normal(size=90), k + 0.1 * RNG.normal(size=90)])
    np.save(tmp_path / "t.npy", rows)
    run("fit", tmp_path / "t.npy", "-o", tmp_path / "m.npz", "--categorical", "1")
    assert categories(tmp_path / "m.npz")[0]["x1"] == ["0.5", "1", "1.5"]
    np.save(tmp_path / "q.npy", np.array([[0.5, 0.0], [9.0, 0.0]]))
    assert "1 row with a level" in run("predict", tmp_path / "m.npz", tmp_path / "q.npy").err


def change(source, target, edit):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "meta.json":
                meta = json.loads(content)
                edit(meta)
                content = json.dumps(meta).encode()
            new.writestr(name, content)


DAMAGE = {
    "version": lambda m: m.update(format_version=5),
    "none": lambda m: m.pop("categories"),
    "empty": lambda m: m.update(categories=[]),
    "kind": lambda m: m.update(categories={"input": 0}),
    "input": lambda m: m["categories"][0].update(input=7),
    "twice": lambda m: m["categories"].append(m["categories"][0]),
    "positions": lambda m: m["categories"][0]["positions"].pop(),
    "no number": lambda m: m["categories"][0]["positions"].__setitem__(0, "x"),
    "order": lambda m: m["categories"][0]["levels"].reverse(),
    "alike": lambda m: m["categories"][0].update(levels=["a", "a", "b"]),
    "control": lambda m: m["categories"][0]["levels"].__setitem__(0, "\u001b[1m"),
    "nameless": lambda m: m["categories"][0]["levels"].__setitem__(0, ""),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damaged_files_are_refused(tmp_path, what):
    fit(tmp_path, table(), "--kernel", "se", "--max-evaluations", "3")
    change(tmp_path / "m.npz", tmp_path / "bad.npz", DAMAGE[what])
    err = run("inspect", tmp_path / "bad.npz", code=1).err
    assert "damaged or was altered" in err


def test_memory_is_kept_to(tmp_path):
    """Columns of text that nobody can mean do not take more than --memory."""
    path = tmp_path / "wide.csv"
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(f"c{i}" for i in range(40)) + ",y\n")
        for r in range(3000):
            f.write(",".join(f"{'x' * 60}{r}_{i}" for i in range(40)) + f",{r}\n")
    done = subprocess.run([QUORUM, "fit", path, "-o", tmp_path / "m.npz", "--memory", "10M"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "--memory" in done.stderr


def test_levels_beyond_ten_that_few_rows_have_are_together(tmp_path):
    """Twelve levels: the nine that most rows have are a group each, whatever their names; the other three one, without an order that means nothing."""
    counts = {"l": 40, "b": 38, "a": 5, "k": 36, "c": 34, "d": 32, "m": 6, "e": 30, "f": 28, "g": 26, "z": 24, "h": 7}
    rng = np.random.default_rng(3)
    levels = rng.permutation([name for name, count in counts.items() for _ in range(count)])
    y = np.array([ord(name) for name in levels]) / 10 + rng.normal(size=len(levels))
    (tmp_path / "t.csv").write_text("kind,x,y\n" + "".join(f"{name},{x},{v}\n" for name, x, v in zip(levels, rng.uniform(size=len(y)), y)))
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", "--calibrate=no", "-q")
    groups = json.loads(run("evaluate", tmp_path / "m.npz", tmp_path / "t.csv", "--by", "kind", "--json", "-q").out)[0]["groups"]
    assert [g["name"] for g in groups] == [*"bcdefgklz", "3 other levels"]
    assert [g["rows"] for g in groups] == [counts[name] for name in "bcdefgklz"] + [18]
    mean = np.array([float(line.split(",")[0]) for line in run("predict", tmp_path / "m.npz", tmp_path / "t.csv", "-q").out.splitlines()[1:]])
    for group in groups:
        of = levels == group["name"] if group["name"] in counts else np.isin(levels, list("amh"))
        np.testing.assert_allclose(group["rmse"], np.sqrt(np.mean((y - mean)[of] ** 2)), rtol=1e-9)
    page = run("report", tmp_path / "m.npz", "--test", tmp_path / "t.csv", "-q").out
    numbers = json.loads(page.split('id="numbers">')[1].split("</script>")[0])
    found = next(c for c in numbers["by_column"] if c["name"] == "kind")["groups"]
    for key in ("name", "rows", "rmse"):
        assert [g[key] for g in found] == [g[key] for g in groups]
    plain = np.sqrt(np.mean((y[np.isin(levels, list("amh"))] - y.mean()) ** 2))
    np.testing.assert_allclose(found[-1]["rmse_trivial"], plain, rtol=1e-9)


def test_groups_are_called_by_their_levels(tmp_path):
    """In the table, in JSON and in the picture, whatever a level is called."""
    names = ['land, high', '<b>sea', 'land "low"']
    rows = make_rows(240, seed=1)
    lines = [",".join(['"' + names[i % 3].replace('"', '""') + '"', repr(float(a)), repr(float(y + i % 3))])
             for i, (a, _, y) in enumerate(rows)]
    (tmp_path / "t.csv").write_text("kind,a,y\n" + "\n".join(lines) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se")
    words = ["evaluate", tmp_path / "m.npz", tmp_path / "t.csv", "--by", "kind"]
    table = run(*words, "--plot", tmp_path / "p.svg").out
    groups = json.loads(run(*words, "--json").out)[0]["groups"]
    assert [g["name"] for g in groups] == sorted(names, key=lambda name: name.encode())
    assert all(f"{name} " in table for name in names)
    assert "<b>" not in (tmp_path / "p.svg").read_text()
    both = json.loads(run("compare", tmp_path / "m.npz", tmp_path / "m.npz", tmp_path / "t.csv", "--by", "kind", "--json").out)
    assert [g["name"] for g in both["groups"]] == [g["name"] for g in groups]


@pytest.mark.parametrize("train", ["t.csv", "t.npy"])
@pytest.mark.parametrize("test, by", [("t.csv", "code"), ("t.csv", "1"), ("t.npy", "1"), ("t.npy", "x1"), ("t.npy", "-3"), ("bare.csv", "1"), ("bare.csv", "x1")])
def test_groups_are_called_by_their_levels_whatever_the_column_is_called(tmp_path, train, test, by):
    """By its name in the test file or by its number there, of models and files with names and without."""
    rng = np.random.default_rng(4)
    code, x = rng.choice([10, 20, 35], 120), rng.uniform(0, 3, 120)
    rows = np.column_stack([code, x, np.sin(x) + code / 10 + 0.1 * rng.normal(size=120)])
    np.save(tmp_path / "t.npy", rows)
    for name, header in (("t.csv", "code,x2,y"), ("bare.csv", "")):
        np.savetxt(tmp_path / name, rows, delimiter=",", fmt="%g", comments="", header=header)
    (tmp_path / "bare.csv").write_text((tmp_path / "bare.csv").read_text().lstrip("\n"))
    run("fit", tmp_path / train, "-o", tmp_path / "m.npz", "--categorical", "1", "--theta", "1,1,1,0.1", "--kernel", "se", "--calibrate=no", "-q")
    words = [tmp_path / test, "--by", by, "--json", "-q"]
    groups = json.loads(run("evaluate", tmp_path / "m.npz", *words).out)[0]["groups"]
    assert [(g["name"], g["rows"]) for g in groups] == [(str(k), (code == k).sum()) for k in (10, 20, 35)]
    both = json.loads(run("compare", tmp_path / "m.npz", tmp_path / "m.npz", *words).out)["groups"]
    assert [g["name"] for g in both] == ["10", "20", "35"]


def test_a_column_of_numbers_has_no_levels(tmp_path):
    """A file is matched by place by a model without names: its column x1 is then not the model's."""
    rows = np.column_stack([np.arange(60) % 3 + 10, np.arange(60) % 2, np.arange(60) % 7])
    np.save(tmp_path / "t.npy", rows.astype(float))
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", fmt="%g", comments="", header="c,x1,y")
    run("fit", tmp_path / "t.npy", "-o", tmp_path / "m.npz", "--categorical", "1", "--theta", "1,1,1,0.1", "--kernel", "se", "--calibrate=no", "-q")
    groups = json.loads(run("evaluate", tmp_path / "m.npz", tmp_path / "t.csv", "--by", "x1", "--json", "-q").out)[0]["groups"]
    assert [g["name"] for g in groups] == ["0", "1"]
