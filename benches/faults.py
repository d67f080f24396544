#!/usr/bin/env python3
"""Kills dropcast and makes its system calls fail, thousands of times, and checks what is on the disk.

    benches/faults.py [--trials 10000] [--seed 1] [--dropcast target/release/dropcast]

Each trial begins with the whole results of a command on some inputs, runs the command on other inputs, and
lets it be killed (SIGKILL, SIGTERM or SIGHUP, at any time, or at any of its calls that touch files) or
lets one such call fail (no space, input/output error). Afterwards the results must be the old ones or the
new ones, all of them; nothing else may be there but what begins with a dot: locks, working folders, the
link of a file that was about to be renamed. In every tenth trial, and wherever there is such a thing, the
command runs again undisturbed: the results must be the new ones, and nothing may be left over.

Needs strace. Prints what was tried and what failed; exit code 1 if anything did.
"""
import argparse
import collections
import hashlib
import os
import pathlib
import random
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

# Calls that change what is on the disk.
CALLS = ["write", "pwrite64", "fsync", "fdatasync", "linkat", "rename", "renameat", "renameat2", "mkdir",
         "unlink", "unlinkat", "rmdir", "openat", "flock", "ftruncate"]


class Job:
    """A command and where its results are."""

    def __init__(self, name, command, results):
        self.name, self.command, self.results = name, command, results


JOBS = [
    Job("collect", "collect --events events-{v}.parquet -o out/trace.parquet", "out"),
    Job("arrow", "collect --events events-{v}.parquet -o out/trace.arrow", "out"),
    Job("train", "train --data trace-{v}.parquet -o out/model.json --vote f1 --n-estimators 2 --split random", "out"),
    Job("export", "export {v}/model.json --target c cpp p4 json -o out", "out"),
    Job("report", "report --model {v}/model.json --data trace-{v}.parquet --format html -o out/r.html", "out"),
    Job("run", "run --config run-{v}.toml --name out --runs . --replace", "out"),
    Job("sweep", "sweep sweep-{v}.toml -o out --resume", "out"),
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


class Room:
    def __init__(self, dropcast, folder):
        self.dropcast, self.folder = dropcast, folder
        for version, seed in (("a", 7), ("b", 8)):
            (folder / f"run-{version}.toml").write_text(SETTINGS.format(name="out", seed=seed))
            (folder / f"sweep-{version}.toml").write_text(SWEEP.format(v=version))
            self.good(f"run --config run-{version}.toml --name made-{version} --runs .")
            for kept, name in (("events.parquet", f"events-{version}.parquet"),
                               ("trace.parquet", f"trace-{version}.parquet"),
                               ("model.json", f"{version}/model.json")):
                (folder / version).mkdir(exist_ok=True)
                shutil.copy(folder / f"made-{version}" / kept, folder / name)
        self.states = {}
        for job in JOBS:
            for version in "ab":
                self.clear(job)
                began = time.monotonic()
                self.good(job.command.format(v=version))
                took = time.monotonic() - began
                saved = folder / f"saved-{job.name}-{version}"
                shutil.copytree(folder / job.results, saved)
                self.states[job.name, version] = (contents(saved)[0], took)
        self.counts = {job.name: self.count_calls(job) for job in JOBS}

    def argv(self, command):
        return [self.dropcast, *command.split()]

    def good(self, command):
        subprocess.run(self.argv(command), cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def clear(self, job):
        out = self.folder / job.results
        shutil.rmtree(out, ignore_errors=True)
        for name in (".out.lock", ".out.partial"):
            path = self.folder / name
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        if job.name not in ("run", "sweep", "export"):
            out.mkdir()

    def begin(self, job, fresh):
        """The old results; or none at all."""
        self.clear(job)
        if not fresh:
            shutil.rmtree(self.folder / job.results, ignore_errors=True)
            shutil.copytree(self.folder / f"saved-{job.name}-a", self.folder / job.results)

    def count_calls(self, job):
        """How often each call is made."""
        self.begin(job, False)
        trace = self.folder / "calls.txt"
        strace = ["strace", "-f", "-qq", "-e", "trace=" + ",".join(CALLS), "-o", str(trace)]
        subprocess.run(strace + self.argv(job.command.format(v="b")), cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)
        calls = collections.Counter()
        for line in trace.read_text().splitlines():
            name = line.split(None, 1)[1].split("(")[0]
            if name in CALLS:
                calls[name] += 1
        return calls

    def disturb(self, job, chance):
        """Runs the command on the other inputs and lets something happen. Says what."""
        command = self.argv(job.command.format(v="b"))
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.folder}
        kind = chance.choice(["time", "call", "error"])
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
        inject = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                  "-e", f"inject={call}:{effect}:when={when}"]
        subprocess.run(inject + command, **quiet, timeout=120)
        return f"{effect} at {call} {when}"


def check(room, job, fresh, what, again):
    """What is wrong after a disturbed run; None if nothing is."""
    files, hidden = contents(room.folder / job.results)
    old = {} if fresh else room.states[job.name, "a"][0]
    new = room.states[job.name, "b"][0]
    if job.name == "sweep":
        # Parts of both may be there: each is whole, and named by what it was made of.
        parts = {**room.states[job.name, "a"][0], **new}
        for name, digest in files.items():
            if name.startswith("parts/") and parts.get(name) != digest:
                return f"{what}: part {name} is neither the old nor the new one"
        if "sweep.json" in files and files["sweep.json"] not in (old.get("sweep.json"), new["sweep.json"]):
            return f"{what}: sweep.json is neither the old nor the new one"
    elif files not in (old, new):
        differ = sorted(set(files.items()) ^ set(new.items()))
        return f"{what}: neither the old nor the new results: {differ[:6]}"
    if again or hidden:
        room.good(job.command.format(v="b"))
        files, hidden = contents(room.folder / job.results)
        if job.name == "sweep":
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
    arguments.add_argument("--dropcast", default="target/release/dropcast")
    options = arguments.parse_args()
    chance = random.Random(options.seed)
    tried, failed = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        room = Room(os.path.abspath(options.dropcast), pathlib.Path(folder))
        for trial in range(options.trials):
            job = chance.choice(JOBS)
            fresh = chance.random() < 0.3
            room.begin(job, fresh)
            what = f"trial {trial}, {job.name}, {'no' if fresh else 'old'} results"
            disturbed = room.disturb(job, chance)
            partial = any((room.folder / name).exists() for name in (".out.lock", ".out.partial"))
            problem = check(room, job, fresh, f"{what}, {disturbed}", trial % 10 == 0 or partial)
            tried[job.name, disturbed.split(" at ")[0]] += 1
            if problem:
                failed.append(problem)
                print(problem, flush=True)
    for (job, disturbed), count in sorted(tried.items()):
        print(f"{job:8} {disturbed:20} {count:6}")
    print(f"{options.trials} trials, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
