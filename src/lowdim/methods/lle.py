"""Locally linear embedding: the map keeps how each row is put together from its neighbours.

With the weights ``W`` that rebuild each row from its neighbours, ``min Σ_i ‖x_i − Σ_j W_ij x_j‖²``, ``Σ_j W_ij = 1``,
the embedding minimises ``Σ_i ‖y_i − Σ_j W_ij y_j‖² = tr YᵀMY``, ``M = (I − W)ᵀ(I − W)``: it is made of the eigenvectors
of M with the smallest eigenvalues, without the constant one (Roweis and Saul 2000).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data import gate, options
from lowdim.methods.neighborhood import DISCONNECTED, NeighborReducer, near_rule
from lowdim.relate.graph import Bridges, Neighborhoods, beside, bridge_classes, closed_classes
from lowdim.relate.neighbors import nearest
from lowdim.relate.weights import barycentric
from lowdim.solve.bottom import smallest
from lowdim.solve.signs import signs
from lowdim.work import memory
from lowdim.work.blocks import float_dtype
from lowdim.work.random import seed_of


class LLE(NeighborReducer):
    """Locally linear embedding.

    Parameters
    ----------
    n_components : int
        Dimensions of the embedding.
    n_neighbors : int or "auto"
        Neighbours that each row is rebuilt from; ``"auto"`` is 10, or all other rows where there are fewer.
    reg : float
        Ridge of the weights, relative to the trace of the neighbours' Gram matrix, which is singular where there are
        more neighbours than dimensions.
    disconnected : {"bridge", "error", "largest"}
        If the neighbours fall into several closed classes, sets of rows whose neighbours all lie inside: join them by
        bridges to the nearest rows outside, whose ends become each other's neighbours; raise; or fit the largest class
        and place the other rows as new ones. A warning says what was done.
    random_state : int, Generator, RandomState or None
        Seed of the vectors that the eigenvectors are found from.
    n_jobs : int or None
        Threads for kernels and BLAS; None is all cores this process may use.
    verbose : int
        1 shows the stages with the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Places of the training rows, of mean 0 and covariance ``YᵀY/(n − 1) = I`` over those fitted.
    reconstruction_error_ : float
        ``tr YᵀMY`` for orthonormal coordinates: the sum of ``eigenvalues_``.
    eigenvalues_ : array (n_components,)
        The smallest eigenvalues of M but that of the constant vector.
    weights_ : CSR array (n_samples, n_samples)
        The weights ``W``; with ``disconnected="largest"`` the rows outside the largest class have none.
    n_neighbors_ : int
        Number of neighbours used.
    components_found_ : int
        Closed classes of the graph of neighbours.
    bridges_ : array (n_bridges, 2)
        Rows joined by bridges, shortest first.
    bridge_lengths_ : array (n_bridges,)
        Their distances.
    solver_ : str
        How the eigenvectors were found: ``"lu"``, ``"chebyshev"`` or ``"dense"``.
    residual_ : float
        Largest ``‖M v − λ v‖`` relative to the largest eigenvalue of M.

    Examples
    --------
    >>> import lowdim
    >>> X, t = lowdim.data.load("swissroll")
    >>> lle = lowdim.LLE(2, n_neighbors=12, random_state=0).fit(X)
    >>> Y = lle.transform(X)
    >>> (Y.T @ Y / (len(Y) - 1)).round(6) + 0
    array([[1., 0.],
           [0., 1.]])
    """

    _rules = {
        "n_components": options.whole(1),
        "n_neighbors": near_rule,
        "reg": options.real(0, closed="left"),
        "disconnected": options.one_of(*DISCONNECTED),
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": options.whole(0),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str = "auto",
        reg: float = 1e-3,
        disconnected: str = "bridge",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.reg = reg
        self.disconnected = disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, X: Any, y: Any) -> None:
        X = gate.rows(self, X, reset=True, sparse=True, minimum=2)
        n = X.shape[0]
        self.n_neighbors_ = self._count_neighbors(n)
        self._demand_components(n - 1, "n_samples")
        _demand_memory(n, self.n_neighbors_, int(self.n_components))
        seed, dtype = seed_of(self.random_state), float_dtype(X.dtype)
        rows = self._keep_rows(X)
        found = nearest(rows, self.n_neighbors_)
        near = Neighborhoods(np.arange(n + 1) * self.n_neighbors_, found.indices.ravel())
        (starts, ends), parts = self._closed(near)
        W = barycentric(rows, starts, ends, float(self.reg))
        self.weights_ = sp.csr_array((W, ends, starts), shape=(n, n))
        self.weights_.sort_indices()
        inside = self.weights_ if self._fitted is None else self.weights_[self._fitted][:, self._fitted]
        closed = parts if self._fitted is None else parts[self._fitted]
        m = inside.shape[0]
        # Of the closed class the row that most others have for a neighbour: all rows lead there.
        root = int(np.argmax(np.where(closed == 0, np.bincount(inside.indices, minlength=m), -1)))
        pairs = smallest(sp.csr_array(sp.eye_array(m) - inside), int(self.n_components), root, seed=seed)
        self.eigenvalues_, self.residual_, self.solver_ = pairs.values, pairs.residual, pairs.solver
        self.reconstruction_error_ = float(pairs.values.sum())
        Y = pairs.vectors * signs(pairs.vectors.T) * np.sqrt(m - 1)
        self._complete(Y.astype(dtype), rows)

    def _closed(self, near: Neighborhoods) -> tuple[Neighborhoods, NDArray]:
        """Neighbours with one closed class, by the policy, and that class (0; −1 elsewhere)."""
        parts = closed_classes(*near)
        self.components_found_ = int(parts.max()) + 1
        self.bridges_, self.bridge_lengths_ = np.empty((0, 2), np.int32), np.empty(0, np.float32)
        self._fitted = None
        if self.components_found_ == 1:
            return near, parts
        joined: list[Neighborhoods] = []

        def bridge() -> Bridges:
            grown, bridges = bridge_classes(self._rows, near)
            joined.append(grown)
            return bridges

        bridges = self._tell(parts, "of one closed class", bridge)
        if bridges is not None:
            self.bridges_, self.bridge_lengths_ = bridges
            return joined[0], closed_classes(*joined[0])
        self._fitted = np.flatnonzero(parts == 0)
        self._demand_components(len(self._fitted) - 1, "rows of the largest part", "raise n_neighbors")
        counts = np.diff(near.starts)
        starts = np.concatenate([[0], np.cumsum(np.where(parts == 0, counts, 0))])
        return Neighborhoods(starts, near.ends[np.repeat(parts == 0, counts)]), parts

    def _place(self, Q: Any) -> NDArray:
        rows = self._learnt_from(self._rows)
        return self._interpolate(rows, Q, beside(rows, Q, self.n_neighbors_, None, "euclidean"), float(self.reg))


def _demand_memory(n: int, k: int, components: int) -> None:
    """Ask for the neighbours, the weights with their transpose, and the vectors that the search keeps."""
    needed = n * (60.0 * k + 8.0 * 16 * (components + 16))
    what = f"LLE: {k} neighbours of {n:,} rows in {components:,} components"
    memory.require(needed, what, "Lower n_neighbors or n_components, or pass fewer rows.")
