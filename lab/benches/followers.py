#!/usr/bin/env python3
"""Trains the model of followers of lab/notes/reserve.md: nine runs of 100 ms under dt:alpha=16, one forest on all of their switches.

    lab/benches/followers.py target/release runs/followers      # makes runs/followers/flows.json
"""

import pathlib
import subprocess
import sys

# Congestion control, sizes of answers, burst, whether connections begin slowly after a pause, and connections.
RUNS = [
    ("cubic", "{ by-pair = 1.0 }", 1.5, "false", "reused"),
    ("cubic", "{ log-normal = 1.0 }", 1.5, "false", "reused"),
    ("dctcp", "{ by-pair = 1.0 }", 1.5, "false", "reused"),
    ("cubic", '"equal"', 0.75, "false", "reused"),
    ("cubic", "{ by-pair = 1.0 }", 1.5, "true", "reused"),
    ("dctcp", "{ log-normal = 1.0 }", 3.0, "true", "reused"),
    ("cubic", "{ by-pair = 1.0 }", 1.5, "true", "new"),
    ("cubic", "{ by-pair = 1.0 }", 0.25, "true", "reused"),
    ("cubic", "{ log-normal = 1.0 }", 0.75, "true", "new"),
]
FOREST = "--n-estimators 8 --max-depth 8 --min-samples-leaf 100 --seeds 1 --split none".split()


def experiment(seed, transport, sizes, burst, slow_start, connections):
    return f"""
policies = ["dt:alpha=16"]
[fabric]
leaf_buffer_bytes = 260_000
spine_buffer_bytes = 260_000
min_rto_ns = 10_000_000
slow_start_after_idle = {slow_start}
seed = {seed}
[traffic]
seed = {seed}
duration_ns = 100_000_000
[[traffic.flows]]
load = 0.5
transport = "{transport}"
[[traffic.incasts]]
burst = {burst}
per_server_hz = 60.0
transport = "{transport}"
sizes = {sizes}
connections = "{connections}"
"""


def main(programs, folder):
    folder.mkdir(parents=True, exist_ok=True)

    def run(program, *arguments):
        subprocess.run([programs / program, *arguments], check=True, stdout=subprocess.DEVNULL)

    traces = []
    for number, of in enumerate(RUNS):
        settings, events, trace = (folder / f"{number}{end}" for end in (".toml", "-run", ".parquet"))
        settings.write_text(experiment(9101 + number, *of))
        run("dropcast-lab", "simulate", settings, "--record", "events", "-o", events)
        events = events / "dt" / "run-0" / "events.parquet"
        labels = ["--departures", "line-rate", "--label", "follows", "--features", "flow11"]
        run("dropcast", "collect", "--events", events, *labels, "-o", trace)
        traces += ["--data", trace]
    run("dropcast", "train", *traces, "--features", "flow11", *FOREST, "-o", folder / "flows.json")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
