"""What a user may get wrong is an error in words, never a panic."""

import numpy as np
import pytest
from needs import needed

import dropcast
from dropcast import InputError

pa = needed("pyarrow")
pl = needed("polars")

SWITCH = {"ports": 2, "line_rate_bps": 10**9, "buffer_bytes": 64_000, "base_rtt_ns": 25_200}
EMPTY = pl.DataFrame(schema={"time_ns": pl.Int64, "port": pl.Int64, "size_bytes": pl.Int64})
WORDS = pl.DataFrame({"time_ns": ["a"], "port": [0], "size_bytes": [100]})


@pytest.mark.parametrize(
    ("events", "settings", "says"),
    [
        (None, {}, "events: there are none"),
        ("none.parquet", {}, "none.parquet: cannot be opened"),
        (EMPTY, {"switch": SWITCH}, "has no arrivals that can be used"),
        (WORDS, {"switch": SWITCH}, 'column "time_ns" is of type'),
        (EMPTY.drop("port"), {"switch": SWITCH}, 'has no column "port"'),
        (EMPTY, {}, "does not describe its switches"),
        (EMPTY, {"switch": {"ports": "two"}}, "switch: invalid type"),
        (EMPTY, {"switch": SWITCH, "max_waiting_rows": "many"}, "max_waiting_rows: is 'many'"),
        (EMPTY, {"switch": SWITCH, "on_bad_row": "hide"}, "on_bad_row: \"hide\" is unknown"),
        ([EMPTY, "events.parquet"], {}, "are files and frames"),
    ],
)
def test_events(events, settings, says):
    with pytest.raises(InputError, match=says):
        dropcast.collect(events, **settings)


@pytest.mark.parametrize("other", [{"port": ["a"]}, {"port": pa.array([1], pa.int8())}, {"ecn": [0]}])
def test_streams_that_change_their_columns(other):
    row = {"time_ns": [0], "port": [0], "size_bytes": [100]}
    first = pa.record_batch(row)
    batches = pa.RecordBatchReader.from_batches(first.schema, iter([first, pa.record_batch(row | other)]))
    with pytest.raises(ValueError):
        dropcast.collect(batches, switch=SWITCH)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"data": None}, "data: expected at least one labelled trace"),
        ({"threads": -1}, "threads: is -1, expected a whole number from 1"),
        ({"memory_limit": "1G"}, "memory_limit: is '1G', expected a whole number from 0"),
        ({"max_depth": 2.5}, 'max_depth: "2.5": expected a whole number'),
        ({"max_depth": None}, "max_depth: is None, expected a value; leave it out for the default, 4"),
        ({"own": "lacking"}, 'has no feature "lacking"'),
        ({"cross_validate": 1}, 'cross_validate: "1": expected runs, or a number of folds'),
        ({"output": "/nowhere/m.json"}, "/nowhere/m.json: cannot be created"),
        ({"model_per": "role"}, "trained by dropcast.train_per"),
    ],
)
def test_training(trace, settings, says):
    with pytest.raises(InputError, match=says):
        dropcast.train(**{"data": trace, **settings})


def test_few_rows(trace):
    table = pl.DataFrame(trace)
    with pytest.raises(InputError, match="no rows to train on"):
        dropcast.train(table.head(0))
    with pytest.raises(InputError, match="training rows is a drop"):
        dropcast.train(table.head(10))


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (lambda model: model.for_buffer(0), "buffer_bytes: is 0, expected a whole number from 1"),
        (lambda model: model.for_buffer(2**32), "expected at most 4294967295"),
        (lambda model: model.export([]), "target: expected one of c, "),
        (lambda model: model.verify("c", rows=-1), "rows: is -1, expected a whole number from 0"),
        (lambda model: model.scores(np.full((1, 4), None)), "is of type object"),
        (lambda model: dropcast.report(None, model=model), "data: expected at least one"),
        (lambda model: dropcast.map({"runs": 1}), "runs: is 1, expected at least 2"),
        (lambda model: dropcast.run(name="a/b"), "is not the name of a folder"),
    ],
)
def test_what_comes_after(model, does, says):
    with pytest.raises(InputError, match=says):
        does(model)


@pytest.mark.parametrize(
    "does",
    [
        lambda: dropcast.collect(5),
        lambda: dropcast.collect(EMPTY, switch=SWITCH, column="time_ns=ts"),
        lambda: dropcast.train(np.zeros((3, 4))),
        lambda: dropcast.from_lightgbm(3),
        lambda: dropcast.from_xgboost(3),
        lambda: dropcast.run({"name": "x"}),
        lambda: dropcast.resources(3),
        lambda: dropcast.train("trace.parquet", tree=4),
    ],
)
def test_other_types(does):
    with pytest.raises(TypeError):
        does()
