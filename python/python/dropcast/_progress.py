"""Progress of long work: a bar of tqdm, if it is there."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from dropcast.errors import DropcastWarning


# A bar is made with the first rows, so that its rate would be of no time.
_AT_WORK = "{desc}: at work [{elapsed}]"
_ROWS = "{desc}: {n_fmt} rows [{elapsed}]"
_STEPS = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}]"


class Bar:
    """Shows the progress that the compiled part reports. Work that ends at once shows no bar."""

    def __init__(self, show: bool | None) -> None:
        # By default where a person looks: a terminal, or a notebook.
        shown = sys.stderr.isatty() or "ipykernel" in sys.modules if show is None else show
        self._tqdm: Any = _tqdm() if shown else None
        self._bar: Any = None
        self._stage = ""

    def update(self, stage: str, rows: int, steps: tuple[int, int] | None) -> None:
        """So many rows of the stage are done, or so many of all steps."""
        if self._tqdm is None:
            return
        if self._bar is None or self._stage != stage:
            self._finish()
            self._stage = stage
            self._bar = self._tqdm(desc=stage, leave=False, delay=0.3, bar_format=_AT_WORK)
        if steps is not None:
            self._bar.total, self._bar.n = steps[1], steps[0]
            self._bar.bar_format = _STEPS
        elif rows > 0:
            self._bar.n, self._bar.bar_format = rows, _ROWS
            self._bar.unit_scale = True
        self._bar.refresh()

    def end(self, done: str) -> None:
        """The stage is done."""
        self._finish()

    def note(self, note: str) -> None:
        """Worth knowing, but no error."""
        warnings.warn(note, DropcastWarning, stacklevel=4)

    def close(self) -> None:
        """The work has ended."""
        self._finish()

    def _finish(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _tqdm() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm
