"""Longitude and latitude: places on the unit sphere, by NumPy.

    p = (cos lat cos lon, cos lat sin lon, sin lat),   scale^2 = (var p_x + var p_y + var p_z) / 2,   k(p, q) = s_f^2 exp(-|p - q|^2 / (2 scale^2 l^2))
"""
import json
import os
import subprocess
import zipfile

import numpy as np
import pytest

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))


def run(*args, code=0, stdin=None):
    done = subprocess.run([QUORUM, *map(str, args)], capture_output=True, text=True, timeout=300, check=False, input=stdin)
    assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def places(lon, lat):
    lon, lat = np.radians(lon), np.radians(lat)
    return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def rows(n, seed, region=None):
    rng = np.random.default_rng(seed)
    lon, lat = rng.uniform(-180, 180, n), np.degrees(np.arcsin(rng.uniform(-1, 1, n)))
    if region:
        lon, lat = rng.uniform(*region[0], n), rng.uniform(*region[1], n)
    p, t = places(lon, lat), rng.uniform(0, 1, n)
    return lon, lat, t, np.sin(3 * p[:, 0]) + 2 * p[:, 1] * p[:, 2] + t + 0.05 * rng.normal(size=n)


def write(path, columns):
    table = np.column_stack(list(columns.values()))
    path.write_text(",".join(columns) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in table.tolist()))
    return path


def predict(model, path, *options):
    lines = run("predict", model, path, "-q", *options).stdout.splitlines()
    return lines[0].split(","), np.loadtxt(lines[1:], delimiter=",", ndmin=2)


def read(path):
    with zipfile.ZipFile(path) as z:
        return json.loads(z.read("meta.json")), dict(np.load(path).items())


THETA = {"t": 1.3, "p": 0.8}  # length-scales


@pytest.fixture(scope="module", name="globe")
def make_globe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("globe")
    lon, lat, t, y = rows(400, 1)
    write(folder / "train.csv", {"lat": lat, "t": t, "lon": lon, "y": y})
    theta = ",".join(map(str, [9, THETA["t"], 9, *[THETA["p"]] * 3, 1.5, 0.02]))
    run("fit", folder / "train.csv", "-o", folder / "m.npz", "--lonlat", "lon,lat", "--kernel", "se", "--experts", "1", "--theta", theta,
        "--spread", "none", "--calibrate", "false", "--local-noise", "no", "--trend", "constant")
    return folder, lon, lat, t, y


def exact(lon, lat, t, y, lon_, lat_, t_):
    p, q = places(lon, lat), places(lon_, lat_)
    scale = np.sqrt(p.var(axis=0).sum() / 2)
    Z = np.column_stack([(p - p.mean(axis=0)) / scale / THETA["p"], (t - t.mean()) / t.std() / THETA["t"]])
    Q = np.column_stack([(q - p.mean(axis=0)) / scale / THETA["p"], (t_ - t.mean()) / t.std() / THETA["t"]])
    k = lambda a, b: 1.5 * np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(axis=2))
    C = np.linalg.cholesky(k(Z, Z) + 0.02 * np.eye(len(Z)))
    alpha, beta = np.linalg.solve(C, (y - y.mean()) / y.std()), np.linalg.solve(C, k(Z, Q))
    return y.mean() + y.std() * beta.T @ alpha, y.std() * np.sqrt(1.5 + 0.02 - (beta**2).sum(axis=0))


def test_exact_gp(globe, tmp_path):
    folder, *train = globe
    lon, lat, t, _ = rows(60, 2)
    lon[:4], lat[:4] = [180, -180, 359, 0], [5, 5, -80, 90]
    write(tmp_path / "q.csv", {"lon": lon, "lat": lat, "t": t})
    _, got = predict(folder / "m.npz", tmp_path / "q.csv", "--method", "poe")
    mean, std = exact(*train, lon, lat, t)
    assert np.allclose(got[:, 0], mean, rtol=1e-9, atol=1e-9)
    assert np.allclose(got[:, 1], std, rtol=1e-8)


def test_what_is_stored(globe):
    folder, lon, lat, t, _ = globe
    meta, m = read(folder / "m.npz")
    p = places(lon, lat)
    assert meta["format_version"] == 13
    assert meta["columns"] == ["lat", "t", "lon", "lon lat (x)", "lon lat (y)", "lon lat (z)", "y"]
    assert [m_["kind"] for m_ in meta["made_inputs"]] == ["x", "y", "z"]
    assert all(m_["column"] == 2 and m_["latitude"] == 0 and m_["degrees"] == -180 for m_ in meta["made_inputs"])
    assert np.allclose(m["x_scale"][3:], np.sqrt(p.var(axis=0).sum() / 2), rtol=1e-12)
    assert np.allclose(m["X"][:, 3:], ((p - p.mean(axis=0)) / m["x_scale"][3:])[m["row"]], atol=1e-12)
    assert np.all(m["X"][:, [0, 2]] == 0)
    assert np.allclose(m["X"][:, 1], ((t - t.mean()) / t.std())[m["row"]], atol=1e-12)


def test_the_date_line_and_the_poles_are_no_borders(globe, tmp_path):
    folder = globe[0]
    write(tmp_path / "q.csv", {"lon": np.array([180.0, -180, 190, -170, 12, 99, 179.99, -179.99]),
                               "lat": np.array([20.0, 20, 20, 20, 90, 90, 20, 20]), "t": np.full(8, 0.5)})
    _, got = predict(folder / "m.npz", tmp_path / "q.csv", "--method", "poe")
    assert np.allclose(got[[0, 2, 4]], got[[1, 3, 5]], rtol=1e-9)
    assert np.allclose(got[6], got[7], rtol=0, atol=1e-3)


def test_a_row_beyond_the_date_line_counts(tmp_path):
    """A row alone at 179.9: what it says of -179.9 is what it says of itself."""
    lon, lat, t, y = rows(200, 3, ((-120, 120), (-30, 30)))
    lon, lat, t, y = np.append(lon, 179.9), np.append(lat, 0), np.append(t, 0.5), np.append(y, 30)
    write(tmp_path / "t.csv", {"lon": lon, "lat": lat, "t": t, "y": y})
    for name, options in (("sphere", ["--lonlat", "lon,lat"]), ("plane", [])):
        run("fit", tmp_path / "t.csv", "-o", tmp_path / f"{name}.npz", "--kernel", "se", "--theta", "0.3,1,0.01", "--experts", "1", *options)
    write(tmp_path / "q.csv", {"lon": np.array([179.9, -179.9]), "lat": np.zeros(2), "t": np.full(2, 0.5)})
    _, sphere = predict(tmp_path / "sphere.npz", tmp_path / "q.csv", "--method", "poe")
    _, plane = predict(tmp_path / "plane.npz", tmp_path / "q.csv", "--method", "poe")
    assert abs(sphere[0, 0] - sphere[1, 0]) < 0.05 and sphere[1, 0] > 20
    assert plane[1, 0] < 5


@pytest.mark.parametrize("method", [["--method", "poe"], ["--neighbours", "100"], ["--method", "npae"]])
def test_gradients(globe, tmp_path, method):
    folder = globe[0]
    rng = np.random.default_rng(5)
    at = np.column_stack([rng.uniform(-170, 170, 12), rng.uniform(-80, 80, 12), rng.uniform(0.1, 0.9, 12)])
    header, got = predict(folder / "m.npz", write(tmp_path / "q.csv", dict(zip(["lon", "lat", "t"], at.T))), "--gradient", *method)
    for k, name in enumerate(("lon", "lat", "t")):
        h = 1e-4
        low, high = at.copy(), at.copy()
        low[:, k] -= h
        high[:, k] += h
        both = [predict(folder / "m.npz", write(tmp_path / "h.csv", dict(zip(["lon", "lat", "t"], q.T))), *method)[1] for q in (low, high)]
        slope = (both[1] - both[0]) / (2 * h)
        assert np.allclose(got[:, header.index(f"dmean_{name}")], slope[:, 0], rtol=1e-4, atol=1e-7), name
        assert np.allclose(got[:, header.index(f"dstd_{name}")], slope[:, 1], rtol=1e-3, atol=1e-7), name


def test_one_length_scale_and_a_better_fit(tmp_path):
    lon, lat, t, y = rows(500, 7)
    q = rows(200, 8)
    write(tmp_path / "t.csv", {"lon": lon, "lat": lat, "t": t, "y": y})
    write(tmp_path / "q.csv", dict(zip(["lon", "lat", "t", "y"], q)))
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "s.npz", "--lonlat", "lon,lat", "--kernel", "se", "--metric", "ard", "-q")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "p.npz", "--kernel", "se", "--metric", "ard", "-q")
    _, m = read(tmp_path / "s.npz")
    assert len(set(m["log_lengthscale"][3:])) == 1
    error = [np.sqrt(np.mean((predict(tmp_path / f"{k}.npz", tmp_path / "q.csv")[1][:, 0] - q[3]) ** 2)) for k in "sp"]
    assert error[0] < 0.06 and error[1] > error[0]


def test_the_tied_slope(tmp_path):
    """At the end of the search the likelihood of all rows has no slope along the one length-scale."""
    lon, lat, t, y = rows(250, 9)
    write(tmp_path / "t.csv", {"lon": lon, "lat": lat, "t": t, "y": y})
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--lonlat", "lon,lat", "--kernel", "se", "--experts", "1", "--train", "parts", "--tolerance",
        "1e-10", "-q")
    _, m = read(tmp_path / "m.npz")
    z, ry = m["X"][:, 2:].astype(float), m["y"].astype(float)
    sf2, s2 = np.exp(m["log_signal_variance"]), np.exp(m["log_noise_variance"])

    def nlml(shift):
        l = np.exp(m["log_lengthscale"][2:] + shift)
        d = ((z[:, None] - z[None]) ** 2 / l**2).sum(axis=2)
        C = np.linalg.cholesky(sf2 * np.exp(-0.5 * d) + s2 * np.eye(len(z)))
        return 0.5 * np.sum(np.linalg.solve(C, ry) ** 2) + np.log(np.diag(C)).sum()

    h = np.array([0, 1, 1, 1]) * 1e-4
    assert abs(nlml(h) - nlml(-h)) / 2e-4 < 0.05
    assert nlml(100 * h) > nlml(0 * h) < nlml(-100 * h)


def test_small_regions_are_planes(tmp_path):
    """Within a degree, predictions are those of the plane east and north of it, in the same unit."""
    lon, lat, t, y = rows(300, 11, ((10.0, 10.5), (50.0, 50.5)))
    east, north = np.radians(lon - 10.25) * np.cos(np.radians(50.25)), np.radians(lat - 50.25)
    y = np.sin(400 * east) + np.cos(500 * north) + 0.01 * y
    scale = np.sqrt((east.var() + north.var()) / 2)
    theta = f"9,9,2,{0.5},{0.5},{0.5},1,0.01"
    write(tmp_path / "s.csv", {"lon": lon, "lat": lat, "t": t, "y": y})
    write(tmp_path / "p.csv", {"e": east, "n": north, "t": t, "y": y})
    run("fit", tmp_path / "s.csv", "-o", tmp_path / "s.npz", "--lonlat", "lon,lat", "--kernel", "se", "--experts", "1", "--theta", theta, "-q")
    run("fit", tmp_path / "p.csv", "-o", tmp_path / "p.npz", "--kernel", "se", "--experts", "1", "-q", "--theta",
        f"{0.5 * scale / east.std()},{0.5 * scale / north.std()},2,1,0.01")
    _, a = predict(tmp_path / "s.npz", tmp_path / "s.csv", "--method", "poe", "--calibration", "off")
    _, b = predict(tmp_path / "p.npz", tmp_path / "p.csv", "--method", "poe", "--calibration", "off")
    assert np.allclose(a[:, :2], b[:, :2], rtol=0, atol=0.02)
