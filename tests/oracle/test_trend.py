"""The trend: universal kriging from its equations, lines that are continued, and what does not change."""
import json
import subprocess

import numpy as np
import pytest
from scipy import stats

import reference as ref
from bent_normal import log_density_of
from oracle_support import QUORUM, agree, fit, joint, predict, quorum, same_bits

NEAR = ["--train", "neighbours", "--partition-metric", "learned", "--graph", "none"]


def rows_of(n, seed, slope=(3.0, -0.5, 0.0)):
    """Three inputs in their own units, the second of a long scale; a line and a wave."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 40.0, 0.2] + [5.0, -7.0, 0.0]
    y = 20.0 + X @ slope + 2.0 * np.sin(2.0 * X[:, 0]) + 0.3 * rng.standard_normal(n)
    return np.column_stack([X, y])


def series(n, seed=3):
    rng = np.random.default_rng(seed)
    t = np.arange(n, dtype=float)
    return np.column_stack([t, 5.0 + 0.05 * t + np.sin(t / 3.0) + 0.1 * rng.standard_normal(n)])


def features(Z):
    return np.column_stack([np.ones(len(Z)), Z])


def kriging(theta, X, target, Q):
    """Mean, latent variance and GLS coefficients by the textbook's equations: all rows at once."""
    K = ref.kernel(theta, X, X) + theta.noise * np.eye(len(X))
    F, ks, fq = features(X), ref.kernel(theta, X, Q), features(Q)
    inverse = np.linalg.inv(K)
    G = F.T @ inverse @ F
    V = np.linalg.inv(G)
    beta = V @ F.T @ inverse @ target
    U = fq.T - F.T @ inverse @ ks
    mean = fq @ beta + ks.T @ inverse @ (target - F @ beta)
    covariance = ref.kernel(theta, Q, Q) - ks.T @ inverse @ ks + U.T @ V @ U
    return mean, covariance, beta, V


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    directory = tmp_path_factory.mktemp("exact")
    path, _ = fit(directory, "exact", rows_of(300, 1), *NEAR, "--experts", 1, "--trend", "linear",
                  "--metric", "ard")
    return path, ref.Model(path)


def queries(seed=9, b=40):
    Q = rows_of(b, seed)[:, :-1]
    Q[:10] += [30.0, 500.0, 3.0]  # far beyond the rows
    return Q


# ---- Universal kriging --------------------------------------------------------------------------


def target_of(model, rows):
    a = model.arrays
    return ((rows[:, -1] - a["y_mean"]) / a["y_scale"])[a["row"]]


@pytest.mark.parametrize("method", [["--method", "auto"], ["--method", "npae"],
                                    ["--method", "nearest", "--neighbours", "300"]])
def test_exact_universal_kriging(exact, method):
    path, model = exact
    a, Q = model.arrays, queries()
    mean, covariance, beta, V = kriging(model.theta, a["X"], target_of(model, rows_of(300, 1)),
                                        model.standardise(Q))
    agree("trend: coefficients", a["trend"], beta, np.abs(beta).max(), 1e-7)
    agree("trend: covariance", a["trend_covariance"], V, np.abs(V).max(), 1e-6)
    spread = model.spreads(model.standardise(Q), 300) if "nearest" in method else np.ones(len(Q))
    latent = np.diag(covariance)
    own = latent - np.einsum("ij,jk,ik->i", *errors(model, Q))
    var = spread * (own + model.theta.noise) + (latent - own)
    got = predict(path, Q, *method)
    agree("trend: mean", got["mean"], a["y_mean"] + a["y_scale"] * mean, a["y_scale"], 1e-7)
    std = a["y_scale"] * np.sqrt(var)
    agree("trend: std", got["std"], std, std, 1e-6)


def errors(model, Q):
    """U' (queries x coefficients), V and U' of the exact GP."""
    a, Z = model.arrays, model.standardise(Q)
    K = ref.kernel(model.theta, a["X"], a["X"]) + model.theta.noise * np.eye(model.n)
    U = features(Z) - np.linalg.solve(K, ref.kernel(model.theta, a["X"], Z)).T @ features(a["X"])
    return U, a["trend_covariance"], U


@pytest.mark.parametrize("method", ["npae", "nearest"])
def test_joint_covariance(exact, method):
    path, model = exact
    Q = queries(b=20)
    options = {"method": method, "latent": "true"} | ({"neighbours": 300} if method == "nearest" else {})
    mean, got = joint(path, Q, **options)
    a = model.arrays
    expected_mean, expected, _, _ = kriging(model.theta, a["X"], target_of(model, rows_of(300, 1)),
                                            model.standardise(Q))
    agree("trend: joint mean", mean, a["y_mean"] + a["y_scale"] * expected_mean, a["y_scale"], 1e-7)
    shown = predict(path, Q, "--method", method, "--latent",
                    *(["--neighbours", "300"] if method == "nearest" else []))
    agree("trend: joint variance is predict's", np.sqrt(np.diag(got)), shown["std"], shown["std"], 1e-8)
    if method == "npae":
        unit = float(a["y_scale"]) ** 2
        agree("trend: joint covariance", got, unit * expected, unit * np.diag(expected).max(), 1e-6)


@pytest.mark.parametrize("method", ["gpoe", "rbcm", "grbcm", "poe", "single", "npae", "nearest"])
def test_far_away_the_line_and_its_variance_are_all(tmp_path, method):
    """f' V f, whatever the method: the prior about the line comes back."""
    path, _ = fit(tmp_path, "far", rows_of(400, 4), *NEAR, "--experts", 4, "--trend", "linear",
                  "--metric", "ard")
    model = ref.Model(path)
    a, theta = model.arrays, model.theta
    far = np.array([[1.0, 1.0, 1.0], [-1.0, 2.0, 0.5], [3.0, 0.0, -2.0]]) * 1e3 * theta.lengthscale.max()
    Q = a["x_mean"] + a["x_scale"] * far
    got = predict(path, Q, "--method", method)
    f = features(model.standardise(Q))
    doubt = np.einsum("ij,jk,ik->i", f, a["trend_covariance"], f)
    mean = a["y_mean"] + a["y_scale"] * (f @ a["trend"])
    agree("trend far away: mean", got["mean"], mean, np.abs(mean).max(), 1e-9)
    std = a["y_scale"] * np.sqrt(theta.signal + theta.noise + doubt)
    if method == "poe":  # does not return to the prior
        std = a["y_scale"] * np.sqrt(theta.signal / 4 + theta.noise + doubt / 4)
    agree("trend far away: std", got["std"], std, std, 1e-6)


# ---- Lines ----------------------------------------------------------------------------------------


def test_a_line_is_continued(tmp_path):
    rows = series(300)
    path, said = fit(tmp_path, "line", rows, *NEAR, "--trend", "linear")
    t = np.arange(300.0, 900.0)
    got = predict(path, t[:, None])
    assert said["trend"] == "linear"
    assert np.abs(got["mean"] - (5.0 + 0.05 * t)).max() < 1.5
    inside = (got["lower"] < 5.0 + 0.05 * t + np.sin(t / 3.0)) & (got["upper"] > 5.0 + 0.05 * t + np.sin(t / 3.0))
    assert inside.mean() > 0.9
    assert got["std"][-1] > got["std"][100]  # the slope is not known exactly


def test_a_constant_is_returned_to(tmp_path):
    rows = series(300)
    for trend, level in (("constant", rows[:, 1].mean()), ("none", 0.0)):
        path, said = fit(tmp_path, trend, rows, *NEAR, "--trend", trend)
        got = predict(path, np.array([[1e7]]))
        assert said["trend"] == trend
        assert got["mean"][0] == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize("options,tolerance", [(NEAR, 1e-2), (["--train", "parts", "--experts", "3"], 1e-2),
                                               ([*NEAR, "--theta", "1,1,1,1,0.1"], 1e-7)])
def test_adding_a_line_adds_it(tmp_path, options, tolerance):
    """Of y + a'x + b predictions are those of y, + a'x + b."""
    rows, a, b = rows_of(250, 5, (0.0, 0.0, 0.0)), np.array([4.0, -2.0, 30.0]), 1000.0
    more = rows.copy()
    more[:, -1] += rows[:, :-1] @ a + b
    Q = queries()
    one = predict(fit(tmp_path, "one", rows, *options, "--trend", "linear")[0], Q)
    two = predict(fit(tmp_path, "two", more, *options, "--trend", "linear")[0], Q)
    agree("y + line: mean", two["mean"] - (Q @ a + b), one["mean"], one["std"], tolerance)
    agree("y + line: std", two["std"], one["std"], one["std"], tolerance)


@pytest.mark.parametrize("options", [["--metric", "linear"], ["--metric", "ard"]])
def test_slopes_are_in_the_datas_units(tmp_path, options):
    path, _ = fit(tmp_path, "slopes", rows_of(600, 6), *NEAR, "--trend", "linear", *options)
    shown = json.loads(quorum("inspect", path, "--json"))["trend"]
    slopes = np.array([s["slope"] for s in shown["slopes"]])
    errors = np.array([s["standard_error"] for s in shown["slopes"]])
    assert np.all(np.abs(slopes - [3.0, -0.5, 0.0]) < 6.0 * errors + 0.05)
    text = quorum("inspect", path)
    assert "trend       linear" in text
    model = ref.Model(path)
    a, R = model.arrays, model.arrays.get("rotation", np.eye(3))
    agree("slopes", slopes, a["y_scale"] / a["x_scale"] * (R.T @ a["trend"][1:]), np.abs(slopes).max(), 1e-12)
    V = R.T @ a["trend_covariance"][1:, 1:] @ R
    agree("slopes: standard errors", errors, a["y_scale"] / a["x_scale"] * np.sqrt(np.diag(V)), errors, 1e-9)


def test_more_inputs_than_rows_and_collinear_ones(tmp_path):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(30, 41))
    twins = np.column_stack([(x := rng.normal(size=(200, 2))), x, np.full(200, 3.0),
                             x @ [1.0, 2.0] + 0.1 * rng.standard_normal(200)])
    for name, rows in (("wide", wide), ("twins", twins)):
        path, _ = fit(tmp_path, name, rows, *NEAR, "--trend", "linear")
        got = predict(path, rows[:20, :-1] + 0.01)
        assert np.isfinite(got["mean"]).all() and (got["std"] > 0.0).all()
    far = predict(path, np.array([[50.0, 50.0, 50.0, 50.0, 3.0]]))
    assert far["mean"][0] == pytest.approx(150.0, rel=0.05)


def test_a_line_without_noise(tmp_path):
    X = np.random.default_rng(0).normal(size=(150, 2))
    path, _ = fit(tmp_path, "pure", np.column_stack([X, 7.0 + X @ [1.0, -2.0]]), *NEAR, "--trend", "linear")
    got = predict(path, np.array([[10.0, 20.0]]))
    assert got["mean"][0] == pytest.approx(-23.0, abs=1e-4)


# ---- What stays -------------------------------------------------------------------------------


def test_constant_is_what_there_was(tmp_path):
    """With train=parts auto is constant, and neither leaves a trace in the file."""
    rows = rows_of(200, 2)
    models = [ref.Model(fit(tmp_path, t, rows, "--experts", 3, "--trend", t)[0]) for t in ("auto", "constant")]
    for name, array in models[0].arrays.items():
        same_bits(name, models[1].arrays[name], array)
    assert models[0].meta["format_version"] == 1 and "trend" not in models[0].arrays


@pytest.mark.parametrize("options", [NEAR, ["--train", "parts", "--experts", "4"],
                                     [*NEAR, "--overlap", "0.5", "--experts", "4"],
                                     [*NEAR, "--calibrate"]])
def test_same_bits_for_any_threads(tmp_path, options):
    rows = rows_of(700, 7)
    models = [fit(tmp_path, f"t{t}", rows, *options, "--trend", "linear", "--threads", t)[0] for t in (1, 2)]
    first, second = (ref.Model(m) for m in models)
    assert first.meta["format_version"] == 4
    for name, array in first.arrays.items():
        same_bits(name, second.arrays[name], array)
    one, two = (predict(m, queries(), "--threads", t) for m, t in zip(models, (1, 2)))
    same_bits("mean", one["mean"], two["mean"])
    same_bits("std", one["std"], two["std"])


def test_predictions_of_every_method_from_the_file(tmp_path):
    """The equations of the reference on the model file alone."""
    path, _ = fit(tmp_path, "file", rows_of(500, 8), *NEAR, "--experts", 4, "--trend", "linear",
                  "--metric", "linear")
    model, Q = ref.Model(path), queries()
    for method in ("nearest", "npae", "rbcm", "gpoe"):
        neighbours = 40 if method in ("nearest", "npae") else 0
        got = predict(path, Q, "--method", method, "--neighbours", neighbours)
        mean, std = model.predict(Q, method, neighbours=neighbours, order=np.arange(4))
        agree(f"trend, {method}: mean", got["mean"], mean, float(model.arrays["y_scale"]), 1e-7)
        agree(f"trend, {method}: std", got["std"], std, std, 1e-7)


def test_bad_values_are_refused(tmp_path):
    np.save(tmp_path / "rows.npy", rows_of(50, 1))
    done = subprocess.run([QUORUM, "fit", tmp_path / "rows.npy", "-o", tmp_path / "m.npz", "--trend", "square"],
                          capture_output=True, text=True)
    assert done.returncode == 2 and "auto|none|constant|linear" in done.stderr
    wide = np.random.default_rng(0).normal(size=(20, 1102))
    np.save(tmp_path / "wide.npy", wide)
    done = subprocess.run([QUORUM, "fit", tmp_path / "wide.npy", "-o", tmp_path / "m.npz", "--trend", "linear"],
                          capture_output=True, text=True)
    assert done.returncode == 1 and "1000 inputs at most" in done.stderr


# ---- The choice ---------------------------------------------------------------------------------


def test_auto_takes_a_line_that_continues(tmp_path):
    rows = series(700)
    path, said = fit(tmp_path, "auto", rows[:300], *NEAR, "--trend", "auto")
    assert said["trend"] == "linear"
    error = predict(path, rows[300:, :1])["mean"] - rows[300:, 1]
    flat = predict(fit(tmp_path, "flat", rows[:300], *NEAR, "--trend", "constant")[0], rows[300:, :1])
    assert np.mean(error ** 2) < 0.5 * np.mean((flat["mean"] - rows[300:, 1]) ** 2)


def test_auto_takes_a_plane_across_holes(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.uniform(0.0, 10.0, size=(2400, 2))
    hole = (np.linalg.norm(X[:, None] - [[3, 3], [7, 6]], axis=2) < 1.6).any(1)
    y = 3.0 * X[:, 0] - X[:, 1] + np.sin(3.0 * X[:, 0]) * np.cos(3.0 * X[:, 1]) + 0.1 * rng.standard_normal(2400)
    rows = np.column_stack([X, y])
    path, said = fit(tmp_path, "holes", rows[~hole][:1200], *NEAR, "--trend", "auto")
    assert said["trend"] == "linear"
    assert np.sqrt(np.mean((predict(path, X[hole])["mean"] - y[hole]) ** 2)) < 0.9


def test_auto_stays_with_the_mean_where_there_is_no_line(tmp_path):
    """And then leaves no trace."""
    rows = series(300)
    rows[:, 1] -= 0.05 * rows[:, 0]
    path, said = fit(tmp_path, "auto", rows, *NEAR, "--trend", "auto")
    other, _ = fit(tmp_path, "constant", rows, *NEAR, "--trend", "constant")
    assert said["trend"] == "constant"
    first, second = ref.Model(path), ref.Model(other)
    for name, array in second.arrays.items():
        same_bits(name, first.arrays[name], array)
    assert first.meta["format_version"] == 1 and "target" not in first.meta


# ---- The offset ---------------------------------------------------------------------------------


def with_offset(rows, seed=1):
    """The rows with a column between the inputs that is no input."""
    offset = 100.0 + 5.0 * rows[:, 1] + np.random.default_rng(seed).standard_normal(len(rows))
    return np.column_stack([rows[:, :1], offset, rows[:, 1:]]), offset


@pytest.mark.parametrize("options", [[], ["--trend", "linear"], ["--trend", "none"], ["--calibrate"]])
def test_an_offset_is_a_shift(tmp_path, options):
    """A fit of y with offset o is that of y - o, plus o."""
    rows, test = rows_of(250, 1), rows_of(60, 2)
    given, offset = with_offset(rows)
    asked, shift = with_offset(test, 2)
    less = rows.copy()
    less[:, -1] -= offset
    path, _ = fit(tmp_path, "offset", given, *NEAR, "--offset", "2", *options)
    other, _ = fit(tmp_path, "less", less, *NEAR, *options)
    first, second = ref.Model(path), ref.Model(other)
    assert first.meta["format_version"] == (11 if "spread_rows" in first.meta else 4)
    assert first.meta["offset_column"] == "offset"
    for name, array in second.arrays.items():
        same_bits(name, first.arrays[name], array)
    for columns in (asked, asked[:, :-1]):  # with the target, and without
        got, plain = predict(path, columns), predict(other, test[:, :-1])
        for name, add in (("mean", shift), ("lower", shift), ("upper", shift), ("std", 0.0)):
            same_bits(name, got[name], plain[name] + add)
    np.save(tmp_path / "test.npy", asked)
    scores = json.loads(quorum("evaluate", path, tmp_path / "test.npy", "--json"))[0]
    expected = ref.metrics(test[:, -1], got["mean"], got["std"], rows[:, -1].mean(), rows[:, -1].std())
    if options == ["--calibrate"]:
        density = log_density_of(first, test[:, -1], got["mean"], got["std"])
        trivial = stats.norm.logpdf(test[:, -1], rows[:, -1].mean(), rows[:, -1].std())
        expected["msll"] = np.mean(trivial - density)
    for name in ("smse", "msll", "rmse"):
        agree(f"offset: {name}", scores[name], expected[name], abs(expected[name]), 1e-9)


def test_offsets_are_found_by_name(tmp_path):
    rows, offset = with_offset(rows_of(120, 1))
    table = lambda name, data, head: np.savetxt(tmp_path / name, data, delimiter=",", header=head,
                                                comments="", fmt="%.17g") or tmp_path / name
    train = table("train.csv", rows, "a,base,b,c,y")
    quorum("fit", train, "-o", tmp_path / "m.npz", "-q", "--offset", "base", "--kernel", "se", "--theta", "1,1,0.1")
    usual = quorum("predict", tmp_path / "m.npz", train, "-q")
    other = quorum("predict", tmp_path / "m.npz", table("turned.csv", rows[:, [3, 2, 1, 0]], "c,b,base,a"), "-q")
    assert usual == other
    assert "offset      predictions are about the values of the column base" in quorum("inspect", tmp_path / "m.npz")
    missing = table("missing.csv", rows[:, [0, 2, 3]], "a,b,c")
    done = subprocess.run([QUORUM, "predict", tmp_path / "m.npz", missing], capture_output=True, text=True)
    assert done.returncode == 1 and 'no column "base", which the model needs as the offset' in done.stderr


@pytest.mark.parametrize("options,words", [(["--offset", "nobody"], "offset"),
                                           (["--offset", "y"], "both the target and the offset"),
                                           (["--offset", "base", "--ignore", "base"], "both the offset and ignored")])
def test_bad_offsets_are_refused(tmp_path, options, words):
    rows, _ = with_offset(rows_of(50, 1))
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", header="a,base,b,c,y", comments="")
    done = subprocess.run([QUORUM, "fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", *options],
                          capture_output=True, text=True)
    assert done.returncode == 1 and words in done.stderr
