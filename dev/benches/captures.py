#!/usr/bin/env python3
"""What a day of captures costs: from pcap to a verdict with all alphas, and a whole run, in CPU seconds and memory.

    dev/benches/captures.py [--windows 12] [--snap 96] [--keep FOLDER] [--dropcast target/release/dropcast]

The arrivals of 1 s of the default leaf become packets, and are written that often, an hour apart, into a capture for
each hour: 1.8 GB by default. Needs numpy and pyarrow.
"""
import argparse
import multiprocessing
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import pyarrow.parquet as pq

START_NS = 1_767_225_600_000_000_000
HOUR_NS = 3_600_000_000_000


def run(name, command):
    """Runs a command and prints what it took."""
    began = time.monotonic()
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(map(str, command))}:\n{said.decode()}")
    print(
        f"{name:8} {used.ru_utime + used.ru_stime:6.1f} CPU s ({used.ru_stime:.1f} system), "
        f"{time.monotonic() - began:6.1f} s, {used.ru_maxrss / 1024:5.0f} MB",
        flush=True,
    )


def packets(events, snap):
    """Records of pcap: TCP of each flow, to 10.0.PORT.1."""
    rows = len(events["time_ns"])
    record = np.dtype(
        [("seconds", "<u4"), ("nanoseconds", "<u4"), ("captured", "<u4"), ("size", "<u4"), ("bytes", "u1", snap)]
    )
    out = np.zeros(rows, record)
    # Smaller packets are made as large as the snapshot.
    size = np.maximum(events["size_bytes"], snap)
    out["captured"], out["size"] = snap, size
    data, flow = out["bytes"], events["flow_hash"]
    data[:, :14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]
    data[:, 14:34] = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 1, 0, 0, 10, 0, 0, 1]
    for at, number in [(16, size - 14), (18, np.arange(rows) & 0xFFFF), (34, flow & 0xFFFF), (36, flow >> 16 & 0xFFFF)]:
        data[:, at], data[:, at + 1] = number >> 8 & 0xFF, number & 0xFF
    data[:, 15] = np.where(events["queue"] == 0, 0, 46 << 2)
    data[:, 28], data[:, 29], data[:, 32] = flow >> 32 & 0xFF, flow >> 40 & 0xFF, events["port"]
    sequence = np.arange(rows, dtype=np.uint64) * 1448
    for place in range(4):
        data[:, 38 + place] = sequence >> (24 - 8 * place) & 0xFF
    data[:, 46], data[:, 47] = 0x50, 0x10
    return out


def write(folder, args):
    """Captures of all hours, and the switch description."""
    events, switch = folder / "events.parquet", folder / "leaf.toml"
    subprocess.run([args.dropcast, "simulate", "--seed", "7", "-o", events], check=True, stdout=subprocess.DEVNULL)
    said = subprocess.run([args.dropcast, "inspect", events], check=True, capture_output=True, text=True).stdout
    spec = said.split("switches:\n")[1]
    ports = int(spec.split("ports = ")[1].split("\n")[0])
    rules = "".join(f'[[capture.port]]\nport = {port}\ndestination_ip = "10.0.{port}.0/24"\n' for port in range(ports))
    switch.write_text(f"{spec}\n{rules}[[capture.queue]]\nqueue = 1\ndscp = 46\n")
    table = pq.read_table(events)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    out = packets(columns, args.snap)
    captures = folder / "captures"
    captures.mkdir()
    header = np.array([0xA1B23C4D, 0x00040002, 0, 0, 65_535, 1], "<u4").tobytes()
    for window in range(args.windows):
        times = columns["time_ns"].astype(np.uint64) + np.uint64(START_NS + window * HOUR_NS)
        out["seconds"], out["nanoseconds"] = times // 10**9, times % 10**9
        with open(captures / f"hour-{window:02}.pcap", "wb") as file:
            file.write(header)
            file.write(out.tobytes())
    bytes_each = os.path.getsize(captures / "hour-00.pcap")
    print(f"{args.windows} captures, {args.windows * len(out):,} packets, {args.windows * bytes_each / 1e9:.2f} GB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--windows", type=int, default=12)
    parser.add_argument("--snap", type=int, default=96)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for what is made; it may have been made before")
    parser.add_argument("--dropcast", default="target/release/dropcast")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        captures, switch = folder / "captures", folder / "leaf.toml"
        if not captures.exists():
            # In a process of its own: the memory of a command would not be seen below that of the process that starts it.
            writer = multiprocessing.get_context("spawn").Process(target=write, args=(folder, args))
            writer.start()
            writer.join()
            if writer.exitcode != 0:
                raise SystemExit(writer.exitcode)
        files, trace = sorted(captures.iterdir()), pathlib.Path(scratch, "trace.parquet")
        given = ["--events", *files, "--switch", switch]
        run("collect", [args.dropcast, "collect", *given, "-o", trace])
        run("report", [args.dropcast, "report", "--data", trace])
        run("run", [args.dropcast, "run", *given, "--runs", pathlib.Path(scratch, "runs")])


if __name__ == "__main__":
    main()
