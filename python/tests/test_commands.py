"""Functions that write folders do what the command does, to the byte."""

import json
import os
import signal
import struct
import subprocess
import sys
import textwrap
import time
import warnings
from functools import partial
from pathlib import Path

import pytest

import dropcast
from dropcast import InputError

# A small fabric with full buffers.
LOOP = {
    "fabric": {
        "servers": 4,
        "spines": 2,
        "leaf_buffer_bytes": 100_000,
        "spine_buffer_bytes": 60_000,
        "sample_interval_ns": 100_000,
    },
    "traffic": {
        "duration_ns": 4_000_000,
        "flows": [{"load": 0.8, "transport": "cubic"}],
        "incasts": [{"burst": 2.0, "fan_in": 4, "per_server_hz": 400.0}],
    },
}
MAP = {
    "runs": 2,
    "oracles": {},
    "measures": ["goodput_bps"],
    **LOOP,
    "grids": [{"name": "loads", "load": [0.4, 0.8]}],
}
SWITCH = "ports = 2\nline_rate_bps = 1_000_000_000\nbuffer_bytes = 20_000\nbase_rtt_ns = 50_000\n"


@pytest.fixture
def run(command, tmp_path, monkeypatch):
    """Runs the command where the test works."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, program=(command,)):
        said = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
        return said.stdout

    return run


@pytest.fixture
def run_lab(run):
    """Runs the lab's command where the test works, from the package."""
    return partial(run, program=[sys.executable, "-m", "dropcast.lab"])


def files(folder):
    """Every file under a folder, with its content."""
    paths = [path for path in Path(folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def toml(fields):
    """Fields as TOML: tables in tables are written inline."""
    def word(value):
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key} = {word(of)}" for key, of in value.items()) + "}"
        return f"[{', '.join(map(word, value))}]" if isinstance(value, list) else json.dumps(value)

    return "".join(f"{key} = {word(value)}\n" for key, value in fields.items())


def bursts(after_ns=400_000):
    """Bursts of 40 packets for two ports; `late` marks those at the end of a burst."""
    rows = [
        f"{burst * after_ns + place * 100},{place % 2},1000,{int(place > 21)}\n"
        for burst in range(200)
        for place in range(40)
    ]
    return "time_ns,port,size_bytes,late\n" + "".join(rows)


def test_a_run_is_that_of_the_command(run):
    Path("run.toml").write_text('name = "small"\n[workload]\nduration_ns = 60_000_000\n')
    run("run", "--config", "run.toml", "--runs", "theirs", "--seed", "3")
    found = dropcast.run("run.toml", runs="ours", seed=3)
    assert found.folder == os.path.join("ours", "small")
    assert files("ours/small") == files("theirs/small")
    assert found.model.to_json() == Path("theirs/small/model.json").read_text()
    assert found.report["prediction"]["f1"] == found.report.to_dict()["prediction"]["f1"]
    assert found.trace.is_replayable and "ours" in repr(found)
    with pytest.raises(InputError, match="holds an earlier run with other settings"):
        dropcast.run("run.toml", runs="ours", seed=4)
    with pytest.raises(InputError, match="describes given events"):
        dropcast.run(switch="leaf.toml")
    dropcast.run(config="run.toml", runs="ours", seed=4, replace=True, threads=1)


def test_a_run_without_drops_has_no_model(run):
    Path("leaf.toml").write_text(SWITCH)
    Path("quiet.csv").write_text("at,port,size_bytes\n" + "".join(f"{n},0,100\n" for n in range(50)))
    Path("c.toml").write_text('name = "quiet"\n[collect]\ndepartures = "line-rate"\n')
    found = dropcast.run(
        "c.toml", events=["quiet.csv"], switch="leaf.toml", column={"time_ns": "at"}, time_unit="ms"
    )
    assert found.model is None and found.report["policies"]


def test_folders_of_events_are_labelled(run):
    for run_name, after_ns in [("run=1", 400_000), ("run=2", 500_000)]:
        os.makedirs(f"events/{run_name}/switch=3")
        Path(f"events/{run_name}/switch=3/log.csv").write_text(bursts(after_ns))
    Path("leaf.toml").write_text(SWITCH)
    settings = ["--switch=leaf.toml", "--departures=line-rate", "--features=paper4"]
    run("collect", "--events", "events", *settings, "-o", "theirs")
    settings = dict(switch="leaf.toml", departures="line-rate", features="paper4")
    found = dropcast.collect("events", output="ours", threads=2, **settings)
    assert files("ours") == files("theirs")
    assert found.collected["labelled"] == 2 and len(found.traces) == 2
    again = dropcast.collect("events", output="ours", **settings)
    assert again.collected["kept"] == 2 and again.collected["rows"] == found.collected["rows"]
    assert "2 traces" in repr(found)
    model = dropcast.train(found, features="paper4", vote="f1")
    assert len(model.to_dict()["provenance"]["data"]) == 2
    with pytest.raises(InputError, match="output: the events are a folder"):
        dropcast.collect("events", **settings)
    with pytest.raises(InputError, match="output: the events are a folder"):
        dropcast.collect("events", output="trace.parquet", **settings)
    os.mkdir("empty")
    with pytest.raises(InputError, match="empty: holds no files of events"):
        dropcast.collect("empty", output="ours", **settings)


def test_features_of_the_users_own(run):
    Path("leaf.toml").write_text(SWITCH)
    Path("events.csv").write_text(bursts())
    flags = ["--departures=line-rate", "--switch=leaf.toml", "--own=late"]
    run("collect", "--events", "events.csv", *flags, "-o", "theirs.parquet")
    settings = dict(departures="line-rate", switch="leaf.toml", own="late")
    dropcast.collect("events.csv", output="ours.parquet", **settings)
    assert Path("ours.parquet").read_bytes() == Path("theirs.parquet").read_bytes()
    run("train", "--data", "ours.parquet", "--own=late", "-o", "model.json")
    model = dropcast.train("ours.parquet", own=["late"])
    assert model.features[-1] == "late"
    assert model.to_json() == Path("model.json").read_text()


def test_refined_models_are_those_of_the_command(run_lab, trace_file, trace, model):
    Path("loop.toml").write_text(toml(LOOP))
    model.save("model.json")
    theirs = json.loads(
        run_lab("refine", "--experiment", "loop.toml", "--runs=5", "--data", trace_file, "--rounds=1",
            "--labelled-runs=1", "--n-estimators=2", "--format=json", "-o", "theirs")
    )
    settings = dict(runs=5, rounds=1, labelled_runs=1, n_estimators=2)
    made, found = dropcast.refine(trace_file, experiment="loop.toml", output="ours", **settings)
    assert files("ours") == files("theirs") and found == theirs
    assert made.to_json() == Path("theirs/model.json").read_text() and str(found)
    kept = dropcast.refine(trace_file, experiment="loop.toml", keep="runs.jsonl", **settings)[0]
    runs = Path("runs.jsonl").read_bytes()
    again = dropcast.refine(trace_file, experiment="loop.toml", keep="runs.jsonl", **settings)[0]
    assert kept.to_json() == again.to_json() == made.to_json()
    assert Path("runs.jsonl").read_bytes() == runs and runs.count(b"\n") > 10
    # Frames, models in memory and a dict serve as well.
    made, found = dropcast.refine(trace, model=[model, "model.json"], experiment=LOOP, runs=5, rounds=0)
    tried = {of["model"] for of in found["rounds"][0]["choice"]["candidates"]}
    assert {"model 0", "model.json"} <= tried
    for given, says in [
        (dict(), "neither a model nor data"),
        (dict(data=trace, runs=4), "runs"),
        (dict(data=trace, experiment={"rnus": 5}), "unknown field `rnus`"),
    ]:
        with pytest.raises(InputError, match=says):
            dropcast.refine(**given)
    with pytest.raises(TypeError, match="unexpected keyword argument 'vote'"):
        dropcast.refine(trace, vote="f1")
    with pytest.raises(TypeError, match="a model is a path or a dropcast.Model, not int"):
        dropcast.refine(trace, model=3)


def test_maps_are_those_of_the_command(run_lab):
    Path("small.toml").write_text(toml(MAP))
    theirs = json.loads(run_lab("map", "small.toml", "-o", "theirs", "--format=json"))
    found = dropcast.map("small.toml", threads=1)
    assert files("runs/small") == files("theirs") and found == theirs
    assert "pairs of a point and a measure" in str(found)
    assert dropcast.map(MAP) == found and os.listdir("runs") == ["small"]
    with pytest.raises(InputError, match="config: unknown field `gird`"):
        dropcast.map({"gird": []})
    runs = [dropcast.map(MAP, keep="runs.jsonl", part=part) for part in ("1/2", "2/2")]
    kept = Path("runs.jsonl").read_bytes()
    assert sum(runs) == kept.count(b"\n") > 2
    assert dropcast.map(MAP, keep="runs.jsonl") == found
    assert Path("runs.jsonl").read_bytes() == kept
    for given, says in [
        (dict(part="1/2"), "part is simulated into a file; name one as keep"),
        (dict(part="2/1", keep="runs.jsonl"), "part: is \"2/1\", expected a part"),
        (dict(part="1/2", keep="runs.jsonl", output="x"), "output: is of the whole map"),
        (dict(keep="small.toml"), "small.toml: line 1 is no finished run"),
    ]:
        with pytest.raises(InputError, match=says):
            dropcast.map(MAP, **given)


def test_kept_runs_of_experiments_are_not_repeated(run):
    compared = dropcast.simulate(experiment=LOOP, runs=2)
    assert dropcast.simulate(experiment=LOOP, runs=2, keep="runs.jsonl", part="1/1") > 0
    kept = Path("runs.jsonl").read_bytes()
    again = dropcast.simulate(experiment=LOOP, runs=2, keep="runs.jsonl")
    assert again.summary == compared.summary and Path("runs.jsonl").read_bytes() == kept
    dropcast.simulate(experiment=LOOP, runs=2, keep="runs.jsonl", output="kept")
    assert Path("runs.jsonl").read_bytes() == kept
    dropcast.simulate(experiment=LOOP, runs=2, output="plain")
    times = [Path(folder, "flow-times.csv").read_bytes() for folder in ("kept", "plain")]
    assert times[0] == times[1]
    with pytest.raises(InputError, match="record: is of runs as they happen"):
        dropcast.simulate(experiment=LOOP, keep="runs.jsonl", record="flows", output="x")
    with pytest.raises(InputError, match="output: is of the whole experiment"):
        dropcast.simulate(experiment=LOOP, keep="runs.jsonl", part="1/2", output="x")
    with pytest.raises(InputError, match="keep: belongs to an experiment"):
        dropcast.simulate(keep="runs.jsonl")


def test_experiments_write_the_files_of_the_command(run_lab):
    Path("loop.toml").write_text(toml(LOOP))
    run_lab("simulate", "loop.toml", "--runs=2", "--record=flows", "-o", "theirs")
    dropcast.simulate(experiment=LOOP, runs=2, record="flows", output="ours")
    made = files("ours")
    assert made == files("theirs")
    assert b"<svg" in made["flow-times-incast-fct.svg"]


def test_figures_are_those_of_the_command(run_lab):
    run_lab("reproduce", "fig14", "--slots=500", "--repetitions=1", "-o", "theirs")
    made = dropcast.reproduce("fig14", slots=500, repetitions=1, output="ours")
    assert files("ours") == files("theirs")
    assert sorted(os.path.basename(path) for path in made) == sorted(files("theirs"))
    for given, says in [
        (dict(figure="fig99"), "figure: 'fig99' is unknown, expected one of abm, fig6, .*fig15, .*abm-fig6, .*smartbuf-fig6"),
        (dict(figure="fig14", scale="small"), "unexpected argument '--scale'"),
        (dict(figure="fig6", runs=0), 'runs: "0": 0 is not in'),
    ]:
        with pytest.raises(InputError, match=says):
            dropcast.reproduce(**given)


FOREST = """booster[0]:
0:[queue_length<1000.5] yes=1,no=2,missing=2
\t1:leaf=-0.25
\t2:leaf=0.500000119
"""


@pytest.mark.parametrize(
    ("threshold", "says"), [(7, "it never predicts a drop"), (-7, "it always predicts a drop")]
)
def test_a_forest_that_always_says_the_same_is_a_warning(run, threshold, says):
    Path("xgboost.txt").write_text(FOREST)
    settings = dict(threshold=threshold, features="queue_length,occupancy")
    for given in ("xgboost.txt", FOREST.encode()):
        with pytest.warns(dropcast.DropcastWarning, match=f"{says}, .*; see threshold"):
            dropcast.import_forest(given, **settings)
    printed = run(
        "import", "xgboost.txt", f"--threshold={threshold}", "--features=queue_length,occupancy",
        "-o", "model.json",
    )
    assert f"warning: {says}" in printed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dropcast.import_forest("xgboost.txt", **{**settings, "threshold": 0})


def test_files_are_inspected(run, trace_file, model):
    for arguments, found in [
        ([trace_file], dropcast.inspect(trace_file)),
        ([trace_file, "--check"], dropcast.inspect(trace_file, check=True)),
    ]:
        assert json.loads(run("inspect", *arguments, "--format=json")) == found
        assert run("inspect", *arguments).strip() == str(found).strip()
    Path("bad.csv").write_text("time_ns,port,size_bytes\n1,0,100\n2,9,100\n")
    Path("leaf.toml").write_text(SWITCH)
    found = dropcast.inspect("bad.csv", check=True, switch="leaf.toml", time_unit="us")
    assert found["rows"] == 1 and found["problems"][0]["rows"] == 1
    Path("log.csv").write_text("ts,port,size_bytes\n1,0,100\n2,1,100\n")
    Path("more.csv").write_text("ts,port,size_bytes\n1,1,100\n3,1,100\n")
    columns = {"time_ns": "ts"}
    assert dropcast.inspect("log.csv", column=columns)["kind"] == "events"
    assert dropcast.inspect("log.csv", check=True, column=columns, switch="leaf.toml")["rows"] == 2
    both = dropcast.inspect(["log.csv", "more.csv"], check=True, column=columns, switch="leaf.toml")
    assert both["rows"] == 4
    Path("own.csv").write_text("time_ns,port,size_bytes,mine\n1,0,100,7\n2,1,100,x\n")
    own = dropcast.inspect("own.csv", check=True, switch="leaf.toml", own="mine")
    assert [problem["reason"] for problem in own["problems"]] == ["not-a-number"]
    with pytest.raises(InputError, match='own: "a-b" cannot be a feature of your own'):
        dropcast.inspect("own.csv", check=True, switch="leaf.toml", own=["mine", "a-b"])
    with pytest.raises(InputError, match="reads one file at a time"):
        dropcast.inspect(["log.csv", "more.csv"])
    with pytest.raises(InputError, match='log.csv: has no column "time_ns", it has ts, port, size_bytes'):
        dropcast.inspect("log.csv", check=True, switch="leaf.toml")
    counted = dropcast.inspect(trace_file, statistics=True)
    assert 0 < counted["statistics"]["drops"] < counted["statistics"]["rows"] == counted["rows"]
    with pytest.raises(InputError, match="statistics: cannot be used with check"):
        dropcast.inspect(trace_file, statistics=True, check=True)
    with pytest.raises(InputError, match="none.json: cannot be"):
        dropcast.inspect("none.json")


def test_resources_are_those_of_the_command(run, model):
    model.save("model.json")
    for found in (dropcast.resources("model.json"), model.resources(progress=False)):
        assert found == json.loads(run("resources", "model.json", "--format=json"))
        assert str(found).strip() == run("resources", "model.json").strip()
    measured = dropcast.resources(model, measure=True)["measured"]
    assert measured["ns_per_prediction"] > 0


def test_an_interrupt_stops_a_map(tmp_path):
    """Ctrl-C ends what runs in the fabric, and nothing is written."""
    (tmp_path / "large.toml").write_text(toml({**MAP, "runs": 1000}))
    program = textwrap.dedent(
        """
        import dropcast
        print("begun", flush=True)
        try:
            dropcast.map("large.toml", output="map")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "interrupted\n"
    assert process.returncode == 0 and os.listdir(tmp_path) == ["large.toml"]


def test_drop_reports_are_joined_with_captures(run):
    """One packet of a capture, and a report that the switch dropped it."""
    seconds, ethernet = 1_700_000_000, bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0])
    ip = bytes([0x45, 0, 0, 46, 0, 9, 0, 0, 64, 17, 0, 0, 10, 0, 9, 1, 10, 0, 0, 1])
    frame = ethernet + ip + bytes([0, 7, 0, 9, 0, 26, 0, 0]) + bytes(18)
    words = [0xA1B23C4D, 0x00040002, 0, 0, 65_535, 1]
    for nanoseconds in range(0, 50_000, 1_000):
        words += [seconds, nanoseconds, len(frame), len(frame)]
        words += list(struct.unpack("<15I", frame))
    Path("in.pcap").write_bytes(struct.pack(f"<{len(words)}I", *words))
    Path("leaf.toml").write_text(SWITCH.replace("ports = 2", "ports = 1"))
    Path("drops.csv").write_text(
        "time_ns,source_ip,destination_ip,protocol,source_port,destination_port,reason\n"
        f"{seconds}000005100,10.0.9.1,10.0.0.1,udp,7,9,tail drop\n"
    )
    settings = dict(switch="leaf.toml", drops="drops.csv", drop_window_ms=1, on_bad_row="skip")
    with pytest.warns(UserWarning, match="drop reports: 1 of packets that the buffer dropped"):
        trace = dropcast.collect("in.pcap", departures="line-rate", **settings)
    assert trace.collected["real_drops"]["packets"] == 1
    with pytest.warns(UserWarning, match="drop reports: 1 of packets"):
        found = dropcast.run(events="in.pcap", **settings)
    assert "drop_window_ms = 1\n" in Path(found.folder, "config.toml").read_text()
    with pytest.raises(InputError, match="drops: are joined with captures, which are files"):
        dropcast.collect(trace, drops="drops.csv", switch="leaf.toml")
