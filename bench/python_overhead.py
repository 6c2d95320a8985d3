#!/usr/bin/env python3
"""What the Python binding adds to a prediction, as committed CSV.

    QUORUM_LIBRARY=build/libquorum.so PYTHONPATH=python /usr/bin/python3 bench/python_overhead.py

Models of 10,000 and of 500 rows, 8 inputs, predict 10,000 rows, mean and std.  `predict` is timed
as a whole; within it, the seconds inside the C function without those of the callbacks.  The rest
is the binding's: validation of the input, options, results, callbacks.  Both are also taken in
processor time, which other work on the machine does not change: there the library's is divided by
the number of its threads, as if it had them to itself.  Each line of results/python_overhead.csv
is one call; the medians are printed.
"""
import argparse
import copy
import itertools
import os
import statistics
import time

import numpy as np
from common import write_csv

import quorum
from quorum import QuorumRegressor, _model
from quorum._watch import Watch

METHODS = {"nearest": {}, "nearest, 64 neighbours": {"neighbours": 64},
           "grbcm": {"method": "grbcm"}, "rbcm": {"method": "rbcm"}}
QUERIES = 10000


def clocks():
    """Seconds on the wall and of processors."""
    return np.array([time.perf_counter(), time.process_time()])


class Timed:
    """The library, with the time inside quorum_predict taken."""

    def __init__(self, library):
        self.library, self.seconds = library, np.zeros(2)

    def __getattr__(self, name):
        return getattr(self.library, name)

    def quorum_predict(self, *arguments):
        start = clocks()
        status = self.library.quorum_predict(*arguments)
        self.seconds += clocks() - start
        return status


def time_library():
    """Has the seconds in the library, callbacks not counted, added up in the object returned."""
    timed = _model.lib = Timed(_model.lib)
    report = Watch._report

    def timed_report(*arguments):
        start = time.perf_counter()
        answer = report(*arguments)
        timed.seconds -= time.perf_counter() - start  # other threads wait meanwhile, or work
        return answer

    Watch._report = timed_report
    return timed


def make_data(rows, inputs):
    rng = np.random.default_rng(1)
    X = rng.random((rows + QUERIES, inputs))
    y = np.sin(3 * X).sum(1) + 0.1 * rng.standard_normal(rows + QUERIES)
    return X[:rows], y[:rows], X[rows:]


def measure(timed, rows, inputs, repetitions):
    X, y, queries = make_data(rows, inputs)
    fitted = QuorumRegressor(kernel="se").fit(X, y)
    for name, settings in METHODS.items():
        model = copy.copy(fitted).set_params(**settings)
        model.predict(queries[:16], return_std=True)  # factors are made by the first call
        for repetition in range(repetitions):
            timed.seconds, start = np.zeros(2), clocks()
            model.predict(queries, return_std=True)
            wall, processor = clocks() - start - timed.seconds
            alone = timed.seconds[1] / os.cpu_count()
            yield {"rows": rows, "prediction": name, "repetition": repetition + 1,
                   "queries": QUERIES, "library_seconds": f"{timed.seconds[0]:.6f}",
                   "library_seconds_alone": f"{alone:.6f}", "binding_seconds": f"{wall:.6f}",
                   "binding_processor_seconds": f"{processor:.6f}",
                   "percent": f"{100 * wall / timed.seconds[0]:.4f}",
                   "percent_alone": f"{100 * processor / alone:.4f}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10000, 500])
    parser.add_argument("--inputs", type=int, default=8)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results",
                                                      "python_overhead.csv"))
    args = parser.parse_args()
    timed = time_library()
    results = [result for rows in args.rows
               for result in measure(timed, rows, args.inputs, args.repetitions)]
    write_csv(args.out, "bench/python_overhead.py", None, list(results[0]), results,
              [f"quorum {quorum.__version__}"])
    for rows, name in itertools.product(args.rows, METHODS):
        mine = [r for r in results if (r["rows"], r["prediction"]) == (rows, name)]
        seconds, percent, alone = (statistics.median(float(r[k]) for r in mine)
                                   for k in ("library_seconds_alone", "percent", "percent_alone"))
        print(f"{rows:>6} rows, {name:<20} {seconds:9.4f} s if alone, the binding adds "
              f"{percent:.3f} %, if alone {alone:.3f} %")


if __name__ == "__main__":
    main()
