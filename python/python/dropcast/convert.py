"""Forests that other libraries trained, as models that decide every row of integers alike."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dropcast import _dropcast
from dropcast._settings import as_text, described
from dropcast.errors import DropcastWarning, InputError
from dropcast.models import Model

# What scales each column by itself, and never changes the order of two values.
_MONOTONE = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
_FORESTS = ("RandomForestClassifier", "ExtraTreesClassifier")
_TREES = ("DecisionTreeClassifier", "ExtraTreeClassifier")


def from_sklearn(
    estimator: Any,
    *,
    features: str | Sequence[str] | None = None,
    switch: Any = None,
    allow_rounding: bool = False,
) -> Model:
    """A fitted forest or tree of scikit-learn, alone or in a Pipeline behind scalers.

    The scalers (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler) are folded into the
    thresholds: each becomes the largest integer that the pipeline sends left, found by bisection
    with the scalers' own ``transform``. Whole columns of 32-bit integers are decided as by the
    pipeline, proven (docs/trainers.md). Classes must be 0 and 1, or False and True.

    ``features`` names the columns, unless the estimator was fitted on a frame with these names.
    """
    scalers, forest = _taken_apart(estimator)
    name = type(forest).__name__
    if name in _FORESTS:
        trees = [of.tree_ for of in forest.estimators_]
    elif name in _TREES:
        trees = [forest.tree_]
    else:
        known = ", ".join((*_FORESTS, *_TREES))
        raise InputError(f"estimator: {name} is not imported, expected one of {known}")
    _check_classes(forest)
    columns = int(estimator.n_features_in_)
    bisect = _Bisection(scalers, columns)
    arrays = [_arrays(tree, bisect) for tree in trees]
    if features is None and hasattr(estimator, "feature_names_in_"):
        features = list(estimator.feature_names_in_)
    task = _task(name, features, switch, None, allow_rounding)
    return _imported(_dropcast.import_trees(arrays, columns, "scikit-learn", task))


def from_lightgbm(
    booster: Any,
    *,
    features: str | Sequence[str] | None = None,
    switch: Any = None,
    threshold: float | None = None,
    allow_rounding: bool = False,
) -> Model:
    """A LightGBM Booster, or an LGBMClassifier with two classes."""
    booster = getattr(booster, "booster_", booster)
    if not hasattr(booster, "model_to_string"):
        raise TypeError(f"a Booster or LGBMClassifier is expected, not {type(booster).__name__}")
    text = booster.model_to_string().encode()
    task = _task("booster", features, switch, threshold, allow_rounding)
    return _imported(_dropcast.import_bytes(text, "lightgbm", task))


def from_xgboost(
    booster: Any,
    *,
    features: str | Sequence[str] | None = None,
    switch: Any = None,
    threshold: float | None = None,
    allow_rounding: bool = False,
) -> Model:
    """An XGBoost Booster, or an XGBClassifier with two classes."""
    booster = booster.get_booster() if hasattr(booster, "get_booster") else booster
    if not hasattr(booster, "save_raw"):
        raise TypeError(f"a Booster or XGBClassifier is expected, not {type(booster).__name__}")
    text = bytes(booster.save_raw("json"))
    task = _task("booster", features, switch, threshold, allow_rounding)
    return _imported(_dropcast.import_bytes(text, "xgboost", task))


def import_forest(
    file: str | os.PathLike[str] | bytes,
    *,
    format: str | None = None,
    features: str | Sequence[str] | None = None,
    switch: Any = None,
    threshold: float | None = None,
    allow_rounding: bool = False,
) -> Model:
    """A forest in a file, or in the bytes of one: what ``dropcast import`` reads."""
    task = _task("bytes", features, switch, threshold, allow_rounding)
    if isinstance(file, bytes):
        return _imported(_dropcast.import_bytes(file, format, task))
    return _imported(_dropcast.import_file(os.fspath(file), format, task))


def _imported(imported: tuple[_dropcast.Model, str | None]) -> Model:
    """The model, with a warning where it predicts the same for every packet."""
    model, warning = imported
    if warning is not None:
        warnings.warn(f"{warning}; see threshold", DropcastWarning, stacklevel=3)
    return Model(model)


def _task(
    name: str,
    features: str | Sequence[str] | None,
    switch: Any,
    threshold: float | None,
    allow_rounding: bool,
) -> dict[str, Any]:
    return {
        "name": name,
        "features": None if features is None else as_text(features),
        "switch": described(switch),
        "threshold": threshold,
        "allow_rounding": allow_rounding,
    }


def _taken_apart(estimator: Any) -> tuple[list[Any], Any]:
    """The scalers, and what comes behind them."""
    if not hasattr(estimator, "steps"):
        return [], estimator
    *scalers, forest = [step for _, step in estimator.steps if step not in (None, "passthrough")]
    for scaler in scalers:
        if type(scaler).__name__ not in _MONOTONE:
            raise InputError(
                f"estimator: {type(scaler).__name__} is not folded into thresholds, expected "
                f"{', '.join(_MONOTONE)}"
            )
    return scalers, forest


def _check_classes(forest: Any) -> None:
    classes = np.asarray(getattr(forest, "classes_", ()))
    if getattr(forest, "n_outputs_", 1) != 1 or [str(of) for of in classes] not in (
        ["0", "1"],
        ["False", "True"],
    ):
        raise InputError(f"estimator: has classes {classes}, expected 0 (accept) and 1 (drop)")


class _Bisection:
    """Finds the largest integer that a split sends left, for whole columns at once."""

    def __init__(self, scalers: list[Any], columns: int) -> None:
        self.scalers, self.columns = scalers, columns

    def scaled(self, column: np.ndarray, values: np.ndarray) -> np.ndarray:
        """What a tree sees of integers in columns: scaled as 64-bit floats, rounded to 32."""
        rows = np.zeros((len(values), self.columns))
        rows[np.arange(len(values)), column] = values
        with warnings.catch_warnings():
            # Fitted on a frame, it misses the names of columns.
            warnings.simplefilter("ignore", UserWarning)
            for scaler in self.scalers:
                rows = scaler.transform(rows)
        return np.asarray(rows)[np.arange(len(values)), column].astype(np.float32)

    def largest_left(self, column: np.ndarray, threshold: np.ndarray) -> np.ndarray:
        """For each split; -1 where no integer goes left. Scaling and rounding never change the order
        of two integers, so those that go left are an initial segment of all."""
        if len(column) == 0:
            return np.zeros(0)
        # `left` goes left; nothing above `last` does.
        left = np.full(len(column), -1, dtype=np.int64)
        last = np.full(len(column), 2**32 - 1, dtype=np.int64)
        while np.any(left < last):
            middle = last - (last - left) // 2
            # Where it is found, the middle is `left`, perhaps -1: no integer.
            is_open = left < last
            goes = self.scaled(column, np.maximum(middle, 0)) <= threshold
            left = np.where(is_open & goes, middle, left)
            last = np.where(is_open & ~goes, middle - 1, last)
        return left.astype(np.float64)


def _arrays(tree: Any, bisect: _Bisection) -> tuple[list[Any], ...]:
    left, right = np.asarray(tree.children_left), np.asarray(tree.children_right)
    feature = np.asarray(tree.feature)
    value = np.asarray(tree.value)[:, 0, :]
    # Counts before scikit-learn 1.3, shares since.
    value = value / value.sum(axis=1, keepdims=True)
    margin = value[:, 1] - value[:, 0]
    threshold = np.full(len(left), -2.0)
    splits = left >= 0
    threshold[splits] = bisect.largest_left(feature[splits], tree.threshold[splits])
    # Missing values go where no integer does.
    return tuple(of.tolist() for of in (left, right, feature, threshold, margin))

