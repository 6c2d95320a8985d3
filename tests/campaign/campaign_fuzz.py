"""Fuzzing with address and undefined-behaviour sanitizers: the harnesses of tests/fuzz.

Builds them with clang into BUILD-fuzz and runs them from their committed corpora (and, except in
the short version, from what earlier runs have found), several at once.  Findings are kept in
BUILD-fuzz/findings.

    tests/campaign/campaign_fuzz.py --executions 1e7 --csv tests/campaign/results/fuzz.csv
    tests/campaign/campaign_fuzz.py --seconds 3600 model fit
"""
import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import results

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CORPORA = os.path.join(ROOT, "tests", "fuzz", "corpus")
CANNOT_RUN = 77
LIMITS = ["-timeout=10", "-malloc_limit_mb=1500", "-rss_limit_mb=3000"]
MOST_RESTARTS = 5           # after findings, of one process
STEADY = 20000              # seeds of processes are this far apart

# share: of all executions; short: executions in ctest; length: of an input, at most.
HARNESSES = {
    "options": dict(share=0.150, short=20000, length=512,
                    what="names and values of options"),
    "json": dict(share=0.350, short=40000, length=1024,
                 what="JSON texts, as in models: read, written, read again"),
    "table": dict(share=0.120, short=10000, length=1024,
                  what="csv, csv.gz and npy tables, read for training and as queries"),
    "npz": dict(share=0.150, short=10000, length=8192,
                what="npy and npz files; members changed, checksums right"),
    "checkpoint": dict(share=0.200, short=15000, length=4096,
                       what="checkpoints; members changed, checksums right"),
    "predict": dict(share=0.025, short=2000, length=256,
                    what="any finite queries, every option of prediction"),
    "model": dict(share=0.004, short=1000, length=12288,
                  what="models changed inside, checksums right: load, 32 ways of prediction, "
                       "joint ones, save, load again, the same bits"),
    "fit": dict(share=0.001, short=300, length=512,
                what="any finite rows, options of fit; then as for models"),
}


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build directory (build); -fuzz is added")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn at random (1)")
    parser.add_argument("--seconds", type=float, default=600.0,
                        help="time to take (600), shared equally among the harnesses")
    parser.add_argument("--executions", type=float, help="instead: how many in all, shared as the "
                        "harnesses' speeds make sense")
    parser.add_argument("--short", action="store_true", help="the version for ctest")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--csv", help="file for the counts, for docs/reliability.md")
    parser.add_argument("names", nargs="*", metavar="NAME", help="harnesses; default: all")
    given = parser.parse_args()
    given.names = given.names or list(HARNESSES)
    given.fuzz = os.path.abspath(given.build) + "-fuzz"
    return given


# ---- Building ---------------------------------------------------------------------------------

def has_fuzzer():
    """Whether clang and its fuzzing library are there."""
    if not shutil.which("clang"):
        return False
    with tempfile.TemporaryDirectory() as room:
        source = os.path.join(room, "probe.c")
        with open(source, "w") as file:
            file.write("int LLVMFuzzerTestOneInput(const char *d, unsigned long n);\n"
                       "int LLVMFuzzerTestOneInput(const char *d, unsigned long n)\n"
                       "{ return d && n > 9; }\n")
        return subprocess.run(["clang", "-fsanitize=fuzzer,address,undefined", source, "-o",
                               os.path.join(room, "probe")], capture_output=True).returncode == 0


def build(given):
    start = time.monotonic()
    os.makedirs(given.fuzz, exist_ok=True)
    with open(os.path.join(given.fuzz, "build.log"), "w") as log:
        for command in (["cmake", "-S", ROOT, "-B", given.fuzz, "-G", "Ninja",
                         "-DCMAKE_C_COMPILER=clang", "-DQUORUM_FUZZ=ON"],
                        ["cmake", "--build", given.fuzz, "-j", str(given.jobs), "--target",
                         "fuzzers"]):
            if subprocess.run(command, stdout=log, stderr=log).returncode != 0:
                with open(log.name) as text:
                    print(text.read()[-4000:])
                raise SystemExit(f"the harnesses cannot be built: see {log.name}")
    print(f"built in {time.monotonic() - start:.0f} s", flush=True)


# ---- Running ----------------------------------------------------------------------------------

class Count:
    """What the processes of one harness did."""

    def __init__(self):
        self.executions = self.seconds = self.edges = self.features = 0
        self.findings = []

    def add(self, log, seconds):
        found = re.search(r"number_of_executed_units: (\d+)", log)
        self.executions += int(found.group(1)) if found else 0
        self.seconds += seconds
        for edges, features in re.findall(r"cov: (\d+) ft: (\d+)", log)[-1:]:
            self.edges = max(self.edges, int(edges))
            self.features = max(self.features, int(features))
        for path in re.findall(r"Test unit written to (\S+)", log):
            self.findings.append(path)


def show_finding(log, path, program):
    print("\n".join(line for line in log.splitlines() if re.search(
        r"does not hold|last message|ERROR|runtime error|SUMMARY", line)))
    print(f"again: {program} {path}", flush=True)


def run_process(given, name, seed, executions, seconds, tmp):
    """One harness in one process, started again after a finding; its counts."""
    program = os.path.join(given.fuzz, "tests", "fuzz", f"fuzz_{name}")
    found = os.path.join(tmp if given.short else given.fuzz, "corpus", name)
    findings = os.path.join(given.fuzz, "findings")
    os.makedirs(found, exist_ok=True)
    os.makedirs(findings, exist_ok=True)
    dictionary = os.path.join(ROOT, "tests", "fuzz", f"{name}.dict")
    count, end = Count(), time.monotonic() + seconds
    for turn in range(MOST_RESTARTS):
        left = end - time.monotonic()
        command = [program, *LIMITS, f"-max_len={HARNESSES[name]['length']}", f"-seed={seed + turn}",
                   f"-artifact_prefix={findings}/{name}-", "-print_final_stats=1", "-verbosity=1",
                   f"-max_total_time={max(1, int(left))}"]
        if executions:
            command.append(f"-runs={max(1, executions - count.executions)}")
        if os.path.exists(dictionary):
            command.append(f"-dict={dictionary}")
        start = time.monotonic()
        done = subprocess.run([*command, found, os.path.join(CORPORA, name)], text=True,
                              capture_output=True, errors="replace",
                              env={**os.environ, "TMPDIR": tmp})
        count.add(done.stderr, time.monotonic() - start)
        if done.returncode == 0:
            break
        if not count.findings:
            count.findings.append(f"exit code {done.returncode}: {done.stderr[-300:]}")
        show_finding(done.stderr, count.findings[-1], program)
    return name, count


def plan(given):
    """(name, seed, executions, seconds) of every process, long ones first."""
    processes = []
    for name in given.names:
        about = HARNESSES[name]
        if given.short:
            processes.append((name, given.seed, about["short"], 600.0))
            continue
        seconds = given.seconds / len(given.names)
        executions = 0
        if given.executions:
            total = sum(HARNESSES[n]["share"] for n in given.names)
            executions = int(given.executions * about["share"] / total / given.jobs) + 1
            seconds = 86400.0
        processes += [(name, given.seed + STEADY * job, executions, seconds)
                      for job in range(given.jobs)]
    return processes


def run_all(given):
    counts = {name: Count() for name in given.names}
    room = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=room, prefix="quorum-fuzz-") as tmp, \
            concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for done in concurrent.futures.as_completed(
                [pool.submit(run_process, given, *process, tmp) for process in plan(given)]):
            name, one = done.result()
            whole = counts[name]
            whole.executions += one.executions
            whole.seconds += one.seconds
            whole.edges = max(whole.edges, one.edges)
            whole.features = max(whole.features, one.features)
            whole.findings += one.findings
    return counts


# ---- Counts -----------------------------------------------------------------------------------

def print_table(counts):
    print(f"\n{'harness':<12} {'executions':>12} {'seconds':>9} {'a second':>9} {'edges':>7} "
          f"{'findings':>9}")
    for name, c in counts.items():
        print(f"{name:<12} {c.executions:12,} {c.seconds:9.0f} "
              f"{c.executions / max(c.seconds, 1e-9):9.0f} {c.edges:7} {len(c.findings):9}")


def main():
    given = read_arguments()
    if not has_fuzzer():
        print("clang or its fuzzing library (libclang-rt-dev) is not there")
        return CANNOT_RUN
    build(given)
    counts = run_all(given)
    print_table(counts)
    if given.csv:
        results.write(given.csv, ["harness", "what", "executions", "seconds", "edges", "findings"],
                      [(name, HARNESSES[name]["what"], c.executions, round(c.seconds), c.edges,
                        len(c.findings)) for name, c in counts.items()])
    findings = sum(len(c.findings) for c in counts.values())
    inputs = sum(len(glob.glob(os.path.join(CORPORA, name, "*"))) for name in given.names)
    print(f"{sum(c.executions for c in counts.values())} executions, {len(counts)} harnesses, "
          f"{inputs} inputs in the corpora, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
