"""What to run, and what came out: a cell is one `quorum` command.

An experiment is a list of cells.  cells.json in its folder has a line for each finished one: the
command, what it printed and a key: a hash of the command, of the data it reads, of quorum's version
and of the fit behind it.  A cell that is there with the right key is not run again, so an
interrupted run goes on where it stopped.

Cells whose seconds are looked at have the machine to themselves, one after the other.  The others
come before them, two at a time with half of the threads each (side_by_side.py): a number does not
depend on threads, and no processor waits for the parts of a fit that one thread does alone.
"""
import csv
import hashlib
import json
import math
import os
import re
import threading
import time
from dataclasses import dataclass, field

import origin
import side_by_side

# The paper's way: parts by raw inputs, hyperparameters trained on those parts, the graph learned in
# the fit.
PAPER = ("--kernel", "se", "--partition-metric", "input", "--train", "parts", "--graph", "glasso")
TOGETHER = 2   # cells that run at a time, where nobody looks at their seconds
WORK = "work"  # below the experiment's folder: made data, models, predictions


@dataclass(frozen=True)
class Cell:
    name: str                # "M20 kmeans seed1: npae", unique in its experiment
    words: tuple             # what follows `quorum`; $DATA stands for --data, $THETA*F for the
                             # hyperparameters that `after` found, its noise variance times F
    about: dict = field(default_factory=dict)  # data, partition, M, seed, ...: columns of the CSV
    after: "Cell" = None     # the fit whose model or theta it uses
    seconds: float = 1.0     # a guess, for the time left
    timed: bool = False      # its seconds are looked at: nothing else runs beside it
    keep: tuple = ()         # of a prediction: the columns to keep
    score: object = None     # of a prediction: what to keep instead, a function of its columns


def slug(name):
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def model_of(fit):
    return f"{WORK}/{slug(fit.name)}.npz"


def fit(name, train, about, *options, seconds=5.0):
    words = ("fit", train, "-o", f"{WORK}/{slug(name)}.npz", "--json", "--seed",
             str(about["seed"]), *options)
    return Cell(name, words, about, seconds=seconds)


def fit_again(model, name, train, about, *options, factor=1.0, seconds=5.0):
    """Another fit with the model's theta, its noise variance times a factor."""
    cell = fit(name, train, about, "--theta", f"$THETA*{factor}", *options, seconds=seconds)
    return Cell(cell.name, cell.words, cell.about, model, seconds)


def fit_with_noise(model, factor, train, about, *options, seconds=5.0):
    return fit_again(model, f"{model.name} noise {factor}", train, about, *options, factor=factor,
                     seconds=seconds)


def evaluate(model, what, test, *options, seconds=2.0, timed=True, **about):
    words = ("evaluate", model_of(model), test, "--json", *options)
    return Cell(f"{model.name}: {what}", words, {**model.about, **about}, model, seconds, timed)


def predict(model, what, queries, keep, *options, seconds=2.0, score=None, **about):
    """A prediction, of which columns are kept, or `score` of these columns as arrays."""
    name = f"{model.name}: {what}"
    words = ("predict", model_of(model), queries, "-o", f"{WORK}/{slug(name)}.csv", *options)
    return Cell(name, words, {**model.about, **about}, model, seconds, keep=tuple(keep),
                score=score)


def graph(model, test, *options, seconds=2.0):
    name = f"{model.name}: graph"
    words = ("graph", model_of(model), "-o", f"{WORK}/{slug(name)}.json", "--test", test, *options)
    return Cell(name, words, model.about, model, seconds)


def read_columns(path, names):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(f"{float(row[name]):.6g}") for row in rows] for name in names}


def output_of(cell, stdout, folder):
    """What a finished command has to say: its JSON, or the file that it wrote."""
    if cell.words[0] in ("fit", "evaluate"):
        return json.loads(stdout)
    path = os.path.join(folder, cell.words[cell.words.index("-o") + 1])
    if path.endswith(".csv"):
        columns = read_columns(path, cell.keep)
        return cell.score(columns) if cell.score else columns
    with open(path) as file:
        return json.load(file)


class Finished:
    """The finished cells of an experiment by name, in a file that is replaced after every one."""

    def __init__(self, path):
        self.path = path
        self.cells = self.read()

    def read(self):
        try:
            with open(self.path) as file:
                return {cell["name"]: cell for cell in json.load(file)}
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError) as error:
            raise SystemExit(f"quorum reproduce: {self.path} is not a list of finished cells; "
                             "remove it to run them all again") from error

    def add(self, cell):
        self.cells = {**self.read(), cell["name"]: cell}  # what others have added meanwhile stays
        lines = [json.dumps(self.cells[name], separators=(",", ":"))
                 for name in sorted(self.cells, key=slug)]
        with open(self.path + ".part", "w") as file:
            file.write("[\n" + ",\n".join(lines) + "\n]\n")
        os.replace(self.path + ".part", self.path)


class Runner:
    """Runs the cells of one experiment in its folder."""

    def __init__(self, quorum, folder, data, again, progress, stored=False):
        """again: run cells anew whose name contains it; stored: run
        nothing, and trust what is there by its name."""
        self.quorum, self.folder, self.data = quorum, folder, data
        self.again, self.progress, self.stored = again, progress, stored
        self.hashes = {}
        self.ran = 0
        self.storing = threading.Lock()
        self.version = origin.version(quorum)
        self.origin = {"version": self.version, "commit": origin.commit(),
                       "machine": origin.machine(), "date": origin.today()}
        os.makedirs(os.path.join(folder, WORK), exist_ok=True)
        self.store = Finished(os.path.join(folder, "cells.json"))

    def real(self, word, cell=None):
        if cell and word.startswith("$THETA*"):
            return self.theta(cell.after, float(word.removeprefix("$THETA*")))
        return word.replace("$DATA", self.data or "")

    def theta(self, model, factor):
        found = self.finished(model)["result"]
        return ",".join(map(repr, [*found["lengthscale"], found["signal_variance"],
                                   factor * found["noise_variance"]]))

    def path(self, word):
        return os.path.join(self.folder, self.real(word))

    def hash_of(self, word):
        if word not in self.hashes:
            with open(self.path(word), "rb") as file:
                self.hashes[word] = hashlib.file_digest(file, "sha256").hexdigest()
        return self.hashes[word]

    def key(self, cell):
        data = [self.hash_of(w) for w in cell.words
                if w.startswith("$DATA/") or w.startswith(f"{WORK}/data/")]
        parts = [cell.words, data, self.version, self.key(cell.after) if cell.after else ""]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def finished(self, cell):
        """What is stored of the cell, if it is of this very cell; else None."""
        if self.again and self.again in cell.name:
            return None
        stored = self.store.cells.get(cell.name)
        if not stored or "result" not in stored:
            return None
        return stored if self.stored or stored.get("key") == self.key(cell) else None

    def unfinished(self, cells):
        """Cells to run, among them fits whose models are needed and gone."""
        todo = {c.name for c in cells if self.finished(c) is None}
        wanted = {c.after.name for c in cells if c.name in todo and c.after and not
                  os.path.exists(os.path.join(self.folder, model_of(c.after)))}
        return [c for c in cells if c.name in todo | wanted]

    def run(self, cells):
        """What is stored of the cells, by name.  Fits come before what uses them."""
        assert len({slug(c.name) for c in cells}) == len(cells), "two cells of one name"
        if self.stored:
            return {c.name: self.finished(c) for c in cells if self.finished(c)}
        todo = self.unfinished(cells)
        self.again = None  # what is run from here on is finished
        self.progress.start([c.seconds for c in todo])
        side_by_side.run([c for c in todo if not c.timed], self.run_cell, TOGETHER)
        side_by_side.run([c for c in todo if c.timed], self.run_cell, 1)
        return {c.name: self.finished(c) for c in cells}

    def run_cell(self, cell, threads, children):
        command = [self.quorum, *(self.real(word, cell) for word in cell.words)]
        started = time.time()
        with children.begin(command, self.folder, threads) as child:
            said = self.progress.follow(cell.name, child.stderr)
            stdout = child.stdout.read()
        if child.returncode != 0:
            raise SystemExit(f"\nquorum reproduce: {cell.name}: {' '.join(command)}\n{said}")
        seconds = round(time.time() - started, 2)
        result = output_of(cell, stdout, self.folder)
        with self.storing:
            self.ran += 1
            self.store.add({"name": cell.name, "command": "quorum " + " ".join(cell.words),
                            "key": self.key(cell), **self.origin, "threads": threads,
                            "wall_seconds": seconds, "result": result})
            self.progress.done(cell.seconds)


def scores(cells, results):
    """Tidy rows: one for each method of each evaluation; no seconds of what ran beside others."""
    for cell in cells:
        if cell.words[0] != "evaluate":
            continue
        for r in results[cell.name]:
            # older cells have npae, auto for what is nearest now
            by_itself = r["select"] == "auto" and r["method"] not in ("nearest", "npae")
            yield {**cell.about, "method": r["method"].rstrip("*"),
                   "select": "all" if by_itself else r["select"],
                   "space": r["space"], "smse": r["smse"], "msll": r["msll"], "mae": r["mae"],
                   "coverage95": r["coverage"]["95"], "coverage99": r["coverage"]["99"],
                   "experts_used": r["experts_used"],
                   "seconds": r["seconds"] if cell.timed else "", "cell": cell.name}


def fits(cells, results):
    """Tidy rows: one for each fit."""
    for cell in cells:
        if cell.words[0] == "fit":
            r = results[cell.name]
            yield {**cell.about, "kernel": r["kernel"], "smallest": r["smallest"],
                   "largest": r["largest"], "evaluations": r["evaluations"], "nlml": r["nlml"],
                   "signal_variance": r["signal_variance"], "noise_variance": r["noise_variance"],
                   "edges": r["edges"], "lambda": r["lambda"],
                   "fit_seconds": r["seconds"]["total"], "cell": cell.name}


def share(alpha, experts):
    """How many experts a share alpha is."""
    return max(1, math.ceil(alpha * experts - 1e-9))
