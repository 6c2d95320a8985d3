"""Every call that reads or writes fails in turn: EIO, ENOSPC, EINTR, short transfers.

What can be tried again is: after EINTR and short transfers the output and files are those of a
run without a fault (but for EINTR on standard output, which stdio does not try again and which no
signal of this program causes).  EIO and ENOSPC give the same, or exit code 1 with a sentence;
files are old or new, whole, and nothing else is left behind.
"""
import random
import sys

import commands
import common

KINDS = {"open": ["EIO", "ENOSPC", "EINTR"], "read": ["EIO", "EINTR", "short"],
         "write": ["EIO", "ENOSPC", "EINTR", "short"], "fsync": ["EIO", "ENOSPC", "EINTR"],
         "rename": ["EIO", "ENOSPC"], "link": ["EIO", "ENOSPC"], "close": ["EIO", "ENOSPC", "EINTR"],
         "truncate": ["EIO", "EINTR"], "chmod": ["EIO"], "seek": ["EIO"], "stat": ["EIO"]}


def check_sentence(fault, text):
    if fault["KIND"] in ("EINTR", "short") and "standard output" not in text:
        return f"{fault['KIND']} is not tried again"
    if "quorum" not in text:
        return "exit 1 without a sentence"
    return "exit 1 for a wrong reason" if "memory" in text or "(null)" in text else None


def list_cases(given, tried, root):
    """(index of the command, fault) for all of them, or a sample, in a random order."""
    draw = random.Random(given.seed)
    cases = []
    for index, command in enumerate(tried):
        calls = common.count_calls(given, command, root)
        for call, kinds in KINDS.items():
            chosen = common.sample(calls[call], 3, draw) if given.short else \
                range(1, calls[call] + 1)
            cases += [(index, {"CALL": call, "AT": k, "KIND": kind, "STICKY": sticky})
                      for k in chosen for kind in kinds for sticky in (0, 1)]
    draw.shuffle(cases)
    return cases


def main():
    given = common.read_arguments(__doc__)
    with common.Room() as root:
        tried = commands.make_commands(given, root)
        cases = list_cases(given, tried, root)
        return common.run_faults(given, tried, cases, root, check_sentence)


if __name__ == "__main__":
    sys.exit(main())
