#!/usr/bin/env python3
"""Do votes chosen in the loop, or forests refined in it, beat open-loop training on unseen workloads?

Usage: refine.py DROPCAST FOLDER. Writes experiments, traces and models into FOLDER and prints the
tables of lab/notes/closed-loop.md; about 7 minutes on two idle cores.
"""

import json
import pathlib
import subprocess
import sys

EXPERIMENT = """
runs = {runs}
[fabric]
leaf_buffer_bytes = {buffer}
spine_buffer_bytes = {buffer}
[traffic]
duration_ns = 20_000_000
[[traffic.flows]]
load = {load}
transport = "{transport}"
[[traffic.incasts]]
burst = {burst}
per_server_hz = 60.0
transport = "{transport}"
"""

# By case: what is trained on, what differs in the others, runs of LQD that are labelled, and runs of
# Credence that each round labels.
CASES = {
    "fitting": (
        dict(buffer=131584, load=0.4, burst=0.75, transport="cubic"),
        dict(burst200=dict(burst=2.0), load80=dict(load=0.8), dctcp=dict(transport="dctcp"),
             buffer=dict(buffer=263168, burst=1.5)),
        3, 2,
    ),
    "overflowing": (
        dict(buffer=263168, load=0.4, burst=1.5, transport="cubic"),
        dict(burst300=dict(burst=3.0), load70=dict(load=0.7), dctcp=dict(transport="dctcp"),
             burst75=dict(burst=0.75)),
        2, 1,
    ),
}

METRICS = ["incast_over_10_ms", "incast_slowdown_mean", "short_slowdown_mean", "long_slowdown_mean",
           "single_slowdown_p99"]


def main(dropcast, folder):
    for case, parameters in CASES.items():
        measure(dropcast, folder / case, *parameters)


def measure(dropcast, folder, trained, others, labelled, labelled_in_the_loop):
    folder.mkdir(parents=True, exist_ok=True)

    def run(*arguments):
        program = f"{dropcast}-lab" if arguments[0] in ("simulate", "refine") else dropcast
        done = subprocess.run([program, *map(str, arguments)], cwd=folder, check=True,
                              capture_output=True, text=True)
        return done.stdout

    workloads = {"trained": trained, **{name: {**trained, **other} for name, other in others.items()}}
    for name, workload in workloads.items():
        (folder / f"{name}.toml").write_text(EXPERIMENT.format(runs=10, **workload))
    run("simulate", "trained.toml", "--policy", "lqd", "--runs", labelled,
        "--seed", 1000, "--record", "events", "-o", "lqd")
    traces = [f"trace-{n}.parquet" for n in range(labelled)]
    for n, trace in enumerate(traces):
        run("collect", "--events", f"lqd/lqd/run-{n}/events.parquet", "--departures", "line-rate",
            "-o", trace)
    run("train", "--data", *traces, "--vote", "f1", "-o", "open-f1.json")
    run("train", "--data", *traces, "-o", "open.json")
    refine = ["refine", "--experiment", "trained.toml", "--data", *traces, "--labelled-runs",
              labelled_in_the_loop]
    print(folder.name, run(*refine, "--rounds", 0, "-o", "chosen"))
    print(folder.name, run(*refine, "--rounds", 2, "-o", "refined"))
    models = ["open-f1.json", "open.json", "chosen/model.json", "refined/model.json"]
    policies = ["credence", "lqd", *(f"credence:model={model}" for model in models)]
    for name in workloads:
        printed = run("simulate", f"{name}.toml", "--seed", 5000, "--format", "json",
                      *(word for policy in policies for word in ("--policy", policy)))
        print_table(folder.name, name, json.loads(printed))


def print_table(case, workload, summary):
    print(f"\n{case}, {workload}: {', '.join(METRICS)}; difference to always accepting")
    for policy in summary["policies"]:
        cells = [cell(policy["metrics"][metric]) for metric in METRICS]
        print(f"  {policy['policy']:35}", " | ".join(cells))


def cell(metric):
    text = "-" if metric["value"] is None else f"{metric['value']['mean']:.3g}"
    difference = metric["difference"]
    if difference and difference["bounds"]:
        low, high = difference["bounds"]
        mark = "*" if metric["is_beyond_noise"] else ""
        text += f" ({difference['mean']:+.2g}: {low:+.2g}..{high:+.2g}{mark})"
    return text


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
