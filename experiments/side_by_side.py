"""Cells that run at the same time, each with its share of the threads.

A fit comes before what uses its model.  The first cell that fails, or Ctrl-C, stops the others: no
further cell is begun, and a command that is under way is ended.
"""
import os
import subprocess
import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait


def processors():
    """As many threads as a command would take by itself: OMP_NUM_THREADS, or all processors."""
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return int(given) if given.isdigit() and int(given) > 0 else len(os.sched_getaffinity(0))


class Children:
    """The commands under way; after `stop` there are none, and none begins."""

    def __init__(self):
        self.lock, self.running, self.stopped = threading.Lock(), set(), False

    def begin(self, command, folder, threads):
        with self.lock:
            if self.stopped:
                raise SystemExit("stopped")
            child = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True,
                                     env={**os.environ, "OMP_NUM_THREADS": str(threads)})
            self.running.add(child)
            return child

    def stop(self):
        with self.lock:
            self.stopped = True
            for child in self.running:
                if child.poll() is None:
                    child.terminate()


def ready(waiting, unfinished):
    """The first cell whose fit is done; None where all wait for one."""
    return next((c for c in waiting if not c.after or c.after.name not in unfinished), None)


def run(cells, run_cell, together):
    """run_cell(cell, threads, children) of every cell, so many at a time, but not more than there
    are processors: those that take longest first, so that none is left alone at the end."""
    together = min(together, processors())
    threads = processors() // together
    waiting, unfinished = list(cells), {c.name for c in cells}
    if together > 1:
        waiting.sort(key=lambda c: -c.seconds)
    children, under_way = Children(), {}
    with ThreadPoolExecutor(together) as pool:
        try:
            while waiting or under_way:
                while len(under_way) < together and (cell := ready(waiting, unfinished)):
                    waiting.remove(cell)
                    under_way[pool.submit(run_cell, cell, threads, children)] = cell
                for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                    unfinished.discard(under_way.pop(done).name)
                    done.result()
        finally:
            children.stop()
