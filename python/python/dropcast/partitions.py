"""Training on rows in many places, by whatever moves bytes between them.

A :class:`Training` asks every :class:`Partition` the same question, takes the sum of their answers
and asks the next, until the forest is grown. Questions and answers are bytes, and
:func:`merge_answers` adds answers up: in any order, in any tree, with the same result. A partition
that is begun anew answers the same, so an engine's own retries are enough. The model is that of
``dropcast train`` on the same files, byte for byte, for any number of partitions.

:mod:`dropcast.ray` runs this on Ray. For another engine::

    training = Training(data=[summarize("a.parquet")])
    specs = training.partitions(4)
    while (question := training.question()) is not None:
        answers = engine.map(lambda spec: open_partition(spec).answer(question), specs)
        training.tell(merge_answers(answers))
    while tasks := training.replays(4):
        training.tell_replayed(merge_replays(engine.map(replay, tasks)))
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dropcast import _dropcast
from dropcast._dropcast import Partition, merge_answers, merge_replays, replay
from dropcast._settings import settings_names

if TYPE_CHECKING:
    # Type checkers know it; Python does not need it here.
    from typing_extensions import Unpack

    from dropcast.named_settings import SplitForestSettings

__all__ = [
    "Partition",
    "Training",
    "merge_answers",
    "merge_replays",
    "open_partition",
    "replay",
    "settings_json",
    "summarize",
    "train",
]

def settings_json(**settings: Unpack[SplitForestSettings]) -> str:
    """The text of settings named as the options of ``dropcast train``.

    ``n_estimators=9, split="time-blocks", validation_share=0.1, features="paper4"``
    """
    given: dict[str, Any] = {**settings}
    # Those of the split have a place of their own.
    names = [name for name in settings_names()["split"] if name in given]
    split = {"by" if name == "split" else name: given.pop(name) for name in names}
    if split:
        given["split"] = split
    for name in ("features", "max_features"):
        if name in given and not isinstance(given[name], str):
            value = given[name]
            given[name] = ",".join(value) if isinstance(value, Sequence) else str(value)
    return json.dumps({name: value for name, value in given.items() if value is not None})


def summarize(path: str | os.PathLike[str], **settings: Unpack[SplitForestSettings]) -> str:
    """What a training needs to know of a trace file: its footer and the hash of its content."""
    return _dropcast.summarize_trace(os.fspath(path), settings_json(**settings))


class Training:
    """A training of a forest on partitions of labelled traces.

    ``data``, ``validation`` and ``test`` are summaries of traces (:func:`summarize`), by what they
    are for; ``settings`` are named as the options of ``dropcast train``.
    """

    def __init__(
        self,
        data: Iterable[str],
        validation: Iterable[str] = (),
        test: Iterable[str] = (),
        *,
        seed: int = 1,
        **settings: Unpack[SplitForestSettings],
    ) -> None:
        roles = list(data), list(validation), list(test)
        self._training = _dropcast.Training(*roles, settings_json(**settings), seed)

    def partitions(self, count: int) -> list[str]:
        """What each of at most ``count`` partitions begins with: :func:`open_partition` opens it."""
        return [spec for _, spec in self._training.partitions(count)]

    def question(self) -> bytes | None:
        """The next question to every partition; ``None`` once all are answered."""
        return self._training.question()

    def tell(self, answer: bytes) -> None:
        """Takes the merged answer of all partitions to the question."""
        self._training.tell(answer)

    def replays(self, count: int) -> list[str]:
        """About ``count`` tasks for :func:`replay`, once there are no more questions.

        They choose the vote threshold. Once these are answered, there may be more; none if the vote rule
        needs no more.
        """
        return self._training.replays(count)

    def tell_replayed(self, total: str) -> None:
        """Takes what all replays transmitted, as :func:`merge_replays` sums it up."""
        self._training.tell_replayed(total)

    @property
    def stage(self) -> str:
        """What is being done, in a few words."""
        return self._training.stage

    @property
    def model_json(self) -> str | None:
        """The text of ``model.json``; ``None`` while there is something to ask or to replay."""
        return self._training.model_json()


def open_partition(
    spec: str, *, threads: int = 1, memory_limit: int | None = None, scratch: str = "."
) -> Partition:
    """The partition of a specification.

    It keeps about ``memory_limit`` MiB of binned rows in memory; the others go to a file without a
    name in the folder ``scratch``.
    """
    return Partition(spec, threads, memory_limit, scratch)


def train(training: Training, *, threads: int = 1) -> str:
    """Trains here, in one partition; returns the text of ``model.json``."""
    partitions = [open_partition(spec, threads=threads) for spec in training.partitions(1)]
    while (question := training.question()) is not None:
        answers = [partition.answer(question) for partition in partitions]
        training.tell(merge_answers(answers))
    while replays := training.replays(1):
        training.tell_replayed(merge_replays([replay(task, threads) for task in replays]))
    model = training.model_json
    assert model is not None, "a training without questions is done"
    return model
