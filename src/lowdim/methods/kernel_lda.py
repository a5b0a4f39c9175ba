"""Kernel discriminant analysis: Fisher's criterion in the feature space of a kernel.

With the centred Gram matrix ``K_c = U Λ Uᵀ`` the rows have coordinates ``T = U Λ^½`` there, and the directions solve
``S_b w = λ (S_w + κI) w`` for them (Mika et al. 1999; Baudat and Anouar 2000). A new row has the scores
``k_c(x) U Λ^-½ w``. With a ridge κ > 0 the same directions come from one Cholesky factor of ``K_c + nκI``. As a
classifier it finds the class whose mean score is nearest, its share of the rows counted in.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.data.labels import Labels, labels
from lowdim.methods.base import fitting
from lowdim.methods.classifier import DiscriminantClassifier
from lowdim.methods.kernel import RULES, KernelReducer
from lowdim.persist import fields
from lowdim.relate.centring import centre
from lowdim.relate.kernels import Kernel, KernelRows
from lowdim.relate.moments import class_moments
from lowdim.solve.discriminant import discriminants, gram_discriminants, whiten
from lowdim.solve.signs import signs
from lowdim.work import memory

_ALIKE = 1e-2  # difference up to which the distances of classes from the mean are taken as equal


class _Directions(NamedTuple):
    """Ratios (k,), weights of kernel values (n, k), means (n,) of the kernel's rows, positions (C, k) of classes.

    ``centres`` (C, k) are the mean scores of the classes.
    """

    values: NDArray
    dual: NDArray
    means: NDArray
    positions: NDArray
    centres: NDArray


class KernelLDA(DiscriminantClassifier, KernelReducer):
    """Linear discriminant analysis in the feature space of a kernel: a transformer, and a classifier.

    Parameters
    ----------
    n_components : int or None
        Number of directions; at most (and by default) ``n_classes - 1``.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "cosine", "precomputed"} or callable
        ``"precomputed"``: ``fit`` takes the symmetric Gram matrix (n, n), ``transform`` the values (m, n) between new
        and training rows. A function takes two blocks of rows and returns their values.
    gamma : float, "scale" or "median"
        Coefficient of the rbf, poly, sigmoid and laplacian kernels. ``"scale"`` is ``1/(d Var X)``; ``"median"`` is
        ``1/(2 m²)``, m the median distance between rows of a sample.
    degree, coef0 : int, float
        Parameters of the poly kernel, ``(gamma xᵀy + coef0)^degree``, and of sigmoid.
    ridge : float
        Ridge κ added to the variances within classes; 0 whitens within their range.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    eigenvalues_ : array (n_components_,)
        Ratio along each direction.
    classes_ : array (n_classes,)
        The labels, sorted.
    dual_coef_ : array (n_training_samples, n_components_)
        Coefficients of the kernel values.
    gamma_ : float or None
        Value of gamma used.
    class_means_ : array (n_classes, n_components_)
        Mean scores of the classes. A row is assigned to the nearest, as among Gaussian classes of variance 1 whose
        priors are the shares of the rows.
    priors_ : array (n_classes,)
        Those shares.
    n_components_ : int
        Number of directions kept.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("rings")
    >>> Y = lowdim.KernelLDA(gamma=1.0).fit_transform(X, y)
    >>> bool(Y[y == 0].min() > Y[y == 1].max() or Y[y == 1].min() > Y[y == 0].max())
    True
    """

    _needs_targets = True

    _rules = {
        "n_components": options.integer(1) | options.none,
        **RULES,
        "ridge": options.real(0, closed="left"),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "eigenvalues_": fields.array("k"),
            "classes_": fields.labels("c"),
            "class_means_": fields.optional(fields.array("c", "k")),
            "priors_": fields.optional(fields.array("c", low=0)),
            "n_components_": fields.count("k"),
        }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        ridge: float = 1e-3,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ridge = ridge
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any = None) -> "KernelLDA":
        """Learn the directions from rows ``X`` and their labels ``y``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, or the Gram matrix for ``kernel="precomputed"``.
        y : array (n_samples,)
            Labels of the rows, numbers or text.

        Returns
        -------
        KernelLDA
            This object.
        """
        X = self._take(X, reset=True, sparse=True, minimum=2)
        if self.kernel == "precomputed":
            self._demand_gram(X)
        found = labels(self._name, y, X)
        limit = len(found.classes) - 1
        if self.n_components is not None and self.n_components > limit:
            raise ValueError(
                f"KernelLDA: n_components must be at most n_classes - 1 = {limit}; got {self.n_components}. "
                "Lower it, or pass None for all."
            )
        self._ask_memory(*X.shape)
        kernel, A = self._prepare(X, seed=0)
        solved = (self._by_factor(kernel, A, found) if self.ridge else None) or self._by_eigenvectors(kernel, A, found)
        k = self.n_components or len(solved.values)
        values, dual, means = solved.values[:k], solved.dual[:, :k], solved.means
        dual -= dual.mean(axis=0)  # exact except for rounding in the smallest eigenvectors, which means would magnify
        turned = signs(solved.positions[:, :k].T, tol=_ALIKE)
        dual *= turned
        dtype = A.dtype
        self._keep_map(A, np.ascontiguousarray(dual, dtype), means @ dual)
        self.eigenvalues_ = values.astype(dtype)
        self.classes_, self.priors_ = found.classes, found.counts / found.counts.sum()
        self.class_means_ = (solved.centres[:, :k] * turned).astype(dtype)
        self.n_components_ = k
        return self

    def _class_scores(self, X: Any) -> NDArray:
        if "class_means_" not in vars(self):
            raise self._no_rule()
        Y, means = self._scores(self._new_rows(X)), self.class_means_.astype(np.float64)
        with np.errstate(over="ignore"):
            offset = np.log(self.priors_) - 0.5 * np.square(means).sum(axis=1)
        if len(means) == 2:
            means, offset = means[1:] - means[:1], offset[1:] - offset[:1]
        return Y @ means.T.astype(Y.dtype) + offset.astype(Y.dtype)

    def _by_factor(self, kernel: Kernel, A: KernelRows, found: Labels) -> "_Directions | None":
        """Directions from one Cholesky factor; None where the ridge is too small for that or classes coincide."""
        K = kernel.gram(A).astype(np.float64)
        means = centre(K).rows
        member = np.eye(len(found.classes))[found.codes].T / found.counts[:, None]
        between = member @ K  # mean centred kernel values of each class
        solved = gram_discriminants(K, found.codes, found.counts, float(self.ridge))
        return (
            None
            if solved is None
            else _Directions(solved.values, solved.weights, means, solved.positions, between @ solved.weights)
        )

    def _ask_memory(self, n: int, d: int) -> None:
        _demand_squares(n, 2.5 if self.ridge else 9)

    def _by_eigenvectors(self, kernel: Kernel, A: KernelRows, found: Labels) -> "_Directions":
        """Directions within the range of the kernel matrix."""
        n, limit = len(A), len(found.classes) - 1
        _demand_squares(n, 9)
        U, values, means = self._spanned(kernel, A)
        size = np.sqrt(values)
        M = class_moments(U * size, found.codes, np.full(limit + 1, 1.0 / n))  # T = U Λ^½
        S = M.within()
        S[np.diag_indices_from(S)] += self.ridge
        P, _, rank = whiten(S, 1e-8, how="range" if self.ridge == 0 else "auto", scaled=False)
        k = self.n_components or min(limit, rank)
        if rank < k or k < 1:
            raise ValueError(
                f"KernelLDA: n_components must be at most the rank {rank} of the rows under the kernel; got "
                f"{self.n_components}. Lower it, or pass another gamma."
            )
        values, W = discriminants(P, M.between(), k)
        return _Directions(values, (U / size) @ W.T, means, M.between() @ W.T, M.means @ W.T)


def _demand_squares(n: int, arrays: float) -> None:
    memory.require(8.0 * arrays * n * n, f"KernelLDA: the {n:,} × {n:,} kernel matrix", "Fit on fewer rows.")
