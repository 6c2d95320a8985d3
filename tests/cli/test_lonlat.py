"""Longitude and latitude on the command line: what is said, refused, predicted and drawn."""
import json
import subprocess

import numpy as np
import pytest
from conftest import QUORUM, run, write_csv

FIT = ["--kernel", "se", "--experts", "1", "--theta", "1,1,0.05", "--lonlat", "lon,lat"]


def rows(n, seed, first=-180.0):
    rng = np.random.default_rng(seed)
    lon, lat = rng.uniform(first, first + 360, n), rng.uniform(-85, 85, n)
    return np.column_stack([lon, lat, np.cos(np.radians(lon)) + np.sin(np.radians(lat)) + 0.05 * rng.normal(size=n)])


@pytest.fixture(scope="module", name="folder")
def make_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lonlat")
    write_csv(folder / "t.csv", rows(300, 1), "lon,lat,y")
    write_csv(folder / "e.csv", rows(300, 1, 0.0), "lon,lat,y")
    said = run("fit", folder / "t.csv", "-o", folder / "m.npz", *FIT).err
    assert "constant" not in said
    run("fit", folder / "e.csv", "-o", folder / "e.npz", *FIT)
    return folder


def test_shown(folder):
    out = run("inspect", folder / "m.npz").out
    assert out.count("degrees of the place") == 2 and "constant" not in out.replace("trend       constant", "")
    shown = run("inspect", folder / "m.npz", "--json").json()["hyperparameters"]
    assert [i.get("degrees") for i in shown] == ["longitude", "latitude", None, None, None]
    assert not any(i["constant"] for i in shown)


@pytest.mark.parametrize("words,said", [
    (["--lonlat", "lat,lon"], "latitudes from -90 to 90"), (["--lonlat", "lon,nix"], "no input column \"nix\""),
    (["--lonlat", "lon,lon"], "the same column"), (["--lonlat", "lon,y"], "no input column \"y\"")])
def test_refused_columns(folder, tmp_path, words, said):
    assert said in run("fit", folder / "t.csv", "-o", tmp_path / "m.npz", *words, code=1).err


@pytest.mark.parametrize("text", ["lon", "", "lon,lat,y", "lon,", ",lat", '"lon,lat'])
def test_refused_lists(folder, tmp_path, text):
    assert "lonlat" in run("fit", folder / "t.csv", "-o", tmp_path / "m.npz", "--lonlat", text, code=2).err


def test_columns_by_number(folder, tmp_path):
    run("fit", folder / "t.csv", "-o", tmp_path / "m.npz", *FIT[:-1], "1,2")
    one, two = (run("predict", p, folder / "t.csv", "-q").out for p in (tmp_path / "m.npz", folder / "m.npz"))
    assert one == two


def test_queries_outside(folder):
    err = run("predict", folder / "m.npz", "-", stdin="lon,lat\n0,0\n361,0\n", code=1).err
    assert "row 2: lon is 361, and longitudes are from -180 to 360 degrees" in err
    assert "latitudes are from" in run("predict", folder / "m.npz", "--grid", "lon=0:1:2,lat=89:91:3", code=1).err


def test_missing_places(folder, tmp_path):
    text = "lon,lat\n1,2\n,3\n"
    assert run("predict", folder / "m.npz", "-", "-q", "--missing", "nan", stdin=text).out.splitlines()[2] == ",,,"
    lines = (folder / "t.csv").read_text().splitlines()
    (tmp_path / "holes.csv").write_text("\n".join([lines[0], "5,,1", *lines[1:]]) + "\n")
    assert "cannot be filled in" in run("fit", tmp_path / "holes.csv", "-o", tmp_path / "h.npz", *FIT, "--missing", "impute", code=1).err
    run("fit", folder / "t.csv", "-o", tmp_path / "m.npz", *FIT, "--missing", "impute")
    assert "cannot be filled in" in run("predict", tmp_path / "m.npz", "-", "--missing", "impute", stdin=text, code=1).err


def test_other_cells_are_filled(tmp_path):
    table = rows(300, 4)
    lines = [f"{a!r},{b!r},{'' if i % 5 == 0 else i % 7},{y + i % 7!r}" for i, (a, b, y) in enumerate(table.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(["lon,lat,k,y", *lines]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--lonlat", "lon,lat", "--kernel", "se", "--missing", "impute", "-q")
    _, got = run("predict", tmp_path / "m.npz", "-", "-q", "--missing", "impute", stdin="lon,lat,k\n5,5,3\n5,5,\n").table()
    assert got[1, 1] > 2 * got[0, 1]


def test_every_command_takes_degrees(folder, tmp_path):
    grid = run("predict", folder / "m.npz", "--grid", "lon=-180:180:5,lat=-90:90:3", "-q").out.splitlines()
    values = np.array([[float(c) for c in line.split(",")] for line in grid[1:]])
    assert np.allclose(values[0, 2:], values[4, 2:], rtol=1e-9) and np.allclose(values[:5, 2:], values[0, 2:], rtol=1e-9)
    assert float(run("evaluate", folder / "m.npz", folder / "t.csv", "--json").json()[0]["rmse"]) < 0.2
    served = subprocess.run([QUORUM, "serve", folder / "m.npz", "--format", "jsonl", "-q"], input='{"lat": 5, "lon": 7}\n{"lat": 95, "lon": 7}\n',
                            capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    _, one = run("predict", folder / "m.npz", "-", "-q", stdin="lon,lat\n7,5\n").table()
    assert json.loads(served[0])["mean"] == one[0, 0] and "latitudes" in json.loads(served[1])["error"]
    run("sample", folder / "m.npz", folder / "t.csv", "-n", "2", "-o", tmp_path / "s.csv", "-q")


@pytest.mark.parametrize("name,left", [("m", -180), ("e", 0)])
def test_pictures_have_degrees(folder, tmp_path, name, left):
    """Rows come back from x, y and z in the range that the training data had."""
    run("plot", folder / f"{name}.npz", "--x", "lon", "--y", "lat", "-o", tmp_path / "map.svg", "-q")
    picture = (tmp_path / "map.svg").read_text()
    assert (">-100<" in picture) == (left < 0) and (">300<" in picture) == (left == 0)
    run("plot", folder / f"{name}.npz", "--x", "lon", "--at", "lat=80", "-o", tmp_path / "line.svg", "-q")
    assert "at lat = 80" in (tmp_path / "line.svg").read_text()


def test_several_targets(tmp_path):
    t = rows(200, 6)
    write_csv(tmp_path / "t.csv", np.column_stack([t, t[:, 2] ** 2]), "lon,lat,a,b")
    for share in ("none", "theta"):
        run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--target", "a,b", "--share", share, "--lonlat", "lon,lat", "--kernel", "se", "-q")
        header, got = run("predict", tmp_path / "m.npz", "-", "-q", stdin="lon,lat\n180,5\n-180,5\n").table()
        assert header.startswith("a_mean,") and np.allclose(got[0], got[1], rtol=1e-9)
        _, alone = run("predict", tmp_path / "m.npz", "-", "-q", "--target", "b,a", stdin="lon,lat\n180,5\n-180,5\n").table()
        assert np.array_equal(alone, np.hstack([got[:, 4:], got[:, :4]]))
