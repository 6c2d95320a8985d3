"""Columns of text in a data frame: levels of categories, as the library numbers them."""
import numbers
import warnings

import numpy as np

from .exceptions import LevelWarning

NO_LEVEL = "(missing)"  # the level of a missing cell, as in files (missing="impute")
MOST_LEVELS = 10000  # of a category, as in files


def _columns(X):
    """The data frame's columns of text by place, as series; none of anything else."""
    if not hasattr(X, "dtypes") or not hasattr(X, "iloc") or getattr(X, "ndim", 0) != 2:
        return {}
    found = {}
    for d in range(X.shape[1]):
        column = X.iloc[:, d]
        kind = str(column.dtype)
        is_text = kind in ("category", "str") or kind.startswith("string") or (
            kind == "object" and any(isinstance(v, str) for v in column))
        if is_text:
            found[d] = column
    return found


def _text(value):
    """A level's name: of a number its shortest text, as in a file."""
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        return format(float(value), ".15g") if float(format(float(value), ".15g")) == value \
            else format(float(value), ".17g")
    return str(value)


def _texts(column, fill=False):
    """The texts of a column; None, or to fill it NO_LEVEL, where one is missing."""
    missing = column.isna().to_numpy()
    none = NO_LEVEL if fill else None
    return [none if gone else _text(value) for value, gone in zip(column, missing)]


def _numbered(X, codes):
    """The data frame with codes (by place) instead of its columns of text."""
    X = X.copy(deep=False)
    names = X.columns
    X.columns = range(X.shape[1])  # names may come twice
    for d, numbers_ in codes.items():
        X[d] = numbers_
    X.columns = names
    return X


def _is_identifier(column, count):
    """Whether a column of text has too many levels for a category, as in files; one that the frame calls a
    category is one, up to MOST_LEVELS."""
    if str(column.dtype) != "category":
        return count > MOST_LEVELS or 2 * count > len(column)
    if count > MOST_LEVELS:
        raise ValueError(f"column {column.name} has {count} levels, and a category has {MOST_LEVELS} at most: leave it out")
    return False


def number_levels(X, fill=False):
    """X with levels' numbers, and the levels of each input (None of a number), or None where all are
    numbers.  Missing cells become NaN, or to fill them a level.  A column in which nearly every row has a
    text of its own is left out: all its numbers are 0."""
    columns = _columns(X)
    levels, codes, left_out = [None] * X.shape[1] if columns else None, {}, []
    for d, column in columns.items():
        texts = _texts(column, fill)
        found = {t for t in texts if t is not None}
        if _is_identifier(column, len(found)):
            left_out.append(str(column.name))
            codes[d] = np.zeros(len(column))
            continue
        levels[d] = sorted(found, key=lambda t: t.encode())
        number = {text: float(k) for k, text in enumerate(levels[d])}
        codes[d] = np.array([number.get(t, np.nan) for t in texts])
    if left_out:
        warnings.warn("without effect, since nearly every row has a text of its own there: " + ", ".join(left_out),
                      LevelWarning, stacklevel=3)
    return (_numbered(X, codes) if codes else X), levels if any(levels or []) else None


def match_levels(X, levels, left_out, fill=False):
    """X with the numbers of these levels, -1 where a text is none of them; 0 in a column that may have
    been left out."""
    columns = _columns(X)
    if not hasattr(X, "iloc"):
        return X
    codes = {}
    for d in range(min(X.shape[1], len(levels))):
        if levels[d] is None:
            if d in columns and not left_out[d]:
                raise ValueError(f"column {X.columns[d]} is text, and the model was fitted with numbers there")
            if d in columns:
                codes[d] = np.zeros(len(X))
            continue
        number = {text: float(k) for k, text in enumerate(levels[d])}
        codes[d] = np.array([np.nan if t is None else number.get(t, -1.0) for t in _texts(X.iloc[:, d], fill)])
    return _numbered(X, codes) if codes else X
