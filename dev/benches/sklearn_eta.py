#!/usr/bin/env python3
"""Are our forests as good oracles as scikit-learn's of the same size, by exact eta?

Fits both on the same training rows, over several seeds. scikit-learn's forests are converted
with skl2onnx and `dropcast import`; both get the vote threshold with the best F1 on training rows, in
the middle of its gap. `dropcast report` then replays the same test rows with both: F1, and 1/eta
(FollowLQD's packets without the predicted drops, as a share of LQD's packets; Definition 1 of the
Credence paper). Exits with 1 if our mean of either is lower by more than noise explains.

    python3 -m pip install numpy pyarrow scikit-learn skl2onnx
    cargo build --release
    python3 dev/benches/sklearn_eta.py TRACE.parquet

TRACE.parquet is a labelled trace in order of arrival (`dropcast collect` writes it). Even twentieths
of its rows train and odd ones test.
"""

import argparse
import json
import math
import pathlib
import shlex
import subprocess
import sys
import tempfile

from sklearn_agreement import PAPER4, best_threshold, read, training_rows

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.ensemble import RandomForestClassifier
except ImportError as error:
    sys.exit(f"{error}; run: python3 -m pip install numpy pyarrow scikit-learn skl2onnx")

CARRY4 = ["queue_length", "occupancy", "longest_gap", "projected_occupancy"]
LEVEL4 = ["level_occupancy", "level_in_quarter_rtt", "level_in_one_rtt", "level_in_two_rtts"]
FEATURES = {"paper4": PAPER4, "carry4": CARRY4, "level4": LEVEL4}
SETTINGS = ["paper4:4x4", "carry4:4x4", "carry4:16x8", "level4:4x4", "level4:16x8"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("trace", help="labelled trace in order of arrival")
    parser.add_argument("--dropcast", default="target/release/dropcast")
    parser.add_argument("--seeds", type=int, default=4, help="fits per side (default: %(default)s)")
    names = ", ".join(FEATURES)
    parser.add_argument(
        "--settings",
        nargs="+",
        type=setting,
        metavar="FEATURES:TREESxDEPTH",
        default=SETTINGS,
        help=f"what to compare; features are {names} (default: {' '.join(SETTINGS)})",
    )
    parser.add_argument("--jobs", type=int, default=1, help="threads (default: %(default)s)")
    return parser.parse_args()


def setting(text):
    """FEATURES:TREESxDEPTH, if it is one."""
    name, _, size = text.partition(":")
    trees, _, depth = size.partition("x")
    if name not in FEATURES or not (trees.isdigit() and depth.isdigit()):
        raise argparse.ArgumentTypeError(f"{text}: not FEATURES:TREESxDEPTH")
    return text


class Bench:
    """The rows, as files and in memory, and how dropcast is run on them."""

    def __init__(self, options, folder):
        self.command = shlex.split(options.dropcast)
        self.jobs = options.jobs
        self.model = folder / "model.json"
        self.onnx = folder / "forest.onnx"
        self.files = [folder / name for name in ("train.parquet", "test.parquet")]
        table, _, self.drops = read(options.trace, [])
        self.table = table
        self.train = training_rows(len(self.drops), "time-blocks")
        for path, rows in zip(self.files, (self.train, ~self.train)):
            pq.write_table(table.filter(pa.array(rows)), path)

    def run(self, *words):
        call = [*self.command, *map(str, words)]
        done = subprocess.run(call, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(call)}\n{done.stderr}")
        return done.stdout

    def scores(self):
        """F1 and 1/eta of the model on the test rows."""
        said = self.run("report", "--model", self.model, "--data", self.files[1], "--format", "json")
        report = json.loads(said)
        return report["prediction"]["f1"], report["replay"]["total"]["eta"]["packets_inverse"]

    def ours(self, features, size, seed):
        trees, depth = size
        train, test = self.files
        self.run(
            *("train", "--data", train, "--test", test, "-o", self.model, "--vote", "f1"),
            *("--features", ",".join(features), "--seed", seed, "--threads", self.jobs),
            *("--n-estimators", trees, "--max-depth", depth),
        )
        return self.scores()

    def theirs(self, features, size, seed):
        trees, depth = size
        columns = [self.table[name].to_numpy() for name in features]
        values = np.stack(columns, axis=1).astype(np.float32)[self.train]
        drops = self.drops[self.train]
        forest = RandomForestClassifier(
            n_estimators=trees, max_depth=depth, random_state=seed, n_jobs=self.jobs
        )
        forest.fit(values, drops)
        threshold = best_threshold(forest.predict_proba(values)[:, 1], drops)
        kind = [("x", FloatTensorType([None, len(features)]))]
        onnx = to_onnx(forest, initial_types=kind, options={id(forest): {"zipmap": False}})
        self.onnx.write_bytes(onnx.SerializeToString())
        # For large forests 8-bit weights are not proven to decide every row the same.
        self.run(
            *("import", self.onnx, "--features", ",".join(features), "-o", self.model),
            *("--allow-rounding", f"--threshold={threshold}"),
        )
        return self.scores()


def compare(name, ours, theirs):
    """Prints a line; whether our mean is not below theirs by three standard errors."""
    ours, theirs = np.array(ours), np.array(theirs)
    error = math.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / len(ours))
    difference = ours.mean() - theirs.mean()
    is_fine = difference >= -3 * error
    listed = " ".join(f"{a:.5f}/{b:.5f}" for a, b in zip(ours, theirs))
    print(
        f"  {name:6} {ours.mean():.5f} ± {ours.std(ddof=1):.5f}   "
        f"{theirs.mean():.5f} ± {theirs.std(ddof=1):.5f}   "
        f"{difference:+.5f} ± {error:.5f}   {'no worse' if is_fine else 'WORSE'}   {listed}",
        flush=True,
    )
    return is_fine


def main():
    options = arguments()
    if options.seeds < 2:
        sys.exit("--seeds: at least 2, or there is no noise to compare with")
    all_fine = True
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        train, drops = bench.train, bench.drops
        print(
            f"{train.sum()} rows train ({drops[train].sum()} drops), {(~train).sum()} test "
            f"({drops[~train].sum()} drops); {options.seeds} seeds"
        )
        print("mean ± standard deviation: dropcast, scikit-learn, difference ± its error; each seed")
        for text in options.settings:
            name, _, size = text.partition(":")
            features, size = FEATURES[name], tuple(map(int, size.split("x")))
            seeds = range(1, options.seeds + 1)
            ours = [bench.ours(features, size, seed) for seed in seeds]
            theirs = [bench.theirs(features, size, seed) for seed in seeds]
            print(text)
            for nth, score in enumerate(["F1", "1/eta"]):
                pair = [[scores[nth] for scores in side] for side in (ours, theirs)]
                all_fine &= compare(score, *pair)
    return 0 if all_fine else 1


if __name__ == "__main__":
    sys.exit(main())
