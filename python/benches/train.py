"""Training from a pyarrow table: against the command on the same rows in a file, and scikit-learn.

    python python/benches/train.py --rows 10000000 --command target/release/dropcast

Prints seconds (the best of some repetitions, alternating) and their ratios. All use two threads unless
told otherwise. The command is a process that also reads the file; the function is called on a table that
is in memory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dropcast

FEATURES = ["queue_length", "avg_queue_length", "occupancy", "avg_occupancy"]


def rows(count: int) -> pa.Table:
    """Rows as of a busy switch: columns that go together, 1% drops near a full buffer."""
    rng = np.random.default_rng(1)
    occupancy = rng.integers(0, 1_000_000, count, dtype=np.uint32)
    queue = (occupancy * rng.random(count)).astype(np.uint32)
    columns = {
        "queue_length": queue,
        "avg_queue_length": (queue * rng.random(count)).astype(np.uint32),
        "occupancy": occupancy,
        "avg_occupancy": (occupancy * rng.random(count)).astype(np.uint32),
    }
    drop = (occupancy > 950_000) & (queue > 700_000) | (rng.random(count) < 0.002)
    return pa.table({**columns, "drop": drop})


def seconds(work, repetitions: int) -> float:
    times = []
    for _ in range(repetitions):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--repetitions", type=int, default=3)
    arguments.add_argument("--command", default="dropcast")
    arguments.add_argument("--without-sklearn", action="store_true")
    given = arguments.parse_args()
    table = rows(given.rows)
    settings = {
        "features": "paper4",
        "split": "none",
        "vote": "f1",
        "threads": given.threads,
    }
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "rows.parquet")
        pq.write_table(table, file, compression="zstd")
        flags = [f"--{name}={value}" for name, value in settings.items()]
        command = [given.command, "train", "--data", file, *flags, "-o", f"{folder}/m.json"]

        def run_command() -> None:
            subprocess.run(command, check=True, capture_output=True)

        def run_function() -> None:
            dropcast.train(table, progress=False, **settings)

        ours, theirs = [], []
        for _ in range(given.repetitions):
            theirs.append(seconds(run_command, 1))
            ours.append(seconds(run_function, 1))
        function, process = min(ours), min(theirs)
        model = dropcast.train(table, progress=False, **settings)
        same = dropcast.Model.load(f"{folder}/m.json").to_dict()["forest"]
        print(f"rows: {given.rows:,}, threads: {given.threads}")
        print(f"function: {function:.3f} s, {given.rows / function / 1e6:.1f} M rows/s")
        print(f"command:  {process:.3f} s")
        print(f"function / command: {function / process:.3f}")
        print(f"same features: {same['features'] == model.features}")
    if given.without_sklearn:
        return
    from sklearn.ensemble import RandomForestClassifier

    X = np.column_stack([table[name].to_numpy() for name in FEATURES])
    y = table["drop"].to_numpy()
    forest = RandomForestClassifier(4, max_depth=4, n_jobs=given.threads, random_state=1)
    sklearn = seconds(lambda: forest.fit(X, y), 1)
    print(f"scikit-learn: {sklearn:.3f} s")
    print(f"scikit-learn / function: {sklearn / function:.1f}")


if __name__ == "__main__":
    main()
