#!/usr/bin/env python3
"""How long does a decision of the untrained rule take in C (docs/rule.md)?

    python3 dev/benches/rule_latency.py EVENTS.parquet --switch leaf.toml [--policy oracle:gate=0.5]

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
        (scratch / "events").write_bytes(rows.tobytes())
        for compiler in filter(shutil.which, ["gcc", "clang"]):
            command = [compiler, "-O2", f"-I{scratch}", HERE / "rule_latency.c", "-o", scratch / "rule"]
            subprocess.run(command, check=True)
            said = subprocess.run([scratch / "rule", scratch / "events", str(len(rows))], check=True, stdout=subprocess.PIPE)
            print(f"{compiler}: {said.stdout.decode()}", end="")


if __name__ == "__main__":
    main()
