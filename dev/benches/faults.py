#!/usr/bin/env python3
"""Kills dropcast and makes its system calls fail, thousands of times, and checks what is on the disk.

    dev/benches/faults.py [--trials 10000] [--seed 1] [--jobs run sweep] [--dropcast target/release/dropcast]

Each trial begins with the whole results of a command on some inputs, runs the command on other inputs, and
lets it be killed (SIGKILL, SIGTERM or SIGHUP, at any time, or at any of its calls that touch files), or
lets one such call fail (no space, input/output error), or runs several at the same time, on both inputs. Afterwards the results must be the old ones or the
new ones, all of them; nothing else may be there but what begins with a dot: locks, working folders, the
link of a file that was about to be renamed. In every tenth trial, wherever there is such a thing, and for jobs that keep finished runs, the
command runs again undisturbed: the results must be the new ones, and nothing may be left over.

Needs strace. Prints what was tried and what failed; exit code 1 if anything did.
"""
import argparse
import collections
import hashlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SETTINGS = """name = '{name}'
seed = {seed}
[workload]
servers = 4
uplinks = 2
buffer_bytes = 60_000
flow_rate = 1.0
incast_per_server_hz = 900.0
outgoing_incast_per_server_hz = 300.0
duration_ns = 6_000_000
[train]
n_estimators = 1
max_depth = 2
vote = 'f1'
[train.split]
by = 'random'
"""
SWEEP = "data = ['trace-{v}.parquet']\n[split]\nby = 'random'\n[axes]\ntrees = [1, 2]\nmax_depth = [1, 2]\nvotes = 'f1'\n"

# A fabric with few flows, whose policies differ between versions: stale runs would be seen.
EXPERIMENT = """policies = {policies}
runs = 1
[fabric]
leaves = 2
spines = 1
servers = 2
sample_interval_ns = 100_000
seed = {seed}
[traffic]
duration_ns = 1_000_000
seed = {seed}
flows = [{{ load = 0.5 }}]
incasts = [{{ burst = 1.5, per_server_hz = 2000.0, fan_in = 2 }}]
"""
POLICIES = {"a": "['lqd', 'dt']", "b": "['lqd', 'credence', 'harmonic']"}
MAP = """runs = 2
measures = ['{measure}']
[oracles]
[fabric]
leaves = 2
spines = 1
servers = 2
[traffic]
duration_ns = 300_000
flows = [{{ load = 0.5 }}]
incasts = [{{ burst = 1.5, per_server_hz = 2000.0, fan_in = 2 }}]
[[grids]]
name = 'grid-{v}'
load = [0.3, 0.5]
"""

# A SONiC switch of one port.
CONFIG_DB = """{{
    "PORT": {{"Ethernet0": {{"speed": "100000"}}}},
    "BUFFER_POOL": {{"egress_pool": {{"type": "egress", "mode": "dynamic", "size": "{size}"}}}},
    "BUFFER_PROFILE": {{"lossy": {{"pool": "egress_pool", "size": "0", "dynamic_th": "3"}}}},
    "BUFFER_QUEUE": {{"Ethernet0|0": {{"profile": "lossy"}}}}
}}
"""

# A capture of one port, and a report of a packet that the switch dropped.
CAPTURE = pathlib.Path(__file__).parent.parent / "fuzz/corpus/capture/ethernet.pcap"
ONE_PORT = "ports = 1\nline_rate_bps = 1_000_000_000\nbuffer_bytes = 100_000\nbase_rtt_ns = 8_000\n"
COUNTERS = """time_ns,port,queue,sent_bytes,dropped_packets
0,0,0,0,0
1000000,0,0,{bytes},0
"""
DROPS = "time_ns,source_ip,destination_ip,protocol,reason\n{time_ns},10.0.0.1,10.0.0.2,17,buffer\n"

# Commands whose files are the same each time.
NO_RESULTS = {"help", "man", "completions"}

# Forests of another tool.
FORESTS = pathlib.Path(__file__).parent.parent.parent / "train/interop/tests/fixtures"

# Calls that change what is on the disk.
CALLS = ["write", "pwrite64", "fsync", "fdatasync", "linkat", "rename", "renameat", "renameat2", "mkdir",
         "unlink", "unlinkat", "rmdir", "openat", "flock", "ftruncate"]


class Job:
    """A command and where its results are. Some keep finished parts of an interrupted job: `parts` says which
    files. `whole` is the file that says whether the rest is there."""

    def __init__(self, name, command, results="out", makes_folder=True, parts=None, whole=None):
        self.name, self.command, self.results = name, command, results
        self.makes_folder, self.parts, self.whole = makes_folder, parts, whole


JOBS = [
    Job("collect", "collect --events events-{v}.parquet -o out/trace.parquet", makes_folder=False),
    Job("opt", "collect --events events-{v}.parquet --label opt -o out/trace.parquet", makes_folder=False),
    Job("arrow", "collect --events events-{v}.parquet -o out/trace.arrow", makes_folder=False),
    Job("folder", "collect --events many-{v} --switch switch.toml -o out", parts="part-0.parquet",
        whole="manifest.json"),
    Job("train", "train --data trace-{v}.parquet -o out/model.json --vote f1 --n-estimators 2 --split random",
        makes_folder=False),
    Job("model-per", "train --data fabric-{v}.parquet --model-per switch -o out/model.json --vote f1 --split random "
        "--n-estimators 1 --max-depth 2", makes_folder=False, whole="model.json"),
    Job("export", "export {v}/model.json --target c cpp p4 json -o out"),
    Job("drops", f"collect --events {CAPTURE} --drops drops-{{v}}.csv --switch one-port.toml -o out/trace.parquet",
        makes_folder=False),
    Job("counters", "counters counters-{v}.csv --switch one-port.toml --arrivals out/events.parquet", makes_folder=False),
    Job("vectors", "export {v}/model.json --target vectors --switch switch.toml -o out"),
    Job("report", "report --model {v}/model.json --data trace-{v}.parquet --format html -o out/r.html",
        makes_folder=False),
    Job("decisions", "report --data trace-{v}.parquet --policy dt:alpha=8 --decisions out/decisions.csv -o out/r.txt",
        makes_folder=False, whole="r.txt"),
    Job("switch", "switch config-{v}.json --base-rtt-ns 32000 -o out/switch.toml", makes_folder=False),
    Job("import", "import {v}/forest.txt --features paper4 --allow-rounding -o out/model.json", makes_folder=False),
    Job("rescale", "rescale {v}/model.json --buffer-bytes 30000 -o out/model.json", makes_folder=False),
    Job("run", "run --config run-{v}.toml --name out --runs . --replace"),
    Job("sweep", "sweep sweep-{v}.toml -o out --resume", parts="parts/", whole="sweep.json"),
    Job("simulate", "simulate --workload workload-{v}.toml -o out/events.parquet", makes_folder=False),
    Job("experiment", "lab simulate experiment-{v}.toml -o out"),
    Job("map", "lab map map-{v}.toml -o out"),
    # Goes on with what it kept; the file is not a result.
    Job("kept", "lab map map-{v}.toml -o out --keep kept.jsonl"),
    Job("fig14", "lab reproduce fig14 --slots {slots} --repetitions 1 -o out"),
    Job("fig15", "lab reproduce fig15 --data trace-{v}.parquet -o out"),
    # Two figures at once.
    Job("figures", "lab reproduce pred-fig4 --runs 1 --duration-ms 1 --seed {slots} -o out"),
    Job("kept-runs", "lab simulate experiment-{v}.toml -o out --keep kept.jsonl"),
    Job("kept-choice", "lab refine --experiment experiment-{v}.toml --runs 5 --rounds 0 --model {v}/model.json -o out "
        "--keep kept.jsonl"),
    Job("refine", "lab refine --experiment experiment-{v}.toml --runs 5 --rounds 0 --model {v}/model.json -o out"),
]


def contents(folder):
    """Every file and its hash; what begins with a dot apart. Times of a sweep differ from run to run."""
    files, hidden = {}, []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if any(part.startswith(".") for part in pathlib.Path(name).parts):
            hidden.append(name)
        elif path.is_file() and path.suffix != ".ms" and path.name != "timings.json":
            files[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return files, hidden


def unlisted(dropcast):
    """Commands that write files, by what their help says, without a job here; and options that do."""
    missing = []
    for program in (dropcast, f"{dropcast}-lab"):
        lab = "lab " if program.endswith("-lab") else ""
        help_of = lambda *command: subprocess.run([program, *command, "--help"], check=True, text=True,
                                                  stdout=subprocess.PIPE).stdout
        commands = re.findall(r"^  ([a-z-]+)  ", help_of().split("Usage:")[1].split("\nOptions:")[0], re.M)
        for command in set(commands) - NO_RESULTS:
            jobs = [job.command + " " for job in JOBS if f"{job.command} ".startswith(f"{lab}{command} ")]
            for short, option in re.findall(r"^ +(?:(-\w), )?(--(?:output|keep|arrivals|decisions|runs))\b", help_of(command), re.M):
                names = [f" {name} " for name in (short, option) if name]
                if option == "--runs" and lab:
                    continue
                if not any(name in job for job in jobs for name in names):
                    missing.append(f"{lab}{command} {option}")
    return missing


class Room:
    def __init__(self, dropcast, folder, jobs):
        self.dropcast, self.folder = dropcast, folder
        # Seeds whose traces have drops in each part of a split by time, as figure 15 needs.
        for version, seed in (("a", 7), ("b", 10)):
            (folder / f"run-{version}.toml").write_text(SETTINGS.format(name="out", seed=seed))
            (folder / f"sweep-{version}.toml").write_text(SWEEP.format(v=version))
            (folder / f"experiment-{version}.toml").write_text(
                EXPERIMENT.format(policies=POLICIES[version], seed=seed))
            measure = {"a": "short_slowdown_p99", "b": "incast_slowdown_p95"}[version]
            (folder / f"map-{version}.toml").write_text(MAP.format(v=version, measure=measure))
            (folder / f"workload-{version}.toml").write_text(f"seed = {seed}\nduration_ns = 500_000\n")
            (folder / f"config-{version}.json").write_text(CONFIG_DB.format(size=seed * 1_000_000))
            (folder / "one-port.toml").write_text(ONE_PORT)
            (folder / f"drops-{version}.csv").write_text(DROPS.format(time_ns=seed))
            (folder / f"counters-{version}.csv").write_text(COUNTERS.format(bytes=seed * 100_000))
            self.good(f"run --config run-{version}.toml --name made-{version} --runs .")
            for kept, name in (("events.parquet", f"events-{version}.parquet"),
                               ("trace.parquet", f"trace-{version}.parquet"),
                               ("model.json", f"{version}/model.json")):
                (folder / version).mkdir(exist_ok=True)
                shutil.copy(folder / f"made-{version}" / kept, folder / name)
            shutil.copy(folder / f"made-{version}" / "switch.toml", folder / "switch.toml")
            # Other runs in each version: stale traces would be seen.
            for run in {"a": "12", "b": "23"}[version]:
                place = folder / f"many-{version}" / f"run={run}"
                place.mkdir(parents=True)
                shutil.copy(folder / f"events-{version}.parquet", place)
            theirs = {"a": "boosted.lightgbm.txt", "b": "regression.lightgbm.txt"}[version]
            shutil.copy(FORESTS / theirs, folder / version / "forest.txt")
            # Other switches have drops in each version: stale models would be seen.
            self.good(f"simulate --topology leaf-spine --seed {seed} --duration-ms 4 -o fabric-events.parquet")
            self.good(f"collect --events fabric-events.parquet -o fabric-{version}.parquet")
        self.states = {}
        for job in jobs:
            for version in "ab":
                self.clear(job)
                began = time.monotonic()
                self.good(self.command(job, version))
                took = time.monotonic() - began
                saved = folder / f"saved-{job.name}-{version}"
                shutil.copytree(folder / job.results, saved)
                self.states[job.name, version] = (contents(saved)[0], took)
        self.counts = {job.name: self.count_calls(job) for job in jobs}

    def command(self, job, version):
        return job.command.format(v=version, slots={"a": 300, "b": 400}[version])

    def argv(self, command):
        program, words = self.dropcast, command.split()
        if words[0] == "lab":
            program, words = f"{program}-lab", words[1:]
        return [program, *words]

    def good(self, command):
        subprocess.run(self.argv(command), cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def clear(self, job):
        out = self.folder / job.results
        shutil.rmtree(out, ignore_errors=True)
        for name in (".out.lock", ".out.partial"):
            path = self.folder / name
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        if not job.makes_folder:
            out.mkdir()

    def begin(self, job, fresh):
        """The old results; or none at all."""
        self.clear(job)
        (self.folder / "kept.jsonl").unlink(missing_ok=True)
        if not fresh:
            shutil.rmtree(self.folder / job.results, ignore_errors=True)
            shutil.copytree(self.folder / f"saved-{job.name}-a", self.folder / job.results)

    def count_calls(self, job):
        """How often each call is made."""
        self.begin(job, False)
        trace = self.folder / "calls.txt"
        strace = ["strace", "-f", "-qq", "-e", "trace=" + ",".join(CALLS), "-o", str(trace)]
        subprocess.run(strace + self.argv(self.command(job, "b")), cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)
        calls = collections.Counter()
        for line in trace.read_text().splitlines():
            name = line.split(None, 1)[1].split("(")[0]
            if name in CALLS:
                calls[name] += 1
        return calls

    def disturb(self, job, chance):
        """Runs the command on the other inputs and lets something happen. Says what."""
        command = self.argv(self.command(job, "b"))
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.folder}
        kind = chance.choice(["time", "call", "error", "jobs"])
        if kind == "jobs":
            versions = [chance.choice("ab") for _ in range(chance.randint(2, 4))]
            children = []
            for version in versions:
                children.append(subprocess.Popen(self.argv(self.command(job, version)), **quiet))
                time.sleep(chance.uniform(0, 0.3 * self.states[job.name, "b"][1]))
            codes = [child.wait() for child in children]
            return f"several jobs at {''.join(versions)} {codes}"
        if kind == "time":
            number = chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
            child = subprocess.Popen(command, **quiet)
            time.sleep(chance.uniform(0, 1.1 * self.states[job.name, "b"][1]))
            child.send_signal(number)
            child.wait()
            return f"{number.name} by time"
        call = chance.choice(sorted(self.counts[job.name]))
        when = chance.randint(1, self.counts[job.name][call] + 1)
        effect = "signal=SIGKILL" if kind == "call" else "error=" + chance.choice(["ENOSPC", "EIO"])
        inject = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                  "-e", f"inject={call}:{effect}:when={when}"]
        what = f"{effect} at {call} {when}"
        child = subprocess.Popen(inject + command, **quiet, start_new_session=True)
        # A busy machine takes its time: figure 15 trains 16 forests.
        patience = max(120, 100 * self.states[job.name, "b"][1])
        try:
            child.wait(timeout=patience)
        except subprocess.TimeoutExpired as expired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise TimeoutError(f"{what}: still at work after {patience:.0f} s") from expired
        return what


def check(room, job, fresh, what, again):
    """What is wrong after a disturbed run; None if nothing is."""
    files, hidden = contents(room.folder / job.results)
    old = {} if fresh else room.states[job.name, "a"][0]
    new = room.states[job.name, "b"][0]
    if job.parts:
        # Parts of both may be there: each is whole, and the old or the new one.
        parts = [set(room.states[job.name, version][0].items()) for version in "ab"]
        for name, digest in files.items():
            if job.parts in name and (name, digest) not in parts[0] | parts[1]:
                return f"{what}: part {name} is neither the old nor the new one"
        whole_digest = files.get(job.whole)
        if job.name == "sweep" and whole_digest not in (None, *(room.states[job.name, of][0][job.whole] for of in "ab")):
            return f"{what}: {job.whole} is neither the old nor the new one"
        for state in (old, new):
            if whole_digest is not None and whole_digest == state.get(job.whole) and job.name == "folder" and files != state:
                return f"{what}: {job.whole} lists other files than there are"
    elif job.whole:
        # Without this file, a part of one result is there.
        sets = [set(state.items()) for state in (old, new, room.states[job.name, "a"][0])]
        if job.whole in files and files not in (old, new, room.states[job.name, "a"][0]):
            return f"{what}: neither the old nor the new results beside {job.whole}"
        if not any(set(files.items()) <= state for state in sets):
            return f"{what}: files of two results: {sorted(files)}"
    elif files not in (old, new, room.states[job.name, "a"][0] if "several" in what else new):
        differ = sorted(set(files.items()) ^ set(new.items()))
        return f"{what}: neither the old nor the new results: {differ[:6]}"
    if "several" in what and not job.makes_folder and not files:
        return f"{what}: none of the jobs has come to its end"
    if again or hidden or "--keep" in job.command:
        before = sorted(path.name for path in room.folder.glob(".out*"))
        try:
            room.good(room.command(job, "b"))
        except subprocess.CalledProcessError as error:
            return f"{what}: run again beside {before}, it ends with {error.returncode}"
        files, hidden = contents(room.folder / job.results)
        if job.name == "sweep":
            # Parts of another sweep stay.
            files = {name: digest for name, digest in files.items() if not name.startswith("parts/")}
            new = {name: digest for name, digest in new.items() if not name.startswith("parts/")}
        left = [name for name in (".out.lock", ".out.partial") if (room.folder / name).exists()]
        if files != new or hidden or left:
            return f"{what}: run again, it gives other results or leaves {hidden + left}"
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--trials", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--list", action="store_true", help="only check that each command that writes is tried")
    arguments.add_argument("--dropcast", default="target/release/dropcast")
    arguments.add_argument("--jobs", nargs="+", choices=[job.name for job in JOBS],
                           default=[job.name for job in JOBS])
    options = arguments.parse_args()
    jobs = [job for job in JOBS if job.name in options.jobs]
    if missing := unlisted(os.path.abspath(options.dropcast)):
        sys.exit(f"no job tries {', '.join(missing)}")
    if options.list:
        return 0
    chance = random.Random(options.seed)
    tried, failed = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        room = Room(os.path.abspath(options.dropcast), pathlib.Path(folder), jobs)
        for trial in range(options.trials):
            job = chance.choice(jobs)
            fresh = chance.random() < 0.3
            room.begin(job, fresh)
            what = f"trial {trial}, {job.name}, {'no' if fresh else 'old'} results"
            try:
                disturbed = room.disturb(job, chance)
            except TimeoutError as error:
                failed.append(f"{what}, {error}")
                print(failed[-1], flush=True)
                continue
            partial = any((room.folder / name).exists() for name in (".out.lock", ".out.partial"))
            problem = check(room, job, fresh, f"{what}, {disturbed}", trial % 10 == 0 or partial)
            tried[job.name, disturbed.split(" at ")[0]] += 1
            if problem:
                failed.append(problem)
                print(problem, flush=True)
    for (job, disturbed), count in sorted(tried.items()):
        print(f"{job:10} {disturbed:20} {count:6}")
    print(f"{options.trials} trials, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
