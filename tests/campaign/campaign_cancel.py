"""SIGINT and SIGTERM at random times of fit, predict and loading: the end comes within a second.

The process ends with 128 plus the signal's number (before it listens: by the signal itself),
files are the old or the new, and nothing is left behind.
"""
import io
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

import commands
import common

SECONDS = 1.0            # on a machine that is not busy
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def allowed_seconds():
    """A second, or as much more as there are processes for a processor."""
    return SECONDS * max(1.0, 1.5 * os.getloadavg()[0] / os.cpu_count())


def npy(shape, kind, content):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + content


def enlarge(model, rows, inputs):
    """The model with so many rows, deflated numbers of a byte, so that loading takes its time."""
    draw = random.Random(1)
    changed = {"X.npy": npy((rows, inputs), "|i1", draw.randbytes(rows * inputs)),
               "y.npy": npy((rows,), "|i1", draw.randbytes(rows)),
               "row.npy": npy((rows,), "|u1", draw.randbytes(rows))}
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(model)) as old, \
            zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for name in old.namelist():
            content = changed.get(name, old.read(name))
            if name == "offset.npy":     # the last expert has all that is new
                content = content[:-8] + struct.pack("<q", rows)
            new.writestr(name, content)
    return result.getvalue()


def run_fit(given, root, table, *options):
    directory = tempfile.mkdtemp(dir=root)
    common.write_files(directory, {"t.csv": table})
    subprocess.run([given.quorum, "fit", "t.csv", "-o", "m.npz", "-q", *options], cwd=directory,
                   check=True, stdout=subprocess.DEVNULL)
    return common.read_files(directory)["m.npz"]


def make_commands(given, root):
    """(name, arguments, files, the file written or None)."""
    rows = 10000 if given.short else 40000
    table = common.make_table(rows, seed=5, inputs=6)
    theta = ["--kernel", "se", "--theta", "1,1,1"]     # length-scales, signal, noise
    model = run_fit(given, root, table, *theta)
    exact = run_fit(given, root, common.make_table(3000, seed=6, inputs=6), *theta, "--experts", "1")
    wide = common.make_table(rows, seed=7, inputs=8)
    many = run_fit(given, root, wide, *theta, "--experts", "200", "--graph", "none")
    train, old = {"t.csv": table}, {"m.npz": model}
    near = {"t.csv": wide, "m.npz": many}

    def predict(name, *options):
        return common.Command("predict " + name, ["predict", "m.npz", "t.csv", "-o", "o.csv",
                                                  *options], near)
    return [
        common.Command("fit", ["fit", "t.csv", "-o", "o.npz"], {**train, "o.npz": model}),
        common.Command("fit --calibrate", ["fit", "t.csv", "-o", "o.npz", "--calibrate", *theta],
                       train),
        common.Command("fit --checkpoint", ["fit", "t.csv", "-o", "o.npz", "--checkpoint", "state"],
                       train),
        common.Command("fit of large experts",
                       ["fit", "t.csv", "-o", "o.npz", "--expert-size", "2000", *theta], train),
        common.Command("predict", ["predict", "m.npz", "t.csv", "-o", "o.csv"],
                       {**train, **old, "o.csv": b"old\n"}),
        common.Command("predict of experts", ["predict", "m.npz", "t.csv", "-o", "o.csv",
                                              "--method", "rbcm"], {**train, **old}),
        common.Command("predict of one expert", ["predict", "m.npz", "t.csv", "-o", "o.csv"],
                       {**train, "m.npz": exact}),
        predict("from neighbours", "--neighbours", "1024"),
        predict("of all experts together", "--method", "npae"),
        predict("of local experts", "--method", "npae", "--select", "local:20"),
        predict("of joined experts", "--method", "grbcm"),
        predict("without room for factors", "--method", "rbcm", "--memory", "50M"),
        common.Command("graph on other inputs",
                       ["graph", "m.npz", "-o", "g.json", "--graph-on", "test", "--test", "t.csv"],
                       near),
        common.Command("fit of a large graph",
                       ["fit", "t.csv", "-o", "o.npz", "--experts", "500", "--graph", "glasso",
                        "--lambda", "ebic", *theta], {"t.csv": wide}),
        common.Command("evaluate", ["evaluate", "m.npz", "t.csv", "--method", "all"],
                       {**train, **old}),
        common.Command("inspect", ["inspect", "m.npz", "--memory", "4G"],
                       {"m.npz": enlarge(model, 1 << (22 if given.short else 23), 6)}),
    ]


def measure(given, command, directory):
    """Seconds of the whole command, five at most, or two in the short version."""
    common.write_files(directory, command.files)
    start = time.monotonic()
    try:
        subprocess.run([given.quorum, *command.arguments], cwd=directory,
                       timeout=2 if given.short else 5,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        pass
    return time.monotonic() - start


def cancel(given, command, directory, number, delay):
    """(exit code, seconds from the signal to the end, stderr)."""
    common.write_files(directory, command.files)
    child = subprocess.Popen([given.quorum, *command.arguments], cwd=directory,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
    time.sleep(delay)
    start = time.monotonic()
    child.send_signal(number)
    try:
        _, err = child.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        child.kill()
        _, err = child.communicate()
    return child.returncode, time.monotonic() - start, err


def judge(command, files, code, seconds, number):
    """What is wrong; None: nothing."""
    if code not in (0, 128 + number, -number):
        return f"exit {code} after signal {int(number)}"
    if seconds > allowed_seconds():
        return f"ends {seconds:.1f} s after signal {int(number)}, allowed {allowed_seconds():.1f}"
    written = command.arguments[command.arguments.index("-o") + 1] if "-o" in command.arguments \
        else None
    extra = [name for name in files if name not in command.files and
             name != "state" and (name != written or code != 0)]
    if extra:
        return f"left behind: {extra}"
    if code != 0 and any(files.get(name) != data for name, data in command.files.items()):
        return "a file has changed"
    return None


def main():
    given = common.read_arguments(__doc__)
    draw = random.Random(given.seed)
    tally = common.Tally(["finished", "cancelled", common.FAULT])
    slowest = {}
    with common.Room() as root:
        tried = [c for c in make_commands(given, root) if given.only in c.name]
        directory = tempfile.mkdtemp(dir=root)
        lengths = [measure(given, command, directory) for command in tried]
        end = time.monotonic() + (0 if given.short else given.seconds)
        turn = 0
        while turn < 2 * len(tried) or time.monotonic() < end:
            command, number = tried[turn % len(tried)], SIGNALS[turn // len(tried) % 2]
            delay = draw.random() * lengths[turn % len(tried)]
            code, seconds, err = cancel(given, command, directory, number, delay)
            why = judge(command, common.read_files(directory), code, seconds, number)
            tally.add(common.FAULT if why else "finished" if code == 0 else "cancelled",
                      common.Finding(command, {"CALL": f"signal-after-{delay:.2f}s"}, why, err)
                      if why else None)
            slowest[command.name] = max(slowest.get(command.name, 0.0), seconds)
            turn += 1
    for name, seconds in slowest.items():
        print(f"{seconds:5.2f} s at most after the signal: {name}")
    return tally.finish(f", the slowest end after {max(slowest.values()):.2f} s")


if __name__ == "__main__":
    sys.exit(main())
