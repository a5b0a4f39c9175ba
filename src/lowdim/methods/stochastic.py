"""The base class of SNE and t-SNE: affinities of rows, and a map that minimises ``KL(P‖Q)``.

Its formulas are those of :mod:`lowdim.methods.sne`.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.data.descriptions import described
from lowdim.data.given_similarities import Similarities, taken
from lowdim.methods import neighbor_embedding
from lowdim.methods.base import fitting
from lowdim.methods.growing import GrowingEmbedding
from lowdim.persist import fields
from lowdim.relate.affinities import Affinities, affinities, likelihoods, neighbors_for
from lowdim.relate.neighbors import Neighbors
from lowdim.relate.new_rows import new_affinities
from lowdim.relate.weight_slopes import likelihood_slopes
from lowdim.solve import divergence
from lowdim.solve.descent import Reached
from lowdim.solve.divergence import Divergence, Falloff
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.rows import own
from lowdim.work.user_warnings import warn

_PERPLEXITY = 30.0
_SHARE = 2  # of all iterations that exaggeration may take, one part: a map must not end exaggerated
_GROWING = 250_000  # rows up to which the nodes of the grid take little memory compared with the affinities
_GATHERING, _GATHERED = 0.2, 4.0  # share of all iterations in which new rows of a map gather, and exaggeration in them
_ROUNDING = 1e-5  # of the sum of affinities in float32
TEXTS = {
    "affinities": """n_components : int
        Number of dimensions of the map: 1, 2 and 3 are fast; more (up to 64) need exact repulsion over all pairs.
    perplexity : "auto", "choose", number or list of numbers
        Effective number of neighbours per row. "auto" is 30, or (n - 1)/3 where that is less; "choose" fits up to six
        and keeps the best, as ``lowdim.choose`` does. Affinities of
        several are averaged, for structure at several scales. Three times as many nearest neighbours are searched.
    sigma : float or None
        One width of the Gaussian for all rows, instead of a perplexity, over the nearest 90 neighbours.
    early_exaggeration : float
        Factor on the affinities in the first iterations, which lets clusters form and arrange themselves.
    early_exaggeration_iter : int
        Maximum number of exaggerated iterations, included in ``max_iter`` and at most half of it: fewer if clusters
        have formed earlier. A warm start has none.""",
    "descent": """max_iter : int
        Maximum number of iterations; fewer if exaggeration ended early, or if 50 iterations lower the divergence by
        less than 1e-5 of it.
    init : {"pca", "spectral", "random"} or array (n_samples, n_components)
        Initial layout, scaled to a standard deviation of 1e-4: principal components (of affinities given without rows,
        and of a graph of distances: eigenvectors), eigenvectors of affinities, random positions, or the given array.
    method : {"auto", "exact", "barnes_hut", "fft"}
        How the repulsion is computed: over all pairs; by a tree (up to 3 dimensions); or by a grid and Fourier
        transforms (1 or 2). "auto" chooses by the number of rows and dimensions; ``method_`` is the one used.
    angle : float in [0, 1]
        For the tree: cells seen under a smaller angle count as one point; 0 is exact.""",
    "map": """embedding_ : array (n_samples, n_components)
        The map, centred unless it has ``anchors``. Equal rows have the same position.
    perplexity_ : float, list or None
        Perplexity used; with ``sigma``, the mean perplexity that results; None for affinities given without rows.
    kl_divergence_ : float
        ``KL(P‖Q)`` of the map, with ``Q`` normalised over all pairs and without exaggeration.
    kl_divergence_error_ : float
        Three standard errors of ``kl_divergence_``: 0 up to 20,000 rows, where the sum over all pairs is exact.
    force_error_ : float or None
        Relative error of the forces of the grid in the map; None where it was not measured.
    point_losses_ : array (n_samples,)
        Contribution of each row to ``kl_divergence_``: large where its neighbours are far apart in the map.
    n_iter_ : int
        Number of iterations.
    learning_rate_ : float
        Rate of learning after early exaggeration: the given one, or what "auto" chose.
    method_ : str
        How the repulsion was computed: "exact", "barnes_hut" or "fft".""",
}


class StochasticEmbedding(GrowingEmbedding):
    """A map that minimises ``KL(P‖Q)``; a subclass defines the falloff of similarity with distance in the map."""

    _stages = ("affinities", "divergence")
    _rules = neighbor_embedding.RULES | {
        "perplexity": options.one_of("auto", "choose") | options.real(0) | options.positive_numbers,
        "sigma": options.none | options.real(1e-37, 1e37),
        "early_exaggeration": options.real(1, 1e6, closed="left"),
        "early_exaggeration_iter": options.integer(0),
        "learning_rate": options.one_of("auto") | options.real(0, 1e12),
        "max_iter": options.integer(1),
        "method": options.one_of(*divergence.REPULSIONS),
        "angle": options.real(0, 1, closed="both"),
        "device": options.none | options.device,
    }
    perplexity: Any
    sigma: float | None
    early_exaggeration: float
    early_exaggeration_iter: int
    learning_rate: float | str
    max_iter: int
    method: str
    angle: float
    perplexity_: float | list[float] | None

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: Any = "auto",
        sigma: float | None = None,
        early_exaggeration: float = 12,
        early_exaggeration_iter: int = 250,
        learning_rate: float | str = "auto",
        max_iter: int = 750,
        init: Any = "pca",
        method: str = "auto",
        angle: float = 0.5,
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

    @abstractmethod
    def _falloff(self) -> Falloff:
        """Falloff of similarity with distance in the map."""

    def _late(self) -> float:
        """Exaggeration after the first phase."""
        return 1.0

    def _demand_parameters(self, n: int, y: Any, *, native: bool) -> None:
        k, name = int(self.n_components), self._name
        how = self.method if self.method != "auto" else divergence.choose(n, k, self._falloff(), tree=native)
        if how == "barnes_hut" and not native:
            raise ValueError(f"{name}: method='barnes_hut' has no version for tensors. Use method='auto'.")
        self.method_ = how
        if k > divergence.FAST.get(how, k):
            raise ValueError(
                f"{name}: method={how!r} needs n_components of at most {divergence.FAST[how]}; got {k}. "
                "Use method='auto'."
            )
        self._perplexities = self._resolve_perplexities(n)
        if self._perplexities[0] == self._perplexity_held() < _PERPLEXITY and self.perplexity == "auto":
            warn(
                f"{name}: perplexity {_PERPLEXITY:g} needs {neighbors_for(_PERPLEXITY, n)} neighbours of each row; the "
                f"graph holds {self._held}. Perplexity {self._perplexities[0]:.3g} is used; store more for 30."
            )
        if max(self._perplexities) > n - 1 or min(self._perplexities) < 1:
            raise ValueError(
                f"{name}: perplexity must be between 1 and n_samples - 1 = {n - 1}; got {self.perplexity}. "
                "Pass 'auto', or more rows."
            )

    def _resolve_perplexities(self, n: int) -> list[float]:
        given = self.perplexity
        if given in ("auto", "choose") or self.sigma is not None:
            given = max(1.0, min(_PERPLEXITY, (n - 1) / 3, self._perplexity_held()))
        return [float(u) for u in (given if isinstance(given, list | tuple) else [given])]

    def _perplexity_held(self) -> float:
        """Largest perplexity that a given graph of distances has neighbours for."""
        return np.inf if self._held is None else np.floor(1e4 * self._held / 3) / 1e4

    def _ask_memory(self, n: int, d: int) -> None:
        near = neighbors_for(max(self._resolve_perplexities(n)), n)
        # Beyond so many rows the grid may have eight nodes per row, of 32 bytes each.
        wide = n > _GROWING and self.method in ("auto", "fft") and int(self.n_components) <= 2
        grid = 8 * 32.0 if wide else 0.0
        instead = "Lower perplexity, or fit a sample and transform the rest."
        self._ask_each(n, near, 36.0, "the affinities", instead, beside=grid)

    def _near_each(self, n: int) -> int:
        return neighbors_for(max(self._perplexities), n)

    @fitting
    @described()
    def fit(self, X: Any = None, y: Any = None, *, affinities: Any = None, shared: Any = None) -> Self:
        """Compute the embedding of ``X``, or of affinities of your own.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; for ``metric="precomputed"`` the distances (n_samples, n_samples). It may be left
            out if ``affinities`` are given; ``transform`` and ``trust`` need it.
        y : array (n_samples,), optional
            Not used.
        affinities : sparse or dense (n_samples, n_samples), optional
            Similarities of the rows, instead of those of ``perplexity``: symmetric and not negative. They are divided
            by their sum; entries of the diagonal are left out. ``parts.Affinities`` are taken, too. New rows are placed
            by ``perplexity``.
        {shared}

        Returns
        -------
        self
            This object.
        """
        return self._learn_from(
            X, y, None if affinities is None else taken(affinities, self._name, "affinities"), shared
        )

    def fit_transform(self, X: Any = None, y: Any = None, *, affinities: Any = None, shared: Any = None) -> NDArray:
        """Compute the embedding and return it.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``fit``.
        y : array (n_samples,), optional
            As in ``fit``.
        affinities : sparse or dense (n_samples, n_samples), optional
            As in ``fit``.
        shared : array, pair of arrays or data frame, optional
            As in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            A copy of ``embedding_``.
        """
        return own(self.fit(X, y, affinities=affinities, shared=shared).embedding_)

    def _given_relations(self, relations: Similarities, near: Neighbors | None, y: Any) -> Affinities:
        self.perplexity_ = None if near is None else self._likelihoods(near)[1]
        total = float(relations.values.sum(dtype=np.float64))
        known = abs(total - 1) < _ROUNDING  # the same bits as those of a fit that computed them
        return Affinities(*relations[:2], relations.values if known else relations.values / np.float32(total))

    def _relations(self, X: Any, near: Neighbors, y: Any, seed: int) -> Affinities:
        p, self.perplexity_ = self._likelihoods(near)
        return affinities(near.indices, p)

    def _likelihoods(self, near: Neighbors) -> tuple[Any, float | list[float]]:
        """Probabilities of the neighbours of each row, and the perplexity used."""
        p, reached = likelihoods(near.distances, self._perplexities, self.sigma)
        if self.sigma is not None:
            return p, float(reached.mean())
        return p, self._perplexities if isinstance(self.perplexity, list | tuple) else self._perplexities[0]

    def _relations_of_new(self, near: Neighbors, old: Any, n: int, seed: int) -> Affinities:
        p, self.perplexity_ = self._likelihoods(near)
        return new_affinities(to_numpy(near.indices), to_numpy(p), n)

    def _weights(self, near: Neighbors) -> NDArray[np.float32]:
        return self._likelihoods(near)[0]

    def _weight_slopes(
        self, lengths: NDArray[np.float64], slopes: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        return likelihood_slopes(lengths, slopes, self._perplexities, self.sigma)

    def _iterations(self, n: int) -> int:
        return int(self.max_iter)

    def _loss(self, n: int, seed: int, *, again: bool) -> Divergence:
        return Divergence(
            self._falloff(),
            self.method_,
            angle=float(self.angle),
            exaggerated=0 if again else min(int(self.early_exaggeration_iter), int(self.max_iter) // _SHARE),
            exaggeration=float(self.early_exaggeration),
            late=self._late(),
            rate=None if self.learning_rate == "auto" else float(self.learning_rate),
        )

    def _loss_of_new(self, n: int, seed: int) -> Divergence:
        return replace(
            self._loss(n, seed, again=True),
            exaggerated=int(_GATHERING * self._iterations(n)),
            exaggeration=min(_GATHERED, float(self.early_exaggeration)),
        )

    def _reached_with_new(self, loss: Any, relations: Affinities, Y: Any, old: Any) -> Reached:
        before = Reached(old.kl_divergence_, to_numpy(old.point_losses_), old.kl_divergence_error_)
        P = Affinities(*(to_numpy(part) for part in relations))
        found = divergence.with_new(before, P, to_numpy(Y), loss.falloff)
        return found._replace(points=from_numpy(found.points, Y))

    @property
    def learning_rate_(self) -> float:
        """Rate of learning after early exaggeration."""
        if not hasattr(self, "embedding_"):
            raise AttributeError(f"{self._name} has no learning_rate_ before fit")
        n = self.embedding_.shape[0]
        return self._loss(n, 0, again=True).rate_at(n, exaggerated=False)

    def _keep_loss(self, reached: Reached) -> None:
        self.kl_divergence_, self.point_losses_, self.kl_divergence_error_, self.force_error_ = reached

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "_perplexities": fields.each(fields.number(1)),
            "perplexity_": fields.nothing | fields.number(0) | fields.each(fields.number(1)),
            "kl_divergence_": fields.number(),
            "kl_divergence_error_": fields.number(0),
            "force_error_": fields.nothing | fields.number(0),
            "point_losses_": fields.array("d" if self.metric == "precomputed" else "n"),
            "method_": fields.text(*divergence.REPULSIONS),
        }

    @classmethod
    def _fitted_from_file(cls, fitted: dict[str, Any], version: int) -> dict[str, Any]:
        return super()._fitted_from_file({"force_error_": None} | fitted, version)

    def _check_state(self) -> None:
        super()._check_state()
        if not self._perplexities or max(self._perplexities) > len(self.embedding_) - 1:
            raise ValueError(f"_perplexities {self._perplexities} do not fit {len(self.embedding_)} rows")
