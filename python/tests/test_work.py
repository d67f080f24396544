"""Long work: other threads go on, Ctrl-C stops it, progress is shown."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import dropcast
from dropcast._progress import Bar


def test_other_threads_go_on(trace):
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    dropcast.train(trace, n_estimators=64, max_depth=8)
    ended = time.monotonic()
    done.set()
    thread.join()
    within = [at for at in ticks if began < at < ended]
    # If the interpreter were held, none.
    assert len(within) > 20 * (ended - began)


def test_an_interrupt_stops_it(tmp_path):
    path = tmp_path / "events.parquet"
    program = textwrap.dedent(
        f"""
        import dropcast
        print("begun", flush=True)
        try:
            dropcast.simulate(seed=1, duration_ms=10_000_000, output={str(path)!r})
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(1)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "interrupted\n"
    assert time.monotonic() - began < 10
    # Nothing is left behind.
    assert process.returncode == 0 and os.listdir(tmp_path) == []


def test_progress_is_shown(monkeypatch, events):
    calls = []
    monkeypatch.setattr(Bar, "update", lambda self, stage, rows, steps: calls.append((stage, rows)))
    monkeypatch.setattr(Bar, "end", lambda self, done: calls.append((done, None)))
    trace = dropcast.collect(events)
    rows = trace.collected["rows"]
    assert ("collect", rows) in calls
    assert any(str(done).startswith(f"{rows} rows, ") for done, _ in calls)


def test_a_bar_of_tqdm(events, capsys):
    from dropcast import _progress

    bar = Bar(True)
    assert bar._tqdm is not None
    bar.update("train", 1000, None)
    bar.update("train", 2000, (1, 2))
    bar.end("done")
    bar.close()
    assert _progress._tqdm() is not None
