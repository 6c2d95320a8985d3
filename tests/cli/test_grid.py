"""predict --grid: rows of a grid, and maps as NetCDF and npz, read back by SciPy and NumPy."""
import csv
import datetime as dt
import html
import importlib.util
import itertools
import json
import shutil
import struct
import subprocess
import warnings

import numpy as np
import pytest
from scipy.io import netcdf_file

from conftest import make_rows, run, write_csv

GRID = "b=-1:1.5:7,a=0:0.3:4"


def read_map(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return netcdf_file(path, mmap=False)


def test_rows_are_those_of_a_file_the_first_axis_fastest(data, tmp_path):
    b, a = np.linspace(-1, 1.5, 7), np.linspace(0, 0.3, 4)
    out = run("predict", data / "model.npz", "--grid", GRID, "-q").out.splitlines()
    cells = [line.split(",") for line in out]
    assert cells[0] == ["b", "a", "mean", "std", "lower", "upper"]
    points = np.array([[float(c) for c in row[:2]] for row in cells[1:]])
    np.testing.assert_allclose(points, [(y, x) for x, y in itertools.product(a, b)], rtol=1e-15, atol=1e-15)
    assert points[0].tolist() == [-1, 0] and points[-1].tolist() == [1.5, 0.3]
    (tmp_path / "q.csv").write_text("\n".join(",".join(row[:2]) for row in cells) + "\n")
    assert run("predict", data / "model.npz", tmp_path / "q.csv", "--keep", "all", "-q").out.splitlines() == out


@pytest.mark.parametrize("words", [[], ["--mean-only"], ["--quantiles", "0.1,0.9", "--novelty"],
                                   ["--gradient", "--above", "0.5"]])
def test_maps_have_the_numbers_of_csv(data, tmp_path, words):
    header, table = run("predict", data / "model.npz", "--grid", GRID, "-q", *words).table()
    names = header.split(",")[2:]
    for name in ("map.nc", "map.npz"):
        run("predict", data / "model.npz", "--grid", GRID, "-q", "-o", tmp_path / name, *words)
    arrays = np.load(tmp_path / "map.npz")
    found = read_map(tmp_path / "map.nc")
    assert list(arrays) == ["b", "a", *names] == list(found.variables)
    assert found.Conventions == b"CF-1.8" and dict(found.dimensions) == {"b": 7, "a": 4}
    for i, name in enumerate(names):
        wanted = table[:, 2 + i].reshape(4, 7)
        assert np.array_equal(arrays[name], wanted)
        assert found.variables[name].dimensions == ("a", "b") and np.array_equal(found.variables[name][:], wanted)
    for axis, values in (("b", np.unique(table[:, 0])), ("a", np.unique(table[:, 1]))):
        assert np.array_equal(arrays[axis], values) and np.array_equal(found.variables[axis][:], values)
        assert found.variables[axis].dimensions == (axis,)


def test_conventions_of_maps(tmp_path):
    """Longitudes and latitudes have units; an input of one value, number, text or date, is a scalar coordinate."""
    rng = np.random.default_rng(3)
    rows = [f"{lon:.3f},{lat:.3f},{h:.2f},{c},2020-01-{1 + i % 28:02},{lon + i % 2:.4f}" for i, (lon, lat, h, c) in
            enumerate(zip(rng.uniform(0, 5, 90), rng.uniform(0, 5, 90), rng.uniform(0, 1, 90), ["red", "blue"] * 45))]
    (tmp_path / "t.csv").write_text("\n".join(["lon,lat,height,colour,when,t", *rows]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,1,1,1,1,0.1", "-q")
    grid = "lon=0:5:11,colour=red,lat=1:4:5,height=0.5,when=2020-01-07"
    run("predict", tmp_path / "m.npz", "--grid", grid, "-o", tmp_path / "m.nc", "-q")
    found = read_map(tmp_path / "m.nc")
    assert found.variables["lon"].units == b"degrees_east" and found.variables["lat"].standard_name == b"latitude"
    mean = found.variables["mean"]
    assert mean.dimensions == ("lat", "lon") and mean.coordinates == b"colour height when"
    assert mean.long_name == b"mean of t" and mean.ancillary_variables == b"std"
    assert found.variables["height"].dimensions == () and found.variables["height"].getValue() == 0.5
    assert b"".join(found.variables["colour"][:]) == b"red" and b"".join(found.variables["when"][:]) == b"2020-01-07"
    out = run("predict", tmp_path / "m.npz", "--grid", grid, "-q").out.splitlines()
    assert out[1].startswith("0,red,1,0.5,2020-01-07,") and len(out) == 56
    assert np.array_equal(mean[:].ravel(), [float(line.split(",")[5]) for line in out[1:]])


def test_one_axis_three_axes_and_one_point(data, tmp_path):
    write_csv(tmp_path / "t.csv", np.column_stack([make_rows(80)[:, :2], make_rows(80, seed=4)[:, 1:]]), header="a,b,c,y")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,1,1,0.1", "-q")
    for grid, dims, shape in (("a=0:1:5,b=1,c=2", ("a",), (5,)), ("c=0:1:2,a=0:1:3,b=0:1:4", ("b", "a", "c"), (24,)),
                              ("a=1,b=1,c=1", (), (1,))):
        table = run("predict", tmp_path / "m.npz", "--grid", grid, "-q").table()[1]
        for name in ("map.nc", "map.npz"):
            run("predict", tmp_path / "m.npz", "--grid", grid, "-q", "-o", tmp_path / name)
        mean = read_map(tmp_path / "map.nc").variables["mean"]
        assert mean.dimensions == dims
        assert np.array_equal(np.ravel(mean[:] if dims else mean.getValue()), table[:, 3])
        assert np.load(tmp_path / "map.npz")["mean"].shape == shape


def test_models_without_names_and_quoted_names(tmp_path):
    write_csv(tmp_path / "t.csv", make_rows(60), header=None)
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,0.1", "-q")
    assert len(run("predict", tmp_path / "m.npz", "--grid", "x1=0:1:3,x2=1", "-q").table()[1]) == 3
    assert "in their order" in run("predict", tmp_path / "m.npz", "--grid", "x2=0:1:3,x1=1", code=1).err
    write_csv(tmp_path / "t.csv", make_rows(60), header='"a, m",b/c,y')
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,0.1", "-q")
    run("predict", tmp_path / "m.npz", "--grid", '"a, m"=0:1:3,b/c=1:2:2', "-q", "-o", tmp_path / "m.nc")
    assert list(read_map(tmp_path / "m.nc").dimensions) == ["a, m", "b_c"]


@pytest.mark.parametrize("level,word", [("Graz, Ost", '"Graz, Ost"'), ('the "old" one', '"the ""old"" one"'), ("=1:2:3", '"=1:2:3"'), ("7", '"7"'),
                                        ("plain", '"plain"'), ('o"clock', 'o"clock')])
def test_levels_in_quotes(tmp_path, level, word):
    """A level with commas, quotes, or that looks like a number; in a slice too."""
    rng = np.random.default_rng(3)
    rows = [(round(a, 3), [level, "b"][i % 2], round(a + i % 2 + rng.normal() / 20, 3)) for i, a in enumerate(rng.uniform(0, 1, 60))]
    with open(tmp_path / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([("a", "kind", "y"), *rows])
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,0.1", "--categorical", "kind", "-q")
    with open(tmp_path / "q.csv", "w", newline="") as file:
        csv.writer(file).writerows([("a", "kind"), (0, level), (1, level)])
    wanted = run("predict", tmp_path / "m.npz", tmp_path / "q.csv", "--keep", "all", "-q").out
    assert run("predict", tmp_path / "m.npz", "--grid", f"a=0:1:2,kind={word}", "-q").out == wanted
    assert run("predict", tmp_path / "m.npz", "--grid", f'kind={word},"a"=0:1:2', "-q").out.splitlines()[0].startswith("kind,a,")
    run("plot", tmp_path / "m.npz", "--x", "a", "--at", f"kind={word}", "-o", tmp_path / "s.svg")
    assert f"kind = {level}" in html.unescape((tmp_path / "s.svg").read_text())


def test_many_rows_stream(data):
    """More rows than a block has."""
    out = run("predict", data / "model.npz", "--grid", "a=0:1:400,b=0:1:200", "-q", "--neighbours", 8, "--mean-only").out
    lines = out.splitlines()
    assert len(lines) == 80001 and lines[80000].startswith("1,1,") and lines[401].startswith("0,0.005025")


def test_what_is_refused(data, tmp_path):
    model = data / "model.npz"
    for words, code, sentence in ((["--grid", "a=1"], 1, '"b" needs values'), (["--grid", "a=1,b=1,z=1"], 1, "no input"),
                                  (["--grid", "a=1:2,b=1"], 2, "FROM:TO:COUNT"), (["--grid", "a=1:2:0,b=1"], 2, "FROM:TO:COUNT"),
                                  (["--grid", "a=1:2:2.5,b=1"], 2, "FROM:TO:COUNT"), (["--grid", "a"], 2, "is wanted"),
                                  (["--grid", "a=,b=1"], 2, "has no value"), (["--grid", "a=1,a=2"], 2, "comes twice"),
                                  (["--grid", ""], 2, "is wanted"), (["--grid", 'a=1,b="1'], 2, "is wanted"),
                                  (["--grid", '"a=1,b=1'], 2, "is wanted"), (["--grid", 'a="1"2,b=1'], 2, "is wanted"),
                                  (["--grid", '""=1,b=1'], 2, "is wanted"), (["--grid", 'a="x",b=1'], 1, "not a number"), (["--grid", "a=x,b=1"], 1, "not a number"),
                                  (["--grid", "a=1:2:9999999,b=1:2:9999999", "-o", tmp_path / "m.nc"], 1, "more than memory"),
                                  (["--grid", "a=1,b=1", "--keep", "a"], 2, "all its columns"),
                                  (["--grid", "a=1,b=1", "-o", tmp_path / "no" / "m.nc"], 1, "cannot be written"),
                                  ([data / "queries.csv", "--grid", "a=1,b=1"], 2, "as well"), ([], 2, "QUERIES is missing"),
                                  ([data / "queries.csv", "-o", tmp_path / "m.nc"], 2, "is a map")):
        assert sentence in run("predict", model, *words, code=code).err, words
    assert not (tmp_path / "m.nc").exists()


# ---- GeoTIFF ----

SIZES = {2: ("c", 1), 3: ("H", 2), 4: ("I", 4), 12: ("d", 8)}


def read_tiff(path):
    """Tags and bands (height x width), by TIFF 6.0: nothing of the writer's is used."""
    data = path.read_bytes()
    assert data[:4] == b"II*\0"
    at, = struct.unpack_from("<I", data, 4)
    count, = struct.unpack_from("<H", data, at)
    tags, last = {}, 0
    for k in range(count):
        tag, kind, n, _ = struct.unpack_from("<HHII", data, at + 2 + 12 * k)
        assert tag > last
        last = tag
        code, size = SIZES[kind]
        place = at + 2 + 12 * k + 8
        if n * size > 4:
            place, = struct.unpack_from("<I", data, place)
            assert place % 2 == 0
        tags[tag] = data[place:place + n - 1].decode() if kind == 2 else struct.unpack_from(f"<{n}{code}", data, place)
    assert struct.unpack_from("<I", data, at + 2 + 12 * count) == (0,)
    width, height, bands = tags[256][0], tags[257][0], tags[277][0]
    assert tags[258] == (64,) * bands and tags[339] == (3,) * bands and tags[284] == (2,) and tags[259] == (1,)
    strips = [data[a:a + n] for a, n in zip(tags[273], tags[279])]
    per_band = -(-height // tags[278][0])
    assert len(strips) == bands * per_band and tags[273][-1] + tags[279][-1] == len(data)
    return tags, [np.frombuffer(b"".join(strips[k * per_band:(k + 1) * per_band]), "<f8").reshape(height, width) for k in range(bands)]


@pytest.fixture(scope="module", name="places")
def make_places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places")
    write_csv(folder / "t.csv", make_rows(80), "lon,lat,y")
    write_csv(folder / "p.csv", make_rows(80), "east,north,y")
    for name in "tp":
        run("fit", folder / f"{name}.csv", "-o", folder / f"{name}.npz", "--theta", "1,1,0.1", "--kernel", "se", "-q")
    run("fit", folder / "p.csv", "-o", folder / "s.npz", "--theta", "1,1,0.1", "--kernel", "se", "-q", "--lonlat", "east,north")
    return folder


@pytest.mark.parametrize("grid", ["lon=-1:1:5,lat=0:2:4", "lat=0:2:4,lon=-1:1:5", "lon=1:-1:5,lat=2:0:4", "lat=2:0:4,lon=-1:1:5"])
def test_geotiff_is_north_up(places, tmp_path, grid):
    header, table = run("predict", places / "t.npz", "--grid", grid, "-q", "--quantiles", "0.1").table()
    names = header.split(",")
    run("predict", places / "t.npz", "--grid", grid, "-q", "--quantiles", "0.1", "-o", tmp_path / "m.tif")
    tags, bands = read_tiff(tmp_path / "m.tif")
    rows = {(round(r[names.index("lon")], 9), round(r[names.index("lat")], 9)): r for r in table}
    for k, band in enumerate(bands):
        wanted = [[rows[round(x, 9), round(y, 9)][2 + k] for x in np.linspace(-1, 1, 5)] for y in np.linspace(2, 0, 4)]
        assert np.array_equal(band, wanted), names[2 + k]
    assert np.allclose(tags[33550], [0.5, 2 / 3, 0]) and np.allclose(tags[33922], [0, 0, 0, -1.25, 2 + 1 / 3, 0])
    assert tags[34735] == (1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326)
    assert [n for n in names[2:] if f">{n}</Item>" in tags[42112]] == names[2:] and tags[305] == "quorum"


def test_geotiff_of_other_planes(places, tmp_path):
    """Degrees by --lonlat whatever they are called; else no reference system.  One band has no extra samples."""
    for model, degrees in (("p", False), ("s", True)):
        run("predict", places / f"{model}.npz", "--grid", "east=-1:1:700,north=0:2:211", "-q", "--mean-only", "-o", tmp_path / "m.tiff")
        tags, bands = read_tiff(tmp_path / "m.tiff")
        assert (4326 in tags[34735]) == degrees and 338 not in tags and bands[0].shape == (211, 700) and len(tags[273]) > 1
        wanted = run("predict", places / f"{model}.npz", "--grid", "east=-1:1:700,north=0:2:211", "-q", "--mean-only").table()[1][:, 2]
        assert np.array_equal(bands[0], wanted.reshape(211, 700)[::-1])
    run("predict", places / "s.npz", "--grid", "east=-1:1:3,north=0:2:2", "-q", "-o", tmp_path / "m.nc")
    assert read_map(tmp_path / "m.nc").variables["east"].units == b"degrees_east"


def test_geotiff_refused(places, tmp_path):
    for grid, said in (("lon=0:1:3,lat=1", "two axes that vary, and the grid has 1"),):
        assert said in run("predict", places / "t.npz", "--grid", grid, "-o", tmp_path / "m.tif", code=2).err
    assert "only what --grid predicts is a map" in run("predict", places / "t.npz", places / "t.csv", "-o", tmp_path / "m.tif", code=2).err
    run("predict", places / "t.npz", "--grid", "lon=0:1:3,lat=0:1:3", "-o", tmp_path / "no" / "m.tif", code=1)
    assert list(tmp_path.iterdir()) == []


def test_geotiff_by_others(places, tmp_path):
    """What GDAL and tifffile read, where they are installed."""
    run("predict", places / "t.npz", "--grid", "lon=-1:1:5,lat=0:2:4", "-q", "--mean-only", "-o", tmp_path / "m.tif")
    _, (mean,) = read_tiff(tmp_path / "m.tif")
    read = 0
    if importlib.util.find_spec("tifffile"):
        import tifffile
        assert np.array_equal(tifffile.imread(tmp_path / "m.tif"), mean)
        read += 1
    if shutil.which("gdalinfo"):
        info = json.loads(subprocess.run(["gdalinfo", "-json", tmp_path / "m.tif"], capture_output=True, check=True).stdout)
        assert info["size"] == [5, 4] and np.allclose(info["geoTransform"], [-1.25, 0.5, 0, 2 + 1 / 3, 0, -2 / 3])
        assert "4326" in json.dumps(info["coordinateSystem"]) and info["bands"][0]["description"] == "mean"
        read += 1
    if read == 0:
        pytest.skip("neither tifffile nor gdalinfo is installed")


def test_netcdf_by_the_library(places, tmp_path):
    """What libnetcdf reads, where its ncdump is installed: the bits of the csv."""
    if not shutil.which("ncdump"):
        pytest.skip("ncdump is not installed")
    grid = ["--grid", "lon=-1:1:5,lat=0:2:4", "-q"]
    run("predict", places / "t.npz", *grid, "-o", tmp_path / "m.nc")
    said = subprocess.run(["ncdump", "-p", "9,17", tmp_path / "m.nc"], capture_output=True, check=True, text=True).stdout
    header, table = run("predict", places / "t.npz", *grid).table()
    for column, name in enumerate(header.split(",")):
        values = said.split("data:")[1].split(f" {name} =")[1].split(";")[0]
        wanted = table[:, column] if name not in ("lon", "lat") else np.unique(table[:, column])
        assert np.array_equal([float(v) for v in values.split(",")], wanted), name
    assert 'mean:ancillary_variables = "std"' in said and 'lat:units = "degrees_north"' in said


# ---- Dates ----

DAYS = [dt.datetime(2024, 1, 1) + dt.timedelta(days=i) for i in range(366)]


@pytest.mark.parametrize("form,first,last", [
    ("%Y-%m-%d", "2024-01-01", "2024-12-31"), ("%d/%m/%Y", "01/01/2024", "31/12/2024"), ("%m/%d/%Y", "01/01/2024", "12/31/2024"),
    ("%d.%m.%Y", "1.1.2024", "31.12.2024"), ("%Y-%m-%dT%H:%M:%SZ", "2024-01-01T00:00Z", "2024-12-31 00:00Z")])
def test_ranges_of_dates(tmp_path, form, first, last):
    """The rows of a file with these dates, bit for bit; in a map seconds since 1970."""
    rng = np.random.default_rng(2)
    lines = [f"{day.strftime(form)},{x:.3f},{np.sin(i / 30) + x:.5f}" for i, (day, x) in enumerate(zip(DAYS, rng.uniform(0, 1, 366)))]
    (tmp_path / "t.csv").write_text("\n".join(["day,x,y", *lines]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,1,1,1,0.1", "--kernel", "se", "--periodic", "day:week", "-q")
    out = run("predict", tmp_path / "m.npz", "--grid", f"day={first}:{last}:366,x=0.25:0.75:2", "-q").out.splitlines()
    (tmp_path / "q.csv").write_text("\n".join(["day,x", *(f"{day.strftime(form)},{x}" for x in (0.25, 0.75) for day in DAYS)]) + "\n")
    assert out == run("predict", tmp_path / "m.npz", tmp_path / "q.csv", "--keep", "all", "-q").out.splitlines()
    run("predict", tmp_path / "m.npz", "--grid", f"x=0:1:2,day={first}:{last}:366", "-q", "-o", tmp_path / "m.nc")
    days = read_map(tmp_path / "m.nc").variables["day"]
    assert days.units == b"seconds since 1970-01-01 00:00:00"
    assert days[:].tolist() == [day.replace(tzinfo=dt.timezone.utc).timestamp() for day in DAYS]
    half = run("predict", tmp_path / "m.npz", "--grid", f"x=0.5,day={first}:{last}:731", "-q", "--mean-only").out.splitlines()
    assert "T12:00:00" in half[2]


def test_ranges_that_are_none(tmp_path):
    (tmp_path / "t.csv").write_text("day,c,y\n" + "".join(f"2024-01-{i:02},{'ab'[i % 2]},{i}\n" for i in range(1, 29)))
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--theta", "1,1,0.1", "--kernel", "se", "-q")
    for axis, said in (("2024-01-01:2024-02-31:5", "2024-02-31"), ("2024-01-01:2024-02-01:0", "2024-02-01:0"),
                       ("2024-01-01:2024-02-01:1.5", "2024-02-01:1.5"), ("soon:later:5", "soon")):
        assert said in run("predict", tmp_path / "m.npz", "--grid", f"day={axis},c=a", code=1).err
    assert len(run("predict", tmp_path / "m.npz", "--grid", "c=a,day=2024-01-01 06:00:2024-01-01 18:00:3", "-q").out.splitlines()) == 4
