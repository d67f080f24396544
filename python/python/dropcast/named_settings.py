"""The settings that functions take besides their own arguments, by name, for type checkers.

They are the command's options; ``help(dropcast.train)`` says what each does. This file is written by
``UPDATE_GOLDEN=1 python -m pytest tests/test_package.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, Union

#: Names, or a text with commas between them.
Names = Union[str, Iterable[str]]
#: Numbers, or a text with commas between them.
Numbers = Union[str, int, Iterable[int]]


class LabelSettings(TypedDict, total=False):
    """How arrivals are labelled."""

    departures: str
    victim: str
    strict_fit: bool
    label: str
    flows: bool
    features: Names


class CollectSettings(LabelSettings, total=False):
    """Further settings of :func:`dropcast.collect`."""

    own: Names


class ForestSettings(TypedDict, total=False):
    """How forests are trained."""

    trainer: Literal["dropcast", "linfa", "smartcore"]
    n_estimators: int
    max_depth: int
    features: Names
    max_features: str | int
    min_samples_leaf: int
    min_samples_split: int
    criterion: str
    class_weight: str
    monotone: str
    max_bins: int
    no_bootstrap: bool
    max_samples: float | None
    budget: str | Mapping[str, int] | None
    refit_leaves: float | None


class SplitForestSettings(ForestSettings, total=False):
    """The same, and how rows are divided and vote thresholds chosen."""

    seeds: int
    vote: str | None
    split: Literal["auto", "time", "time-blocks", "episodes", "random", "switches", "none"]
    train_share: float | None
    validation_share: float | None
    guard_ns: int
    test_switches: Numbers | None
    validation_switches: Numbers | None


class TrainSettings(SplitForestSettings, total=False):
    """Further settings of :func:`dropcast.train`."""

    seed: int
    own: Names


class ClassifierSettings(TypedDict, total=False):
    """Settings of :class:`dropcast.sklearn.DropcastClassifier`."""

    max_depth: int
    features: Any
    max_features: str | int | None
    min_samples_leaf: int
    min_samples_split: int
    criterion: str
    class_weight: str | dict[Any, float] | None
    max_bins: int
    bootstrap: bool
    max_samples: float | None
    vote: str | None
    random_state: Any
    n_jobs: int | None


class RefineSettings(ForestSettings, total=False):
    """Further settings of :func:`dropcast.refine`."""

    runs: int | None
    objective: str
    rounds: int
    labelled_runs: int
    seed: int


class ReproduceSettings(TypedDict, total=False):
    """Further settings of :func:`dropcast.reproduce`."""

    ports: int
    buffer: int
    bursts_per_slot: float
    bursts_at_once: bool
    slots: int
    repetitions: int
    data: object
    scale: Literal["small", "paper"]
    runs: int | None
    duration_ms: int | None
    seed: int
    slow_start: bool
