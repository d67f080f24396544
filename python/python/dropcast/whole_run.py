"""The whole pipeline into one folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from dropcast import _dropcast
from dropcast._progress import Bar
from dropcast._settings import Path, as_arguments, as_list, reading_of, whole
from dropcast.models import Model
from dropcast.stages import Report
from dropcast.traces import Trace


class Run:
    """A run: its folder with everything in it, and its report."""

    def __init__(self, report: Report, folder: str) -> None:
        #: What the model is worth; where LQD drops nothing, what every policy transmits.
        self.report = report
        #: The folder, with ``config.toml``, which reproduces it, ``report.html`` and ``tables``.
        self.folder = folder

    @property
    def model(self) -> Model | None:
        """Its model; None where LQD drops nothing, so that there was nothing to train on."""
        path = os.path.join(self.folder, "model.json")
        return Model.load(path) if os.path.exists(path) else None

    @property
    def trace(self) -> Trace:
        """Its labelled trace."""
        return Trace(os.path.join(self.folder, "trace.parquet"))

    def __str__(self) -> str:
        return str(self.report)

    def __repr__(self) -> str:
        return f"<Run in {self.folder!r}>\n{self.report}"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


def run(
    config: Path | None = None,
    *,
    events: Any = (),
    switch: Path | None = None,
    column: Mapping[str, str] | None = None,
    time_unit: str | None = None,
    drops: Any = (),
    drop_window_ms: int | None = None,
    on_bad_row: str | None = None,
    policy: str | list[str] = (),  # type: ignore[assignment]
    least_gain: float | None = None,
    name: str | None = None,
    replace: bool = False,
    runs: Path = "runs",
    seed: int | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Run:
    """Runs the whole pipeline: events, labelled trace, forest, tables, report.

    ``events`` are files, one or several; without them the arrivals of a leaf switch are generated.
    Everything goes into one folder, ``runs/NAME``, with a ``config.toml`` that reproduces it.
    ``config`` is such a file; what is given besides takes precedence. ``drops``,
    ``drop_window_ms`` and ``on_bad_row`` are as for :func:`collect`. ``policy``: one or several
    to replay with the others, such as ``"abm"``. ``least_gain`` is as for :func:`report`.
    """
    paths = {"config": config, "switch": switch, "runs": runs}
    given = {of: None if path is None else os.fspath(path) for of, path in paths.items()}
    words = {"name": name, "replace": replace, "seed": seed, "on_bad_row": on_bad_row,
             "least_gain": least_gain}
    arguments = as_arguments({**given, **words})
    arguments += [f"--events={os.fspath(path)}" for path in as_list(events)]
    arguments += reading_of(column, time_unit, drops, drop_window_ms)
    arguments += [f"--policy={name}" for name in as_list(policy)]
    report, folder = _dropcast.run(Bar(progress), arguments, whole("threads", threads))
    return Run(Report(report), os.fspath(folder))
