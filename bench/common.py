"""What the benchmarks in Python share: made data, measuring a command, CSV with its history."""
import csv
import datetime
import gzip
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results")

# A small process runs the command, so that the peak is the command's and not a large parent's.
HELPER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "w")).returncode
wall = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def made(rng, rows):
    """8 uniform inputs and a smooth target with noise."""
    X = rng.uniform(-1.0, 1.0, (rows, 8))
    y = np.sin(3 * X[:, 0]) + np.cos(2 * X[:, 1] * X[:, 2]) + X[:, 4] * X[:, 5]
    return np.column_stack([X, y + 0.2 * rng.standard_normal(rows)])


def read_table(directory, name, part):
    """A part, "train" or "test", of a data set: csv.gz with a header, the target last."""
    with gzip.open(os.path.join(directory, name, f"{part}.csv.gz"), "rt") as file:
        file.readline()
        return np.loadtxt(file, delimiter=",")


def run(command):
    """What a command prints as JSON."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def blas_kernels(quorum):
    """The kernel set that quorum's OpenBLAS uses, by the name that OPENBLAS_CORETYPE wants."""
    text = subprocess.run([quorum, "--version"], capture_output=True, text=True).stdout
    return next((l.split(":")[1].strip() for l in text.splitlines() if "kernels" in l), "")


def measured(command, environment=None):
    """Runs a command: its output, wall seconds, processor seconds and peak memory in MB."""
    with tempfile.NamedTemporaryFile("r") as output:
        done = subprocess.run([sys.executable, "-S", "-c", HELPER, output.name, *command],
                              capture_output=True, text=True,
                              env={**os.environ, **(environment or {})})
        if not done.stdout:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        code, wall, processor, peak = json.loads(done.stdout)
        if code != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return {"output": output.read(), "wall": wall, "processor": processor, "peak_mb": peak}


def machine():
    with open("/proc/cpuinfo") as info:
        model = next((l.split(":")[1].strip() for l in info if l.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} processors"


def commit():
    """The present commit, "-dirty" if anything but results has changed since."""
    def git(*words):
        return subprocess.run(["git", "-C", HERE, *words], capture_output=True, text=True)
    changed = git("diff", "--quiet", "HEAD", "--", ":/", ":/!bench/results").returncode
    return (git("describe", "--always").stdout.strip() or "?") + ("-dirty" if changed else "")


def slope(sizes, seconds):
    """Of log seconds over log sizes, by least squares; None with one size."""
    if len(set(sizes)) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def load():
    """What else the machine was doing, as a note."""
    return f"load at the start {os.getloadavg()[0]:.1f}"


def shown(value, digits):
    return f"{value:.{digits}g}" if isinstance(value, float) else value


def write_csv(path, command, quorum, fields, rows, notes=(), digits=5):
    """The rows as CSV, each as it comes, below comment lines that say where they come from.

    `quorum` is the command whose BLAS kernels are told, or None; reals have `digits` digits.
    """
    kernels = f"# kernels: {blas_kernels(quorum)}\n" if quorum else ""
    with open(path, "w", newline="") as out:
        out.write(f"# command: {command}\n# machine: {machine()}\n{kernels}"
                  f"# commit: {commit()}\n# date: {datetime.date.today()}\n")
        for note in notes:
            out.write(f"# note: {note}\n")
        writer = csv.DictWriter(out, fields)
        writer.writeheader()
        for row in rows:
            writer.writerow({key: shown(row.get(key, ""), digits) for key in fields})
            out.flush()


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))
