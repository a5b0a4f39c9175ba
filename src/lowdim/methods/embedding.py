"""Base classes of methods that learn an embedding of the training rows, and embed new rows by it."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.data.precomputed import find_zero
from lowdim.data.sizes import demand_components
from lowdim.methods.base import Reducer, applying, fitting
from lowdim.methods.explanation import by_differences, small_steps
from lowdim.persist import fields
from lowdim.relate.equal_rows import find_equal
from lowdim.relate.neighbors import whitened, whitening
from lowdim.work.backend_arrays import moved_to, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.rows import cast, in_form_of, kept, own, put, searchable, take, uninitialised


class EmbeddingReducer(Reducer, ABC):
    """A method that learns an embedding of the training rows.

    New rows that equal a training row get its position; a subclass places the others in ``_place``. ``_rows`` are the
    training rows, ``_fitted`` those of them that the map was fitted on (all of them for None).
    """

    _sparse = True
    _scale_matters = True
    n_components: int
    embedding_: NDArray
    _rows: Any
    _fitted: NDArray | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._given
        return tags

    @property
    def _given(self) -> bool:
        """Whether distances are passed, not rows."""
        return getattr(self, "metric", None) == "precomputed"

    def _state(self) -> dict[str, fields.Field]:
        n = "d" if self._given else "n"
        return {
            "embedding_": fields.array(n, "k"),
            "_rows": fields.array(0, 0) if self._given else fields.rows("n", "d"),
            "_fitted": fields.bind("m", n) | fields.indices("m", below=n, rising=True),
        }

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the embedding of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; for ``metric="precomputed"`` all distances (n_samples, n_samples).
        y : array (n_samples,), optional
            Labels of the rows, for methods that use them.

        Returns
        -------
        self
            This object.
        """
        self._learn(X, y)
        return self

    @fitting
    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Learn the embedding and return it.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``fit``.
        y : array (n_samples,), optional
            As in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            A copy of ``embedding_``.
        """
        self._learn(X, y)
        return own(self.embedding_)

    _no_onnx: ClassVar[str | None] = "new rows are placed by a search among the training rows"

    @abstractmethod
    def _learn(self, X: Any, y: Any) -> None:
        """Set ``embedding_`` and all other fitted attributes."""

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _demand_components(self, limit: int, of: str, advice: str = "pass more rows") -> None:
        demand_components(self._name, self.n_components, limit, f"{of} - 1 = {limit:,}", advice)

    def _keep_rows(self, X: Any) -> Any:
        """The training rows as floats, copied: later changes of X must not change the model."""
        self._rows = kept(X, float_dtype(X.dtype))
        return self._rows

    @applying
    def transform(self, X: Any) -> NDArray:
        """Positions of the rows of ``X`` in the embedding.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``; a row that equals a training row gets its position. For
            ``metric="precomputed"`` the distances to the training rows, (n_samples, n_training_samples).

        Returns
        -------
        array (n_samples, n_components)
            The positions, float32 for float32 and small integers, float64 otherwise.
        """
        return self._positions_of(X)

    def _positions_of(self, X: Any) -> NDArray:
        """Positions of validated rows: those of equal training rows, or by ``_place``."""
        tags = self.__sklearn_tags__().input_tags
        X = self._take(X, reset=False, sparse=tags.sparse, scan=not tags.allow_nan)
        dtype, (Q, equal) = float_dtype(X.dtype), self._known(X)
        new = np.flatnonzero(to_numpy(equal) < 0)
        Y = cast(take(moved_to(self.embedding_, X), equal), dtype)  # those that equal no training row are placed below
        return put(Y, new, cast(self._place(take(Q, new)), dtype)) if len(new) else Y

    def _known(self, X: Any) -> tuple[Any, NDArray]:
        """New rows in the form of the training rows, and the training row that each equals (−1: none)."""
        rows = moved_to(self._rows, X)
        Q = searchable(in_form_of(X, rows), rows.dtype)
        return Q, find_equal(rows, Q)

    def _jacobian(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        Q = self._known(X)[0]

        def place(moved: Any, _: Any) -> NDArray:
            return self._place(searchable(in_form_of(moved, Q), Q.dtype))

        return by_differences(Q, place, small_steps(self, Q), self._place(Q))

    @abstractmethod
    def _place(self, Q: Any) -> NDArray:
        """Positions (m, k) of new rows."""

    def _learnt_from(self, rows: Any) -> Any:
        """The training rows that the map was fitted on."""
        return rows if self._fitted is None else take(rows, self._fitted)

    def _complete(self, Y: NDArray, rows: Any, first: NDArray | None = None) -> None:
        """Keep the positions ``Y`` of the rows fitted, and find those of the others among all ``rows``.

        ``first`` (n,) names the first row that equals each, whose position it shares.
        """
        if self._fitted is None:
            self.embedding_ = Y
            return
        n = rows.shape[0]
        first = np.arange(n) if first is None else first
        self.embedding_ = put(uninitialised((n, Y.shape[1]), Y), self._fitted, Y)
        rest = np.setdiff1d(np.flatnonzero(first == np.arange(n)), self._fitted)
        if len(rest):
            put(self.embedding_, rest, self._place(take(rows, rest)))
        self.embedding_ = take(self.embedding_, first)

    def _positions(self) -> NDArray:
        """Positions of those rows, as float64."""
        return cast(self._learnt_from(self.embedding_), np.float64)


class MetricReducer(EmbeddingReducer, ABC):
    """A method that learns an embedding from distances in some metric.

    For ``metric="precomputed"`` ``_rows`` are empty; ``_whitening`` turns Mahalanobis' distance into a Euclidean one,
    or None.
    """

    metric: str
    _whitening: tuple[NDArray, NDArray] | None

    def _state(self) -> dict[str, fields.Field]:
        turn = fields.parts(fields.array("d"), fields.array("d", "r"))
        return {**super()._state(), "_whitening": fields.nothing | turn}

    def _flat(self, X: Any) -> tuple[Any, str]:
        """Rows and metric for the neighbour search: Mahalanobis' distance is Euclidean after whitening."""
        return (X, self._metric) if self._whitening is None else (whitened(X, *self._whitening), "euclidean")

    def _searched(self, X: Any) -> tuple[Any, Any]:
        """Rows and metric of the neighbour search; the rows are kept, unless X holds distances."""
        given = self.metric == "precomputed"
        self._rows = np.empty((0, 0), float_dtype(X.dtype)) if given else self._keep_rows(X)
        self._whitening = self._learn_whitening(X)
        return self._flat(X if given else self._rows)

    def _learn_whitening(self, X: Any) -> tuple[NDArray, NDArray] | None:
        return whitening(X, self._metric.given.get("VI")) if self.metric == "mahalanobis" else None

    def _known(self, X: Any) -> tuple[Any, NDArray]:
        if self.metric != "precomputed":
            return super()._known(X)
        return X, find_zero(X, self._name)
