"""The paper's numbers, as data: published.csv, copied exactly."""
import csv
import os

# Cells that cannot be what was found: PoE and GPoE with equal weights have the same mean.
MISPRINTS = {("sarcos", "GPoE*", "smse"): "0.0038 is a misprint of PoE*'s 0.038"}

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published.csv")


def load():
    with open(PATH, newline="") as file:
        return list(csv.DictReader(file))


def numbers(rows, table, dataset, partition, M):
    """{method: {metric: text}} of one block of one table, in the paper's order."""
    block = {}
    for row in rows:
        if (row["table"], row["dataset"], row["partition"], row["M"]) == \
                (str(table), dataset, partition, str(M)):
            block.setdefault(row["method"], {})[row["metric"]] = row["value"]
    return block


def unique(rows, dataset):
    """{(partition, M, method, metric): [values]} of a data set: what tables repeat is one cell, with
    two values where they differ; misprints are left out."""
    cells = {}
    for row in rows:
        if row["dataset"] == dataset and (dataset, row["method"], row["metric"]) not in MISPRINTS:
            key = (row["partition"], row["M"], row["method"], row["metric"])
            found = cells.setdefault(key, [])
            if row["value"] not in found:
                found.append(row["value"])
    return cells


def near(ours, value, metric):
    """Within 5 %, or 0.05 of an MSLL."""
    return abs(ours - float(value)) <= max(0.05 * abs(float(value)),
                                           0.05 if metric == "msll" else 0.0)
