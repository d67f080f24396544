"""Traces that tests share."""

import os
import shutil

import pytest
from needs import needed
from store import Store

import dropcast


@pytest.fixture(scope="session")
def events():
    """The arrivals of a leaf switch, with bursts that LQD drops of."""
    return dropcast.simulate(seed=7, duration_ms=60)


@pytest.fixture(scope="session")
def trace(events):
    return dropcast.collect(events)


@pytest.fixture(scope="session")
def model(trace):
    return dropcast.train(trace)


@pytest.fixture(scope="session")
def trace_file(tmp_path_factory, events):
    path = tmp_path_factory.mktemp("files") / "trace.parquet"
    dropcast.collect(events, output=path)
    return path


@pytest.fixture(scope="session")
def store():
    """A server that speaks S3, with an empty bucket."""
    needed("moto.server")
    store = Store()
    yield store
    store.close()


@pytest.fixture(scope="session")
def command():
    """The command, built from the same sources; its path is in DROPCAST."""
    path = os.environ.get("DROPCAST") or shutil.which("dropcast")
    if path is None:
        assert not os.environ.get("CI"), "the command is missing: set DROPCAST to its path"
        pytest.skip("the command is not built")
    return path
