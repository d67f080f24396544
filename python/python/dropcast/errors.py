"""What goes wrong, in the words of the command."""

from __future__ import annotations

from typing import Any


class DropcastError(Exception):
    """Anything that dropcast could not do."""


class InputError(DropcastError, ValueError):
    """A file, a row or a setting is wrong: the message says which, and what to do."""


class InternalError(DropcastError, RuntimeError):
    """A defect of dropcast."""


class NotVerifiedError(DropcastError):
    """An export does not agree with its model, or could not be run.

    ``verification`` has what came of each target.
    """

    def __init__(self, message: str, verification: dict[str, Any]) -> None:
        super().__init__(message)
        self.verification = verification


class DropcastWarning(UserWarning):
    """Worth knowing, but no error: what the command prints as a note."""
