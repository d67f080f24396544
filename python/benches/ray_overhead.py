"""What Ray costs: the time of dropcast.ray.train against that of the command, on the same trace.

    python ray_overhead.py TRACE --dropcast ../../target/release/dropcast --workers 1 2

Prints one line per number of workers: seconds of the command with as many threads, of Ray with as many
workers, the least of some runs in turns, and the same in processor seconds, of all processes; their ratios;
rows per second and worker; and where the time went. Checks that the bytes are the same.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import pyarrow.parquet as pq
import ray

import dropcast.ray


def processor_seconds():
    """Of this process, Ray's and their children, also of those that have ended."""
    parents, used = {}, {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        process = int(stat.parent.name)
        parents[process] = int(fields[1])
        used[process] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def is_ours(process):
        while process not in (0, os.getpid()):
            process = parents.get(process, 0)
        return process == os.getpid()

    return sum(seconds for process, seconds in used.items() if is_ours(process))


def cost(work):
    """Seconds, processor seconds, and what was made."""
    used, began = processor_seconds(), time.perf_counter()
    made = work()
    took = time.perf_counter() - began, processor_seconds() - used
    print(f"{work.__name__}: {took[0]:.2f} s, {took[1]:.2f} CPU s", file=sys.stderr, flush=True)
    return *took, made


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
        runs = [(cost(command), cost(on_ray)) for _ in range(args.runs)]
        assert all(made.model_json == model.read_text() for _, (_, _, made) in runs), "other bytes"
        alone, together = (
            [min(run[side][measure] for run in runs) for measure in (0, 1)] for side in (0, 1)
        )
        trained = runs[-1][1][2]
        asked = sum(step["seconds"] for step in trained.steps)
        busy = max(worker["seconds"] for worker in trained.workers)
        print(
            f"{rows:,} rows, {workers} workers: command {alone[0]:.2f} s ({alone[1]:.2f} CPU s), "
            f"Ray {together[0]:.2f} s ({together[1]:.2f} CPU s), "
            f"ratio {together[0] / alone[0]:.2f} ({together[1] / alone[1]:.2f} in CPU time); "
            f"{rows / together[0] / workers:,.0f} rows/s per worker; "
            f"questions {asked:.2f} s, of which the slowest worker is busy {busy:.2f} s; "
            f"dropcast {dropcast.__version__}, Ray {ray.__version__}, load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        print(json.dumps(trained.steps), flush=True)


if __name__ == "__main__":
    main()
