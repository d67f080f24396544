"""Predicts rows with a .dct table (docs/dct.md): read_dct.py TABLE.dct < ROWS prints score and decision (1: drop)."""

import struct
import sys
import zlib

table = open(sys.argv[1], "rb").read()
magic, version, checksum, trees, depth, features, vote_threshold, average_ns, model = (
    struct.unpack_from("<3sBIHBBII8s", table))
splits, leaves = 2**depth - 1, 2**depth
assert (magic, version) == (b"DCT", 1), "not a table"
assert len(table) == 28 + trees * (5 * splits + leaves) + features, "wrong length"
assert checksum == zlib.crc32(table[8:]), "damaged"
thresholds = struct.unpack_from(f"<{trees * splits}I", table, 28)
columns = table[28 + 4 * trees * splits:]
weights = columns[trees * splits:]

for line in sys.stdin:
    row = [int(value) for value in line.split()]
    score = 0
    for tree in range(trees):
        at = 0
        for _ in range(depth):
            split = tree * splits + at
            at = 2 * at + (1 if row[columns[split]] <= thresholds[split] else 2)
        score += weights[tree * leaves + at - splits]
    print(score, int(score > vote_threshold))
