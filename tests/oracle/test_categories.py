"""Categories: positions against their formula, and a model of text against one of the positions.

    positions and slopes b: (A'A / 8 + 10 I) b = A'd / 8, a row of A and d for each of n rows and each of its 8 nearest
    others by their numbers (and one more coordinate, 1e-3 frac((i + 1) golden ratio), i from 0): differences between the two
    rows of numbers and of indicators of levels, all standardised, and of u = (y - mean y) / std y
    new level: mean = average a_l, variance = average v_l + (1 + 1/L) sum (a_l - mean)^2 / (L - 1)
"""
import json
import os
import subprocess
import zipfile

import numpy as np
import pytest

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))
TOWNS = ["Aix", "Brno", "Cork", "Delft", "Évora", "Graz", "Hull"]
GRADES = ["high", "low", "mid"]


def run(*args, code=0):
    done = subprocess.run([QUORUM, *map(str, args)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def make_rows(n, seed):
    """Rows of (town, a, grade, y)."""
    rng = np.random.default_rng(seed)
    town, grade, a = rng.integers(len(TOWNS), size=n), rng.integers(len(GRADES), size=n), rng.uniform(-2, 2, n)
    effect = np.random.default_rng(99).normal(size=len(TOWNS))
    y = np.sin(2 * a) + effect[town] + np.array([1.0, -1.0, 0.2])[grade] * a + 0.1 * rng.normal(size=n)
    return town, a, grade, y


def write_text(path, rows, towns=None, grades=None, header="town,a,grade,y"):
    towns, grades = towns or TOWNS, grades or GRADES
    town, a, grade, y = rows
    lines = [header] + [f"{towns[t]},{x!r},{grades[g]},{v!r}" for t, x, g, v in
                        zip(town.tolist(), a.tolist(), grade.tolist(), y.tolist())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_numbers(path, rows, positions):
    town, a, grade, y = rows
    p, q = (np.array(positions[k]) for k in ("town", "grade"))
    lines = ["town,a,grade,y"] + [f"{u!r},{x!r},{v!r},{z!r}" for u, x, v, z in
                                  zip(p[town].tolist(), a.tolist(), q[grade].tolist(), y.tolist())]
    path.write_text("\n".join(lines) + "\n")
    return path


def meta_of(model):
    with zipfile.ZipFile(model) as z:
        return json.loads(z.read("meta.json"))


def positions_of(model, levels=None):
    """By input, in the order of TOWNS and GRADES or of the given names."""
    meta, found = meta_of(model), {}
    for c in meta["categories"]:
        name = meta["columns"][c["input"]]
        wanted = (levels or {"town": TOWNS, "grade": GRADES})[name]
        found[name] = [c["positions"][c["levels"].index(w)] for w in wanted]
    return found


def predict(model, queries, *options):
    out = run("predict", model, queries, *options).stdout.splitlines()
    return out[0], np.array([[float(v) for v in line.split(",")] for line in out[1:]])


@pytest.fixture(scope="module", name="here")
def fixture_here(tmp_path_factory):
    here = tmp_path_factory.mktemp("categories")
    write_text(here / "train.csv", make_rows(600, 1))
    write_text(here / "test.csv", make_rows(100, 2))
    run("fit", here / "train.csv", "-o", here / "m.npz", "--experts", "3")
    return here


def standardised(columns):
    return (columns - columns.mean(0)) / columns.std(0)


def paired(numbers, codes, sizes, u, near=8):
    """Differences of standardised rows from their nearest others: of all unknowns, and of the target."""
    n = len(u)
    jitter = 1e-3 * np.modf((np.arange(n) + 1) * ((np.sqrt(5) - 1) / 2))[0]
    place = np.column_stack([numbers, jitter])
    far = ((place[:, None] - place[None]) ** 2).sum(2)
    np.fill_diagonal(far, np.inf)
    other = np.argsort(far, axis=1, kind="stable")[:, :near]
    B = np.column_stack([numbers] + [np.eye(size)[codes[:, c]] for c, size in enumerate(sizes)])
    return (B[:, None] - B[other]).reshape(n * other.shape[1], -1), (u[:, None] - u[other]).ravel()


def solved(A, d, near=8, prior=10.0):
    return np.linalg.solve(A.T @ A / near + prior * np.eye(A.shape[1]), A.T @ d / near)


def columns_of(numbers, sizes):
    """The unknowns of each category."""
    ends = numbers.shape[1] + np.cumsum(sizes)
    return [slice(end - size, end) for end, size in zip(ends, sizes)]


def effects(numbers, codes, y):
    """Positions of the levels of every category (codes: n x categories) by a dense least-squares problem."""
    sizes = codes.max(0) + 1
    b = solved(*paired(standardised(numbers), codes, sizes, standardised(y)))
    return [b[columns] for columns in columns_of(numbers, sizes)]


def gains(numbers, codes, y, near=8):
    """What each category's effects, learned from one half of the rows, explain of the other's pairs."""
    sizes, x, u = codes.max(0) + 1, standardised(numbers), standardised(y)
    halves = [paired(x[h::2], codes[h::2], sizes, u[h::2]) for h in (0, 1)]
    gain = np.zeros(len(sizes))
    for (A, d), b in zip(halves, [solved(*half) for half in reversed(halves)]):
        left = d - A @ b
        for c, columns in enumerate(columns_of(numbers, sizes)):
            gain[c] += ((left + A[:, columns] @ b[columns]) ** 2 - left ** 2).sum() / near
    return gain


def test_positions_by_their_formula(here):
    town, a, grade, y = make_rows(600, 1)
    found = positions_of(here / "m.npz")
    wanted = effects(a[:, None], np.column_stack([town, grade]), y)
    np.testing.assert_allclose(found["town"], wanted[0], rtol=1e-8, atol=2e-9)
    np.testing.assert_allclose(found["grade"], wanted[1], rtol=1e-8, atol=2e-9)
    effect = np.random.default_rng(99).normal(size=len(TOWNS))  # of make_rows: what positions are about
    assert np.corrcoef(found["town"], effect)[0, 1] > 0.98
    levels = {c["input"]: c["levels"] for c in meta_of(here / "m.npz")["categories"]}
    assert levels == {0: sorted(TOWNS, key=lambda t: t.encode()), 2: GRADES}
    assert meta_of(here / "m.npz")["format_version"] == 6


def test_positions_are_effects_and_no_averages(tmp_path):
    """Levels that come with large numbers, and lower the target: their average is high, their effect is not."""
    rng = np.random.default_rng(3)
    level = rng.integers(4, size=800)
    a = level + 0.7 * rng.normal(size=800)
    y = 3 * a - 1.0 * level + 0.1 * rng.normal(size=800)
    lines = [f"{x!r},{'pqrs'[k]},{v!r}" for x, k, v in zip(a.tolist(), level.tolist(), y.tolist())]
    (tmp_path / "t.csv").write_text("a,k,y\n" + "\n".join(lines) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", "--metric", "ard")
    found = np.array(meta_of(tmp_path / "m.npz")["categories"][0]["positions"])
    assert [y[level == k].mean() for k in range(4)] == sorted(y[level == k].mean() for k in range(4))
    np.testing.assert_allclose(np.diff(found) * y.std(), -1.0, atol=0.15)


def write_idle(path, seed, n=900, idle=6, levels=20):
    """A number, a weak category and categories that tell nothing; as a file and as arrays."""
    rng = np.random.default_rng(seed)
    a, codes = rng.normal(size=n), rng.integers(levels, size=(n, idle + 1))
    y = np.sin(2 * a) + 0.4 * np.random.default_rng(1).normal(size=levels)[codes[:, 0]] + 0.5 * rng.normal(size=n)
    lines = [",".join([repr(x), *(f"l{k:02d}" for k in row), repr(v)]) for x, row, v in zip(a.tolist(), codes, y.tolist())]
    path.write_text("a," + ",".join(f"c{c}" for c in range(idle + 1)) + ",y\n" + "\n".join(lines) + "\n")
    return a, codes, y


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_levels_that_tell_nothing_have_no_positions(tmp_path, seed):
    a, codes, y = write_idle(tmp_path / "t.csv", seed)
    said = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", "--metric", "ard", "--max-evaluations", "20")
    gain = gains(a[:, None], codes, y)
    found = [np.any(np.array(c["positions"]) != 0.0) for c in meta_of(tmp_path / "m.npz")["categories"]]
    assert found == (gain > 0).tolist()
    assert found[0] and sum(found[1:]) <= 2  # by chance
    names = [f"c{c}" for c in range(len(found)) if not found[c]]
    assert f"tell no more of the target than chance does, and so without effect on predictions: {', '.join(names)}" in said.stderr


def test_idle_levels_do_not_deceive_intervals(tmp_path):
    """Positions that follow the noise of their own rows would make intervals too narrow."""
    write_idle(tmp_path / "t.csv", 4, n=1500, idle=15, levels=40)
    write_idle(tmp_path / "test.csv", 5, n=1500, idle=15, levels=40)
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", "--metric", "ard", "--max-evaluations", "40")
    scores = json.loads(run("evaluate", tmp_path / "m.npz", tmp_path / "test.csv", "--json").stdout)[0]
    assert 0.92 < scores["coverage"]["95"] < 0.98, scores
    assert scores["rmse"] < 0.56, scores  # the noise is 0.5


@pytest.mark.parametrize("numbers", [0, 1])
def test_rows_alike_in_their_numbers_are_paired_at_random(tmp_path, numbers):
    """No number at all, or a number of two values: pairs are not always the first rows of the file."""
    rng = np.random.default_rng(4)
    k, g, a = rng.integers(5, size=500), rng.integers(3, size=500), rng.integers(2, size=500).astype(float)
    y = np.array([0.0, 1, 2, 3, 4])[k] + np.array([0.0, -1, 1])[g] + 0.5 * rng.normal(size=500)
    lines = [("%g," % x if numbers else "") + f"k{i},g{j},{v!r}" for x, i, j, v in zip(a, k, g, y.tolist())]
    (tmp_path / "t.csv").write_text("a," * numbers + "k,g,y\n" + "\n".join(lines) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", "--metric", "ard")
    wanted = effects(a[:, None][:, :numbers], np.column_stack([k, g]), y)
    for c, w in zip(meta_of(tmp_path / "m.npz")["categories"], wanted):
        np.testing.assert_allclose(c["positions"], w, rtol=1e-8, atol=2e-9)
    np.testing.assert_allclose(np.diff(wanted[0]) * y.std(), 1.0, atol=0.2)


@pytest.mark.parametrize("options", [["--calibrate"], ["--calibrate=false"],
                                     ["--calibrate=false", "--kernel", "matern32", "--trend", "linear"],
                                     ["--calibrate=false", "--metric", "linear"]])
def test_text_is_a_table_with_positions(here, tmp_path, options):
    """Bit for bit.  (Fits to fifths of a text's rows have positions of their own.)"""
    run("fit", here / "train.csv", "-o", tmp_path / "text.npz", *options)
    positions = positions_of(tmp_path / "text.npz")
    run("fit", write_numbers(tmp_path / "n.csv", make_rows(600, 1), positions), "-o", tmp_path / "n.npz",
        *options)
    write_numbers(tmp_path / "q.csv", make_rows(100, 2), positions)
    a, b = np.load(tmp_path / "text.npz"), np.load(tmp_path / "n.npz")
    for name in ("X", "y", "log_lengthscale", "log_noise_variance", "x_mean", "x_scale"):
        assert np.array_equal(a[name], b[name]), name
    one = predict(tmp_path / "text.npz", here / "test.csv")
    other = predict(tmp_path / "n.npz", tmp_path / "q.csv")
    assert one[0] == other[0] and np.array_equal(one[1], other[1])


def test_names_do_not_matter(here, tmp_path):
    """The order of the names changes numbers of levels, not predictions."""
    towns, grades = [f"{9 - i} town" for i in range(len(TOWNS))], ["\"x, y\"", "ß", "Z"]
    run("fit", write_text(tmp_path / "t.csv", make_rows(600, 1), towns, grades), "-o", tmp_path / "m.npz",
        "--experts", "3")
    write_text(tmp_path / "q.csv", make_rows(100, 2), towns, grades)
    one, other = predict(here / "m.npz", here / "test.csv"), predict(tmp_path / "m.npz", tmp_path / "q.csv")
    assert np.array_equal(one[1], other[1])


def test_strict_positions_are_of_the_rest(here, tmp_path):
    """calibrate=strict learns positions without the rows that it holds out."""
    run("fit", here / "train.csv", "-o", tmp_path / "m.npz", "--calibrate=strict", "--kernel", "se")
    strict, plain = positions_of(tmp_path / "m.npz"), positions_of(here / "m.npz")
    assert not np.array_equal(strict["town"], plain["town"])
    np.testing.assert_allclose(strict["town"], plain["town"], atol=0.2)


def write_queries(path, names, a, grades):
    path.write_text("town,a,grade\n" + "".join(f"{t},{x!r},{g}\n" for t, x, g in zip(names, a, grades)))
    return path


@pytest.mark.parametrize("method", ["nearest", "npae", "rbcm"])
def test_new_level_is_the_mixture_of_the_known(here, tmp_path, method):
    a = [0.3, -1.2, 1.9]
    how = ["--method", method, "--calibration", "off"]
    new = predict(here / "m.npz", write_queries(tmp_path / "new.csv", ["Nowhere"] * 3, a, GRADES), *how)[1]
    known = [predict(here / "m.npz", write_queries(tmp_path / "k.csv", [t] * 3, a, GRADES), *how)[1] for t in TOWNS]
    mean = np.array([k[:, 0] for k in known])
    var = np.array([k[:, 1] for k in known]) ** 2
    np.testing.assert_allclose(new[:, 0], mean.mean(0), rtol=1e-9)
    L = len(TOWNS)
    wanted = var.mean(0) + (1 + 1 / L) * mean.var(0, ddof=1)
    # spread and variance are averaged each by itself
    np.testing.assert_allclose(new[:, 1], np.sqrt(wanted), rtol=0.02)


def test_two_new_levels_add_up(here, tmp_path):
    def at(town, grade):
        return predict(here / "m.npz", write_queries(tmp_path / "q.csv", [town], [0.5], [grade]))[1][0]
    both, town, grade = at("?!", "?!"), at("?!", "low"), at("Graz", "?!")
    assert both[1] > max(town[1], grade[1])
    assert np.isfinite(both).all()


def test_new_levels_are_covered(tmp_path):
    """A random effect per level: intervals for new levels hold 95 % of their rows.  The known levels
    are a sample with the population's mean and deviation, so that only the model is tested."""
    rng = np.random.default_rng(5)
    effect = rng.normal(size=240)
    effect[:40] = (effect[:40] - effect[:40].mean()) / effect[:40].std(ddof=1)

    def rows(levels, n):
        code, x = rng.choice(levels, n), rng.uniform(-2, 2, n)
        y = np.sin(2 * x) + effect[code] + 0.2 * rng.normal(size=n)
        return code, x, y

    def write(path, table):
        path.write_text("level,x,y\n" + "".join(f"L{c},{x!r},{y!r}\n" for c, x, y in zip(*map(list, table))))
        return path
    known = np.arange(40)
    run("fit", write(tmp_path / "t.csv", rows(known, 1200)), "-o", tmp_path / "m.npz", "--experts", "1")
    code, x, y = rows(np.arange(40, 240), 1000)
    text = run("predict", tmp_path / "m.npz", write(tmp_path / "q.csv", (code, x, y)))
    p = np.array([[float(v) for v in line.split(",")] for line in text.stdout.splitlines()[1:]])
    assert "1000 rows with a level that was not in the training data" in text.stderr
    inside = np.mean(np.abs(y - p[:, 0]) < 1.96 * p[:, 1])
    assert 0.92 < inside < 0.98, inside
    # and the known ones do not pay for it
    code, x, y = rows(known, 500)
    p = predict(tmp_path / "m.npz", write(tmp_path / "k.csv", (code, x, y)))[1]
    assert p[:, 1].mean() < 0.5


def test_threads_and_blocks(here, tmp_path):
    names = (TOWNS + ["New"]) * 40
    write_queries(tmp_path / "q.csv", names, np.linspace(-2, 2, len(names)).tolist(), ["low", "new"] * 160)
    one = run("predict", here / "m.npz", tmp_path / "q.csv", "--threads", "1").stdout
    assert one == run("predict", here / "m.npz", tmp_path / "q.csv", "--threads", "3").stdout
    assert one == run("predict", here / "m.npz", tmp_path / "q.csv", "--memory", "10M").stdout


def test_gradients_at_a_new_level(here, tmp_path):
    """By finite differences along the number."""
    h, x = 1e-4, [0.31]

    def at(shift, *options):
        write_queries(tmp_path / "q.csv", ["New"], [x[0] + shift], ["low"])
        header, rows = predict(here / "m.npz", tmp_path / "q.csv", "--method", "npae", *options)
        return dict(zip(header.split(","), rows[0]))
    found = at(0.0, "--gradient")
    up, down = at(h), at(-h)
    slope = {k: (up[k] - down[k]) / (2 * h) for k in ("mean", "std")}
    named = {k: v for k, v in found.items() if k.endswith("a") or "_a" in k or "/a" in k}
    values = list(named.values())
    assert any(np.isclose(v, slope["mean"], rtol=1e-4, atol=1e-6) for v in values), (found, slope)
    assert any(np.isclose(v, slope["std"], rtol=1e-3, atol=1e-5) for v in values), (found, slope)
