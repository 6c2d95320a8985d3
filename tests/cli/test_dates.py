"""Columns of dates: which are, what is refused, and what is said of it."""
import json
import subprocess
import zipfile

import numpy as np
import pytest
from conftest import QUORUM, run

FIT = ["--kernel", "se", "--experts", "1", "--max-evaluations", "4"]


def write(path, dates, name="day"):
    rng = np.random.default_rng(len(dates))
    path.write_text(f"{name},x,y\n" + "".join(f"{d},{rng.normal()},{rng.normal()}\n" for d in dates))
    return path


def meta(path):
    with zipfile.ZipFile(path) as z:
        return json.loads(z.read("meta.json"))


def fit(tmp_path, dates, *options, code=0):
    return run("fit", write(tmp_path / "t.csv", dates), "-o", tmp_path / "m.npz", *FIT, *options, code=code)


def form(tmp_path):
    return meta(tmp_path / "m.npz")["dates"][0]["form"]


SLASHES = [f"{1 + i % 12:02}/{1 + i * 5 % 12:02}/2020" for i in range(150)]  # day or month


def test_said_and_shown(tmp_path):
    err = fit(tmp_path, [f"{1 + i % 28}.{1 + i % 12}.2020" for i in range(60)], "--periodic", "day:week").err
    assert "read as dates, in seconds: day (dd.mm.yyyy)" in err
    out = run("inspect", tmp_path / "m.npz").out
    assert "dates       day (dd.mm.yyyy), in seconds since 1970-01-01 UTC" in out
    assert "day (week, sin)" in out and "day (week, cos)" in out
    shown = run("inspect", tmp_path / "m.npz", "--json").json()
    assert shown["dates"] == [{"input": "day", "form": "dd.mm.yyyy"}]


def test_day_or_month_first(tmp_path):
    err = fit(tmp_path, SLASHES, code=1).err
    assert "column day" in err and "--dates dmy" in err and "--dates mdy" in err
    fit(tmp_path, SLASHES, "--dates", "dmy")
    assert form(tmp_path) == "dd/mm/yyyy"
    fit(tmp_path, SLASHES, "--dates", "mdy")
    assert form(tmp_path) == "mm/dd/yyyy"


@pytest.mark.parametrize("late,wanted", [("31/12/2020", "dd/mm/yyyy"), ("12/31/2020", "mm/dd/yyyy")])
def test_one_late_cell_decides(tmp_path, late, wanted):
    fit(tmp_path, SLASHES + [late])
    assert form(tmp_path) == wanted
    assert meta(tmp_path / "m.npz")["columns"] == ["day", "x", "y"]


def test_a_pipe_cannot_begin_anew(tmp_path):
    text = write(tmp_path / "t.csv", SLASHES + ["12/31/2020"]).read_text()
    err = run("fit", "-", "-o", tmp_path / "m.npz", *FIT, stdin=text, code=1).err
    assert "12/31/2020" in err and "--dates mdy" in err
    run("fit", "-", "-o", tmp_path / "m.npz", *FIT, "--dates", "mdy", stdin=text)


def test_other_cells_are_errors_or_dropped(tmp_path):
    dates = [f"2020-01-{1 + i % 28:02}" for i in range(120)]
    for wrong in ("soon", "2020-01-32", "2020/01/03", "03.01.2020", "2020-01-03T00:00Z", "17"):
        err = fit(tmp_path, dates + [wrong], code=1).err
        assert wrong in err and "yyyy-mm-dd" in err and "--dates none" in err and "--ignore day" in err, err
        assert "1 row" in fit(tmp_path, dates + [wrong], "--missing", "drop").err
    assert "--missing drop" in fit(tmp_path, dates + [""], code=1).err


def test_none_is_text(tmp_path):
    dates = [f"2020-01-{1 + i % 20:02}" for i in range(120)]
    fit(tmp_path, dates, "--dates", "none")
    assert len(meta(tmp_path / "m.npz")["categories"][0]["levels"]) == 20
    fit(tmp_path, dates, "--categorical", "day")
    assert len(meta(tmp_path / "m.npz")["categories"][0]["levels"]) == 20
    fit(tmp_path, [d[8:] + "/01/2020" for d in dates], "--dates", "ymd")  # the others stay text
    assert "categories" in meta(tmp_path / "m.npz")


def test_queries_are_read_the_same_way(tmp_path):
    fit(tmp_path, SLASHES, "--dates", "mdy", "--periodic", "day:week,day:day")
    good = write(tmp_path / "q.csv", ["01/02/2020", "12/31/2020"])
    assert len(run("predict", tmp_path / "m.npz", good).out.splitlines()) == 3
    for wrong in ("31/12/2020", "2020-01-02", "1577923200", "x"):
        err = run("predict", tmp_path / "m.npz", write(tmp_path / "q.csv", [wrong]), code=1).err
        assert wrong in err and "mm/dd/yyyy" in err
    out = run("predict", tmp_path / "m.npz", write(tmp_path / "q.csv", ["x", "1/2/2020"]), "--missing", "nan").out
    assert out.splitlines()[1].startswith(",") and not out.splitlines()[2].startswith(",")
    np.save(tmp_path / "q.npy", [[1577923200.0, 0.5]])  # numbers are seconds
    (tmp_path / "s.csv").write_text("day,x\n01/02/2020,0.5\n")
    results = [run("predict", tmp_path / "m.npz", tmp_path / q, "-q").out for q in ("q.npy", "s.csv")]
    assert results[0] == results[1]


def test_without_header(tmp_path):
    (tmp_path / "t.csv").write_text("".join(f"2020-01-{1 + i % 28:02},{i * i % 11},{i % 5}\n" for i in range(60)))
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *FIT, "--periodic", "1:week")
    assert meta(tmp_path / "m.npz")["columns"] == ["x1", "x2", "x1 (week, sin)", "x1 (week, cos)", "y"]
    assert np.load(tmp_path / "m.npz")["X"].shape == (60, 4)
    (tmp_path / "q.csv").write_text("2020-02-01,3\n")
    assert len(run("predict", tmp_path / "m.npz", tmp_path / "q.csv").out.splitlines()) == 2


def test_periods(tmp_path):
    dates = [f"2020-01-{1 + i % 28:02}" for i in range(60)]
    for wrong, said in (("nix:week", "no input column"), ("y:week", "no input column"), ("x:week", "has no dates"),
                        ("day", "list of COL:PERIOD"), ("day:0", "list of COL:PERIOD")):
        assert said in fit(tmp_path, dates, "--periodic", wrong, code=1 if ":w" in wrong else 2).err
    fit(tmp_path, dates, "--periodic", "x:0.5,day:week,auto")
    assert meta(tmp_path / "m.npz")["columns"] == ["day", "x", "x (0.5, sin)", "x (0.5, cos)", "day (week, sin)",
                                                   "day (week, cos)", "y"]


def test_suggestions_and_draws(tmp_path):
    fit(tmp_path, [f"2020-01-{1 + i % 28:02}" for i in range(60)], "--periodic", "day:week")
    q = write(tmp_path / "q.csv", [f"2020-02-{1 + i % 28:02}" for i in range(20)])
    out = run("suggest", tmp_path / "m.npz", q, "--count", "2").out.splitlines()
    assert out[0].startswith("rank,row,day,x,") and out[1].split(",")[2].startswith("2020-02-")
    assert len(run("sample", tmp_path / "m.npz", q, "--count", "3").out.splitlines()) == 21
    assert "dmean_day (week, sin)" in run("predict", tmp_path / "m.npz", q, "--gradient").out.splitlines()[0]


def test_groups_are_called_by_dates(tmp_path):
    """evaluate --by and compare --by, with the time of day where there is one."""
    days = [f"2020-01-{1 + i % 28:02}" for i in range(60)]
    fit(tmp_path, days)
    groups = run("evaluate", tmp_path / "m.npz", tmp_path / "t.csv", "--by", "day", "-q").out
    assert "\n2020-01-26 to 2020-01-28 " in groups and "e+09" not in groups
    assert "\n2020-01-26 to 2020-01-28 " in run("compare", tmp_path / "m.npz", tmp_path / "m.npz", tmp_path / "t.csv", "--by", "day").out
    assert "\n2020-01-26 to 2020-01-28 " in run("evaluate", tmp_path / "m.npz", tmp_path / "t.csv", "--by", "1", "-q").out
    fit(tmp_path, [day + " 06:30" for day in days])
    assert "\n2020-01-26 06:30 to 2020-01-28 06:30 " in run("evaluate", tmp_path / "m.npz", tmp_path / "t.csv", "--by", "day", "-q").out


def test_names_with_commas_in_lists(tmp_path):
    rows = "".join(f"{i % 5},{i * 7 % 11},{i * i % 13}\n" for i in range(60))
    (tmp_path / "t.csv").write_text('"a, left",b,y\n' + rows)
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *FIT, "--ignore", '"a, left"')
    assert meta(tmp_path / "m.npz")["columns"] == ["b", "y"]
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *FIT, "--categorical", '"a, left"', "--periodic", "b:4")
    assert meta(tmp_path / "m.npz")["categories"][0]["input"] == 0
    assert "quote" in run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--ignore", '"a', code=1).err
    err = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--periodic", '"a, left":3', "--categorical", "1", code=1).err
    assert "is a category" in err


def test_damaged_files_are_refused(tmp_path):
    fit(tmp_path, [f"2020-01-{1 + i % 28:02}" for i in range(60)], "--periodic", "day:week")
    with zipfile.ZipFile(tmp_path / "m.npz") as z:
        members = {n: z.read(n) for n in z.namelist()}
    whole = json.loads(members["meta.json"])
    changes = [("dates", [{"input": 9, "form": "yyyy-mm-dd"}]), ("dates", [{"input": 0, "form": "yy-mm-dd"}]), ("dates", []),
               ("dates", [{"input": 2, "form": "yyyy-mm-dd"}]), ("made_inputs", []), ("format_version", 1),
               ("format_version", 7), ("made_inputs", [{"column": 0, "kind": "tan", "period": 3}] * 2),
               ("made_inputs", [{"column": 3, "kind": "sin", "period": 3}]), ("target_place", 3),
               ("made_inputs", [{"column": 0, "kind": "sin", "period": 0}]),
               ("made_inputs", [{"column": 0, "kind": "missing"}] * 2)]
    for key, value in changes:
        with zipfile.ZipFile(tmp_path / "bad.npz", "w") as z:
            for name, content in members.items():
                z.writestr(name, json.dumps({**whole, key: value}) if name == "meta.json" else content)
        done = subprocess.run([QUORUM, "inspect", tmp_path / "bad.npz"], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and ("damaged" in done.stderr or "format version" in done.stderr), (key, value, done)
