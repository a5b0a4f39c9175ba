"""Laplacian eigenmaps: similar rows stay close.

With similarities ``v_ij`` of neighbours and degrees ``d_i = Σ_j v_ij`` the coordinates minimise ``Σ v_ij (y_i − y_j)²``
for ``Σ d_i y_i² = Σ d_i``: they are ``D^-½ u`` from the eigenvectors u of ``I − D^-½ V D^-½`` with the smallest
eigenvalues, without the constant one (Belkin and Niyogi 2003).
"""

from typing import Any

from numpy.typing import NDArray

from lowdim.data import options
from lowdim.methods.base import METRIC_RULES
from lowdim.methods.diffusion import SimilarityReducer
from lowdim.methods.neighborhood import DISCONNECTED, near_rule


class LaplacianEigenmaps(SimilarityReducer):
    """Laplacian eigenmaps: the smoothest coordinates of the graph of neighbours.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the embedding.
    n_neighbors : int, "auto", "choose" or None
        Neighbours of each row; ``"auto"`` is 10, or all other rows where there are fewer. None without a radius: all
        rows are similar, by their distance (the full kernel, an array of n² numbers).
    radius : float or None
        Join rows up to this distance instead; ``n_neighbors`` must then be ``"auto"`` or None.
    metric : str or callable
        Distance between rows: "euclidean", "cosine", "correlation", "mahalanobis", "manhattan", "chebyshev",
        "minkowski", "hamming", "jaccard", or a function of two rows. For "precomputed", ``X`` holds the distances, all
        of them or a sparse graph of neighbours; ``transform`` takes those of new rows to the training rows.
    metric_params : dict or None
        ``{"p": 3}`` of Minkowski's distance, ``{"VI": V}`` of Mahalanobis', by default the inverse covariance.
    weights : {"heat", "binary"}
        Similarity of neighbours at distance d: ``exp(−γ d²)`` and at least 1e-4, γ by ``gamma``; or 1.
    gamma : float, "median" or "self_tuning"
        γ of the heat kernel, 1/(2σ²) for a width σ. ``"median"``: σ is the median distance of neighbours.
        ``"self_tuning"``: the similarity is ``exp(−d²/2σ_i σ_j)``, σ_i the median distance of row i to its neighbours.
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
        Coordinates of the training rows, with ``Σ d_i y_i = 0`` and ``Σ d_i y_i² = Σ d_i`` over those fitted. Equal
        rows are fitted once and share a position.
    eigenvalues_ : array (n_components,)
        The smallest eigenvalues of the normalised Laplacian except that of the constant vector.
    n_neighbors_ : int or None
        Number of neighbours used; None with a radius or the full kernel.
    gamma_ : float or None
        The γ used; None for ``"self_tuning"`` and binary weights.
    n_connected_components_ : int
        Number of connected components of the neighbour graph.
    bridges_ : array (n_bridges, 2)
        Pairs of rows joined by added edges, shortest first; they are as similar as rows at the distance σ.
    bridge_lengths_ : array (n_bridges,)
        Their distances.
    affinity_matrix_ : CSR matrix, or array for the full kernel (n_samples, n_samples)
        Similarities of the rows fitted, computed each time it is read.
    solver_ : str
        Eigensolver used: ``"dense"``, ``"band"``, ``"lu"``, ``"chebyshev"`` or ``"krylov"``.
    residual_ : float
        Largest ``‖L u − λ u‖`` relative to the largest eigenvalue, at most 2.

    Examples
    --------
    >>> import lowdim
    >>> import numpy as np
    >>> X, t = lowdim.data.load("swissroll", n_samples=1000)
    >>> model = lowdim.LaplacianEigenmaps(2, n_neighbors=8, random_state=0).fit(X)
    >>> bool(abs(np.corrcoef(model.embedding_[:, 0], t)[0, 1]) > 0.9)
    True
    """

    _rules = {
        "n_components": options.integer(1),
        "n_neighbors": near_rule | options.none,
        "radius": options.real(0) | options.none,
        **METRIC_RULES,
        "weights": options.one_of("heat", "binary"),
        "gamma": options.real(0) | options.one_of("median", "self_tuning"),
        "disconnected": options.one_of(*DISCONNECTED),
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str | None = "auto",
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: Any = None,
        weights: str = "heat",
        gamma: float | str = "median",
        disconnected: str = "bridge",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.metric_params = metric_params
        self.weights = weights
        self.gamma = gamma
        self.disconnected = disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _binary(self) -> bool:
        return self.weights == "binary"

    def _finish(self, values: NDArray, Y: NDArray) -> NDArray:
        self.eigenvalues_ = values
        return Y
