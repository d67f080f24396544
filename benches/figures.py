#!/usr/bin/env python3
"""Measures figures 6 to 13 again and puts their tables and pictures into docs/figures-closed-loop.md.

Usage: figures.py DROPCAST FOLDER [SCALE ...]. SCALE is small or paper; both unless given. DROPCAST measures each into
FOLDER/SCALE; a scale that is there already is not measured again. Then each table of the page between

    <!-- SCALE FIGURE: title -->
    <!-- end -->

becomes that of FOLDER/SCALE/FIGURE.md with this title, and each picture figures/SCALE/NAME.svg that the page shows
is copied from FOLDER/SCALE/NAME.svg. Text between them has numbers, too: read it.
"""

import pathlib
import re
import shutil
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "figures-closed-loop.md"


def measure(dropcast, folder, scale):
    """Runs all figures at a scale, unless their last page is there."""
    if not (folder / scale / "fig13.md").exists():
        command = [dropcast, "reproduce", "fabric", "--scale", scale, "-o", str(folder / scale)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def table(text, title):
    """The table whose first heading is this title."""
    tables = re.findall(r"^\|.*\n(?:\|.*\n)+", text, re.MULTILINE)
    found = [each for each in tables if each.startswith(f"| {title} |")]
    if len(found) != 1:
        sys.exit(f"{len(found)} tables are called {title!r}, expected one")
    return found[0]


def main():
    if len(sys.argv) < 3 or not set(sys.argv[3:]) <= {"small", "paper"}:
        sys.exit(__doc__)
    dropcast, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    scales = sys.argv[3:] or ["small", "paper"]
    for scale in scales:
        measure(dropcast, folder, scale)

    def renew(block):
        scale, figure, title = block.groups()
        if scale not in scales:
            return block.group(0)
        text = (folder / scale / f"{figure}.md").read_text()
        return f"<!-- {scale} {figure}: {title} -->\n\n{table(text, title)}\n<!-- end -->"

    page = re.sub(r"<!-- (\w+) (fig\d+): (.*) -->\n(?:(?!<!--)(?:.|\n))*<!-- end -->", renew, PAGE.read_text())
    PAGE.write_text(page)
    for scale, name in re.findall(r"\(figures/(\w+)/(fig[^)]*\.svg)\)", page):
        if scale in scales:
            (DOCS / "figures" / scale).mkdir(exist_ok=True)
            shutil.copyfile(folder / scale / name, DOCS / "figures" / scale / name)


if __name__ == "__main__":
    main()
