"""quorum export-c: one file of C99 that predicts as method nearest does."""
import re
import shutil
import subprocess

import numpy as np
import pytest

from conftest import run

CC = shutil.which("cc")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", "-O2"]


def make_rows(n, seed=0, inputs=3, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, inputs)) * 10.0 ** np.arange(inputs) + 5
    f = np.sin(2 * X[:, 0]) + 0.05 * (X[:, 1] - 5)
    return np.column_stack([X, f + noise * (1 + (X[:, 0] > 5)) * rng.standard_normal(n)])


def write(path, rows, names):
    np.savetxt(path, rows, delimiter=",", header=names, comments="", fmt="%.17g")


def answers(folder, queries, *arguments, name="model"):
    """The file's predictions, a row each, and those of the command."""
    run("export-c", folder / "m.npz", "-o", folder / "m.c", "--name", name, *arguments)
    subprocess.run([CC, *STRICT, f"-D{name.upper()}_MAIN", "m.c", "-o", "m", "-lm"], cwd=folder, check=True)
    lines = "\n".join(" ".join(f"{x:.17g}" for x in row) for row in queries) + "\n"
    ours = subprocess.run([folder / "m"], input=lines, text=True, capture_output=True, check=True).stdout
    write(folder / "q.csv", queries, ",".join(f"x{d}" for d in range(queries.shape[1])))
    theirs = run("predict", folder / "m.npz", folder / "q.csv", "--method", "nearest", *arguments).out
    return (np.array([line.split() for line in ours.splitlines()], dtype=float),
            np.array([line.split(",") for line in theirs.splitlines()[1:]], dtype=float))


def check(folder, rows, *fit, options=(), digits=1e-10):
    inputs = rows.shape[1] - 1
    write(folder / "t.csv", rows, ",".join([*(f"x{d}" for d in range(inputs)), "y"]))
    run("fit", folder / "t.csv", "-o", folder / "m.npz", "--max-evaluations", 25, *fit)
    rng = np.random.default_rng(9)
    inside = rows[rng.integers(0, len(rows), 40), :-1]
    queries = np.vstack([rows[:20, :-1], 0.7 * inside[:20] + 0.3 * inside[20:],
                         inside[:20] + 3 * rng.standard_normal((20, inputs)) * rows[:, :-1].std(0)])
    ours, theirs = answers(folder, queries, *options)
    assert ours.shape == theirs.shape == (60, 4)
    unit = np.abs(theirs[:, :1]) + theirs[:, 1:2] + np.abs(theirs)  # a warp's upper end may be 100 means
    assert (np.abs(ours - theirs) / unit).max() < digits
    return ours


pytestmark = pytest.mark.skipif(not CC, reason="there is no C compiler")


@pytest.mark.parametrize("fit", [
    [], ["--kernel", "se", "--spread", "none", "--calibrate=no"], ["--kernel", "matern12", "--metric", "ard"],
    ["--kernel", "matern32", "--metric", "linear", "--local-noise", "yes"], ["--kernel", "matern52x2", "--trend", "none"], ["--kernel", "matern32x3"],
    ["--kernel", "matern52", "--local-noise", "yes", "--calibrate=yes"]], ids=lambda fit: "_".join(fit).replace("--", "") or "default")
def test_the_same_digits_as_the_command(tmp_path, fit):
    check(tmp_path, make_rows(600), *fit)


def test_a_warped_target(tmp_path):
    rows = make_rows(400)
    rows[:, -1] = np.exp(rows[:, -1])
    ours = check(tmp_path, rows, "--warp", "log", "--kernel", "se")
    assert (ours[:, 2] > 0).all()  # lower ends, which a Gaussian would put below 0


def test_fewer_rows_than_neighbours_a_constant_input_and_many_inputs(tmp_path):
    rows = make_rows(60, inputs=3)
    rows[:, 1] = 7.0
    check(tmp_path, rows, "--kernel", "se")
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 20))
    check(tmp_path, np.column_stack([X, X[:, 0] + 0.3 * rng.standard_normal(300)]), "--kernel", "matern32")


def test_options_of_the_prediction(tmp_path):
    rows = make_rows(300)
    narrow = check(tmp_path, rows, "--kernel", "se", options=["--interval", "0.5", "--neighbours", "40"])
    wide = check(tmp_path, rows, "--kernel", "se", options=["--interval", "0.99", "--calibration", "off"])
    assert (wide[:, 3] - wide[:, 2] > 2 * (narrow[:, 3] - narrow[:, 2])).mean() > 0.9


def test_the_file_stands_alone(tmp_path):
    write(tmp_path / "t.csv", make_rows(200), "a*/b,x1,x2,y")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se")
    said = run("export-c", tmp_path / "m.npz", "-o", tmp_path / "m.c", "--name", "pump")
    assert "largest difference from the library" in said.err
    text = (tmp_path / "m.c").read_text()
    assert set(re.findall(r"#include (\S+)", text.split("#ifdef PUMP_MAIN")[0])) == {"<math.h>", "<stddef.h>"}
    subprocess.run([CC, *STRICT, "-fno-builtin", "-c", "m.c"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "m.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    wanted = set(re.findall(r"(?m)^ +U (\w+)", symbols)) - {"_GLOBAL_OFFSET_TABLE_"}
    assert wanted <= {"exp", "expm1", "log", "pow", "sqrt", "fmin", "fmax", "memset", "memcpy"}, wanted
    assert re.findall(r"(?m) T (\w+)", symbols) == ["pump_predict"]
    printed = run("export-c", tmp_path / "m.npz", "--name", "pump").out
    assert printed == text


def test_no_answer_where_a_query_is_no_number(tmp_path):
    write(tmp_path / "t.csv", make_rows(100), "a,b,c,y")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se")
    run("export-c", tmp_path / "m.npz", "-o", tmp_path / "m.c")
    subprocess.run([CC, *STRICT, "-DMODEL_MAIN", "m.c", "-o", "m", "-lm"], cwd=tmp_path, check=True)
    for line in ("1 nan 2\n", "1 inf 2\n"):
        done = subprocess.run([tmp_path / "m"], input=line, text=True, capture_output=True)
        assert done.returncode == 1 and done.stdout == ""


@pytest.mark.parametrize("rows, local", [(2, "no"), (9, "yes"), (150, "yes")])
def test_the_file_stays_within_its_memory(tmp_path, rows, local):
    write(tmp_path / "t.csv", make_rows(rows), "a,b,c,y")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", "--local-noise", local)
    run("export-c", tmp_path / "m.npz", "-o", tmp_path / "m.c")
    built = subprocess.run([CC, "-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DMODEL_MAIN",
                            "m.c", "-o", "m", "-lm"], cwd=tmp_path, capture_output=True, text=True)
    if built.returncode != 0:
        pytest.skip("this compiler has no sanitizers")
    done = subprocess.run([tmp_path / "m"], input="5 5 5\n1e9 0 -1e300\n", text=True, capture_output=True)
    assert done.returncode == 0 and done.stderr == "" and len(done.stdout.splitlines()) == 2


def refused(folder, sentence, *arguments):
    said = run("export-c", folder / "m.npz", "-o", folder / "m.c", *arguments, code=1).err
    assert "cannot be exported" in said and sentence in said
    assert not (folder / "m.c").exists()


@pytest.mark.parametrize("fit, sentence", [
    (["--weights", "w"], "weights or known noise"), (["--noise-std", "w"], "weights or known noise"),
    (["--offset", "w"], "an offset"), (["--categorical", "k"], "categories"), (["--trend", "linear"], "a linear trend"),
    (["--missing", "impute"], "fills missing cells"), (["--periodic", "b:3"], "made of others"),
    (["--lonlat", "a,b"], "made of others")], ids=lambda value: value[0] if isinstance(value, list) else "")
def test_what_is_not_covered_is_refused(tmp_path, fit, sentence):
    rows = make_rows(200, inputs=2)
    extra = np.random.default_rng(1).uniform(0.5, 2, 200)
    kind = np.arange(200) % 3
    write(tmp_path / "t.csv", np.column_stack([rows[:, 0], rows[:, 1] / 10, extra, kind, rows[:, 2]]), "a,b,w,k,y")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", *fit)
    refused(tmp_path, sentence)


def test_a_model_that_rounding_decides_about_is_refused(tmp_path):
    """Two rows that say nothing of each other are as likely with every noise: none is the right one."""
    write(tmp_path / "t.csv", make_rows(2), "a,b,c,y")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", "--local-noise", "yes")
    refused(tmp_path, "--local-noise no")


def test_several_targets(tmp_path):
    rows = make_rows(200, inputs=2)
    write(tmp_path / "t.csv", np.column_stack([rows, 2 * rows[:, 2] + 1]), "a,b,y,z")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--target", "y,z", "--kernel", "se")
    assert "target" in run("export-c", tmp_path / "m.npz", code=2).err
    assert "predicted is z" in run("export-c", tmp_path / "m.npz", "--target", "z").out


def test_wrong_names(tmp_path):
    for name in ("2x", "a-b", ""):
        assert "is not a name in C" in run("export-c", "m.npz", "--name", name, code=2).err
    assert "cannot be opened" in run("export-c", tmp_path / "none.npz", code=1).err
