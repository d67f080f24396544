"""What files hold, and what models take of a device."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from dropcast import _dropcast
from dropcast._described import Described
from dropcast._progress import Bar
from dropcast._settings import Path, as_list, reading_of
from dropcast.errors import InputError
from dropcast.models import Model, model_of


def inspect(
    file: Path | list[Path],
    *,
    check: bool = False,
    statistics: bool = False,
    switch: Path | None = None,
    column: Mapping[str, str] | None = None,
    time_unit: str | None = None,
    own: str | Sequence[str] = (),
    progress: bool | None = None,
) -> Described:
    """The kind and content of a file: events, traces, models, tables, reports.

    With ``check`` reads all events or labelled rows, also of several files, as ``collect`` does, or
    of a folder; ``problems`` lists each kind of bad row, how
    many there are, and the first. ``switch``, ``column`` and ``time_unit`` say what the events do
    not, as in :func:`dropcast.collect`; by ``column`` a table with other names is known for events,
    also without ``check``. With ``check``, ``own`` names integer columns of your own that are
    read, too.
    """
    paths, bar = [os.fspath(path) for path in as_list(file)], Bar(progress)
    reading = reading_of(column, time_unit)
    if not check:
        if len(paths) != 1:
            raise InputError("file: inspect reads one file at a time; only check reads several")
        return Described(*_dropcast.inspect(bar, paths[0], reading, statistics))
    if statistics:
        raise InputError("statistics: cannot be used with check")
    reading += [] if switch is None else [f"--switch={os.fspath(switch)}"]
    reading += [f"--own={name}" for name in as_list(own)]
    return Described(*_dropcast.check(bar, paths, reading))


def resources(
    model: Model | Path, *, measure: bool = False, progress: bool | None = None
) -> Described:
    """What a model takes as match-action tables: see :meth:`Model.resources`."""
    return model_of(model).resources(measure=measure, progress=progress)
