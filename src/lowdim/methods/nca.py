"""Neighbourhood components analysis: the linear map in which nearest neighbours of a row have its label.

It is largest in ``Σ_i Σ_{j of the same class} p_ij`` with ``p_ij ∝ exp(−‖A x_i − A x_j‖²)`` (Goldberger, Roweis, Hinton
and Salakhutdinov 2004), where LDA is largest in a ratio of variances.
"""

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim.compose import spectrum
from lowdim.data import options
from lowdim.data.labels import labels
from lowdim.data.sizes import demand_components
from lowdim.methods.base import fitting
from lowdim.methods.linear import LinearReducer
from lowdim.persist import fields
from lowdim.relate.gram import Centred
from lowdim.relate.moments import column_moments
from lowdim.solve import neighborhood_components
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of, stream
from lowdim.work.user_warnings import warn


class NCA(LinearReducer):
    """Neighbourhood components analysis.

    Parameters
    ----------
    n_components : int or None
        Number of dimensions of the map; None keeps ``n_features``.
    init : {"auto", "pca", "identity", "random"}
        Start: principal directions, the first features, or random numbers. ``"auto"`` is ``"pca"`` where fewer
        components than features are asked for, otherwise ``"identity"``.
    max_iter : int
        Most iterations.
    tol : float
        The fit ends when no entry of the gradient of the mean is larger.
    random_state : int, Generator, RandomState or None
        Seed of a random start.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        The map ``A``. Its scale is part of the result: distances of about 1 separate near from far.
    mean_ : array (n_features,)
        Mean of the rows, in float32, which is subtracted.
    expected_accuracy_ : float
        Mean probability that a row's stochastic neighbour has its label, for the rows of the fit.
    loss_curve_ : array (n_iter_,)
        1 less that probability after each iteration.
    classes_ : array (n_classes,)
        The labels, sorted.
    n_iter_ : int
        Number of iterations.
    n_components_ : int
        Number of dimensions.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> nca = lowdim.NCA(2).fit(X, y)
    >>> nca.transform(X).shape, nca.expected_accuracy_ > 0.95
    ((150, 2), True)
    """

    _needs_targets = True
    _scale_matters = True
    _rules = {
        "n_components": options.integer(1) | options.none,
        "init": options.one_of("auto", "pca", "identity", "random"),
        "max_iter": options.integer(1),
        "tol": options.real(0),
        "random_state": options.seed,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "expected_accuracy_": fields.number(0, 1.001),
            "loss_curve_": fields.array("i", low=-0.001, high=1.001),
            "classes_": fields.labels("c"),
            "n_iter_": fields.count("i"),
            "n_components_": fields.count("k"),
        }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: str = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @fitting
    def fit(self, X: Any, y: Any = None) -> "NCA":
        """Learn the map from rows ``X`` and their labels ``y``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data.
        y : array (n_samples,)
            Labels of the rows.

        Returns
        -------
        self
            This object.
        """
        X = self._take(X, reset=True, minimum=2, scan=False)
        (n, d), dtype = X.shape, float_dtype(X.dtype)
        found = labels(self._name, y, X, several=True)
        k = self.n_components or d
        demand_components(self._name, k, d, f"n_features = {d}", "keep the features")
        self._ask_memory(n, d)
        mean = column_moments(X).mean
        self._demand_finite(X, mean)
        with np.errstate(over="ignore"):  # rounded, so that the order of a sum does not show after many iterations
            rounded = mean.astype(np.float32).astype(np.float64)
        mean = np.where(np.isfinite(rounded), rounded, mean)
        Z = Centred(X, mean).dense(dtype)
        A, curve, converged = neighborhood_components.maximise(
            Z, found.codes, self._start(Z, k), self.max_iter, self.tol
        )
        if not converged and len(curve) >= self.max_iter > 1 and curve[-1] - curve[-2] > 1e-3:
            warn(
                f"NCA: the expected accuracy still rose by {curve[-1] - curve[-2]:.1e} in iteration {len(curve)}. "
                "Raise max_iter.",
                ConvergenceWarning,
            )
        self.components_, self.mean_, self.classes_ = A.astype(dtype), mean.astype(dtype), found.classes
        self.expected_accuracy_, self.loss_curve_ = curve[-1], 1 - np.array(curve)
        self.n_iter_, self.n_components_ = len(curve), k
        return self

    def _start(self, X: Any, k: int) -> Any:
        """Map (k, d) to begin with."""
        d, init = X.shape[1], self.init
        seed = seed_of(self.random_state)
        if init == "random":
            return stream(seed, "map").standard_normal((k, d)) / np.sqrt(d)
        if init == "identity" or (init == "auto" and k == d) or k > min(X.shape):
            return np.eye(k, d)
        solver = spectrum.choose(X, k)
        M = spectrum.measure(X, None, solver)
        found = spectrum.find(X, None, M, k, solver, standardize=False, proportion=None, seed=seed)
        return np.ascontiguousarray(found.vectors[:k], np.float64)

    def _ask_memory(self, n: int, d: int) -> None:
        pairs = max(n, neighborhood_components.BLOCK)
        what = f"{self._name}: {n:,} rows of {d:,} features, and {pairs:,} pairs of them at a time"
        memory.require(8.0 * (1.3 * n * d + 3.2 * min(float(n) * n, pairs)), what, "Pass fewer rows.")
