"""UMAP: a fuzzy graph of neighbours, and a map with similar memberships.

The graph is :mod:`lowdim.relate.fuzzy`'s, the loss :mod:`lowdim.solve.cross_entropy`'s: the one that UMAP's sampling
minimises (McInnes, Healy and Melville 2018; Damrich and Hamprecht 2021).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.compose import layout
from lowdim.data import options
from lowdim.data.descriptions import described
from lowdim.data.given_similarities import Similarities, taken
from lowdim.data.labels import known_labels
from lowdim.data.sizes import count_neighbors
from lowdim.data.validation import target_numbers
from lowdim.methods import density_kept, neighbor_embedding
from lowdim.methods.base import fitting
from lowdim.methods.density_kept import DensityKept
from lowdim.persist import fields
from lowdim.relate.fuzzy import FuzzyGraph, fuzzy_union, intersected, memberships, sharpened, typical_distance
from lowdim.relate.neighbors import Neighbors, nearest
from lowdim.relate.new_rows import grown_graph
from lowdim.relate.weight_slopes import membership_slopes
from lowdim.solve.cross_entropy import CrossEntropy, curve
from lowdim.solve.descent import Reached
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.rows import own
from lowdim.work.user_warnings import warn

_NEIGHBORS = 15
_FEW, _MANY_EPOCHS, _EPOCHS = 10_000, 500, 200
_WIDTH = 10.0  # width of the initial layout
_RATE = 2.0  # with 1, 200 epochs do not reach the lowest loss for 70,000 rows


@described()
class UMAP(DensityKept):
    """Uniform manifold approximation and projection: clusters more compact and further apart than t-SNE's.

    The same seed gives the same map for any ``n_jobs``. There is no ``inverse_transform``: positions in the map
    have no corresponding rows.

    Parameters
    ----------
    n_components : int
        Dimensions of the map, up to 64.
    n_neighbors : "auto", "choose" or int
        Number of neighbours, including the row itself: few show detail, many the global structure. "auto" is 15, or
        fewer if there are fewer rows or a graph of distances holds fewer; "choose" fits up to six numbers and
        keeps the best, as ``lowdim.choose`` does.
    min_dist : float
        Distance in the map within which points are not pulled closer; at most ``spread``. Smaller values give more
        compact clusters.
    spread : float
        Length scale of the falloff beyond ``min_dist``: the unit of the map.
    n_epochs : "auto" or int
        Passes over the graph. "auto" is 500 up to 10,000 rows, and 200 above.
    learning_rate : "auto" or float
        Initial step size, which decreases to 0 over the epochs; "auto" is 2. At most 1000.
    init : {"spectral", "pca", "random"} or array (n_samples, n_components)
        Initial layout, scaled to a width of 10 ``spread``: eigenvectors of the graph (connected components by
        the distances of their means), principal components, random positions, or the given array.
    {metric}
    local_connectivity : float
        Number of neighbours of each row with membership 1, without duplicates.
    set_op_mix_ratio : float in [0, 1]
        Between the fuzzy union (1) and intersection (0) of both directions of an edge.
    repulsion_strength : float
        Factor on repulsion, in umap-learn's unit: there each random pair pushes one of its points. The default pushes
        both, which separates clusters better at the same number of epochs; 1 is umap-learn's default.
    negative_sample_rate : int
        Random points that repel for each edge that attracts; with ``repulsion_strength``, the weight of repulsion.
    target_weight : float in [0, 1]
        Weight of the labels ``y`` in the graph: 0 ignores them, 0.5 (umap-learn's default) multiplies edges between
        classes by exp(−5), 1 removes them. Labels that are None, NaN or −1 are unknown. ``y`` given with a weight of 0
        is noted by a warning.
    target_metric : {"categorical", "euclidean", "manhattan", "cosine"}
        How ``y`` is compared: as labels, or as numbers by this distance, whose graph of neighbours is intersected with
        that of the rows. Of several columns, divide each by its standard deviation first.
    target_n_neighbors : "auto" or int
        Neighbours of each row in the graph of numeric targets, itself included; "auto" is ``n_neighbors``. More make
        the map follow the targets more smoothly.
    densmap : bool
        Whether the map keeps density (densMAP): groups that are spread in the data are spread in the map, too.
    dens_lambda : float
        Weight of the correlation of local radii in the data and in the map.
    dens_frac : float in [0, 1]
        Last share of the epochs in which it counts.
    dens_var_shift : float
        Added to the variance of the radii in the map. Larger values spread them further apart.
    {anchors}
    {neighbors}
    {device}
    {running}

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        The map, centred unless it has ``anchors``. Equal rows have the same position.
    graph_ : SciPy CSR matrix (n_samples, n_samples)
        The fuzzy graph: symmetric memberships from 0 to 1.
    a_, b_ : float
        Similarity of two points at distance d in the map is ``1/(1 + a d^(2b))``.
    loss_ : float
        Loss of the map: ``−Σ v log w − (c/2n) Σ (d_i + d_j) log(1 − w)`` over ordered pairs, ``c`` half of
        ``repulsion_strength · negative_sample_rate`` and ``d`` the degrees of the graph: the one that UMAP's sampling
        minimises.
    loss_error_ : float
        Three standard errors of ``loss_``: 0 up to 20,000 rows, where the sum over all pairs is exact.
    n_neighbors_ : int
        Number of neighbours used.
    n_epochs_ : int
        Number of epochs.
    {radii}
    {found}

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> umap = lowdim.UMAP(n_epochs=100, random_state=0).fit(X)
    >>> umap.embedding_.shape, umap.transform(X[:5]).shape
    ((150, 2), (5, 2))
    """

    _rules = (
        neighbor_embedding.RULES
        | density_kept.RULES
        | {
            "n_neighbors": options.one_of("auto", "choose") | options.integer(2),
            "min_dist": options.real(0, closed="left"),
            "spread": options.real(1e-6, 1e6, closed="both"),
            "n_epochs": options.one_of("auto") | options.integer(1),
            "learning_rate": options.one_of("auto") | options.real(0, 1000, closed="right"),
            "local_connectivity": options.real(0, closed="left"),
            "set_op_mix_ratio": options.real(0, 1, closed="both"),
            "repulsion_strength": options.real(0, 1e6, closed="left"),
            "negative_sample_rate": options.integer(0),
            "target_weight": options.real(0, 1, closed="both"),
            "target_metric": options.one_of("categorical", "euclidean", "manhattan", "cosine"),
            "target_n_neighbors": options.one_of("auto") | options.integer(2),
            "device": options.none | options.device,
        }
    )
    n_neighbors: int | str
    min_dist: float
    spread: float
    n_epochs: int | str
    learning_rate: float | str
    local_connectivity: float
    set_op_mix_ratio: float
    repulsion_strength: float
    negative_sample_rate: int
    target_weight: float
    target_metric: str
    target_n_neighbors: int | str
    _typical: float | None

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str = "auto",
        min_dist: float = 0.1,
        spread: float = 1.0,
        n_epochs: int | str = "auto",
        learning_rate: float | str = "auto",
        init: Any = "spectral",
        metric: Any = "euclidean",
        metric_params: Any = None,
        local_connectivity: float = 1.0,
        set_op_mix_ratio: float = 1.0,
        repulsion_strength: float = 2.0,
        negative_sample_rate: int = 5,
        target_weight: float = 0.0,
        target_metric: str = "categorical",
        target_n_neighbors: int | str = "auto",
        densmap: bool = False,
        dens_lambda: float = 1.0,
        dens_frac: float = 0.5,
        dens_var_shift: float = 0.5,
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.target_weight > 0
        return tags

    def _state(self) -> dict[str, fields.Field]:
        n = "d" if self.metric == "precomputed" else "n"
        return {
            **super()._state(),
            "n_neighbors_": fields.count(low=2, most=n),
            "_graph": fields.graph(n, "e"),
            "a_": fields.number(0),
            "b_": fields.number(0),
            "_typical": fields.nothing | fields.number(0),
            "loss_": fields.number(),
            "loss_error_": fields.number(0),
        }

    @property
    def n_epochs_(self) -> int:
        """Number of epochs."""
        return self.n_iter_

    @property
    def graph_(self) -> sp.csr_matrix:
        """The fuzzy graph."""
        if not hasattr(self, "_graph"):
            raise AttributeError("UMAP has no graph_ before fit")
        starts, columns, values = (to_numpy(part) for part in self._graph)
        return sp.csr_matrix((values, columns, starts), shape=(len(starts) - 1,) * 2, copy=True)

    @fitting
    @described()
    def fit(self, X: Any = None, y: Any = None, *, graph: Any = None, shared: Any = None) -> Self:
        """Compute the embedding of ``X``, or of a graph of your own.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; for ``metric="precomputed"`` the distances (n_samples, n_samples). It may be left
            out if ``graph`` is given; ``transform`` and ``trust`` need it.
        y : array (n_samples,), optional
            Labels of the rows, or numbers of one or several columns by ``target_metric``, used with ``target_weight``.
        graph : sparse or dense (n_samples, n_samples), optional
            Memberships of neighbours, instead of the fuzzy graph: symmetric, from 0 to 1. Entries of the diagonal are
            left out. Without ``X``, ``init="pca"`` is the same as "spectral".
        {shared}

        Returns
        -------
        self
            This object.
        """
        self._demand_lengths(graph, "graph")
        return self._learn_from(X, y, None if graph is None else taken(graph, "UMAP", "graph", most=1.0), shared)

    def fit_transform(self, X: Any = None, y: Any = None, *, graph: Any = None, shared: Any = None) -> NDArray:
        """Compute the embedding and return it.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``fit``.
        y : array (n_samples,), optional
            As in ``fit``.
        graph : sparse or dense (n_samples, n_samples), optional
            As in ``fit``.
        shared : array, pair of arrays or data frame, optional
            As in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            A copy of ``embedding_``.
        """
        return own(self.fit(X, y, graph=graph, shared=shared).embedding_)

    def _demand_parameters(self, n: int, y: Any, *, native: bool) -> None:
        if self.min_dist > self.spread:
            raise ValueError(
                f"UMAP: min_dist must be at most spread ({self.spread:g}); got {self.min_dist:g}. Lower it, or raise "
                "spread."
            )
        self.n_neighbors_ = self._resolve_neighbors(n)
        if self.n_neighbors == "auto":
            self.n_neighbors_ = max(2, self._those_held(self.n_neighbors_ - 1, "n_neighbors='auto'") + 1)
        if self._numeric:
            self._target_neighbors(n)
            target_numbers("UMAP", y, n, f"target_metric={self.target_metric!r}")
        elif self.target_weight > 0:
            known_labels("UMAP", y, n, "target_weight")
        elif y is not None:
            warn(
                "UMAP: target_weight must be above 0 for labels to be used; y is given and it is 0, so they are not. "
                "Pass target_weight=0.5, or leave y out."
            )
        a, self.b_ = self._curve()
        self.a_ = a / float(self.spread) ** (2 * self.b_)

    @property
    def _numeric(self) -> bool:
        """Whether the graph of the rows is intersected with that of numbers."""
        return self.target_weight > 0 and self.target_metric != "categorical"

    def _target_neighbors(self, n: int) -> int:
        """Neighbours in the graph of the targets, the row itself included."""
        asked = self.target_n_neighbors
        if asked == "auto":
            return self._resolve_neighbors(n)
        if int(asked) > n:
            raise ValueError(f"UMAP: target_n_neighbors must be at most n_samples ({n}); got {asked}. Lower it.")
        return int(asked)

    def _curve(self) -> tuple[float, float]:
        """``a`` and ``b`` for distances in units of ``spread``."""
        return curve(float(self.min_dist) / float(self.spread), 1.0)

    def _demand_extendable(self) -> None:
        super()._demand_extendable()
        if self.target_weight > 0:
            raise ValueError(
                "UMAP: extend has no targets of new rows, which target_weight above 0 needs; got "
                f"{self.target_weight:g}. Fit all rows with anchors=, this model, and their targets."
            )

    def _resolve_neighbors(self, n: int) -> int:
        return count_neighbors(self._name, self.n_neighbors, max(2, min(_NEIGHBORS, n - 1)), n)

    def _ask_memory(self, n: int, d: int) -> None:
        instead = "Lower n_neighbors, or fit a sample and transform the rest."
        near = self._resolve_neighbors(n) + (self._target_neighbors(n) if self._numeric else 0)
        self._ask_each(n, near, 44.0, "the graph", instead, beside=200.0)

    def _near_each(self, n: int) -> int:
        return self.n_neighbors_ - 1

    def _relations(self, X: Any, near: Neighbors, y: Any, seed: int) -> FuzzyGraph:
        self._typical = typical_distance(near.distances)
        graph = fuzzy_union(near.indices, self._weights(near), float(self.set_op_mix_ratio))
        self._keep_radii(graph, near)
        return self._by_labels(graph, y)

    def _graph_in_map(self, near: Neighbors) -> FuzzyGraph:
        return fuzzy_union(near.indices, memberships(near.distances, float(self.local_connectivity)).values)

    def _relations_of_new(self, near: Neighbors, old: Any, n: int, seed: int) -> FuzzyGraph:
        self._typical = old._typical
        v = to_numpy(self._weights(near))
        graph = grown_graph(old.graph_, to_numpy(near.indices), v, float(self.set_op_mix_ratio))
        self._keep_radii(graph, Neighbors(to_numpy(near.indices), to_numpy(near.distances), *near[2:]), old)
        return graph

    def _reached_with_new(self, loss: Any, relations: FuzzyGraph, Y: Any, old: Any) -> Reached:
        self._graph = tuple(relations)
        return replace(loss, exact=False).at(relations, Y)

    def _given_relations(self, relations: Similarities, near: Neighbors | None, y: Any) -> FuzzyGraph:
        self._typical = None if near is None else typical_distance(near.distances)
        return self._by_labels(FuzzyGraph(*relations), y)

    def _by_labels(self, graph: FuzzyGraph, y: Any) -> FuzzyGraph:
        """The graph with weaker edges between classes, or between rows of other targets, which is kept."""
        n = len(graph.indptr) - 1
        if self._numeric:
            Y = target_numbers("UMAP", y, n, f"target_metric={self.target_metric!r}")
            near = nearest(from_numpy(Y, graph.values), self._target_neighbors(n) - 1, None, self.target_metric)
            targets = fuzzy_union(near.indices, memberships(near.distances).values)
            graph = intersected(graph, targets, float(self.target_weight))
        elif self.target_weight > 0:
            codes = known_labels("UMAP", y, n, "target_weight")
            graph = sharpened(graph, codes, float(self.target_weight))
        self._graph = tuple(graph)
        return graph

    def _weights(self, near: Neighbors) -> NDArray[np.float32]:
        return memberships(near.distances, float(self.local_connectivity), self._typical).values

    def _weight_slopes(
        self, lengths: NDArray[np.float64], slopes: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        if self.densmap:
            return None  # the radius of a row changes, too
        found = memberships(lengths[None], float(self.local_connectivity), self._typical)
        return membership_slopes(lengths, slopes, found)

    def _layout(self, X: Any, n: int, relations: Any, seed: int) -> NDArray:
        return layout.widened(super()._layout(X, n, relations, seed), _WIDTH * float(self.spread))

    def _iterations(self, n: int) -> int:
        return (_MANY_EPOCHS if n <= _FEW else _EPOCHS) if self.n_epochs == "auto" else int(self.n_epochs)

    def _loss(self, n: int, seed: int, *, again: bool) -> CrossEntropy:
        return CrossEntropy(
            *self._curve(),
            negatives=float(self.negative_sample_rate) * float(self.repulsion_strength) / 2,  # both ends are pushed
            rate=_RATE if self.learning_rate == "auto" else float(self.learning_rate),
            seed=seed,
            unit=float(self.spread),
        )

    def _keep_loss(self, reached: Reached) -> None:
        self.loss_, self.loss_error_ = reached.value, reached.error
