"""Models: what training gives, and what predicts."""

from __future__ import annotations

import html
import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from dropcast import _dropcast
from dropcast._described import Described
from dropcast._progress import Bar
from dropcast._settings import Path, as_list, is_path, whole
from dropcast.errors import InputError, NotVerifiedError
from dropcast.traces import Trace


class Model:
    """A forest of integer trees, the features that it decides on, and how it was made.

    Models come from :func:`dropcast.train`, :meth:`Model.load`, and the functions ``from_*``. They
    are never changed.
    """

    def __init__(self, model: _dropcast.Model, gain: dict[str, Any] | None = None) -> None:
        self._model = model
        #: What Credence with it transmits more on the test rows; None where that is not known.
        self.gain = gain
        #: Scores by fold, if it was cross-validated.
        self.cross_validation: dict[str, Any] | None = None

    @classmethod
    def load(cls, path: Path) -> Model:
        """Reads a ``model.json``."""
        return cls(_dropcast.Model.load(os.fspath(path)))

    @classmethod
    def from_json(cls, text: str) -> Model:
        """Reads the text of a ``model.json``."""
        return cls(_dropcast.Model.of_json(text))

    def to_json(self) -> str:
        """The text of its ``model.json`` (docs/model.md), the same that the command writes."""
        return self._model.to_json()

    def save(self, path: Path) -> None:
        """Writes a ``model.json``. The file appears whole or not at all."""
        _dropcast.write_file(os.fspath(path), self.to_json().encode())

    def to_dict(self) -> dict[str, Any]:
        """Everything in its ``model.json``."""
        fields: dict[str, Any] = json.loads(self.to_json())
        return fields

    @property
    def features(self) -> list[str]:
        """Names of the features, in the order of columns."""
        return self._model.features

    @property
    def vote_threshold(self) -> int:
        """A score above it is a drop."""
        return self._model.vote_threshold

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self._model.trees

    @property
    def depth(self) -> int:
        """Depth of the deepest."""
        return self._model.depth

    @property
    def metrics(self) -> dict[str, Any] | None:
        """Its scores on the training, validation and test rows; None if it was not measured."""
        metrics: dict[str, Any] | None = self.to_dict()["metrics"]
        return metrics

    def scores(
        self, X: Any, *, threads: int | None = None, progress: bool | None = None
    ) -> npt.NDArray[np.uint32]:
        """The score of each row: the sum of one leaf's weight in each tree.

        ``X`` is a labelled trace or its path, whose bytes are scaled to the model's buffer; a frame
        with a column for each feature; or an array with a column for each, in the model's order.
        """
        if isinstance(X, Trace) or is_path(X):
            return self._model.score_trace(Bar(progress), Trace(X)._trace)
        columns = _columns(X, self.features)
        return self._model.score_columns(columns, whole("threads", threads))

    def predict(
        self, X: Any, *, threads: int | None = None, progress: bool | None = None
    ) -> npt.NDArray[np.bool_]:
        """Whether each row is predicted to be dropped. ``X`` as in :meth:`scores`."""
        return self.scores(X, threads=threads, progress=progress) > self.vote_threshold

    def export(
        self,
        target: str | list[str],
        output: Path | None = None,
        *,
        switch: Path | None = None,
    ) -> list[str] | dict[str, bytes]:
        """Writes the files of targets into the folder ``output``, and returns their paths. Without
        ``output`` returns the files' contents by name. ``switch`` as of ``dropcast export``."""
        targets = _targets(target)
        described = None if switch is None else os.fspath(switch)
        if output is None:
            return dict(self._model.export_files(targets, described))
        return [os.fspath(p) for p in self._model.export(targets, described, os.fspath(output))]

    def verify(
        self,
        target: str | list[str],
        *,
        rows: int = 1_000_000,
        trace: Any = None,
        seed: int = 1,
        time: bool = False,
        progress: bool | None = None,
    ) -> dict[str, Any]:
        """Builds the exports with the tools of this machine, runs them and compares every answer
        with the model's. Raises :class:`dropcast.NotVerifiedError` on a mismatch."""
        if time and trace is None:
            raise InputError("time: predictions are timed on the rows of a trace, give one")
        of = None if trace is None else Trace(trace)._trace
        text, failures = self._model.verify(
            Bar(progress),
            _targets(target),
            whole("rows", rows, least=0),
            of,
            whole("seed", seed, least=0),
            time,
        )
        found: dict[str, Any] = json.loads(text)
        if failures:
            raise NotVerifiedError(f"not verified: {', '.join(failures)}", found)
        return found

    def resources(self, *, measure: bool = False, progress: bool | None = None) -> Described:
        """What it takes as match-action tables: entries, TCAM and SRAM bits, stages
        (docs/resources.md). With ``measure`` also what tools of this machine report."""
        return Described(*self._model.resources(Bar(progress), measure))

    def for_buffer(self, buffer_bytes: int) -> Model:
        """The model with thresholds for a switch with another buffer (``dropcast rescale``)."""
        return Model(self._model.for_buffer(_buffer(buffer_bytes)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self._model.sha256)

    def __reduce__(self) -> Any:
        return (Model.from_json, (self.to_json(),))

    def __repr__(self) -> str:
        return (
            f"<Model: {self.n_trees} trees of depth {self.depth} on {', '.join(self.features)}; "
            f"drop if score > {self.vote_threshold}>"
        )

    def __str__(self) -> str:
        return self._model.text()

    def _repr_html_(self) -> str:
        rows = []
        for part in ("train", "validation", "test"):
            scores = (self.metrics or {}).get(part)
            if scores is not None:
                cells = "".join(
                    f"<td>{'' if scores[name] is None else format(scores[name], '.4f')}</td>"
                    for name in ("precision", "recall", "f1", "accuracy")
                )
                rows.append(f"<tr><th>{html.escape(part)}</th>{cells}</tr>")
        head = "<tr><th></th><th>precision</th><th>recall</th><th>F1</th><th>accuracy</th></tr>"
        table = f"<table>{head}{''.join(rows)}</table>" if rows else ""
        return f"<p>{html.escape(repr(self)[1:-1])}</p>{table}"


def model_of(model: Model | Path) -> Model:
    """A model, or the one in a file."""
    return model if isinstance(model, Model) else Model.load(model)


def _targets(target: str | list[str]) -> list[str]:
    targets: list[str] = as_list(target)
    if not targets:
        raise InputError(f"target: expected one of {', '.join(_dropcast.targets())}")
    return targets


def _buffer(buffer_bytes: int) -> int:
    found: int = whole("buffer_bytes", buffer_bytes)
    if found > 0xFFFF_FFFF:
        raise InputError(f"buffer_bytes: is {found}, expected at most 4294967295")
    return found


def _columns(X: Any, features: list[str]) -> list[npt.NDArray[np.uint32]]:
    """A column of 32-bit integers for each feature."""
    if hasattr(X, "__arrow_c_stream__"):
        return _dropcast.integer_columns(X, features)
    array = np.asarray(X)
    if array.ndim != 2 or array.shape[1] != len(features):
        raise InputError(
            f"X: has shape {array.shape}, expected a column for each of {', '.join(features)}"
        )
    if np.issubdtype(array.dtype, np.floating) and not np.all(array == np.floor(array)):
        raise InputError("X: has values that are no whole numbers; features are whole")
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == np.bool_):
        raise InputError(f"X: is of type {array.dtype}, expected whole numbers")
    if array.size and (int(array.min()) < 0 or int(array.max()) > 0xFFFF_FFFF):
        raise InputError("X: features are integers from 0 to 4294967295")
    return [np.ascontiguousarray(array[:, place], dtype=np.uint32) for place in range(len(features))]
