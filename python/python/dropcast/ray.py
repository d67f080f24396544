"""The pipeline on Ray, from a laptop to a cluster: ``pip install dropcast[ray]``.

The results are those of the ``dropcast`` command on one machine, byte for byte, with any number of
workers, and when workers or nodes are lost on the way. Scheduling, transport and retries are Ray's.

Paths are files and folders that every node sees, or URLs of object stores (``s3://``, ``gs://``,
``az://``; docs/objects.md), which end in ``/`` where they name a folder. A folder stands for all files
in Parquet and Arrow IPC in it, in the order of their paths. Cost and limits: docs/ray.md.

    import dropcast.ray
    dropcast.ray.collect("events.parquet", "traces", departures="line-rate")
    trained = dropcast.ray.train("traces", n_estimators=4)
    trained.save("model.json")
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from dropcast import _dropcast
from dropcast._described import Described
from dropcast._settings import Path, takes_settings_of
from dropcast.errors import InputError
from dropcast.fabric import map as find_where_it_pays
from dropcast.fabric import refine_by, simulate, simulate_share
from dropcast.models import Model
from dropcast.partitions import Training, open_partition, settings_json
from dropcast.partitions import train as train_here

if TYPE_CHECKING:
    # Type checkers know it; Python does not need it here.
    from typing_extensions import Unpack

    from dropcast.named_settings import (
        LabelSettings,
        RefineSettings,
        SplitForestSettings,
    )

__all__ = [
    "Collected",
    "Fold",
    "Trained",
    "collect",
    "experiment",
    "leave_one_out",
    "map",
    "refine",
    "sweep",
    "train",
]

#: Answers that one task adds up. A level of the tree is as long as this many answers take.
_FAN_IN = 16

#: How often a task, or a worker, that is lost begins again. One that ends wherever it runs, such as for want of memory, is given up.
_MOST_RETRIES = 10

#: Tasks depend on their arguments alone, so Ray may run them again.
_TASK: dict[str, Any] = {"num_cpus": 1, "max_retries": _MOST_RETRIES, "scheduling_strategy": "SPREAD"}

Paths = Union[Path, Iterable[Path]]


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained model, and what each worker did for it."""

    #: The text of ``model.json``.
    model_json: str
    #: By partition: node, process, rows, answers, seconds, bytes in memory and spilled.
    workers: list[dict[str, Any]]
    #: By step: what was asked, seconds, bytes of the question and of the merged answer.
    steps: list[dict[str, Any]]

    def save(self, path: Path) -> None:
        """Writes ``model.json``. The file appears whole or not at all."""
        _dropcast.write_file(os.fspath(path), self.model_json.encode())

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
    **settings: Unpack[SplitForestSettings],
) -> Trained:
    """Trains a forest: the model of ``dropcast train`` on the same files in the same order.

    Each of ``workers`` actors (as many as the cluster has CPUs, unless given) keeps its share of the
    rows, one byte per row and feature, and counts on ``threads`` threads; beyond ``memory_limit``
    MiB per worker, rows go to its node's disk. ``settings`` are named as the options of the command.
    """
    _begin()
    workers = workers or _cpus(threads)
    report = _reporter(progress)
    report("train: summarize traces")
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
        report(f"train: {stage}, {steps[-1]['seconds']:.2f} s")
    accounts = ray.get([actor.account.remote() for actor in actors])
    del actors
    while replays := training.replays(workers):
        began = time.perf_counter()
        sent = [_replay.options(num_cpus=threads).remote(task, threads) for task in replays]
        training.tell_replayed(_merged(_merge_replays, sent))
        steps.append(_step("replay", began, sum(len(task) for task in replays), 0))
        report(f"train: {len(replays)} replays, {steps[-1]['seconds']:.2f} s")
    model = training.model_json
    assert model is not None, "a training without questions is done"
    return Trained(model, accounts, steps)


def collect(
    events: Paths | Mapping[str, Paths],
    output: Path,
    *,
    switch: Path | None = None,
    columns: Iterable[str] = (),
    time_unit: str | None = None,
    skip_bad_rows: bool = False,
    max_waiting_rows: int = 1 << 24,
    rows_per_task: int = 10_000_000,
    progress: bool | Callable[[str], None] = True,
    **settings: Unpack[LabelSettings],
) -> list[Collected]:
    """Labels events, one task per run and switch, into ``output/run=NAME/switch=ID/part-0.parquet``.

    ``events`` maps the name of each run to its files; given only files, each is a run of its own.
    A switch with more than ``rows_per_task`` arrivals is cut further where it is idle, if its rows
    do not depend on what was before (docs/ray.md); the files are the same for any number.
    ``settings`` are named as the options of ``dropcast collect``: departures, victim, strict_fit,
    label, flows, features.
    """
    _begin()
    report = _reporter(progress)
    runs, folder = _runs(events), _everywhere(output).rstrip("/")
    if "features" in settings and not isinstance(settings["features"], str):
        settings["features"] = ",".join(settings["features"])
    common = {
        "switch": None if switch is None else _everywhere(switch),
        "columns": list(columns),
        "time_unit": time_unit,
        "skip_bad_rows": skip_bad_rows,
        "max_waiting_rows": max_waiting_rows,
        "settings": settings,
    }
    tasks = {run: json.dumps({"events": files, **common}) for run, files in runs.items()}
    report(f"collect: {len(runs)} runs")
    cuts = {run: _cut.remote(task, rows_per_task) for run, task in tasks.items()}
    pending: dict[Any, tuple[str, int, str]] = {}
    for run, cut in cuts.items():
        by_switch: dict[int, list[str]] = {}
        for piece in ray.get(cut):
            by_switch.setdefault(json.loads(piece)["switch"], []).append(piece)
        for switch_id, pieces in by_switch.items():
            path = "/".join([folder, f"run={run}", f"switch={switch_id}", "part-0.parquet"])
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
        report(f"collect: {len(found)} of {len(pending)} switches")
    return sorted(found, key=lambda trace: (trace.run, trace.switch))


def sweep(
    config: Path,
    output: Path,
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
    report = _reporter(progress)
    tasks = tasks or _cpus(threads)
    config = _everywhere(config)
    parts = os.path.join(output, "parts")
    _dropcast.create_folder(parts)
    kept = {of.name: of.read_bytes() for of in pathlib.Path(parts).iterdir() if of.is_file()}
    known = ray.put(kept)
    waiting = [
        _share.options(num_cpus=threads).remote(config, nth, tasks, threads, known)
        for nth in range(tasks)
    ]
    while waiting:
        done, waiting = ray.wait(waiting)
        for made in ray.get(done):
            # Times first: a part that is there is complete.
            for name, content in sorted(made.items(), key=lambda item: item[0].endswith(".json")):
                _dropcast.write_file(os.path.join(parts, name), content)
        report(f"sweep: {tasks - len(waiting)} of {tasks} shares")
    return json.loads(_dropcast.finish_sweep(config, os.fspath(output), threads))


def map(
    config: Path | Mapping[str, Any],
    output: Path | None = None,
    *,
    keep: Path | None = None,
    parts: int | None = None,
    progress: bool | Callable[[str], None] = True,
) -> Any:
    """Finds where an oracle pays: :func:`dropcast.map`, its runs in ``parts`` tasks.

    As many parts as four for each CPU of the cluster, unless given. ``keep`` is a file of the driver's for
    what runs came to: each part that ends is added to it, so a map that was stopped goes on.
    """
    return _simulated("map", config, output, keep, parts, progress)


def experiment(
    config: Path | Mapping[str, Any],
    *,
    keep: Path | None = None,
    parts: int | None = None,
    progress: bool | Callable[[str], None] = True,
) -> Any:
    """Compares policies: :func:`dropcast.simulate` of an experiment, its runs in ``parts`` tasks.

    ``parts`` and ``keep`` as for :func:`map`.
    """
    return _simulated("experiment", config, None, keep, parts, progress)


@takes_settings_of("refine")
def refine(
    data: Any = (),
    *,
    model: Any = (),
    experiment: Path | Mapping[str, Any] | None = None,
    output: Path | None = None,
    threads: int | None = None,
    keep: Path | None = None,
    parts: int | None = None,
    progress: bool | Callable[[str], None] = True,
    **settings: Unpack[RefineSettings],
) -> tuple[Model, Described]:
    """Chooses models by what they do to flows: :func:`dropcast.refine`, its runs in ``parts`` tasks for each choice.

    Training and labelling stay in this process, on ``threads`` threads. ``parts`` and ``keep`` as for :func:`map`.
    """
    _begin()
    report = _reporter(progress)
    parts = parts or 4 * _cpus(1)

    def simulate(job: str, runs: int) -> Iterator[str]:
        count, known = min(parts, runs), ray.put(job)
        waiting = [_simulate_share.remote(known, f"{nth + 1}/{count}") for nth in range(count)]
        try:
            while waiting:
                done, waiting = ray.wait(waiting)
                yield from ray.get(done)
                report(f"refine: {count - len(waiting)} of {count} parts, {runs} runs")
        finally:
            for task in waiting:
                ray.cancel(task)

    with tempfile.TemporaryDirectory() as scratch:
        return refine_by(
            simulate,
            data,
            model=model,
            experiment=experiment,
            output=output,
            threads=threads,
            keep=keep or os.path.join(scratch, "runs.jsonl"),
            progress=False,
            **settings,
        )


@ray.remote(**_TASK)
def _simulate_share(job: str, part: str) -> str:
    """What the runs of a part of a job came to."""
    with tempfile.TemporaryDirectory() as scratch:
        runs = pathlib.Path(scratch, "runs.jsonl")
        simulate_share(job, keep=runs, part=part)
        return runs.read_text()


def _simulated(
    what: str,
    config: Path | Mapping[str, Any],
    output: Path | None,
    keep: Path | None,
    parts: int | None,
    progress: bool | Callable[[str], None],
) -> Any:
    _begin()
    report = _reporter(progress)
    parts = parts or 4 * _cpus(1)
    config = config if isinstance(config, Mapping) else _everywhere(config)
    with tempfile.TemporaryDirectory() as scratch:
        runs = pathlib.Path(keep or os.path.join(scratch, "runs.jsonl"))
        kept = runs.read_bytes() if runs.exists() else b""
        whole = kept[: kept.rfind(b"\n") + 1]
        if whole != kept:
            report(f"{what}: the last line of {runs} was cut off; its run is repeated")
            runs.write_bytes(whole)
        known = ray.put(whole)
        waiting = [_simulate.remote(what, config, f"{nth + 1}/{parts}", known) for nth in range(parts)]
        while waiting:
            done, waiting = ray.wait(waiting)
            with runs.open("ab") as file:
                file.writelines(ray.get(done))
            report(f"{what}: {parts - len(waiting)} of {parts} parts")
        return _run(what, config, keep=runs, progress=False, output=output)


def _run(what: str, config: Any, *, output: Any = None, **options: Any) -> Any:
    if what == "map":
        return find_where_it_pays(config, output=output, **options)
    return simulate(experiment=config, **options)


@ray.remote(**_TASK)
def _simulate(what: str, config: Any, part: str, known: bytes) -> bytes:
    """What the runs of a part came to, without the known ones."""
    with tempfile.TemporaryDirectory() as scratch:
        runs = pathlib.Path(scratch, "runs.jsonl")
        runs.write_bytes(known)
        _run(what, config, keep=runs, part=part, threads=1, progress=False)
        return runs.read_bytes()[len(known) :]


def leave_one_out(
    data: Paths,
    *,
    seed: int = 1,
    threads: int = 1,
    progress: bool | Callable[[str], None] = True,
    **settings: Unpack[SplitForestSettings],
) -> list[Fold]:
    """Trains once for each trace, on all others; measures each model on its trace.

    As ``dropcast train --cross-validate``, a task per fold. Each task reads all traces.
    """
    _begin()
    report = _reporter(progress)
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
        report(f"leave one out: {len(paths) - len(waiting)} of {len(paths)} folds")
    return [Fold(path=path, **made) for path, made in zip(paths, ray.get(pending))]


@ray.remote(max_restarts=_MOST_RETRIES, max_task_retries=_MOST_RETRIES)
class _Worker:
    """Keeps the rows of a partition and answers questions about them.

    Ray starts it again elsewhere if its process or node is lost; questions hold all that it needs
    to read its rows again.
    """

    def __init__(self, spec: str, rows: int, threads: int, memory_limit: int | None) -> None:
        self._partition = open_partition(
            spec, threads=threads, memory_limit=memory_limit, scratch=tempfile.gettempdir()
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
def _summarize(path: str, settings: SplitForestSettings) -> str:
    return _dropcast.summarize_trace(path, settings_json(**settings))


@ray.remote(**{**_TASK, "num_cpus": 0})
def _merge(*answers: bytes) -> bytes:
    return _dropcast.merge_answers(list(answers))


@ray.remote(**{**_TASK, "num_cpus": 0})
def _merge_replays(*replays: str) -> str:
    return _dropcast.merge_replays(list(replays))


@ray.remote(**_TASK)
def _replay(task: str, threads: int) -> str:
    return _dropcast.replay(task, threads)


@ray.remote(**_TASK)
def _cut(task: str, rows: int) -> list[str]:
    return _dropcast.cut_events(task, rows)


@ray.remote(**_TASK)
def _label(task: str, piece: str, path: str | None) -> Any:
    """Labels a piece into ``path``; without one, returns the trace with the account."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch, "part-0.parquet")
        into = str(made) if path is None else _with_folder(path)
        collected = json.loads(_dropcast.collect_piece(task, piece, into))
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
        _dropcast.join_pieces([str(piece) for piece in pieces], _with_folder(path))
    return [account for _, account in labelled]


@ray.remote(**_TASK)
def _share(
    config: str, nth: int, of: int, threads: int, known: dict[str, bytes]
) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, "sweep")
        parts = made / "parts"
        parts.mkdir(parents=True)
        for name, content in known.items():
            (parts / name).write_bytes(content)
        _dropcast.sweep_share(config, str(made), nth, of, threads)
        new = [path for path in parts.iterdir() if path.name not in known]
        return {path.name: path.read_bytes() for path in new}


@ray.remote(**_TASK)
def _fold(
    summaries: list[str], nth: int, seed: int, threads: int, settings: SplitForestSettings
) -> dict[str, Any]:
    began = time.perf_counter()
    data, test = summaries[:nth] + summaries[nth + 1 :], [summaries[nth]]
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


def _summaries(roles: list[Paths], settings: SplitForestSettings) -> list[list[str]]:
    """Summaries of the traces of each role, a task per file."""
    files = [_files(role) for role in roles]
    asked = [[_summarize.remote(path, settings) for path in of_role] for of_role in files]
    return [ray.get(role) for role in asked]


def _step(what: str, began: float, question: int, answer: int) -> dict[str, Any]:
    seconds = time.perf_counter() - began
    return {"what": what, "seconds": seconds, "question_bytes": question, "answer_bytes": answer}


def _reporter(progress: bool | Callable[[str], None]) -> Callable[[str], None]:
    if callable(progress):
        return progress
    if progress:
        return lambda line: print(line, file=sys.stderr, flush=True)
    return lambda line: None


def _everywhere(path: Path) -> str:
    """A path that means the same to every process: workers may be elsewhere in the tree."""
    return os.fspath(path) if _dropcast.is_object(path) else os.path.abspath(path)


def _files(paths: Paths) -> list[str]:
    """Files, with those of folders in the order of their paths. What is not there fails before any task begins."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files = _dropcast.trace_files([os.fspath(of) for of in given])
    for file in files:
        # Objects are looked for by the tasks: this machine may have no keys.
        if not _dropcast.is_object(file) and not os.path.exists(file):
            raise InputError(f"{file}: cannot be opened: there is no such file on this machine")
    return [_everywhere(file) for file in files]


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


def _with_folder(path: str) -> str:
    """A file to be written, whose folder is there. Stores have no folders."""
    if not _dropcast.is_object(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    return path
