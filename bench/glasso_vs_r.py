"""Times our graphical lasso and R's glasso package on the same matrices in one run.

    /usr/bin/python3 bench/glasso_vs_r.py BENCH_GLASSO [--largest P] [--out FILE]

BENCH_GLASSO is the built bench/bench_glasso.  Ours runs to a relative duality gap of
1e-10; R's runs with thr 1e-4 (its default) and 1e-6, diagonal penalised, each once, one
thread for both, at lambda = 0.1 max|S_ij|.  Ours reports its objective; R's is computed in
R from S and the symmetric part of its wi.  `difference` is ours - R's (positive: ours is
better; nan: R's matrix is not positive definite).  Times are those of the solver's call
alone, ours first and then R's.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

from common import load, write_csv

FIELDS = ["p", "lambda", "ours_seconds", "r_seconds", "ratio", "ours_objective", "r_objective",
          "difference", "kind", "r_thr"]
RATIO = 0.1
TOLERANCE = 1e-10
THRESHOLDS = (1e-4, 1e-6)

R_SCRIPT = """
suppressMessages(library(glasso))
a <- commandArgs(TRUE)
p <- as.integer(a[2]); lambda <- as.numeric(a[3]); thr <- as.numeric(a[4])
S <- matrix(readBin(a[1], "double", p * p), p, p)
seconds <- system.time(g <- glasso(S, lambda, thr = thr, maxit = 10000))[["elapsed"]]
W <- (g$wi + t(g$wi)) / 2
d <- determinant(W)
value <- if (d$sign > 0 && min(eigen(W, TRUE, only.values = TRUE)$values) > 0)
    as.numeric(d$modulus) - sum(S * W) - lambda * sum(abs(W)) else NaN
cat(sprintf("%.6f %.17g\\n", seconds, value))
"""


def run_ours(program, folder, largest):
    table = folder / "ours.csv"
    subprocess.run(
        [program, "--csv", table, "--matrices", folder, "--tolerance", str(TOLERANCE),
         "--largest", str(largest)],
        check=True, stdout=subprocess.DEVNULL,
    )
    with open(table) as file:
        return [row for row in csv.DictReader(file) if float(row["ratio"]) == RATIO]


def run_r(folder, row, thr):
    script = folder / "time.R"
    script.write_text(R_SCRIPT)
    matrix = folder / f"{row['kind']}_{row['p']}.bin"
    run = subprocess.run(
        ["Rscript", script, matrix, row["p"], row["lambda"], str(thr)],
        check=True, capture_output=True, text=True,
    )
    seconds, value = run.stdout.split()
    return float(seconds), float(value)


def compare(row, thr, r_seconds, r_objective):
    ours, value = float(row["seconds"]), float(row["objective"])
    return [row["p"], f"{float(row['lambda']):.6g}", f"{ours:.4f}", f"{r_seconds:.3f}",
            f"{r_seconds / max(ours, 1e-4):.1f}", f"{value:.9f}", f"{r_objective:.9f}",
            f"{value - r_objective:.2e}", row["kind"], f"{thr:g}"]


def measure(program, folder, largest):
    """The lines of the table, which are also printed."""
    print(*FIELDS, sep="\t")
    for row in run_ours(program, folder, largest):
        for thr in THRESHOLDS:
            line = compare(row, thr, *run_r(folder, row, thr))
            print(*line, sep="\t", flush=True)
            yield dict(zip(FIELDS, line))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--largest", type=int, default=600)
    parser.add_argument("--out", default=pathlib.Path(__file__).parent / "results" / "glasso.csv")
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        write_csv(options.out, " ".join(["bench/glasso_vs_r.py"] + sys.argv[1:]), None, FIELDS,
                  measure(options.program, pathlib.Path(folder), options.largest),
                  [load(), f"lambda = {RATIO} max|S_ij|, i != j; ours: relative gap {TOLERANCE:g}"])


if __name__ == "__main__":
    main()
