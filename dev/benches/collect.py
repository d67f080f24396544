#!/usr/bin/env python3
"""How fast events become a labelled trace, from Parquet to Parquet, and in how much memory.

    dev/benches/collect.py [EVENTS.parquet --switch FILE.toml] [--dropcast target/release/dropcast]

Without a file: 1 s of arrivals of the default leaf. For each set of features and each way of draining the
queues it prints the fastest of three runs (other load only slows a run down): million events per second
and per second of processor time, peak memory, and bytes of the trace per row.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time


def run(command):
    """Seconds, processor seconds, peak memory in MB, and what was printed."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdout=said, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}: exit code {child.returncode}")
        said.seek(0)
        return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("events", nargs="?", type=pathlib.Path)
    parser.add_argument("--switch", type=pathlib.Path)
    parser.add_argument("--dropcast", default="target/release/dropcast")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        events, trace = args.events, pathlib.Path(folder, "trace.parquet")
        if events is None:
            events = pathlib.Path(folder, "events.parquet")
            run([args.dropcast, "simulate", "--duration-ms", "1000", "-o", events])
        switch = ["--switch", args.switch] if args.switch else []
        drains = ["line-rate", "observed"] if args.events else ["line-rate"]
        count = json.loads(run([args.dropcast, "inspect", events, *switch, "--check", "--format", "json"])[3])["rows"]
        for features in ["paper4", "level4"]:
            for departures in drains:
                command = [args.dropcast, "collect", "--events", events, *switch, "--features", features]
                command += ["--departures", departures, "-o", trace, "--format", "json"]
                runs = [run(command) for _ in range(3)]
                seconds, processor, peak, said = min(runs, key=lambda one: one[0])
                rows = json.loads(said)["rows"]
                print(
                    f"{features} {departures:9} {count} events  {count / seconds / 1e6:5.2f} M events/s  "
                    f"{count / processor / 1e6:5.2f} M events per processor second  "
                    f"{max(one[2] for one in runs):4.0f} MB  {trace.stat().st_size / rows:5.2f} bytes a row"
                )


if __name__ == "__main__":
    main()
