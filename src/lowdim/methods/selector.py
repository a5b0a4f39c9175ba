"""Base class of methods that choose columns and leave their values as they are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin

from lowdim.data import validation
from lowdim.methods.base import Reducer, applying
from lowdim.persist import fields


class FeatureSelector(SelectorMixin, Reducer):
    """A method whose ``fit`` sets ``support_`` and ``n_features_to_select_``."""

    _sparse = True
    _keeps_values = True
    _no_onnx = None
    support_: NDArray[np.bool_]
    n_features_to_select_: int

    def _state(self) -> dict[str, fields.Field]:
        return {"support_": fields.array("d", kind="b"), "n_features_to_select_": fields.count(low=1, most="d")}

    def _outline(self, method: str, dtype: np.dtype) -> tuple[int | None, Any]:
        return super()._outline(method, dtype)[0], dtype

    @applying
    def transform(self, X: Any) -> Any:
        """Columns of ``X`` that were chosen.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array or sparse matrix (n_samples, n_features_to_select_)
            The chosen columns.
        """
        X = self._take(X, reset=False, sparse=self._sparse)
        return X[:, np.flatnonzero(self.support_)]

    @applying
    def inverse_transform(self, X: Any) -> Any:
        """Rows of all features, with zeros for those that were not chosen.

        Parameters
        ----------
        X : of shape (n_samples, n_features_to_select_)
            The chosen columns.

        Returns
        -------
        array or sparse matrix (n_samples, n_features)
            The same columns in their original positions.
        """
        X = validation.rows(X, self._name, sparse=True)
        with validation.advising():
            return super().inverse_transform(X)

    def _onnx(self, graph: Any, X: str, method: str) -> str:
        chosen = np.flatnonzero(self.support_)
        if method == "transform":
            return str(graph.node("Gather", X, graph.constant(chosen.astype(np.int64)), axis=1))
        return str(graph.affine(X, np.eye(len(self.support_))[chosen]))

    def _check_state(self) -> None:
        super()._check_state()
        if (count := self.support_.sum()) != self.n_features_to_select_:
            raise ValueError(f"support_ holds {count} features; n_features_to_select_ is {self.n_features_to_select_}")

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.support_
