"""Karhunen-Loève expansion of labelled data: directions of largest variance within classes.

The directions ``u`` solve ``S u = λ u`` with ``S = Σ_c π_c S_c``, the mean of the covariances ``S_c`` (divisor ``n_c``)
of the classes by their priors ``π_c`` (Watanabe 1965; Devijver and Kittler 1982). PCA treats all rows as one class.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.data.labels import Labels, given_priors, labels, one_class, priors
from lowdim.methods.base import fitting
from lowdim.methods.linear import OrthonormalReducer
from lowdim.persist import fields
from lowdim.relate.gram import Centred
from lowdim.relate.moments import class_moments, column_moments, moments
from lowdim.solve.component_count import completed
from lowdim.solve.leading_eigenpairs import eigh_top
from lowdim.solve.projection import project
from lowdim.solve.signs import signs
from lowdim.work import dispatch, memory
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.products import multiply


class KLExpansion(OrthonormalReducer):
    """Karhunen-Loève expansion with the covariance averaged over classes.

    Parameters
    ----------
    n_components : int or None
        Number of directions; None keeps ``min(n_samples, n_features)``.
    priors : "empirical", "uniform" or list of one number per class
        Weights of the classes, in the order of ``classes_``: their shares of the rows, equal, or as given.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        The directions, orthonormal rows; in each the loading of largest magnitude is positive.
    eigenvalues_ : array (n_components_,)
        Variance within classes along each, averaged by the priors (divisor ``n_c``).
    score_variance_ : array (n_components_,)
        Variance of each score over all rows (divisor n − 1); the scores are not decorrelated.
    classes_, priors_ : arrays (n_classes,)
        The labels, sorted, and their weights; one class where no labels were given.
    mean_, scale_ : arrays (n_features,)
        The overall mean, which is subtracted, and ones.
    n_components_ : int
        Number of directions kept.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> kl = lowdim.KLExpansion(2).fit(X, y)
    >>> kl.transform(X).shape, kl.eigenvalues_.round(3).tolist()
    ((150, 2), [0.435, 0.084])
    """

    _scale_matters = True
    _rules = {
        "n_components": options.integer(1) | options.none,
        "priors": options.one_of("empirical", "uniform") | given_priors,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "eigenvalues_": fields.array("k"),
            "score_variance_": fields.array("k", low=0),
            "classes_": fields.labels("c"),
            "priors_": fields.array("c", low=0),
            "n_components_": fields.count("k"),
        }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        priors: Any = "empirical",
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.priors = priors
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any = None) -> "KLExpansion":
        """Learn the directions from rows ``X`` and their labels ``y``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data; integers are read as they are, block by block.
        y : array (n_samples,), optional
            Labels of the rows. Without them all rows are one class, which is PCA.

        Returns
        -------
        KLExpansion
            This object.
        """
        X = self._take(X, reset=True, minimum=2, scan=False)
        n, d = X.shape
        found = one_class(self._name, X) if y is None else labels(self._name, y, X, several=False)
        k = self._room(min(n, d))
        pi = priors(self, self.priors, found)
        self._ask_memory(n, d)
        wide = d > n and not dispatch.is_distributed(X)
        values, vectors, mean, spread = (self._by_rows if wide else self._by_features)(X, found, pi, k)
        none = values <= max(values[0], 0.0) * d * np.finfo(np.float64).eps
        U = completed(vectors[~none], k)
        dtype = float_dtype(X.dtype)
        self.components_ = (U * signs(U)[:, None]).astype(dtype)
        self.eigenvalues_ = np.where(none, 0.0, values).astype(dtype)
        self.score_variance_ = spread(U).astype(dtype)
        self.classes_, self.priors_ = found.classes, pi
        self.mean_, self.scale_ = mean.astype(dtype), np.ones(d, dtype)
        self.n_components_ = k
        return self

    def _ask_memory(self, n: int, d: int) -> None:
        side = min(n, d)
        k = self.n_components or side
        memory.require(
            8.0 * (6.5 * side * side + n * k if d > n else 4.0 * side * side + 2.25 * side * k),
            f"KLExpansion: the {side:,} × {side:,} matrix of {n:,} rows and {d:,} features",
            "Reduce the features first, for example by PCA with svd_solver='randomized'.",
        )

    def _by_features(self, X: NDArray, found: Labels, pi: NDArray, k: int) -> tuple[NDArray, NDArray, NDArray, Any]:
        """Eigenvectors of ``S`` itself: values (k,), vectors (k, d), overall mean, and variances of scores."""
        M = class_moments(X, found.codes, pi / found.counts)
        self._demand_finite(X, M.means)
        n = int(found.counts.sum())
        mean = found.counts @ M.means / n
        alike = np.allclose(pi, found.counts / n, rtol=1e-12, atol=0.0)
        total = M.scatter * n if alike else moments(X).scatter
        pairs = eigh_top(M.within(), k)
        return pairs.values, pairs.vectors.T, mean, lambda U: np.einsum("kd,kd->k", multiply(U, total), U) / (n - 1)

    def _by_rows(self, X: NDArray, found: Labels, pi: NDArray, k: int) -> tuple[NDArray, NDArray, NDArray, Any]:
        """Eigenvectors from the Gram matrix of the rows: with ``C = diag(√w)(I − class means)``, ``S = Zᵀ Cᵀ C Z``."""
        M = column_moments(X)
        self._demand_finite(X, M.mean)
        Z = Centred(X, M.mean)
        averaging = (found.codes[:, None] == found.codes) / found.counts[found.codes]
        C = (np.eye(len(X)) - averaging) * np.sqrt(pi / found.counts)[found.codes][:, None]
        K = to_numpy(Z.gram())
        pairs = eigh_top(C @ K @ C.T, k)
        vectors = np.linalg.qr(Z.pull(C.T @ pairs.vectors).T)[0].T

        def spread(U: NDArray) -> NDArray:
            return np.square(to_numpy(project(X, U.T, M.mean, np.dtype(float)))).sum(0) / (len(X) - 1)

        return pairs.values, vectors, M.mean, spread

    def _room(self, limit: int) -> int:
        if self.n_components is not None and self.n_components > limit:
            raise ValueError(
                f"KLExpansion: n_components must be at most min(n_samples, n_features) = {limit}; got "
                f"{self.n_components}. Lower it or pass more data."
            )
        return self.n_components or limit
