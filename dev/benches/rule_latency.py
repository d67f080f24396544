#!/usr/bin/env python3
"""How long does a decision of the untrained rule (docs/rule.md), or of a forest over Dynamic Thresholds (docs/filter.md), take in C?

    python3 dev/benches/rule_latency.py EVENTS.parquet --switch leaf.toml [--policy oracle:base=dt:alpha=8,model=model.json]

The packets of the events arrive at the exported header, in order and at their times. What it accepts waits in FIFO queues; each
departure of the events takes the first packet of its queue, if there is one. Prints nanoseconds a call (an arrival or a
departure) and an arrival with its departure, the median of 11 passes, for gcc and clang with -O2, and the bytes of the
state. Needs numpy and pyarrow.
"""
import argparse
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np
import pyarrow.parquet as pq

POLICY = """#include "{name}_config.h"
#include "{name}.h"
#define POLICY_STATE {name}
#define POLICY_QUEUES {upper}_QUEUES
#define POLICY_QUEUES_PER_PORT {upper}_QUEUES_PER_PORT
#define POLICY_INIT {name}_init
#define POLICY_ARRIVAL {name}_arrival
#define POLICY_DEPARTURE {name}_departure
"""
HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("events", type=pathlib.Path)
    parser.add_argument("--switch", type=pathlib.Path, required=True, help="description of the switch")
    parser.add_argument("--policy", default="oracle:gate=0.5", help="default: %(default)s")
    parser.add_argument("--dropcast", type=pathlib.Path, default=HERE.parents[1] / "target/release/dropcast")
    args = parser.parse_args()
    table = pq.read_table(args.events)
    rows = np.zeros(len(table), [("time_ns", "<u8"), *((name, "<u4") for name in ("kind", "port", "queue", "size_bytes"))])
    for name in rows.dtype.names:
        rows[name] = table[name].to_numpy()
    if not (rows["kind"] == 1).any():
        raise SystemExit(f"{args.events} has no departures: the buffer would fill and stay full")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        export = [args.dropcast, "export", "--policy", args.policy, "--switch", args.switch, "-o", scratch]
        subprocess.run(export, check=True, stdout=subprocess.DEVNULL)
        name = "dropcast_filter" if (scratch / "dropcast_filter.h").exists() else "dropcast_rule"
        (scratch / "policy.h").write_text(POLICY.format(name=name, upper=name.upper()))
        (scratch / "events").write_bytes(rows.tobytes())
        for compiler in filter(shutil.which, ["gcc", "clang"]):
            command = [compiler, "-O2", f"-I{scratch}", HERE / "rule_latency.c", "-o", scratch / "policy"]
            subprocess.run(command, check=True)
            said = subprocess.run([scratch / "policy", scratch / "events", str(len(rows))], check=True, stdout=subprocess.PIPE)
            print(f"{compiler}: {said.stdout.decode()}", end="")


if __name__ == "__main__":
    main()
