"""The stages from events to tables, with the names and defaults of the command."""

from __future__ import annotations

import html
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dropcast import _dropcast
from dropcast._progress import Bar
from dropcast._settings import (
    Path,
    as_arguments,
    as_list,
    default,
    described,
    is_path,
    reading_of,
    takes_settings_of,
    whole,
)
from dropcast.errors import InputError
from dropcast.models import Model, model_of
from dropcast.traces import Trace, TraceFolder, refuse_none, traces_of

if TYPE_CHECKING:
    # Type checkers know it; Python does not need it here.
    from typing_extensions import Unpack

    from dropcast.named_settings import (
        CollectSettings,
        TrainSettings,
    )


@takes_settings_of("collect")
def collect(
    events: Any,
    *,
    output: Path | None = None,
    switch: Any = None,
    column: Mapping[str, str] | None = None,
    time_unit: str | None = None,
    drops: Any = (),
    drop_window_ms: int | None = None,
    on_bad_row: str | None = None,
    max_waiting_rows: int = default("collect", "max_waiting_rows"),
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Unpack[CollectSettings],
) -> Any:
    """Labels packet events: runs Longest Queue Drop virtually alongside the real switch.

    ``events`` are files or frames, one or several, which are merged by time. ``switch`` describes
    the switches, if the events do not: a file, or a dict with its fields. ``column`` names columns
    by field: ``{"time_ns": "ts"}``. ``drops`` are files with reports of packets that the real switch
    dropped, which are joined with captures within ``drop_window_ms`` (1000). ``on_bad_row``:
    ``"fail"``, the default, or ``"skip"``. Returns a :class:`Trace`; without ``output`` it stays in memory.

    ``events`` may be one folder. Then each folder under it is a run that is labelled on its own,
    with one trace for each switch, on so many ``threads``; finished folders are skipped. ``output`` is a folder, too, and a :class:`TraceFolder` is returned.
    """
    items = as_list(events)
    paths = [os.fspath(item) for item in items if is_path(item)]
    frames = [item for item in items if not is_path(item)]
    if paths and frames:
        raise InputError("events: are files and frames; give either")
    if not items:
        raise InputError("events: there are none, expected a file or a frame")
    for frame in frames:
        if not hasattr(frame, "__arrow_c_stream__"):
            raise TypeError(
                f"events are paths or have __arrow_c_stream__, not {type(frame).__name__}"
            )
    name = "events" if len(frames) == 1 else "events {}"
    source = {
        "paths": paths,
        "frames": [(name.format(place), frame) for place, frame in enumerate(frames)],
        "switch": described(switch),
    }
    path = None if output is None else os.fspath(output)
    words = {"on_bad_row": on_bad_row, "max_waiting_rows": whole("max_waiting_rows", max_waiting_rows), **settings}
    arguments = as_arguments(words) + reading_of(column, time_unit, drops, drop_window_ms)
    found = _dropcast.collect(Bar(progress), source, arguments, path, whole("threads", threads))
    if isinstance(found, _dropcast.Trace):
        return Trace(found)
    assert path is not None, "a folder of traces is refused without one"
    folder = path.rstrip("/") + "/" if _dropcast.is_object(path) else path
    return TraceFolder(folder, json.loads(found))


@takes_settings_of("train")
def train(
    data: Any,
    *,
    test: Any = (),
    validation: Any = (),
    cross_validate: str | int | None = None,
    model_per: str = "pooled",
    threads: int | None = None,
    memory_limit: int | None = None,
    output: Path | None = None,
    gain: bool = True,
    progress: bool | None = None,
    **settings: Unpack[TrainSettings],
) -> Model:
    """Trains a forest on labelled traces: files or frames, one or several.

    The same rows and settings give the model of the command, to the byte, for files. ``gain``
    replays the test rows to say what the oracle gains, as the command does. With ``model_per`` see
    :func:`train_per`. ``output`` is a file for the model.
    """
    if model_per != "pooled":
        raise InputError("model_per: several models are trained by dropcast.train_per")
    refuse_none(data)
    roles = _roles(data, validation, test, threads, memory_limit, output)
    settings_of = as_arguments({"cross_validate": cross_validate, **settings})
    made, _, found, _ = _dropcast.train(Bar(progress), roles, settings_of, gain)
    known = None if found is None else json.loads(found)
    folds = cross_validate is not None
    model = Model(made, None if folds else known)
    model.cross_validation = known if folds else None
    return model


@takes_settings_of("train")
def train_per(
    data: Any,
    model_per: str,
    *,
    test: Any = (),
    validation: Any = (),
    cross_validate: None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    output: None = None,
    progress: bool | None = None,
    **settings: Unpack[TrainSettings],
) -> tuple[dict[str, Model | None], dict[str, Any]]:
    """Trains a model of each ``switch`` or ``role``, and one of all, ``pooled``.

    Returns the models by name (None for one that could not be trained), and how they compare.
    """
    refuse_none(data)
    roles = _roles(data, validation, test, threads, memory_limit, output)
    arguments = as_arguments({"model_per": model_per, **settings})
    pooled, made, compared, _ = _dropcast.train(Bar(progress), roles, arguments, False)
    models = [("pooled", pooled), *made]
    named = {name: None if model is None else Model(model) for name, model in models}
    return named, json.loads(compared or "null")


class Sweep:
    """What a sweep found: every forest, and the Pareto-optimal ones among them."""

    def __init__(self, found: dict[str, Any], folder: str) -> None:
        #: Everything, as in ``sweep.json`` (docs/sweep.md).
        self.table = found
        #: The folder of the sweep, with ``report.html`` and ``models/``.
        self.folder = folder

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each forest."""
        rows: list[dict[str, Any]] = self.table["rows"]
        return rows

    @property
    def pareto(self) -> list[dict[str, Any]]:
        """The rows of Pareto-optimal forests."""
        return [row for row in self.rows if row["pareto"]]

    @property
    def proposed(self) -> dict[str, Any] | None:
        """The cheapest Pareto-optimal row within noise of the best; None without a front."""
        at = self.table["proposed"]
        return None if at is None else self.rows[at]

    def model(self, row: Mapping[str, Any]) -> Model:
        """The model of a Pareto-optimal row."""
        name = row["model"]
        if name is None:
            raise InputError("row: only Pareto-optimal forests are kept")
        return Model.load(os.path.join(self.folder, name))

    def __repr__(self) -> str:
        return f"<Sweep: {len(self.rows)} forests, {len(self.pareto)} Pareto-optimal>"

    def _repr_html_(self) -> str:
        return _framed(_read(os.path.join(self.folder, "report.html")))


def sweep(
    config: Path | Mapping[str, Any],
    *,
    data: Any = (),
    validation: Any = (),
    test: Any = (),
    output: Path | None = None,
    resume: bool = False,
    threads: int | None = None,
    memory_limit: int | None = None,
    progress: bool | None = None,
) -> Sweep:
    """Trains every combination of settings, and compares them.

    ``config`` is a ``sweep.toml``, which names its data, or a dict with its fields and ``data``
    here: files or frames. Without ``output`` a file's sweep goes to ``runs/`` and the name of the
    file, a dict's to a new temporary folder, which stays unless the sweep fails.
    """
    task: Any = config
    temporary: str | None = None
    if not isinstance(config, Mapping):
        path = os.fspath(config)
        if as_list(data) or as_list(validation) or as_list(test):
            raise InputError("data: a sweep's file names its data; give a dict, or leave it out")
        stem = os.path.splitext(os.path.basename(path))[0]
        folder = os.path.join("runs", stem) if output is None else os.fspath(output)
    else:
        task = fields = dict(config)
        data = as_list(data) + as_list(fields.pop("data", None))
        validation = as_list(validation) + as_list(fields.pop("validation", None))
        test = as_list(test) + as_list(fields.pop("test", None))
        if output is None:
            output = temporary = tempfile.mkdtemp(prefix="dropcast-sweep-")
        folder = os.fspath(output)
    try:
        roles = _roles(data, validation, test, threads, memory_limit, folder)
        text = _dropcast.sweep(Bar(progress), described(task), roles, folder, resume)
    except BaseException:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    return Sweep(json.loads(text), folder)


class Report:
    """A model measured on traces, or what an oracle could be worth on them (docs/report.md)."""

    def __init__(self, report: _dropcast.Report) -> None:
        self._report = report

    def to_json(self) -> str:
        """Everything, for programs."""
        return self._report.export("json")

    def to_html(self) -> str:
        """A page with plots, which fetches nothing."""
        return self._report.export("html")

    def to_dict(self) -> dict[str, Any]:
        """Everything, as a dict."""
        fields: dict[str, Any] = json.loads(self.to_json())
        return fields

    def save(self, path: Path, format: str | None = None) -> None:
        """Writes it in a format of the command (docs/report.md); by the file's ending if not given."""
        ending = os.path.splitext(os.fspath(path))[1].lstrip(".")
        chosen = format or {"html": "html", "json": "json"}.get(ending, "text")
        _dropcast.write_file(os.fspath(path), self._report.export(chosen).encode())

    def __getitem__(self, section: str) -> Any:
        return self.to_dict()[section]

    def __str__(self) -> str:
        return self._report.export("text")

    def __repr__(self) -> str:
        return f"<Report>\n{self}"

    def _repr_html_(self) -> str:
        return _framed(self.to_html())


def report(
    data: Any,
    *,
    model: Model | Path | None = None,
    rows: str = "unseen",
    policy: Any = (),
    least_gain: float | None = None,
    output: Path | None = None,
    progress: bool | None = None,
) -> Report:
    """Measures a model on labelled traces: scores, eta, and Credence's gain.

    Without ``model``: what every policy transmits, and what an oracle could be worth. ``rows``:
    ``unseen``, of a trace that the model was trained on only its test rows, or ``all``. ``policy``:
    one or several to replay with the others, such as ``"abm"`` or ``"dt:alpha=[8,1]"``, or functions
    of your own: ``accept(packet, switch)`` is called for each packet that fits the buffer, and says whether
    it is accepted (docs/policies.md). ``least_gain``: what share of the lost bytes a policy has to save to
    be worth a change, 0.05 if not given.
    """
    refuse_none(data)
    of = None if model is None else model_of(model)._model
    policies = as_list(policy)
    names = [one for one in policies if not callable(one)]
    own = [(getattr(one, "__name__", type(one).__name__), one) for one in policies if callable(one)]
    found = Report(_dropcast.report(Bar(progress), traces_of(data), of, rows, (names, own), least_gain))
    if output is not None:
        found.save(output)
    return found


def export(
    model: Model | Path,
    target: str | list[str],
    output: Path | None = None,
    *,
    switch: Path | None = None,
) -> list[str] | dict[str, bytes]:
    """Writes a model as tables or code for a dataplane: see :meth:`Model.export`."""
    return model_of(model).export(target, output, switch=switch)


def verify(
    model: Model | Path,
    target: str | list[str],
    *,
    rows: int = 1_000_000,
    trace: Any = None,
    seed: int = 1,
    time: bool = False,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Builds a model's exports, runs them and compares every answer: see :meth:`Model.verify`."""
    return model_of(model).verify(
        target, rows=rows, trace=trace, seed=seed, time=time, progress=progress
    )


def _roles(
    data: Any,
    validation: Any,
    test: Any,
    threads: int | None,
    memory_limit: int | None,
    beside: Path | None,
) -> dict[str, Any]:
    return {
        "data": traces_of(data),
        "validation": traces_of(validation),
        "test": traces_of(test),
        "threads": whole("threads", threads),
        "memory_limit": whole("memory_limit", memory_limit, least=0),
        "beside": None if beside is None else os.fspath(beside),
    }


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _framed(page: str) -> str:
    """A page inside another: its styles stay its own."""
    style = "width:100%;height:40em;border:0"
    return f'<iframe style="{style}" srcdoc="{html.escape(page, quote=True)}"></iframe>'
