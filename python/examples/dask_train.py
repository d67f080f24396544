"""Trains a forest on Dask: `python dask_train.py TRACE... > model.json`.

`dropcast.partitions` says what to ask and how to add up answers; Dask only has to carry bytes. The model
is that of `dropcast train` on the same traces, byte for byte. Rows stay in the worker that read them;
should Dask run a question elsewhere, because a worker was lost, they are read again there.
"""

import sys

from dask.distributed import Client, LocalCluster, get_worker

from dropcast.partitions import (
    Training,
    merge_answers,
    merge_replays,
    open_partition,
    replay,
    summarize,
)

FAN_IN = 16


def answer(spec, question):
    """A partition's answer. Workers have one thread: a partition answers one question at a time."""
    partitions = get_worker().__dict__.setdefault("dropcast_partitions", {})
    if spec not in partitions:
        partitions[spec] = open_partition(spec)
    return partitions[spec].answer(question)


def merged(client, merge, parts):
    """The sum of parts, added up in a tree."""
    while len(parts) > 1:
        groups = [parts[at : at + FAN_IN] for at in range(0, len(parts), FAN_IN)]
        parts = [client.submit(merge, group, pure=False) for group in groups]
    return parts[0].result()


def train(client, paths, **settings):
    workers = list(client.scheduler_info()["workers"])
    summaries = client.gather(client.map(summarize, paths, **settings))
    training = Training(summaries, **settings)
    specs = training.partitions(len(workers))
    while (question := training.question()) is not None:
        [asked] = client.scatter([question], broadcast=True, hash=False)
        homes = [workers[nth % len(workers)] for nth in range(len(specs))]
        answers = [
            client.submit(answer, spec, asked, workers=home, allow_other_workers=True, pure=False)
            for spec, home in zip(specs, homes, strict=True)
        ]
        training.tell(merged(client, merge_answers, answers))
    while replays := training.replays(len(workers)):
        sent = [client.submit(replay, task, 1, pure=False) for task in replays]
        training.tell_replayed(merged(client, merge_replays, sent))
    return training.model_json


if __name__ == "__main__":
    local = LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    )
    with local, Client(local) as client:
        print(train(client, sys.argv[1:]), end="")
