"""PaCMAP: a map from pairs of rows that are near, mid-near, and further apart.

The pairs are :mod:`lowdim.relate.pairs`'s, the loss :mod:`lowdim.solve.pair_loss`'s. Mid-near pairs first arrange
the global structure, near and further pairs then the detail (Wang, Huang, Rudin and Shaposhnik 2021).
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.compose import layout
from lowdim.data import options
from lowdim.data.descriptions import described
from lowdim.data.sizes import count_neighbors
from lowdim.methods import neighbor_embedding
from lowdim.methods.base import fitting
from lowdim.methods.growing import GrowingEmbedding
from lowdim.persist import fields
from lowdim.relate.fuzzy import fuzzy_union
from lowdim.relate.neighbors import Neighbors
from lowdim.relate.new_rows import new_affinities, new_pairs
from lowdim.relate.pairs import Pairs, at_columns, chosen, draw_further, draw_mid, nearest_by_scale, scales
from lowdim.solve.descent import Reached
from lowdim.solve.pair_loss import PairLoss
from lowdim.work import memory
from lowdim.work.backend_arrays import moved_to, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import stream
from lowdim.work.rows import cast, own, stacked, take

_NEIGHBORS = 10
_EXTRA = 50  # additional neighbours, from which near pairs are chosen by scaled distance
_WIDE = 100  # columns above which rows are reduced by PCA first, to so many
_SIZE = 0.01  # standard deviation of the initial layout


@described()
class PaCMAP(GrowingEmbedding):
    """Pairwise controlled manifold approximation: maps that preserve neighbours and the global structure.

    Rows of more than 100 columns are reduced to 100 by PCA first (``metric="euclidean"``), and new rows by the same
    axes. The same seed gives the same map for any ``n_jobs``.

    Parameters
    ----------
    n_components : int
        Dimensions of the map, up to 64.
    n_neighbors : "auto", "choose" or int
        Number of near pairs per row. "auto" is 10, or fewer if there are fewer rows or a graph of distances holds
        fewer. More of them smooth the map.
    MN_ratio : float
        Mid-near pairs for each near one: each partner is the second nearest of six random rows.
    FP_ratio : float
        Further pairs for each near one: random rows that are not near.
    low_dist_thres : float or None
        A number, 10 in pacmap, makes the map that of LocalMAP: in the last phase near pairs that are still
        far apart pull less, and further pairs are drawn again among points within this distance in the map, which
        separates clusters better. None leaves both as PaCMAP has them.
    max_iter : int
        Number of iterations: two ninths arrange the global structure, two ninths refine it, the rest has near and
        further pairs only.
    init : {"pca", "spectral", "random"} or array (n_samples, n_components)
        Initial layout, scaled to a standard deviation of 0.01: principal components, eigenvectors of the graph of near
        pairs, random positions, or the given array.
    {metric}
    {anchors}
    {neighbors}
    {device}
    {running}

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        The map, centred unless it has ``anchors``. Equal rows have the same position.
    loss_ : float
        Loss of the map with the weights of the last phase: ``Σ d̃/(10 + d̃)`` over near pairs and ``Σ 1/(1 + d̃)`` over
        further ones, ``d̃`` the squared distance plus 1. ``loss_curve_`` has the same weights. With ``low_dist_thres``
        near pairs cost what its forces lower, and the curve has the further pairs of its iterations.
    n_neighbors_ : int
        Number of near pairs per row used.
    n_iter_ : int
        Number of iterations.
    {found}

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> pacmap = lowdim.PaCMAP(max_iter=200, random_state=0).fit(X)
    >>> pacmap.embedding_.shape, pacmap.transform(X[:5]).shape
    ((150, 2), (5, 2))
    """

    _rules = neighbor_embedding.RULES | {
        "n_neighbors": options.one_of("auto", "choose") | options.integer(1),
        "MN_ratio": options.real(0, 100, closed="both"),
        "FP_ratio": options.real(0, 100, closed="both"),
        "low_dist_thres": options.none | options.real(0, 1e6),
        "max_iter": options.integer(1),
        "device": options.none | options.device,
    }
    _stages = ("pairs", "loss")
    n_neighbors: int | str
    MN_ratio: float
    FP_ratio: float
    low_dist_thres: float | None
    max_iter: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str = "auto",
        MN_ratio: float = 0.5,
        FP_ratio: float = 2.0,
        low_dist_thres: float | None = None,
        max_iter: int = 450,
        init: Any = "pca",
        metric: Any = "euclidean",
        metric_params: Any = None,
        neighbor_search: str = "auto",
        device: str | None = None,
        callback: Callable[[int, float, NDArray], Any] | None = None,
        callback_every: int = 50,
        anchors: Any = None,
        anchor_weight: Any = 0.3,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _state(self) -> dict[str, fields.Field]:
        n = "d" if self.metric == "precomputed" else "n"
        return {
            **super()._state(),
            "n_neighbors_": fields.count(low=1, most=n),
            "_candidates": fields.count(low=1, most=n),
            "loss_": fields.number(),
            "_scales": fields.array(n, low=0),
            "_axes": fields.nothing | fields.parts(fields.array("d"), fields.array("a", "d")),
            "_reduced": fields.nothing | fields.array(n, "a"),
        }

    @classmethod
    def _fitted_from_file(cls, fitted: dict[str, Any], version: int) -> dict[str, Any]:
        before = {"_candidates": min(len(fitted["embedding_"]) - 1, fitted["n_neighbors_"] + _EXTRA)}
        return super()._fitted_from_file(before | fitted, version)

    @fitting
    @described()
    def fit(self, X: Any, y: Any = None, *, shared: Any = None) -> Self:
        """Learn the embedding of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; for ``metric="precomputed"`` all distances (n_samples, n_samples).
        y : array (n_samples,), optional
            Labels of the rows, for methods that use them.
        {shared}

        Returns
        -------
        self
            This object.
        """
        return self._learn_from(X, y, None, shared)

    def fit_transform(self, X: Any, y: Any = None, *, shared: Any = None) -> NDArray:
        """Learn the embedding and return it.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``fit``.
        y : array (n_samples,), optional
            As in ``fit``.
        shared : array, pair of arrays or data frame, optional
            As in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            A copy of ``embedding_``.
        """
        return own(self.fit(X, y, shared=shared).embedding_)

    def _demand_parameters(self, n: int, y: Any, *, native: bool) -> None:
        self.n_neighbors_ = self._resolve_neighbors(n)
        few = self._held is not None and self._held < self.n_neighbors_
        if few and self.n_neighbors == "auto":
            self.n_neighbors_, few = max(1, int(self._held or 0)), False
        wanted = min(n - 1, self.n_neighbors_ + _EXTRA)
        what = f"the candidates of {self.n_neighbors_} near pairs"
        self._candidates = self.n_neighbors_ if few else self._those_held(wanted, what)

    def _resolve_neighbors(self, n: int) -> int:
        few = max(1, min(_NEIGHBORS, (n - 1) // 2))
        return count_neighbors(self._name, self.n_neighbors, few, n - 1, "n_samples - 1, or no row is further apart")

    def _ask_memory(self, n: int, d: int) -> None:
        own = self._resolve_neighbors(n)
        near, pairs = min(n - 1, own + _EXTRA), own * (1 + float(self.MN_ratio) + float(self.FP_ratio))
        memory.require(
            n * (16.0 * near + 10.0 * pairs + 64.0 * int(self.n_components) + 100.0),
            f"PaCMAP: the pairs of {n:,} rows, from {near} neighbours each",
            "Lower n_neighbors, or fit a sample and transform the rest.",
        )

    def _counts(self) -> tuple[int, int]:
        """Mid-near and further partners of each row."""
        return round(self.n_neighbors_ * float(self.MN_ratio)), round(self.n_neighbors_ * float(self.FP_ratio))

    def _near_each(self, n: int) -> int:
        return max(self._candidates, self.n_neighbors_)

    def _learn_rows(self, X: Any, seed: int) -> Any:
        self._axes = self._reduced = None
        if self.metric == "euclidean" and min(X.shape) > _WIDE:
            self._axes = layout.principal_axes(X, _WIDE, seed)
            self._reduced = cast(layout.scores(X, self._axes), float_dtype(X.dtype))
        return X if self._reduced is None else self._reduced

    def _fitted_rows(self) -> Any:
        return self._rows if self._reduced is None else self._reduced

    def _new_rows(self, X: Any) -> Any:
        if self._axes is None:
            return X
        return cast(layout.scores_of_new(X, layout.Axes(*self._axes)), float_dtype(X.dtype))

    def _relations(self, X: Any, near: Neighbors, y: Any, seed: int) -> Pairs:
        mid, further = self._counts()
        self._scales = scales(near.distances)
        columns = nearest_by_scale(near.indices, near.distances, self._scales, self._scales, self.n_neighbors_)
        own = at_columns(near.indices, columns)
        return Pairs(own, draw_mid(X, mid, self._metric, seed), *draw_further(own, further, seed))

    def _searched_with_new(self, X: Any, old: Any) -> Any:
        self._axes, self._reduced = old._axes, None
        if self._axes is None:
            return X
        before = moved_to(old._reduced, X)
        new = layout.scores(take(X, slice(before.shape[0], None)), layout.Axes(*self._axes))
        self._reduced = stacked(before, cast(new, before.dtype))
        return self._reduced

    def _relations_of_new(self, near: Neighbors, old: Any, n: int, seed: int) -> Pairs:
        own = to_numpy(scales(near.distances))
        indices, distances = to_numpy(near.indices), to_numpy(near.distances)
        every = np.concatenate([to_numpy(old._scales), own])
        self._scales = moved_to(every, near.distances)
        columns = nearest_by_scale(indices, distances, own, every, self.n_neighbors_)
        each = self._counts()[1] * (1 + (n - len(own)) / n)  # old rows would draw new ones, too
        return new_pairs(at_columns(indices, columns), round(each), n, seed)

    def _graph_of_new(self, relations: Pairs) -> Any:
        near = to_numpy(relations.near)
        new = near[:, 0] != np.arange(len(near))
        return new_affinities(near[new], np.ones((int(new.sum()), near.shape[1]), np.float32), len(near))

    def _reached_with_new(self, loss: Any, relations: Pairs, Y: Any, old: Any) -> Reached:
        found = loss.at(relations, Y)
        return found._replace(value=old.loss_ + found.value)

    def _weights(self, near: Neighbors) -> NDArray[np.float32]:
        own = scales(near.distances)
        theirs = moved_to(self._scales, near.distances)
        columns = nearest_by_scale(near.indices, near.distances, own, theirs, self.n_neighbors_)
        return chosen(columns, near.indices.shape[1])

    def _graph_of(self, relations: Pairs) -> Any:
        width = relations.near.shape[1]
        every = moved_to(np.arange(width, dtype=np.int32)[None].repeat(len(relations.near), 0), relations.near)
        return fuzzy_union(relations.near, chosen(every, width))

    def _layout(self, X: Any, n: int, relations: Any, seed: int) -> NDArray:
        return super()._layout(X, n, relations, seed) * (_SIZE / layout.SIZE)

    def _iterations(self, n: int) -> int:
        return int(self.max_iter)

    def _loss(self, n: int, seed: int, *, again: bool) -> PairLoss:
        local = 0.0 if self.low_dist_thres is None else float(self.low_dist_thres)
        # 63 bits, which tensors hold, too.
        drawn = int(stream(seed, "local").integers(2**63)) if local else 0
        return PairLoss(phased=not again, further=float(self._counts()[1]), local=local, seed=drawn)

    def _keep_loss(self, reached: Reached) -> None:
        self.loss_ = reached.value
