#!/usr/bin/env python3
"""How much of a model file an update leaves as it is: what a file that shares blocks with the old one could save, as committed CSV.

    bench/update_blocks.py [--quorum build/quorum] [--rows 100000 1000000] [--new 1 1000]

Rows are made as for bench/update.py.  Of the blocks of 4,096 bytes of the updated file, `same_place` is the share that the old file has
at the same offset, and `anywhere` the share that it has at any offset of whole blocks: a file system that shares blocks (FICLONERANGE)
can put these there without writing them, and no others.  `changed` are the bytes of new rows and of arrays that are not as they were:
what a file that is extended would have to take, its rows apart from the old ones.  And NumPy reads a model that has up to 65,535 bytes behind its
end, which is looked at first.  Writes results/update_blocks.csv.
"""
import argparse
import os
import sys
import tempfile

import numpy as np

from common import HERE, made, measured, write_csv

BLOCK = 4096
BEHIND = 65535 # bytes that a zip archive's end record may be followed by
FIELDS = ["rows", "partition", "new", "bytes", "same_place", "anywhere", "changed"]


def blocks(path):
    with open(path, "rb") as file:
        data = file.read()
    return [data[at:at + BLOCK] for at in range(0, len(data), BLOCK)]


def shares(old, new):
    """Of the new blocks: at the same place in the old file, and anywhere in it."""
    known = set(old)
    same = sum(a == b for a, b in zip(old, new))
    return same / len(new), sum(block in known for block in new) / len(new)


def changed_bytes(old, new, count):
    """Of arrays with a number or more for each row the new ones, of others all where anything changed."""
    with np.load(old) as a, np.load(new) as b:
        arrays = {name: np.atleast_1d(b[name]) for name in b.files if not name.endswith(".json")}
        rows = sum(values[count:].nbytes for values in arrays.values())
        rest = sum(values.nbytes for name, values in arrays.items()
                   if len(values) <= count and not (name in a.files and np.array_equal(np.atleast_1d(a[name]), values)))
    return rows + rest


def check_bytes_behind(model, longer):
    """Whether NumPy finds the archive while something is being written behind it."""
    with open(model, "rb") as file, open(longer, "wb") as out:
        out.write(file.read() + bytes(BEHIND))
    with np.load(model) as a, np.load(longer) as b:
        if not np.array_equal(a["y"], b["y"]):
            sys.exit("NumPy does not read a model with bytes behind its end")


def measure(args, count, partition):
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        table, model, after = (os.path.join(folder, name) for name in ("old.npy", "model.npz", "after.npz"))
        np.save(table, made(rng, count))
        measured([args.quorum, "fit", table, "-o", model, "--quiet", "--kernel", "matern32", "--theta", "1,1,0.1", "--partition", partition])
        old = blocks(model)
        check_bytes_behind(model, after)
        for new in args.new:
            np.save(table, made(rng, new))
            measured([args.quorum, "update", model, table, "-o", after, "--quiet"])
            same, anywhere = shares(old, blocks(after))
            yield {"rows": count, "partition": partition, "new": new, "bytes": os.path.getsize(after), "same_place": round(same, 4),
                   "anywhere": round(anywhere, 4), "changed": changed_bytes(model, after, count)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quorum", default=os.path.join(HERE, "..", "build", "quorum"))
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--new", type=int, nargs="+", default=[1, 1000])
    parser.add_argument("--folder", help="where files are made; the system's temporary folder")
    parser.add_argument("--output", default=os.path.join(HERE, "results", "update_blocks.csv"))
    args = parser.parse_args()
    rows = (row for count in args.rows for partition in ("kdtree", "random") for row in measure(args, count, partition))
    write_csv(args.output, "bench/update_blocks.py", args.quorum, FIELDS, rows)


if __name__ == "__main__":
    main()
