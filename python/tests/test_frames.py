"""Frames of every kind, in and out."""

import numpy as np
import pytest
from needs import needed

import dropcast

pa = needed("pyarrow")
pq = needed("pyarrow.parquet")
pl = needed("polars")
pd = needed("pandas")
duckdb = needed("duckdb")

SWITCH = {
    "ports": 2,
    "line_rate_bps": 10_000_000_000,
    "buffer_bytes": 64_000,
    "base_rtt_ns": 25_200,
}


def frames(table):
    """The same rows in every library."""
    relation = duckdb.from_arrow(table)
    return {
        "pyarrow": table,
        "pyarrow reader": table.to_reader(1_000),
        "polars": pl.from_arrow(table),
        "pandas": table.to_pandas(),
        "duckdb": relation,
    }


def test_all_libraries_give_the_same_model(trace):
    table = pa.table(trace)
    described = trace.meta["switches"]
    models = {}
    for name, frame in frames(table).items():
        of = dropcast.Trace(frame, switch=described)
        models[name] = dropcast.train(of, n_estimators=2).to_json()
    assert len(set(models.values())) == 1, {name: len(text) for name, text in models.items()}
    assert dropcast.train(trace, n_estimators=2).to_dict()["forest"] == (
        dropcast.Model.from_json(models["polars"]).to_dict()["forest"]
    )


def test_files_and_frames_of_the_same_rows_give_the_same_forest(trace, trace_file, tmp_path):
    table = pa.table(trace)
    noted = table.append_column("note", pa.array([str(row) for row in range(table.num_rows)]))
    sources = {"collected": trace, "its file": trace_file, "frame": table, "with notes": noted}
    for codec in ["none", "snappy", "gzip", "zstd", "lz4"]:
        for rows in [1_000, 1 << 20]:
            path = tmp_path / f"{codec}-{rows}.parquet"
            pq.write_table(noted, path, compression=codec, row_group_size=rows)
            sources[path.stem] = path
    pl.from_arrow(table).write_parquet(tmp_path / "polars.parquet")
    sources["polars"] = tmp_path / "polars.parquet"
    found = {}
    for name, source in sources.items():
        model = dropcast.train(source, n_estimators=2, split="random", vote="f1").to_dict()
        (origin,) = model["provenance"]["data"]
        found[name] = (origin["run"], str(model["forest"]))
    assert len(set(found.values())) == 1, {name: run for name, (run, _) in found.items()}


def test_frames_share_memory(trace):
    table = pa.table(trace)
    again = pa.table(dropcast.Trace(table))
    for name in ("time_ns", "occupancy"):
        first, second = table[name].chunk(0).buffers()[1], again[name].chunk(0).buffers()[1]
        assert first.address == second.address, name


def test_traces_become_frames(trace, trace_file):
    for of in (trace, dropcast.Trace(trace_file)):
        table = pa.table(of)
        assert table.num_rows == trace.collected["rows"]
        assert pl.DataFrame(of).equals(pl.from_arrow(table))
        assert pa.table(of.to_pandas()).num_rows == table.num_rows
        assert of.to_polars().equals(pl.from_arrow(table))
    assert pa.table(trace).equals(pa.table(dropcast.Trace(trace_file)))


def test_events_are_frames_of_every_kind(events):
    table = pa.table(events)
    expected = pa.table(dropcast.collect(events))
    for name, frame in frames(table).items():
        switch = dropcast.collect(events).meta["switches"]
        found = pa.table(dropcast.collect(frame, switch=switch))
        assert found.equals(expected), name


def test_columns_of_events_are_named():
    frame = pl.DataFrame({"ts": [0.0, 1.5], "port": [0, 1], "size_bytes": [1500, 1500]})
    found = dropcast.collect(
        frame, switch=SWITCH, column={"time_ns": "ts"}, time_unit="us", max_waiting_rows=100
    )
    assert pa.table(found)["time_ns"].to_pylist() == [0, 1500]
    with pytest.raises(dropcast.InputError, match='events: has no column "time_ns"'):
        dropcast.collect(frame, switch=SWITCH)


def test_whole_numbers_of_frames_may_be_floats(events):
    table = pa.table(events)
    place = table.schema.get_field_index("size_bytes")
    sizes = table["size_bytes"].cast(pa.float64())
    floats = table.set_column(place, "size_bytes", sizes)
    collected = [pa.table(dropcast.collect(frame)) for frame in (table, floats)]
    assert collected[0].equals(collected[1])


def test_models_predict_on_whole_numbers_as_floats(trace, model):
    table = pa.table(trace).select(model.features).slice(0, 5_000)
    floats = table.cast(pa.schema([(name, pa.float64()) for name in model.features]))
    np.testing.assert_array_equal(model.scores(floats), model.scores(table))
    half = floats.set_column(0, model.features[0], pa.array(np.full(5_000, 0.5)))
    with pytest.raises(dropcast.InputError, match=r"row 0: \w+ is 0\.5, expected an integer"):
        model.scores(half)


def test_what_is_wrong_is_named(trace):
    table = pa.table(trace).slice(0, 100)
    values = np.array(table["occupancy"])
    negative = values.astype(np.int64)
    negative[7] = -1
    place = table.schema.get_field_index("occupancy")
    broken = table.set_column(place, "occupancy", pa.array(negative))
    with pytest.raises(dropcast.InputError, match="frame: row 7: occupancy is -1, expected"):
        dropcast.train(broken, features="occupancy", split="none")
    empty = table.set_column(place, "occupancy", pa.array([None] * 100, pa.uint32()))
    with pytest.raises(dropcast.InputError, match="frame: row 0: occupancy is empty"):
        dropcast.train(empty, features="occupancy", split="none")
    floats = table.set_column(place, "occupancy", pa.array(values + 0.5))
    with pytest.raises(dropcast.InputError, match=r"frame: row 0: occupancy is [0-9]+\.5, expected an integer"):
        dropcast.train(floats, features="occupancy", split="none")
    with pytest.raises(dropcast.InputError, match='frame: has no column "drop"'):
        dropcast.train(table.drop_columns(["drop", "outcome"]))
    with pytest.raises(TypeError, match="not int"):
        dropcast.train(3)


def test_scores_of_frames(model, trace):
    table = pa.table(trace)
    matrix = np.column_stack([np.array(table[name]) for name in model.features])
    expected = model.scores(matrix)
    assert (model.scores(trace) == expected).all()
    for name, frame in frames(table).items():
        assert (model.scores(frame) == expected).all(), name
    with pytest.raises(dropcast.InputError, match='X: has no column "level_occupancy"'):
        model.scores(table.select(["time_ns"]))
