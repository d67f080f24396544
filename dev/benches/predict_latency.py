#!/usr/bin/env python3
"""How long does a prediction take, compared with other tools' code for the same forest?

scikit-learn fits a forest on the first 60% of a labelled trace, on the paper's four features. The
same trees become a model.json, which dropcast exports, and the input of TL2cgen, m2cgen, emlearn,
onnxruntime and treelite. Each predicts the remaining rows, in order. Prints a table of
nanoseconds per prediction; exits with 1 if our C header takes more than 15 ns.

    cargo build --release
    python3 dev/benches/predict_latency.py [TRACE.parquet]

Without a trace, `dropcast run` generates one. The other tools are installed from PyPI into a virtual
environment, target/predict-latency, on the first run.

"latency" starts each prediction after the previous one has ended; "throughput" lets the processor
overlap them. Both are medians over 101 passes, including the call and the loop; the line "nothing" is
a predictor that reads one value. C code is compiled separately, without link-time optimisation, and
each tool gets its preferred type. onnxruntime and treelite are called from Python, one row per call,
which is part of their time. Ours adds 8-bit leaf weights, theirs are floating-point shares, and
emlearn counts one vote per tree: the numbers of predicted drops are close, not equal.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

PACKAGES = [
    "emlearn==0.23.2",
    "m2cgen==0.10.0",
    "numpy==2.4.6",
    "onnxruntime==1.31.1",
    "pyarrow==26.0.1",
    "scikit-learn==1.9.1",
    "skl2onnx==1.20.0",
    "tl2cgen==1.0.0",
    "treelite==4.8.1",
]
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = REPOSITORY / "target" / "predict-latency"
PAPER4 = ["queue_length", "avg_queue_length", "occupancy", "avg_occupancy"]
BAR_NS = 15.0
# The default form.
DEFAULT = "dropcast C"


def in_environment():
    """Restarts this script in the virtual environment, installing the other tools first."""
    python = ENVIRONMENT / "bin" / "python"
    wanted = "\n".join(PACKAGES)
    installed = ENVIRONMENT / "installed"
    if not installed.exists() or installed.read_text() != wanted:
        print(f"installing {', '.join(PACKAGES)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        installed.write_text(wanted)
    os.execv(python, [python, *sys.argv])


if pathlib.Path(sys.prefix) != ENVIRONMENT:
    in_environment()

import emlearn  # noqa: E402
import m2cgen  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
import tl2cgen  # noqa: E402
import treelite  # noqa: E402
from skl2onnx import to_onnx  # noqa: E402
from sklearn.ensemble import RandomForestClassifier  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("trace", nargs="?", help="labelled trace in order of arrival")
    parser.add_argument(
        "--dropcast",
        default=str(REPOSITORY / "target" / "release" / "dropcast"),
        help="how to run dropcast (default: %(default)s)",
    )
    parser.add_argument(
        "--forest", default="4x4", metavar="TREESxDEPTH", help="default: %(default)s"
    )
    parser.add_argument(
        "--rows", type=int, default=1 << 18, help="rows to predict (default: %(default)s)"
    )
    parser.add_argument(
        "--shuffle",
        action="store_true",
        help="predict the rows in random order, where processors predict branches worst",
    )
    parser.add_argument("--flags", default="-O2", help="for C compilers (default: %(default)s)")
    return parser.parse_args()


def checked(call, **how):
    done = subprocess.run([str(word) for word in call], capture_output=True, text=True, **how)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(map(str, call))}\n{done.stdout}{done.stderr}")
    return done.stdout


def model_json(forest):
    """The forest as dropcast's model.json: leaves weigh 255 times their share of drops, values up to
    the integer part of a threshold go left."""
    trees = []
    for fitted in forest.estimators_:
        tree, nodes = fitted.tree_, []
        for at in range(tree.node_count):
            if tree.children_left[at] < 0:
                nodes.append({"leaf": {"weight": round(255 * float(tree.value[at][0][1]))}})
            else:
                split = {
                    "feature": int(tree.feature[at]),
                    "threshold": int(tree.threshold[at]),
                    "left": int(tree.children_left[at]),
                    "right": int(tree.children_right[at]),
                }
                nodes.append({"split": split})
        trees.append({"nodes": nodes})
    features = [{"name": name, "unit": "bytes", "definition": ""} for name in PAPER4]
    for feature in features[1], features[3]:
        feature["average"] = "ns3-trunc"
    return {
        "format_version": 1,
        "features": features,
        "switch": {"ports": None, "buffer_bytes": None, "base_rtt_ns": None},
        "metrics": None,
        "provenance": None,
        "forest": {
            "features": PAPER4,
            "vote_threshold": 255 * len(trees) // 2,
            "trees": trees,
        },
    }


def c_sources(forest, folder, dropcast):
    """For each tool that emits C: its name, the type of a value, and the source with predict()."""
    checked([*dropcast, "export", folder / "model.json", "--target", "c", "-o", folder])
    drop = '#include "model.h"\nint predict(const uint32_t *row) { return model_drop(row); }\n'
    yield "nothing", np.uint32, "int predict(const value_t *row) { return row[0] >> 31; }\n", []
    yield DEFAULT, np.uint32, drop, []
    yield "dropcast C, tables", np.uint32, "#define MODEL_TABLES\n" + drop, []
    yield (
        "m2cgen",
        np.float64,
        m2cgen.export_to_c(forest)
        + "int predict(const value_t *row) { double share[2]; score((double *)row, share);"
        " return share[1] > share[0]; }\n",
        [],
    )
    emlearn.convert(forest, method="inline", dtype="float").save(
        file=str(folder / "emlearn_forest.h"), name="forest"
    )
    yield (
        "emlearn, inline",
        np.float32,
        '#include "emlearn_forest.h"\n'
        "int predict(const value_t *row) { return forest_predict(row, FEATURES); }\n",
        ["-I", emlearn.includedir],
    )
    for quantize in (0, 1):
        made = folder / f"tl2cgen{quantize}"
        tl2cgen.generate_c_code(
            treelite.sklearn.import_model(forest), dirpath=str(made), params={"quantize": quantize}
        )
        texts = [path.read_text() for path in sorted(made.glob("*.c"), reverse=True)]
        text = "".join(texts).replace("predict(union Entry* data", "tl2cgen_predict(union Entry* data")
        header = (made / "header.h").read_text()
        text = text.replace('#include "header.h"', "")
        header = header.replace("void predict(", "void tl2cgen_predict(")
        # Quantising overwrites the row.
        copy = "union Entry copy[FEATURES]; memcpy(copy, row, sizeof copy); row = copy;"
        yield (
            "TL2cgen" + (", quantize" if quantize else ""),
            np.float64,
            f"{header}{text}\nint predict(const value_t *values) {{\n"
            "const union Entry *row = (const union Entry *)values; double share[2] = {0, 0};\n"
            f"{copy if quantize else ''}\n"
            "tl2cgen_predict((union Entry *)row, 0, share); return share[1] > share[0]; }\n",
            [],
        )


@contextlib.contextmanager
def quiet():
    """Suppresses the output of other tools' native code."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


C_TYPES = {np.uint32: "uint32_t", np.float32: "float", np.float64: "double"}


def measure_c(dtype, source, more, folder, rows, compiler, flags):
    """Latency and throughput in ns, and the number of predicted drops."""
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    shutil.copy(REPOSITORY / "dev" / "benches" / "predict_latency.c", place / "main.c")
    (place / "predict.h").write_text(
        f"#include <stdint.h>\ntypedef {C_TYPES[dtype]} value_t;\n"
        f"enum {{ FEATURES = {rows.shape[1]} }};\n"
    )
    (place / "code.c").write_text('#include "predict.h"\n#include <string.h>\n' + source)
    data = folder / f"rows-{np.dtype(dtype)}"
    if not data.exists():
        rows.astype(dtype).tofile(data)
    call = [compiler, *shlex.split(flags), "-w", "-I", place, "-I", folder, *more]
    checked([*call, place / "main.c", place / "code.c", "-lm", "-o", place / "bench"])
    latency, throughput, drops = checked([place / "bench", data, len(rows)]).split()
    return float(latency), float(throughput), int(drops)


def measure_python(call, rows, passes=5, per_pass=2000):
    """Median ns of calls with one row each."""
    step = max(1, len(rows) // per_pass)
    some = [rows[at : at + 1] for at in range(0, len(rows), step)][:per_pass]
    times = []
    for _ in range(passes):
        began = time.perf_counter_ns()
        for row in some:
            call(row)
        times.append((time.perf_counter_ns() - began) / len(some))
    return float(np.median(times)), None, None


def python_tools(forest, rows):
    """onnxruntime and treelite, called from Python."""
    single = rows.astype(np.float32)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = to_onnx(forest, single[:1], options={"zipmap": False})
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    given, wanted = session.get_inputs()[0].name, [session.get_outputs()[0].name]
    yield "onnxruntime, one row", lambda row: int(session.run(wanted, {given: row})[0][0]), single
    model = treelite.sklearn.import_model(forest)
    yield (
        "treelite GTIL, one row",
        lambda row: int(treelite.gtil.predict(model, row, nthread=1)[0, 0, 1] > 0.5),
        single,
    )


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def main():
    options = arguments()
    dropcast = shlex.split(options.dropcast)
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    if not compilers:
        sys.exit("neither gcc nor clang is installed")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        trace = options.trace
        if trace is None:
            checked([*dropcast, "run", "--runs", folder, "--name", "made"])
            trace = folder / "made" / "trace.parquet"
        table = pq.read_table(trace, columns=[*PAPER4, "outcome"])
        values = np.stack([table[name].to_numpy() for name in PAPER4], axis=1)
        drops = table["outcome"].to_numpy() != 1
        if values.max() >= 1 << 24:
            sys.exit(f"{trace}: values from 2^24 on, which 32-bit floats cannot distinguish")
        train = len(drops) * 6 // 10
        trees, depth = map(int, options.forest.split("x"))
        forest = RandomForestClassifier(trees, max_depth=depth, random_state=1)
        forest.fit(values[:train].astype(np.float32), drops[:train])
        (folder / "model.json").write_text(json.dumps(model_json(forest)))
        rows = values[train : train + options.rows]
        if options.shuffle:
            rows = np.random.default_rng(1).permutation(rows)

        print(f"{processor()}; load {os.getloadavg()[0]:.1f}; {options.flags}")
        for compiler in compilers:
            print(checked([compiler, "--version"]).splitlines()[0])
        print(
            f"{trees} trees of depth {depth} on {', '.join(PAPER4)}; {len(rows)} rows, "
            f"{'shuffled' if options.shuffle else 'in order'}"
        )
        ours = results(forest, folder, dropcast, compilers, rows, options)
    print(f"\ndropcast's C header, default form: {ours:.1f} ns; the bar is {BAR_NS:.0f} ns")
    return 0 if ours <= BAR_NS else 1


def results(forest, folder, dropcast, compilers, rows, options):
    """Prints the table; returns the latency of our header's default form, the better compiler's."""
    with quiet():
        sources = list(c_sources(forest, folder, dropcast))
    print(f"\n{'ns per prediction':32} {'latency':>9} {'x ours':>7} {'throughput':>11} {'drops':>8}")
    measured = []
    for name, dtype, source, more in sources:
        for compiler in compilers:
            found = measure_c(dtype, source, more, folder, rows, compiler, options.flags)
            measured.append((name, f"{name}, {compiler}", *found))
    ours = min(latency for name, _, latency, *_ in measured if name == DEFAULT)
    checks = [*dropcast, "verify", folder / "model.json", "--target", "dct", "--format", "json"]
    trace = folder / "rows.parquet"
    columns = [pa.array(column) for column in rows.T]
    outcome = pa.array(np.ones(len(rows), dtype=np.uint8))
    pq.write_table(pa.table([*columns, outcome], names=[*PAPER4, "outcome"]), trace)
    said = json.loads(checked([*checks, "--rows", "0", "--trace", trace, "--time"]))
    rust = said["targets"][0]["programs"][0]["ns_per_prediction"]
    measured.append(("dct", "dropcast-runtime (Rust), .dct", rust, None, None))
    for name, call, single in python_tools(forest, rows):
        measured.append((name, f"{name}, Python", *measure_python(call, single)))
    for _, name, latency, throughput, drops in measured:
        throughput = "" if throughput is None else f"{throughput:.1f}"
        drops = "" if drops is None else drops
        print(f"{name:32} {latency:9.1f} {latency / ours:7.1f} {throughput:>11} {drops:>8}")
    return ours


if __name__ == "__main__":
    sys.exit(main())
