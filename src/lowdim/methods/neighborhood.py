"""What methods on a graph of neighbours share: how many neighbours, broken graphs, and the places of new rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.methods.base import Reducer, applying, fitting
from lowdim.persist import fields
from lowdim.relate.equal_rows import find_equal
from lowdim.relate.geodesics import Beside
from lowdim.relate.graph import Bridges
from lowdim.relate.lengths import unit_rows
from lowdim.relate.weights import interpolate
from lowdim.work.blocks import float_dtype
from lowdim.work.places import brought, to_numpy
from lowdim.work.rows import cast, in_form_of, kept, put, searchable, take
from lowdim.work.user_warnings import warn

DISCONNECTED = ("error", "bridge", "largest")
near_rule = options.whole(1) | options.one_of("auto")
_USUAL = 10  # neighbours for "auto"
_CROWD = 100  # rows from which on a map is judged
_NARROW, _MOST = 0.2, 0.8  # few rows make a map if that share of all lies within so many standard deviations


class NeighborReducer(Reducer, ABC):
    """A method that learns an embedding of the training rows from their neighbours.

    New rows that equal a training row have its place; a subclass says in ``_place`` where others go. ``_rows`` are the
    training rows, ``_fitted`` those of them that the map was learnt from (all of them for None).
    """

    _sparse = True
    _scale_matters = True
    n_neighbors: Any
    disconnected: str
    embedding_: NDArray
    _rows: Any
    _fitted: NDArray | None

    def _state(self) -> dict[str, fields.Field]:  # by the metric
        given = getattr(self, "metric", None) == "precomputed"
        return {
            "embedding_": fields.array("d" if given else "n", "k"),
            "_rows": fields.array(0, 0) if given else fields.rows("n", "d"),
            "_fitted": fields.bind("m", "d" if given else "n")
            | fields.indices("m", below="d" if given else "n", rising=True),
            "n_neighbors_": fields.count(low=1, most="m") | fields.nothing,
            "components_found_": fields.count(low=1),
            "bridges_": fields.indices("b", 2, below="d" if given else "n"),
            "bridge_lengths_": fields.array("b", low=0),
        }

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the embedding of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; for ``metric="precomputed"`` all distances (n_samples, n_samples).
        y : array (n_samples,), optional
            Labels of the rows, where the method has a use for them.

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
        return self.embedding_.copy()

    @abstractmethod
    def _learn(self, X: Any, y: Any) -> None:
        """Set ``embedding_`` and all else that is learnt."""

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _count_neighbors(self, n: int) -> int:
        """How many neighbours each of n rows has."""
        if self.n_neighbors == "auto":
            return min(_USUAL, n - 1)
        if self.n_neighbors >= n:
            raise ValueError(
                f"{self._name}: n_neighbors must be below n_samples ({n:,}); got {self.n_neighbors}. "
                "Lower it or pass more samples."
            )
        return int(self.n_neighbors)

    def _demand_components(self, limit: int, of: str, advice: str = "pass more rows") -> None:
        if self.n_components > limit:
            raise ValueError(
                f"{self._name}: n_components must be at most {of} - 1 = {limit:,}; got {self.n_components}. "
                f"Lower it, or {advice}."
            )

    def _keep_rows(self, X: Any) -> Any:
        """The training rows as floats, kept: what happens to X later must not change the model."""
        self._rows = kept(X, float_dtype(X.dtype))
        return self._rows

    def _tell(
        self, parts: NDArray, what: str, bridge: Callable[[], Bridges], largest: int | None = None
    ) -> Bridges | None:
        """What is done about a graph in several parts, by ``disconnected``; the user is told.

        ``parts`` (n,) are numbered from the largest, −1 for rows in none. Returns the bridges that ``bridge`` made;
        None means that only the rows of part 0 are fitted. ``largest`` is the number of rows that
        ``disconnected="largest"`` would fit, where that is not part 0.
        """
        name, sizes = self._name, np.bincount(parts[parts >= 0])
        shown = ", ".join(f"{size:,}" for size in sizes[:5]) + (", …" if len(sizes) > 5 else "")
        found = f"{name}: the graph of neighbours must be {what}; it falls into {len(sizes):,} parts of {shown} rows"
        if rest := int((parts < 0).sum()):
            found += f", with {rest:,} rows in none"
        more = "Raise radius" if getattr(self, "radius", None) else "Raise n_neighbors"
        largest = int(sizes[0]) if largest is None else largest
        cut = "" if largest == len(parts) else f", or pass disconnected='largest' to fit {largest:,} rows"
        if self.disconnected == "error":
            raise ValueError(f"{found}. {more}, or pass disconnected='bridge'{cut.replace('pass disconnected=', '')}.")
        if self.disconnected == "largest" and cut:
            rest = len(parts) - largest
            warn(f"{found}. The largest is fitted; the other {rest:,} rows are placed as new rows. {more} to fit all.")
            return None
        bridges = bridge()
        lengths, count = [f"{length:.3g}" for length in bridges.lengths], len(bridges.lengths)
        told = lengths[0] if count == 1 else f"{lengths[0]} to {lengths[-1]}"
        warn(
            f"{found}. {'A bridge' if count == 1 else f'{count:,} bridges'} between closest rows joined them, of "
            f"length {told}; distances across are a guess. {more}{cut}."
        )
        return bridges

    @applying
    def transform(self, X: Any) -> NDArray:
        """Places of the rows of ``X`` in the embedding.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``; a row that equals a training row gets its place. For
            ``metric="precomputed"`` the distances to the training rows, (n_samples, n_training_samples).

        Returns
        -------
        array (n_samples, n_components)
            The places, float32 for float32 and small integers, float64 otherwise.
        """
        X = self._take(X, reset=False, sparse=self.__sklearn_tags__().input_tags.sparse)
        dtype, (Q, equal) = float_dtype(X.dtype), self._known(X)
        new = np.flatnonzero(to_numpy(equal) < 0)
        Y = cast(take(brought(self.embedding_, X), equal), dtype)  # those of no training row are placed below
        return put(Y, new, cast(self._place(take(Q, new)), dtype)) if len(new) else Y

    def _known(self, X: Any) -> tuple[Any, NDArray]:
        """New rows in the form of the training rows, and the training row that each equals (−1: none)."""
        rows = brought(self._rows, X)
        Q = searchable(in_form_of(X, rows), rows.dtype)
        return Q, find_equal(rows, Q)

    @abstractmethod
    def _place(self, Q: Any) -> NDArray:
        """Places (m, k) of new rows."""

    def _learnt_from(self, rows: Any) -> Any:
        """The training rows that the map was learnt from."""
        return rows if self._fitted is None else rows[self._fitted]

    def _complete(self, Y: NDArray, rows: Any, first: NDArray | None = None) -> None:
        """Keep the places ``Y`` of the rows fitted, and find those of the others among ``rows``, all there are.

        ``first`` (n,) names the first row that equals each, whose place it shares.
        """
        if self._fitted is None:
            self.embedding_ = Y
            return
        n = rows.shape[0]
        first = np.arange(n) if first is None else first
        self.embedding_ = np.empty((n, Y.shape[1]), Y.dtype)
        self.embedding_[self._fitted] = Y
        rest = np.setdiff1d(np.flatnonzero(first == np.arange(n)), self._fitted)
        if len(rest):
            self.embedding_[rest] = self._place(rows[rest])
        self.embedding_ = self.embedding_[first]

    def _tell_of_few_rows(self, Y: NDArray) -> None:
        """Warn if most of the rows fitted, at ``Y`` (m, k), lie at one place in some coordinate."""
        if len(Y) < _CROWD:
            return
        apart = np.abs(Y - np.median(Y, axis=0))
        share = (apart <= _NARROW * Y.std(axis=0)).mean(axis=0)
        if (share >= _MOST).any():
            named = ", ".join(str(at) for at in np.flatnonzero(share >= _MOST)[:5])
            warn(
                f"{self._name}: coordinates should spread over the rows; in coordinate {named} "
                f"{100 * share.max():.0f} % of the rows lie within {_NARROW:g} standard deviations of the median: "
                "a few rows make the map. Raise n_neighbors, or look for rows far from all others."
            )

    def _places(self) -> NDArray:
        """Places of those rows, as float64."""
        return self._learnt_from(self.embedding_).astype(np.float64)

    def _interpolate(self, X: Any, Q: Any, near: Beside, reg: float) -> NDArray:
        """Places ``Σ w_j y_j`` of new rows by the weights that rebuild them from their neighbours.

        Where rows are not known (``X`` None) the weights fall with the squared distance.
        """
        if getattr(self, "metric", "") == "cosine":
            X, Q = unit_rows(X), unit_rows(Q)
        return interpolate(near, X, Q, brought(self._places(), Q), reg)
