"""Columns of dates in a data frame: seconds since 1970-01-01 UTC, as the library reads them from files; and
spans of time, numbers of seconds."""
import datetime

import numpy as np

from ._categories import _numbered


def _are_dates(column):
    """Whether a column of objects has dates of Python's alone, as databases return them."""
    cells = column.dropna()
    return len(cells) > 0 and all(isinstance(cell, datetime.date) for cell in cells)


def _from_objects(column):
    from pandas import to_datetime  # whose frame it is
    try:
        return to_datetime(column)
    except ValueError as error:
        raise ValueError(f"column {column.name}: these dates cannot be put together ({error})") from None


def _dates_of(column):
    """The column as datetime64, None where it has no dates."""
    kind = str(column.dtype)
    if kind.startswith("datetime64"):
        return column
    if kind.startswith("period"):
        return column.dt.to_timestamp()
    return _from_objects(column) if kind == "object" and _are_dates(column) else None


def _columns(X):
    """The data frame's columns of dates by place, as series of datetime64; none of anything else."""
    if not hasattr(X, "dtypes") or not hasattr(X, "iloc") or getattr(X, "ndim", 0) != 2:
        return {}
    found = {d: _dates_of(X.iloc[:, d]) for d in range(X.shape[1])}
    return {d: column for d, column in found.items() if column is not None}


def number_spans(X):
    """X with seconds in place of spans of time."""
    if not hasattr(X, "dtypes") or not hasattr(X, "iloc") or getattr(X, "ndim", 0) != 2:
        return X
    spans = {d: X.iloc[:, d].dt.total_seconds() for d in range(X.shape[1])
             if str(X.dtypes.iloc[d]).startswith("timedelta64")}
    return _numbered(X, spans) if spans else X


def _seconds(column):
    """NaN where a date is missing."""
    zone = getattr(column.dtype, "tz", None)
    times = column.dt.tz_convert("UTC").dt.tz_localize(None) if zone is not None else column
    times = times.to_numpy(dtype="datetime64[ns]")
    whole = times.astype("datetime64[s]")
    seconds = whole.astype("int64").astype(float)
    seconds += (times - whole).astype("int64") / 1e9
    return np.where(np.isnat(times), np.nan, seconds)


def number_dates(X):
    """X with seconds in place of dates, and the form of each column as a file would have it (None of
    others), or None where there are none."""
    columns = _columns(X)
    if not columns:
        return X, None
    forms = [None] * X.shape[1]
    for d, column in columns.items():
        forms[d] = "yyyy-mm-dd zone" if getattr(column.dtype, "tz", None) is not None else "yyyy-mm-dd"
    return _numbered(X, {d: _seconds(column) for d, column in columns.items()}), forms


def match_dates(X, forms):
    """X with seconds where the model has dates; numbers there are seconds already."""
    columns = _columns(X)
    for d in columns:
        if forms is None or d >= len(forms) or forms[d] is None:
            raise ValueError(f"column {X.columns[d]} has dates, and the model was fitted with other "
                             "values there")
    return _numbered(X, {d: _seconds(column) for d, column in columns.items()}) if columns else X
