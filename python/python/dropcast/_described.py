"""Results that programs and people read."""

from __future__ import annotations

import json
from typing import Any


class Described(dict[str, Any]):
    """What a command prints: its JSON as a dict, its text when it is printed."""

    def __init__(self, fields: str, text: str) -> None:
        super().__init__(json.loads(fields))
        self._text = text.rstrip("\n")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>\n{self._text}"
