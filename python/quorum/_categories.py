"""Columns of text in a data frame: levels of categories, as the library numbers them."""
import numbers

import numpy as np

NO_LEVEL = "(missing)"  # the level of a missing cell, as in files (missing="impute")


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


def number_levels(X, fill=False):
    """X with levels' numbers, and the levels of each input (None of a number), or None where all are
    numbers.  Missing cells become NaN, or to fill them a level."""
    columns = _columns(X)
    if not columns:
        return X, None
    levels, codes = [None] * X.shape[1], {}
    for d, column in columns.items():
        texts = _texts(column, fill)
        levels[d] = sorted({t for t in texts if t is not None}, key=lambda t: t.encode())
        number = {text: float(k) for k, text in enumerate(levels[d])}
        codes[d] = np.array([number.get(t, np.nan) for t in texts])
    return _numbered(X, codes), levels


def match_levels(X, levels, fill=False):
    """X with the numbers of these levels, -1 where a text is none of them."""
    columns = _columns(X)
    if not hasattr(X, "iloc"):
        return X
    codes = {}
    for d in range(min(X.shape[1], len(levels))):
        if levels[d] is None:
            if d in columns:
                raise ValueError(f"column {X.columns[d]} is text, and the model was fitted with numbers there")
            continue
        number = {text: float(k) for k, text in enumerate(levels[d])}
        codes[d] = np.array([np.nan if t is None else number.get(t, -1.0) for t in _texts(X.iloc[:, d], fill)])
    return _numbered(X, codes)
