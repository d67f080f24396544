"""Reads rows from standard input, writes the score and the decision for each to standard output.

Every value is a little-endian 32-bit integer. Arguments: the model, the number of features.
"""

import sys

import numpy
import onnx
import onnxruntime

onnx.checker.check_model(sys.argv[1], full_check=True)
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
rows = numpy.frombuffer(sys.stdin.buffer.read(), dtype="<u4").reshape(-1, int(sys.argv[2]))
score, drop = session.run(["score", "drop"], {"features": rows})
assert score.dtype == numpy.int64 and drop.dtype == bool

# A single row takes a different path through the runtime than many rows.
for at in range(0, len(rows), 1 + len(rows) // 100):
    alone = session.run(["score", "drop"], {"features": rows[at : at + 1]})
    if (alone[0], alone[1]) != (score[at : at + 1], drop[at : at + 1]):
        sys.exit(f"row {at} scores {score[at]} among others and {alone[0]} alone")

answers = numpy.column_stack([score, drop]).astype("<u4")
sys.stdout.buffer.write(answers.tobytes())
