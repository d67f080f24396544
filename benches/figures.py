#!/usr/bin/env python3
"""Measures the figures of the fabric again and puts their tables and pictures into the docs' pages of figures.

Usage: figures.py DROPCAST FOLDER [SCALE ...]. SCALE is small or paper, of the Credence paper, abm, pred or smartbuf; all unless given.
DROPCAST measures each into FOLDER/SCALE; a scale that is there already is not measured again. Then each table of a page
between

    <!-- SCALE FIGURE: title -->
    <!-- end -->

becomes that of FOLDER/SCALE/FIGURE.md with this title, and each picture figures/SCALE/NAME.svg that the page shows
is copied from FOLDER/SCALE/NAME.svg. A title followed by "; without NAME; NAME" leaves these rows and columns out. Text between them has
numbers, too: read it.
"""

import pathlib
import re
import shutil
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PAGES = [DOCS / f"figures-{page}.md" for page in ["closed-loop", "abm", "pred", "smartbuf"]]
COMMANDS = {
    "small": ["fabric", "--scale", "small"],
    "paper": ["fabric", "--scale", "paper"],
    "abm": ["abm"],
    "pred": ["pred"],
    "smartbuf": ["smartbuf"],
}


def measure(dropcast, folder, scale):
    """Runs all figures at a scale, unless their pages are there."""
    if not list((folder / scale).glob("*.md")):
        command = [dropcast, "reproduce", *COMMANDS[scale], "-o", str(folder / scale)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def table(text, title):
    """The table whose first heading is this title."""
    tables = re.findall(r"^\|.*\n(?:\|.*\n)+", text, re.MULTILINE)
    found = [each for each in tables if each.startswith(f"| {title} |")]
    if len(found) != 1:
        sys.exit(f"{len(found)} tables are called {title!r}, expected one")
    return found[0]


def without(table, names):
    """The table less its rows and columns of these names."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    unknown = set(names) - set(rows[0][1:]) - {row[0] for row in rows[2:]}
    if unknown:
        sys.exit(f"{rows[0][0]}: no row or column {sorted(unknown)}")
    columns = [column for column, head in enumerate(rows[0]) if column == 0 or head not in names]
    kept = [[row[column] for column in columns] for row in rows if row[0] not in names]
    lines = ["|" + "|".join(row) + "|" if row[0] == "---" else "| " + " | ".join(row) + " |" for row in kept]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) < 3 or not set(sys.argv[3:]) <= set(COMMANDS):
        sys.exit(__doc__)
    dropcast, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    scales = sys.argv[3:] or list(COMMANDS)
    for scale in scales:
        measure(dropcast, folder, scale)

    def renew(block):
        scale, figure, title = block.groups()
        if scale not in scales:
            return block.group(0)
        text = (folder / scale / f"{figure}.md").read_text()
        first, *names = re.split("; without |; ", title)
        return f"<!-- {scale} {figure}: {title} -->\n\n{without(table(text, first), names)}\n<!-- end -->"

    for path in PAGES:
        block = r"<!-- (\w+) ([\w-]+): (.*) -->\n(?:(?!<!--)(?:.|\n))*<!-- end -->"
        page = re.sub(block, renew, path.read_text())
        path.write_text(page)
        for scale, name in re.findall(r"\(figures/(\w+)/([^)]*\.svg)\)", page):
            if scale in scales:
                (DOCS / "figures" / scale).mkdir(exist_ok=True)
                shutil.copyfile(folder / scale / name, DOCS / "figures" / scale / name)


if __name__ == "__main__":
    main()
