"""JSON of the commands and of model files, read by Python's own json module."""
import json
import math
import re
import subprocess
import zipfile

import pytest

from conftest import QUORUM, make_rows, rename_columns, rewrite_meta, run

ODD = ['quote " and \\ backslash', "Größe in €", "\U0001f600", "tab\tand \x1b[31mred\x1b[0m",
       "c1 \u009b and del \x7f", "very long: " + "é" * 300, "line\nend", "</script>"]
TAME = [f"odd {k}" if re.search("[\x00-\x1f\x7f-\x9f]", name) else name for k, name in enumerate(ODD)]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A model whose columns have every odd name, the target's last; those that a table may not have
    are put into the file."""
    here = tmp_path_factory.mktemp("odd")
    rows = make_rows(60, seed=4)
    table = [[row[0] * (k + 1) + row[1] ** (k % 3 + 1) for k in range(len(ODD))] + [row[2]]
             for row in rows]
    lines = [",".join([quoted(n) for n in TAME] + ["y"])]
    lines += [",".join(repr(float(v)) for v in row) for row in table]
    (here / "train.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run("fit", here / "train.csv", "-o", here / "tame.npz", "--experts", 2, "--kernel", "se",
                 "--max-evaluations", 20, "--json", "-q")
    (here / "fit.json").write_text(result.out)
    rename_columns(here / "tame.npz", here / "m.npz", dict(zip(TAME, ODD)))
    return here


def numbers_in(text):
    """The numerals of reals, as they are written."""
    found = []
    json.loads(text, parse_float=lambda t: found.append(t) or float(t))
    return found


def test_odd_names_return(odd):
    model = run("inspect", odd / "m.npz", "--json").json()
    assert model["names"] == ODD
    assert [h["name"] for h in model["hyperparameters"]] == ODD
    with zipfile.ZipFile(odd / "m.npz") as z:
        meta = json.loads(z.read("meta.json"))
    assert meta["columns"] == ODD + ["y"]


def test_bounds_have_whole_names(odd):
    bounds = json.loads((odd / "fit.json").read_text())["at_bound"]
    known = ["lengthscale:" + n for n in TAME] + ["signal_variance", "noise_variance"]
    assert set(bounds) <= set(known)


def test_json_carries_no_control_characters(odd):
    text = run("inspect", odd / "m.npz", "--json").out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_layout_is_that_of_pythons_indent(data):
    """Two blanks a level, keys in order: json.dumps with the numerals left as they are."""
    for words in (["inspect", data / "model.npz"],
                  ["evaluate", data / "model.npz", data / "test.csv", "--method", "all", "-q"]):
        text = run(*words, "--json").out
        numerals = iter(numbers_in(text))
        value = json.loads(text, parse_float=lambda t: "@")
        again = re.sub('"@"', lambda _: next(numerals), json.dumps(value, indent=2, ensure_ascii=False))
        assert text == again + "\n"


def test_numbers_have_all_digits(data, odd):
    with zipfile.ZipFile(data / "model.npz") as z:
        meta = z.read("meta.json").decode()
    for text in (run("inspect", data / "model.npz", "--json").out, meta):
        numerals = numbers_in(text)
        assert len(numerals) > 5
        for numeral in numerals:
            assert float(numeral) == float("%.17g" % float(numeral)) and math.isfinite(float(numeral))
            assert re.fullmatch(r"-?\d+(\.\d+)?(e-?[1-9]\d*)?", numeral)


def test_other_writers_are_read(tmp_path, data):
    """A model whose meta.json Python wrote: escapes, other blanks, another order of keys."""
    def turn_round(content):
        meta = json.loads(content)
        meta["columns"] = ["Größe", "\U0001f600\n", "y"]
        return json.dumps(dict(reversed(meta.items())), indent=None)
    rewrite_meta(data / "model.npz", tmp_path / "m.npz", turn_round)
    assert run("inspect", tmp_path / "m.npz", "--json").json()["names"] == ["Größe", "\U0001f600\n"]


@pytest.mark.parametrize("change", ["duplicate", "deep", "cut", "latin1", "zero", "comma"])
def test_bad_json_is_damage(tmp_path, data, change):
    changes = {"duplicate": lambda t: t.replace(b"{", b'{"kernel": "se", "kernel": "se",', 1),
               "deep": lambda t: t.replace(b"{", b'{"x": ' + 70 * b"[" + 70 * b"]" + b",", 1),
               "cut": lambda t: t[:-3],
               "latin1": lambda t: t.replace(b'"a"', b'"\xe4"'),
               "zero": lambda t: t.replace(b'"a"', b'"\\u0000"'),
               "comma": lambda t: t.replace(b"\n}", b",\n}")}
    rewrite_meta(data / "model.npz", tmp_path / "m.npz", changes[change])
    assert "damaged" in run("inspect", tmp_path / "m.npz", code=1).err


@pytest.mark.parametrize("command", ["fit", "inspect", "evaluate", "demo"])
def test_a_full_disk_is_said(tmp_path, data, command):
    words = {"fit": ["fit", data / "train.csv", "-o", tmp_path / "m.npz", "--experts", 2, "-q"],
             "inspect": ["inspect", data / "model.npz"],
             "evaluate": ["evaluate", data / "model.npz", data / "test.csv", "-q"],
             "demo": ["demo", "-o", tmp_path, "--kernel", "se", "-q"]}[command]
    with open("/dev/full", "w") as full:
        done = subprocess.run([QUORUM, *map(str, words), "--json"], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 1
    assert f"quorum {command}: the JSON cannot be written to standard output: No space left on device" in done.stderr


def test_a_full_disk_under_a_graph(tmp_path, data):
    link = tmp_path / "g.json"
    link.symlink_to("/dev/full")
    assert "No space left on device" in run("graph", data / "model.npz", "-o", link, code=1).err
