"""Longitude and latitude on several ranks: the bytes of one process, and one error for all."""
import numpy as np
from conftest import PLAIN, arrays, serial, team


def write(path, n, seed):
    rng = np.random.default_rng(seed)
    lon, lat = rng.uniform(-180, 180, n), rng.uniform(-80, 80, n)
    y = np.cos(np.radians(lon)) + 0.1 * rng.normal(size=n)
    path.write_text("lon,lat,y\n" + "".join(f"{a!r},{b!r},{c!r}\n" for a, b, c in zip(lon.tolist(), lat.tolist(), y.tolist())))
    return path


def test_fit_and_predict(tmp_path):
    train, queries = write(tmp_path / "t.csv", 2500, 1), write(tmp_path / "q.csv", 100, 2)
    options = ["--kernel", "se", "--lonlat", "lon,lat", "--max-evaluations", "5", "--train-rows", "300",
               "--expert-size", "800", *PLAIN]
    serial("fit", train, "-o", tmp_path / "1.npz", *options)
    one = serial("predict", tmp_path / "1.npz", queries, "-q").out
    for ranks in (2, 3):
        model, out = tmp_path / f"r{ranks}.npz", tmp_path / f"{ranks}.csv"
        team(ranks, "fit", train, "-o", model, *options, "-q")
        a, b = arrays(tmp_path / "1.npz"), arrays(model)
        assert a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
        team(ranks, "predict", model, queries, "-q", "-o", out)
        assert out.read_text() == one


def test_errors_are_those_of_one(tmp_path):
    train = write(tmp_path / "t.csv", 2500, 1)
    for words, said in ((["--lonlat", "lat,lon"], "latitudes"), (["--lonlat", "lon,nix"], "nix")):
        assert said in team(2, "fit", train, "-o", tmp_path / "m.npz", *words, code=1).err
    serial("fit", train, "-o", tmp_path / "m.npz", "--theta", "1,1,0.1", "--kernel", "se", "--lonlat", "lon,lat")
    (tmp_path / "bad.csv").write_text("lon,lat\n1,2\n1,99\n")
    assert "row 2: lat is 99" in team(2, "predict", tmp_path / "m.npz", tmp_path / "bad.csv", code=1).err
