#!/usr/bin/env python3
"""Measures the figures of the fabric again and puts their tables and pictures into the notes' pages of figures.

Usage: figures.py [--check] LAB FOLDER [SCALE|FIGURE ...]. SCALE is small or paper, of the Credence paper, abm, pred or smartbuf; all
unless given. FIGURE is a command of abm, pred or smartbuf, such as pred-fig19, or abm-fig10 for its tables 10a and 10b. LAB measures
each into FOLDER/SCALE; what is there already is not measured again. Then each table of a page between

    <!-- SCALE FIGURE: title -->
    <!-- end -->

becomes that of FOLDER/SCALE/FIGURE.md with this title, and each picture figures/SCALE/NAME.svg that the page shows
is copied from FOLDER/SCALE/NAME.svg. A title followed by "; without NAME; NAME" leaves these rows and columns out. Text between them has
numbers, too: read it.

With --check nothing is written: what would change is printed, and the exit status is 1 if anything would. It leaves out paper, which takes
more than an hour, unless that is given.
"""

import difflib
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[1] / "notes"
PAGES = [DOCS / f"figures-{page}.md" for page in ["closed-loop", "abm", "pred", "smartbuf"]]
COMMANDS = {
    "small": ["fabric", "--scale", "small"],
    "paper": ["fabric", "--scale", "paper"],
    "abm": ["abm"],
    "pred": ["pred"],
    "smartbuf": ["smartbuf"],
}


def measure(lab, folder, scale, figure=None):
    """Runs all figures at a scale, or one, unless their pages are there."""
    if not list((folder / scale).glob(f"{figure or ''}*.md")):
        what = [figure] if figure else COMMANDS[scale]
        arguments = [lab, "reproduce", *what, "-o", str(folder / scale)]
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)


def command(figure):
    """The command that makes a figure: abm-fig10 of abm-fig10a, pred-settling of pred-settling-time."""
    return re.sub(r"(?<=\d)[a-z]$|-time$", "", figure)


def is_of(wanted, scale, figure):
    """Whether a scale or a figure is wanted."""
    return scale in wanted or command(figure) in wanted


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


def renewed(page, folder, wanted):
    """The page with the tables of these scales and figures as they are measured."""

    def renew(block):
        scale, figure, title = block.groups()
        if not is_of(wanted, scale, figure):
            return block.group(0)
        text = (folder / scale / f"{figure}.md").read_text()
        first, *names = re.split("; without |; ", title)
        return f"<!-- {scale} {figure}: {title} -->\n\n{without(table(text, first), names)}\n<!-- end -->"

    return re.sub(r"<!-- (\w+) ([\w-]+): (.*) -->\n(?:(?!<!--)(?:.|\n))*<!-- end -->", renew, page)


def files(folder, wanted):
    """What the pages and pictures of these scales and figures shall hold, by their paths."""
    found = {}
    for path in PAGES:
        found[path] = renewed(path.read_text(), folder, wanted)
        for scale, name in re.findall(r"\(figures/(\w+)/([^)]*\.svg)\)", found[path]):
            if is_of(wanted, scale, "-".join(name.split("-")[:2])):
                found[DOCS / "figures" / scale / name] = (folder / scale / name).read_text()
    return found


def changes(path, text):
    """The lines that differ, of a page, or that a picture differs."""
    old = path.read_text() if path.exists() else ""
    if old == text:
        return []
    if path.suffix == ".svg":
        return [f"{path.relative_to(DOCS)} differs"]
    return list(difflib.unified_diff(old.splitlines(), text.splitlines(), str(path.relative_to(DOCS)), "measured", "", "", 0, ""))


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    is_check = len(arguments) < len(sys.argv) - 1
    marked = re.findall(r"<!-- (?:abm|pred|smartbuf) ([\w-]+): ", "".join(path.read_text() for path in PAGES))
    if len(arguments) < 2 or not set(arguments[2:]) <= {*COMMANDS, *map(command, marked)}:
        sys.exit(__doc__)
    lab, folder = arguments[0], pathlib.Path(arguments[1])
    wanted = arguments[2:] or [scale for scale in COMMANDS if not is_check or scale != "paper"]
    for each in wanted:
        measure(lab, folder, *([each] if each in COMMANDS else [each.split("-")[0], each]))
    found = files(folder, wanted)
    if is_check:
        lines = [line for path, text in found.items() for line in changes(path, text)]
        sys.exit("\n".join(lines) or None)
    for path, text in found.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
