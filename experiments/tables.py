"""Tidy rows: picking, averaging over seeds, CSV."""
import csv
import math
from typing import NamedTuple


class Stat(NamedTuple):
    """Mean and standard deviation over seeds."""
    mean: float
    spread: float
    count: int


def same(left, right):
    """Whether a cell of a row is what is wanted: 1, 1.0 and '1' are the same."""
    return str(left) == str(right) or (isinstance(right, (int, float)) and plain(left) == right)


def plain(text):
    try:
        return float(text)
    except ValueError:
        return None


def pick(rows, **wanted):
    """Rows with these values; a column that a row lacks counts as empty."""
    wanted.setdefault("variant", "")
    return [r for r in rows if all(same(r.get(k, ""), v) for k, v in wanted.items())]


def values(rows, column):
    return sorted({r[column] for r in rows if column in r})


def stat(rows, metric):
    """None without rows."""
    numbers = [float(r[metric]) for r in rows]
    if not numbers:
        return None
    mean = sum(numbers) / len(numbers)
    if len(numbers) < 2:
        return Stat(mean, 0.0, len(numbers))
    return Stat(mean, math.sqrt(sum((v - mean)**2 for v in numbers) / (len(numbers) - 1)),
                len(numbers))


def minus(text):
    return text.replace("-", "\N{MINUS SIGN}")


def number(value, digits):
    return minus(f"{value:.{digits}f}")


def show(s, digits):
    """0.0481 ± 0.0002; nothing for None."""
    if s is None:
        return ""
    return number(s.mean, digits) + (f" ± {s.spread:.{digits}f}" if s.count > 1 else "")


def signed(value, digits):
    return minus(f"{value:+.{digits}f}")


def write_csv(path, columns, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore",
                                lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))
