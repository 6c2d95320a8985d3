"""What is not the program's own: address space, modes, links, descriptors, the terminal, bombs.

Under every limit of address space a command ends within ten seconds, with its result or with exit
code 1 and a sentence.  The rest are checks one by one; each says what it is about.
"""
import functools
import io
import itertools
import math
import os
import random
import resource
import stat
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

import commands
import common

MEGABYTE = 1 << 20


class Bench:
    """What every check needs: the models, a directory each, and running in it."""

    def __init__(self, given, root):
        self.given = given
        self.root = root
        self.model = commands.fit_model(given, root, *commands.QUICK)
        self.old = commands.fit_model(given, root, *commands.QUICK, "--kernel", "matern32")

    def make_directory(self, files):
        directory = tempfile.mkdtemp(dir=self.root)
        common.write_files(directory, files)
        return directory

    def run(self, directory, line, seconds=common.HANG_SECONDS, **how):
        """Runs 'fit ...' with the clock standing still; gives (exit code, stdout, stderr)."""
        environment = common.fault_environment(self.given, directory, {"CALL": "memory", "AT": 0})
        try:
            done = subprocess.run([self.given.quorum, *line], cwd=directory, env=environment,
                                  capture_output="stdout" not in how, timeout=seconds,
                                  stdin=subprocess.DEVNULL, **how)
        except subprocess.TimeoutExpired:
            return None, b"", b""
        return done.returncode, done.stdout, done.stderr


# ---- Address space --------------------------------------------------------------------------

def limit_address_space(kilobytes):
    resource.setrlimit(resource.RLIMIT_AS, (kilobytes * 1024, kilobytes * 1024))


def least_kilobytes(bench):
    """The least limit, in steps of 2 MB, under which the program starts at all."""
    directory = bench.make_directory({})
    for kilobytes in range(16000, 400000, 2000):
        code, _, _ = bench.run(directory, ["--version"],
                               preexec_fn=functools.partial(limit_address_space, kilobytes))
        if code == 0:
            return kilobytes
    raise SystemExit("quorum --version does not start under 400 MB of address space")


def check_limit(bench, command, kilobytes):
    directory = bench.make_directory(command.files)
    code, out, err = bench.run(directory, command.arguments,
                               preexec_fn=functools.partial(limit_address_space, kilobytes))
    ending = common.Ending(code, out, err, common.read_files(directory))

    def check_sentence(text):
        said = "memory" in text or "address space" in text or "thread" in text
        return None if said else "exit 1 without a word of memory: " + text
    return common.judge(command, ending, check_sentence)[1] or None


def list_limits(bench):
    draw = random.Random(bench.given.seed)
    wanted = ["fit", "fit --calibrate", "predict", "predict -o", "evaluate --json", "inspect", "graph"]
    tried = [c for c in commands.make_commands(bench.given, bench.root) if c.name in wanted]
    least = least_kilobytes(bench)
    levels = [least + step for step in (0, 2000, 5000, 10000, 20000, 40000, 80000, 160000, 320000)]
    more = 0 if bench.given.short else int(bench.given.seconds / 8)
    for command in tried:
        directory = bench.make_directory(command.files)
        code, out, err = bench.run(directory, command.arguments, 60)
        command.reference = common.Ending(code, out, err, common.read_files(directory))
        random_levels = [least + draw.randrange(400000) for _ in range(more)]
        for kilobytes in levels + random_levels:
            yield (f"ulimit -v {kilobytes} of {command.name}: {command}",
                   functools.partial(check_limit, bench, command, kilobytes))


# ---- Modes and links ------------------------------------------------------------------------

WRITERS = {
    "model.npz": ["fit", "train.csv", "-o", "model.npz", *commands.QUICK],
    "out.csv": ["predict", "used.npz", "test.csv", "-o", "out.csv"],
    "graph.dot": ["graph", "used.npz", "-o", "graph.dot"],
}


def writer_files(bench):
    return {"train.csv": commands.TRAIN, "test.csv": commands.TEST, "used.npz": bench.model}


def check_mode(bench, name, mode):
    """A file that is replaced keeps its mode."""
    directory = bench.make_directory({**writer_files(bench), name: b"old"})
    path = os.path.join(directory, name)
    os.chmod(path, mode)
    code, _, err = bench.run(directory, WRITERS[name])
    now = stat.S_IMODE(os.stat(path).st_mode)
    if code != 0 or os.path.getsize(path) == 3:
        return f"exit {code}: {err.decode()}"
    return None if now == mode else f"{mode:o} became {now:o}"


def check_new_mode(bench, name):
    """A new file has what the umask leaves."""
    directory = bench.make_directory(writer_files(bench))
    code, _, err = bench.run(directory, WRITERS[name], umask=0o027)
    if code != 0:
        return f"exit {code}: {err.decode()}"
    mode = stat.S_IMODE(os.stat(os.path.join(directory, name)).st_mode)
    return None if mode == 0o640 else f"umask 027 gave {mode:o}"


def check_link(bench, name, there):
    """A link stays a link, and what it leads to is written, be it there or not."""
    directory = bench.make_directory(writer_files(bench))
    os.mkdir(os.path.join(directory, "far"))
    target = os.path.join(directory, "far", "target")
    if there:
        common.write_files(os.path.join(directory, "far"), {"target": b"old"})
    os.symlink("far/target", os.path.join(directory, name))
    code, _, err = bench.run(directory, WRITERS[name])
    if code != 0:
        return f"exit {code}: {err.decode()}"
    if not os.path.islink(os.path.join(directory, name)):
        return "the link is replaced"
    if os.path.getsize(target) <= 3:
        return "what the link leads to is not written"
    names = set(os.listdir(directory)) | set(os.listdir(os.path.join(directory, "far")))
    extra = names - {*writer_files(bench), name, "far", "target"}
    return f"litter: {extra}" if extra else None


def check_refused_place(bench, name, place):
    """No directory, a directory in the file's place, a link to itself: exit 1, nothing changed."""
    directory = bench.make_directory(writer_files(bench))
    line = list(WRITERS[name])
    if place == "directory":
        os.mkdir(os.path.join(directory, name))
    elif place == "loop":
        os.symlink(name, os.path.join(directory, name))
    else:
        line[line.index(name)] = "nowhere/" + name
    before = sorted(os.listdir(directory))
    code, _, err = bench.run(directory, line)
    if code != 1 or name.encode() not in err:
        return f"exit {code}: {err.decode()}"
    return None if sorted(os.listdir(directory)) == before else "something was left behind"


def list_modes(bench):
    for name in WRITERS:
        for mode in (0o600, 0o640, 0o644, 0o666, 0o400):
            yield f"mode {mode:o} of {name}", functools.partial(check_mode, bench, name, mode)
        yield f"umask for {name}", functools.partial(check_new_mode, bench, name)
        for there in (True, False):
            yield f"link of {name}, {there}", functools.partial(check_link, bench, name, there)
        for place in ("directory", "loop", "missing"):
            yield (f"{place} for {name}",
                   functools.partial(check_refused_place, bench, name, place))


# ---- Descriptors ----------------------------------------------------------------------------

def close_descriptors(closed):
    for number in closed:
        os.close(number)


def check_closed(bench, name, closed):
    """With any of 0 to 2 closed the file has the result and nothing else."""
    whole = bench.make_directory(writer_files(bench))
    bench.run(whole, WRITERS[name])
    directory = bench.make_directory(writer_files(bench))
    line = WRITERS[name] + ["-v"]
    code, _, err = bench.run(directory, line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             preexec_fn=functools.partial(close_descriptors, closed))
    if code not in (0, 1):
        return f"exit {code}: {err}"
    files, wanted = common.read_files(directory), common.read_files(whole)
    if code == 1 and name not in files:
        return None
    return None if files == wanted else "other files than with all of them open"


def check_full(bench, line):
    """A full device as standard output: exit 1 and a sentence."""
    directory = bench.make_directory(writer_files(bench))
    with open("/dev/full", "wb") as full:
        code, _, err = bench.run(directory, line, stdout=full, stderr=subprocess.PIPE)
    return None if code == 1 and b"standard output" in err else f"exit {code}: {err}"


def list_descriptors(bench):
    for name in WRITERS:
        for count in range(4):
            for closed in itertools.combinations(range(3), count):
                yield (f"descriptors of {name}: {closed} closed",
                       functools.partial(check_closed, bench, name, closed))
    for line in (["predict", "used.npz", "test.csv"], ["inspect", "used.npz"], ["--version"],
                 ["inspect", "used.npz", "--json"], ["options", "--markdown"], ["fit", "--help"],
                 ["evaluate", "used.npz", "test.csv", "--json"]):
        yield "full device: " + " ".join(line), functools.partial(check_full, bench, line)


# ---- The terminal ---------------------------------------------------------------------------

ESCAPES = ["\x1b[31mred", "\x1b]0;title\x07", "bell\x07", "\x9b31mC1", "a\rb", "back\x08\x08", "\x7f",
           "\u202egnp"]


def find_control(data):
    """The first character that a terminal would act on, but for the end of a line."""
    for character in data.decode("utf-8", errors="replace"):
        number = ord(character)
        if character not in "\n\t" and (number < 32 or 127 <= number < 160 or
                                        0x202a <= number <= 0x202e or 0x2066 <= number <= 0x2069):
            return character
    return None


def check_escape(bench, name):
    """A column of this name, and a file of this name: nothing of it reaches the terminal."""
    table = commands.TRAIN.decode().replace("a,b,y", f'"{name}",b,y').encode()
    few = b"b,y\n1,2\n"
    file_name = name.replace("/", "") + ".csv"
    directory = bench.make_directory({"t.csv": table, "few.csv": few, file_name: b"x,y\nz,1\n"})
    lines = [["fit", "t.csv", "-o", "m.npz", "-v", *commands.QUICK], ["inspect", "m.npz"],
             ["evaluate", "m.npz", "t.csv"], ["predict", "m.npz", "few.csv"],
             ["fit", file_name, "-o", "x.npz"], ["predict", file_name, "t.csv"],
             ["fit", "t.csv", "--target", name, "-o", "m.npz", "-v", *commands.QUICK],
             ["fit", "t.csv", "-o", "m.npz", "--ignore", name + "x"], [name], ["fit", "--" + name]]
    for line in lines:
        code, out, err = bench.run(directory, line)
        found = find_control(out + err)
        if code is None or code < 0 or found is not None:
            return f"quorum {line}: exit {code}, {found!r} in {out + err!r}"
    return None


def list_escapes(bench):
    for name in ESCAPES:
        yield f"escape: {name!r}", functools.partial(check_escape, bench, name)


# ---- Bombs ----------------------------------------------------------------------------------

def npy_header(kind, shape):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def make_bomb(model, kind, size, rows, present=True):
    """A model of so many rows, all zeros, deflated: a thousandth of what they unpack to.
    present: false when the file only says so."""
    shapes = {"X.npy": (rows, 2), "y.npy": (rows,), "row.npy": (rows,)}
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(model)) as old, \
            zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            with new.open(name, "w", force_zip64=True) as file:
                if name == "offset.npy":
                    file.write(npy_header("<i8", (4,)) + struct.pack("<4q", 0, 1, 2, rows))
                elif name in shapes:
                    file.write(npy_header(kind, shapes[name]))
                    write_zeros(file, math.prod(shapes[name]) * size if present else 0)
                else:
                    file.write(old.read(name))
    return result.getvalue()


def replace_member(model, changed, pieces):
    """The model with a member replaced or added, piece by piece, and all deflated."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(model)) as old, \
            zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new:
        for name in dict.fromkeys([*old.namelist(), changed]):
            with new.open(name, "w", force_zip64=True) as file:
                for piece in pieces if name == changed else [old.read(name)]:
                    file.write(piece)
    return result.getvalue()


def zeros(kind, shape, count):
    """An array of zeros, of so many bytes."""
    return itertools.chain([npy_header(kind, shape)],
                           itertools.repeat(bytes(MEGABYTE), count // MEGABYTE))


def list_odd_members():
    """(what, member, its pieces): what does not go together, or takes for ever to read."""
    keys = "{" + ",".join(f'"{"k" * 60000}{i}":{{}}' for i in range(250)) + "}"
    ones = b"1," * (MEGABYTE // 2)
    return [
        ("more experts than rows", "offset.npy", zeros("<i8", (1 << 24,), 1 << 27)),
        ("a graph of others", "precision.npy", zeros("|i1", (8192, 8192), 1 << 26)),
        ("more calibration than rows", "calibration.npy", zeros("|b1", (1 << 26,), 1 << 26)),
        ("references without end", "reference.npy", zeros("|i1", (1 << 26, 2), 1 << 27)),
        ("a list without end", "meta.json", itertools.repeat(ones, 128)),
        ("keys without end", "meta.json", [b"[", *[keys.encode() + b","] * 16, b"{}]"]),
    ]


def write_zeros(file, count):
    for start in range(0, count, MEGABYTE):
        file.write(bytes(min(MEGABYTE, count - start)))


def run_measured(bench, directory, line):
    """(exit code, stderr, seconds, most resident memory in bytes); exit code None: it hung."""
    environment = common.fault_environment(bench.given, directory, {"CALL": "memory", "AT": 0})
    start = time.monotonic()
    with tempfile.TemporaryFile() as err:
        child = subprocess.Popen([bench.given.quorum, *line], cwd=directory, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        most, code = 0, None
        while code is None and time.monotonic() < start + common.HANG_SECONDS:
            done, status, usage = os.wait4(child.pid, os.WNOHANG)
            if done:
                code, most = os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024
            else:
                time.sleep(0.01)
        if code is None:
            child.kill()
            child.wait()
        child.returncode = code
        err.seek(0)
        return code, err.read(), time.monotonic() - start, most


def check_bomb(bench, line, files, most_allowed):
    """Refused within ten seconds, and without the memory that it would take."""
    directory = bench.make_directory(files())
    code, err, seconds, most = run_measured(bench, directory, line)
    if code != 1:
        return f"exit {code} after {seconds:.1f} s: {err.decode()}"
    if most > most_allowed:
        return f"{most / MEGABYTE:.0f} MB were taken: {err.decode()}"
    return None


def list_bombs(bench):
    def model(kind, size, rows):
        return lambda: {"m.npz": make_bomb(bench.model, kind, size, rows), "q.csv": commands.TEST}

    def claim():     # says it has 64 GB, and has nothing
        return {"m.npz": make_bomb(bench.model, "<f8", 8, 1 << 31, present=False), "q.csv": commands.TEST}

    def table(rows):
        def make():
            return {"t.csv.gz": common.compress(b"a,b,y\n" + b"1,2,3\n" * rows), "m.npz": bench.model}
        return make

    def odd(number):
        def make():
            _, name, pieces = list_odd_members()[number]
            return {"m.npz": replace_member(bench.model, name, pieces), "q.csv": commands.TEST}
        return make

    for number, (what, _, _) in enumerate(list_odd_members()):
        for line in (["inspect", "m.npz"], ["predict", "m.npz", "q.csv"]):
            yield f"bomb: {what}, {line[0]}", functools.partial(
                check_bomb, bench, line, odd(number), 200 * MEGABYTE)
    for kind, size, rows in (("<f8", 8, 1 << 25), ("|i1", 1, 1 << 26)):   # 80 kB make 800 MB, or more
        yield f"bomb: {kind} in default memory, inspect", functools.partial(
            check_bomb, bench, ["inspect", "m.npz"], model(kind, size, rows), 200 * MEGABYTE)
    small = ["--memory", "50M"]
    most = 200 * MEGABYTE
    for command in (["predict", "m.npz", "q.csv", *small], ["evaluate", "m.npz", "q.csv", *small],
                    ["graph", "m.npz", "-o", "g.dot", *small], ["inspect", "m.npz", *small]):
        words = " ".join(command)
        yield f"bomb: deflated, {words}", functools.partial(
            check_bomb, bench, command, model("<f8", 8, 1 << 23), most)
        yield f"bomb: widened, {words}", functools.partial(
            check_bomb, bench, command, model("|i1", 1, 1 << 25), most)
        yield f"bomb: claimed, {words}", functools.partial(check_bomb, bench, command, claim, most)
    yield "bomb: inspect", functools.partial(check_bomb, bench, ["inspect", "m.npz"], claim, most)
    yield "bomb: gzip, fit", functools.partial(
        check_bomb, bench, ["fit", "t.csv.gz", "-o", "o.npz", *small], table(1 << 23), most)


def main():
    given = common.read_arguments(__doc__)
    with common.Room() as root:
        bench = Bench(given, root)
        lists = [list_limits, list_modes, list_descriptors, list_escapes, list_bombs]
        checks = [check for each in lists for check in each(bench) if given.only in check[0]]
        return common.run_checks(given, checks)


if __name__ == "__main__":
    sys.exit(main())
