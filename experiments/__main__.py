"""Runs one of the paper's experiments and writes its page.  Started by `quorum reproduce`."""
import argparse
import importlib
import os
import re
import resource
import shutil
import sys
import time
from dataclasses import dataclass

try:
    import numpy  # noqa: F401
except ImportError:
    sys.exit("quorum reproduce: NumPy is missing: apt install python3-numpy")

import report
from cells import Runner
from progress import Progress

NAMES = ("synthetic", "consistency", "pumadyn", "protein", "sarcos", "song", "committee")


@dataclass
class Setup:
    """What an experiment may want to know."""
    name: str
    data: str      # directory of the data sets, or None
    folder: str    # of this experiment's results
    seeds: list
    quick: bool
    quick_rows: int = 2000


def seed_list(text):
    """1..5 and 1,4,7, also mixed."""
    seeds = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", part.strip())
        if not match:
            raise argparse.ArgumentTypeError(f"'{text}' is not a list of seeds such as 1..5 or 1,4")
        first, last = int(match[1]), int(match[2] or match[1])
        seeds += range(first, last + 1)
    return sorted(set(seeds))


class Parser(argparse.ArgumentParser):
    """Complains as the other commands do."""

    def error(self, message):
        print(f"quorum reproduce: {message.removeprefix('argument ')}; try 'quorum reproduce "
              "--help'", file=sys.stderr)
        sys.exit(2)


def arguments():
    parser = Parser(prog="quorum reproduce")
    parser.add_argument("experiment", choices=(*NAMES, "all"))
    parser.add_argument("--data")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seeds", type=seed_list)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again")
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args()


def processor_seconds():
    """Of this program and of the commands that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def reproduce(name, args):
    began, used = time.time(), processor_seconds()
    folder = os.path.abspath(os.path.join(args.out, name + ("-quick" if args.quick else "")))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        sys.exit(f"quorum reproduce: {folder} cannot be made: {error.strerror}")
    data = args.data and os.path.abspath(args.data)
    seeds = args.seeds or ([1] if args.quick else [1, 2, 3])
    setup = Setup(name, data, folder, seeds, args.quick)
    experiment = importlib.import_module(name)
    cells = experiment.plan(setup)
    quorum = os.environ.get("QUORUM") or shutil.which("quorum")
    runner = Runner(quorum, folder, data, args.again, Progress(name, args.quiet), args.stored)
    finished = runner.run(cells)
    path = report.write(experiment, setup, cells, finished)
    missing = f", {len(cells) - len(finished)} missing" if len(finished) < len(cells) else ""
    minutes = (f" in {(time.time() - began) / 60:.1f} minutes; "
               f"{(processor_seconds() - used) / 60:.1f} processor minutes" if runner.ran else "")
    print(f"{path}  ({runner.ran} of {len(cells)} cells run{minutes}{missing})")


def main():
    args = arguments()
    if args.experiment != "all":
        return reproduce(args.experiment, args)
    stopped = []
    for name in NAMES:
        try:
            reproduce(name, args)
        except SystemExit as stop:
            print(stop, file=sys.stderr)
            stopped.append(name)
    if stopped:
        sys.exit(f"quorum reproduce: without {', '.join(stopped)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\nquorum reproduce: stopped; the same command goes on from here", file=sys.stderr)
        sys.exit(130)
