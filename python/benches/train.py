"""Training from a pyarrow table: against the command on the same rows in a file, and scikit-learn.

    python python/benches/train.py --rows 10000000 --command target/release/dropcast

Prints seconds and processor seconds, the least of some repetitions in turns, and their ratios. All use two
threads by default. The command is a process that also reads the file; the function is called on a
table that is in memory. scikit-learn grows as many trees, as deep, on all rows, once; then it scores them, as
dropcast does in its time.

    python python/benches/train.py --trace trace.parquet

times `dropcast.train` on a labelled trace instead, which has arrivals and so can be replayed: as it is called by
default, with `vote="f1"`, and with `vote="f1", gain=False`, which is the fit alone.
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


def cost(work) -> tuple[float, float]:
    """Seconds, and processor seconds of this process and of those that it started."""
    before, began = os.times(), time.perf_counter()
    work()
    after, ended = os.times(), time.perf_counter()
    return ended - began, sum(after[:4]) - sum(before[:4])


def least(costs: list[tuple[float, float]]) -> tuple[float, float]:
    """The least seconds and the least processor seconds: others use this machine, too."""
    return min(of[0] for of in costs), min(of[1] for of in costs)


def report(what: str, count: int, of: tuple[float, float]) -> None:
    print(f"{what:30} {of[0]:9.3f} s  {of[1]:9.3f} CPU s  {count / of[0] / 1e6:6.2f} M rows/s", flush=True)


def compare(what: str, one: tuple[float, float], other: tuple[float, float]) -> None:
    print(f"{what:36} {one[0] / other[0]:7.2f} in time, {one[1] / other[1]:7.2f} in CPU time", flush=True)


def of_trace(path: str, repetitions: int, threads: int) -> None:
    """The cost of the replays that choose the vote threshold and measure the gain."""
    table = pq.read_table(path)
    trace = dropcast.Trace(table)
    calls = {
        "fit": {"vote": "f1", "gain": False},
        "vote f1": {"vote": "f1"},
        "default": {},
    }
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(repetitions):
        for name, settings in calls.items():
            def train(settings=settings):
                dropcast.train(trace, progress=False, threads=threads, **settings)
            costs[name].append(cost(train))
    for name, settings in calls.items():
        options = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        report(f"train(trace{', ' + options if options else ''})", table.num_rows, least(costs[name]))
        compare(f"{name} / fit", least(costs[name]), least(costs["fit"]))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--repetitions", type=int, default=3)
    arguments.add_argument("--command", default="dropcast")
    arguments.add_argument("--without-sklearn", action="store_true")
    arguments.add_argument("--trace")
    given = arguments.parse_args()
    if given.trace:
        of_trace(given.trace, given.repetitions, given.threads)
        return
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
            theirs.append(cost(run_command))
            ours.append(cost(run_function))
        function, process = least(ours), least(theirs)
    print(f"{given.rows:,} rows, {given.threads} threads, dropcast {dropcast.__version__}, "
          f"load {os.getloadavg()[0]:.1f}")
    report("dropcast.train", given.rows, function)
    report("dropcast train", given.rows, process)
    compare("function / command", function, process)
    if given.without_sklearn:
        return
    import sklearn
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import average_precision_score, precision_recall_curve

    X = np.column_stack([table[name].to_numpy() for name in FEATURES])
    y = table["drop"].to_numpy()
    forest = RandomForestClassifier(4, max_depth=4, n_jobs=given.threads, random_state=1)
    fitted = cost(lambda: forest.fit(X, y))
    name = f"scikit-learn {sklearn.__version__}"
    report(f"{name}, fit", given.rows, fitted)
    compare("scikit-learn, fit / function", fitted, function)

    def score() -> None:
        """What dropcast.train also reports: the best threshold by F1, and average precision."""
        scores = forest.predict_proba(X)[:, 1]
        precision_recall_curve(y, scores)
        average_precision_score(y, scores)

    scored = cost(score)
    both = (fitted[0] + scored[0], fitted[1] + scored[1])
    report(f"{name}, and scores", given.rows, both)
    compare("scikit-learn, and scores / function", both, function)


if __name__ == "__main__":
    main()
