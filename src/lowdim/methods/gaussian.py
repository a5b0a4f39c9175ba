"""Probabilistic PCA: the Gaussian whose covariance is that of the components kept, and equal noise in all directions.

``C = Uᵀ diag(λ − σ²) U + σ² I`` with the mean ``σ²`` of the variances left out (Tipping and Bishop 1999), in the units
of the features where they were divided by their deviations.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.methods.base import applying
from lowdim.methods.linear import OrthonormalReducer
from lowdim.solve.projection import squared_lengths


class GaussianReducer(OrthonormalReducer):
    """A method that models the density of its rows once it has a ``noise_variance_``."""

    explained_variance_: NDArray
    noise_variance_: float

    def _variances(self) -> NDArray[np.float64]:
        """Variances (k,) along the components, never below the noise."""
        return np.maximum(self.explained_variance_.astype(np.float64), self.noise_variance_)

    @applying
    def get_covariance(self) -> NDArray:
        """Covariance of the model, ``Uᵀ diag(λ − σ²) U + σ² I``.

        Returns
        -------
        array (n_features, n_features)
            In the units of the features.
        """
        U, scale = self.components_.astype(np.float64), self.scale_.astype(np.float64)
        C = (U.T * (self._variances() - self.noise_variance_)) @ U
        C[np.diag_indices_from(C)] += self.noise_variance_
        return np.asarray(C * np.outer(scale, scale))

    @applying
    def get_precision(self) -> NDArray:
        """Inverse of the covariance of the model, from its components alone.

        Returns
        -------
        array (n_features, n_features)
            The precision matrix.
        """
        U, scale = self.components_.astype(np.float64), self.scale_.astype(np.float64)
        self._demand_regular()
        least = self.noise_variance_ if len(U) < U.shape[1] else 0.0
        inverse = 1.0 / least if least else 0.0
        P = (U.T * (1.0 / self._variances() - inverse)) @ U
        P[np.diag_indices_from(P)] += inverse
        return np.asarray(P / np.outer(scale, scale))

    @applying
    def score_samples(self, X: Any) -> NDArray:
        """Log-likelihood of each row under the model.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples,)
            Logarithms of the density.
        """
        X = self._take(X, reset=False, sparse=self._sparse)
        self._demand_regular()
        U, mean, scale = (part.astype(np.float64) for part in (self.components_, self.mean_, self.scale_))
        (k, d), values = U.shape, self._variances()
        out = squared_lengths(X, U, mean, scale, values, self.noise_variance_)
        left = (d - k) * np.log(self.noise_variance_) if k < d else 0.0
        return -0.5 * (out + d * np.log(2 * np.pi) + np.log(values).sum() + left) - np.log(scale).sum()

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows under the model, for cross-validation.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.
        y : ignored
            For pipelines.

        Returns
        -------
        float
            The mean of ``score_samples``.
        """
        return float(self.score_samples(X).mean())

    def _demand_regular(self) -> None:
        """Refuse a model without a density: one that has no variance in some direction."""
        k, d = self.components_.shape
        if self._variances().min() <= 0 or (k < d and self.noise_variance_ <= 0):
            raise ValueError(
                f"{self._name}: a density needs variance in every direction; the model of {k} components in {d} "
                "features has none in some. Keep fewer components, or drop features that are constant or depend on "
                "others."
            )
