"""Names and cells with control characters: a terminal would obey them, so none gets through."""
import os
import pty
import re
import subprocess

import pytest

from conftest import QUORUM, make_rows, rename_columns

EVIL = "\x1b]0;owned\x07"                    # would set the window's title
CONTROL = re.compile(b"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


def raw(*words, code=0, stdin=None, folder=None):
    """stdout and stderr as bytes."""
    done = subprocess.run([QUORUM, *map(str, words)], capture_output=True, input=stdin, timeout=300,
                          cwd=folder)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """A table, and its model with column names that would take over the terminal: tables with such
    names are refused, but a model file may come from anywhere."""
    here = tmp_path_factory.mktemp("evil")
    lines = ["aaa,bbb,yyy"]
    lines += [",".join(repr(float(v)) for v in row) for row in make_rows(60, seed=5)]
    (here / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    raw("fit", "t.csv", "-o", "plain.npz", "--experts", 2, "--kernel", "se", "-q", folder=here)
    rename_columns(here / "plain.npz", here / "m.npz",
                   {"aaa": EVIL + "a", "bbb": "b\x9b31m\x7f", "yyy": "y" + EVIL})
    return here


def assert_plain(text):
    assert not CONTROL.search(text), text


def test_summary_and_notes(tmp_path, evil):
    text = raw("fit", evil / "t.csv", "-o", tmp_path / f"m{EVIL}.npz", "--experts", 2, "-v")
    assert_plain(text)
    assert b"target yyy" in text and b"m\\x1b]0;owned\\x07.npz" in text


@pytest.mark.parametrize("name", [EVIL, "b\x9b31m", "\x7f"])
def test_names_are_refused(tmp_path, name):
    lines = [f'"useless{name}",b,y']
    lines += [f"{i * 37 % 50},{i % 10},{(i % 10) ** 2}" for i in range(50)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    text = raw("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--experts", 1, code=1)
    assert_plain(text)
    assert b"column 1" in text and b"control character" in text
    assert not (tmp_path / "m.npz").exists()


def test_inspect(evil):
    text = raw("inspect", evil / "m.npz")
    assert_plain(text)
    assert b"\\x1b]0;owned\\x07a" in text and b"b\\xc2\\x9b31m\\x7f" in text


@pytest.mark.parametrize("table", [f"{EVIL},y\n1,2\n", f"a,b,y\n1,{EVIL},2\n", f"a\n{EVIL}\n"])
def test_errors_of_tables(tmp_path, evil, table):
    name = tmp_path / f"q{EVIL}.csv"
    name.write_text(table)
    assert_plain(raw("predict", evil / "m.npz", name, code=1))
    assert_plain(raw("fit", name, "-o", tmp_path / "m.npz", code=1))


def test_kept_columns(tmp_path, evil):
    """What is said has no control characters; the result has the cells as they are."""
    (tmp_path / "q.csv").write_text(f"aaa,bbb,t\n1,2,{EVIL}\n")
    for keep in (EVIL, "t" + EVIL, f'"{EVIL}'):
        assert_plain(raw("predict", evil / "plain.npz", tmp_path / "q.csv", "--keep", keep, code=1))
    assert EVIL.encode() in raw("predict", evil / "plain.npz", tmp_path / "q.csv", "--keep", "t")
    name = tmp_path / f"q{EVIL}.csv"
    name.write_text("aaa,bbb,mean\n1,2,3\n")
    assert_plain(raw("predict", evil / "plain.npz", name, "--keep", "mean", code=1))


def test_command_lines(tmp_path, evil):
    assert_plain(raw(EVIL, code=2))
    assert_plain(raw("fit", "--" + EVIL, code=2))
    assert_plain(raw("fit", evil / "t.csv", "-o", tmp_path / "m.npz", "--kernel", EVIL, code=2))
    assert_plain(raw("fit", evil / "t.csv", "-o", tmp_path / "m.npz", "--target", EVIL, code=1))
    assert_plain(raw("inspect", EVIL, code=1))
    assert_plain(raw("evaluate", evil / "m.npz", evil / "t.csv", "--method", EVIL, code=2))


def test_broken_utf8_is_shown_as_bytes(tmp_path):
    (tmp_path / "q.csv").write_bytes(b"a,y\n1,2\n2,\xf6\xff\n")
    text = raw("fit", tmp_path / "q.csv", "-o", tmp_path / "m.npz", code=1)
    text.decode()                            # is UTF-8


def test_progress_on_a_terminal(evil, tmp_path):
    """The only escapes there are the program's own."""
    main, side = pty.openpty()
    name = tmp_path / f"t{EVIL}.csv"
    name.write_bytes((evil / "t.csv").read_bytes())
    done = subprocess.Popen([QUORUM, "fit", name, "-o", tmp_path / "m.npz", "--experts", "2"],
                            stdout=subprocess.DEVNULL, stderr=side)
    os.close(side)
    text = b""
    while True:
        try:
            more = os.read(main, 4096)
        except OSError:
            break
        if not more:
            break
        text += more
    assert done.wait(timeout=60) == 0
    os.close(main)
    own = re.compile(rb"\r\x1b\[K|\x1b\[(0|31|33|36)m")  # the bar drawn again; errors, notes and bars in their colours
    assert_plain(own.sub(b"", text).replace(b"\r\n", b"\n"))


def test_long_names_keep_whole_characters(tmp_path):
    lines = ["x" + "é" * 100 + ",y"]
    lines += [f"{i % 10},{(i % 10) ** 2}" for i in range(50)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    raw("fit", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--experts", 1, "-q")
    text = raw("inspect", tmp_path / "m.npz")
    assert "xééé" in text.decode() and b"\\x" not in text
