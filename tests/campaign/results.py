"""The counts of a campaign as CSV, with where they come from on top."""
import csv
import datetime
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], text=True,
                          capture_output=True)
    return done.stdout.strip() or "?"


def write(path, fields, rows):
    """The rows below comment lines with command, commit and date."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    words = [os.path.relpath(sys.argv[0], ROOT), *sys.argv[1:]]
    now = commit()  # before this file itself differs
    with open(path, "w", newline="") as file:
        file.write(f"# command: {' '.join(words)}\n# commit: {now}\n"
                   f"# date: {datetime.date.today()}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([fields, *rows])
