#!/usr/bin/env python3
"""Latency of quorum serve under load, as committed CSV.

    bench/serve.py --quorum build/quorum [--clients 50] [--rate 1000] [--seconds 60]

Made data with 8 inputs, a model of 20,000 rows.  Each client keeps one connection to a Unix socket and asks at its own
fixed times, rate / clients times a second, whether or not earlier answers came late; a query's latency is counted from
the time at which it was due, so that a server that falls behind cannot hide it.  Clients are processes of their own,
each with several connections.  A prediction of the default, from 512 neighbours, is dearer than one of 64, and is asked for a
quarter as often.  Every answer is compared with what `quorum predict` writes.  Writes results/serve.csv.
"""
import argparse
import asyncio
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

from common import RESULTS, load, made, run, write_csv

FIELDS = ["rows", "prediction", "clients", "rate", "seconds", "queries", "errors", "achieved_rate", "p50_ms", "p99_ms",
          "p999_ms", "worst_ms", "server_processor_seconds", "load"]
PREDICTIONS = [("64 neighbours", ["--neighbours", "64"], 1.0), ("default", [], 0.25)] # with the share of --rate that is asked
QUERIES = 2000
PROCESSES = 2


async def client(path, lines, answers, times, shift, latencies, errors):
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(lines[0])
    if await reader.readline() != answers[0]:
        errors.append("header")

    async def read(due):
        for i, when in enumerate(due):
            answer = await reader.readline()
            latencies.append(time.monotonic() - when)
            if answer != answers[1 + (shift + i) % QUERIES]:
                errors.append(answer)
    reading = asyncio.ensure_future(read(times))
    for i, when in enumerate(times):
        await asyncio.sleep(max(0.0, when - time.monotonic()))
        writer.write(lines[1 + (shift + i) % QUERIES])
    await reading
    writer.close()


def clients(path, lines, answers, args, rate, first, count, start, results):
    """One process with `count` of the clients."""
    async def run_all():
        latencies, errors = [], []
        step = args.clients / rate
        plans = [[start + step * (i + k / args.clients) for i in range(int(args.seconds / step))]
                 for k in range(first, first + count)]
        await asyncio.gather(*[client(path, lines, answers, plan, 37 * (first + k), latencies, errors)
                               for k, plan in enumerate(plans)])
        results.put((latencies, len(errors)))
    asyncio.run(run_all())


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask_all(args, rate, path, lines, answers):
    results, start = multiprocessing.Queue(), time.monotonic() + 1.0
    share = [len(part) for part in np.array_split(np.arange(args.clients), PROCESSES)]
    workers = [multiprocessing.Process(target=clients, args=(path, lines, answers, args, rate, sum(share[:i]), count, start,
                                                             results)) for i, count in enumerate(share)]
    for w in workers:
        w.start()
    found = [results.get() for _ in workers]
    took = time.monotonic() - start
    for w in workers:
        w.join()
    return np.concatenate([latencies for latencies, _ in found]), sum(errors for _, errors in found), took


def measure(args, folder, label, options, share):
    model, queries, path = (os.path.join(folder, name) for name in ("model.npz", "queries.csv", "socket"))
    out = subprocess.run([args.quorum, "predict", model, queries, "-q", *options], capture_output=True, check=True)
    answers = out.stdout.splitlines(True)
    lines = open(queries, "rb").read().splitlines(True)
    busy = os.getloadavg()[0]
    server = subprocess.Popen([args.quorum, "serve", model, "--listen", f"unix:{path}", *options], stderr=subprocess.PIPE)
    server.stderr.readline()
    rate = args.rate * share
    latencies, errors, took = ask_all(args, rate, path, lines, answers)
    used = processor_seconds(server.pid)
    server.send_signal(signal.SIGTERM)
    if server.wait() != 0:
        sys.exit("the server failed")
    p50, p99, p999 = np.percentile(latencies, [50, 99, 99.9]) * 1e3
    return {"rows": args.rows, "prediction": label, "clients": args.clients, "rate": rate, "seconds": args.seconds,
            "queries": len(latencies), "errors": errors, "achieved_rate": len(latencies) / took, "p50_ms": p50,
            "p99_ms": p99, "p999_ms": p999, "worst_ms": latencies.max() * 1e3, "server_processor_seconds": used,
            "load": busy}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quorum", default="build/quorum")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--rate", type=float, default=1000.0, help="queries a second of all clients together")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--predictions", nargs="+", default=[p[0] for p in PREDICTIONS], choices=[p[0] for p in PREDICTIONS])
    parser.add_argument("--out", default=os.path.join(RESULTS, "serve.csv"))
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "train.npy"), made(rng, args.rows))
        header = ",".join(f"x{i + 1}" for i in range(8))
        np.savetxt(os.path.join(folder, "queries.csv"), made(rng, QUERIES)[:, :8], delimiter=",", header=header, comments="")
        run([args.quorum, "fit", os.path.join(folder, "train.npy"), "-o", os.path.join(folder, "model.npz"), "--theta",
             "1.5,1,0.05", "--json", "--quiet"])
        write_csv(args.out, f"bench/serve.py --rows {args.rows} --clients {args.clients} --rate {args.rate:g} --seconds "
                  f"{args.seconds:g}", args.quorum, FIELDS,
                  (measure(args, folder, *prediction) for prediction in PREDICTIONS if prediction[0] in args.predictions),
                  [load() + "; clients and server share the machine"])
    print(json.dumps(open(args.out).read()))


if __name__ == "__main__":
    main()
