#!/usr/bin/env python3
"""How time, memory and messages of quorum-mpi scale with ranks: measured, then extrapolated.

    bench/scaling.py measure [--build build] [--repeats 3]      writes bench/results/scaling.csv
    bench/scaling.py predict                                    prints the tables of docs/scaling.md

measure runs each case on 1 rank (the serial command) and on 2, one thread each, in turn, and
keeps the fastest of the repeats.  Two efficiencies: of the clock, t_1 / 2 t_2, and of the
processors, c_1 / 2 c_2, c being the processor seconds of computation of the busiest rank; the
second does not suffer when the machine has other work, but does not see the time that messages
take.  predict fits the cost model to two sizes and checks it on a third.
"""
import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from common import load, read_csv, shown, write_csv

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results", "scaling.csv")
INPUTS, DIGITS = 8, 4
# the same number of evaluations for all sizes
LARGE_FIT = "fit --kernel se --tolerance 0 --max-evaluations 25"
SMALL, MIDDLE, LARGE = 260000, 520000, 1040000  # rows
FIELDS = ["case", "rows", "queries", "ranks", "seconds", "processor_seconds", "train_share",
          "partition_share", "efficiency", "efficiency_processors", "communication_share",
          "sent_MB", "received_MB", "peak_MB"]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
RANK = re.compile(r"rank \d+: ([\d.]+) s, ([\d.]+) % of it in communication, ([\d.]+) processor "
                  r"seconds of computation; ([\d.]+) MB sent, ([\d.]+) MB received; peak memory "
                  r"(\d+) MB")


# ---- Measuring ----

def make_rows(path, n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 1.0, (n, INPUTS))
    y = (10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3]
         + 5 * x[:, 4] + rng.standard_normal(n))
    np.save(path, np.column_stack([x, y]))
    return path


def run(command):
    """One run: seconds, processor seconds and peak of all its processes, stdout, stderr."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, used, done


def phases(text):
    """Shares of train and partition in the whole of a fit."""
    if not text.startswith("{"):
        return {"train_share": "", "partition_share": ""}
    seconds = json.loads(text)["seconds"]
    return {"train_share": seconds["train"] / seconds["total"],
            "partition_share": seconds["partition"] / seconds["total"]}


def one_rank(build, words):
    peak_file = tempfile.NamedTemporaryFile("r", suffix=".peak")
    command = ["/usr/bin/python3", "-c",
               "import os,resource,subprocess,sys\n"
               "code = subprocess.call(sys.argv[2:])\n"
               "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
               "open(sys.argv[1], 'w').write(str(peak))\nsys.exit(code)", peak_file.name,
               os.path.join(build, "quorum"), *words]
    seconds, used, done = run(command)
    return {"ranks": 1, "seconds": seconds, "processor_seconds": used, "communication_share": 0.0,
            "sent_MB": 0.0, "received_MB": 0.0, "peak_MB": int(peak_file.read()) * 1024e-6,
            **phases(done.stdout)}


def several_ranks(build, ranks, words):
    command = ["mpirun", "--oversubscribe", "-np", str(ranks), os.path.join(build, "quorum-mpi"),
               *words, "-v"]
    seconds, _, done = run(command)
    each = [[float(v) for v in found] for found in RANK.findall(done.stderr)]
    if len(each) != ranks:
        sys.exit(done.stderr)
    most = [max(column) for column in zip(*each)]
    return {"ranks": ranks, "seconds": seconds, "processor_seconds": most[2],
            "communication_share": most[1] / 100.0, "sent_MB": most[3], "received_MB": most[4],
            "peak_MB": most[5], **phases(done.stdout)}


def fastest(runs):
    return min(runs, key=lambda r: r["seconds"])


def least_work(runs):
    return min(r["processor_seconds"] for r in runs)


def compare(build, case, rows, queries, words, repeats):
    one, two = [], []
    for _ in range(repeats):
        one.append(one_rank(build, words))
        two.append(several_ranks(build, 2, words))
    for runs in (one, two):
        row = {**fastest(runs), "case": case, "rows": rows, "queries": queries}
        row["processor_seconds"] = least_work(runs)
        if runs is two:
            row["efficiency"] = fastest(one)["seconds"] / (2 * row["seconds"])
            row["efficiency_processors"] = least_work(one) / (2 * least_work(two))
        yield row


def cases(folder):
    """Name, rows, queries, command line, whether it is repeated."""
    model = os.path.join(folder, "model.npz")

    def train(n):
        path = os.path.join(folder, f"train{n}.npy")
        return path if os.path.exists(path) else make_rows(path, n, n)

    fit = ["-o", os.path.join(folder, "out.npz"), "--threads", "1", "--json"]
    yield ("fit --train parts", 20000, 0,
           ["fit", train(20000), *fit, "--train", "parts", "--kernel", "se", "--tolerance", "0",
            "--max-evaluations", "100"], True)
    yield "fit", 20000, 0, ["fit", train(20000), *fit], True
    for name, queries, words in (("predict --select all", 4096, ["--select", "all"]),
                                 ("predict", 8192, [])):
        path = make_rows(os.path.join(folder, f"queries{queries}.npy"), queries, 1)
        yield name, 10000, queries, ["predict", model, path, "-o", os.path.join(folder, "out.csv"),
                                     "--threads", "1", *words], True
    for n in (SMALL, MIDDLE, LARGE):
        yield LARGE_FIT, n, 0, ["fit", train(n), *fit, *LARGE_FIT.split()[1:]], False


def prepare(build, folder):
    """The model that is predicted with: theta is given, 20 experts."""
    train = make_rows(os.path.join(folder, "model.npy"), 10000, 2)
    run([os.path.join(build, "quorum"), "fit", train, "-o", os.path.join(folder, "model.npz"),
         "--experts", "20", "--theta", "2,10,0.1", "--graph", "none", "-q"])


def measured_rows(args, folder):
    """The lines of the table, which are also printed."""
    prepare(args.build, folder)
    for case, rows, queries, words, repeated in cases(folder):
        if args.only and args.only not in f"{case} {rows}":
            continue
        for row in compare(args.build, case, rows, queries, words, args.repeats if repeated else 1):
            print({key: shown(value, DIGITS) for key, value in row.items()}, flush=True)
            yield row


def measure(args):
    with tempfile.TemporaryDirectory() as folder:
        write_csv(args.out, f"bench/scaling.py measure --repeats {args.repeats}",
                  os.path.join(args.build, "quorum"), FIELDS, measured_rows(args, folder),
                  [load(), "of 2 ranks the busiest rank's figures"], DIGITS)


# ---- The model ----

NETWORK = 1.25e9  # bytes a second that a node receives: 10 Gbit/s
DISK = 0.5e9      # bytes a second that rank 0 reads
CORES = 32        # of a node
OWN = 1           # of them that work on what every rank does: most of it runs on one thread
SIZE = 500        # rows of an expert


def read_results():
    rows = read_csv(RESULTS)
    for row in rows:
        for key, value in row.items():
            if key != "case" and value != "":
                row[key] = float(value)
    return rows


def pick(results, case, rows, ranks):
    return next(r for r in results if (r["case"], r["rows"], r["ranks"]) == (case, rows, ranks))


def through(x, y):
    """a and b of a + b x through two points."""
    b = (y[1] - y[0]) / (x[1] - x[0])
    return y[0] - b * x[0], b


class Model:
    """Processor seconds, bytes and memory of a default fit with a given kernel, and of predictions.

    work(n, R) = F / R + G n log2 n + H n^(3/2) / R
    F: evaluations of the likelihood, shared; G: what every rank does by itself; H: k-means of n / 500
    parts by groups, orders and trees, shared.
    bytes(n, R) = 8 n (D + 1) / R + (b0 + b1 n) (R - 1) / R
    memory(n, R) = p0 + n max(p1 / R + p2, (32 D + 16) / R + 32): the larger of searching neighbours, as
    measured, and of k-means, where rows are there four times and numbers of rows on every rank.
    """

    def __init__(self, results, small=SMALL, large=LARGE):
        case = LARGE_FIT
        one = [pick(results, case, n, 1) for n in (small, large)]
        two = [pick(results, case, n, 2) for n in (small, large)]
        growth = [n * math.log2(n) for n in (small, large)]
        # what the second rank saves is shared, the rest is done by both
        shared = [2 * (a["processor_seconds"] - b["processor_seconds"]) for a, b in zip(one, two)]
        own = [a["processor_seconds"] - s for a, s in zip(one, shared)]
        self.G = max(0.0, sum(o * g for o, g in zip(own, growth)) / sum(g * g for g in growth))
        self.F, self.H = through([n ** 1.5 for n in (small, large)], shared)
        split = [2 * (r["received_MB"] * 1e6 - self.rows_bytes(n) / 2)
                 for n, r in zip((small, large), two)]
        self.b0, self.b1 = through([small, large], split)
        _, alone = through([small, large], [r["peak_MB"] * 1e6 for r in one])
        self.p0, both = through([small, large], [r["peak_MB"] * 1e6 for r in two])
        self.p1, self.p2 = 2 * (alone - both), max(0.0, 2 * both - alone)
        query = pick(results, "predict", 10000, 1)
        self.query = query["processor_seconds"] / query["queries"]
        pairs = pick(results, "predict --select all", 10000, 1)
        self.pair = pairs["processor_seconds"] / pairs["queries"] / pairs["rows"] ** 2

    @staticmethod
    def rows_bytes(n):
        return 8.0 * n * (INPUTS + 1)

    def own(self, n):
        return self.G * n * math.log2(n)

    def shared(self, n):
        return self.F + self.H * n ** 1.5

    def work(self, n, ranks):
        return self.own(n) + self.shared(n) / ranks

    def received(self, n, ranks):
        return self.rows_bytes(n) / ranks + (self.b0 + self.b1 * n) * (ranks - 1) / ranks

    def memory(self, n, ranks):
        partition = (32.0 * INPUTS + 16.0) / ranks + 32.0
        return self.p0 + n * max(self.p1 / ranks + self.p2, partition)

    def fit_seconds(self, n, nodes):
        compute = self.own(n) / OWN + self.shared(n) / (nodes * CORES)
        return compute + self.rows_bytes(n) * (1 / DISK + 1 / NETWORK) + self.received(n, nodes) / NETWORK


def check(model, results, n=MIDDLE):
    print(f"constants: F {model.F:.3g} s, G {model.G:.3g} s, H {model.H:.3g} s; b0 {model.b0:.3g}, "
          f"b1 {model.b1:.3g} bytes; p0 {model.p0:.3g}, p1 {model.p1:.3g}, "
          f"p2 {model.p2:.3g} bytes; "
          f"a query {model.query:.3g} s, of NPAE with all experts {model.pair:.3g} n^2 s\n")
    print(f"| {n:,} rows, not used for the constants | predicted | measured |\n|---|---|---|")
    for ranks in (1, 2):
        row = pick(results, LARGE_FIT, n, ranks)
        print(f"| processor seconds of a rank, {ranks} rank{'s'[:ranks > 1]} | "
              f"{model.work(n, ranks):.1f} | {row['processor_seconds']:.1f} |")
    print(f"| MB received by a rank, 2 ranks | {model.received(n, 2) / 1e6:.1f} | "
          f"{row['received_MB']:.1f} |")
    print(f"| peak memory of a rank, 2 ranks, MB | {model.memory(n, 2) / 1e6:.0f} | "
          f"{row['peak_MB']:.0f} |\n")


def hours(seconds):
    return (f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min" if seconds < 7200
            else f"{seconds / 3600:.1f} h" if seconds < 1e6 else f"{seconds / 86400:,.0f} days")


def predict(_):
    results = read_results()
    model = Model(results)
    check(model, results)
    print("| rows | nodes | fit | memory of a rank | received by a rank | factors of a rank | "
          "10^6 predictions | by NPAE with all experts |\n|---|---|---|---|---|---|---|---|")
    for n in (10 ** 7, 10 ** 8):
        for nodes in (16, 64, 256):
            cores = nodes * CORES
            print(f"| 10^{round(math.log10(n))} | {nodes} | {hours(model.fit_seconds(n, nodes))} | "
                  f"{model.memory(n, nodes) / 1e9:.1f} GB | {model.received(n, nodes) / 1e9:.1f} GB | "
                  f"{8.0 * n * SIZE / nodes / 1e9:.1f} GB | {hours(1e6 * model.query / cores)} | "
                  f"{hours(1e6 * model.pair * n * n / cores)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--build", default="build")
    measuring.add_argument("--repeats", type=int, default=3)
    measuring.add_argument("--only", default="", help="cases whose name and rows contain this")
    measuring.add_argument("--out", default=RESULTS)
    measuring.set_defaults(run=measure)
    commands.add_parser("predict").set_defaults(run=predict)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
