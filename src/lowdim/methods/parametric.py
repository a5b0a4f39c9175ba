"""Parametric UMAP and t-SNE: networks that map rows, trained on the graph and the loss of either.

Sainburg, McInnes and Gentner 2021; van der Maaten 2009.
"""

from typing import Any

from lowdim.data import options
from lowdim.data.descriptions import MAP_TEXTS, described
from lowdim.methods import registry
from lowdim.methods.neighbor_embedding import NeighborEmbedding
from lowdim.methods.network_map import RULES, TEXTS, ParametricMap
from lowdim.persist import fields
from lowdim.solve.batch_losses import BatchCrossEntropy, BatchDivergence
from lowdim.solve.cross_entropy import CrossEntropy
from lowdim.solve.descent import Reached

_UMAP, _TSNE = (registry.find(name).load() for name in ("umap", "tsne"))  # the maps that networks learn


@described(MAP_TEXTS | TEXTS)
class ParametricUMAP(ParametricMap):
    """UMAP by a network, which places new rows by a few products; needs PyTorch to fit (``lowdim[torch]``).

    UMAP's map is fitted first; a network learns it, then lowers UMAP's loss itself. The model keeps the network and no
    rows: it is small, and new rows need no search for neighbours.

    Parameters
    ----------
    n_components : int
        Dimensions of the map, up to 64.
    n_neighbors : "auto" or int
        Number of neighbours, including the row itself, as for ``UMAP``.
    min_dist : float
        Distance in the map within which points are not pulled closer; at most ``spread``.
    spread : float
        Length scale of the falloff beyond ``min_dist``: the unit of the map.
    {metric}
    local_connectivity : float
        Number of neighbours of each row with membership 1, without duplicates.
    set_op_mix_ratio : float in [0, 1]
        Between the fuzzy union (1) and intersection (0) of both directions of an edge.
    repulsion_strength : float
        Factor on repulsion, as for ``UMAP``.
    negative_sample_rate : int
        With ``repulsion_strength``, the weight of repulsion, as for ``UMAP``. The network is repelled by all rows of
        a batch, whatever the number.
    target_weight : float in [0, 1]
        Weight of the labels ``y`` in the graph, as for ``UMAP``.
    {neighbors}
    {network}

    Attributes
    ----------
    {learnt}
    loss_ : float
        UMAP's loss of the map of the network, to compare with ``UMAP().fit(X).loss_``.
    loss_error_ : float
        Three standard errors of ``loss_``: 0 up to 20,000 rows, where the sum over all pairs is exact.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> model = lowdim.ParametricUMAP(max_epochs=50, random_state=0).fit(X)
    >>> model.embedding_.shape, model.transform(X[:5]).shape
    ((150, 2), (5, 2))
    """

    _rules = RULES | {
        "n_neighbors": options.one_of("auto") | options.integer(2),
        **{
            name: _UMAP._rules[name]
            for name in (
                "min_dist",
                "spread",
                "local_connectivity",
                "set_op_mix_ratio",
                "repulsion_strength",
                "negative_sample_rate",
                "target_weight",
            )
        },
    }
    target_weight: float
    loss_: float
    loss_error_: float

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str = "auto",
        min_dist: float = 0.1,
        spread: float = 1.0,
        metric: Any = "euclidean",
        metric_params: Any = None,
        local_connectivity: float = 1.0,
        set_op_mix_ratio: float = 1.0,
        repulsion_strength: float = 2.0,
        negative_sample_rate: int = 5,
        target_weight: float = 0.0,
        neighbor_search: str = "auto",
        hidden: tuple[int, ...] = (256, 256),
        activation: str = "relu",
        max_epochs: int | str = "auto",
        batch_size: int | str = "auto",
        learning_rate: float | str = "auto",
        dropout: float = 0.2,
        decoder: bool = False,
        reconstruction_weight: float = 0.0,
        device: str | None = None,
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
        return {**super()._state(), "loss_": fields.number(), "loss_error_": fields.number(0)}

    def _map(self) -> NeighborEmbedding:
        return self._made(_UMAP)

    def _batch_loss(self, fitted: NeighborEmbedding, n: int) -> BatchCrossEntropy:
        loss: CrossEntropy = fitted._loss(n, 0, again=True)  # type: ignore[assignment]
        negatives = loss.negatives * (n - 1) / n  # of all pairs, of which no row is one with itself
        return BatchCrossEntropy(loss.a, loss.b, negatives, loss.unit)

    def _keep_loss(self, reached: Reached) -> None:
        self.loss_, self.loss_error_ = reached.value, reached.error


@described(MAP_TEXTS | TEXTS)
class ParametricTSNE(ParametricMap):
    """t-SNE by a network, which places new rows by a few products; needs PyTorch to fit (``lowdim[torch]``).

    The map of t-SNE is fitted first; a network learns it, then lowers the divergence itself. The model keeps the
    network and no rows: it is small, and new rows need no search for neighbours.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the map, as for ``TSNE``.
    perplexity : "auto", number or list of numbers
        Effective number of neighbours per row, as for ``TSNE``.
    exaggeration : float
        Factor on the affinities after the first iterations, as for ``TSNE``.
    dof : float
        Degrees of freedom of Student's falloff, as for ``TSNE``.
    {metric}
    {neighbors}
    {network}

    Attributes
    ----------
    {learnt}
    kl_divergence_ : float
        ``KL(P‖Q)`` of the map of the network, to compare with ``TSNE().fit(X).kl_divergence_``.
    kl_divergence_error_ : float
        Three standard errors of ``kl_divergence_``: 0 up to 20,000 rows, where the sum over all pairs is exact.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> model = lowdim.ParametricTSNE(max_epochs=50, random_state=0).fit(X)
    >>> model.embedding_.shape, model.transform(X[:5]).shape
    ((150, 2), (5, 2))
    """

    _rules = RULES | {
        "perplexity": options.one_of("auto") | options.real(0) | options.positive_numbers,
        "exaggeration": _TSNE._rules["exaggeration"],
        "dof": _TSNE._rules["dof"],
    }
    kl_divergence_: float
    kl_divergence_error_: float

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: Any = "auto",
        exaggeration: float = 1.0,
        dof: float = 1.0,
        metric: Any = "euclidean",
        metric_params: Any = None,
        neighbor_search: str = "auto",
        hidden: tuple[int, ...] = (256, 256),
        activation: str = "relu",
        max_epochs: int | str = "auto",
        batch_size: int | str = "auto",
        learning_rate: float | str = "auto",
        dropout: float = 0.2,
        decoder: bool = False,
        reconstruction_weight: float = 0.0,
        device: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _state(self) -> dict[str, fields.Field]:
        return {**super()._state(), "kl_divergence_": fields.number(), "kl_divergence_error_": fields.number(0)}

    def _map(self) -> NeighborEmbedding:
        return self._made(_TSNE)

    def _batch_loss(self, fitted: NeighborEmbedding, n: int) -> BatchDivergence:  # its own parameters
        return BatchDivergence(float(self.dof), float(self.exaggeration), n)

    def _keep_loss(self, reached: Reached) -> None:
        self.kl_divergence_, _, self.kl_divergence_error_, _ = reached
