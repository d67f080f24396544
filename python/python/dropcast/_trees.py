"""Trees of a forest as arrays, as scikit-learn has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

#: What scikit-learn has for the children, and for the split, of a leaf.
_NO_CHILD, _NO_SPLIT = -1, -2


@dataclass(frozen=True)
class TreeArrays:
    """The nodes of a tree, parents before children; node 0 is the root (``tree_`` of scikit-learn's trees)."""

    #: Node that a row goes to whose ``X[feature] <= threshold``; -1 at leaves.
    children_left: npt.NDArray[np.int64]
    #: Node that the others go to.
    children_right: npt.NDArray[np.int64]
    #: Number of the column; -2 at leaves.
    feature: npt.NDArray[np.int64]
    #: -2 at leaves.
    threshold: npt.NDArray[np.float64]
    #: Shares of both classes by node, of shape ``(node_count, 1, 2)``: NaN but at leaves.
    value: npt.NDArray[np.float64]

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.feature)

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """The leaf of each row."""
        X = np.asarray(X)
        at = np.zeros(len(X), dtype=np.int64)
        while (inner := self.feature[at] >= 0).any():
            rows, nodes = np.flatnonzero(inner), at[inner]
            is_left = X[rows, self.feature[nodes]] <= self.threshold[nodes]
            at[rows] = np.where(is_left, self.children_left[nodes], self.children_right[nodes])
        return at


@dataclass(frozen=True)
class DropcastTree:
    """A tree of a :class:`~dropcast.sklearn.DropcastClassifier`."""

    #: Its nodes.
    tree_: TreeArrays

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """The leaf of each row."""
        return self.tree_.apply(X)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The shares of both classes in the leaf of each row."""
        return self.tree_.value[self.apply(X), 0]


def of_nodes(
    nodes: list[dict[str, dict[str, int]]], shares: list[float], threshold: Any
) -> DropcastTree:
    """The tree of nodes as in a ``model.json``, but a leaf's weight is its place in ``shares``, which has shares of drops;
    ``threshold`` makes the threshold of ``X`` of that of the model."""
    arrays = TreeArrays(
        children_left=np.full(len(nodes), _NO_CHILD),
        children_right=np.full(len(nodes), _NO_CHILD),
        feature=np.full(len(nodes), _NO_SPLIT),
        threshold=np.full(len(nodes), float(_NO_SPLIT)),
        value=np.full((len(nodes), 1, 2), np.nan),
    )
    for at, node in enumerate(nodes):
        if leaf := node.get("leaf"):
            share = shares[leaf["weight"]]
            arrays.value[at, 0] = 1.0 - share, share
            continue
        split = node["split"]
        arrays.children_left[at], arrays.children_right[at] = split["left"], split["right"]
        arrays.feature[at], arrays.threshold[at] = split["feature"], threshold(split["threshold"])
    return DropcastTree(arrays)
