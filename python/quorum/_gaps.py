"""Gaps of a map of rows: places without a row though there are some around, as on the page of `quorum report`.

The frame, from the OUTERMOST share of the rows to the same at the other end along either axis, is cut into across x across
cells of ROWS_A_CELL rows on average.  A cell without a row is a gap where there are some on both sides of it along an axis,
and the two nearest cells that have some there have ENOUGH on average: of as many rows a cell would be empty by chance once
in exp(ENOUGH) times.  Along an axis of few values, such as whole numbers or the levels of a category, nothing is between
two of them.
"""
import numpy as np

ROWS_A_CELL, FEWEST_ACROSS, MOST_ACROSS, VALUES_A_CELL = 10, 4, 24, 4
OUTERMOST, ENOUGH = 0.005, 5.0


def _counts(places, low, step, across):
    """Rows of each cell, across x across, by x and y."""
    cell = np.floor((places - low) / step).astype(int)
    cell = cell[((cell >= 0) & (cell < across)).all(axis=1)]
    return np.bincount(cell[:, 0] * across + cell[:, 1], minlength=across * across).reshape(across, across)


def _before(counts):
    """Rows of the nearest cell with smaller x that has some, for each cell; 0: none."""
    found = np.zeros_like(counts)
    for x in range(1, len(counts)):
        found[x] = np.where(counts[x - 1] > 0, counts[x - 1], found[x - 1])
    return found


def _between(counts):
    """Cells that lie between two along x that have enough rows."""
    before, behind = _before(counts), _before(counts[::-1])[::-1]
    return (before > 0) & (behind > 0) & (before + behind >= 2 * ENOUGH)


def find_gaps(places):
    """The lower left corners of the cells that are gaps, count x 2, and the width and height of a cell.

    places: n x 2, rows with a missing value do not count; none where the rows are too few to tell, or all the same along
    an axis."""
    places = places[np.isfinite(places).all(axis=1)]
    across, away = min(int((len(places) / ROWS_A_CELL) ** 0.5), MOST_ACROSS), int(OUTERMOST * len(places))
    none = np.empty((0, 2)), np.zeros(2)
    if across < FEWEST_ACROSS:
        return none
    ordered = np.sort(places, axis=0)
    low, step = ordered[away], (ordered[len(places) - 1 - away] - ordered[away]) / across
    if not (step > 0).all():
        return none
    counts = _counts(places, low, step, across)
    dense = [len(np.unique(places[:, a])) >= VALUES_A_CELL * across for a in (0, 1)]
    empty = (counts == 0) & ((dense[0] & _between(counts)) | (dense[1] & _between(counts.T).T))
    return low + step * np.argwhere(empty), step
