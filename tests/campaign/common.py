"""Shared by the campaigns: arguments, small data, running a command in a directory of its own
with faults preloaded, many at once, and counting how they ended.
"""
import argparse
import collections
import concurrent.futures
import gzip
import multiprocessing
import os
import random
import resource
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time

CANNOT_RUN = 77
HANG_SECONDS = 10          # a command that takes longer hangs
CALLS = ["memory", "thread", "open", "read", "write", "fsync", "rename", "link", "close",
         "truncate", "chmod", "seek", "stat"]     # as in fault.c
SHOWN = 2                  # findings that are printed, of each kind
SHOWN_KINDS = 40

IDENTICAL, REFUSED, HELD, FAULT = "identical", "refused", "held", "faults"


def read_arguments(doc):
    """--build DIR, --seed N, and --seconds T or --short, as every campaign takes them."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--build", default="build", help="build directory (build)")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn at random (1)")
    parser.add_argument("--seconds", type=float, default=600.0, help="time to take (600)")
    parser.add_argument("--short", action="store_true", help="the version for ctest")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--only", default="", help="only commands whose name has this")
    given = parser.parse_args()
    given.build = os.path.abspath(given.build)
    given.quorum = os.path.join(given.build, "quorum")
    given.fault = os.path.join(given.build, "tests", "fault.so")
    for needed in (given.quorum, given.fault):
        if not os.path.exists(needed):
            print(f"{needed} is not there: build first")
            sys.exit(2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(f"seed {given.seed}, {given.jobs} at once", flush=True)
    return given


# ---- Data -----------------------------------------------------------------------------------

def make_table(rows, seed, inputs=2):
    """y = a^2 + b + noise, as csv."""
    draw = random.Random(seed)
    names = [chr(ord("a") + i) for i in range(inputs)]
    lines = [",".join(names + ["y"])]
    for _ in range(rows):
        x = [draw.random() for _ in range(inputs)]
        y = x[0] ** 2 + x[-1] + draw.gauss(0, 0.05)
        lines.append(",".join(f"{v:.4f}" for v in x + [y]))
    return ("\n".join(lines) + "\n").encode()


def compress(data):
    return gzip.compress(data, mtime=0)


# ---- One run --------------------------------------------------------------------------------

class Command:
    """A command line, the files that are there before it, and the faultless run to compare with."""

    def __init__(self, name, arguments, files, stdin=b""):
        self.name = name
        self.arguments = arguments
        self.files = dict(files)
        self.stdin = stdin
        self.reference = None

    def __str__(self):
        return "quorum " + shlex.join(self.arguments)


class Ending:
    """How a run ended: exit code (None: it hung), output, and the files that are there now."""

    def __init__(self, code, out, err, files):
        self.code = code
        self.out = out
        self.err = err
        self.files = files


def read_files(directory):
    files = {}
    for base, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(base, name)
            with open(path, "rb") as file:
                files[os.path.relpath(path, directory)] = file.read()
    return files


def write_files(directory, files, present=None):
    """Makes the directory hold exactly these files."""
    present = read_files(directory) if present is None else present
    for name in present:
        if name not in files:
            os.remove(os.path.join(directory, name))
    for name, data in files.items():
        if present.get(name) != data:
            path = os.path.join(directory, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)


def fault_environment(given, directory, fault):
    """fault: a dictionary such as {"CALL": "memory", "AT": 7}."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FAULT_")}
    environment.update({"LD_PRELOAD": given.fault, "FAULT_UNDER": directory + "/", "LC_ALL": "C"})
    environment.update({"FAULT_" + name: str(value) for name, value in fault.items()})
    return environment


def run_command(given, command, directory, fault, seconds=HANG_SECONDS):
    """Runs it with the fault, or (fault None) as it is; leaves what it leaves."""
    environment = dict(os.environ, LC_ALL="C") if fault is None else \
        fault_environment(given, directory, fault)
    child = subprocess.Popen([given.quorum, *command.arguments], cwd=directory, env=environment,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = child.communicate(command.stdin, timeout=seconds)
        code = child.returncode
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.communicate()
        code = None
    return Ending(code, out, err, read_files(directory))


def count_calls(given, command, directory):
    """The faultless run under the same preload: sets the reference, gives the calls' numbers."""
    counts = directory + ".counts"
    write_files(directory, command.files)
    command.reference = run_command(given, command, directory,
                                    {"CALL": "open", "AT": 0, "COUNTS": counts}, 60)
    write_files(directory, {})
    if command.reference.code == 99:
        print("this machine does not let a process filter its own system calls")
        sys.exit(CANNOT_RUN)
    if command.reference.code != 0:
        print(f"{command}: exit {command.reference.code} without a fault\n"
              f"{command.reference.err.decode(errors='replace')}")
        sys.exit(1)
    with open(counts, "rb") as file:
        numbers = struct.unpack(f"{len(CALLS)}l", file.read())
    os.remove(counts)
    return dict(zip(CALLS, numbers))


# ---- Judging --------------------------------------------------------------------------------

def is_whole(command, name, data):
    """A file that the command writes is as it was, or as it should become."""
    return data in (command.files.get(name), command.reference.files.get(name))


def check_files(command, files):
    """What is wrong with the files after a refusal; None: nothing."""
    for name, data in files.items():
        if name not in command.files and name not in command.reference.files:
            return f"litter: {name}"
        if not is_whole(command, name, data):
            return f"{name} is neither old nor new"
    lost = [name for name in command.files if name not in files]
    return f"{lost[0]} is gone" if lost else None


def judge(command, ending, sentence, gaps=False):
    """(outcome, why).  sentence: a function that says what is wrong with a refusal's message;
    gaps: a refusal may leave gaps in what is printed, as a failing write does."""
    if ending.code is None:
        return FAULT, f"hangs for {HANG_SECONDS} s"
    if ending.code < 0:
        return FAULT, f"killed by signal {-ending.code}"
    if ending.code == 0:
        if ending.out != command.reference.out:
            return FAULT, "exit 0 with another output"
        if ending.files != command.reference.files:
            return FAULT, "exit 0 with other files"
        return IDENTICAL, ""
    if ending.code != 1:
        return FAULT, f"exit {ending.code}"
    wrong = check_files(command, ending.files) or sentence(ending.err.decode(errors="replace"))
    if not wrong and not gaps and not command.reference.out.startswith(ending.out):
        wrong = "exit 1 after another output"
    return (FAULT, wrong) if wrong else (REFUSED, "")


# ---- Many runs ------------------------------------------------------------------------------

class Finding:
    """A fault: which command, which call was made to fail, and what was wrong."""

    def __init__(self, command, fault, why, err):
        self.key = (command.name, fault.get("CALL"), fault.get("KIND"), why.split(":")[0])
        settings = " ".join(f"FAULT_{k}={v}" for k, v in fault.items())
        self.text = f"{why}: {settings} LD_PRELOAD=fault.so {command}\n      " + \
            err.decode(errors="replace").strip()[-300:].replace("\n", "\n      ")


WORKER = {}


def start_worker(given, commands, root, sentence):
    directory = tempfile.mkdtemp(dir=root)
    WORKER.update(given=given, commands=commands, directory=directory, sentence=sentence)


def run_case(case):
    """case: (index of the command, fault); gives (outcome, finding or None)."""
    index, fault = case
    given, directory = WORKER["given"], WORKER["directory"]
    command = WORKER["commands"][index]
    for _ in range(2):     # a busy machine is not a hang: twice is
        write_files(directory, command.files)
        ending = run_command(given, command, directory, fault)
        if ending.code is not None:
            break
    outcome, why = judge(command, ending, lambda text: WORKER["sentence"](fault, text),
                         gaps=fault["CALL"] == "write")
    return outcome, Finding(command, fault, why, ending.err) if outcome == FAULT else None


class Tally:
    """Counts of outcomes, and the findings, a few of each kind."""

    def __init__(self, outcomes):
        self.counts = collections.Counter({name: 0 for name in outcomes})
        self.findings = collections.defaultdict(list)

    def add(self, outcome, finding=None):
        self.counts[outcome] += 1
        if finding:
            self.findings[finding.key].append(finding.text)

    def finish(self, note=""):
        """Prints findings and counts; gives the exit code."""
        for key, texts in sorted(self.findings.items(), key=str)[:SHOWN_KINDS]:
            print(f"  {len(texts):5} x {' '.join(str(k) for k in key if k)}")
            for text in texts[:SHOWN]:
                print(f"    {text}")
        total = sum(self.counts.values())
        parts = [f"{count} {name}" for name, count in self.counts.items()]
        print(f"{total} cases{note}: " + ", ".join(parts), flush=True)
        return 1 if self.counts[FAULT] else 0


def run_cases(given, commands, cases, root, tally, run, sentence=None):
    """Runs all cases, or as many as the time allows, into the tally; gives how many were left."""
    end = time.monotonic() + (1e9 if given.short else given.seconds)
    done = 0
    with multiprocessing.Pool(given.jobs, start_worker,
                              (given, commands, root, sentence)) as pool:
        for outcome, finding in pool.imap_unordered(run, cases):
            tally.add(outcome, finding)
            done += 1
            if time.monotonic() > end:
                pool.terminate()
                break
    return len(cases) - done


def run_faults(given, commands, cases, root, sentence):
    """Runs cases of (index of the command, fault) and judges each; gives the exit code."""
    print(f"{len(commands)} commands, {len(cases)} cases", flush=True)
    tally = Tally([IDENTICAL, REFUSED, FAULT])
    left = run_cases(given, commands, cases, root, tally, run_case, sentence)
    return tally.finish(f" ({left} left out)" if left else "")


def run_checks(given, checks):
    """checks: (name, function of no arguments that gives what is wrong, or None); the exit code."""
    tally = Tally([HELD, FAULT])
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for name, wrong in pool.map(lambda check: (check[0], check[1]()), checks):
            tally.add(FAULT if wrong else HELD)
            if wrong:
                tally.findings[name.split()[0],].append(f"{name}: {wrong}")
    return tally.finish()


def sample(count, few, draw):
    """1 .. count: the first and the last ones, and `few` with a stride in between."""
    if count <= 3 * few:
        return list(range(1, count + 1))
    stride = max(1, (count - 2 * few) // few)
    middle = range(few + 1 + draw.randrange(stride), count - few // 2, stride)
    return sorted({*range(1, few + 1), *middle, *range(count - few // 2, count + 1)})


class Room:
    """A directory for the workers, gone at the end."""

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix="quorum-campaign-")
        return self.root

    def __exit__(self, *what):
        shutil.rmtree(self.root, ignore_errors=True)
