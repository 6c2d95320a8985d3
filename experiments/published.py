"""The paper's numbers, as data: published.csv, copied exactly."""
import csv
import os

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
