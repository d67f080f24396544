#!/usr/bin/env python3
"""What labels of the optimum are worth beside LQD's: what docs/trace.md says of them.

Usage: optimum_labels.py DROPCAST FOLDER. LQD runs five times in the fabric (load 40%, bursts of 150% of a shallow buffer, DCTCP).
Forests are trained on four of the runs with either label, replayed on the fifth, and asked in the fabric in eight runs with other
seeds. Prints F1 on test rows, the replays' bytes, and late incast flows. A minute on two idle cores.
"""

import json
import pathlib
import subprocess
import sys

EXPERIMENT = """policies = {policies}
runs = {runs}
[fabric]
seed = {seed}
leaf_buffer_bytes = 260000
spine_buffer_bytes = 260000
[traffic]
seed = {seed}
duration_ns = {ms}_000_000
[[traffic.flows]]
load = 0.4
[[traffic.incasts]]
burst = {burst}
per_server_hz = 60.0
"""
FEATURES = "level4,queue_length,avg_queue_length,occupancy,avg_occupancy"
EXPERTS = ["lqd", "opt"]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    dropcast, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)

    def run(*arguments):
        program = f"{dropcast}-lab" if arguments[0] == "simulate" else dropcast
        command = [program, *arguments, "--format", "json"]
        return json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, cwd=folder).stdout)

    def experiment(name, **settings):
        (folder / name).write_text(EXPERIMENT.format(**settings))
        return ["simulate", name]

    lqd = experiment("lqd.toml", policies=json.dumps(["lqd"]), runs=5, seed=900, ms=20, burst=1.5)
    run(*lqd, "-o", "recorded", "--record", "events")
    for expert in EXPERTS:
        for number in range(5):
            events = f"recorded/lqd/run-{number}/events.parquet"
            trace = f"{expert}-{number}.parquet"
            run("collect", "--events", events, "--label", expert, "--features", FEATURES, "-o", trace)
    print("| labels | features | forest | F1 on test rows | Credence's bytes over no oracle, fifth run |\n|---|---|---|---|---|")
    for features in ["level4", "paper4"]:
        for trees, depth in [(4, 4), (16, 8)]:
            for expert in EXPERTS:
                model = f"{expert}-{features}-{trees}x{depth}.json"
                data = [f"{expert}-{number}.parquet" for number in range(4)]
                shape = ["--n-estimators", str(trees), "--max-depth", str(depth)]
                how = ["--split", "time-blocks", "--vote", "f1", "--features", features]
                trained = run("train", "--data", *data, *how, *shape, "-o", model)
                report = run("report", "--data", "lqd-4.parquet", "--rows", "all", "--model", model)
                gain = report["gain"]["always_accept"]["bytes"]
                print(f"| {expert} | {features} | {trees}x{depth} | {trained['test']['f1']:.3f} | {gain:,} |", flush=True)
    models = [f"{expert}-level4-{shape}.json" for shape in ["4x4", "16x8"] for expert in EXPERTS]
    asking = [f"{policy}model={model}" for policy in ["credence:", "oracle:base=dt:alpha=16,"] for model in models]
    policies = ["lqd", "dt:alpha=8", "dt:alpha=16", "oracle", *asking]
    print("\n| policy | late incast flows, bursts of 75% | 150% |\n|---|---|---|")
    late = {}
    for burst in [0.75, 1.5]:
        loop = experiment(f"loop-{burst}.toml", policies=json.dumps(policies), runs=8, seed=1, ms=40, burst=burst)
        for policy in run(*loop)["policies"]:
            value = policy["metrics"]["incast_over_10_ms"]["value"]["mean"]
            late.setdefault(policy["policy"], []).append(f"{100 * value:.1f}%")
    for policy, shares in late.items():
        print(f"| {policy} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
