"""A page for every data set: that it opens in Chromium without an error, its bytes, and the seconds that it takes beyond the predictions.

    bench/reports.py DIR [--models KEPT] [--quorum build/quorum] [--sets diamonds satellite ...]

DIR/SET/{train,test}.csv.gz, or DIR/uci/SET/{data,test_mask}.csv.gz of which the first mask is taken.  Models are of all training rows, by a cheap
fit (one kernel, no calibration), and stay in KEPT for the next time.  Seconds beyond the predictions are those of `quorum report` less those
of `quorum predict --novelty` on the same rows.  They are processor seconds, of all threads: a page is made in fewer where nothing else runs, and
they are the same, about, where something does.  Writes bench/results/reports.csv, line by line, and fails where a page misses a bar.
"""
import argparse
import gzip
import importlib.util
import json
import os
import pathlib
import shutil
import sys
import tempfile

import numpy as np

from common import HERE, RESULTS, load, measured, write_csv

SETS = ["pumadyn32nm", "protein", "sarcos", "sarcos_noleak", "kin40k_10k30k", "satellite", "simtemps", "diamonds", "uci/elevators", "uci/protein"]
MOST_SECONDS, MOST_BYTES = 30.0, 2_000_000
CHEAP = ["--kernel", "se", "--calibrate=no", "-q"]
FIELDS = ["set", "training_rows", "inputs", "test_rows", "predict_processor", "report_processor", "beyond_processor", "predict_wall", "report_wall",
          "bytes", "charts", "errors"]
LIVE = "JSON.stringify([...document.querySelectorAll('figure.chart')].map(f => f.classList.contains('is-live')))"


def browser_of_the_tests(profile):
    spec = importlib.util.spec_from_file_location("browser", os.path.join(HERE, "..", "tests", "browser", "conftest.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program = next(filter(None, map(shutil.which, module.PROGRAMS)), None)
    if not program:
        sys.exit("no Chromium: scripts/setup installs chromium-headless-shell")
    return module.Browser(program, profile)


def parts_of(directory, name, room):
    """Paths of the training and the test rows; of a masked set they are written to `room` first."""
    here = pathlib.Path(directory, name)
    if (here / "train.csv.gz").exists():
        return here / "train.csv.gz", here / "test.csv.gz"
    with gzip.open(here / "test_mask.csv.gz", "rt") as file:
        mask = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)[:, 0] == 1
    with gzip.open(here / "data.csv.gz", "rt") as file:
        lines = file.read().split()
    lines = lines[len(lines) - len(mask):]
    head = ",".join([*(f"x{k + 1}" for k in range(lines[0].count(","))), "y"])
    paths = [pathlib.Path(room, f"{part}.csv") for part in ("train", "test")]
    for path, test in zip(paths, (False, True)):
        path.write_text("\n".join([head, *(line for line, masked in zip(lines, mask) if masked == test)]) + "\n")
    return paths


def look(browser, page):
    """How many charts answer, and what went wrong."""
    browser.open(page)
    live = json.loads(browser.run(LIVE))
    return sum(live), len(browser.troubles()) + live.count(False)


def measure(args, name, browser, room):
    train, test = parts_of(args.directory, name, room)
    model, page = pathlib.Path(args.models or room, name.replace("/", "-") + ".npz"), pathlib.Path(room, "report.html")
    if not model.exists():
        measured([args.quorum, "fit", str(train), "-o", str(model), *CHEAP])
    predict = measured([args.quorum, "predict", str(model), str(test), "--novelty", "-o", os.path.join(room, "out.csv"), "-q"])
    report = measured([args.quorum, "report", str(model), "--test", str(test), "-o", str(page), "-q"])
    about = json.loads(measured([args.quorum, "inspect", str(model), "--json"])["output"])
    charts, errors = look(browser, page)
    with open(os.path.join(room, "out.csv")) as file:
        rows = sum(1 for _ in file) - 1
    return {"set": name, "training_rows": about["rows"], "inputs": about["inputs"], "test_rows": rows,
            "predict_processor": round(predict["processor"], 2), "report_processor": round(report["processor"], 2),
            "beyond_processor": round(max(report["processor"] - predict["processor"], 0.0), 2), "predict_wall": round(predict["wall"], 2),
            "report_wall": round(report["wall"], 2), "bytes": page.stat().st_size, "charts": charts, "errors": errors}


def all_sets(args, bad):
    """Line by line; sets that miss a bar are added to `bad`."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = browser_of_the_tests(profile)
        for name in args.sets:
            with tempfile.TemporaryDirectory() as room:
                row = measure(args, name, browser, room)
            if row["errors"] or row["beyond_processor"] > MOST_SECONDS or row["bytes"] > MOST_BYTES:
                bad.append(name)
            print(row, flush=True)
            yield row
        browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--models", help="where models are kept; default: nowhere")
    parser.add_argument("--quorum", default=os.path.join(HERE, "..", "build", "quorum"))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--out", default=RESULTS)
    args = parser.parse_args()
    bad, busy = [], load()
    write_csv(os.path.join(args.out, "reports.csv"), "bench/reports.py DIR", args.quorum, FIELDS, all_sets(args, bad),
              notes=[f"fits: {' '.join(CHEAP)}", f"bars: {MOST_SECONDS:.0f} processor seconds beyond the predictions, {MOST_BYTES} bytes", busy])
    sys.exit(f"over a bar: {', '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()
