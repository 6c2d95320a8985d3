"""quorum export-fmu: a unit of FMI 2.0, read and called by an importer that knows the standard only (fmi2.py)."""
import ctypes
import shutil
import subprocess
import zipfile

import numpy as np
import pytest

import fmi2
from conftest import run
from fmi2 import Instance, Unit
from test_export_c import STRICT, make_rows, write

CC = shutil.which("cc")
pytestmark = pytest.mark.skipif(not CC, reason="there is no C compiler")
NAMES = ["x0", "x1", "x2"]
OUTPUTS = ["y", "y_std", "y_lower", "y_upper"]


def make_unit(folder, rows, *fit, names="x0,x1,x2,y", options=()):
    write(folder / "t.csv", rows, names)
    run("fit", folder / "t.csv", "-o", folder / "m.npz", "--max-evaluations", 25, *fit)
    run("export-fmu", folder / "m.npz", "-o", folder / "m.fmu", "--name", "pump", *options)
    return Unit(folder / "m.fmu", folder / "unpacked").load()


def answers(unit, queries, outputs=OUTPUTS):
    """mean, std, lower, upper, and their derivatives by each input, of each query."""
    instance = Instance(unit).start()
    names = [v.get("name") for v in unit.variables if v.get("causality") == "input"]
    values, slopes = [], []
    for i, row in enumerate(queries):
        instance.set(dict(zip(names, row)))
        instance.call("DoStep", float(i), 1.0, 1)
        values.append(instance.get(outputs))
        slopes.append([instance.slope(outputs, {name: 1.0}) for name in names])
    instance.free()
    return np.array(values), np.array(slopes)


def queries_of(rows):
    rng = np.random.default_rng(4)
    chosen = rows[rng.integers(0, len(rows), 24), :-1]
    return np.vstack([0.7 * chosen[:12] + 0.3 * chosen[12:], chosen[:6] + rng.standard_normal((6, chosen.shape[1])) * rows[:, :-1].std(0)])


FITS = [[], ["--kernel", "se", "--spread", "none", "--calibrate=no"], ["--kernel", "matern12", "--metric", "ard"],
        ["--kernel", "matern32", "--metric", "linear", "--local-noise", "yes"], ["--kernel", "matern52x2"], ["--kernel", "matern32x3"]]


@pytest.mark.parametrize("warped", [False, True], ids=["plain", "log"])
@pytest.mark.parametrize("fit", FITS, ids=lambda fit: "_".join(fit).replace("--", "") or "default")
def test_the_command_s_answers_and_their_derivatives(tmp_path, fit, warped):
    rows = make_rows(400)
    if warped:
        rows[:, -1] = np.exp(rows[:, -1])
    unit = make_unit(tmp_path, rows, *fit, *(["--warp", "log"] if warped else []))
    queries = queries_of(rows)
    values, slopes = answers(unit, queries)
    write(tmp_path / "q.csv", queries, ",".join(NAMES))
    told = np.genfromtxt(run("predict", tmp_path / "m.npz", tmp_path / "q.csv", "--method", "nearest", "--gradient").out
                         .splitlines(), delimiter=",", names=True)
    unit_of_query = np.abs(told["mean"]) + told["std"]
    for k, column in enumerate(["mean", "std", "lower", "upper"]):
        assert np.abs((values[:, k] - told[column]) / unit_of_query).max() < 1e-10
    scale = rows[:, :-1].std(0)
    steep = max(np.abs(told[f"dmean_{name}"] * s).max() for name, s in zip(NAMES, scale)) + told["std"].max()
    for d, name in enumerate(NAMES):
        for k, column in enumerate(["dmean", "dstd"]):
            assert np.abs((slopes[:, d, k] - told[f"{column}_{name}"]) * scale[d]).max() < 1e-8 * steep


def test_derivatives_are_what_small_steps_show(tmp_path):
    """Of all four outputs, along a direction; where the nearest rows change within the step it shows a jump instead."""
    rows = make_rows(60)  # all of them are neighbours
    rows[:, -1] = np.exp(rows[:, -1])
    unit = make_unit(tmp_path, rows, "--warp", "log", "--kernel", "matern52", "--local-noise", "no")
    rng = np.random.default_rng(1)
    instance = Instance(unit).start()
    for x in queries_of(rows):
        direction = rng.standard_normal(3) * rows[:, :-1].std(0)
        step = 1e-5
        around = []
        for side in (-1, 1):
            instance.set(dict(zip(NAMES, x + side * step * direction)))
            around.append(np.array(instance.get(OUTPUTS)))
        shown = (around[1] - around[0]) / (2 * step)
        instance.set(dict(zip(NAMES, x)))
        slope = np.array(instance.slope(OUTPUTS, dict(zip(NAMES, direction))))
        # columns may be asked for in any order, and one by one
        again = [instance.slope([name], dict(zip(NAMES[::-1], direction[::-1])))[0] for name in OUTPUTS]
        assert np.allclose(slope, again, rtol=1e-12)
        assert np.allclose(slope, shown, rtol=1e-4, atol=1e-5 * np.abs(around[0]).max())


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unit")
    return make_unit(folder, make_rows(80), "--kernel", "se", "--local-noise", "no")


def test_members(small):
    assert small.members == ["modelDescription.xml", "sources/pump.c", "binaries/linux64/pump.so"]
    assert small.library.fmi2GetVersion() == b"2.0" and small.library.fmi2GetTypesPlatform() == b"default"
    needed = subprocess.run(["readelf", "-d", small.path], capture_output=True, text=True, check=True).stdout
    assert {line.split("[")[1].rstrip("]") for line in needed.splitlines() if "NEEDED" in line} <= {"libm.so.6", "libc.so.6"}
    exported = subprocess.run(["nm", "-D", "--defined-only", small.path], capture_output=True, text=True, check=True).stdout
    names = {line.split()[2] for line in exported.splitlines()}
    wanted = {"fmi2" + name for name in [*fmi2.COMMON, *fmi2.EXCHANGE, *fmi2.SIMULATION, "Instantiate", "FreeInstance", "GetVersion",
                                         "GetTypesPlatform"]}
    assert names == wanted and len(wanted) == 44


def test_model_exchange(small):
    instance = Instance(small, fmi2.MODEL_EXCHANGE).start()
    info = fmi2.EventInfo(1, 1, 1, 1, 1, 1.0)
    instance.call("NewDiscreteStates", ctypes.byref(info))
    assert not any((info.new, info.terminate, info.nominals, info.values, info.defined))
    instance.call("EnterContinuousTimeMode")
    instance.call("SetTime", 0.5)
    for name in ("GetContinuousStates", "GetDerivatives", "GetEventIndicators", "GetNominalsOfContinuousStates", "SetContinuousStates"):
        instance.call(name, None, 0)
        instance.call(name, fmi2.array(ctypes.c_double, [0.0]), 1, status=fmi2.ERROR)
    event, end = ctypes.c_int(1), ctypes.c_int(1)
    instance.call("CompletedIntegratorStep", 1, ctypes.byref(event), ctypes.byref(end))
    assert event.value == end.value == 0
    start = [float(v.find("Real").get("start")) for v in small.variables[:3]]
    assert instance.get(NAMES) == start
    assert np.isfinite(instance.get(OUTPUTS)).all()
    instance.call("Terminate")
    instance.free()


def test_instances_do_not_disturb_each_other(small):
    one, two = Instance(small).start(), Instance(small, name=b"two").start()
    one.set({"x0": 4.0})
    first = one.get(OUTPUTS)
    two.set({"x0": 6.0, "x2": 50.0})
    second = two.get(OUTPUTS)
    assert one.get(OUTPUTS) == first != second
    two.set(dict(zip(NAMES, one.get(NAMES))))
    assert two.get(OUTPUTS) == first
    two.call("Reset")
    assert two.get(NAMES) == [float(v.find("Real").get("start")) for v in small.variables[:3]]
    one.free()
    two.free()


def test_states_are_kept_and_put_back(small):
    instance = Instance(small).start()
    instance.set({"x0": 4.5, "x1": 3.0})
    before, state, other, size = instance.get(OUTPUTS), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    instance.call("GetFMUstate", ctypes.byref(state))
    instance.call("SerializedFMUstateSize", state, ctypes.byref(size))
    bytes_of = ctypes.create_string_buffer(size.value)
    instance.call("SerializeFMUstate", state, bytes_of, size.value)
    instance.call("SerializeFMUstate", state, bytes_of, size.value - 1, status=fmi2.ERROR)
    instance.set({"x0": 6.0})
    assert instance.get(OUTPUTS) != before
    instance.call("SetFMUstate", state)
    assert instance.get(OUTPUTS) == before
    instance.set({"x0": 6.0})
    instance.call("DeSerializeFMUstate", bytes_of, size.value, ctypes.byref(other))
    instance.call("SetFMUstate", other)
    assert instance.get(OUTPUTS) == before
    for held in (state, other):
        instance.call("FreeFMUstate", ctypes.byref(held))
        assert not held.value
    instance.free()


def test_time_goes_along(small):
    instance = Instance(small).start()
    instance.call("DoStep", 3.0, 0.25, 1)
    time, flag = ctypes.c_double(), ctypes.c_int(7)
    instance.call("GetRealStatus", fmi2.LAST_SUCCESSFUL_TIME, ctypes.byref(time))
    instance.call("GetBooleanStatus", fmi2.TERMINATED, ctypes.byref(flag))
    assert time.value == 3.25 and flag.value == 0
    instance.call("CancelStep", status=fmi2.ERROR)
    instance.free()


def test_what_is_wrong_is_refused_with_a_sentence(small):
    other = Instance(small, guid="{0}")
    assert not other.handle and "another unit" in other.said[0][3]
    nameless = Instance(small, name=b"")
    assert not nameless.handle and "name" in nameless.said[0][3]
    instance = Instance(small).start()
    instance.set({"y": 1.0}, status=fmi2.ERROR)
    assert instance.said[-1] == (b"one", fmi2.ERROR, b"logStatusError", "only inputs can be set")
    one, wrong = fmi2.array(ctypes.c_double, [0.0]), fmi2.array(ctypes.c_uint, [7])
    instance.call("GetReal", wrong, 1, one, status=fmi2.ERROR)
    instance.call("GetInteger", wrong, 1, None, status=fmi2.ERROR)
    y, x = instance.references(["y"]), instance.references(["x0"])
    instance.call("GetDirectionalDerivative", x, 1, x, 1, one, one, status=fmi2.ERROR)
    instance.call("GetDirectionalDerivative", y, 1, y, 1, one, one, status=fmi2.ERROR)
    for value in (np.nan, np.inf):
        instance.set({"x0": value})
        instance.get(["y"], status=fmi2.ERROR)
        assert "not a finite number" in instance.said[-1][3]
        instance.call("DoStep", 0.0, 1.0, 1, status=fmi2.ERROR)
    instance.set({"x0": 5.0})
    assert np.isfinite(instance.get(["y"])).all()
    instance.free()


def test_hostile_names(tmp_path):
    """Quotes, markup, comments of C, other scripts, and names that the outputs would have had."""
    rows = make_rows(60, inputs=5)
    names = ['"a ""b"" <&>"', "*/ exit(1); /*", "température €", "y_std", "  ]]> %s \\"]
    unit = make_unit(tmp_path, rows, "--kernel", "se", "--local-noise", "no", names=",".join([*names, "y"]))
    told = [v.get("name") for v in unit.variables]
    assert told[:4] == ['a "b" <&>', "*/ exit(1); /*", "température €", "y_std"] and told[4].strip() == "]]> %s \\"
    assert told[5:] == ["y", "y_std_", "y_lower", "y_upper"]
    values, _ = answers(unit, rows[:3, :-1], told[5:])
    assert np.isfinite(values).all()
    subprocess.run([CC, *STRICT, "-c", "sources/pump.c", "-o", "pump.o"], cwd=tmp_path / "unpacked", check=True)


def test_names_that_xml_cannot_have(tmp_path):
    """U+FFFF is UTF-8 and no character of XML; what stands for it may be another input's name."""
    rows = make_rows(60, inputs=2)
    write(tmp_path / "t.csv", rows, "p,q,y")
    text = (tmp_path / "t.csv").read_text().replace("p,q,y", "a\uffffb,a???b,y")
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", "--local-noise", "no")
    run("export-fmu", tmp_path / "m.npz", "-o", tmp_path / "m.fmu", "--sources-only")
    unit = Unit(tmp_path / "m.fmu", tmp_path / "unpacked")
    assert [v.get("name") for v in unit.variables][:2] == ["a???b", "a???b_"]


def test_the_source_links_beside_another_unit(tmp_path, small):
    """In one program, functions begin with the unit's name, as the standard says of source code."""
    run("export-fmu", small.path.parents[3] / "m.npz", "-o", tmp_path / "fan.fmu", "--name", "fan", "--sources-only")
    unit = Unit(tmp_path / "fan.fmu", tmp_path / "fan")
    assert unit.members == ["modelDescription.xml", "sources/fan.c"]
    (tmp_path / "main.c").write_text("""
const char *pump_fmi2GetVersion(void);
const char *fan_fmi2GetVersion(void);
int main(void) { return *pump_fmi2GetVersion() == '2' && *fan_fmi2GetVersion() == '2' ? 0 : 1; }
""")
    pump = small.path.parents[2] / "sources" / "pump.c"
    subprocess.run([CC, *STRICT, "-Wmissing-prototypes", "main.c", pump, "fan/sources/fan.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"]).returncode == 0


def test_the_library_stays_within_its_memory(tmp_path, small):
    driver = tmp_path / "drive.c"
    driver.write_text(f"""
#include "{small.path.parents[2]}/sources/pump.c"
int main(void)
{{
    fmi2CallbackFunctions f = {{NULL, NULL, NULL, NULL, NULL}};
    fmi2Component c = fmi2Instantiate("a", fmi2CoSimulation, QX_GUID, "", &f, 0, 0);
    fmi2ValueReference x[] = {{0, 1, 2}}, y[] = {{3, 4, 5, 6}};
    double at[] = {{1e9, -1e300, 3.0}}, out[4];
    fmi2SetReal(c, x, 3, at);
    int bad = fmi2GetReal(c, y, 4, out) || fmi2GetDirectionalDerivative(c, y, 4, x, 3, at, out);
    fmi2Reset(c);
    bad |= fmi2GetReal(c, y, 4, out) || fmi2GetDirectionalDerivative(c, y, 4, x, 3, at, out);
    fmi2FreeInstance(c);
    return bad;
}}
""")
    built = subprocess.run([CC, "-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                            "-DFMI2_OVERRIDE_FUNCTION_PREFIX", driver, "-o", tmp_path / "drive", "-lm"], capture_output=True, text=True)
    if built.returncode != 0:
        assert "sanitize" in built.stderr or "asan" in built.stderr, built.stderr
        pytest.skip("this compiler has no sanitizers")
    done = subprocess.run([tmp_path / "drive"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_same_model_gives_the_same_unit(tmp_path, small):
    model = small.path.parents[3] / "m.npz"
    for name in ("a.fmu", "b.fmu"):
        run("export-fmu", model, "-o", tmp_path / name, "--name", "pump")
    assert (tmp_path / "a.fmu").read_bytes() == (tmp_path / "b.fmu").read_bytes()
    run("export-fmu", model, "-o", tmp_path / "c.fmu", "--name", "pump", "--interval", "0.5", "--sources-only")
    with zipfile.ZipFile(tmp_path / "c.fmu") as archive:
        assert small.guid not in archive.read("modelDescription.xml").decode()


def test_what_cannot_be_exported(tmp_path):
    rows = make_rows(100, inputs=2)
    write(tmp_path / "t.csv", np.column_stack([rows[:, 0], np.arange(100) % 3, rows[:, 2]]), "a,k,y")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--kernel", "se", "--categorical", "k")
    assert "categories" in run("export-fmu", tmp_path / "m.npz", "-o", tmp_path / "m.fmu", code=1).err
    assert not (tmp_path / "m.fmu").exists()


def test_wrong_commands(tmp_path, small):
    model = small.path.parents[3] / "m.npz"
    assert "-o FILE is needed" in run("export-fmu", model, code=2).err
    assert "needs a file" in run("export-fmu", model, "-o", "-", code=2).err
    assert "not a name in C" in run("export-fmu", model, "-o", tmp_path / "m.fmu", "--name", "2x", code=2).err
    said = run("export-fmu", model, "-o", tmp_path / "m.fmu", "--compiler", "no-such-compiler", code=1).err
    assert "no-such-compiler" in said and "--sources-only" in said
    assert "could not build" in run("export-fmu", model, "-o", tmp_path / "m.fmu", "--compiler", "false", code=1).err
    assert not (tmp_path / "m.fmu").exists()
    assert "cannot be written" in run("export-fmu", model, "-o", tmp_path / "none" / "m.fmu", code=1).err


@pytest.mark.parametrize("what, instead", [
    (' start="', ' begin="'), ('name="x1"', 'name="x0"'), ('causality="input"', 'causality="in"'), ("<Outputs>", "<Inputs>"),
    ('index="4"', 'index="3"'), ('dependencies="1 2 3"', 'dependencies="1 3 2"'), ('fmiVersion="2.0"', 'fmiVersion="3.0"'),
    ("<Real/>", '<Real start="1"/>'), ('modelIdentifier="pump"', 'modelIdentifier="my pump"'), (' valueReference="0"', "")])
def test_the_importer_sees_what_is_wrong(small, what, instead):
    """The rules that descriptions are held against can fail."""
    text = (small.path.parents[2] / "modelDescription.xml").read_text()
    assert what in text
    fmi2.check_description(fmi2.ElementTree.fromstring(text))
    if what == "<Outputs>":
        text = text.replace("</Outputs>", "</Inputs>")
    with pytest.raises((AssertionError, KeyError)):
        fmi2.check_description(fmi2.ElementTree.fromstring(text.replace(what, instead, 1)))
