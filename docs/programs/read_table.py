"""Predicts rows with a JSON table (docs/dct.md): read_table.py TABLE.json < ROWS prints score and decision (1: drop)."""

import json
import sys

table = json.load(open(sys.argv[1]))
assert table["format"] == "dropcast-table" and table["format_version"] == 1


def score(row):
    total = 0
    for tree in table["trees"]:
        at = 0
        for _ in range(table["depth"]):
            left = row[tree["columns"][at]] <= tree["thresholds"][at]
            at = 2 * at + (1 if left else 2)
        total += tree["weights"][at - len(tree["columns"])]
    return total


for line in sys.stdin:
    total = score([int(value) for value in line.split()])
    print(total, int(total > table["vote_threshold"]))
