"""Diffusion maps: distances in the map are those between random walks from two rows.

Similarities ``k_ij = exp(−d_ij²/2σ²)`` of neighbours (``k_ii = 1``), divided by a power of the density,
``k_ij / (q_i q_j)^α`` with ``q_i = Σ_j k_ij``, make a random walk ``P = D⁻¹K``. Its eigenvectors ψ and eigenvalues λ
give the coordinates ``λᵗ ψ``: Euclidean distances are those between the walks after t steps (Coifman and Lafon 2006).
At α = 1 the density cancels, and the walk approximates heat diffusion on the manifold.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.methods.base import METRIC_RULES
from lowdim.methods.diffusion import SimilarityReducer
from lowdim.methods.neighborhood import DISCONNECTED, near_rule


class DiffusionMap(SimilarityReducer):
    """Diffusion maps: coordinates of a random walk between similar rows.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the embedding.
    n_neighbors : int, "auto", "choose" or None
        Neighbours of each row; ``"auto"`` is 10, or all other rows where there are fewer. None: all rows are similar,
        by their distance (the full kernel, an array of n² numbers).
    metric : str or callable
        Distance between rows: "euclidean", "cosine", "correlation", "mahalanobis", "manhattan", "chebyshev",
        "minkowski", "hamming", "jaccard", or a function of two rows. For "precomputed", ``X`` holds the distances, all
        of them or a sparse graph of neighbours; ``transform`` takes those of new rows to the training rows.
    metric_params : dict or None
        ``{"p": 3}`` of Minkowski's distance, ``{"VI": V}`` of Mahalanobis', by default the inverse covariance.
    gamma : float, "median" or "self_tuning"
        γ of the similarities ``exp(−γ d²)``, 1/(2σ²) for a width σ. ``"median"``: σ is the median distance of
        neighbours, or of all rows with the full kernel. ``"self_tuning"``: the similarity is ``exp(−d²/2σ_i σ_j)``, σ_i
        the median distance of row i to its neighbours.
    alpha : float in [0, 1]
        Power of the density that similarities are divided by: at 1 the map does not depend on the density of the
        rows, at 0 it is that of Laplacian eigenmaps.
    t : float
        Steps of the walk, 0 or more: after many only the coarsest structure is left.
    disconnected : {"bridge", "error", "largest"}
        If the neighbour graph is not connected: join its components by the shortest edges; raise an error; or fit the
        largest component and treat the other rows as new ones. A warning says what was done.
    random_state : int, Generator, RandomState or None
        Seed of the starting vectors of the eigensolver.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates ``λᵗ ψ`` of the training rows, with ``Σ d_i ψ_i² = Σ d_i`` over those fitted; a coordinate whose
        eigenvalue is not positive is 0. Equal rows are fitted once and share a position.
    eigenvalues_ : array (n_components,)
        Eigenvalues λ of the walk in descending order, without the first, which is 1.
    n_neighbors_ : int or None
        Number of neighbours used; None with the full kernel.
    gamma_ : float or None
        The γ used; None for ``"self_tuning"``.
    n_connected_components_ : int
        Number of connected components of the neighbour graph.
    bridges_ : array (n_bridges, 2)
        Pairs of rows joined by added edges, shortest first; they are as similar as rows at the distance σ.
    bridge_lengths_ : array (n_bridges,)
        Their distances.
    affinity_matrix_ : CSR matrix, or array for the full kernel (n_samples, n_samples)
        Similarities of the rows fitted, before the density is divided out; computed each time it is read.
    solver_ : str
        Eigensolver used: ``"dense"``, ``"band"``, ``"lu"``, ``"chebyshev"`` or ``"krylov"``.
    residual_ : float
        Largest ``‖L u − (1 − λ) u‖`` relative to the largest eigenvalue of the normalised Laplacian, at most 2.

    Examples
    --------
    >>> import lowdim
    >>> import numpy as np
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> values = lowdim.DiffusionMap(4, n_neighbors=None, gamma=5.6, random_state=0).fit(circle).eigenvalues_
    >>> bool(np.allclose(values[::2], values[1::2]))  # sine and cosine of the same angle
    True
    """

    _rules = {
        "n_components": options.integer(1),
        "n_neighbors": near_rule | options.none,
        **METRIC_RULES,
        "gamma": options.real(0) | options.one_of("median", "self_tuning"),
        "alpha": options.real(0, 1, closed="both"),
        "t": options.real(0, closed="left"),
        "disconnected": options.one_of(*DISCONNECTED),
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }
    _loops = True
    radius = None

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str | None = "auto",
        metric: Any = "euclidean",
        metric_params: Any = None,
        gamma: float | str = "median",
        alpha: float = 1.0,
        t: float = 1,
        disconnected: str = "bridge",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.metric_params = metric_params
        self.gamma = gamma
        self.alpha = alpha
        self.t = t
        self.disconnected = disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _power(self) -> float:  # type: ignore[override]
        return float(self.alpha)

    def _finish(self, values: NDArray, Y: NDArray) -> NDArray:
        self.eigenvalues_ = 1.0 - values
        return Y * np.where(self.eigenvalues_ > 0, np.maximum(self.eigenvalues_, 0.0) ** float(self.t), 0.0)
