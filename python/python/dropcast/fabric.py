"""Arrivals, and policies and models in the fabric, as the command runs them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dropcast import _dropcast
from dropcast._described import Described
from dropcast._progress import Bar
from dropcast._settings import (
    Path,
    as_arguments,
    as_list,
    commands,
    described,
    is_path,
    takes_settings_of,
    whole,
)
from dropcast.errors import InputError
from dropcast.models import Model
from dropcast.traces import traces_of

if TYPE_CHECKING:
    # Type checkers know it; Python does not need it here.
    from typing_extensions import Unpack

    from dropcast.named_settings import (
        RefineSettings,
        ReproduceSettings,
    )


class Comparison:
    """Policies compared in the fabric: each metric with its 95% interval."""

    def __init__(self, summary: dict[str, Any], text: str) -> None:
        #: Everything, as in ``summary.json`` (lab/notes/fabric.md).
        self.summary = summary
        self._text = text

    def metric(self, name: str) -> dict[str, Any]:
        """A metric by policy: its value and its difference from the first policy."""
        return {of["policy"]: of["metrics"][name] for of in self.summary["policies"]}

    def __repr__(self) -> str:
        return f"<Comparison>\n{self._text}"

    def __str__(self) -> str:
        return self._text


def simulate(
    *,
    topology: str = "leaf",
    workload: Path | None = None,
    seed: int | None = None,
    duration_ms: int | None = None,
    load: float | None = None,
    burst: float | None = None,
    experiment: bool | Path | Mapping[str, Any] = False,
    policy: str | list[str] = (),  # type: ignore[assignment]
    runs: int | None = None,
    threads: int | None = None,
    record: str | list[str] = (),  # type: ignore[assignment]
    output: Path | None = None,
    keep: Path | None = None,
    part: str | None = None,
    progress: bool | None = None,
) -> Any:
    """Generates packet arrivals that no sender reacts to, or runs policies in a fabric.

    Without ``experiment``: the arrivals, a frame that :func:`collect` takes; with ``output`` a file,
    whose path is returned. With ``experiment``, True, a file or a dict with its fields: a
    :class:`Comparison` of policies under senders that react; with ``output`` also a folder of runs,
    distributions of flow times and their pictures (lab/notes/fabric.md).

    Each run that ends is added to the file ``keep``, and those that it has are not repeated; with
    ``part``, such as "2/4", only that part of them is simulated, and their number returned. The folder
    then has no files of each run.
    """
    path = None if output is None else os.fspath(output)
    if experiment is False:
        given = {"policy": policy, "runs": runs, "threads": threads, "record": record,
                 "keep": keep, "part": part}
        _refuse(given, "belongs to an experiment; give one, or leave it out")
        changes = as_arguments(
            {"seed": seed, "duration_ms": duration_ms, "load": load, "burst": burst}
        )
        of = None if workload is None else os.fspath(workload)
        frame = _dropcast.generate(Bar(progress), topology, of, changes, path)
        return path if frame is None else frame
    said = {"workload": workload, "duration_ms": duration_ms, "load": load, "burst": burst}
    _refuse(said, "is said by the experiment; leave it out")
    changed = {
        "policies": as_list(policy),
        "runs": whole("runs", runs),
        "seed": whole("seed", seed, least=0),
        "record": as_list(record),
        "threads": whole("threads", threads),
    }
    config = None if experiment is True else described(experiment)
    if keep is not None:
        _refuse({"record": record}, "is of runs as they happen, and kept runs do not happen again; leave it or keep out")
    if part is not None:
        _refuse({"output": output}, "is of the whole experiment, and a part of it is simulated")
    keeping = _keeping(keep, part)
    found, text = _dropcast.experiment(Bar(progress), config, changed, keeping, path)
    return json.loads(found) if part is not None else Comparison(json.loads(found), text)


def map(
    config: Path | Mapping[str, Any],
    *,
    output: Path | None = None,
    threads: int | None = None,
    keep: Path | None = None,
    part: str | None = None,
    progress: bool | None = None,
) -> Any:
    """Finds where an oracle pays: compares policies in the fabric over many conditions.

    ``config`` is a ``map.toml``, or a dict with its fields. Returns what is in ``map.json``
    (lab/notes/where-an-oracle-pays.md); printed, it is the summary. ``output`` is a folder for tables
    and pictures; without, a file's go to ``runs/`` and the name of the file, a dict's nowhere.

    Each run that ends is added to the file ``keep``, and those that it has are not repeated; with
    ``part``, such as "2/4", only that part of them is simulated, and their number returned.
    """
    folder = output
    if not isinstance(config, Mapping) and output is None:
        stem = os.path.splitext(os.path.basename(os.fspath(config)))[0]
        folder = os.path.join("runs", stem)
    into, task = None if folder is None else os.fspath(folder), described(config)
    if part is not None:
        _refuse({"output": output}, "is of the whole map, and a part of it is simulated")
    keeping = _keeping(keep, part)
    found, text = _dropcast.map(Bar(progress), task, whole("threads", threads), keeping, into)
    return json.loads(found) if part is not None else Described(found, text)


def _keeping(keep: Path | None, part: str | None) -> dict[str, str | None]:
    if part is not None and keep is None:
        raise InputError("part is simulated into a file; name one as keep")
    name = None if keep is None else os.fspath(keep)
    return {"keep": name, "part": part, "program": _dropcast.__file__}


def simulate_share(job: str, *, keep: Path, part: str) -> int:
    """Simulates a part, such as "2/4", of a job of :func:`refine_by` into the file ``keep``."""
    return _dropcast.simulate_share(Bar(False), job, _keeping(keep, part))


@takes_settings_of("refine")
def refine(
    data: Any = (),
    *,
    model: Any = (),
    experiment: Path | Mapping[str, Any] | None = None,
    output: Path | None = None,
    threads: int | None = None,
    keep: Path | None = None,
    progress: bool | None = None,
    **settings: Unpack[RefineSettings],
) -> tuple[Model, Described]:
    """Chooses models and vote thresholds by what they do to flows, and trains on what Credence
    meets (lab/notes/closed-loop.md).

    ``data`` are further labelled traces to train on: files or frames. ``model`` are models to
    choose from, one or several. ``experiment`` is a file, or a dict with its fields. Returns the
    model, which predicts no drop if none was better than that, and what each round came to;
    ``output`` is a folder for both. Each run that ends is added to the file ``keep``, and those that
    it has are not repeated.
    """
    return refine_by(
        None,
        data,
        model=model,
        experiment=experiment,
        output=output,
        threads=threads,
        keep=keep,
        progress=progress,
        **settings,
    )


def refine_by(
    simulate: Callable[[str, int], Iterable[str]] | None,
    data: Any = (),
    *,
    model: Any = (),
    experiment: Path | Mapping[str, Any] | None = None,
    output: Path | None = None,
    threads: int | None = None,
    keep: Path | None = None,
    progress: bool | None = None,
    **settings: Unpack[RefineSettings],
) -> tuple[Model, Described]:
    """:func:`refine`, whose runs ``simulate`` has simulated elsewhere, if ``keep`` names a file: it takes a job
    and the number of its runs, and yields the lines of each part that :func:`simulate_share` did."""
    models = as_list(model)
    arguments = as_arguments(settings)
    arguments += [f"--model={os.fspath(of)}" for of in models if is_path(of)]
    fields = None
    if isinstance(experiment, Mapping):
        fields = json.dumps(experiment)
    elif experiment is not None:
        arguments.append(f"--experiment={os.fspath(experiment)}")
    given = [of for of in models if not is_path(of)]
    for of in given:
        if not isinstance(of, Model):
            raise TypeError(f"a model is a path or a dropcast.Model, not {type(of).__name__}")
    refinable = {
        "models": [(f"model {place}", of._model) for place, of in enumerate(given)],
        "data": traces_of(data),
        "experiment": fields,
        "keeping": _keeping(keep, None),
        "simulate": simulate,
    }
    into, threads = None if output is None else os.fspath(output), whole("threads", threads)
    made, found, text = _dropcast.refine(Bar(progress), refinable, arguments, threads, into)
    return Model(made), Described(found, text)


@takes_settings_of("reproduce")
def reproduce(
    figure: str, *, output: Path | None = None, progress: bool | None = None, **settings: Unpack[ReproduceSettings]
) -> list[str]:
    """Reproduces a figure of the Credence paper, ``fig6`` to ``fig15``, or figures 6 to 13 at once,
    ``fabric``: numbers as CSV, pictures as SVG, into the folder ``output``, ``runs/FIGURE`` unless given.
    Returns the paths of the files.
    """
    known = sorted(commands()["reproduce"]["subcommands"], key=lambda name: (len(name), name))
    if figure not in known:
        raise InputError(f"figure: {figure!r} is unknown, expected one of {', '.join(known)}")
    data = [f"--data={os.fspath(path)}" for path in as_list(settings.pop("data", None))]
    arguments = [figure, *as_arguments({**settings, "output": output}), *data]
    return [os.fspath(path) for path in _dropcast.reproduce(Bar(progress), arguments)]


def _refuse(given: Mapping[str, Any], problem: str) -> None:
    for name, value in given.items():
        if value not in (None, ()):
            raise InputError(f"{name}: {problem}")
