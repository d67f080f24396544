"""Labelled traces, and frames: anything with ``__arrow_c_stream__``."""

from __future__ import annotations

import importlib
import json
import os
from typing import Any

from dropcast import _dropcast
from dropcast._settings import as_list, described, is_path
from dropcast.errors import InputError


class Trace:
    """A labelled trace: a file, or a frame in memory.

    ``data`` is a path, or whatever gives its rows through Arrow's PyCapsule interface: tables of
    pyarrow, frames of polars and pandas, relations of duckdb. Its memory is shared, not copied.
    ``switch`` describes the switches, if the frame does not: a file, or a dict with its fields.

    A trace gives its rows in the same way: ``pyarrow.table(trace)``, ``polars.DataFrame(trace)``.
    """

    def __init__(self, data: Any, *, switch: Any = None, name: str = "frame") -> None:
        if isinstance(data, _dropcast.Trace):
            self._trace = data
        elif isinstance(data, Trace):
            self._trace = data._trace
        elif is_path(data):
            if switch is not None:
                raise TypeError("switch: a trace file describes its switches itself")
            self._trace = _dropcast.Trace.open(os.fspath(data))
        elif hasattr(data, "__arrow_c_stream__"):
            self._trace = _dropcast.Trace.of_frame(data, name, described(switch))
        else:
            raise TypeError(
                f"a labelled trace is a path or has __arrow_c_stream__, not {type(data).__name__}"
            )

    @property
    def name(self) -> str:
        """What errors call it: its path, if it is a file."""
        return self._trace.name

    @property
    def path(self) -> str | None:
        """Its file; None if it is in memory."""
        return self._trace.path

    @property
    def sha256(self) -> str:
        """SHA-256 of the file, or of the columns by name: models know their data by it."""
        return self._trace.sha256

    @property
    def meta(self) -> dict[str, Any]:
        """What the trace says of itself (docs/trace.md)."""
        meta: dict[str, Any] = json.loads(self._trace.meta_json())
        return meta

    @property
    def features(self) -> list[str]:
        """Names of its feature columns."""
        features: list[str] = self.meta["features"]
        return features

    @property
    def is_replayable(self) -> bool:
        """Whether its arrivals can be replayed through policies."""
        return self._trace.is_replayable

    @property
    def collected(self) -> dict[str, Any] | None:
        """What came of labelling: rows, drops, what was left out. None if it was not done here."""
        text = self._trace.collected_json()
        return None if text is None else json.loads(text)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._trace.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """Its rows as a DataFrame of pandas, 2.2 or newer."""
        return importlib.import_module("pandas").DataFrame.from_arrow(self)

    def to_polars(self) -> Any:
        """Its rows as a DataFrame of polars."""
        return importlib.import_module("polars").DataFrame(self)

    def __repr__(self) -> str:
        collected = self.collected
        rows = ""
        if collected is not None:
            rows = f", {collected['rows']:,} rows, {collected['drops']:,} drops"
        where = "" if self.path is None else f" {self.path!r}"
        return f"<Trace{where}: {len(self.features)} features{rows}>"


class TraceFolder:
    """A folder of labelled traces, one for each run and switch. It serves wherever a folder does."""

    def __init__(self, path: str, collected: dict[str, Any]) -> None:
        #: The folder.
        self.path = path
        #: What came of labelling: traces, rows, drops, folders that were labelled or kept.
        self.collected = collected

    @property
    def traces(self) -> list[Trace]:
        """Its traces, in the order of their paths."""
        return [Trace(path) for path in _dropcast.trace_files([self.path])]

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        of = self.collected
        return (
            f"<TraceFolder {self.path!r}: {of['traces']:,} traces, {of['rows']:,} rows, "
            f"{of['drops']:,} drops>"
        )


def refuse_none(data: Any) -> None:
    """Traces are needed."""
    if not as_list(data):
        raise InputError("data: expected at least one labelled trace")


def traces_of(data: Any) -> list[_dropcast.Trace]:
    """Traces of paths, folders, frames and traces, one or several."""
    items: list[Any] = []
    for item in as_list(data):
        items += _dropcast.trace_files([os.fspath(item)]) if is_path(item) else [item]
    frames = sum(not is_path(item) and not isinstance(item, Trace) for item in items)
    traces = []
    for place, item in enumerate(items):
        name = "frame" if frames == 1 else f"frame {place}"
        traces.append(Trace(item, name=name)._trace)
    return traces
