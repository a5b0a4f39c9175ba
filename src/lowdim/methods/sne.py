"""Stochastic neighbour embedding: maps that preserve neighbourhoods.

Rows have affinities ``P`` from their distances (:mod:`lowdim.relate.affinities`), points of the map
``Q_ij = f(‖y_i − y_j‖²) / Σ_{a≠b} f(‖y_a − y_b‖²)``, and the map minimises ``KL(P‖Q) = Σ p_ij log(p_ij / q_ij)``: with
Gauss's ``f = e^−s`` (Hinton and Roweis 2002, in the symmetric form) or Student's ``f = 1/(1 + s)`` (van der Maaten and
Hinton 2008).
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.data.descriptions import MAP_TEXTS, described
from lowdim.methods import density_kept
from lowdim.methods.density_kept import DensityKept
from lowdim.methods.stochastic import TEXTS, StochasticEmbedding
from lowdim.relate.affinities import Affinities, affinities
from lowdim.relate.neighbors import Neighbors
from lowdim.solve.divergence import Falloff
from lowdim.work.backend_arrays import to_numpy


@described(MAP_TEXTS | TEXTS)
class SNE(StochasticEmbedding):
    """Symmetric stochastic neighbour embedding, with a Gaussian falloff; its clusters are more crowded than t-SNE's.

    Parameters
    ----------
    {affinities}
    learning_rate : "auto" or float
        "auto" is n_samples / the exaggeration of each phase; below 8 rows always n_samples / 12, since larger steps
        oscillate across their narrow minima.
    {descent}
    {metric}
    {anchors}
    {neighbors}
    {device}
    {running}

    Attributes
    ----------
    {map}
    {found}

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> lowdim.SNE(max_iter=300, random_state=0).fit_transform(X).shape
    (150, 2)
    """

    def _falloff(self) -> Falloff:
        return Falloff("gauss")


@described(MAP_TEXTS | TEXTS)
class TSNE(DensityKept, StochasticEmbedding):
    """t-distributed stochastic neighbour embedding (t-SNE), with ``transform`` for new rows.

    Parameters
    ----------
    {affinities}
    exaggeration : float
        Factor on the affinities in all other iterations. Above 1 attraction is stronger: around 4 the map looks like
        UMAP's, and large factors approach Laplacian eigenmaps. ``kl_divergence_`` stays that of the factor 1.
    learning_rate : "auto" or float
        "auto" is 0.3 n_samples / early_exaggeration, then half of n_samples (divided by ``exaggeration``).
    {descent}
    dof : float
        Degrees of freedom ν of Student's falloff ``(1 + s/ν)^(−(ν + 1)/2)``. Below 1 clusters split into finer
        ones; large values approach SNE.
    densmap : bool
        Whether the map keeps density (den-SNE): groups that are spread in the data are spread in the map, too.
    dens_lambda : float
        Weight of the correlation of local radii in the data and in the map.
    dens_frac : float in [0, 1]
        Last share of the iterations in which it counts, at most those without early exaggeration.
    dens_var_shift : float
        Added to the variance of the radii in the map. Larger values spread them further apart.
    {metric}
    {anchors}
    {neighbors}
    {device}
    {running}

    Attributes
    ----------
    {map}
    {radii}
    {found}

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> tsne = lowdim.TSNE(max_iter=300, random_state=0).fit(X)
    >>> tsne.embedding_.shape, tsne.transform(X[:5]).shape
    ((150, 2), (5, 2))
    """

    exaggeration: float
    dof: float
    _rules = (
        StochasticEmbedding._rules
        | density_kept.RULES
        | {
            "exaggeration": options.real(1e-6, 1e6, closed="both"),
            "dof": options.real(0.01, 1e6, closed="both"),
        }
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: Any = "auto",
        sigma: float | None = None,
        early_exaggeration: float = 12,
        early_exaggeration_iter: int = 250,
        exaggeration: float = 1.0,
        learning_rate: float | str = "auto",
        max_iter: int = 750,
        init: Any = "pca",
        method: str = "auto",
        angle: float = 0.5,
        dof: float = 1.0,
        densmap: bool = False,
        dens_lambda: float = 0.3,
        dens_frac: float = 0.5,
        dens_var_shift: float = 0.5,
        metric: Any = "euclidean",
        metric_params: Any = None,
        neighbor_search: str = "auto",
        callback: Callable[[int, float, NDArray], Any] | None = None,
        callback_every: int = 50,
        anchors: Any = None,
        anchor_weight: Any = 0.3,
        warm_start: bool = False,
        device: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _late(self) -> float:
        return float(self.exaggeration)

    def _falloff(self) -> Falloff:
        return Falloff("student", float(self.dof))

    def _graph_in_map(self, near: Neighbors) -> Affinities:
        return affinities(near.indices, self._likelihoods(near)[0])

    def _learn_from(self, X: Any, y: Any, relations: Any, shared: Any = None) -> Self:
        self._demand_lengths(relations, "affinities")
        return super()._learn_from(X, y, relations, shared)

    def _relations(self, X: Any, near: Neighbors, y: Any, seed: int) -> Affinities:
        P = super()._relations(X, near, y, seed)
        self._keep_radii(P, near)
        return P

    def _relations_of_new(self, near: Neighbors, old: Any, n: int, seed: int) -> Affinities:
        P = super()._relations_of_new(near, old, n, seed)
        self._keep_radii(P, Neighbors(to_numpy(near.indices), to_numpy(near.distances), *near[2:]), old)
        return P

    def _weight_slopes(
        self, lengths: NDArray[np.float64], slopes: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        # With density the radius of a row changes, too.
        return None if self.densmap else super()._weight_slopes(lengths, slopes)
