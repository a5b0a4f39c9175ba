"""PCA of rows with gaps: the most likely model of the observed values, and what it says about the others.

The model is that of :mod:`lowdim.methods.gaussian`; ``t`` given the observed values of a row is Gaussian, see
:mod:`lowdim.compose.pca_with_gaps`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.compose import pca_with_gaps as em
from lowdim.data import validation
from lowdim.methods.base import applying, fitting
from lowdim.methods.incremental import StreamedReducer
from lowdim.relate.gaps import Frame, Survey, survey
from lowdim.solve.gap_posterior import packed, posterior, symmetric
from lowdim.solve.projection import lift
from lowdim.work import dispatch
from lowdim.work.backend_arrays import from_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.rows import cast, stacked

_VALUES = 2**24  # of rows and their packed products that are taken at a time
_LEAST = 1e-12  # noise of a model that has none, as a share of its largest variance


class _Known(NamedTuple):
    """What the observed values of some rows say: t (n, k), its packed covariance, its scores, and log-likelihoods."""

    latent: Any
    covariance: Any
    scores: Any
    likelihood: Any


class GapReducer(StreamedReducer):
    """A method that may be fitted to rows with gaps and applied to such rows; ``missing`` says what a gap is."""

    missing: str
    svd_solver: str

    @property
    def _takes_gaps(self) -> bool:
        return self.missing != "error"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_gaps
        return tags

    def _survey(self, X: Any, weights: Any = None, *, columns: bool = False) -> Survey:
        """What the rows hold, without infinity, or rows (and columns, in fit) without any value."""
        dispatch.require_one_memory(X, f"{self._name}: missing={self.missing!r}", "Fit a sample of the rows.")
        found = survey(X, self._zeros, weights)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        if found.infinite is not None:
            row, column = found.infinite
            raise ValueError(
                f"{self._name}: values must be finite or missing; got infinity at row {row}, column "
                f"{names[column]!s}. Correct it, or make it NaN."
            )
        if columns and not found.weight.all():
            bare = names[found.weight == 0]
            raise ValueError(
                f"{self._name}: every column must have an observed value; got none in {len(bare):,} of "
                f"{len(names):,}, the first is {bare[0]!s}. Drop such columns."
            )
        if found.empty is not None:
            raise ValueError(
                f"{self._name}: every row must have an observed value; got none in row {found.empty}. Drop such rows."
            )
        return found

    @property
    def _zeros(self) -> bool:
        return self.missing == "em_zeros"

    @fitting
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a chunk of rows.

        Without gaps (``missing="error"``) the result is that of fitting all chunks at once. With them it comes near
        that: each chunk is one step of EM, which does not return to earlier chunks; ``fit`` on a memory-mapped file
        reads block by block, and is exact.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The chunk; with gaps, the first must have a value in each column.
        y : ignored
            For pipelines.
        sample_weight : array (n_samples,), optional
            As in ``fit``.

        Returns
        -------
        self
            This object.
        """
        if not self._takes_gaps:
            return super().partial_fit(X, y, sample_weight)
        seen = vars(self).get("_stream")
        X = self._take(X, reset=seen is None, sparse=True, minimum=2 if seen is None else 1, scan=False, hint=False)
        weights = validation.weights(self._name, sample_weight, X)
        columns = self._survey(X, weights, columns=seen is None)
        self._add_chunk(X, weights, columns, seen)
        return self

    @abstractmethod
    def _add_chunk(self, X: Any, weights: Any, columns: Survey, seen: Any) -> None:
        """Set the fitted attributes and the state ``_stream`` after another chunk."""

    def __getstate__(self) -> dict[str, Any]:
        """State for files and copies: what ``partial_fit`` continues from only under svd_solver='streaming'."""
        state = super().__getstate__()
        if self.svd_solver != "streaming":
            state.pop("_stream", None)
        return state

    def _has_gaps(self, X: Any) -> bool:
        return self._takes_gaps and self._survey(X).gaps > 0

    def _frame(self) -> Frame:
        return Frame(self.mean_.astype(np.float64), self.scale_.astype(np.float64), self._zeros)

    def _pieces(self, X: Any) -> Iterator[Any]:
        """The rows, some at a time."""
        k, d = self.components_.shape
        step = max(1, _VALUES // (d + k * k))
        for start in range(0, X.shape[0], step):
            yield X[start : start + step]

    def _by_pieces(self, X: Any, found: Callable[[Any], Any]) -> Any:
        return reduce(stacked, [found(piece) for piece in self._pieces(X)])

    def _known(self, X: Any) -> _Known:
        """What the observed values of some rows say under the model."""
        U, values = self.components_.astype(np.float64).T, self._variances()
        noise = max(float(self.noise_variance_), _LEAST * float(values[0]), np.finfo(float).tiny)
        size, k = np.sqrt(np.maximum(values - noise, 0.0)), U.shape[1]
        i, j = np.tril_indices(k)
        of = em.observed_products(X, self._frame(), U)
        P = posterior(
            of.pairs * from_numpy(size[i] * size[j], of.pairs), of.scores * from_numpy(size, of.scores), noise
        )
        t = P.means[:, :k]
        along = t * from_numpy(size, t)
        scores = along + of.scores - (symmetric(of.pairs, k) @ along[:, :, None])[:, :, 0]
        loss = (
            (of.counts - k) * np.log(noise)
            + P.logdet
            + (of.squares - P.fit) / noise
            + of.counts * np.log(2 * np.pi)
            + 2 * of.logs
        )
        return _Known(along, P.products[:, : len(i)] - packed(t), scores, -0.5 * loss)

    def _scores(self, X: Any, dtype: np.dtype) -> NDArray:
        """Scores of the rows with their gaps filled by what is expected there given the values observed."""
        if not self._has_gaps(X):
            return super()._scores(X, dtype)
        rate = self._score_rate()
        return self._by_pieces(X, lambda piece: cast((Y := self._known(piece).scores) * from_numpy(rate, Y), dtype))

    @applying
    def impute(self, X: Any, return_std: bool = False) -> Any:
        """Rows with their gaps filled.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``, and with gaps.
        return_std : bool
            Also return the standard error of each filled value under the model; 0 for observed values.

        Returns
        -------
        array (n_samples, n_features), or a pair of such arrays
            The observed values, and in gaps what is expected there given the observed values of the row; dense.
        """
        self._demand_em("impute")
        X = self._take(X, reset=False, sparse=True, scan=False, hint=False)
        self._survey(X)
        dtype, frame, U = float_dtype(X.dtype), self._frame(), self.components_.astype(np.float64).T
        em.demand_rows(X.shape[0], X.shape[1], 1 + return_std)
        noise, size = float(self.noise_variance_), np.sqrt(np.maximum(self._variances() - self.noise_variance_, 0.0))
        known = [(piece, self._known(piece)) for piece in self._pieces(X)]
        rows = reduce(stacked, [em.filled(piece, frame, of.latent, U, dtype) for piece, of in known])
        if not return_std:
            return rows
        errors = [em.gap_deviations(piece, frame, of.covariance, U * size, noise, dtype) for piece, of in known]
        return rows, reduce(stacked, errors)

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
            One error per row, over its observed values.
        """
        X = self._take(X, reset=False, sparse=self._sparse, scan=not self._takes_gaps)
        if not self._has_gaps(X):
            return super().reconstruction_error(X)
        dtype, frame, U = float_dtype(X.dtype), self._frame(), self.components_.astype(np.float64)

        def one(piece: Any) -> Any:
            Y = self._known(piece).scores
            rows = em.filled(piece, frame, Y, U.T, np.dtype(np.float64))
            return cast(((rows - lift(Y, U * frame.scale, frame.shift)) ** 2).sum(1)[:, None], dtype)

        return self._by_pieces(X, one)[:, 0]

    @applying
    def score_samples(self, X: Any) -> NDArray:
        """Log-likelihood of the observed values of each row under the model.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples,)
            Logarithms of the density.
        """
        X = self._take(X, reset=False, sparse=self._sparse, scan=not self._takes_gaps)
        if not self._has_gaps(X):
            return super().score_samples(X)
        self._demand_regular()
        return self._by_pieces(X, lambda piece: self._known(piece).likelihood[:, None])[:, 0]

    def _demand_em(self, method: str) -> None:
        if not self._takes_gaps:
            raise ValueError(
                f"{self._name}: {method} needs a model that may have gaps; got missing='error'. Set missing='em'."
            )
