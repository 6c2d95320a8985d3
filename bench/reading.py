#!/usr/bin/env python3
"""Seconds to read a csv, beside data.table's fread, as committed CSV.

    /usr/bin/python3 bench/reading.py [--rows 1000000] [--rounds 5]

Made files of numbers, 10 columns of 8 digits and 20 of 4, read whole into memory in turns:
quorum_data_read of build/libquorum.so, and fread where Rscript and data.table are installed
(Debian: r-cran-data.table), both with one thread and with two, each in a process of its own
that times the call alone.  Each line of results/reading.csv is one call; others_seconds are processor
seconds that other processes took meanwhile, which should be few.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from common import load, write_csv

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "..", "build", "libquorum.so")
OURS = """
import ctypes, sys, time
lib = ctypes.CDLL(sys.argv[1])
lib.quorum_options_new.restype = ctypes.c_void_p
options, data = ctypes.c_void_p(lib.quorum_options_new()), ctypes.c_void_p()
assert lib.quorum_options_set(options, b"threads", sys.argv[3].encode()) >= 0
wall, work = time.perf_counter(), time.process_time()
assert lib.quorum_data_read(sys.argv[2].encode(), options, ctypes.byref(data)) >= 0
print(time.perf_counter() - wall, time.process_time() - work)
"""
FREAD = """
library(data.table); a <- commandArgs(TRUE); setDTthreads(as.integer(a[2]))
t <- system.time(fread(a[1], showProgress = FALSE)); cat(t[["elapsed"]], t[["user.self"]] + t[["sys.self"]])
"""
FORMS = {"10 columns of 8 digits": (10, "%.8g"), "20 columns of 4 digits": (20, "%.4g")}
FIELDS = ["file", "megabytes", "reader", "threads", "round", "seconds", "processor_seconds", "others_seconds"]


def has_fread():
    return shutil.which("Rscript") and subprocess.run(
        ["Rscript", "-e", "library(data.table)"], capture_output=True, check=False).returncode == 0


def commands(path, threads):
    yield "quorum", [sys.executable, "-c", OURS, LIBRARY, path, str(threads)]
    if has_fread():
        yield "fread", ["Rscript", "-e", FREAD, path, str(threads)]


def busy_seconds():
    """Of all processors since the machine started."""
    user, nice, system, _, _, *interrupts = map(int, open("/proc/stat").readline().split()[1:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def call(command):
    """Wall and processor seconds that a command prints, and those that others used while it ran."""
    before, own = busy_seconds(), os.times()
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    now = os.times()
    used = now.children_user + now.children_system - own.children_user - own.children_system
    return {**dict(zip(["seconds", "processor_seconds"], map(float, printed.split()))),
            "others_seconds": max(0.0, busy_seconds() - before - used)}


def rows_of(form, rows, rounds, directory):
    columns, digits = FORMS[form]
    path = os.path.join(directory, "made.csv")
    table = np.random.default_rng(1).standard_normal((rows, columns))
    np.savetxt(path, table, delimiter=",", fmt=digits, comments="",
               header=",".join(f"x{j}" for j in range(columns)))
    for turn in range(1, rounds + 1):
        for threads in [1, 2]:
            for reader, command in commands(path, threads):
                yield {"file": form, "megabytes": os.path.getsize(path) / 1e6, "reader": reader,
                       "threads": threads, "round": turn, **call(command)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--csv", default=os.path.join(HERE, "results", "reading.csv"))
    a = parser.parse_args()
    quorum = os.path.join(HERE, "..", "build", "quorum")
    with tempfile.TemporaryDirectory() as directory:
        write_csv(a.csv, f"bench/reading.py --rows {a.rows} --rounds {a.rounds}", quorum, FIELDS,
                  (row for form in FORMS for row in rows_of(form, a.rows, a.rounds, directory)),
                  notes=[load()])


if __name__ == "__main__":
    main()
