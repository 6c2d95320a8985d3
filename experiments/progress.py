"""The progress line: cell, what the command is at, time left."""
import itertools
import sys
import time


def duration(seconds):
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Progress:
    """A line that is written over on a terminal, else one line a cell; nothing when quiet."""

    def __init__(self, title, quiet):
        self.title, self.quiet = title, quiet
        self.terminal = sys.stderr.isatty()

    def start(self, seconds):
        self.total, self.count = sum(seconds), len(seconds)
        self.numbers, self.ended = itertools.count(1), 0
        self.finished, self.began = 0.0, time.time()

    def left(self):
        """By the pace so far, against what was expected."""
        if self.finished == 0:
            return self.total
        return (self.total - self.finished) * (time.time() - self.began) / self.finished

    def show(self, number, name, stage):
        if self.quiet:
            return
        text = (f"{self.title} {number}/{self.count}  {name}"
                f"{'  ' + stage if stage else ''}  about {duration(self.left())} left")
        if self.terminal:
            sys.stderr.write(f"\r\033[K{text[:150]}")
        elif not stage:
            sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def follow(self, name, stderr):
        """Shows what the command says of its stage; returns all that it said.  Commands that run at
        the same time take turns on the line."""
        said, number = [], next(self.numbers)
        self.show(number, name, "")
        for line in stderr:
            said.append(line)
            self.show(number, name, line.strip().removeprefix("quorum ")[:80])
        return "".join(said)

    def done(self, seconds):
        self.finished += seconds
        self.ended += 1
        if self.terminal and not self.quiet and self.ended == self.count:
            sys.stderr.write("\r\033[K")
