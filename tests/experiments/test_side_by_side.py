"""Cells that run at the same time: order, threads, what happens when one fails."""
import os
import threading
import time

import pytest

import side_by_side
from cells import Cell


@pytest.fixture(autouse=True)
def four_processors(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")


def cell(name, after=None, seconds=1.0):
    return Cell(name, ("fit",), after=after, seconds=seconds)


class Recorder:
    """Notes when a cell begins and ends, and how many ran at the same time."""

    def __init__(self, seconds=0.05):
        self.seconds, self.lock = seconds, threading.Lock()
        self.begun, self.ended, self.running, self.most, self.threads = [], [], 0, 0, set()

    def __call__(self, one, threads, children):
        with self.lock:
            assert one.after is None or one.after.name in self.ended, f"{one.name} began too early"
            self.begun.append(one.name)
            self.threads.add(threads)
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(self.seconds)
        with self.lock:
            self.running -= 1
            self.ended.append(one.name)


def some_cells():
    first, second = cell("fit a"), cell("fit b")
    return [first, *(cell(f"a {k}", first) for k in range(3)), second, cell("b 0", second)]


@pytest.mark.parametrize("together, threads", [(1, 4), (2, 2), (4, 1), (8, 1)])
def test_each_cell_once_after_its_fit_with_its_share_of_threads(together, threads):
    seen, cells = Recorder(), some_cells()
    side_by_side.run(cells, seen, together)
    assert sorted(seen.ended) == sorted(c.name for c in cells)
    assert seen.threads == {threads} and seen.most <= together
    if together == 1:
        assert seen.ended == [c.name for c in cells]
    if together == 2:
        assert seen.most == 2 and set(seen.begun[:2]) == {"fit a", "fit b"}


def test_the_longest_comes_first():
    seen = Recorder()
    side_by_side.run([*(cell(f"short {k}") for k in range(4)), cell("long", seconds=9.0)], seen, 2)
    assert "long" in seen.begun[:2]


def test_one_processor_runs_one_at_a_time(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    seen = Recorder()
    side_by_side.run(some_cells(), seen, 2)
    assert seen.most == 1 and seen.threads == {1}


@pytest.mark.parametrize("given", ["", "0", "many"])
def test_without_a_number_all_processors(monkeypatch, given):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert side_by_side.processors() == len(os.sched_getaffinity(0))


def test_a_cell_that_fails_ends_the_others():
    """The command beside it is ended, no further one begins, and the failure is told."""
    begun, codes = [], []
    started = threading.Event()

    def run_cell(one, threads, children):
        if one.name == "bad":
            started.wait(10)
            raise SystemExit("bad has failed")
        begun.append(one.name)
        with children.begin(["sleep", "60"], None, threads) as child:
            started.set()
        codes.append(child.returncode)

    start = time.time()
    with pytest.raises(SystemExit, match="bad has failed"):
        side_by_side.run([cell("long"), cell("bad"), cell("never")], run_cell, 2)
    assert time.time() - start < 30
    assert begun == ["long"] and codes == [-15]


def test_commands_are_told_their_threads():
    with side_by_side.Children().begin(["sh", "-c", "echo $OMP_NUM_THREADS"], None, 3) as child:
        assert child.stdout.read() == "3\n"


def test_none_begins_after_the_stop():
    children = side_by_side.Children()
    children.stop()
    with pytest.raises(SystemExit):
        children.begin(["true"], None, 1)
