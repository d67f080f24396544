#!/usr/bin/env python3
"""Does `dropcast train` make forests as good as scikit-learn's?

Fits both on the same rows, over several seeds, and compares F1 and average precision on the same
test rows. Prints a table; exits with 1 if a mean differs by more than noise explains.

    python3 -m pip install numpy pyarrow scikit-learn
    cargo build --release
    python3 dev/benches/sklearn_agreement.py TRACE.parquet

TRACE.parquet is a labelled trace in order of arrival (`dropcast collect` writes it). The rows are
split here and passed to dropcast as two files, so that both sides use exactly the same rows.
"""

import argparse
import json
import math
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import average_precision_score, f1_score
except ImportError as error:
    sys.exit(f"{error}; run: python3 -m pip install numpy pyarrow scikit-learn")

PAPER4 = ["queue_length", "avg_queue_length", "occupancy", "avg_occupancy"]
SCORES = ["F1 at vote 0.5", "F1 at best train vote", "average precision"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("trace", help="labelled trace in order of arrival")
    parser.add_argument(
        "--dropcast",
        default="cargo run --release --quiet --",
        help="how to run dropcast (default: %(default)s)",
    )
    parser.add_argument(
        "--features",
        default=",".join(PAPER4),
        help="columns of the trace, separated by commas (default: the paper's four)",
    )
    parser.add_argument(
        "--forest",
        action="append",
        metavar="TREESxDEPTH",
        help="size of the forests, more than one may be given (default: 4x4 16x8)",
    )
    parser.add_argument("--split", choices=["time-blocks", "time"], default="time-blocks")
    parser.add_argument("--seeds", type=int, default=8, help="fits per side (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="threads (default: %(default)s)")
    return parser.parse_args()


def read(path, features):
    """The trace, its features as a matrix, and its labels."""
    table = pq.read_table(path)
    missing = [name for name in features if name not in table.column_names]
    if missing:
        sys.exit(f"{path}: no column {', '.join(missing)}")
    columns = np.array([table[name].to_numpy() for name in features], dtype=np.float32)
    drops = table["outcome"].to_numpy() != 1
    return table, columns.T, drops


def training_rows(count, split):
    """Which rows train: the first 60%, or the even twentieths."""
    row = np.arange(count)
    return row < count * 6 // 10 if split == "time" else row * 20 // count % 2 == 0


def best_threshold(scores, drops):
    """The score that drops must exceed for the best F1: the middle of its gap."""
    order = np.argsort(-scores, kind="stable")
    ranked, found = scores[order], np.cumsum(drops[order])
    last_of_score = np.append(ranked[1:] != ranked[:-1], True)
    f1 = np.where(last_of_score, 2 * found / (np.arange(1, len(ranked) + 1) + drops.sum()), 0)
    best = int(f1.argmax())
    below = ranked[best + 1] if best + 1 < len(ranked) else 0
    return (ranked[best] + below) / 2


def fit_sklearn(values, drops, train, size, seed, jobs):
    trees, depth = size
    forest = RandomForestClassifier(
        n_estimators=trees, max_depth=depth, random_state=seed, n_jobs=jobs
    )
    began = time.perf_counter()
    forest.fit(values[train], drops[train])
    seconds = time.perf_counter() - began
    scores = forest.predict_proba(values)[:, 1]
    threshold = best_threshold(scores[train], drops[train])
    test_scores, test_drops = scores[~train], drops[~train]
    return seconds, [
        f1_score(test_drops, test_scores > 0.5),
        f1_score(test_drops, test_scores > threshold),
        average_precision_score(test_drops, test_scores),
    ]


def fit_dropcast(command, files, features, size, seed, jobs):
    train, test = files
    model = train.with_name("model.json")
    trees, depth = size
    metrics = {}
    for vote in ("fixed:0.5", "f1"):
        call = shlex.split(command) + ["train", "--data", train, "--test", test, "-o", model]
        call += ["--features", ",".join(features), "--vote", vote]
        call += ["--n-estimators", trees, "--max-depth", depth, "--seed", seed, "--threads", jobs]
        began = time.perf_counter()
        done = subprocess.run([str(word) for word in call], capture_output=True, text=True)
        seconds = time.perf_counter() - began
        if done.returncode != 0:
            sys.exit(f"{shlex.join(map(str, call))}\n{done.stderr}")
        metrics[vote] = json.loads(model.read_text())["metrics"]["test"]
    # F1 is null only if its denominator is 0; the test rows have drops.
    f1 = [metrics[vote]["f1"] for vote in ("fixed:0.5", "f1")]
    return seconds, f1 + [metrics["f1"]["average_precision"]]


def compare(name, ours, theirs):
    """Prints a line; whether the means agree within three standard errors of their difference."""
    ours, theirs = np.array(ours), np.array(theirs)
    error = math.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / len(ours))
    difference = ours.mean() - theirs.mean()
    agree = abs(difference) <= 3 * error
    print(
        f"  {name:22} {ours.mean():.4f} ± {ours.std(ddof=1):.4f}   "
        f"{theirs.mean():.4f} ± {theirs.std(ddof=1):.4f}   "
        f"{difference:+.4f} ± {error:.4f}   {'agree' if agree else 'DIFFER'}"
    )
    return agree


def main():
    options = arguments()
    if options.seeds < 2:
        sys.exit("--seeds: at least 2, or there is no noise to compare with")
    features = options.features.split(",")
    table, values, drops = read(options.trace, features)
    train = training_rows(len(drops), options.split)
    print(
        f"{len(drops)} rows, {options.split} split: {train.sum()} train ({drops[train].sum()} drops), "
        f"{(~train).sum()} test ({drops[~train].sum()} drops); {options.seeds} seeds"
    )
    all_agree = True
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / name for name in ("train.parquet", "test.parquet")]
        for path, rows in zip(files, (train, ~train)):
            pq.write_table(table.filter(pa.array(rows)), path)
        for text in options.forest or ["4x4", "16x8"]:
            size = tuple(map(int, text.split("x")))
            seeds = range(1, options.seeds + 1)
            ours = [
                fit_dropcast(options.dropcast, files, features, size, seed, options.jobs)
                for seed in seeds
            ]
            theirs = [
                fit_sklearn(values, drops, train, size, seed, options.jobs) for seed in seeds
            ]
            print(f"{text}: mean ± standard deviation   dropcast, scikit-learn, difference ± its error")
            for nth, name in enumerate(SCORES):
                pairs = [[scores[nth] for _, scores in side] for side in (ours, theirs)]
                all_agree &= compare(name, *pairs)
            times = [np.median([seconds for seconds, _ in side]) for side in (ours, theirs)]
            print(
                f"  median seconds: dropcast {times[0]:.2f} (whole command, files and metrics "
                f"included), scikit-learn {times[1]:.2f} (fit alone)"
            )
    return 0 if all_agree else 1


if __name__ == "__main__":
    sys.exit(main())
