"""Section 4.2.2: Song (YearPredictionMSD), 150 experts.

The official file has the year first and then 90 features; its first 463,715 rows are for training,
of which the paper takes the first 100,000, and its last 51,630 for testing."""
import gzip
import io
import os
import zipfile

import numpy as np

from cells import WORK
from large import independent, local, npae_star, own_default, paper_fit, tables, times
from report import closeness

EXPERTS = 150
FEATURES = 90
TRAIN, TAKEN, TEST = 463_715, 100_000, 51_630
ALPHA = 0.1     # of NPAE*
PENALTY = "rel:0.1"
FILES = tuple("YearPredictionMSD.txt" + end for end in ("", ".gz", ".zip"))
TITLE = "Song, 150 experts (section 4.2.2 and appendix)"


# ---- The official file -------------------------------------------------------------------------


def find(folder):
    """The official file, as it is or packed."""
    for name in FILES:
        for path in (os.path.join(folder, name), os.path.join(folder, "song", name)):
            if os.path.exists(path):
                return path
    raise SystemExit(f"quorum reproduce: none of {', '.join(FILES)} is in {folder} or its folder "
                     "song; it is UCI's data set YearPredictionMSD")


def opened(path):
    if path.endswith(".gz"):
        return gzip.open(path, "rt")
    if path.endswith(".zip"):
        archive = zipfile.ZipFile(path)
        inside = [n for n in archive.namelist() if n.endswith(".txt")]
        if len(inside) != 1:
            raise SystemExit(f"quorum reproduce: {path} should hold one .txt file, not {inside}")
        return io.TextIOWrapper(archive.open(inside[0]))
    return open(path)


def row_of(path, number, line):
    """Year and features of one line, checked."""
    cells = line.split(",")
    if len(cells) != FEATURES + 1:
        raise SystemExit(f"quorum reproduce: {path}, line {number}: {len(cells)} columns, but the "
                         f"year and {FEATURES} features make {FEATURES + 1}")
    try:
        row = [float(c) for c in cells]
    except ValueError:
        raise SystemExit(f"quorum reproduce: {path}, line {number}: not all cells are numbers")
    if not 1900 <= row[0] <= 2030:
        raise SystemExit(f"quorum reproduce: {path}, line {number}: the first column should be a "
                         f"year, not {cells[0]}")
    return row


def load(path, train=TRAIN, taken=TAKEN, test=TEST):
    """Training and test rows, features first and the year last."""
    first, last, count = [], [], 0
    with opened(path) as file:
        for count, line in enumerate(file, 1):
            if count <= taken:
                first.append(row_of(path, count, line))
            elif count > train:
                last.append(row_of(path, count, line))
    if count != train + test:
        raise SystemExit(f"quorum reproduce: {path} has {count} rows; the official file has "
                         f"{train + test}: {train} for training, then {test} for testing")
    return [np.roll(np.array(rows), -1, axis=1) for rows in (first, last)]


def files(setup):
    """The two made files, as .npy."""
    words = [f"{WORK}/data/song-{part}.npy" for part in ("train", "test")]
    paths = [os.path.join(setup.folder, word) for word in words]
    if not all(map(os.path.exists, paths)):
        os.makedirs(os.path.dirname(paths[0]), exist_ok=True)
        limits = (setup.quick_rows, setup.quick_rows // 5) if setup.quick else (None, None)
        for path, rows, limit in zip(paths, load(find(setup.data)), limits):
            np.save(path, rows[:limit])
    return words


# ---- What to run and the page ------------------------------------------------------------------


def experts(setup):
    return 12 if setup.quick else EXPERTS


def plan(setup):
    train, test = files(setup)
    cells = []
    for seed in setup.seeds:
        model = paper_fit(f"seed{seed}", "song", train, seed, experts(setup), PENALTY, seconds=600)
        cells += [model, independent(model, test, seconds=1500),
                  npae_star(model, test, ALPHA, seconds=200), local(model, test)]
        cells += own_default("song", train, test, seed)
    return cells


def report(book):
    M = experts(book.setup)
    book.page.text(
        "The first 100,000 training rows with 90 features, 51,630 test rows, the year as target; "
        "K-means, λ = 0.1 of the largest covariance between two experts, α = 0.8, but 0.1 for "
        "NPAE*; the graph learned on the test inputs. Independent rules in observed space, as in "
        "the paper.")
    closeness(book)
    book.page.heading("Tables 2 and 5")
    tables(book, "song", M, EXPERTS)
    book.page.heading("Running time (figure in the appendix)")
    times(book, "song", M, "times.svg", "Song")


def explain(book):
    book.page.text(
        "λ = 0.1 itself may leave no edge in standardised units, as on Protein; hence the "
        "relative penalty.")
