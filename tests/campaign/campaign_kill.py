"""kill -9 before every call that reads or writes, and at random times.

Afterwards each file is the old one or the new one, whole.  The same command again ends as if
nothing had happened: the same output, the same files bit for bit (a fit with --checkpoint has gone
on from there), and nothing is left behind.
"""
import random
import subprocess
import sys
import time

import commands
import common

CALLS = ["open", "read", "write", "fsync", "rename", "link", "close", "truncate", "chmod"]
OLD, NEW, CLEANED = "old", "new", "cleaned up by the next"
STATE = "state"          # the checkpoint, whose contents change with each evaluation


def make_commands(given, root):
    old = commands.fit_model(given, root, *commands.QUICK, "--kernel", "matern32")
    table = common.make_table(200, seed=3)
    train = {"train.csv": table}
    fit = ["fit", "train.csv", "-o", "model.npz", "--kernel", "se", "--threads", "2"]
    predict = ["predict", "model.npz", "train.csv", "-o", "out.csv", "--threads", "2"]
    tried = [
        common.Command("fit", fit, {**train, "model.npz": old}),
        common.Command("fit anew", fit + ["--calibrate"], train),
        common.Command("predict -o", predict, {**train, "model.npz": old, "out.csv": b"old\n"}),
        common.Command("predict -o anew", predict, {**train, "model.npz": old}),
        common.Command("fit --checkpoint", fit + ["--checkpoint", STATE],
                       {**train, "model.npz": old}),
    ]
    return [c for c in tried if given.only in c.name]


def list_cases(given, tried, root):
    """Kills before a call: {"CALL": ..., "AT": k}; at a time: {"TIME": share of the whole}."""
    draw = random.Random(given.seed)
    cases = []
    for index, command in enumerate(tried):
        start = time.monotonic()
        calls = common.count_calls(given, command, root)
        command.seconds = time.monotonic() - start
        for call in CALLS:
            chosen = common.sample(calls[call], 4, draw) if given.short else \
                range(1, calls[call] + 1)
            cases += [(index, {"CALL": call, "AT": k, "KIND": "kill"}) for k in chosen]
        times = 12 if given.short else 400
        cases += [(index, {"TIME": draw.random()}) for _ in range(times)]
    draw.shuffle(cases)
    return cases


def kill_after(given, command, directory, seconds):
    """Runs the command and kills it then; true: it was killed."""
    environment = common.fault_environment(given, directory, {"CALL": "memory", "AT": 0})
    child = subprocess.Popen([given.quorum, *command.arguments], cwd=directory, env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    child.kill()
    return child.wait() < 0


def kill_command(given, command, directory, fault):
    """Kills it as the fault says; gives the files that are there then."""
    common.write_files(directory, command.files)
    if "TIME" in fault:
        kill_after(given, command, directory, fault["TIME"] * command.seconds)
        return common.read_files(directory)
    return common.run_command(given, command, directory, fault, 60).files


def judge_files(command, files):
    """(outcome, why) of the files after the kill."""
    known = {**command.files, **command.reference.files}
    extra = [name for name in files if name not in known and name != STATE]
    broken = [name for name in files if name in known and
              not common.is_whole(command, name, files[name])]
    lost = [name for name in command.files if name not in files]
    if broken or lost:
        return common.FAULT, f"{(broken + lost)[0]} is broken or gone"
    if len(extra) > 1:
        return common.FAULT, f"litter: {extra}"
    whole = all(files.get(name) == data for name, data in command.reference.files.items())
    return (CLEANED if extra else NEW if whole else OLD), ""


def judge_again(given, command, directory):
    """What is wrong after the same command once more; None: nothing."""
    ending = common.run_command(given, command, directory, {"CALL": "memory", "AT": 0}, 60)
    extra = [name for name in ending.files if name not in command.reference.files]
    if ending.code != 0:
        return f"exit {ending.code} when started again", ending.err
    if extra:
        return f"left behind for ever: {extra}", ending.err
    if ending.files != command.reference.files or ending.out != command.reference.out:
        return "another result when started again", ending.err
    return None, b""


def run_case(case):
    index, fault = case
    given, directory = common.WORKER["given"], common.WORKER["directory"]
    command = common.WORKER["commands"][index]
    outcome, why = judge_files(command, kill_command(given, command, directory, fault))
    err = b""
    if not why:
        why, err = judge_again(given, command, directory)
    if why:
        return common.FAULT, common.Finding(command, fault, why, err)
    return outcome, None


def main():
    given = common.read_arguments(__doc__)
    with common.Room() as root:
        tried = make_commands(given, root)
        cases = list_cases(given, tried, root)
        print(f"{len(tried)} commands, {len(cases)} kills", flush=True)
        tally = common.Tally([OLD, NEW, CLEANED, common.FAULT])
        left = common.run_cases(given, tried, cases, root, tally, run_case)
    return tally.finish(f" ({left} left out)" if left else "")


if __name__ == "__main__":
    sys.exit(main())
