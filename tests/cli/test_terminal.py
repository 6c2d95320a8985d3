"""On a terminal: how fast and how long, colours, and tables that fit; and nothing of that in files."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from conftest import QUORUM, make_rows, run, write_csv

FIT = ["--kernel", "se", "--calibrate=no", "-q"]
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
BOTH = re.compile(r"[\d.]+( %)?/(s|min)\b[^\r]*\d (s|min) left")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    here = tmp_path_factory.mktemp("terminal")
    write_csv(here / "train.csv", make_rows(1500, seed=1))
    write_csv(here / "many.csv", make_rows(60000, seed=2))
    write_csv(here / "few.csv", make_rows(50, seed=3))
    run("fit", here / "train.csv", "-o", here / "model.npz", "--experts", 4, *FIT)
    return here


def on_terminal(args, columns, until=None, seconds=120, **environment):
    """All that the command writes to a terminal so wide, or as much as has `until`: then it is interrupted."""
    master, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    env.update({"TERM": "xterm", **environment})
    process = subprocess.Popen([QUORUM, *map(str, args)], stdin=subprocess.DEVNULL, stdout=end, stderr=end, env=env, close_fds=True)
    os.close(end)
    text, stop = b"", time.monotonic() + seconds
    while time.monotonic() < stop:
        if select.select([master], [], [], 0.2)[0]:
            try:
                piece = os.read(master, 1 << 16)
            except OSError:
                break
            if not piece:
                break
            text += piece
        if until and until.search(ANSI.sub("", text.decode(errors="replace"))):
            break
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(60)
    finally:
        os.close(master)
    return text.decode(errors="replace")


def lines_of(text):
    """What has stood on the screen, line by line, each drawing of the bar one of them."""
    return [line for line in re.split(r"[\r\n]+", ANSI.sub("", text)) if line]


LONG = {
    "fit": ["fit", "many.csv", "-o", "out.npz", "--kernel", "se"],
    "predict": ["predict", "model.npz", "many.csv", "-o", "out.csv", "--neighbours", 400],
    "evaluate": ["evaluate", "model.npz", "many.csv", "--method", "nearest", "--neighbours", 400],
    "importance": ["importance", "model.npz", "many.csv", "--rows", 100],
    "effects": ["effects", "model.npz", "many.csv", "--x", "a", "-o", "out.csv"],
    "report": ["report", "model.npz", "--test", "many.csv", "-o", "out.html", "--neighbours", 400],
    "sample": ["sample", "model.npz", "many.csv", "-o", "out.csv", "--neighbours", 400],
    "suggest": ["suggest", "model.npz", "many.csv", "-o", "out.csv", "--neighbours", 400],
    "plot": ["plot", "model.npz", "--x", "a", "--y", "b", "-o", "out.svg", "--neighbours", 400],
    "compare": ["compare", "model.npz", "model.npz", "many.csv", "--neighbours", 400],
}


@pytest.mark.parametrize("name", LONG)
def test_long_commands_say_how_fast_and_how_long(made, name):
    args = [made / arg if str(arg).endswith((".csv", ".npz", ".html", ".svg")) else arg for arg in LONG[name]]
    text = on_terminal([*args, "--threads", 1], 100, until=BOTH)
    assert BOTH.search(ANSI.sub("", text)), text[-2000:]


def test_time_left_is_of_the_stage_that_runs(made):
    """Effects are the last part of this run: the seconds before them are not taken for their own, so that they take less than all did."""
    write_csv(made / "some.csv", make_rows(8000, seed=4))
    start = time.monotonic()
    text = on_terminal(["report", made / "model.npz", "--test", made / "some.csv", "-o", made / "out.html", "--neighbours", 200, "--threads", 1], 100)
    took = time.monotonic() - start
    bars = [line for line in lines_of(text) if line.startswith("effects (")]
    left = [float(value) * {"s": 1, "min": 60, "h": 3600}[unit] for line in bars for value, unit in re.findall(r"([\d.]+) (s|min|h) left", line)]
    assert bars and max(left, default=0) < took, (took, bars)


@pytest.mark.parametrize("columns", [30, 44, 60, 100])
def test_the_bar_fits_and_keeps_what_matters(made, columns):
    until = re.compile(r"/s[^\r]*left")
    text = on_terminal(["effects", made / "model.npz", made / "many.csv", "--x", "a", "-o", made / "out.csv", "--threads", 1], columns, until=until)
    bars = [line for line in lines_of(text) if "left" in line]
    assert bars and max(map(len, bars)) < columns
    assert any(re.search(r"\d+ %", line) for line in bars)


def test_colour_only_where_it_is_wanted(made):
    args = ["evaluate", made / "model.npz", made / "few.csv"]
    assert "\x1b[1m" in on_terminal(args, 200)
    for refused in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b[1m" not in on_terminal(args, 200, **refused)
    assert "\x1b[1m" in on_terminal(args, 200, NO_COLOR="")
    wrong = ["evaluate", made / "model.npz", made / "none.csv"]
    assert "\x1b[31mquorum evaluate:" in on_terminal(wrong, 200)
    assert "\x1b[3" not in on_terminal(wrong, 200, NO_COLOR="1")
    assert "\x1b" not in run(*args).out + run(*wrong, code=1).err


def test_tables_fit_and_lose_nothing(made):
    wide = run("evaluate", made / "model.npz", made / "few.csv", "--method", "nearest,poe,gpoe").out
    words = sorted(word for line in wide.splitlines() for word in line.split()[:-1])  # the last column has seconds
    for columns, environment in [(200, {}), (70, {}), (40, {}), (200, {"COLUMNS": "50"})]:
        text = on_terminal(["evaluate", made / "model.npz", made / "few.csv", "--method", "nearest,poe,gpoe", "-q"], columns, **environment)
        lines = [line for line in ANSI.sub("", text).replace("\r", "").split("\n") if line]
        limit = int(environment.get("COLUMNS", columns))
        assert max(map(len, lines)) <= limit, lines
        assert set(words) <= set(" ".join(lines).split())
        if limit >= 200:
            assert len(lines) == len(wide.splitlines())
        else:
            first = wide.split()[0]
            assert sum(line.startswith(first) for line in lines) > 1  # parts, each with the first column


def test_files_have_tables_as_they_are(made):
    """COLUMNS does not matter where no terminal is."""
    args = ["evaluate", made / "model.npz", made / "few.csv", "--method", "nearest,poe,gpoe"]
    narrow = subprocess.run([QUORUM, *map(str, args)], capture_output=True, text=True, env={**os.environ, "COLUMNS": "30"}).stdout
    without_seconds = [[line.split()[:-1] for line in text.splitlines()] for text in (narrow, run(*args).out)]
    assert without_seconds[0] == without_seconds[1] and max(map(len, narrow.splitlines())) > 60
