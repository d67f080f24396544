"""The pipeline on Ray, from a laptop to a cluster: ``pip install dropcast[ray]``.

The results are those of the ``dropcast`` command on one machine, byte for byte, with any number of
workers, and when workers or nodes are lost on the way. Scheduling, transport and retries are Ray's.

Paths are local files and folders that every node sees, or URIs of object stores that pyarrow knows
(``s3://``, ``gs://``, ``file://``). A folder stands for all ``*.parquet`` files in it, in the order of
their paths. Cost and limits: docs/ray.md.

    import dropcast.ray
    dropcast.ray.collect("events.parquet", "traces", departures="line-rate")
    trained = dropcast.ray.train("traces", n_estimators=4)
    trained.save("model.json")
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from dropcast import _dropcast
from dropcast.partitions import Training, open_partition, settings_json
from dropcast.partitions import train as train_here

__all__ = ["Collected", "Fold", "Trained", "collect", "leave_one_out", "sweep", "train"]

#: Answers that one task adds up. A level of the tree is as long as this many answers take.
_FAN_IN = 16

#: Tasks depend on their arguments alone, so Ray may run them as often as it must.
_TASK: dict[str, Any] = {"num_cpus": 1, "max_retries": -1, "scheduling_strategy": "SPREAD"}

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained model, and what each worker did for it."""

    #: The text of ``model.json``.
    model_json: str
    #: By partition: node, process, rows, answers, seconds, bytes in memory and spilled.
    workers: list[dict[str, Any]]
    #: By step: what was asked, seconds, bytes of the question and of the merged answer.
    steps: list[dict[str, Any]]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ``model.json``."""
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder, "model.json")
            made.write_text(self.model_json)
            _publish(made, os.fspath(path))

    def __repr__(self) -> str:
        rows = sum(worker["rows"] for worker in self.workers)
        seconds = sum(step["seconds"] for step in self.steps)
        return f"<a model trained on {rows} rows by {len(self.workers)} workers in {seconds:.1f} s>"


@dataclasses.dataclass(frozen=True)
class Collected:
    """The labelled trace of one switch of a run."""

    run: str
    switch: int
    path: str
    rows: int
    drops: int
    #: The tasks that labelled it: node, rows, seconds.
    tasks: list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Fold:
    """A training that kept one trace apart."""

    #: The trace.
    path: str
    #: What the model is worth on it: ``metrics.test`` of its ``model.json``.
    test: dict[str, Any]
    #: Where it was trained, and how long that took.
    node: str
    seconds: float


def train(
    data: Paths,
    *,
    validation: Paths = (),
    test: Paths = (),
    seed: int = 1,
    workers: int | None = None,
    threads: int = 1,
    memory_limit: int | None = None,
    progress: bool | Callable[[str], None] = True,
    **settings: Any,
) -> Trained:
    """Trains a forest: the model of ``dropcast train`` on the same files in the same order.

    Each of ``workers`` actors (as many as the cluster has CPUs, unless given) keeps its share of the
    rows, one byte per row and feature, and counts on ``threads`` threads; beyond ``memory_limit``
    MiB per worker, rows go to its node's disk. ``settings`` are named as the options of the command.
    """
    _begin()
    workers = workers or _cpus(threads)
    tell = _teller(progress)
    tell("train: summarize traces")
    roles = _summaries([data, validation, test], settings)
    training = Training(*roles, seed=seed, **settings)
    shares = training._training.partitions(workers)
    worker: Any = _Worker  # Ray's types know no options of actors.
    actors = [
        worker.options(scheduling_strategy=home).remote(spec, rows, threads, memory_limit)
        for (rows, spec), home in zip(shares, _homes())
    ]
    steps: list[dict[str, Any]] = []
    while (question := training.question()) is not None:
        began, stage = time.perf_counter(), training.stage
        asked = ray.put(question)
        answer = _merged(_merge, [actor.answer.remote(asked) for actor in actors])
        training.tell(answer)
        steps.append(_step(stage, began, len(question), len(answer)))
        tell(f"train: {stage}, {steps[-1]['seconds']:.2f} s")
    accounts = ray.get([actor.account.remote() for actor in actors])
    del actors
    if replays := training.replays(workers):
        began = time.perf_counter()
        sent = [_replay.options(num_cpus=threads).remote(task, threads) for task in replays]
        training.tell_replayed(_merged(_merge_replays, sent))
        steps.append(_step("replay", began, sum(map(len, replays)), 0))
        tell(f"train: {len(replays)} replays, {steps[-1]['seconds']:.2f} s")
    model = training.model_json
    assert model is not None, "a training without questions is done"
    return Trained(model, accounts, steps)


def collect(
    events: Paths | Mapping[str, Paths],
    output: str | os.PathLike[str],
    *,
    switch: str | os.PathLike[str] | None = None,
    columns: Iterable[str] = (),
    time_unit: str | None = None,
    skip_bad_rows: bool = False,
    max_waiting_rows: int = 1 << 24,
    rows_per_task: int = 10_000_000,
    progress: bool | Callable[[str], None] = True,
    **settings: Any,
) -> list[Collected]:
    """Labels events, one task per run and switch, into ``output/run=NAME/switch=ID/part-0.parquet``.

    ``events`` maps the name of each run to its files; given only files, each is a run of its own.
    A switch with more than ``rows_per_task`` arrivals is cut further where it is idle, if its rows
    do not depend on what was before (docs/ray.md); the files are the same for any number.
    ``settings`` are named as the options of ``dropcast collect``: departures, victim, strict_fit,
    features.
    """
    _begin()
    tell = _teller(progress)
    runs = _runs(events)
    if "features" in settings and not isinstance(settings["features"], str):
        settings["features"] = ",".join(settings["features"])
    common = {
        "switch": os.fspath(switch) if switch is not None else None,
        "columns": list(columns),
        "time_unit": time_unit,
        "skip_bad_rows": skip_bad_rows,
        "max_waiting_rows": max_waiting_rows,
        "settings": settings,
    }
    tasks = {run: json.dumps({"events": files, **common}) for run, files in runs.items()}
    tell(f"collect: {len(runs)} runs")
    cuts = {run: _cut.remote(task, rows_per_task) for run, task in tasks.items()}
    pending: dict[Any, tuple[str, int, str]] = {}
    for run, cut in cuts.items():
        by_switch: dict[int, list[str]] = {}
        for piece in ray.get(cut):
            by_switch.setdefault(json.loads(piece)["switch"], []).append(piece)
        for switch_id, pieces in by_switch.items():
            path = _join_path(output, f"run={run}", f"switch={switch_id}", "part-0.parquet")
            if len(pieces) == 1:
                made = _label.remote(tasks[run], pieces[0], path)
            else:
                made = _join.remote(path, *[_label.remote(tasks[run], p, None) for p in pieces])
            pending[made] = (run, switch_id, path)
    if not pending:
        raise ValueError("the events have no arrivals, so there is nothing to label")
    found, waiting = [], list(pending)
    while waiting:
        done, waiting = ray.wait(waiting)
        for made in done:
            run, switch_id, path = pending[made]
            of_tasks = ray.get(made)
            sums = {name: sum(task[name] for task in of_tasks) for name in ("rows", "drops")}
            found.append(Collected(run, switch_id, path, tasks=of_tasks, **sums))
        tell(f"collect: {len(found)} of {len(pending)} switches")
    return sorted(found, key=lambda trace: (trace.run, trace.switch))


def sweep(
    config: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    tasks: int | None = None,
    threads: int = 1,
    progress: bool | Callable[[str], None] = True,
) -> dict[str, Any]:
    """Trains every combination of a ``sweep.toml`` into the folder ``output``, a share per task.

    The folder is that of ``dropcast sweep``. A sweep that was interrupted goes on where it was:
    what its tasks made is kept in ``output/parts``. Each task reads the traces, so they must fit on
    one machine; the settings are what is divided.
    """
    _begin()
    tell = _teller(progress)
    tasks = tasks or _cpus(threads)
    text = pathlib.Path(config).read_text()
    parts = pathlib.Path(output, "parts")
    parts.mkdir(parents=True, exist_ok=True)
    kept = {path.name: path.read_bytes() for path in parts.iterdir() if path.is_file()}
    known = ray.put(kept)
    waiting = [
        _share.options(num_cpus=threads).remote(text, nth, tasks, threads, known)
        for nth in range(tasks)
    ]
    while waiting:
        done, waiting = ray.wait(waiting)
        for made in ray.get(done):
            # Times first: a part that is there is complete.
            for name, content in sorted(made.items(), key=lambda item: item[0].endswith(".json")):
                beside = parts / f".{name}"
                beside.write_bytes(content)
                beside.replace(parts / name)
        tell(f"sweep: {tasks - len(waiting)} of {tasks} shares")
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "sweep.toml")
        copy.write_text(text)
        return json.loads(_dropcast.finish_sweep(str(copy), os.fspath(output), threads))


def leave_one_out(
    data: Paths,
    *,
    seed: int = 1,
    threads: int = 1,
    progress: bool | Callable[[str], None] = True,
    **settings: Any,
) -> list[Fold]:
    """Trains once for each trace, on all others; tells what each model is worth on its trace.

    As ``dropcast train --cross-validate``, a task per fold. Each task reads all traces.
    """
    _begin()
    tell = _teller(progress)
    paths = _files(data)
    if len(paths) < 2:
        raise ValueError(f"to leave one of the traces out takes two at least, there are {len(paths)}")
    (summaries, _, _) = _summaries([paths, (), ()], settings)
    known = ray.put(summaries)
    fold = _fold.options(num_cpus=threads)
    pending = [fold.remote(known, nth, seed, threads, settings) for nth in range(len(paths))]
    waiting = pending
    while waiting:
        _, waiting = ray.wait(waiting)
        tell(f"leave one out: {len(paths) - len(waiting)} of {len(paths)} folds")
    return [Fold(path=path, **made) for path, made in zip(paths, ray.get(pending), strict=True)]


@ray.remote(max_restarts=-1, max_task_retries=-1)
class _Worker:
    """Keeps the rows of a partition and answers questions about them.

    Ray starts it again elsewhere if its process or node is lost; questions hold all that it needs
    to read its rows again.
    """

    def __init__(self, spec: str, rows: int, threads: int, memory_limit: int | None) -> None:
        self._partition = open_partition(
            _localized(spec, lambda spec: [piece["trace"] for piece in spec["pieces"]]),
            threads=threads,
            memory_limit=memory_limit,
            scratch=tempfile.gettempdir(),
        )
        self._rows = rows
        self._answers = 0
        self._seconds = 0.0
        self._bytes = 0

    def answer(self, question: bytes) -> bytes:
        began = time.perf_counter()
        answer = self._partition.answer(question)
        self._seconds += time.perf_counter() - began
        self._answers += 1
        self._bytes += len(answer)
        return answer

    def account(self) -> dict[str, Any]:
        context = ray.get_runtime_context()
        return {
            "node": context.get_node_id(),
            "process": os.getpid(),
            "restarted": context.was_current_actor_reconstructed,
            "rows": self._rows,
            "answers": self._answers,
            "seconds": self._seconds,
            "answer_bytes": self._bytes,
            "bytes_in_memory": self._partition.bytes_in_memory,
            "spilled_bytes": self._partition.spilled_bytes,
        }


@ray.remote(**_TASK)
def _summarize(path: str, settings: dict[str, Any]) -> str:
    summary = json.loads(_dropcast.summarize_trace(_local(path), settings_json(**settings)))
    return json.dumps({**summary, "path": path})


@ray.remote(**{**_TASK, "num_cpus": 0})
def _merge(*answers: bytes) -> bytes:
    return _dropcast.merge_answers(list(answers))


@ray.remote(**{**_TASK, "num_cpus": 0})
def _merge_replays(*replays: str) -> str:
    return _dropcast.merge_replays(list(replays))


@ray.remote(**_TASK)
def _replay(task: str, threads: int) -> str:
    return _dropcast.replay(_localized(task, lambda task: [task["trace"]]), threads)


@ray.remote(**_TASK)
def _cut(task: str, rows: int) -> list[str]:
    return _dropcast.cut_events(_localized_events(task), rows)


@ray.remote(**_TASK)
def _label(task: str, piece: str, path: str | None) -> Any:
    """Labels a piece into ``path``; without one, returns the trace with the account."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, "part-0.parquet")
        collected = json.loads(_dropcast.collect_piece(_localized_events(task), piece, str(made)))
        if path is not None:
            _publish(made, path)
        account = {
            "node": ray.get_runtime_context().get_node_id(),
            "rows": collected["rows"],
            "drops": collected["drops"],
            "seconds": time.perf_counter() - began,
        }
        return [account] if path is not None else (made.read_bytes(), account)


@ray.remote(**_TASK)
def _join(path: str, *labelled: tuple[bytes, dict[str, Any]]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        pieces = []
        for nth, (content, _) in enumerate(labelled):
            pieces.append(pathlib.Path(folder, f"piece-{nth}.parquet"))
            pieces[-1].write_bytes(content)
        made = pathlib.Path(folder, "part-0.parquet")
        _dropcast.join_pieces([str(piece) for piece in pieces], str(made))
        _publish(made, path)
    return [account for _, account in labelled]


@ray.remote(**_TASK)
def _share(
    config: str, nth: int, of: int, threads: int, known: dict[str, bytes]
) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        copy, made = pathlib.Path(folder, "sweep.toml"), pathlib.Path(folder, "sweep")
        copy.write_text(config)
        parts = made / "parts"
        parts.mkdir(parents=True)
        for name, content in known.items():
            (parts / name).write_bytes(content)
        _dropcast.sweep_share(str(copy), str(made), nth, of, threads)
        new = [path for path in parts.iterdir() if path.name not in known]
        return {path.name: path.read_bytes() for path in new}


@ray.remote(**_TASK)
def _fold(
    summaries: list[str], nth: int, seed: int, threads: int, settings: dict[str, Any]
) -> dict[str, Any]:
    began = time.perf_counter()
    local = [_localized(summary, lambda summary: [summary]) for summary in summaries]
    data, test = local[:nth] + local[nth + 1 :], [local[nth]]
    model = json.loads(train_here(Training(data, test=test, seed=seed, **settings), threads=threads))
    node = ray.get_runtime_context().get_node_id()
    return {
        "test": model["metrics"]["test"],
        "node": node,
        "seconds": time.perf_counter() - began,
    }


def _begin() -> None:
    """Starts Ray on this machine alone, unless the program or RAY_ADDRESS names a cluster."""
    if ray.is_initialized():
        return
    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=False)
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    local: dict[str, Any] = {"address": "local", "_node_ip_address": "127.0.0.1"}
    ray.init(include_dashboard=False, log_to_driver=False, **local)


def _homes() -> Iterator[NodeAffinitySchedulingStrategy]:
    """Nodes in turn, each as often as it has CPUs; should one be lost, its actors go elsewhere."""
    nodes = [node for node in ray.nodes() if node["Alive"]]
    most = max(int(node["Resources"].get("CPU", 0)) for node in nodes)
    turns = [
        NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)
        for turn in range(max(1, most))
        for node in nodes
        if most == 0 or node["Resources"].get("CPU", 0) > turn
    ]
    return itertools.cycle(turns)


def _cpus(threads: int) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)) // max(1, threads))


def _merged(merge: Any, answers: list[Any]) -> Any:
    """The sum of answers, added up in a tree."""
    while len(answers) > 1:
        groups = [answers[at : at + _FAN_IN] for at in range(0, len(answers), _FAN_IN)]
        answers = [merge.remote(*group) for group in groups]
    return ray.get(answers[0])


def _summaries(roles: list[Paths], settings: dict[str, Any]) -> list[list[str]]:
    """Summaries of the traces of each role, a task per file."""
    asked = [[_summarize.remote(path, settings) for path in _files(role)] for role in roles]
    return [ray.get(role) for role in asked]


def _step(what: str, began: float, question: int, answer: int) -> dict[str, Any]:
    seconds = time.perf_counter() - began
    return {"what": what, "seconds": seconds, "question_bytes": question, "answer_bytes": answer}


def _teller(progress: bool | Callable[[str], None]) -> Callable[[str], None]:
    if callable(progress):
        return progress
    if progress:
        return lambda line: print(line, file=sys.stderr, flush=True)
    return lambda line: None


# Files: local ones that every node sees, and those of object stores, copied to a node's disk.


def _is_uri(path: str) -> bool:
    return "://" in path


def _filesystem(uri: str) -> tuple[Any, str]:
    from pyarrow import fs

    return fs.FileSystem.from_uri(uri)


def _files(paths: Paths) -> list[str]:
    """Files, with those of folders in the order of their paths."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: list[str] = []
    for path in [os.fspath(path) for path in given]:
        if _is_uri(path):
            found.extend(_files_of_uri(path))
        elif os.path.isdir(path):
            inside = sorted(str(file) for file in pathlib.Path(path).rglob("*.parquet"))
            if not inside:
                raise ValueError(f"{path}: has no *.parquet files; name a folder of traces")
            found.extend(os.path.abspath(file) for file in inside)
        else:
            found.append(os.path.abspath(path))
    return found


def _files_of_uri(uri: str) -> list[str]:
    from pyarrow import fs

    system, path = _filesystem(uri)
    if system.get_file_info(path).type != fs.FileType.Directory:
        return [uri]
    inside = system.get_file_info(fs.FileSelector(path, recursive=True))
    names = sorted(info.path for info in inside if info.path.endswith(".parquet"))
    if not names:
        raise ValueError(f"{uri}: has no *.parquet files; name a folder of traces")
    return [uri.rstrip("/") + name[len(path.rstrip("/")) :] for name in names]


def _runs(events: Paths | Mapping[str, Paths]) -> dict[str, list[str]]:
    """The files of each run, by its name."""
    if isinstance(events, Mapping):
        return {str(run): _files(files) for run, files in events.items()}
    runs: dict[str, list[str]] = {}
    for file in _files(events):
        name = os.path.basename(file).split(".")[0]
        if name in runs:
            raise ValueError(f"{file}: two runs would be called {name}; name them in a mapping")
        runs[name] = [file]
    return runs


def _local(path: str) -> str:
    """A file on this node with the content of ``path``."""
    if not _is_uri(path):
        return path
    system, remote = _filesystem(path)
    info = system.get_file_info(remote)
    key = hashlib.sha256(f"{path} {info.size} {info.mtime_ns}".encode()).hexdigest()[:32]
    folder = pathlib.Path(tempfile.gettempdir(), "dropcast-ray", key)
    copy = folder / os.path.basename(remote)
    if not copy.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as beside:
            with system.open_input_stream(remote) as source:
                shutil.copyfileobj(source, beside, 1 << 22)
        os.replace(beside.name, copy)
    return str(copy)


def _localized(text: str, traces: Callable[[Any], list[dict[str, Any]]]) -> str:
    """The same JSON, where the traces in it are on this node."""
    value = json.loads(text)
    for trace in traces(value):
        trace["path"] = _local(trace["path"])
    return json.dumps(value)


def _localized_events(task: str) -> str:
    value = json.loads(task)
    value["events"] = [_local(path) for path in value["events"]]
    if value["switch"] is not None:
        value["switch"] = _local(value["switch"])
    return json.dumps(value)


def _join_path(folder: str | os.PathLike[str], *names: str) -> str:
    folder = os.fspath(folder)
    base = folder.rstrip("/") if _is_uri(folder) else os.path.abspath(folder)
    return "/".join([base, *names])


def _publish(made: pathlib.Path, path: str) -> None:
    """Puts a file in its place: whole, or not at all."""
    if _is_uri(path):
        system, remote = _filesystem(path)
        system.create_dir(os.path.dirname(remote), recursive=True)
        with made.open("rb") as source, system.open_output_stream(remote) as target:
            shutil.copyfileobj(source, target, 1 << 22)
        return
    target = pathlib.Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".", delete=False) as beside:
        with made.open("rb") as source:
            shutil.copyfileobj(source, beside, 1 << 22)
    os.chmod(beside.name, 0o644)
    os.replace(beside.name, target)
