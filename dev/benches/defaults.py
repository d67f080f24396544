#!/usr/bin/env python3
"""The evidence for the defaults of `dropcast train`: prints the tables (docs/training.md, "Why these defaults").

    python3 dev/benches/defaults.py [--dropcast BINARY] [--trace TRACE ...] [--json FILE]

Generates the eight scenarios of leave_one_trace_out.py three times, with seeds of their own: forests train on one trace
of a scenario, choose the vote threshold on the second and are tested on the third. --trace adds labelled traces, which
are split by time-blocks. Each configuration changes one thing of the defaults, with eight bootstrap seeds.
"""

import argparse
import concurrent.futures
import json
import pathlib
import statistics
import tempfile

from leave_one_trace_out import SCENARIOS, dropcast, generate

SEEDS = range(1, 9)
# Seeds of the traces' parts. Of seed 101 load80-burst75 has a single episode of drops, too few to train or test on.
PARTS = {"data": 201, "validation": 101, "test": 301}

# By name, what it changes.
CONFIGURATIONS = {
    "the defaults": [],
    "`paper4`": ["--features", "paper4"],
    "`carry4`": ["--features", "carry4"],
    "`cut1`": ["--features", "cut1"],
    "`cut1,occupancy`": ["--features", "cut1,occupancy"],
    "`level1`": ["--features", "level1"],
    "one comparison of `level1`": ["--features", "level1", "--n-estimators", "1", "--max-depth", "1"],
    "one comparison of `cut1`": ["--features", "cut1", "--n-estimators", "1", "--max-depth", "1"],
    "8 trees of depth 6": ["--n-estimators", "8", "--max-depth", "6"],
    "32 trees of depth 4": ["--n-estimators", "32"],
    "16 trees of depth 8": ["--n-estimators", "16", "--max-depth", "8"],
    "leaves of 20 rows": ["--min-samples-leaf", "20"],
    "leaves of 200 rows": ["--min-samples-leaf", "200"],
    "`--monotone off`": ["--monotone", "off"],
}

# Replays take most of the time, so bytes are measured of these alone, by name: the configuration and the vote.
BYTES = {
    "the defaults, `credence`": ("the defaults", "credence"),
    "`f1`": ("the defaults", "f1"),
    "`eta`": ("the defaults", "eta"),
    "`paper4`, `credence`": ("`paper4`", "credence"),
    "`cut1`, `credence`": ("`cut1`", "credence"),
    "one comparison of `level1`, `credence`": ("one comparison of `level1`", "credence"),
    "16 trees of depth 8, `credence`": ("16 trees of depth 8", "credence"),
    "leaves of 200 rows, `credence`": ("leaves of 200 rows", "credence"),
}


def train(options, parts, *arguments):
    """The metrics of a training."""
    with tempfile.TemporaryDirectory() as folder:
        data = [word for part in parts.items() for word in (f"--{part[0]}", part[1])]
        out = ["--threads", 1, "--format", "json", "-o", pathlib.Path(folder) / "model.json"]
        return json.loads(dropcast(options.dropcast, "train", *data, *arguments, *out))


def over(pool, work, keys):
    """What `work` gives for each key, in parallel."""
    return dict(zip(keys, pool.map(lambda key: work(*key), keys), strict=True))


def scores(options, pool, traces):
    keys = [(name, trace) for name in CONFIGURATIONS for trace in traces]
    f1 = lambda name, trace: train(options, traces[trace], *CONFIGURATIONS[name], "--vote", "f1")
    found = over(pool, lambda *key: f1(*key)["over_seeds"]["test"]["f1"], keys)
    print("\n| | F1, median | lowest trace | lowest seed | traces better, worse than the defaults |\n|---|---|---|---|---|")
    for name in CONFIGURATIONS:
        medians = [found[name, trace]["median"] for trace in traces]
        defaults = [found["the defaults", trace]["median"] for trace in traces]
        lowest = min(found[name, trace]["lowest"] for trace in traces)
        better, worse = (sum(sign * (a - b) > 0 for a, b in zip(medians, defaults, strict=True)) for sign in (1, -1))
        against = "" if name == "the defaults" else f"{better}, {worse}"
        print(f"| {name} | {statistics.median(medians):.3f} | {min(medians):.3f} | {lowest:.3f} | {against} |", flush=True)
    return {name: {trace: found[name, trace] for trace in traces} for name in CONFIGURATIONS}


def gains(options, pool, traces):
    keys = [(name, trace, seed) for name in BYTES for trace in traces for seed in SEEDS]

    def gain(name, trace, seed):
        configuration, vote = BYTES[name]
        arguments = [*CONFIGURATIONS[configuration], "--vote", vote, "--seeds", 1, "--seed", seed]
        metrics = train(options, traces[trace], *arguments)
        confusion, more = metrics["test"]["confusion"], metrics["gain"]
        alpha = more["always_accept"]["bytes"] - more["best_alpha"]["bytes"]
        return {"bytes": more["always_accept"]["bytes"], "best_alpha": alpha, "predicted": confusion["tp"] + confusion["fp"]}

    found = over(pool, gain, keys)
    print("\n| | predict no drop | do harm | worst | median seeds gain |\n|---|---|---|---|---|")
    for name in BYTES:
        rows = {trace: [found[name, trace, seed] for seed in SEEDS] for trace in traces}
        flat = [row for of_trace in rows.values() for row in of_trace]
        silent, harm = sum(row["predicted"] == 0 for row in flat), sum(row["bytes"] < 0 for row in flat)
        worst = min(row["bytes"] for row in flat)
        sums = sum(statistics.median(row["bytes"] for row in of_trace) for of_trace in rows.values())
        print(f"| {name} | {silent} of {len(flat)} | {harm} | {worst:,} | {sums:,.0f} |", flush=True)
    first = next(iter(BYTES))
    alphas = {trace: found[first, trace, SEEDS[0]]["best_alpha"] for trace in traces}
    print(f"| the best alpha | | | {min(alphas.values()):,} | {sum(alphas.values()):,} |")
    return [{"name": name, "trace": trace, "seed": seed, **row} for (name, trace, seed), row in found.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--dropcast", default="target/release/dropcast")
    parser.add_argument("--trace", nargs="*", default=[], type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = {}
        for part, seed in PARTS.items():
            (pathlib.Path(folder) / part).mkdir()
            made[part] = generate(options.dropcast, pathlib.Path(folder) / part, SCENARIOS, seed)
        traces = {name: {part: made[part][name] for part in PARTS} for name in SCENARIOS}
        traces |= {trace.stem: {"data": trace, "split": "time-blocks"} for trace in options.trace}
        found = {"f1": scores(options, pool, traces), "bytes": gains(options, pool, traces)}
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
