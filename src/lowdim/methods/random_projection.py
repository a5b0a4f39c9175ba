"""Random projections: directions drawn without looking at the rows keep all distances, up to ``1 ± ε``.

With ``R`` (k, d) of independent entries of mean 0 and variance 1/k, ``‖R x‖²`` is ``‖x‖²`` in expectation, and within
``1 ± ε`` for all pairs of n rows when ``k ≥ 4 log(n) / (ε²/2 − ε³/3)`` (Johnson and Lindenstrauss 1984; Dasgupta and
Gupta 2003). Entries may be normal, or mostly 0 (Achlioptas 2003; Li, Hastie and Church 2006).
"""

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.data.sizes import demand_components
from lowdim.methods.base import fitting
from lowdim.methods.linear import LinearReducer
from lowdim.persist import fields
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype
from lowdim.work.progress import stage
from lowdim.work.random import seed_of, stream

_AUTO = options.integer(1) | options.one_of("auto")


def johnson_lindenstrauss_min_dim(n_samples: int, *, eps: float = 0.1) -> int:
    """Dimensions that keep the distances of all pairs within ``1 ± eps``, however many features there are.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    eps : float
        Relative error of squared distances, between 0 and 1.

    Returns
    -------
    int
        The largest integer up to ``4 log(n_samples) / (eps²/2 − eps³/3)``, as in scikit-learn.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.johnson_lindenstrauss_min_dim(70_000, eps=0.2)
    2574
    """
    if not 0 < eps < 1:
        raise ValueError(f"johnson_lindenstrauss_min_dim: eps must be between 0 and 1; got {eps!r}. Pass 0.1, say.")
    if not n_samples >= 1:
        raise ValueError(
            f"johnson_lindenstrauss_min_dim: n_samples must be 1 or more; got {n_samples!r}. Pass a count."
        )
    return int(4 * np.log(n_samples) / (eps**2 / 2 - eps**3 / 3))


class _RandomProjection(LinearReducer):
    """What both kinds share."""

    _sparse = True
    n_components: Any
    eps: float

    def _ask_memory(self, n: int, d: int) -> None:
        k = self._count(n, d)
        memory.require(self._bytes(k, d), f"{self._name}: {k:,} directions of {d:,} features", "Lower n_components.")

    @abstractmethod
    def _bytes(self, k: int, d: int) -> float:
        """Bytes of k directions of d features, with those on the way."""

    @abstractmethod
    def _draw(self, k: int, d: int, random: np.random.Generator, dtype: np.dtype) -> None:
        """Set the directions."""

    def _count(self, n: int, d: int) -> int:
        """Number of directions."""
        if self.n_components != "auto":
            return int(self.n_components)
        k = max(1, johnson_lindenstrauss_min_dim(n, eps=self.eps))
        if k > d:
            raise ValueError(
                f"{self._name}: {n:,} rows need {k:,} components for eps={self.eps:g}; got {d:,} features, which are "
                "fewer. Raise eps, or pass a number of components."
            )
        return k

    @fitting
    def fit(self, X: Any, y: Any = None) -> Any:
        """Draw the directions; only the shape of ``X`` counts.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data.
        y : ignored
            For pipelines.

        Returns
        -------
        self
            This object.
        """
        X = self._take(X, reset=True, sparse=True, minimum=2, hint=False)
        n, d = X.shape
        k = self._count(n, d)
        demand_components(self._name, k, d, f"n_features = {d}", "keep the features")
        self._ask_memory(n, d)
        dtype = float_dtype(X.dtype)
        with stage("directions", total=k):
            self._draw(k, d, stream(seed_of(self.random_state), "random projection"), dtype)
        self.mean_, self.n_components_ = np.zeros(d, dtype), k
        return self


class GaussianRandomProjection(_RandomProjection):
    """Random projection along normal directions.

    Parameters
    ----------
    n_components : int or "auto"
        Number of directions; ``"auto"`` is :func:`lowdim.johnson_lindenstrauss_min_dim` of the rows and ``eps``.
    eps : float
        Relative error of squared distances that ``"auto"`` allows.
    random_state : int, Generator, RandomState or None
        Seed of the directions.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        The directions as rows: normal numbers of variance ``1 / n_components_``.
    n_components_ : int
        Number of directions.
    mean_ : array (n_features,)
        Zeros: nothing is subtracted.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> lowdim.GaussianRandomProjection(20, random_state=0).fit_transform(X).shape
    (1797, 20)
    """

    _rules = {
        "n_components": _AUTO,
        "eps": options.real(0, 1),
        "random_state": options.seed,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {**super()._state(), "n_components_": fields.count("k")}

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        eps: float = 0.1,
        random_state: Any = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _bytes(self, k: int, d: int) -> float:
        return 16.0 * k * d + 1e6

    def _draw(self, k: int, d: int, random: np.random.Generator, dtype: np.dtype) -> None:
        self.components_ = (random.standard_normal((k, d)) / np.sqrt(k)).astype(dtype)


class SparseRandomProjection(_RandomProjection):
    """Random projection along directions that are mostly 0: less memory, and sparse rows stay cheap.

    Parameters
    ----------
    n_components : int or "auto"
        Number of directions; ``"auto"`` is :func:`lowdim.johnson_lindenstrauss_min_dim` of the rows and ``eps``.
    density : float or "auto"
        Share of entries that are not 0, each ``±1 / √(density · n_components_)``. ``"auto"`` is ``1 / √n_features``
        (Li, Hastie and Church 2006); Achlioptas's is 1/3.
    eps : float
        Relative error of squared distances that ``"auto"`` allows.
    random_state : int, Generator, RandomState or None
        Seed of the directions.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_ : CSR matrix (n_components_, n_features)
        The directions as rows.
    n_components_ : int
        Number of directions.
    density_ : float
        Share of entries that are drawn not to be 0.
    mean_ : array (n_features,)
        Zeros: nothing is subtracted.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> projection = lowdim.SparseRandomProjection(20, random_state=0).fit(X)
    >>> projection.density_, projection.transform(X).shape
    (0.125, (1797, 20))
    """

    _rules = {
        "n_components": _AUTO,
        "density": options.share() | options.one_of("auto") | options.Rule(lambda value: value == 1, "1"),
        "eps": options.real(0, 1),
        "random_state": options.seed,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            "mean_": fields.array("d"),
            "n_components_": fields.count("k", low=1),
            "density_": fields.number(0, 1),
            "_columns": fields.indices("m", below="d"),
            "_starts": fields.starts("k", of="m"),
            "_values": fields.array("m"),
        }

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        density: float | str = "auto",
        eps: float = 0.1,
        random_state: Any = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @property
    def components_(self) -> Any:  # type: ignore[override]
        """The directions as rows of a CSR matrix."""
        if "_values" not in vars(self):
            raise AttributeError("components_")
        shape = (self.n_components_, len(self.mean_))
        return sp.csr_array((self._values, self._columns, self._starts), shape=shape)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _share(self, d: int) -> float:
        return 1 / np.sqrt(d) if self.density == "auto" else float(self.density)

    def _bytes(self, k: int, d: int) -> float:
        return 30.0 * k * d * self._share(d) + 24.0 * d + 1e6

    def _draw(self, k: int, d: int, random: np.random.Generator, dtype: np.dtype) -> None:
        self.density_ = float(self._share(d))
        counts = random.binomial(d, self.density_, size=k)
        columns = [np.sort(random.choice(d, size=count, replace=False, shuffle=False)) for count in counts]
        self._columns = np.concatenate(columns).astype(np.int32 if d < 2**31 else np.int64)
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        size = 1 / np.sqrt(self.density_ * k)
        self._values = np.where(random.random(len(self._columns)) < 0.5, -size, size).astype(dtype)

    def _projection(self) -> NDArray:
        return np.asarray(self.components_.astype(np.float64).toarray().T)

    def _scores(self, X: Any, dtype: np.dtype) -> NDArray:
        if sp.issparse(X):
            return np.asarray((X @ self.components_.T).toarray()).astype(dtype)
        return super()._scores(X, dtype)
