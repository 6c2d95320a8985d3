"""What a peer's process does: read .npy tables, fit, predict, write its seconds and predictions.

A peer is a module with fit(X, y, args) -> state and predict(state, X) -> mean, std, on standardised
inputs and target; std includes the noise.  Seconds are of these two calls alone: importing Python's
libraries and reading the files are left out.
"""
import argparse
import json
import time

import numpy as np


def main(fit, predict, add_arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("out", help=".npy for mean and std")
    parser.add_argument("--seed", type=int, default=1)
    add_arguments(parser)
    args = parser.parse_args()
    table, queries = np.load(args.train), np.load(args.test)[:, :-1]
    clock = [(time.perf_counter(), time.process_time())]
    mean, scale = table.mean(0), table.std(0)
    scale[scale == 0] = 1.0
    standard = (table - mean) / scale
    state = fit(standard[:, :-1], standard[:, -1], args)
    clock.append((time.perf_counter(), time.process_time()))
    m, s = predict(state, (queries - mean[:-1]) / scale[:-1])
    clock.append((time.perf_counter(), time.process_time()))
    np.save(args.out, np.stack([m * scale[-1] + mean[-1], s * scale[-1]]))
    (fit_wall, fit_processor), (wall, processor) = np.diff(clock, axis=0).tolist()
    print(json.dumps({"fit": fit_wall, "predict": wall, "fit_processor": fit_processor,
                      "predict_processor": processor}))
