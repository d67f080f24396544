"""The command: ``python -m dropcast``."""

from __future__ import annotations

import signal
import sys

from dropcast import _dropcast


def main(program: str = "dropcast") -> int:
    """Runs a program with the arguments of this process."""
    # Ctrl-C ends it, as it does the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _dropcast.command([program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
