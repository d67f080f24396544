"""Each stage does what the command does."""

import json
import os
import subprocess
import tempfile

import numpy as np
import pytest

import dropcast
from dropcast import InputError


def run(command, *arguments):
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)


def test_files_give_the_model_of_the_command(command, trace_file, tmp_path):
    settings = ["--n-estimators=6", "--max-depth=3", "--vote=f1", "--seed=5"]
    said = run(command, "train", "--data", trace_file, *settings, "-o", tmp_path / "m.json")
    assert said.returncode == 0, said.stderr
    model = dropcast.train(trace_file, n_estimators=6, max_depth=3, vote="f1", seed=5)
    assert model.to_json() == (tmp_path / "m.json").read_text()


def test_labelling_gives_the_rows_of_the_command(command, tmp_path):
    events = tmp_path / "events.parquet"
    assert dropcast.simulate(seed=3, duration_ms=5, output=events) == str(events)
    said = run(command, "simulate", "--seed=3", "--duration-ms=5", "-o", tmp_path / "e.parquet")
    assert said.returncode == 0, said.stderr
    assert events.read_bytes() == (tmp_path / "e.parquet").read_bytes()
    dropcast.collect(events, output=tmp_path / "ours.parquet", features="paper4,rank")
    arguments = ["--events", events, "--features=paper4,rank", "-o", tmp_path / "theirs.parquet"]
    assert run(command, "collect", *arguments).returncode == 0
    assert (tmp_path / "ours.parquet").read_bytes() == (tmp_path / "theirs.parquet").read_bytes()


def test_errors_have_the_reasons_of_the_command_and_names_of_python(command, trace_file, tmp_path):
    output = tmp_path / "m.json"
    for settings in [
        {"vote": "best"},
        {"n_estimators": 0},
        {"train_share": 2},
        {"features": "rnak"},
        {"split": "none", "train_share": 0.5},
        {"max_features": 9},
    ]:
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
        said = run(command, "train", "--data", trace_file, *flags, "-o", output)
        with pytest.raises(InputError) as caught:
            dropcast.train(trace_file, **settings)
        first = said.stderr.removeprefix("error: ").split("\n\n")[0].strip()
        found = str(caught.value).split("\n\n")[0]
        if first.startswith("invalid value"):
            # "invalid value 'best' for '--vote <RULE>': why"
            assert found.startswith(f"{next(iter(settings))}: ") and "--" not in found
            assert found.endswith(first.split(">': ", 1)[1])
        else:
            assert found == first
        assert isinstance(caught.value, ValueError)
    with pytest.raises(InputError, match="nowhere.parquet: cannot be opened"):
        dropcast.train("nowhere.parquet")


def test_a_model_is_saved_and_read(model, tmp_path):
    model.save(tmp_path / "model.json")
    again = dropcast.Model.load(tmp_path / "model.json")
    assert again == model and hash(again) == hash(model)
    assert repr(model).startswith("<Model: 4 trees of depth 4 on level_occupancy")
    assert "<table>" in model._repr_html_() and "F1" in str(model)
    assert model.gain["lqd"]["packets"] > 0
    with pytest.raises(InputError, match="not a dropcast model"):
        dropcast.Model.from_json("{}")


def test_predictions_are_those_of_the_trees(model, trace):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 300_000, size=(5_000, 4), dtype=np.uint32)
    trees = model.to_dict()["forest"]["trees"]

    def weight(tree, row):
        at = tree["nodes"][0]
        while "split" in at:
            of = at["split"]
            at = tree["nodes"][of["left" if row[of["feature"]] <= of["threshold"] else "right"]]
        return at["leaf"]["weight"]

    expected = [sum(weight(tree, row) for tree in trees) for row in rows]
    scores = model.scores(rows)
    assert scores.dtype == np.uint32 and scores.tolist() == expected
    assert model.scores(rows.astype(np.int64), threads=1).tolist() == expected
    assert (model.predict(rows) == (scores > model.vote_threshold)).all()


def test_whole_numbers_may_be_floats(model):
    rows = np.array([[5, 6, 7, 8], [900_000, 1_000_000, 1_000_000, 1_000_000]])
    assert (model.scores(rows) == model.scores(rows.astype(float))).all()


def test_a_misspelt_setting_is_answered_with_what_is_meant(trace_file):
    with pytest.raises(TypeError, match="did you mean n_estimators?"):
        dropcast.train(trace_file, n_estimator=3)


def test_columns_that_do_not_fit_are_refused(model):
    for rows, says in [
        (np.zeros((2, 3), dtype=int), "expected a column for each of level_occupancy"),
        (np.full((2, 4), 0.5), "has values that are no whole numbers"),
        (np.full((2, 4), -1), "integers from 0 to 4294967295"),
    ]:
        with pytest.raises(InputError, match=says):
            model.scores(rows)


def test_reports(model, trace, tmp_path):
    found = dropcast.report(trace, model=model)
    assert found["prediction"]["f1"] == pytest.approx(model.metrics["test"]["f1"])
    assert "<svg" in found.to_html() and "iframe" in found._repr_html_()
    found.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == found.to_html()
    verdict = dropcast.report(trace)
    assert verdict["policies"] and "LQD" in str(verdict)
    assert "packets" in found["gain"]["best_alpha"] and model.gain == found["gain"]


def asked(rivals):
    """What the policies that were asked for transmit."""
    return [(of["policy"], of["sent"]) for of in rivals["policies"] if of["kind"] == "asked"]


def test_functions_are_policies(tmp_path, trace, model):
    rng = np.random.default_rng(3)
    rows, ports = 20_000, rng.integers(0, 4, 20_000)
    times, sizes = np.cumsum(rng.exponential(300, rows)).astype(int), rng.integers(64, 1_500, rows)
    lines = (f"{row[0]},{row[1]},{row[2]},{row[3]}\n" for row in zip(times, ports, ports % 2, sizes))
    (tmp_path / "events.csv").write_text("time_ns,port,queue,size_bytes\n" + "".join(lines))
    switch = {
        "ports": 4, "queues_per_port": 2, "line_rate_bps": 4_000_000_000, "buffer_bytes": 30_000, "base_rtt_ns": 20_000,
    }
    random = dropcast.collect(tmp_path / "events.csv", switch=switch)

    def mine(packet, switch):
        return switch.queue_bytes < 0.7 * switch.free_bytes

    def by_class(packet, switch):
        lengths = switch.lengths
        assert len(lengths) == 4 and sum(map(sum, lengths)) == switch.occupancy_bytes
        assert switch.line_rate_bps == [4_000_000_000] * 4 and switch.base_rtt_ns == 20_000
        assert switch.buffer_bytes == 30_000 and packet.size_bytes < 1_500 and packet.time_ns <= times[-1]
        return lengths[packet.port][packet.queue] < (8 if packet.queue else 0.5) * switch.free_bytes

    policies = ["dt:alpha=0.7", "dt:alpha=[0.5,8]", mine, by_class]
    (_, dt), (_, classes), *own = asked(dropcast.report(random, policy=policies)["rivals"])
    assert own == [("mine", dt), ("by_class", classes)] and dt != classes
    # Beside a model, on the rows that it has not seen.
    found = dropcast.report(trace, model=model, policy=["dt:alpha=0.7", mine])
    (_, dt), own = asked(found["verdict"]["rivals"])
    assert own == ("mine", dt)


def test_exceptions_of_policies_are_raised(trace, model):
    calls = []

    def broken(packet, switch):
        calls.append(packet.time_ns)
        return {}["a key"]

    for of in [None, model]:
        with pytest.raises(KeyError, match="a key") as error:
            dropcast.report(trace, model=of, policy=["edt", broken])
        assert error.traceback[-1].name == "broken"
    assert len(calls) == 2
    with pytest.raises(TypeError, match="policy: returned NoneType, expected True to accept"):
        dropcast.report(trace, policy=lambda packet, switch: None)
    with pytest.raises(TypeError, match="argument"):
        dropcast.report(trace, policy=lambda packet: True)


def test_any_policy_is_replayed(trace):
    found = dropcast.report(trace, policy=["edt", "dt:alpha=[8,1]"])
    asked = [of["policy"] for of in found["rivals"]["policies"] if of["kind"] == "asked"]
    assert asked == ["edt", "dt:alpha=[8,1]"]
    assert dropcast.report(trace, policy="edt")["conclusion"] == found["conclusion"]
    with pytest.raises(InputError, match="ndt: needs a network"):
        dropcast.report(trace, policy="ndt")
    with pytest.raises(InputError, match="unknown variant"):
        dropcast.report(trace, policy="abc")


def test_exports_agree(model, trace):
    files = model.export(["c", "dct", "p4"])
    assert any(name.endswith(".p4") for name in files)
    found = dropcast.verify(model, ["c", "dct"], rows=1_000, trace=trace)
    assert found["verified"]
    with pytest.raises(InputError, match="unknown target"):
        model.export("asic")
    with pytest.raises(dropcast.NotVerifiedError, match="not verified: p4") as caught:
        dropcast.verify(model, "p4", rows=10)
    assert caught.value.verification["verified"] is False


def test_exports_are_written(model, tmp_path):
    paths = dropcast.export(model, "dct", tmp_path / "tables")
    assert [os.path.basename(path) for path in paths] == ["model.dct"]


def test_sweeps(trace, tmp_path, monkeypatch):
    axes = {"trees": [1, 4], "max_depth": [2, 4], "votes": ["f1"]}
    found = dropcast.sweep({"axes": axes}, data=trace, output=tmp_path / "sweep")
    # Each configuration has eight seeds.
    assert len(found.rows) == 32 and found.proposed in found.pareto
    assert found.model(found.pareto[0]).n_trees in (1, 4)
    with pytest.raises(InputError, match="data: expected at least one labelled trace"):
        dropcast.sweep({"axes": axes})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(InputError, match="unknown field `tres`"):
        dropcast.sweep({"axes": {"tres": [1]}}, data=trace)
    assert not list(tmp_path.glob("dropcast-sweep-*"))


def test_a_sweep_over_frames_is_one_over_files(trace, trace_file, tmp_path):
    (tmp_path / "s.toml").write_text(
        f'data = [{json.dumps(str(trace_file))}]\n[axes]\ntrees = [1, 2]\nvotes = ["f1"]\n'
    )
    files = dropcast.sweep(tmp_path / "s.toml", output=tmp_path / "one")
    axes = {"trees": [1, 2], "votes": ["f1"]}
    frames = dropcast.sweep({"axes": axes, "data": trace_file}, output=tmp_path / "two")
    assert files.rows == frames.rows


def test_cross_validation_and_models_per_switch(tmp_path):
    runs = [dropcast.collect(dropcast.simulate(seed=seed, duration_ms=40)) for seed in (1, 2)]
    model = dropcast.train(runs, cross_validate="runs", vote="f1")
    assert len(model.cross_validation["folds"]) == 2
    models, compared = dropcast.train_per(runs, "switch", vote="f1")
    assert set(models) == {"pooled", "switch-0"} and compared["models"][0]["name"] == "switch-0"


def test_policies_in_a_fabric():
    fields = {"runs": 1, "traffic": {"duration_ns": 1_000_000, "flows": [{"load": 0.4}]}}
    found = dropcast.simulate(experiment=fields, policy=["lqd", "dt"])
    assert [of["policy"] for of in found.summary["policies"]] == ["lqd", "dt"]
    assert "lqd" in str(found)
    with pytest.raises(InputError, match="runs: belongs to an experiment"):
        dropcast.simulate(runs=3)


def test_notes_are_warnings(trace):
    import pyarrow as pa

    table = pa.table(trace).drop_columns(["time_ns", "port"]).replace_schema_metadata(None)
    with pytest.warns(dropcast.DropcastWarning, match="the vote threshold is chosen by F1"):
        dropcast.train(table, split="random")
