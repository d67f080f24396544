#!/usr/bin/env python3
"""What Ray costs an experiment of many short runs, and what a task moves (docs/ray.md).

Usage: ray_fabric.py --lab target/release/dropcast-lab [--runs 50] [--workers 2]. Two policies run `runs`
times each: by the command on as many threads as workers, and by `dropcast.ray.experiment`. Both must come
to the same. Then the tasks are sent again with all runs known: what is left is what a task costs.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# By default workers wait for whatever else the machine does.
os.environ["RAY_worker_niceness"] = "0"

import ray

import dropcast.ray

EXPERIMENT = """
policies = ["lqd", "dt:alpha=8"]
runs = {runs}
[fabric]
servers = 8
spines = 2
[traffic]
duration_ns = 40_000_000
[[traffic.flows]]
load = 0.8
[[traffic.incasts]]
burst = 0.75
per_server_hz = 200.0
fan_in = 8
"""


def timed(call):
    began = time.perf_counter()
    made = call()
    return made, time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lab", required=True, type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config, keep = pathlib.Path(folder, "loop.toml"), pathlib.Path(folder, "runs.jsonl")
        config.write_text(EXPERIMENT.format(runs=args.runs))
        typed = [args.lab, "simulate", config, "--format", "json"]
        typed += ["--threads", str(args.workers)]
        local = {"address": "local", "_node_ip_address": "127.0.0.1", "num_cpus": args.workers}
        _, started = timed(lambda: ray.init(include_dashboard=False, log_to_driver=False, **local))
        small = pathlib.Path(folder, "small.toml")
        small.write_text(EXPERIMENT.format(runs=args.workers))
        _, first = timed(lambda: dropcast.ray.experiment(small, progress=False))
        print(f"ray.init {started:.1f} s, first experiment ({2 * args.workers} runs) {first:.1f} s")
        print("round  command, s  Ray, s  ratio")
        for nth in range(3):
            said, here = timed(lambda: subprocess.run(typed, check=True, capture_output=True).stdout)
            keep.unlink(missing_ok=True)
            made, there = timed(lambda: dropcast.ray.experiment(config, keep=keep, progress=False))
            assert made.summary == json.loads(said), "the bytes differ"
            print(f"{nth + 1:5}  {here:10.2f}  {there:6.2f}  {there / here:5.2f}")
        lines = keep.read_bytes().splitlines(keepends=True)
        print(f"{len(lines)} runs, {sum(map(len, lines)) / len(lines):.0f} bytes each come back")
        for parts in (1, 100, 1_000):
            _, idle = timed(lambda: dropcast.ray.experiment(config, keep=keep, parts=parts, progress=False))
            print(f"{parts} tasks with nothing to simulate: {idle:.2f} s")


if __name__ == "__main__":
    main()
