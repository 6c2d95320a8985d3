#!/usr/bin/env python3
"""Tables as people have them, of numbers and texts: quorum beside trees, all with their defaults.

    Rscript bench/r_tables.R DIR
    bench/beside_trees.py DIR [--quorum build/quorum] [--sets NAME ...] [--rows 5000] [--seed 1] [--threads 1]

Of DIR/SET.csv (header, target last) at most `rows` rows of a seeded shuffle are taken; four fifths are fitted, the
others scored.  quorum gets the files as they are (`fit --graph none`, `evaluate`); scikit-learn's
HistGradientBoostingRegressor and ExtraTreesRegressor (300 trees, leaves of 2 rows or more) get texts as numbers of
their levels.  Writes results/beside_trees.csv: SMSE of each, and quorum's MSLL and share of targets inside 95 %.
"""
import argparse
import csv
import os
import tempfile

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.preprocessing import OrdinalEncoder

from common import HERE, RESULTS, run, write_csv


def split(path, folder, most, seed):
    """Two files, and their rows."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    order = np.random.default_rng(seed).permutation(len(rows))[:most]
    fitted = len(order) * 4 // 5
    parts = [[rows[i] for i in chosen] for chosen in (order[:fitted], order[fitted:])]
    for name, part in zip(("fit", "score"), parts):
        with open(os.path.join(folder, name + ".csv"), "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *part])
    return parts


def is_number(text):
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


def numbers(parts):
    """X and y of both parts; how many columns are texts."""
    columns = list(zip(*(r[:-1] for r in parts[0])))
    texts = [d for d, column in enumerate(columns) if not all(map(is_number, column))]
    plain = [d for d in range(len(columns)) if d not in texts]
    code = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)

    def texts_of(part):
        return np.array([[r[d] for d in texts] for r in part], dtype=object).reshape(len(part), len(texts))
    if texts:
        code.fit(texts_of(parts[0]))
    out = []
    for part in parts:
        X = np.array([[float(r[d]) for d in plain] for r in part]).reshape(len(part), len(plain))
        out += [np.hstack([X, code.transform(texts_of(part))]) if texts else X, np.array([float(r[-1]) for r in part])]
    return out, len(texts)


def trees(parts):
    (X, y, Q, t), texts = numbers(parts)

    def smse(regressor):
        return np.mean((regressor.fit(X, y).predict(Q) - t) ** 2) / np.var(t)
    return {"inputs": X.shape[1], "texts": texts, "boosting": smse(HistGradientBoostingRegressor(random_state=0)),
            "extra_trees": smse(ExtraTreesRegressor(300, min_samples_leaf=2, random_state=0))}


def measure(given, name):
    with tempfile.TemporaryDirectory() as folder:
        parts = split(os.path.join(given.data, name + ".csv"), folder, given.rows, given.seed)
        model, words = os.path.join(folder, "m.npz"), ["--threads", str(given.threads), "-q", "--json"]
        told = run([given.quorum, "fit", os.path.join(folder, "fit.csv"), "-o", model, "--graph", "none", *words])
        score = run([given.quorum, "evaluate", model, os.path.join(folder, "score.csv"), *words])[0]
        return {"set": name, "fitted": len(parts[0]), "scored": len(parts[1]), "kernel": told["kernel"], "quorum": score["smse"],
                "msll": score["msll"], "coverage95": score["coverage"]["95"], **trees(parts)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", metavar="DIR")
    parser.add_argument("--quorum", default=os.path.join(HERE, "..", "build", "quorum"))
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=RESULTS)
    given = parser.parse_args()
    sets = given.sets or sorted(name[:-4] for name in os.listdir(given.data) if name.endswith(".csv"))
    write_csv(os.path.join(given.out, "beside_trees.csv"), f"bench/beside_trees.py DIR --rows {given.rows} --seed {given.seed}",
              given.quorum, ["set", "fitted", "scored", "inputs", "texts", "kernel", "quorum", "msll", "coverage95", "boosting",
                             "extra_trees"], (measure(given, name) for name in sets))


if __name__ == "__main__":
    main()
