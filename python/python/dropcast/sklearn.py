"""dropcast's trainer as a classifier of scikit-learn."""

from __future__ import annotations

import json
from inspect import Parameter, Signature
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from dropcast import _dropcast
from dropcast._progress import Bar
from dropcast._settings import as_arguments, default, refuse_none, settings_names
from dropcast._trees import DropcastTree, of_nodes
from dropcast.errors import InputError
from dropcast.models import Model

if TYPE_CHECKING:
    # Type checkers know it; Python does not need it here.
    from typing_extensions import Unpack

    from dropcast.named_settings import ClassifierSettings

#: Checks of ``check_estimator`` that are known to fail, and why.
EXPECTED_FAILED_CHECKS = {
    "check_class_weight_classifiers": (
        "it weighs one class 10,000,000 times the other and lets forests bound the weight of a leaf "
        "(min_weight_fraction_leaf), which ours bound by rows (min_samples_leaf)"
    ),
    "check_sample_weight_equivalence_on_dense_data": (
        "it shuffles the weighted rows, and which rows a bootstrap draws depends on their order; it passes with bootstrap=False"
    ),
}

_MOST = 2**32 - 1

#: What lists of features put before the name of a column that is no feature of dropcast's.
_OWN = "own:"


#: How the command trains a forest, but for what keeps no shares of leaves or is no forest of the given size.
_SETTINGS = [
    name
    for name in settings_names()["train"]
    if name not in {"trainer", "monotone", "seeds", "budget", "refit_leaves", *settings_names()["split"]}
]
#: scikit-learn's names of them.
_RENAMED = {"no_bootstrap": "bootstrap", "seed": "random_state"}
#: Defaults that are not the command's: scikit-learn's, and those of rows without names and validation.
_DEFAULTS = {"bootstrap": True, "class_weight": None, "features": None, "vote": "fixed:0.5"}


def _signature() -> Signature:
    """What the classifier is made with: the command's settings."""
    defaults = {_RENAMED.get(name, name): default("train", name) for name in _SETTINGS}
    defaults |= {**_DEFAULTS, "n_jobs": None}
    first = {"n_estimators": Parameter.POSITIONAL_OR_KEYWORD}
    parameters = [
        Parameter(name, first.get(name, Parameter.KEYWORD_ONLY), default=value)
        for name, value in defaults.items()
    ]
    return Signature([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *parameters])


class DropcastClassifier(ClassifierMixin, BaseEstimator):
    """A forest of shallow integer trees, trained by dropcast (docs/training.md).

    Parameters are the command's, with its defaults, and scikit-learn's names where it has them
    (``bootstrap``, ``random_state``, ``n_jobs``). The trees decide on integers of 32 bits. Columns
    of other numbers are decided on as scikit-learn's trees do, as 32-bit floats: those keep their
    order when their bits are read as integers, so nothing is lost; but such a model has no place in a
    switch, and :meth:`to_model` refuses it.

    ``features`` names the columns: then, or if it is fitted on a frame with names of dropcast's
    features, :meth:`to_model` gives the model.

    After :meth:`fit`, ``feature_importances_`` has by column how much its splits lower the Gini impurity of the rows that
    trained, as a share of that of all columns.

    ``vote``: the rule that chooses the vote threshold, on the training rows. By default a drop is
    predicted where it is more likely than none; ``f1`` finds more of few drops.
    """

    def __init__(
        self, n_estimators: int = default("train", "n_estimators"), **settings: Unpack[ClassifierSettings]
    ) -> None:
        bound = self._SIGNATURE.bind(self, n_estimators, **settings)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    # scikit-learn takes the names of parameters from it.
    _SIGNATURE = __init__.__signature__ = _signature()  # type: ignore[attr-defined]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DropcastClassifier:
        """Trains on rows ``X`` with two classes ``y``; the second is the drop.

        ``sample_weight``: how often each row counts, whole numbers: the model is the one of rows that are there as often, to
        the byte. Such rows take memory as often.
        """
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        if sample_weight is not None:
            counts = _counts(sample_weight, X)
            X, y = np.repeat(X, counts, axis=0), np.repeat(y, counts)
        self.classes_, drop = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            kind = type_of_target(y, input_name="y", raise_unknown=True)
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        if len(self.classes_) < 2:
            raise ValueError(f"y: has one class, {self.classes_[0]!r}; expected two")
        names, self._is_named = self._names(X.shape[1])
        self._is_whole = _is_whole(X)
        columns, dropped = self._columns(X), drop.astype(bool)
        plain = [name.removeprefix(_OWN) for name in names]
        trace = _dropcast.Trace.of_columns("X", plain, columns, dropped)
        roles = {
            "data": [trace],
            "validation": [],
            "test": [],
            "threads": self._threads(),
            "memory_limit": None,
            "beside": None,
        }
        settings = self._settings(names)
        parameters = self._SIGNATURE.parameters.values()
        refuse_none(settings, {of.name: of.default for of in parameters if of.default is not None})
        made, _, _, shares = _dropcast.train(Bar(False), roles, as_arguments(settings), False)
        self._model = Model(made)
        # Known of every forest that is ours and within no budget.
        self._leaf_shares: Any = shares
        self.feature_importances_ = self._model._model.gini_shares(columns, dropped)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row, as the model decides: on shares in 255ths."""
        check_is_fitted(self)
        scores = self._model._model.score_columns(self._validated(X), self._threads())
        return self.classes_[(scores > self._model.vote_threshold).astype(np.intp)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The mean over the trees of the share of each class in the row's leaf, among the rows that the tree drew."""
        check_is_fitted(self)
        share = self._model._model.mean_shares(
            self._leaf_shares, self._validated(X), self._threads()
        )
        return np.column_stack([1.0 - share, share])

    @property
    def estimators_(self) -> list[DropcastTree]:
        """The trees, with ``tree_`` as scikit-learn has it: ``children_left``, ``children_right``, ``feature``, ``threshold``, ``value``.

        The mean of their ``predict_proba`` is the forest's, on whole numbers or, if it was fitted on others, on 32-bit floats.
        """
        check_is_fitted(self)
        threshold = float if self._is_whole else _of_ordered_bits
        trees = json.loads(self._leaf_shares.to_json())
        return [of_nodes(of["tree"]["nodes"], of["shares"], threshold) for of in trees]

    def to_model(self) -> Model:
        """The model, as :func:`dropcast.train` gives it."""
        check_is_fitted(self)
        if not self._is_named:
            raise InputError(
                "features: which features the columns are is not known; set features, or fit on a "
                "frame with their names"
            )
        if not self._is_whole:
            raise InputError("X: was fitted on numbers that are no 32-bit integers")
        return self._model

    def _names(self, columns: int) -> tuple[list[str], bool]:
        """Names of features for the columns, and whether they are theirs."""
        if self.features is not None:
            text = self.features if isinstance(self.features, str) else ",".join(self.features)
            names = _dropcast.features(text)
            if len(names) != columns:
                raise InputError(f"features: are {len(names)}, but X has {columns} columns")
            return names, True
        known = _dropcast.features(None)
        named = list(getattr(self, "feature_names_in_", ()))
        if named and all(name in known for name in named):
            return named, True
        more = [f"{_OWN}column_{place}" for place in range(len(known), columns)]
        return known[:columns] + more, False

    def _settings(self, names: list[str]) -> dict[str, Any]:
        weight = self.class_weight
        if isinstance(weight, dict):
            pair = [weight.get(label, 1.0) for label in self.classes_.tolist()]
            weight = f"{pair[0]}:{pair[1]}"
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        given = {name: getattr(self, _RENAMED.get(name, name)) for name in _SETTINGS}
        return {
            **given,
            "max_features": "all" if self.max_features is None else self.max_features,
            "class_weight": "none" if weight is None else weight,
            "no_bootstrap": not self.bootstrap,
            "seeds": 1,
            "features": names,
            # Columns without names borrow those of features, of which some rise.
            "monotone": "auto" if self._is_named else "off",
            "seed": int(seed),
            "split": "none",
        }

    def _threads(self) -> int | None:
        return None if self.n_jobs is None or self.n_jobs < 1 else self.n_jobs

    def _validated(self, X: Any) -> list[np.ndarray]:
        return self._columns(validate_data(self, X, reset=False))

    def _columns(self, X: np.ndarray) -> list[np.ndarray]:
        """The columns as integers, in the order of their numbers."""
        make = _whole if self._is_whole else _ordered_bits
        return [make(X[:, place]) for place in range(X.shape[1])]


def _counts(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    """How often each row counts."""
    weights = _check_sample_weight(sample_weight, X)
    if (weights < 0).any() or (weights != np.floor(weights)).any():
        bad = weights[(weights < 0) | (weights != np.floor(weights))][0]
        raise InputError(
            f"sample_weight: {bad} is no whole number from 0 on; weights say how often a row counts, so scale them to whole numbers"
        )
    return weights.astype(np.intp)


def _is_whole(X: np.ndarray) -> bool:
    """Whether all values are integers of 32 bits."""
    if X.size == 0 or X.dtype == np.bool_:
        return True
    if X.min() < 0 or X.max() > _MOST:
        return False
    return bool(np.issubdtype(X.dtype, np.integer) or np.all(X == np.floor(X)))


def _whole(column: np.ndarray) -> np.ndarray:
    """Integers that lie on the same side of every integer threshold as the numbers do."""
    if np.issubdtype(column.dtype, np.floating):
        column = np.floor(column)
    return np.ascontiguousarray(np.clip(column, 0, _MOST).astype(np.uint32))


def _ordered_bits(column: np.ndarray) -> np.ndarray:
    """32-bit floats as integers in the same order: IEEE 754's bits, with the sign turned."""
    # Adding 0 makes -0 and 0 one.
    bits = (np.asarray(column, dtype=np.float32) + np.float32(0)).view(np.uint32)
    turned = np.where(bits >> 31 == 1, ~bits, bits | np.uint32(1 << 31))
    return np.ascontiguousarray(turned.astype(np.uint32))


def _of_ordered_bits(threshold: int) -> float:
    """The 32-bit float that splits numbers as the threshold splits their :func:`_ordered_bits`."""
    # No number has the bits of -0.
    bits = threshold - (threshold == (1 << 31) - 1)
    turned = bits ^ (1 << 31) if bits >> 31 else bits ^ _MOST
    return float(np.uint32(turned).view(np.float32))
