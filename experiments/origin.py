"""Where a number comes from: version, commit, machine, date."""
import datetime
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def version(quorum):
    done = subprocess.run([quorum, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[0]


def git(*words):
    done = subprocess.run(["git", "-C", HERE, *words], capture_output=True, text=True)
    return done.stdout.strip()


def commit():
    """Of the source tree that holds the experiments; results do not make it dirty."""
    name = git("rev-parse", "--short", "HEAD")
    dirty = name and git("status", "--porcelain", "--", ":/", ":!/experiments/results")
    return f"{name}{'-dirty' if dirty else ''}" if name else "not in a source tree"


def machine():
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":")[1].strip() for line in info
                      if line.startswith("model name")), "unknown processor")
    return f"{model}, {os.cpu_count()} processors"


def today():
    return str(datetime.date.today())
