"""Shared by the command line's tests: running the program, and small data sets.

Run with QUORUM=path/to/quorum /usr/bin/python3 -m pytest tests/cli
"""
import json
import os
import re
import subprocess
import zipfile

import numpy as np
import pytest

QUORUM = os.path.abspath(os.environ.get("QUORUM", "quorum"))


def is_sanitized():
    """Whether the command is built with the address sanitizer: it keeps freed memory, and is slow."""
    if not os.path.exists(QUORUM):
        return False
    with open(QUORUM, "rb") as program:
        return b"__asan_init" in program.read()


SANITIZED = is_sanitized()
COMMANDS = ["fit", "predict", "evaluate", "compare", "importance", "effects", "sample", "suggest", "serve", "plot", "report", "update", "inspect", "graph", "export-c", "export-fmu", "demo", "reproduce"]


def without_progress(said):
    """Standard error without lines such as "quorum fit: read 0 %, FILE", which a slow machine adds to any command."""
    return "".join(line for line in said.splitlines(True) if not re.match(r"quorum [\w-]+: [^\"]* \d+ %(, |$)", line))


class Result:
    """Exit code, stdout and stderr of one run; `err` is without progress, which is a matter of time, `said` is all."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.said = done.stderr
        self.err = without_progress(done.stderr)

    def json(self):
        return json.loads(self.out)

    def table(self):
        """The csv on stdout: header and numbers."""
        return parse_csv(self.out)


def parse_csv(text):
    lines = text.splitlines()
    return lines[0], np.array([[float(c) for c in line.split(",")] for line in lines[1:]])


def run(*args, code=0, stdin=None, **kwargs):
    """Runs quorum and checks its exit code."""
    done = subprocess.run([QUORUM, *map(str, args)], capture_output=True, text=True, input=stdin,
                          timeout=300, **kwargs)
    result = Result(done)
    assert result.code == code, f"exit {result.code}, wanted {code}\n{result.out}\n{result.err}"
    return result


def make_rows(n, seed=0, low=-2.0, high=2.0):
    """y = sin(2a) + b/2 + noise: two inputs and the target, in columns."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(low, high, (n, 2))
    y = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] + 0.1 * rng.standard_normal(n)
    return np.column_stack([x, y])


def write_csv(path, rows, header="a,b,y", delimiter=",", newline="\n"):
    lines = [header.replace(",", delimiter)] if header else []
    lines += [delimiter.join(repr(float(v)) for v in row) for row in rows]
    path.write_bytes((newline.join(lines) + newline).encode())
    return path


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Directory with train.csv (300 rows), test.csv (80), queries.csv (80, no target), model.npz."""
    here = tmp_path_factory.mktemp("data")
    write_csv(here / "train.csv", make_rows(300, seed=1))
    test = make_rows(80, seed=2)
    write_csv(here / "test.csv", test)
    write_csv(here / "queries.csv", test[:, :2], header="a,b")
    run("fit", here / "train.csv", "-o", here / "model.npz", "--experts", 4, "--kernel", "se", "--graph", "glasso",
        "-q")
    return here


def rewrite_meta(model, to, change):
    """The model file with what `change` makes of its meta.json: it may come from anywhere."""
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(to, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            new.writestr(member, change(content) if member == "meta.json" else content)


def rename_columns(model, to, names):
    def change(content):
        meta = json.loads(content)
        meta["columns"] = [names.get(name, name) for name in meta["columns"]]
        return json.dumps(meta)
    rewrite_meta(model, to, change)
