"""Every allocation of whole commands fails in turn, alone or with all that come after it.

The command ends with exit code 1 and a sentence that says memory, or its output and files are
those of a run without a fault; files are old or new, whole, and nothing else is left behind.
"""
import random
import sys

import commands
import common


def check_sentence(fault, text):
    if "memory" not in text and not (fault["CALL"] == "thread" and "thread" in text):
        return "exit 1 without a word of memory"
    if "damaged" in text or "(null)" in text:
        return "exit 1 for a wrong reason"
    return None


def list_cases(given, tried, root):
    """(index of the command, fault) for all of them, or a sample, in a random order."""
    draw = random.Random(given.seed)
    cases = []
    for index, command in enumerate(tried):
        calls = common.count_calls(given, command, root)
        for call in ("memory", "thread"):
            chosen = common.sample(calls[call], 25, draw) if given.short else \
                range(1, calls[call] + 1)
            cases += [(index, {"CALL": call, "AT": k, "STICKY": sticky})
                      for k in chosen for sticky in (0, 1)]
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
