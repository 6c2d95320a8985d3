"""quorum serve: lines in, lines out, over pipes and sockets, with clients of every kind."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import numpy as np
import pytest

from conftest import QUORUM, SANITIZED, make_rows, run, write_csv

WAIT = 60 # seconds that a slow machine may take for anything
QUICK = ["--neighbours", 16]


class Server:
    """A server at a socket, ended with the test; `said` is its stderr."""

    def __init__(self, model, *words, tcp=False, where=None):
        self.where = None if tcp else str(where)
        at = "127.0.0.1:0" if tcp else f"unix:{where}"
        self.process = subprocess.Popen([QUORUM, "serve", str(model), "--listen", at, *map(str, words)],
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        assert "listening at" in line, line
        if tcp:
            self.port = int(line.rsplit(":", 1)[1])

    def connect(self):
        if not self.where:
            return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(WAIT)
        s.connect(self.where)
        return s

    def ask(self, text):
        """All that is answered to the text."""
        with self.connect() as s:
            s.sendall(text if isinstance(text, bytes) else text.encode())
            s.shutdown(socket.SHUT_WR)
            return read_all(s)

    def end(self, number=signal.SIGTERM, code=0):
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=WAIT)
        assert self.process.returncode == code, said
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def read_all(s):
    got = b""
    while piece := s.recv(1 << 16):
        got += piece
    return got.decode()


@pytest.fixture
def at(tmp_path):
    """A short path: that of a Unix socket has 107 bytes at most."""
    path = f"/tmp/quorum-test-{os.getpid()}.sock"
    yield path
    if os.path.exists(path):
        os.unlink(path)


def predicted(data, *words, queries="queries.csv"):
    return run("predict", data / "model.npz", data / queries, "-q", *words).out


def queries(data):
    return (data / "queries.csv").read_text()


# ---- Standard input and output ------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["--mean-only"], ["--quantiles", "0.1,0.9"], ["--gradient", "--novelty"],
                                   ["--above", "0.5", "--improvement-below", "0"], ["--method", "rbcm"],
                                   ["--method", "npae*"], ["--latent", "--interval", "0.5"],
                                   ["--batch", "1"], ["--batch", "7", "--threads", "2"]])
def test_the_bytes_are_those_of_predict(data, words):
    served = run("serve", data / "model.npz", *words, stdin=queries(data))
    own = [] if "--batch" in words else words
    assert served.out == predicted(data, *own)
    assert "80 rows predicted, 0 lines refused, 1 client" in served.err


def test_a_row_is_answered_as_soon_as_it_comes(data):
    lines = queries(data).splitlines(True)
    wanted = predicted(data).splitlines(True)
    with subprocess.Popen([QUORUM, "serve", data / "model.npz", "-q"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as p:
        for line, answer in zip(lines, wanted):
            p.stdin.write(line)
            p.stdin.flush()
            assert p.stdout.readline() == answer
        p.stdin.close()
        assert p.stdout.read() == ""
    assert p.returncode == 0


def test_a_last_line_needs_no_end_and_there_may_be_no_header(data):
    text = queries(data)
    assert run("serve", data / "model.npz", stdin=text.rstrip("\n")).out == predicted(data)
    assert run("serve", data / "model.npz", stdin=text.split("\n", 1)[1]).out == predicted(data)
    assert run("serve", data / "model.npz", stdin=text.replace("\n", "\r\n")).out == predicted(data)
    assert run("serve", data / "model.npz", stdin="\n\n").out == ""


def test_bad_lines_have_their_answers(data):
    out = run("serve", data / "model.npz", stdin="a,c\na,b\n1,2\n1,x\n1\n1,\n\"1,2\n\n1,2\n").out.splitlines()
    assert [line.startswith("# error: request") for line in out] == [True, False, False, True, True, True, True, False]
    assert 'has no column "b"' in out[0] and out[1] == "mean,std,lower,upper"
    assert "line 3" in out[3] and "never closed" in out[6] and out[2] == out[7]
    assert all("--missing drop" not in line for line in out)


def test_holes_and_kept_columns(data):
    text = "id,a,b\nx,1,2\n\"y,z\",,2\nw,1,2\n"
    (data / "holes.csv").write_text(text)
    words = ["--missing", "nan", "--keep", "id"]
    for more in ([], ["--mean-only"]):
        assert run("serve", data / "model.npz", *words, *more, stdin=text).out == \
            predicted(data, *words, *more, queries="holes.csv")
    bare = "a,b\n1,2\n,2\n"
    (data / "bare.csv").write_text(bare)
    words = ["--missing", "nan", "--mean-only"]
    assert run("serve", data / "model.npz", *words, stdin=bare).out == predicted(data, *words, queries="bare.csv")
    out = run("serve", data / "model.npz", "--keep", "mean", stdin="mean,a,b\n1,1,2\n").out
    assert "has the name of a predicted one" in out


def test_refused_flags(data):
    model = data / "model.npz"
    for words, sentence in ((["--missing", "drop"], "every row has an answer"), (["--format", "xml"], "neither"),
                            (["--batch", "0"], "whole number"), (["--max-clients", "x"], "whole number"),
                            (["--listen", "8000"], "HOST:PORT"), (["--listen", "0.0.0.0:80"], "own addresses"),
                            (["--listen", "unix:"], "a path of 1"), (["--listen", "localhost:99999"], "HOST:PORT")):
        assert sentence in run("serve", model, *words, code=2, stdin="").err
    assert "no socket" in run("serve", model, "--listen", f"unix:{model}", code=1, stdin="").err
    assert "cannot be opened" in run("serve", data / "none.npz", code=1, stdin="").err


# ---- JSON ---------------------------------------------------------------------------------------------------


def test_json_has_the_numbers_of_predict(data):
    header, table = run("predict", data / "model.npz", data / "queries.csv", "-q", "--quantiles", "0.2", "--gradient",
                        "--above", "1e-1", "--novelty").table()
    rows = np.loadtxt(data / "queries.csv", delimiter=",", skiprows=1)
    lines = [json.dumps({"b": b, "more": "text, \"quoted\"\n", "a": a}) if i % 3 else json.dumps([a, b])
             for i, (a, b) in enumerate(rows)]
    out = run("serve", data / "model.npz", "--format", "jsonl", "--quantiles", "0.2", "--gradient", "--above", "1e-1",
              "--novelty", stdin="\n".join(lines)).out.splitlines()
    for line, wanted in zip(out, table, strict=True):
        answer = json.loads(line)
        assert ",".join(answer) == header and list(answer.values()) == list(wanted)


def test_json_errors_holes_and_kept_members(data):
    lines = ['{"a": 1, "b": 2, "id": "\u00e4 \\"x\\""}', '{"a": 1, "b": null, "id": 7}', '{"a": 1, "id": true}', "[1]",
             '{"a": [1], "b": 2, "id": 0}', "7", "{", '{"a": 1, "a": 2}', "\x00", '{"id": 0.1, "b": 2, "a": 1}']
    out = run("serve", data / "model.npz", "--format", "jsonl", "--missing", "nan", "--keep", "id",
              stdin="\n".join(lines)).out.splitlines()
    answers = [json.loads(line) for line in out]
    assert answers[0]["id"] == '\u00e4 "x"' and answers[0]["mean"] == answers[-1]["mean"]
    assert answers[1] == {"id": "7", "mean": None, "std": None, "lower": None, "upper": None}
    assert answers[-1]["id"] == "0.10000000000000001"
    assert all(list(a) == ["error"] for a in answers[2:-1]) and len(answers) == len(lines)


def test_categories_dates_offsets_and_noise(tmp_path):
    """What columns can be, by name in csv and JSON, against predict on a file."""
    rng = np.random.default_rng(5)
    cities, n = ["Rome", "Oslo, N", "Bonn"], 200
    rows = [(f"2020-{1 + i % 12:02}-{1 + i % 28:02}", cities[i % 3], round(rng.normal(), 3), round(rng.uniform(), 3))
            for i in range(n)]
    lines = [f'{d},"{c}",{x},{x / 2},{s},{x + i % 3 + rng.normal() / 10}' for i, (d, c, x, s) in enumerate(rows)]
    (tmp_path / "t.csv").write_text("\n".join(["when,city,x,base,s,y", *lines]) + "\n")
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "model.npz", "--offset", "base", "--noise-std", "s", "-q",
        "--periodic", "when:year")
    wanted = predicted(tmp_path, queries="t.csv")
    assert run("serve", tmp_path / "model.npz", stdin=(tmp_path / "t.csv").read_text()).out == wanted
    objects = [json.dumps(dict(city=c, when=d, x=x, s=s, base=x / 2)) for d, c, x, s in rows]
    out = run("serve", tmp_path / "model.npz", "--format", "jsonl", stdin="\n".join(objects)).out
    for line, row in zip(out.splitlines(), wanted.splitlines()[1:], strict=True):
        assert [f"{v:.17g}" for v in json.loads(line).values()] == row.split(",")
    said = run("serve", tmp_path / "model.npz", "--unseen", "error", stdin="when,city,x,base,s\n2020-01-01,Paris,1,1,0\n")
    assert "# error" in said.out


def test_models_without_names(tmp_path):
    write_csv(tmp_path / "t.csv", make_rows(100), header=None)
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "model.npz", "--theta", "1,1,0.1", "-q")
    write_csv(tmp_path / "q.csv", make_rows(5)[:, :2], header=None)
    wanted = predicted(tmp_path, queries="q.csv").splitlines()[1:]
    rows = [line.split(",") for line in (tmp_path / "q.csv").read_text().splitlines()]
    lines = [f'{{"x2": {b}, "x1": {a}}}' for a, b in rows] + ['{"x2": 1}']
    out = run("serve", tmp_path / "model.npz", "--format", "jsonl", stdin="\n".join(lines)).out.splitlines()
    for line, row in zip(out, wanted):
        assert [f"{v:.17g}" for v in json.loads(line).values()] == row.split(",")
    assert 'has no \\"x1\\"' in out[-1]


# ---- Sockets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tcp", [False, True])
def test_many_clients_at_once(data, at, tcp):
    text, wanted, wrong = queries(data), predicted(data, *QUICK), []
    with Server(data / "model.npz", *QUICK, tcp=tcp, where=at) as server:
        def client():
            for _ in range(5):
                if server.ask(text) != wanted:
                    wrong.append(1)
        threads = [threading.Thread(target=client) for _ in range(20)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        said = server.end()
    assert not wrong and "8000 rows predicted, 0 lines refused, 100 clients" in said
    assert not os.path.exists(at)


def test_garbage_long_lines_and_half_lines(data, at):
    rng = np.random.default_rng(1)
    good = "a,b\n1,2\n"
    with Server(data / "model.npz", "--max-line", 1000, where=at) as server:
        wanted = server.ask(good)
        for _ in range(20):
            server.ask(rng.bytes(5000))
        assert server.ask(b"a,b\n" + b"\xff\x00\n" + b"1,2\n").splitlines()[2] == wanted.splitlines()[1]
        for size in (1000, 1001, 5000, 300000):
            out = server.ask("a,b\n" + "1," + "2" * (size - 2) + "\n1,2\n").splitlines()
            assert len(out) == 3 and out[2] == wanted.splitlines()[1], size
            assert ("longer than 1000 bytes" in out[1]) == (size > 1000)
        assert "longer than" in server.ask("x" * 2000)
        assert server.ask("a,b\n1,2\n1,") .endswith("# error: request: line 3, column 2 (\"b\"): cell is empty; fix it\n")
        with server.connect() as s:
            s.sendall(b"a,b\n1,2")
        assert server.ask(good) == wanted
        server.end()


def test_clients_that_are_killed_or_slow(data, at):
    text, wanted = queries(data), predicted(data, *QUICK)
    many = text + "".join(text.splitlines(True)[1:] * 200)
    with Server(data / "model.npz", *QUICK, where=at) as server:
        def slow():
            with server.connect() as s:
                threading.Thread(target=lambda: (s.sendall(many.encode()), s.shutdown(socket.SHUT_WR))).start()
                time.sleep(1)
                got = read_all(s)
            results.append(got == wanted + "".join(wanted.splitlines(True)[1:] * 200))
        results = []
        threads = [threading.Thread(target=slow) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(30): # gone without reading
            s = server.connect()
            s.sendall(text.encode())
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            s.close()
        assert server.ask(text) == wanted # while slow ones wait
        for t in threads:
            t.join()
        assert results == [True] * 3
        server.end()


def resident(server):
    """Memory of the server, in kB."""
    with open(f"/proc/{server.process.pid}/status") as status:
        return int(status.read().split("VmRSS:")[1].split()[0])


def test_a_reader_that_never_reads_takes_no_memory(data, at):
    with Server(data / "model.npz", *QUICK, "--threads", 1, where=at) as server:
        assert server.ask("a,b\n" + "1,2\n" * 10000).count("\n") == 10001
        before = resident(server)
        s = server.connect()
        s.settimeout(2)
        s.sendall(b"a,b\n")
        with pytest.raises(socket.timeout):
            while True:
                s.sendall(b"1,2\n" * 10000)
        more = 1_000_000 if SANITIZED else 4000 # 256 kB of answers, and a round; what was freed is kept there
        assert resident(server) < before + more
        assert server.ask("a,b\n1,2\n").count("\n") == 2
        start = time.time()
        server.end() # which does not wait for it longer than the grace
        assert time.time() - start < 30
        s.close()


def test_too_many_clients_are_turned_away(data, at):
    with Server(data / "model.npz", "--max-clients", 2, "--format", "jsonl", where=at) as server:
        with server.connect() as a, server.connect() as b:
            for s in (a, b):
                s.sendall(b"[1,2]\n")
                assert b"mean" in s.recv(1000)
            with server.connect() as third:
                assert "too many clients" in json.loads(read_all(third))["error"]
        for _ in range(100):
            try:
                if "mean" in server.ask("[1,2]\n"):
                    break
            except ConnectionError:
                pass # turned away before it was read
            time.sleep(0.05)
        else:
            pytest.fail("the places of clients that left are not given again")
        assert "turned away" in server.end()


def test_sockets_left_behind_and_in_use(data, at):
    with Server(data / "model.npz", where=at) as server:
        assert "another server" in run("serve", data / "model.npz", "--listen", f"unix:{at}", code=1).err
        server.process.kill()
        server.process.wait()
    assert os.path.exists(at)
    with Server(data / "model.npz", where=at) as server:
        assert server.ask("a,b\n1,2\n").startswith("mean")
        server.end()


# ---- The end, and new models --------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_has_come_is_answered_before_the_end(data, at, number):
    text, wanted = queries(data), predicted(data)
    with Server(data / "model.npz", "--batch", 16, where=at) as server: # it takes many rounds
        clients = [server.connect() for _ in range(10)]
        for s in clients:
            s.sendall(text.encode())
        server.process.send_signal(number)
        for s in clients:
            assert read_all(s) == wanted
            s.close()
        assert "800 rows" in server.process.communicate(timeout=WAIT)[1] and server.process.returncode == 0


def test_the_end_under_load_cuts_no_line(data, at):
    """Each client has as many answers as lines that the server took, all whole."""
    wanted = set(predicted(data, *QUICK).splitlines())
    lines = queries(data).splitlines(True)
    with Server(data / "model.npz", *QUICK, where=at) as server:
        got = []

        def client():
            with server.connect() as s:
                try:
                    s.sendall(lines[0].encode())
                    while True:
                        for line in lines[1:]:
                            s.sendall(line.encode())
                except OSError:
                    pass
                try:
                    got.append(read_all(s))
                except OSError:
                    got.append("\n")
        threads = [threading.Thread(target=client) for _ in range(5)]
        for t in threads:
            t.start()
        time.sleep(0.5)
        server.end()
        for t in threads:
            t.join()
    for text in got:
        assert text.endswith("\n") and set(text.splitlines()) - {""} <= wanted


def refit(data, to, theta):
    run("fit", data / "train.csv", "-o", to, "--theta", theta, "-q")


def test_a_new_model_is_loaded_under_load(data, tmp_path, at):
    """Replaced again and again: every answer is one of the two models', no request fails, and the last one stays."""
    model, other = tmp_path / "model.npz", tmp_path / "other.npz"
    refit(data, model, "1,1,0.1")
    refit(data, other, "0.3,1,0.1")
    row = queries(data).splitlines()[1]
    answers = [run("serve", m, "-q", stdin=f"a,b\n{row}\n").out.splitlines()[1] for m in (model, other)]
    with Server(model, where=at) as server:
        stop, seen, wrong = threading.Event(), set(), []

        def client():
            with server.connect() as s, s.makefile("rw") as wire:
                wire.write("a,b\n")
                wire.flush()
                assert wire.readline().startswith("mean")
                while not stop.is_set():
                    wire.write(row + "\n")
                    wire.flush()
                    answer = wire.readline().rstrip("\n")
                    seen.add(answer)
                    if answer not in answers:
                        wrong.append(answer)
                        return
        threads = [threading.Thread(target=client) for _ in range(8)]
        for t in threads:
            t.start()
        for i in range(6):
            shutil.copy([other, model][i % 2], tmp_path / "next")
            os.replace(tmp_path / "next", model)
            if i % 2:
                server.process.send_signal(signal.SIGHUP)
            time.sleep(0.5)
        refit(data, model, "0.3,1,0.1")
        deadline = time.time() + WAIT
        while server.ask(f"a,b\n{row}\n").splitlines()[1] != answers[1]:
            assert time.time() < deadline
            time.sleep(0.1)
        stop.set()
        for t in threads:
            t.join()
        said = server.end()
    assert not wrong and seen == set(answers) and "loaded anew" in said and " 0 lines refused" in said


def test_a_connection_goes_on_with_the_levels_of_a_new_model(tmp_path, at):
    """Levels have other numbers there: texts must be looked up anew, for clients that stay."""
    def fit(colours, to):
        rng = np.random.default_rng(1)
        lines = [f"{a:.3f},{colours[i % len(colours)]},{a + i % len(colours) + rng.normal() / 20:.3f}"
                 for i, a in enumerate(rng.uniform(0, 1, 90))]
        (tmp_path / "t.csv").write_text("\n".join(["a,colour,y", *lines]) + "\n")
        run("fit", tmp_path / "t.csv", "-o", to, "--theta", "1,1,1,0.1", "-q")
    model = tmp_path / "model.npz"
    fit(["red", "blue"], model)
    fit(["red", "amber", "blue"], tmp_path / "next.npz")
    header, rows = "colour,a\n", ["red,0.5\n", "blue,0.5\n", "amber,0.1\n"]
    wanted = [run("serve", m, "-q", stdin=header + "".join(rows)).out for m in (model, tmp_path / "next.npz")]
    assert wanted[0] != wanted[1]
    with Server(model, where=at) as server, server.connect() as s, s.makefile("rw") as wire:
        def ask(lines):
            wire.write("".join(lines))
            wire.flush()
            return "".join(wire.readline() for _ in lines)
        assert ask([header, *rows]) == wanted[0]
        os.replace(tmp_path / "next.npz", model)
        server.process.send_signal(signal.SIGHUP)
        assert "loaded anew" in server.process.stderr.readline()
        assert ask(rows) == wanted[1].split("\n", 1)[1]


def test_a_model_that_cannot_serve_leaves_the_old_one(data, tmp_path, at):
    model = tmp_path / "model.npz"
    shutil.copy(data / "model.npz", model)
    with Server(model, where=at) as server:
        wanted = server.ask("a,b\n1,2\n")
        model.write_bytes(b"broken")
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert server.ask("a,b\n1,2\n") == wanted
        write_csv(tmp_path / "t.csv", make_rows(100), header="a,c,y")
        run("fit", tmp_path / "t.csv", "-o", model, "--theta", "1,1,0.1", "-q")
        time.sleep(1.5)
        assert server.ask("a,b\n1,2\n") == wanted
        model.unlink()
        time.sleep(1.2)
        assert server.ask("a,b\n1,2\n") == wanted
        said = server.end()
    assert said.count("not replaced") == 2 and "columns of the new" in said


def test_standard_output_that_is_closed_is_a_failure(data):
    p = subprocess.Popen([QUORUM, "serve", data / "model.npz"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    p.stdout.close()
    p.stdin.write(queries(data))
    p.stdin.close()
    assert p.wait(timeout=WAIT) == 1 and "output failed" in p.stderr.read()
    p.stderr.close()


def write_targets(path, n, seed, holes=False):
    rows = make_rows(n, seed)
    cells = [[repr(v) for v in row] + [repr(row[0] - row[1])] for row in rows.tolist()]
    for i in range(0, n if holes else 0, 7):
        cells[i][0] = ""
        cells[i][2 + i % 2] = ""
    path.write_text("\n".join(["a,b,y,z,w", *(",".join([*c, repr(float(c[1]) ** 2)]) for c in cells)]) + "\n")
    return path


@pytest.mark.parametrize("words", [["--share", "none"], ["--share", "theta", "--trend", "constant"], ["--missing", "impute"]])
def test_several_targets(tmp_path, words):
    """The columns of `predict`, bit for bit, as csv and as JSON; with impute the targets' inputs differ."""
    holes = "impute" in words
    train, queries = write_targets(tmp_path / "t.csv", 150, 1, holes), write_targets(tmp_path / "q.csv", 20, 2)
    run("fit", train, "-o", tmp_path / "m.npz", "--target", "y,z,w", "--kernel", "se", "--max-evaluations", 3, "-q", *words)
    flags = ["--novelty", "--gradient", "--quantiles", "0.1", *(["--missing", "impute"] if holes else [])]
    wanted = run("predict", tmp_path / "m.npz", queries, "-q", "--keep", "b", *flags).out
    assert wanted.startswith("b,y_mean,y_std,y_lower,y_upper,y_q0.1,") and ",z_mean," in wanted
    assert run("serve", tmp_path / "m.npz", "-q", "--keep", "b", *flags, stdin=queries.read_text()).out == wanted
    names = wanted.splitlines()[0].split(",")
    lines = [dict(zip(["b", "a"], cells.split(",")[1::-1])) for cells in queries.read_text().splitlines()[1:]]
    text = "".join(json.dumps({k: float(v) for k, v in line.items()}) + "\n" for line in lines) + '{"a": "x"}\n'
    answers = [json.loads(line) for line in run("serve", tmp_path / "m.npz", "-q", "--format", "jsonl", *flags, stdin=text).out.splitlines()]
    assert "error" in answers.pop()
    assert list(answers[0]) == names[1:]
    rows = [[float(c) for c in line.split(",")][1:] for line in wanted.splitlines()[1:]]
    assert [list(a.values()) for a in answers] == rows


def test_several_targets_holes_and_new_models(tmp_path):
    """A row without an answer has all its cells empty; a new model must have the same targets."""
    train = write_targets(tmp_path / "t.csv", 100, 3)
    run("fit", train, "-o", tmp_path / "m.npz", "--target", "y,z", "--theta", "1,1,0.1", "--kernel", "se", "--ignore", "w", "-q")
    run("fit", train, "-o", tmp_path / "n.npz", "--target", "z,y", "--theta", "1,1,0.1", "--kernel", "se", "--ignore", "w", "-q")
    with Server(tmp_path / "m.npz", "--missing", "nan", "--mean-only", where=tmp_path / "s") as server:
        first = server.ask("a,b\n1,2\n,2\n")
        assert first.splitlines()[0] == "y_mean,z_mean" and first.splitlines()[2] == ","
        shutil.move(tmp_path / "n.npz", tmp_path / "m.npz")
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert server.ask("a,b\n1,2\n,2\n") == first
        assert "the columns of the new" in server.end()


CHOICES = {"one": "z", "last": "w", "order": "w,y", "number": "3,1", "all": "z,y,w"}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("words", [["--share", "none"], ["--share", "theta", "--trend", "constant"], ["--missing", "impute"]],
                         ids=["none", "theta", "impute"])
def test_some_targets_alone(tmp_path, words, choice):
    """--target: the columns of `predict --target`, bit for bit, in the order asked for."""
    holes = ["--missing", "impute"] if "impute" in words else []
    train, queries = write_targets(tmp_path / "t.csv", 120, 4, bool(holes)), write_targets(tmp_path / "q.csv", 9, 5)
    run("fit", train, "-o", tmp_path / "m.npz", "--target", "y,z,w", "--kernel", "se", "--max-evaluations", 2, "-q", *words)
    ask = ["-q", "--keep", "b", "--target", choice, "--quantiles", "0.2", *holes]
    wanted = run("predict", tmp_path / "m.npz", queries, *ask).out
    names = [{"1": "y", "2": "z", "3": "w"}.get(c, c) for c in choice.split(",")]
    assert [c[:-5] for c in wanted.splitlines()[0].split(",") if c.endswith("_mean")] == names
    assert run("serve", tmp_path / "m.npz", *ask, stdin=queries.read_text()).out == wanted
    line = json.loads(run("serve", tmp_path / "m.npz", *ask[3:], "-q", "--format", "jsonl", stdin='{"a": 0.5, "b": -0.25}\n').out)
    assert [name[:-5] for name in line if name.endswith("_mean")] == names


def write_holes(path, n, seed, every):
    """Cells of column a are missing in every so many rows."""
    lines = write_targets(path, n, seed).read_text().splitlines()
    for i in range(1, n + 1, every):
        lines[i] = lines[i][lines[i].index(","):]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_holes_are_filled_as_predict_fills_them(tmp_path):
    train = write_holes(tmp_path / "t.csv", 150, 11, 4)
    queries = write_holes(tmp_path / "q.csv", 20, 12, 3)
    run("fit", train, "-o", tmp_path / "m.npz", "--target", "y,z", "--ignore", "w", "--missing", "impute", "--kernel", "se",
        "--max-evaluations", 2, "-q")
    for words in ([], ["--target", "z"], ["--target", "z,y"]):
        ask = ["-q", "--missing", "impute", *words]
        wanted = run("predict", tmp_path / "m.npz", queries, *ask).out
        assert run("serve", tmp_path / "m.npz", *ask, stdin=queries.read_text()).out == wanted
        lines = run("serve", tmp_path / "m.npz", *ask, "--format", "jsonl", stdin='{"a": null, "b": 0.5}\n').out
        assert all(isinstance(v, float) for v in json.loads(lines).values())


def test_options_that_do_not_go_with_a_model(data, tmp_path, at):
    """Said at the start, and of a new model before it is taken."""
    shutil.copy(data / "model.npz", tmp_path / "m.npz")
    small = tmp_path / "n.npz"
    run("fit", data / "train.csv", "-o", small, "--experts", 1, "--theta", "1,1,0.1", "--kernel", "se", "-q")
    ask = ["--method", "npae", "--select", "expert:3"]
    assert "the model has 1 expert" in run("serve", small, *ask, code=1, stdin="").err
    with Server(tmp_path / "m.npz", *ask, where=at) as server:
        first = server.ask("a,b\n1,2\n")
        assert "error" not in first
        os.replace(small, tmp_path / "m.npz")
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert server.ask("a,b\n1,2\n") == first
        assert "not replaced: select expert:3" in server.end()


def test_a_target_that_is_not_there(tmp_path):
    run("fit", write_targets(tmp_path / "t.csv", 60, 6), "-o", tmp_path / "m.npz", "--target", "y,z", "--theta", "1,1,0.1", "--kernel",
        "se", "--ignore", "w", "-q")
    for choice, sentence in (("q", "has no target 'q'; it has y, z"), ("y,y", "twice"), ("3", "no target '3'")):
        assert sentence in run("serve", tmp_path / "m.npz", "--target", choice, code=2, stdin="").err


def test_new_models_with_the_targets_asked_for(tmp_path):
    """By their names, wherever they stand in the new model; without one of them the old model goes on."""
    files = {name: tmp_path / f"{name}.npz" for name in ("m", "moved", "lacks", "single")}
    for (name, path), targets, seed in zip(files.items(), ("y,z,w", "w,y", "y,z", "w"), (7, 8, 9, 10)):
        others = ",".join(sorted(set("yzw") - set(targets.split(","))))
        run("fit", write_targets(tmp_path / "t.csv", 80, seed), "-o", path, "--target", targets, "--theta", "1,1,0.1", "--kernel", "se", "-q",
            *(["--ignore", others] if others else []))
    queries = "a,b\n0.5,0.25\n"
    (tmp_path / "q.csv").write_text(queries)
    wanted = {name: run("predict", files[name], tmp_path / "q.csv", "--target", "w", "-q").out for name in ("m", "moved")}
    assert wanted["m"] != wanted["moved"]
    with Server(files["m"], "--target", "3", where=tmp_path / "s") as server:
        assert server.ask(queries) == wanted["m"]
        for name, answer in (("lacks", "m"), ("single", "m"), ("moved", "moved")):
            shutil.copy(files[name], tmp_path / "next")
            os.replace(tmp_path / "next", files["m"])
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.5)
            assert server.ask(queries) == wanted[answer], name
        said = server.end()
        assert said.count("the columns of the new") == 2 and said.count("loaded anew") == 1
