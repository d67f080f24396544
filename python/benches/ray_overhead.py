"""What Ray costs: the time of dropcast.ray.train against that of the command, on the same trace.

    python ray_overhead.py TRACE --dropcast ../../target/release/dropcast --workers 1 2

Prints one line per number of workers: seconds of the command with as many threads, of Ray with as many
workers, their ratio, rows per second and worker, and where the time went. Checks that the bytes are the same.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import pyarrow.parquet as pq
import ray

import dropcast.ray


def seconds(work):
    began = time.perf_counter()
    made = work()
    return time.perf_counter() - began, made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("--dropcast", default="dropcast", help="the command")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--vote", default="f1", help="f1 leaves the replays of the default out")
    args = parser.parse_args()
    rows = pq.ParquetFile(args.trace).metadata.num_rows
    ray.init(
        address="local",
        num_cpus=max(args.workers),
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
    )
    # The first worker processes start with Ray, not with the first training.
    ray.get([ray.remote(lambda: None).remote() for _ in range(4)])
    folder = tempfile.TemporaryDirectory()
    model = pathlib.Path(folder.name, "model.json")
    for workers in args.workers:
        call = [args.dropcast, "train", "--data", args.trace, "--vote", args.vote]
        call += ["--threads", str(workers), "-o", str(model)]

        def command():
            subprocess.run(call, check=True, capture_output=True)

        def on_ray():
            return dropcast.ray.train(args.trace, workers=workers, vote=args.vote, progress=False)

        # In turns, so that both meet the same machine.
        runs = [(seconds(command), seconds(on_ray)) for _ in range(args.runs)]
        assert all(made[1].model_json == model.read_text() for _, made in runs), "other bytes"
        alone = statistics.median(run[0][0] for run in runs)
        together = statistics.median(run[1][0] for run in runs)
        trained = runs[-1][1][1]
        asked = sum(step["seconds"] for step in trained.steps)
        busy = max(worker["seconds"] for worker in trained.workers)
        print(
            f"{rows:,} rows, {workers} workers: command {alone:.2f} s, Ray {together:.2f} s, "
            f"ratio {together / alone:.2f}; {rows / together / workers:,.0f} rows/s per worker; "
            f"questions {asked:.2f} s, of which the slowest worker is busy {busy:.2f} s; "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        print(json.dumps(trained.steps), flush=True)


if __name__ == "__main__":
    main()
