#!/usr/bin/env python3
"""How fast and how good is the trainer, compared with scikit-learn, LightGBM and XGBoost?

Generates labelled rows once (four integers a row, like queue lengths and occupancies, and rare
drops), gives the same rows to every trainer, each in its own process with the same number of
threads, and prints a table with ratios. Binning is included on all sides: the time is from columns
in memory to a finished forest. Then the sweep of 64 configurations and the prediction rates.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy scikit-learn lightgbm xgboost
    /tmp/peers/bin/python dev/benches/trainer_vs_peers.py

lab/examples/measure.rs measures ours; `cargo` builds it first. F1 is measured on test rows, at the
best threshold on training rows. Memory is the peak resident size during the fit, minus the process's
memory before it: the columns, as 32-bit numbers, in each process.
"""

import argparse
import importlib
import importlib.metadata
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError as error:
    sys.exit(f"{error}; run: python3 -m pip install numpy scikit-learn lightgbm xgboost")

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEASURE = ROOT / "target" / "release" / "examples" / "measure"
BUFFER_BYTES = 1_000_000
# The imported module, by package name.
PEERS = {"scikit-learn": "sklearn.ensemble", "lightgbm": "lightgbm", "xgboost": "xgboost"}
TREES = DEPTH = 4


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3, help="fits of each, with other seeds; the median counts")
    parser.add_argument(
        "--peers", default=",".join(PEERS), help="which to compare with (default: %(default)s)"
    )
    parser.add_argument("--no-sweep", action="store_true", help="leave the sweep out: it is long")
    parser.add_argument("--folder", help="where to keep the rows; a temporary folder otherwise")
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    return parser.parse_args()


def generate(folder, rows, seed):
    """Writes columns of queue lengths and occupancies, with their averages, and rare drops.

    The buffer's load goes in bursts of 500 rows. A packet is dropped where the buffer is nearly
    full and its queue long, with noise that no feature shows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    load = np.repeat(rng.random(rows // 500 + 1) ** 2, 500)[:rows]
    occupancy = np.minimum(BUFFER_BYTES, load * 1.1 * BUFFER_BYTES * rng.random(rows) ** 0.3)
    queue = occupancy * rng.random(rows) ** 4 // 1500 * 1500
    avg_queue = queue * 0.7 + rng.random(rows) * 60_000
    avg_occupancy = occupancy * 0.8 + rng.random(rows) * 150_000
    excess = (occupancy / BUFFER_BYTES - 0.93) * 25 + (queue / BUFFER_BYTES - 0.35) * 9
    drop = excess + rng.normal(size=rows) * 0.8 > 2.2
    for number, column in enumerate([queue, avg_queue, occupancy, avg_occupancy]):
        column.astype("<u4").tofile(folder / f"{number}.u32")
    drop.astype("u1").tofile(folder / "drop.u8")


def read(folder):
    """The raw columns, and the labels."""
    files = sorted(folder.glob("*.u32"))
    columns = [np.fromfile(file, "<u4") for file in files]
    return columns, np.fromfile(folder / "drop.u8", "u1")


def memory(field):
    """A line of /proc/self/status in bytes."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def best_threshold(scores, drops):
    """The score that drops must exceed for the best F1: the middle of its gap."""
    order = np.argsort(-scores, kind="stable")
    ranked, found = scores[order], np.cumsum(drops[order], dtype=np.int64)
    last_of_score = np.append(ranked[1:] != ranked[:-1], True)
    f1 = np.where(last_of_score, 2 * found / (np.arange(1, len(ranked) + 1) + found[-1]), 0)
    best = int(f1.argmax())
    below = ranked[best + 1] if best + 1 < len(ranked) else 0
    return (ranked[best] + below) / 2


def f1(predicted, drops):
    hits = int((predicted & (drops == 1)).sum())
    return 2 * hits / (int(predicted.sum()) + int((drops == 1).sum()))


def fit_peer(name, module, values, drops, threads, seed):
    """Fits a forest with the imported module; returns a function from values to scores."""
    if name == "scikit-learn":
        forest = module.RandomForestClassifier(
            n_estimators=TREES, max_depth=DEPTH, n_jobs=threads, random_state=seed
        ).fit(values, drops)
        return lambda rows: forest.predict_proba(rows)[:, 1]
    if name == "lightgbm":
        settings = {
            "objective": "binary",
            "boosting": "rf",
            "num_threads": threads,
            "max_bin": 255,
            "max_depth": DEPTH,
            "num_leaves": 2**DEPTH,
            "bagging_freq": 1,
            "bagging_fraction": 0.632,
            "feature_fraction_bynode": 0.5,
            "seed": seed,
            "verbosity": -1,
        }
        forest = module.train(settings, module.Dataset(values, drops), TREES)
        return forest.predict
    settings = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "max_bin": 255,
        "max_depth": DEPTH,
        "num_parallel_tree": TREES,
        "learning_rate": 1,
        "subsample": 0.632,
        "colsample_bynode": 0.5,
        "nthread": threads,
        "seed": seed,
    }
    data = module.QuantileDMatrix(values, drops, max_bin=255, nthread=threads)
    forest = module.train(settings, data, 1)
    return lambda rows: forest.inplace_predict(rows)


def measure_peer(options):
    """One fit in this process; prints its time and memory as JSON."""
    folder = pathlib.Path(options.folder)
    columns, drops = read(folder)
    # Each trainer's preferred input: 32-bit floats, to which scikit-learn copies anything else.
    values = np.stack(columns, axis=1).astype(np.float32)
    del columns
    # Imported before, so that the import does not count as time or memory of the fit.
    module = importlib.import_module(PEERS[options.peer])
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    began = time.perf_counter()
    score = fit_peer(options.peer, module, values, drops, options.threads, options.seed)
    seconds = time.perf_counter() - began
    peak = memory("VmHWM") - before
    threshold = best_threshold(score(values), drops)
    test_columns, test_drops = read(folder / "test")
    test = np.stack(test_columns, axis=1).astype(np.float32)
    found = f1(score(test) > threshold, test_drops)
    print(json.dumps({"seconds": seconds, "f1": found, "peak_bytes": peak}))


def run(command):
    """The JSON that a command prints."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def median_of(options, command):
    """The median of each number over several processes, each with a seed of its own; of F1, the
    mean and its standard deviation: which features a forest draws matters to it."""
    seeds = range(options.seed, options.seed + options.repeats)
    found = [run([*command, seed]) for seed in seeds]
    medians = {key: statistics.median(each[key] for each in found) for key in found[0]}
    f1s = [each["f1"] for each in found]
    spread = statistics.stdev(f1s) if len(f1s) > 1 else float("nan")
    return medians | {"f1": statistics.mean(f1s), "f1_sd": spread}


def compare(options, folder):
    shape = [TREES, DEPTH, options.threads]
    ours = median_of(options, [MEASURE, "fit", folder, *shape])
    print(f"{'':24}{'seconds':>9}{'x ours':>8}{'test F1':>17}{'peak MB':>9}{'x ours':>8}")

    def line(name, found):
        print(
            f"{name:24}{found['seconds']:9.2f}{found['seconds'] / ours['seconds']:8.1f}"
            f"{found['f1']:9.4f} ± {found['f1_sd']:.3f}{found['peak_bytes'] / 1e6:9.0f}"
            f"{found['peak_bytes'] / ours['peak_bytes']:8.1f}",
            flush=True,
        )

    line("dropcast", ours)
    for peer in filter(None, options.peers.split(",")):
        script = [sys.executable, __file__, "--peer", peer, "--folder", folder]
        script += ["--threads", options.threads, "--seed"]
        line(f"{peer} {importlib.metadata.version(peer)}", median_of(options, script))


def measure_others(options, folder):
    for trees, depth in [(4, 4), (16, 8)]:
        rates = run([MEASURE, "predict", folder, trees, depth])
        binned, raw = rates["binned_rows_per_s"], rates["raw_rows_per_s"]
        # Null if the forest has more thresholds in a feature than bins.
        of_bins = "" if binned is None else f"{binned / 1e6:.0f} M rows/s of bins, "
        print(f"prediction, one core, {trees}x{depth}: {of_bins}{raw / 1e6:.0f} M rows/s of integers")
    if not options.no_sweep:
        sweep = run([MEASURE, "sweep", folder, options.threads])
        print(
            f"sweep of {sweep['configurations']} forests (1..128 trees x depth 1..8): "
            f"{sweep['all_seconds']:.1f} s, {sweep['all_seconds'] / sweep['largest_seconds']:.2f} "
            f"times the largest alone ({sweep['largest_seconds']:.1f} s)"
        )


def main():
    options = arguments()
    if options.peer:
        return measure_peer(options)
    build = "cargo build --release -p dropcast-lab --example measure"
    subprocess.run(build.split(), cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.folder or temporary)
        generate(folder, options.rows, options.seed)
        generate(folder / "test", max(options.rows // 10, 100_000), options.seed + 1)
        drops = np.fromfile(folder / "drop.u8", "u1")
        print(
            f"{options.rows} rows x 4 features, {drops.mean():.2%} drops; {TREES} trees of depth "
            f"{DEPTH}, {options.threads} threads, medians of {options.repeats}"
        )
        compare(options, folder)
        measure_others(options, folder)


if __name__ == "__main__":
    main()
