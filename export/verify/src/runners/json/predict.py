"""Reads rows from standard input, writes the score and the decision for each to standard output.

Every value is a little-endian 32-bit integer. Arguments: the table, the number of features.
"""

import json
import sys

import numpy

table = json.load(open(sys.argv[1], encoding="utf-8"))
assert table["format"] == "dropcast-table" and table["format_version"] == 1
features = int(sys.argv[2])
assert len(table["features"]) == features

rows = numpy.frombuffer(sys.stdin.buffer.read(), dtype="<u4").reshape(-1, features)
every = numpy.arange(len(rows))
score = numpy.zeros(len(rows), dtype="<u4")
for tree in table["trees"]:
    columns, thresholds, weights = map(
        numpy.array, (tree["columns"], tree["thresholds"], tree["weights"])
    )
    at = numpy.zeros(len(rows), dtype=numpy.int64)
    for _ in range(table["depth"]):
        at = 2 * at + 1 + (rows[every, columns[at]] > thresholds[at])
    score += weights[at - len(columns)].astype("<u4")
drop = (score > table["vote_threshold"]).astype("<u4")
sys.stdout.buffer.write(numpy.column_stack([score, drop]).tobytes())
