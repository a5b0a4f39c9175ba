"""Stochastic neighbour embedding: maps in which rows keep their neighbours.

Rows have affinities ``P`` from their distances (:mod:`lowdim.relate.affinities`), points of the map
``Q_ij = f(‖y_i − y_j‖²) / Σ_{a≠b} f(‖y_a − y_b‖²)``, and the map minimises ``KL(P‖Q) = Σ p_ij log(p_ij / q_ij)``: with
Gauss's ``f = e^−s`` (Hinton and Roweis 2002, in the symmetric form) or Student's ``f = 1/(1 + s)`` (van der Maaten and
Hinton 2008).
"""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from lowdim.data import options
from lowdim.methods.neighbor_embedding import NeighborEmbedding
from lowdim.solve.descent import Falloff


class SNE(NeighborEmbedding):
    """Stochastic neighbour embedding with Gauss's falloff, in its symmetric form; it crowds what t-SNE spreads.

    Parameters
    ----------
    n_components : int
        Dimensions of the map: 1, 2 and 3 are fast, more (up to 64) take all pairs.
    perplexity : "auto", number or list of numbers
        How many neighbours a row is to have, smoothly. "auto" is 30, or (n - 1)/3 where that is less. Affinities of
        several are averaged, for structure at several scales. Three times as many nearest neighbours are looked at.
    sigma : float or None
        One width of the Gaussian for all rows, instead of a perplexity, over the nearest 90 neighbours.
    exaggeration : float
        Factor on the affinities in the first iterations, which lets clusters find their place.
    exaggeration_iter : int
        How many iterations of ``n_iter`` are exaggerated.
    learning_rate : "auto" or float
        "auto" is n_samples / exaggeration, phase by phase; below 8 rows n_samples / 12 throughout, since larger steps
        swing across their narrow minima.
    n_iter : int
        Iterations in all; fewer where 50 of them lower the divergence by less than a 100,000th.
    init : {"pca", "spectral", "random"} or array (n_samples, n_components)
        First layout, brought to a standard deviation of 1e-4: principal components, eigenvectors of the affinities,
        chance, or the given one.
    repulsion : {"auto", "exact", "barnes_hut", "interpolation"}
        All pairs; a tree (up to 3 dimensions); or a grid and Fourier transforms (1 or 2). "auto" chooses by the number
        of rows and dimensions, and ``repulsion_`` says which.
    angle : float in [0, 1]
        For the tree: cells seen under a smaller angle count as one point; 0 is exact.
    metric : {"euclidean", "cosine", "manhattan", "mahalanobis", "precomputed"}
        Distance between rows. For "precomputed", ``X`` holds the distances and ``init`` cannot be "pca".
    neighbors : {"auto", "exact", "approximate"}
        How nearest neighbours are found.
    callback : callable or None
        ``callback(iteration, loss, embedding)``; returning True stops the descent.
    callback_every : int
        Iterations between calls of ``callback`` and entries of ``loss_trace_``.
    warm_start : bool
        Go on from the map fitted before, without exaggeration, for ``n_iter`` more iterations.
    random_state : int, Generator, RandomState or None
        Seed of ``init="random"`` and of approximate neighbours.
    n_jobs : int or None
        Threads; None is all cores this process may use. The map has the same bits for any number.
    verbose : int
        1 shows the stages with the divergence and the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        The map, about its mean. Equal rows have one place.
    perplexity_ : float or list
        Perplexity used; with ``sigma`` the mean that came of it.
    kl_divergence_ : float
        ``KL(P‖Q)`` of the map, with ``Q`` normalised over all pairs.
    kl_normalizer_ : str
        How that sum over all pairs was computed, and what it leaves uncertain.
    point_losses_ : array (n_samples,)
        What each row adds to ``kl_divergence_``: large where its neighbours are torn apart.
    loss_trace_, loss_iterations_ : arrays
        The divergence on the way, without exaggeration, and the iterations it belongs to.
    timings_ : dict
        Seconds by stage.
    n_iter_ : int
        Iterations done.
    repulsion_ : str
        Way to repel that ran.
    neighbors_ : str
        Search that ran.
    neighbors_recall_ : float or None
        Share of true neighbours that an approximate search found, measured on a sample.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> lowdim.SNE(n_iter=300, random_state=0).fit_transform(X).shape
    (150, 2)
    """

    def _falloff(self) -> Falloff:
        return Falloff("gauss")


class TSNE(NeighborEmbedding):
    """t-distributed stochastic neighbour embedding: maps of clusters, with new points placed.

    Parameters
    ----------
    n_components : int
        Dimensions of the map: 1, 2 and 3 are fast, more (up to 64) take all pairs.
    perplexity : "auto", number or list of numbers
        How many neighbours a row is to have, smoothly. "auto" is 30, or (n - 1)/3 where that is less. Affinities of
        several are averaged, for structure at several scales. Three times as many nearest neighbours are looked at.
    sigma : float or None
        One width of the Gaussian for all rows, instead of a perplexity, over the nearest 90 neighbours.
    exaggeration : float
        Factor on the affinities in the first iterations, which lets clusters find their place.
    exaggeration_iter : int
        How many iterations of ``n_iter`` are exaggerated.
    learning_rate : "auto" or float
        "auto" is n_samples / exaggeration, phase by phase.
    n_iter : int
        Iterations in all; fewer where 50 of them lower the divergence by less than a 100,000th.
    init : {"pca", "spectral", "random"} or array (n_samples, n_components)
        First layout, brought to a standard deviation of 1e-4: principal components, eigenvectors of the affinities,
        chance, or the given one.
    repulsion : {"auto", "exact", "barnes_hut", "interpolation"}
        All pairs; a tree (up to 3 dimensions); or a grid and Fourier transforms (1 or 2). "auto" chooses by the number
        of rows and dimensions, and ``repulsion_`` says which.
    angle : float in [0, 1]
        For the tree: cells seen under a smaller angle count as one point; 0 is exact.
    dof : float
        Degrees of freedom ν of Student's falloff ``(1 + s/ν)^(−(ν + 1)/2)``. Below 1 clusters come apart into finer
        ones; large values approach SNE.
    metric : {"euclidean", "cosine", "manhattan", "mahalanobis", "precomputed"}
        Distance between rows. For "precomputed", ``X`` holds the distances and ``init`` cannot be "pca".
    neighbors : {"auto", "exact", "approximate"}
        How nearest neighbours are found.
    callback : callable or None
        ``callback(iteration, loss, embedding)``; returning True stops the descent.
    callback_every : int
        Iterations between calls of ``callback`` and entries of ``loss_trace_``.
    warm_start : bool
        Go on from the map fitted before, without exaggeration, for ``n_iter`` more iterations.
    random_state : int, Generator, RandomState or None
        Seed of ``init="random"`` and of approximate neighbours.
    n_jobs : int or None
        Threads; None is all cores this process may use. The map has the same bits for any number.
    verbose : int
        1 shows the stages with the divergence and the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        The map, about its mean. Equal rows have one place.
    perplexity_ : float or list
        Perplexity used; with ``sigma`` the mean that came of it.
    kl_divergence_ : float
        ``KL(P‖Q)`` of the map, with ``Q`` normalised over all pairs.
    kl_normalizer_ : str
        How that sum over all pairs was computed, and what it leaves uncertain.
    point_losses_ : array (n_samples,)
        What each row adds to ``kl_divergence_``: large where its neighbours are torn apart.
    loss_trace_, loss_iterations_ : arrays
        The divergence on the way, without exaggeration, and the iterations it belongs to.
    timings_ : dict
        Seconds by stage.
    n_iter_ : int
        Iterations done.
    repulsion_ : str
        Way to repel that ran.
    neighbors_ : str
        Search that ran.
    neighbors_recall_ : float or None
        Share of true neighbours that an approximate search found, measured on a sample.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> tsne = lowdim.TSNE(n_iter=300, random_state=0).fit(X)
    >>> tsne.embedding_.shape, tsne.transform(X[:5]).shape
    ((150, 2), (5, 2))
    """

    _rules = NeighborEmbedding._rules | {"dof": options.real(0)}

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: Any = "auto",
        sigma: float | None = None,
        exaggeration: float = 12,
        exaggeration_iter: int = 250,
        learning_rate: float | str = "auto",
        n_iter: int = 750,
        init: Any = "pca",
        repulsion: str = "auto",
        angle: float = 0.5,
        dof: float = 1.0,
        metric: str = "euclidean",
        neighbors: str = "auto",
        callback: Callable[[int, float, NDArray], Any] | None = None,
        callback_every: int = 50,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            perplexity=perplexity,
            sigma=sigma,
            exaggeration=exaggeration,
            exaggeration_iter=exaggeration_iter,
            learning_rate=learning_rate,
            n_iter=n_iter,
            init=init,
            repulsion=repulsion,
            angle=angle,
            metric=metric,
            neighbors=neighbors,
            callback=callback,
            callback_every=callback_every,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.dof = dof

    def _falloff(self) -> Falloff:
        return Falloff("student", float(self.dof))
