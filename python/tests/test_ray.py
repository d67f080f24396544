"""The pipeline on Ray gives the bytes of the command, whatever is lost on the way.

Two raylets on this machine are the cluster. The command is built with `cargo build --release`.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from needs import needed

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# By default workers wait for whatever else the machine does.
os.environ["RAY_worker_niceness"] = "0"
# Otherwise Ray looks for a cluster on 127.0.0.1 at another address of this machine.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

ray = needed("ray")

import dropcast  # noqa: E402
import dropcast.ray  # noqa: E402
from dropcast.partitions import (  # noqa: E402
    Training,
    merge_answers,
    open_partition,
    settings_json,
    summarize,
)
from dropcast.partitions import train as train_here  # noqa: E402

DROPCAST = os.environ.get(
    "DROPCAST", str(pathlib.Path(__file__).parents[2] / "target/release/dropcast")
)


def command(*args):
    return subprocess.run([DROPCAST, *map(str, args)], check=True, capture_output=True).stdout


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Events and traces: of a leaf, and of a fabric with several switches."""
    folder = tmp_path_factory.mktemp("files")
    for name, topology, seed, ms in [
        ("leaf", "leaf", 1, 30),
        ("other", "leaf", 2, 20),
        ("fabric", "leaf-spine", 3, 4),
    ]:
        events, trace = folder / f"{name}-events.parquet", folder / f"{name}.parquet"
        command("simulate", "--topology", topology, "--seed", seed, "--duration-ms", ms, "-o", events)
        command("collect", "--events", events, "--departures", "line-rate", "-o", trace)
    return folder


@pytest.fixture(scope="session")
def expected(files):
    """The model of the command."""
    made = {}

    def model(traces, *options):
        key = (tuple(traces), options)
        if key not in made:
            path = files / f"model-{len(made)}.json"
            command("train", "--data", *[files / name for name in traces], *options, "-o", path)
            made[key] = path.read_text()
        return made[key]

    return model


@pytest.fixture(scope="module")
def cluster(store):
    """A head with a CPU, and a second node with another; their environment names the store."""
    from ray.cluster_utils import Cluster

    local = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 200 << 20}
    # A lost node is noticed within seconds.
    noticed = {"health_check_period_ms": 1_000, "health_check_failure_threshold": 10}
    head = {**local, "include_dashboard": False, "_system_config": noticed}
    cluster = Cluster(initialize_head=True, connect=False, head_node_args=head)
    cluster.second = cluster.add_node(**local)
    ray.init(address=cluster.address, log_to_driver=False)
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def workers():
    """Processes of actors on this machine, by their titles."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            title = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::_Worker"):
            found.append(int(entry.name))
    return found


BOTH = ["leaf.parquet", "fabric.parquet"]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_any_number_of_workers_gives_the_bytes_of_the_command(cluster, files, expected, count):
    lines = []
    trained = dropcast.ray.train(
        [files / name for name in BOTH], workers=count, progress=lines.append
    )
    assert trained.model_json == expected(BOTH)
    assert len(trained.workers) == count
    assert all(worker["answers"] > 4 and worker["seconds"] > 0 for worker in trained.workers)
    assert any("grow level 1" in line for line in lines)
    if count == 2:
        assert len({worker["node"] for worker in trained.workers}) == 2
        trained.save(files / "saved.json")
        assert (files / "saved.json").read_text() == trained.model_json


def test_settings_are_those_of_the_command(cluster, files, expected):
    settings = dict(n_estimators=7, max_depth=5, features="paper4", split="time-blocks", vote="f1")
    trained = dropcast.ray.train([files / name for name in BOTH], seed=9, progress=False, **settings)
    options = ["--n-estimators", "7", "--max-depth", "5", "--features", "paper4"]
    options += ["--split", "time-blocks", "--vote", "f1", "--seed", "9"]
    assert trained.model_json == expected(BOTH, *options)


def test_rows_that_do_not_fit_go_to_disk(cluster, files, expected):
    settings = dict(memory_limit=0, vote="f1", progress=False)
    trained = dropcast.ray.train([files / "leaf.parquet"], **settings)
    assert trained.model_json == expected(["leaf.parquet"], "--vote", "f1")
    assert sum(worker["spilled_bytes"] for worker in trained.workers) > 0


@pytest.mark.parametrize("stage", ["grow level 1", "grow level 3"])
def test_a_killed_worker_changes_nothing(cluster, files, expected, stage):
    killed = []

    def kill(line):
        if stage in line and not killed:
            killed.append(min(workers()))
            # The next question is on its way.
            threading.Timer(0.01, os.kill, (killed[0], signal.SIGKILL)).start()

    settings = dict(n_estimators=32, max_depth=6, vote="f1")
    trained = dropcast.ray.train(
        [files / name for name in BOTH], workers=3, progress=kill, **settings
    )
    assert killed
    options = ["--n-estimators", "32", "--max-depth", "6", "--vote", "f1"]
    assert trained.model_json == expected(BOTH, *options)
    assert any(worker["restarted"] for worker in trained.workers)


def test_folders_are_read_and_models_written(cluster, files, expected, tmp_path):
    (tmp_path / "deep").mkdir()
    shutil.copy(files / "leaf.parquet", tmp_path / "deep")
    trained = dropcast.ray.train(tmp_path, progress=False)
    trained.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_text() == expected(["leaf.parquet"])
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match="none: holds no labelled traces"):
        dropcast.ray.train(tmp_path / "none", progress=False)


def test_objects_take_the_place_of_files(cluster, store, files, expected, tmp_path):
    store.put("ray/fabric-events.parquet", (files / "fabric-events.parquet").read_bytes())
    settings = dict(departures="line-rate", progress=False)
    for events, output in [
        (files / "fabric-events.parquet", tmp_path / "traces"),
        ("s3://bucket/ray/fabric-events.parquet", "s3://bucket/ray/traces/"),
    ]:
        found = dropcast.ray.collect({"web": events}, output, **settings)
    assert len(found) > 3
    for trace in found:
        name = f"run=web/switch={trace.switch}/part-0.parquet"
        assert trace.path == f"s3://bucket/ray/traces/{name}"
        assert store.get(f"ray/traces/{name}") == (tmp_path / "traces" / name).read_bytes()
    models = [
        dropcast.ray.train(traces, workers=2, progress=False)
        for traces in (tmp_path / "traces", "s3://bucket/ray/traces/")
    ]
    assert models[0].model_json == models[1].model_json
    assert len({worker["node"] for worker in models[1].workers}) == 2

    # One object, of which each worker fetches its rows; and the bytes of the command.
    for name in BOTH:
        store.put(f"ray/{name}", (files / name).read_bytes())
    urls = [f"s3://bucket/ray/{name}" for name in BOTH]
    trained = dropcast.ray.train(urls, workers=2, progress=False)
    assert trained.model_json == expected(BOTH)
    trained.save("s3://bucket/ray/model.json")
    assert store.get("ray/model.json").decode() == trained.model_json

    here = dropcast.ray.leave_one_out([files / name for name in BOTH], progress=False)
    there = dropcast.ray.leave_one_out(urls, progress=False)
    assert [fold.test for fold in here] == [fold.test for fold in there]
    sweep = f'data = ["{urls[0]}"]\n[axes]\ntrees = [1, 2]\nmax_depth = [2]\n'
    store.put("ray/sweep.toml", sweep.encode())
    swept = dropcast.ray.sweep("s3://bucket/ray/sweep.toml", tmp_path / "sweep", progress=False)
    assert len(swept["rows"]) == 2 * 8  # two numbers of trees, eight seeds
    with pytest.raises(dropcast.InputError, match="s3://bucket/ray/sweep.* is of an object store"):
        dropcast.ray.sweep("s3://bucket/ray/sweep.toml", "s3://bucket/ray/sweep", progress=False)


@pytest.mark.parametrize("url", ["s3://bucket/ray/absent.parquet", "s3://nowhere/absent.parquet"])
def test_objects_that_are_not_there_are_named_in_the_words_of_the_command(cluster, store, url):
    said = subprocess.run(
        [sys.executable, "-m", "dropcast", "train", "--data", url, "-o", "model.json"],
        capture_output=True,
        text=True,
    ).stderr.removeprefix("error: ")
    for call in (
        lambda: dropcast.ray.train(url, progress=False),
        lambda: dropcast.ray.leave_one_out([url, url], progress=False),
        lambda: dropcast.ray.collect(url, "s3://bucket/ray/none", progress=False),
    ):
        with pytest.raises(dropcast.InputError) as error:
            call()
        assert said.strip() in str(error.value)
        assert "cannot be opened" in said and "docs/objects.md" in said


def test_a_file_that_is_not_there_fails_before_any_task(files, monkeypatch):
    def started(*_):
        raise AssertionError("a task was started")

    monkeypatch.setattr(dropcast.ray._summarize, "remote", started)
    monkeypatch.setattr(dropcast.ray._cut, "remote", started)
    there, absent = str(files / "leaf.parquet"), str(files / "absent.parquet")
    for call in (
        lambda: dropcast.ray.train([there, absent], progress=False),
        lambda: dropcast.ray.leave_one_out([there, absent], progress=False),
        lambda: dropcast.ray.collect({"a": there, "b": absent}, files / "none", progress=False),
    ):
        with pytest.raises(dropcast.InputError, match="absent.parquet: cannot be opened"):
            call()


def rows_of(path, switch):
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(path, partitioning=None)
    return table.filter(pc.equal(table["switch_id"], switch)).replace_schema_metadata(None)


def test_collect_makes_a_trace_of_each_run_and_switch(cluster, files, tmp_path):
    runs = {"web": files / "fabric-events.parquet", "leaf": files / "leaf-events.parquet"}
    settings = dict(departures="line-rate", progress=False)
    found = dropcast.ray.collect(runs, tmp_path / "traces", **settings)
    whole = {"web": files / "fabric.parquet", "leaf": files / "leaf.parquet"}
    assert len(found) > 3 and {trace.run for trace in found} == {"web", "leaf"}
    for trace in found:
        assert trace.path == str(tmp_path / f"traces/run={trace.run}/switch={trace.switch}/part-0.parquet")
        rows = rows_of(trace.path, trace.switch)
        assert rows.num_rows == trace.rows and rows.equals(rows_of(whole[trace.run], trace.switch))

    # Between bursts all ports are idle.
    quiet, switch = tmp_path / "quiet.csv", tmp_path / "switch.toml"
    bursts = [f"{nth // 10 * 20_000},{nth % 2},0,1000,0\n" for nth in range(2_000)]
    quiet.write_text("time_ns,port,queue,size_bytes,kind\n" + "".join(bursts))
    switch.write_text(
        "ports = 2\nline_rate_bps = 8_000_000_000\nbuffer_bytes = 4_000\nbase_rtt_ns = 1_000\n"
    )
    names = "queue_length,occupancy,rank"
    again = [
        dropcast.ray.collect(
            quiet, tmp_path / str(rows), switch=switch, rows_per_task=rows, features=names,
            **settings,
        )[0]
        for rows in (300, 10_000_000)
    ]
    assert len(again[0].tasks) > len(again[1].tasks) == 1
    contents = {pathlib.Path(trace.path).read_bytes() for trace in again}
    assert len(contents) == 1

    trained = dropcast.ray.train(tmp_path / "traces", progress=False)
    assert json.loads(trained.model_json)["provenance"]["data"][0]["name"] == "part-0.parquet"


def test_events_without_arrivals_are_refused(cluster, files, tmp_path):
    with pytest.raises(Exception, match="cannot be|No such file"):
        dropcast.ray.collect(tmp_path / "none.parquet", tmp_path / "traces", progress=False)


def test_sweeps_are_those_of_the_command(cluster, files, tmp_path):
    config = tmp_path / "sweep.toml"
    config.write_text(
        f'data = ["{files}/leaf.parquet"]\n[axes]\ntrees = [1, 4]\nmax_depth = [2, 4]\n'
        'features = ["level4", "paper4"]\nseeds = [1, 2]\n'
    )
    command("sweep", config, "-o", tmp_path / "one")
    dropcast.ray.sweep(config, tmp_path / "many", tasks=3, progress=False)
    for name in ["sweep.json", "rows.parquet"]:
        assert (tmp_path / "many" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_folds_are_those_of_the_command(cluster, files):
    paths = [files / "leaf.parquet", files / "other.parquet"]
    found = dropcast.ray.leave_one_out(paths, progress=False)
    printed = command(
        "train", "--data", *paths, "--cross-validate", "runs", "--format", "json", "-o", files / "all.json"
    )
    folds = {fold["files"][0]: fold["test"] for fold in json.loads(printed)["folds"]}
    assert {pathlib.Path(fold.path).name: fold.test for fold in found} == folds
    with pytest.raises(ValueError, match="takes two at least"):
        dropcast.ray.leave_one_out(paths[:1], progress=False)


LOOP = {
    "policies": ["lqd", "dt:alpha=8"],
    "runs": 4,
    "fabric": {"servers": 4, "spines": 2, "leaf_buffer_bytes": 100_000},
    "traffic": {
        "duration_ns": 4_000_000,
        "flows": [{"load": 0.8}],
        "incasts": [{"burst": 2.0, "fan_in": 4, "per_server_hz": 400.0}],
    },
}


def test_experiments_and_maps_are_those_of_one_machine(cluster, tmp_path):
    compared = dropcast.simulate(experiment=LOOP, progress=False)
    keep, shown = tmp_path / "runs.jsonl", []
    made = dropcast.ray.experiment(LOOP, keep=keep, parts=3, progress=shown.append)
    assert made.summary == compared.summary
    assert shown[-1] == "experiment: 3 of 3 parts"
    # One that was stopped goes on: no run is left to do but that of the line that was cut off.
    kept = keep.read_bytes()
    assert kept.count(b"\n") == 8
    keep.write_bytes(kept[:-10])
    assert dropcast.ray.experiment(LOOP, keep=keep, parts=2).summary == compared.summary
    assert sorted(keep.read_bytes().splitlines()) == sorted(kept.splitlines())

    grid = {**LOOP, "oracles": {}, "grids": [{"name": "loads", "load": [0.4, 0.8]}]}
    grid |= {"runs": 2, "choosing_runs": 2}
    found = dropcast.map(grid, progress=False)
    assert dropcast.ray.map(grid, parts=3, output=tmp_path / "map") == found
    assert json.loads((tmp_path / "map/map.json").read_text()) == found


def kill_the_first(task, killed):
    """Kills the first process that runs a task."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            title = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::" + task) and not killed:
            os.kill(int(entry.name), signal.SIGKILL)
            killed.append(entry.name)
            return
    if not killed:
        threading.Timer(0.02, kill_the_first, (task, killed)).start()


def test_a_killed_task_repeats_its_part(cluster, tmp_path):
    """Parts are Ray's tasks: one that is lost runs again, and what it adds is the same."""
    longer = {**LOOP, "runs": 12}
    compared = dropcast.simulate(experiment=longer, progress=False)
    killed = []
    kill_the_first(b"_simulate", killed)
    made = dropcast.ray.experiment(longer, parts=2, progress=False)
    assert killed and made.summary == compared.summary


def test_refined_models_are_those_of_one_machine(cluster, files, tmp_path):
    given = dict(experiment=LOOP, runs=5, rounds=1, labelled_runs=1, n_estimators=2)
    data = files / "leaf.parquet"
    here, rounds = dropcast.refine(data, output=tmp_path / "here", progress=False, **given)
    keep, shown, killed = tmp_path / "runs.jsonl", [], []
    kill_the_first(b"_simulate_share", killed)
    for name, parts in [("one", 1), ("many", None)]:
        keep.unlink(missing_ok=True)
        made, found = dropcast.ray.refine(
            data, output=tmp_path / name, keep=keep, parts=parts, progress=shown.append, **given
        )
        assert made.to_json() == here.to_json() and found == rounds
        for file in ["model.json", "rounds.json"]:
            assert (tmp_path / name / file).read_bytes() == (tmp_path / "here" / file).read_bytes()
    assert killed and any(line.startswith("refine: 1 of 1 parts") for line in shown)
    # One that was stopped goes on, and each run was simulated once: nobody is asked for more.
    kept, shown = keep.read_bytes(), []
    lines = kept.splitlines()
    assert len(set(lines)) == len(lines) > 10
    dropcast.ray.refine(data, keep=keep, progress=shown.append, **given)
    assert keep.read_bytes() == kept and not shown
    keep.write_bytes(b"\n".join(lines[:-2]) + b"\n")
    made, _ = dropcast.ray.refine(data, keep=keep, progress=shown.append, **given)
    assert made.to_json() == here.to_json() and shown[-1] == "refine: 2 of 2 parts, 2 runs"
    assert sorted(keep.read_bytes().splitlines()) == sorted(lines)


def test_what_is_wrong_with_a_search_is_raised(cluster, files, monkeypatch):
    with pytest.raises(dropcast.InputError, match="neither a model nor data"):
        dropcast.ray.refine(experiment=LOOP, runs=5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'vote'"):
        dropcast.ray.refine(files / "leaf.parquet", vote="f1")

    # What the driver's own function raises comes out as it is.
    def raised(*_):
        raise KeyError("no cluster")

    monkeypatch.setattr(dropcast.ray._simulate_share, "remote", raised)
    with pytest.raises(KeyError, match="no cluster"):
        dropcast.ray.refine(files / "leaf.parquet", experiment=LOOP, runs=5, rounds=0, progress=False)


def test_what_is_wrong_is_raised(files):
    with pytest.raises(ValueError, match="max_depth"):
        Training([summarize(files / "leaf.parquet")], max_depth=99)
    with pytest.raises(ValueError, match="unknown field `max_dept`"):
        settings = settings_json(max_dept=3)
        assert settings == '{"max_dept": 3}'
        summarize(files / "leaf.parquet", max_dept=3)
    training = Training([summarize(files / "leaf.parquet")])
    with pytest.raises(ValueError, match="is damaged"):
        merge_answers([b"nonsense"])
    [spec] = training.partitions(1)
    with pytest.raises(ValueError, match="a question .* is damaged"):
        open_partition(spec).answer(b"")


def test_partitions_serve_without_ray(files, expected):
    training = Training([summarize(files / name) for name in BOTH])
    assert train_here(training, threads=2) == expected(BOTH)


def test_the_example_for_dask_gives_the_bytes_of_the_command(files, expected):
    example = pathlib.Path(__file__).parents[1] / "examples/dask_train.py"
    paths = [str(files / name) for name in BOTH]
    ran = subprocess.run(
        [sys.executable, example, *paths], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == expected(BOTH).strip()


# The last test on this cluster: it takes one of the nodes.
def test_a_killed_node_changes_nothing(cluster, files, expected):
    killed = []

    def kill(line):
        if "grow level 2" in line and not killed:
            killed.append(cluster.second)
            cluster.remove_node(cluster.second, allow_graceful=False)

    trained = dropcast.ray.train([files / name for name in BOTH], workers=2, progress=kill)
    assert killed
    assert trained.model_json == expected(BOTH)
    assert len({worker["node"] for worker in trained.workers}) == 1
