"""The settings that functions take beside their own arguments, by name, for type checkers.

They are the command's options; ``help(dropcast.train)`` says what each does. Tests compare the names with those
that the compiled part accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypedDict

__all__ = [
    "CollectSettings",
    "ForestSettings",
    "LabelSettings",
    "RefineSettings",
    "ReproduceSettings",
    "SplitForestSettings",
    "TrainSettings",
]

#: Names, or a text with commas between them.
Names = str | Iterable[str]
#: Numbers, or a text with commas between them.
Numbers = str | int | Iterable[int]


class LabelSettings(TypedDict, total=False):
    """How arrivals are labelled."""

    departures: str
    victim: str
    strict_fit: bool
    expert: str
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
    max_bins: int
    no_bootstrap: bool
    max_samples: float | None
    monotone: str
    budget: str | Mapping[str, int] | None
    refit_leaves: float | None


class SplitForestSettings(ForestSettings, total=False):
    """How forests are trained on rows that are divided, and the vote threshold is chosen."""

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

    own: Names
    seed: int


class RefineSettings(ForestSettings, total=False):
    """Further settings of :func:`dropcast.refine`."""

    runs: int | None
    objective: str
    decision: str
    rounds: int
    labelled_runs: int
    seed: int


class ReproduceSettings(TypedDict, total=False):
    """Further settings of :func:`dropcast.reproduce`."""

    ports: int
    buffer: int
    bursts_per_slot: float
    bursts_at_once: bool
    slow_start: bool
    slots: int
    repetitions: int
    data: object
    scale: Literal["small", "paper"]
    runs: int | None
    duration_ms: int | None
    seed: int
