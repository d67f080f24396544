#!/usr/bin/env python3
"""Draws what a command printed as a terminal: dropcast run --name default | dev/terminal_svg.py 'dropcast run' > docs/figures/answer.svg"""

import sys
from html import escape

COLUMN, LINE, MARGIN = 8.4, 18, 16
# Spaces would be drawn as one.
NO_BREAK = "\u00a0"


def terminal(command: str, printed: str) -> str:
    lines = f"$ {command}\n{printed}".rstrip("\n").replace(" ", NO_BREAK).split("\n")
    width = round(2 * MARGIN + COLUMN * max(map(len, lines)))
    height = 2 * MARGIN + LINE * len(lines)
    text = "".join(
        f'<text x="{MARGIN}" y="{MARGIN + LINE * (at + 0.75):g}">{escape(line)}</text>\n'
        for at, line in enumerate(lines)
        if line
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-size="14" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" fill="#d8dee9" role="img">\n'
        f"<title>What {escape(command)} prints</title>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#1b1f27"/>\n{text}</svg>\n'
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(terminal(sys.argv[1], sys.stdin.read()))
