#!/usr/bin/env python3
"""Which forests of other tools does `dropcast import` prove equivalent with 8-bit weights?

Fits forests of several sizes on labelled rows with scikit-learn, LightGBM and XGBoost, imports each
and prints what the command says and how long it took.

    python3 -m pip install lightgbm numpy pandas scikit-learn skl2onnx xgboost-cpu
    cargo build --release
    python3 dev/benches/import_proofs.py TRACE.csv

TRACE.csv is the Credence artifact's (five columns separated by spaces, the last one the label).
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
import warnings

try:
    import lightgbm
    import numpy as np
    import pandas as pd
    import xgboost
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.ensemble import RandomForestClassifier
except ImportError as error:
    sys.exit(f"{error}; see the top of this file for what to install")

warnings.filterwarnings("ignore")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("trace")
    parser.add_argument("--rows", type=int, default=200_000, help="sampled (default: %(default)s)")
    parser.add_argument("--dropcast", default="target/release/dropcast")
    args = parser.parse_args()
    table = pd.read_csv(args.trace, sep=" ")
    table = table.sample(min(len(table), args.rows), random_state=1)
    x = table.iloc[:, :4].to_numpy().astype(np.uint32)
    y = table.iloc[:, 4].to_numpy().astype(int)
    with tempfile.TemporaryDirectory() as folder:
        for name, file, *more in forests(x, y, pathlib.Path(folder)):
            model = pathlib.Path(folder) / "model.json"
            command = [*shlex.split(args.dropcast), "import", file, "--features", "paper4", *more]
            begin = time.monotonic()
            done = subprocess.run([*command, "-o", model], capture_output=True, text=True)
            said = done.stdout.splitlines()[1] if done.returncode == 0 else done.stderr.strip()
            print(f"{name:23} {time.monotonic() - begin:5.1f} s  {said}", flush=True)


def forests(x, y, folder):
    for trees, depth in [(1, 4), (4, 4), (8, 4), (8, 6), (16, 6), (16, 8), (64, 8)]:
        for seed in (1, 2):
            forest = RandomForestClassifier(trees, max_depth=depth, random_state=seed, n_jobs=-1)
            forest.fit(x, y)
            options = {id(forest): {"zipmap": False}}
            kind = [("x", FloatTensorType([None, 4]))]
            onnx = to_onnx(forest, initial_types=kind, options=options)
            (folder / "f.onnx").write_bytes(onnx.SerializeToString())
            yield f"forest {trees}x{depth} ({seed})", folder / "f.onnx"
    for trees, leaves in [(4, 16), (16, 16), (50, 31)]:
        boosted = lightgbm.LGBMClassifier(n_estimators=trees, num_leaves=leaves, verbose=-1)
        booster = boosted.fit(x, y).booster_
        booster.save_model(folder / "l.txt")
        yield f"LightGBM {trees}x{leaves}", folder / "l.txt"
        (folder / "l.json").write_text(json.dumps(booster.dump_model()))
        yield "  its dump, JSON", folder / "l.json"
    for trees, depth in [(4, 4), (16, 4), (100, 6)]:
        boosted = xgboost.XGBClassifier(n_estimators=trees, max_depth=depth).fit(x, y)
        boosted.save_model(folder / "x.json")
        yield f"XGBoost {trees}x{depth}", folder / "x.json"
        booster = boosted.get_booster()
        learner = json.loads(booster.save_config())["learner"]
        base = float(learner["learner_model_param"]["base_score"].strip("[]"))
        threshold = f"--threshold={math.log((1 - base) / base)}"
        for kind in ["text", "json"]:
            booster.dump_model(folder / kind, dump_format=kind)
            yield f"  its dump, {kind}", folder / kind, threshold


main()
