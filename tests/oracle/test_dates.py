"""Dates and periods: a model of texts against one of the numbers that they stand for, by Python's calendar.

    t = seconds since 1970-01-01 UTC,   sin(2 pi t / p), cos(2 pi t / p),   p = 86400, 604800, 365.2425 * 86400
"""
import datetime as dt
import json
import os
import subprocess
import zipfile

import numpy as np
import pytest

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))
UNITS = {"day": 86400.0, "week": 604800.0, "year": 365.2425 * 86400}
FORMS = {"yyyy-mm-dd": "%Y-%m-%d %H:%M:%S", "dd/mm/yyyy": "%d/%m/%Y %H:%M:%S", "mm/dd/yyyy": "%m/%d/%Y %I:%M:%S %p",
         "dd.mm.yyyy": "%d.%m.%Y %H:%M:%S", "dd-mon-yyyy": "%d-%b-%Y %H:%M:%S", "mon dd yyyy": "%B %d %Y %I:%M:%S %p",
         "yyyy-mm-dd zone": "%Y-%m-%dT%H:%M:%SZ"}


def run(*args, code=0):
    done = subprocess.run([QUORUM, *map(str, args)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def rows(n, seed, hours=24 * 365 * 3):
    rng = np.random.default_rng(seed)
    when = [dt.datetime(2018, 1, 1) + dt.timedelta(seconds=int(s)) for s in rng.integers(0, hours * 3600, n)]
    return when, rng.uniform(-1, 1, n), rng.normal(size=n)


def seconds(when):
    return np.array([(t - dt.datetime(1970, 1, 1)).total_seconds() for t in when])


def write(path, columns):
    """columns: name -> texts or numbers."""
    cells = [[v if isinstance(v, str) else repr(float(v)) for v in column] for column in columns.values()]
    path.write_text(",".join(f'"{name}"' for name in columns) + "\n" + "".join(",".join(r) + "\n" for r in zip(*cells)))
    return path


def circle(t, name, unit):
    angle = 2 * np.pi * np.mod(t, UNITS[unit]) / UNITS[unit]
    return {f"{name} ({unit}, sin)": np.sin(angle), f"{name} ({unit}, cos)": np.cos(angle)}


def read(path):
    with zipfile.ZipFile(path) as z:
        meta = json.loads(z.read("meta.json"))
    return meta, dict(np.load(path).items())


def options(inputs):
    return ["--kernel", "se", "--experts", "2", "--theta", ",".join(["2"] * inputs + ["1", "0.1"])]


@pytest.mark.parametrize("form", FORMS)
def test_same_as_numbers(tmp_path, form):
    when, x, y = rows(400, 1)
    t = seconds(when)
    write(tmp_path / "text.csv", {"x": x, "when": [w.strftime(FORMS[form]) for w in when], "y": y})
    made = {"x": x, "when": t}
    for unit in UNITS:
        made |= circle(t, "when", unit)
    write(tmp_path / "numbers.csv", {**made, "y": y})
    run("fit", tmp_path / "text.csv", "-o", tmp_path / "a.npz", "--periodic", "auto", *options(8))
    run("fit", tmp_path / "numbers.csv", "-o", tmp_path / "b.npz", *options(8))
    (meta, a), (other, b) = read(tmp_path / "a.npz"), read(tmp_path / "b.npz")
    assert meta["format_version"] == 8 and other["format_version"] == 1
    assert meta["dates"] == [{"input": 1, "form": form}] and "dates" not in other
    assert meta["columns"] == other["columns"]
    assert [(m["column"], m["kind"]) for m in meta["made_inputs"]] == [(1, "sin"), (1, "cos")] * 3
    assert np.allclose([m["period"] for m in meta["made_inputs"]], np.repeat(list(UNITS.values()), 2), rtol=1e-15)
    for name, array in a.items():
        if name != "meta.json":
            assert np.allclose(array, b[name], rtol=1e-9, atol=1e-9), name
    write(tmp_path / "q.csv", {"when": [w.strftime(FORMS[form]) for w in when[:50]], "x": x[:50]})
    write(tmp_path / "qn.csv", {k: v[:50] for k, v in made.items()})
    got = np.loadtxt(run("predict", tmp_path / "a.npz", tmp_path / "q.csv", "-q").stdout.splitlines()[1:], delimiter=",")
    want = np.loadtxt(run("predict", tmp_path / "b.npz", tmp_path / "qn.csv", "-q").stdout.splitlines()[1:], delimiter=",")
    assert np.allclose(got, want, rtol=1e-7, atol=1e-9)


def test_a_column_of_dates_alone_is_its_seconds(tmp_path):
    when, x, y = rows(300, 2)
    write(tmp_path / "text.csv", {"when": [w.isoformat() for w in when], "x": x, "y": y})
    write(tmp_path / "numbers.csv", {"when": seconds(when), "x": x, "y": y})
    for name in ("text", "numbers"):
        run("fit", tmp_path / f"{name}.csv", "-o", tmp_path / f"{name}.npz", *options(2))
    (meta, a), (_, b) = read(tmp_path / "text.npz"), read(tmp_path / "numbers.npz")
    assert "made_inputs" not in meta
    assert all(np.array_equal(a[k], b[k]) for k in a if k != "meta.json")


@pytest.mark.parametrize("step,count,units", [(86400, 900, ["week", "year"]), (86400, 100, ["week"]), (604800, 200, ["year"]),
                                              (3600, 200, ["day"]), (3600, 500, ["day", "week"]), (60, 300, []),
                                              (30.436875 * 86400, 40, ["year"])])
def test_what_auto_takes(tmp_path, step, count, units):
    when = [dt.datetime(2019, 5, 6, 7) + dt.timedelta(seconds=k * step) for k in range(count)]
    if step > 604800:  # the first of every month
        when = [dt.datetime(2017 + k // 12, 1 + k % 12, 1) for k in range(count)]
    rng = np.random.default_rng(3)
    write(tmp_path / "t.csv", {"when": [w.isoformat() for w in when], "x": rng.normal(size=count), "y": rng.normal(size=count)})
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--periodic", "auto", *options(2 + 2 * len(units)))
    meta, _ = read(tmp_path / "m.npz")
    assert meta["columns"] == ["when", "x"] + [f"when ({u}, {k})" for u in units for k in ("sin", "cos")] + ["y"]


def test_the_recipe_of_the_model_file(tmp_path):
    """The inputs of a query from meta.json alone, as docs/model-file.md says."""
    when, x, y = rows(300, 4)
    write(tmp_path / "t.csv", {"when": [w.isoformat() for w in when], "x": x, "y": y})
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--periodic", "x:0.5,when:week", *options(6))
    meta, m = read(tmp_path / "m.npz")
    Q = np.column_stack([seconds(when), x])
    made = [getattr(np, i["kind"])(2 * np.pi * Q[:, i["column"]] / i["period"]) for i in meta["made_inputs"]]
    Z = (np.column_stack([Q, *made]) - m["x_mean"]) / m["x_scale"]
    assert np.allclose(Z[m["row"]], m["X"], atol=1e-5)
