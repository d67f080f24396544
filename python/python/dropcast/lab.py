"""The lab's command: ``python -m dropcast.lab``."""

from __future__ import annotations

import sys

from dropcast.__main__ import main

if __name__ == "__main__":
    sys.exit(main("dropcast-lab"))
