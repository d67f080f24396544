"""What Ray costs: the time of dropcast.ray.train against that of the command, on the same trace.

    python ray_overhead.py TRACE --dropcast ../../target/release/dropcast --workers 1 2

Three sides in turns: the command with as many threads as Ray has workers, which also replays the test rows to
say what the oracle gains; dropcast.train(gain=False), the same without that; and Ray, which does not replay
them either. Prints the least seconds of some runs, processor seconds of all processes, ratios, and where the
time went. Checks that the bytes are the same.
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
# Ray's workers are nicer than other processes by default; here all sides are alike.
os.environ.setdefault("RAY_worker_niceness", "0")

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
    said = f"{work.__name__}: {took[0]:.2f} s, {took[1]:.2f} CPU s, load {os.getloadavg()[0]:.1f}"
    print(said, file=sys.stderr, flush=True)
    return *took, made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("--dropcast", default="dropcast", help="the command")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--without-command", action="store_true", help="only the library")
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
        settings = {"vote": args.vote, "progress": False}

        def command():
            subprocess.run(call, check=True, capture_output=True)
            return model.read_text()

        def library():
            return dropcast.train(args.trace, threads=workers, gain=False, **settings).to_json()

        def on_ray():
            trained.append(dropcast.ray.train(args.trace, workers=workers, **settings))
            return trained[-1].model_json

        sides = {"command": command, "library": library, "Ray": on_ray}
        if args.without_command:
            del sides["command"]
        # In turns, so that all meet the same machine.
        trained = []
        runs = [{name: cost(side) for name, side in sides.items()} for _ in range(args.runs)]
        assert len({made for run in runs for _, _, made in run.values()}) == 1, "other bytes"
        least = {name: [min(run[name][of] for run in runs) for of in (0, 1)] for name in sides}
        print(f"{rows:,} rows, {workers} workers, dropcast {dropcast.__version__}, Ray {ray.__version__}, "
              f"load {os.getloadavg()[0]:.1f}")
        for name, (seconds, used) in least.items():
            ratios = least["Ray"][0] / seconds, least["Ray"][1] / used
            print(f"{name:8} {seconds:8.2f} s {used:8.2f} CPU s; Ray takes {ratios[0]:.2f} of its time, "
                  f"{ratios[1]:.2f} of its CPU time")
        asked = sum(step["seconds"] for step in trained[-1].steps)
        busy = max(worker["seconds"] for worker in trained[-1].workers)
        rate = rows / least["Ray"][0] / workers
        print(f"Ray: {rate:,.0f} rows/s per worker; questions {asked:.2f} s, of which the slowest worker "
              f"is busy {busy:.2f} s", flush=True)
        print(json.dumps(trained[-1].steps), flush=True)


if __name__ == "__main__":
    main()
