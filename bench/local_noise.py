#!/usr/bin/env python3
"""What a noise of each neighbourhood's own and nested rows of the spread do, on held-out training rows.

    bench/local_noise.py --data DIR [--quorum build/quorum] [--sets SET ...] [--rows 8000] [--held 2000] [--seeds 1]

Of each training file (DIR/SET/train.csv.gz) `rows` random rows are fitted and `held` others are scored, without calibration: with
`--local-noise` auto, no and yes, and the first once more as files from before had it, its spread from 32 rows alone (`spread_rows` taken out
of the file; nu is what suited nested rows).  Writes results/local_noise.csv.
"""
import argparse
import json
import os
import tempfile
import zipfile

from calibration import numbers, save
from common import RESULTS, run, write_csv

FIELDS = ["set", "seed", "prediction", "rows", "held", "kernel", "spread", "local_noise", "smse", "msll", "crps", "coverage95"]
SETS = ["pumadyn32nm", "kin40k_10k30k", "protein", "sarcos_noleak", "satellite", "simtemps", "diamonds"]
PREDICTIONS = {"auto": "auto", "constant": "no", "local": "yes", "not nested": None}


def version_of(meta, members):
    """The version that a file of numbers alone has without what is around queries (docs/model-file.md)."""
    if "noise" in meta:
        return meta["format_version"]
    two_scales = meta["kernel"] not in ("se", "matern12", "matern32", "matern52")
    return 4 if two_scales else 3 if "rotation.npy" in members else 1


def without_nested_rows(model, to):
    """The model as a file from before."""
    with zipfile.ZipFile(model) as file, zipfile.ZipFile(to, "w") as out:
        for name in file.namelist():
            content = file.read(name)
            if name == "meta.json":
                meta = {k: v for k, v in json.loads(content).items() if k != "spread_rows"}
                content = json.dumps({**meta, "format_version": version_of(meta, file.namelist())})
            out.writestr(name, content)


def measure(args, name, seed):
    header, table = numbers(args.data, name, seed)
    held, fitted = table[:args.held], table[args.held:args.held + args.rows]
    words = ["--threads", str(args.threads), "-q", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        train, test = (save(os.path.join(folder, part + ".csv"), header, rows) for part, rows in (("train", fitted), ("test", held)))
        model, first = os.path.join(folder, "model.npz"), os.path.join(folder, "auto.npz")
        for prediction, option in PREDICTIONS.items():
            if option:
                model = first if option == "auto" else os.path.join(folder, "model.npz")
                run([args.quorum, "fit", train, "-o", model, "--local-noise", option, "--seed", str(seed), *words])
            else:
                without_nested_rows(first, model)
            shown = run([args.quorum, "inspect", model, "--json"])
            score = run([args.quorum, "evaluate", model, test, "--calibration", "off", "--method", "nearest", *words])[0]
            yield {"set": name, "seed": seed, "prediction": prediction, "rows": len(fitted), "held": len(held),
                   "coverage95": score["coverage"]["95"], **{key: shown[key] for key in ("kernel", "spread", "local_noise")},
                   **{key: score[key] for key in ("smse", "msll", "crps")}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--data", required=True, help="directory that holds the data sets")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--rows", type=int, default=8000, help="rows to fit")
    parser.add_argument("--held", type=int, default=2000, help="rows to score on")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="of the split and the fit")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(RESULTS, "local_noise.csv"))
    args = parser.parse_args()
    command = (f"bench/local_noise.py --sets {' '.join(args.sets)} --rows {args.rows} --held {args.held} "
               f"--seeds {' '.join(map(str, args.seeds))} --data DIR")
    write_csv(args.out, command, args.quorum, FIELDS,
              (row for name in args.sets for seed in args.seeds for row in measure(args, name, seed)))
    print(args.out)


if __name__ == "__main__":
    main()
