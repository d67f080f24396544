"""URLs of objects take the place of files, against a server that speaks S3 on this machine."""

import subprocess
import sys

import pytest
from needs import needed

import dropcast

SWITCH = """ports = 2
line_rate_bps = 10_000_000_000
buffer_bytes = 60_000
base_rtt_ns = 32_000
"""


@pytest.fixture(scope="module")
def made(store, tmp_path_factory):
    """The same files in a folder and in the bucket: events, a trace, a model."""
    folder = tmp_path_factory.mktemp("made")
    for to in (f"{folder}/", "s3://bucket/made/"):
        events = dropcast.simulate(seed=7, duration_ms=60, output=f"{to}events.parquet")
        trace = dropcast.collect(events, output=f"{to}trace.parquet")
        assert trace.path == trace.name == f"{to}trace.parquet"
        dropcast.train(trace.path, output=f"{to}model.json")
    return folder


@pytest.mark.parametrize("name", ["events.parquet", "trace.parquet", "model.json"])
def test_what_is_written_has_the_bytes_of_a_file(store, made, name):
    assert store.get(f"made/{name}") == (made / name).read_bytes()


def test_what_is_read_is_what_a_file_gives(store, made):
    def results(of):
        trace = dropcast.Trace(f"{of}/trace.parquet")
        model = dropcast.Model.load(f"{of}/model.json")
        return {
            "rows": needed("pyarrow").table(trace).to_pylist(),
            "sha256": trace.sha256,
            "scores": model.scores(f"{of}/trace.parquet").tolist(),
            "report": str(dropcast.report(f"{of}/trace.parquet", model=f"{of}/model.json")),
            "inspected": str(dropcast.inspect(f"{of}/trace.parquet")),
            "checked": dropcast.inspect(f"{of}/events.parquet", check=True),
            "swept": dropcast.sweep(
                {"data": f"{of}/trace.parquet", "axes": {"trees": [1, 2], "max_depth": [2]}}
            ).rows,
        }

    assert results("s3://bucket/made") == results(made)


def test_reports_models_and_imports_are_objects(store, made, tmp_path):
    model = dropcast.Model.load("s3://bucket/made/model.json")
    model.save("s3://bucket/again.json")
    assert store.get("again.json") == (made / "model.json").read_bytes()
    dropcast.report(made / "trace.parquet", model=model, output="s3://bucket/report.html")
    assert store.get("report.html").startswith(b"<!DOCTYPE html>")
    store.put("forest.txt", b"booster[0]:\n0:[queue_length<10] yes=1,no=2\n\t1:leaf=-0.25\n\t2:leaf=0.500000119\n")
    settings = dict(features="queue_length", threshold=0)
    assert dropcast.import_forest("s3://bucket/forest.txt", **settings).n_trees == 1
    store.put("leaf.toml", SWITCH.encode())
    store.put("log.csv", b"ts,port,size_bytes\n1,0,1000\n2,1,1000\n")
    trace = dropcast.collect(
        "s3://bucket/log.csv", switch="s3://bucket/leaf.toml", column={"time_ns": "ts"}
    )
    assert trace.collected["rows"] == 2


def test_folders_are_jobs(store, made, tmp_path):
    store.put("in/run=1/events.parquet", (made / "events.parquet").read_bytes())
    (tmp_path / "in/run=1").mkdir(parents=True)
    (tmp_path / "in/run=1/events.parquet").write_bytes((made / "events.parquet").read_bytes())
    here = dropcast.collect(tmp_path / "in", output=tmp_path / "out")
    for labelled in (1, 0):
        there = dropcast.collect("s3://bucket/in/", output="s3://bucket/out")
        assert there.collected["labelled"] == labelled
    assert store.get("out/manifest.json") == (tmp_path / "out/manifest.json").read_bytes()
    assert [trace.path.split("/out/")[1] for trace in there.traces] == [
        trace.path.split("/out/")[1] for trace in here.traces
    ]
    assert dropcast.train(there).to_json() == dropcast.train(here).to_json()


ABSENT = "s3://bucket/absent.parquet", "s3://nowhere/absent.parquet"


@pytest.mark.parametrize("keys", ["good", "bad"])
@pytest.mark.parametrize(
    ("call", "typed"),
    [
        *[(lambda url=url: dropcast.inspect(url), f"inspect {url}") for url in ABSENT],
        *[(lambda url=url: dropcast.report(url), f"report --data {url}") for url in ABSENT],
        (lambda: dropcast.Model.load(ABSENT[1]), f"resources {ABSENT[1]}"),
        (lambda: dropcast.report("s3://nowhere/x/"), "report --data s3://nowhere/x/"),
        (
            lambda: dropcast.simulate(duration_ms=1, output="s3://nowhere/x.parquet"),
            "simulate --duration-ms 1 -o s3://nowhere/x.parquet",
        ),
        (
            lambda: dropcast.sweep("s3://bucket/absent.toml"),
            "sweep s3://bucket/absent.toml",
        ),
    ],
    ids=str,
)
def test_errors_have_the_words_of_the_command(store, keys, call, typed):
    with store.refusing_keys(keys == "bad"):
        with pytest.raises(dropcast.InputError) as error:
            call()
        said = subprocess.run(
            [sys.executable, "-m", "dropcast", *typed.split()], capture_output=True, text=True
        )
    assert said.returncode == 1
    assert f"error: {error.value}" == said.stderr.strip()
    assert "s3://" in said.stderr and "docs/objects.md" in said.stderr
    reason = "InvalidAccessKeyId" if keys == "bad" else "NoSuch"
    assert reason in said.stderr


@pytest.mark.parametrize(
    "call",
    [
        lambda made: dropcast.export(made / "model.json", "c", "s3://bucket/tables"),
        lambda made: dropcast.sweep(
            {"data": str(made / "trace.parquet")}, output="s3://bucket/sweep"
        ),
        lambda made: dropcast.run(events=made / "events.parquet", runs="s3://bucket/runs"),
    ],
    ids=["export", "sweep", "run"],
)
def test_folders_that_appear_at_once_are_of_disks(made, call):
    with pytest.raises(dropcast.InputError, match="s3://bucket.*is of an object store"):
        call(made)


def test_an_input_is_not_replaced(store, made):
    url = "s3://bucket/made/events.parquet"
    with pytest.raises(dropcast.InputError, match="would replace the input"):
        dropcast.collect(url, output=url)
    assert store.get("made/events.parquet") == (made / "events.parquet").read_bytes()
