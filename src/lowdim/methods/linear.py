"""Base classes of linear methods: scores, their inverse, and the reconstruction error."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data import validation
from lowdim.methods import onnx_export
from lowdim.methods.base import Reducer, applying
from lowdim.persist import fields
from lowdim.solve.projection import lift, missed, project
from lowdim.work.blockwise import float_dtype


class LinearReducer(Reducer):
    """A method whose scores are ``Y = (X − m) Uᵀ``.

    A subclass sets ``mean_`` (d,) and ``components_`` (k, d), the rows of ``U``.
    """

    _no_onnx = None
    components_: NDArray
    mean_: NDArray

    def _state(self) -> dict[str, fields.Field]:
        return {"components_": fields.array("k", "d"), "mean_": fields.array("d")}

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _projection(self) -> NDArray:
        """(d, k) matrix that centred rows are multiplied with."""
        return self.components_.astype(np.float64).T

    @applying
    def transform(self, X: Any) -> NDArray:
        """Scores of the rows of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            The scores, float32 for float32 and small integers, float64 otherwise.
        """
        X = self._take(X, reset=False, sparse=self._sparse, scan=False)
        dtype = float_dtype(X.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            Y = self._scores(X, dtype)
        self._demand_finite(X, Y)
        return Y

    def _jacobian(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        P = self._projection().T
        return self._scores(X, np.dtype(np.float64)), np.broadcast_to(P, (X.shape[0], *P.shape)).copy()

    def _onnx(self, graph: Any, X: str, method: str) -> str:
        if method == "transform":
            return str(graph.affine(X, self._projection(), less=self.mean_))
        two: Any = self  # inverses and second views are affine as well, where there are some
        if method == "second_view":
            return onnx_export.affine_call(graph, X, two._second_scores, two._n_targets)
        return onnx_export.affine_call(graph, X, two.inverse_transform, self._n_features_out)

    def _scores(self, X: Any, dtype: np.dtype) -> NDArray:
        return project(X, self._projection(), self.mean_.astype(np.float64), dtype)


class OrthonormalReducer(LinearReducer):
    """A linear method with an inverse: ``Y = (X − m) diag(1/s) Uᵀ`` with orthonormal ``U``.

    Scores are divided by ``_score_scale``. A subclass sets ``scale_`` (d,) as well.
    """

    scale_: NDArray

    def _state(self) -> dict[str, fields.Field]:
        return {**super()._state(), "scale_": fields.array("d", low=0)}

    def _score_scale(self) -> NDArray:
        return np.ones(len(self.components_))

    def _projection(self) -> NDArray:
        """(d, k) matrix that centred rows are multiplied with; a score of no variance stays 0 when whitened."""
        return (self.components_.astype(np.float64) / self.scale_ * self._score_rate()[:, None]).T

    def _score_rate(self) -> NDArray[np.float64]:
        """What scores are multiplied with, 0 for those of no variance."""
        size = self._score_scale().astype(np.float64)
        gone = size <= np.finfo(self.components_.dtype).eps * size.max(initial=0.0) * 10
        return np.where(gone, 0.0, 1.0 / np.where(gone, 1.0, size))

    @applying
    def inverse_transform(self, Y: Any) -> NDArray:
        """Reconstructed rows of the scores ``Y``.

        Parameters
        ----------
        Y : array (n_samples, n_components)
            Scores.

        Returns
        -------
        array (n_samples, n_features)
            ``m + Y U``, with whitening and standardising undone.
        """
        Y = validation.scores(Y, self._name, len(self.components_))
        back = self._score_scale()[:, None] * self.components_ * self.scale_
        return lift(Y, back, self.mean_)

    @applying
    def reconstruction_error(self, X: Any) -> NDArray:
        """Squared distance ``‖x − x̂‖²`` of each row from its reconstruction, in the units of the data.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples,)
            One error per row.
        """
        X = self._take(X, reset=False, sparse=self._sparse)
        return missed(X, self.components_, self.mean_, self.scale_, float_dtype(X.dtype))
