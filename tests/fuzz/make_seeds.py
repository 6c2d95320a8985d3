"""First inputs for the harnesses: small tables, arrays, models, checkpoints and options.

    /usr/bin/python3 tests/fuzz/make_seeds.py build/quorum DIR

writes DIR/NAME/* for every harness.  tests/fuzz/minimise makes the committed corpora of these and of
whatever runs have found.
"""
import gzip
import io
import os
import pathlib
import subprocess
import sys
import zipfile

import numpy as np

TABLES = [
    b"a,b,y\n1,2,3\n2,3,4\n3,5,7\n", b"a;b;y\n1,5;2;3\n2;3,25;4\n", b"a\tb\ty\n1\t2\t3\n4\t5\t6\n",
    b"1 2 3\n4 5 6\n7 8 9\n", b"1,2,3\r\n4,5,6\r\n", b"1,2,3\r4,5,6\r", b"\xef\xbb\xbfa,b,y\n1,2,3\n4,5,6\n",
    b'"a","b","the ""y"""\n"1","2","3"\n1,"2,5",3\n', b"# said\n# more\na,b,y\n1,2,3\n",
    b"a,b,y\n1,,3\n2,NA,4\n3,nan,inf\n4,5,6\n", b"a,b,y\n1,2\n1,2,3,4\n\n1,2,3\n",
    b"Gr\xf6\xdfe,b,y\n1,2,3\n4,5,6\n", b"\xff\xfea\x00,\x00y\x00\n\x001\x00,\x002\x00\n\x00",
    b"a,b,y\n1e308,1e-308,5e-324\n-0,+1,.5\n0x1p3,1.,1e400\n", b"a,b,y\n\"1,234.5\",2,3\n\"6,000\",5,6\n",
    b"a;b;y\n1.234,5;2;3\n6.000,0;5;6\n", b"date,b,y\n2020-01-01,2,3\n2020-01-02,5,6\n", b"y\n1\n2\n",
    b"a,a,y\n1,2,3\n", b"a,,y\n1,2,3\n4,5,6\n", b"", b"\n\n\n", b"a,b,y\n", b"a,b,y\n1,2,3\x00\n4,5,6\n",
    b"a,b,y\n1,2,\"3\n4,5,6\n", b"a|b|y\n1|2|3\n4|5|6\n", b"y,b,a\n1,2,3\n4,5,6\n",
    b"a,b,y\n" + b"".join(b"%d,%d,%d\n" % (i, i * i % 7, i % 3) for i in range(40)),
    b"a,b,y\n1 000,2,3\n4 000,5,6\n", b"<html><body>\n", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"%PDF-1.4\n",
]
TEXTS = [
    '{"a": 1, "b": [1.5, -2e-3, 1e300], "c": {"d": null, "e": true, "f": false}}', "[]", "{}", '"text"', "0", "-0.0",
    '["\\u00e9\\ud83d\\ude00", "\\n\\t\\"\\\\\\/", "\\u0000"]', "[[[[[[[[1]]]]]]]]", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "1e400", "1e-400", "5e-324", "[1,]", '{"a":1,"a":2}', "nul", "[1 2]", "01", ".5", "1.", "+1",
    '"Gr\u00f6\u00dfe"', '{"format_version": 1, "columns": ["a", "y"], "options": {"kernel": "se"}}', " \n[ 1 ]\r\t", "[" * 70,
]
OPTIONS = [
    "experts=20\nkernel=matern32\n", "theta=1,2,0.1\n", "lambda=rel:0.5\nlambda=ebic\n", "select=graph:0.5+local:3\n",
    "method=npae*\nneighbours=64\n", "memory=4G\nthreads=2\nseed=9007199254740992\n", "interval=0.95\nlatent=true\n",
    "spread=none\nspread=3.5\n", "expert_size=1e3\ntolerance=1e-9\n", "header=no\nmissing=drop\ntarget=-1\nignore=a,b\n",
    "select=expert:3\nselect=worst:0.25\nselect=local:auto\nselect=best:1\nselect=none\n", "calibrate=yes\n",
    "memory=1.5M\nmemory=auto\nexperts=auto\n", "nothing=1\n=\n==\n", "interval=95\ninterval=nan\ninterval=1e999\n",
]
FITS = [
    ("--theta 1,1,0.1 --kernel se --experts 3", 2),
    ("--theta 1,1,0.1 --kernel matern12 --experts 2 --overlap 0.5", 1),
    ("--theta 1,1,0.1 --kernel matern32 --experts 2 --calibrate", 1),
    ("--theta 1,1,0.1 --kernel matern52 --experts 1 --spread 4", 1),
    ("--theta 0.3,1,0.1,0.6,5 --kernel matern32x2 --experts 2", 1),
    ("--theta 0.5,2,0.01 --kernel se --experts 4 --partition random --graph none", 1),
    ("--max-evaluations 5 --experts 3 --graph lasso --calibrate", 2),
    ("--theta 1,1,0.1 --kernel auto --experts 3 --partition kdtree --lambda ebic", 2),
    ("--metric linear --max-evaluations 5 --experts 2 --graph none", 2),
    ("--theta 1,1,0.1 --kernel se --experts 2 --warp log --calibrate", 1),
    ("--theta 1,1,0.1 --kernel se --experts 2 --spread 4 --weights b --noise-std c", 3),
]


def write(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def npy(array, fortran=False):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asfortranarray(array) if fortran else array, allow_pickle=False)
    return out.getvalue()


def archive(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in members.items():
            z.writestr(name, data)
    return out.getvalue()


def make_tables(folder):
    """The first bytes choose: header missing target ignore decimal thousands comment memory, then how."""
    for i, table in enumerate(TABLES):
        for k, how in enumerate([b"\0" * 9, bytes([0, 1, 0, 0, 0, 0, 0, 0, 24]), bytes([1, 1, 1, 1, 2, 2, 2, 1, 15])]):
            write(folder, f"table{i:02d}{'abc'[k]}", how + table)
    packed = gzip.compress(TABLES[0], mtime=0)
    for name, data in {"gz": packed, "twice": packed + packed, "cut": packed[:-5], "garbage": packed + b"junk",
                       "npy": npy(np.arange(12.0).reshape(4, 3))}.items():
        write(folder, name, b"\0" * 9 + data)


def make_arrays(folder):
    rows = np.arange(12.0).reshape(4, 3)
    for name, array in {"f8": rows, "big": rows.astype(">f8"), "f4": rows.astype("f4"), "i4": rows.astype("i4"),
                        "bool": rows > 3, "one": rows[0], "none": np.zeros(()), "u1": rows.astype("u1"),
                        "f2": rows.astype("f2"), "complex": rows.astype("c16"), "cube": rows.reshape(2, 2, 3),
                        "empty": np.zeros((0, 3)), "text": rows.astype("U3"), "long": rows.astype("g")}.items():
        write(folder, name + ".npy", npy(array))
        write(folder, name + ".npz", archive({"X.npy": npy(array)}))
    write(folder, "fortran.npy", npy(rows, fortran=True))
    both = {"X.npy": npy(rows), "y.npy": npy(rows[:, 0])}
    write(folder, "both.npz", archive(both))
    write(folder, "deflated.npz", archive(both, zipfile.ZIP_DEFLATED))
    write(folder, "more.npz", archive({**both, "meta.json": b"{}", "row.npy": npy(np.arange(4))}))


# Tables that are more than numbers, a row of text each of a number i, and the options of a fit to them.
TABLE_FITS = {
    "targets": ("a,kind,y,z,w", lambda i: f"{i % 7},{'uvw'[i % 3]},{i % 5},{i % 4 or 'NA'},{1 + i % 2}",
                "--theta 1,1,0.1 --kernel se --experts 2 --target y,z --weights w --missing drop"),
    "shared": ("a,y,z", lambda i: f"{i % 7},{i % 5},{i % 4}",
               "--theta 1,1,0.1 --kernel se --experts 2 --target y,z --share theta"),
    "levels": ("a,kind,y", lambda i: f"{i % 7},{'uvw'[i % 3]},{i % 5}", "--theta 1,1,0.1 --kernel se --experts 2"),
    "dates": ("when,y", lambda i: f"2020-01-{i + 1:02d},{i % 5}", "--theta 1,1,0.1 --kernel se --experts 2 --periodic when:week"),
    "place": ("lon,lat,y", lambda i: f"{20 * i},{5 * i % 80},{i % 5}", "--theta 1,1,0.1 --kernel se --experts 2 --lonlat lon,lat"),
    "bent": ("a,b,y", lambda i: f"{i if i < 13 else 1000},{i % 3},{i % 5}",
             "--theta 1,1,1,0.1 --kernel se --experts 2 --input-warp asinh"),
    "all": ("when,kind,w,y", lambda i: f"2020-01-{i + 1:02d},{'uv'[i % 2]},{i % 4},{1 + i % 5}",
            "--theta 1,1,0.1 --kernel se --experts 2 --periodic when:week --weights w --spread 4 --warp log"),
}


def make_models(quorum, folder):
    rng = np.random.default_rng(3)
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "table.csv"
    for name, (header, row, options) in TABLE_FITS.items():
        table.write_text("\n".join([header, *map(row, range(14))]) + "\n")
        subprocess.run([quorum, "fit", table, "-q", "-o", folder / f"{name}.npz", "--min-size", "1", *options.split()], check=True)
    for i, (options, inputs) in enumerate(FITS):
        rows = 100 if "--metric" in options else 40 if "--calibrate" in options else 14
        X = rng.uniform(0, 5, (rows, inputs)).round(2)
        y = np.sin(X[:, 0]).round(3) + (2 if "--warp" in options else 0)
        np.savetxt(table, np.column_stack([X, y]), delimiter=",",
                   header=",".join("abcdefg"[:inputs] + "y"), comments="", fmt="%g")
        subprocess.run([quorum, "fit", table, "-q", "-o", folder / f"model{i}.npz", "--min-size", "1", "--graph-rows", "4",
                        *options.split()], check=True)
    table.unlink()
    for name, made in {"deflated": "model0", "targets": "targets", "shared": "shared"}.items():
        packed = zipfile.ZipFile(folder / f"{made}.npz")
        write(folder, f"{name}.npz", archive({n: packed.read(n) for n in packed.namelist()}, zipfile.ZIP_DEFLATED))


def make_checkpoints(folder):
    """As fuzz_checkpoint.c asks: every other question wants no gradient."""
    fit = b"format: quorum checkpoint 1\nversion: 1\ndata: 6 rows\noptions: 0\n"
    for count in (0, 1, 5):
        records = np.zeros((count, 9))
        for k in range(count):
            records[k] = [0 if k != 2 else -6, 1 - k % 2, 10.0 - k, *(0.25 * np.arange(3) + 0.5 * k), 0, 0, 0]
        write(folder, f"records{count}.npz", archive({"fit.txt": fit, "evaluations.npy": npy(records)}))


def main(quorum, to):
    to = pathlib.Path(to)
    make_tables(to / "table")
    make_arrays(to / "npz")
    make_models(os.path.abspath(quorum), to / "model")
    make_checkpoints(to / "checkpoint")
    for i, text in enumerate(OPTIONS):
        write(to / "options", f"options{i:02d}", text.encode())
    for i, text in enumerate(TEXTS):
        write(to / "json", f"text{i:02d}", text.encode())
    rng = np.random.default_rng(1)
    for i in range(40):
        write(to / "predict", f"predict{i:02d}", rng.integers(0, 256, 48, dtype=np.uint8).tobytes())
        write(to / "fit", f"fit{i:02d}", bytes([i % 5]) + rng.integers(0, 200, 90, dtype=np.uint8).tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
