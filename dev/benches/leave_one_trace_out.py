#!/usr/bin/env python3
"""How well forests generalise to unseen traffic.

    python3 dev/benches/leave_one_trace_out.py [--dropcast BINARY] [--seeds N] [--trace TRACE ...] [--json FILE]

Generates eight leaf-switch scenarios of different loads, bursts, flow sizes and seeds, labels them,
and trains forests of 4 trees of depth 4 on all traces but one, then tests on that one: for each set
of features, the F1 on the trace left out (mean over seeds; the vote threshold is chosen on the
training traces). --trace adds labelled traces to the set. The second table: trained on all of these,
whose buffers have one size (except given traces), tested on switches with smaller and larger buffers.
The last tables: trained on each given trace alone, tested on every other. --json writes the first table, with
the F1 of each seed, for the page docs/verilog.md.

--bytes prints something else: bytes transmitted on the trace left out, beyond the best alpha of Dynamic Thresholds there,
by LQD and by Credence with a forest of the others. The alpha is the best on the trace itself. --first-seed generates other traffic.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

FEATURES = ["paper4", "paper4,longest,rank", "carry4", "level4", "level1", "class1", "cut1"]

# Fields of docs/workloads.md; others have their defaults.
SCENARIOS = {
    "load80-burst75": dict(incast_per_server_hz=30.0, outgoing_incast_per_server_hz=30.0),
    "load40-burst100": dict(load=0.4, incast_burst=1.0, incast_per_server_hz=30.0, outgoing_incast_per_server_hz=30.0),
    "load60-burst50": dict(load=0.6, incast_burst=0.5, flow_rate=0.5),
    "load70-burst25": dict(load=0.7, incast_burst=0.25, flow_rate=1.0, outgoing_load=0.6),
    "load20-burst75": dict(load=0.2, outgoing_load=0.2, incast_per_server_hz=60.0),
    "local30-burst50": dict(load=0.4, rack_local_load=0.3, incast_burst=0.5, incast_per_server_hz=90.0),
    "hadoop-burst75": dict(load=0.5, flow_sizes="hadoop", incast_per_server_hz=40.0),
    "datamining-burst60": dict(load=0.6, flow_sizes="datamining", incast_burst=0.6),
}
DURATION_NS = 80_000_000

# Smaller and larger buffers than the 1 MB above; bursts that the uplinks can carry.
BUFFERS = {
    "buffer-quarter": dict(buffer_bytes=263_168, duration_ns=200_000_000),
    "buffer-half": dict(buffer_bytes=526_336, duration_ns=200_000_000),
    "buffer-twice": dict(buffer_bytes=2_105_344, incast_burst=0.4, duration_ns=200_000_000),
    "buffer-4-times": dict(buffer_bytes=4_210_688, incast_burst=0.25, duration_ns=200_000_000),
}


def dropcast(binary, *arguments):
    done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def generate(binary, folder, scenarios, first_seed):
    """Labelled traces of the scenarios, by name."""
    traces = {}
    for seed, (name, fields) in enumerate(scenarios.items(), start=first_seed):
        workload = {"duration_ns": DURATION_NS, "seed": seed, **fields}
        toml = folder / f"{name}.toml"
        toml.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in workload.items()))
        events, trace = folder / f"{name}.events.parquet", folder / f"{name}.parquet"
        dropcast(binary, "simulate", "--workload", toml, "-o", events)
        said = dropcast(binary, "collect", "--events", events, "-o", trace)
        events.unlink()
        print(said.strip().replace(str(folder) + "/", ""), flush=True)
        traces[name] = trace
    return traces


def f1(binary, folder, train, test, seeds):
    """By set of features, the F1 on the rows of `test` of each seed, None where it is undefined."""
    data = json.dumps([str(trace) for trace in train])
    (folder / "sweep.toml").write_text(
        f"data = {data}\ntest = {json.dumps([str(test)])}\n"
        f"[axes]\nfeatures = {json.dumps(FEATURES)}\nvotes = \"f1\"\nseeds = {list(range(1, seeds + 1))}\n"
    )
    with tempfile.TemporaryDirectory(dir=folder) as swept:
        dropcast(binary, "sweep", folder / "sweep.toml", "--threads", 2, "-o", swept)
        rows = json.loads((pathlib.Path(swept) / "sweep.json").read_text())["rows"]
    found = {}
    for row in rows:
        found.setdefault(tuple(row["features"]), []).append(row["test"]["f1"])
    # Rows are in the order of the axis.
    return dict(zip(FEATURES, found.values(), strict=True))


def more_bytes(binary, folder, train, test):
    """Bytes transmitted beyond the best alpha, by policy, of a forest trained with the defaults of `dropcast train`."""
    model = folder / "model.json"
    dropcast(binary, "train", *(word for trace in train for word in ("--data", trace)), "--seeds", 1, "-o", model)
    report = json.loads(dropcast(binary, "report", "--data", test, "--model", model, "--format", "json"))
    rivals = report["verdict"]["rivals"]
    sent = {policy["policy"]: policy["sent"]["bytes"] for policy in report["replay"]["total"]["policies"]}
    alpha = rivals["policies"][rivals["best_alpha"]]
    policies = {
        "LQD": sent["lqd"],
        "Credence": sent["credence"],
    }
    return alpha["alpha"], {name: sent - alpha["sent"]["bytes"] for name, sent in policies.items()}


def print_bytes(binary, folder, traces):
    print(f"\nbytes transmitted beyond the best alpha\n{'tested on':<20}{'alpha':>8}", end="")
    for place, (name, test) in enumerate(traces.items()):
        train = [trace for other, trace in traces.items() if other != name]
        alpha, more = more_bytes(binary, folder, train, test)
        if place == 0:
            print("".join(f"{policy:>16}" for policy in more))
        alpha = "infinite" if alpha is None else f"{alpha:g}"
        print(f"{name:<20}{alpha:>8}" + "".join(f"{bytes:>16,}" for bytes in more.values()), flush=True)


def mean(values):
    return None if None in values else statistics.mean(values)


def shown(value):
    return f"{'null' if value is None else f'{value:.3f}':>20}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--dropcast", default="target/release/dropcast")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--trace", nargs="*", default=[], type=pathlib.Path)
    parser.add_argument("--bytes", action="store_true")
    parser.add_argument("--first-seed", type=int, default=101)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        traces = generate(options.dropcast, folder, SCENARIOS, options.first_seed)
        given = {trace.stem: trace for trace in options.trace}
        traces |= given
        if options.bytes:
            print_bytes(options.dropcast, folder, traces)
            return
        measure = lambda train, test: f1(options.dropcast, folder, train, test, options.seeds)
        row = lambda name, found: print(f"{name:<20}" + "".join(shown(mean(found[f])) for f in FEATURES), flush=True)
        heading = "".join(f"{features:>20}" for features in FEATURES)
        print(f"\nF1, 4 trees of depth 4, trained on all others\n{'tested on':<20}{heading}")
        table = {features: {} for features in FEATURES}
        for name, test in traces.items():
            found = measure([trace for other, trace in traces.items() if other != name], test)
            for features in FEATURES:
                table[features][name] = found[features]
            row(name, found)
        means = [statistics.mean(filter(None.__ne__, map(mean, table[f].values()))) for f in FEATURES]
        print(f"{'mean':<20}" + "".join(map(shown, means)), flush=True)
        if options.json:
            options.json.write_text(json.dumps(table, indent=1) + "\n")
        buffers = generate(options.dropcast, folder, BUFFERS, 201)
        print(f"\nF1, 4 trees of depth 4, trained on all of the above\n{'tested on':<20}{heading}")
        for name, test in buffers.items():
            row(name, measure(traces.values(), test))
        for name, trace in given.items():
            print(f"\nF1, 4 trees of depth 4, trained on {name} alone\n{'tested on':<20}{heading}")
            for other, test in traces.items():
                if other != name:
                    row(other, measure([trace], test))


if __name__ == "__main__":
    main()
