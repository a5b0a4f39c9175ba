"""Linear methods solved from moments, whose rows may come in chunks."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from lowdim.compose import spectrum
from lowdim.data import validation
from lowdim.methods.base import fitting
from lowdim.methods.gaussian import GaussianReducer
from lowdim.persist import fields
from lowdim.relate.moment_states import ColumnMoments, Moments
from lowdim.relate.moments import moments
from lowdim.work.blockwise import float_dtype
from lowdim.work.user_warnings import warn


class StreamedReducer(GaussianReducer, ABC):
    """A linear method that keeps the moments of the rows it has seen, so that ``partial_fit`` can continue.

    After a chunk the attributes named in ``_lazy`` are computed when next accessed.
    """

    _lazy: ClassVar[tuple[str, ...]]
    _moments: tuple[Any, ...]  # state of relate.moments
    _dtype: str
    n_components: int | float | str | None
    standardize: bool
    whiten: bool
    solver: str
    random_state: Any
    solver_: str

    def _state(self) -> dict[str, fields.Field]:
        mean, scatter = fields.array("d", kind="f8"), fields.array("d", "d", kind="f8")
        return {
            **super()._state(),
            "solver_": fields.text(*spectrum.SOLVERS),
            "_dtype": fields.text("float32", "float64"),
            "_moments": fields.optional(fields.parts(fields.number(0), mean, scatter, fields.count())),
        }

    @abstractmethod
    def _solve(self, M: Moments) -> None:
        """Set the fitted attributes from the moments of all rows so far, with the current parameters."""

    @abstractmethod
    def _demand_room_for_components(self, limit: int, what: str) -> None:
        """Refuse more components than ``limit``, which is ``what``."""

    def _keep_moments(self, M: Moments | ColumnMoments) -> None:
        self.__dict__.pop("_moments", None)
        if isinstance(M, Moments):
            self._moments = tuple(M)

    @fitting
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a chunk of rows; the result is that of fitting all chunks at once.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The chunk.
        y : ignored
            For pipelines.
        sample_weight : array (n_samples,), optional
            As in ``fit``.

        Returns
        -------
        self
            This object.
        """
        first = "_moments" not in vars(self)
        if first and "solver_" in vars(self):
            warn(
                f"{self._name}: partial_fit starts again, since the previous fit (solver_='{self.solver_}') stored no "
                "moments to add to. Use svd_solver='streaming' to continue from a fit.",
            )
        X = self._take(X, reset=first, sparse=True, minimum=1, scan=False)
        weights = validation.weights(self._name, sample_weight, X)
        self._demand_room_for_components(X.shape[1], "n_features")
        spectrum.demand_memory("streaming", X.shape[0], X.shape[1], X.shape[1])
        M = moments(X, weights)
        self._demand_finite(X, M.mean)
        if first:
            self.solver_, self._dtype = "streaming", float_dtype(X.dtype).name
        else:
            M = Moments(*self._moments).merge(M)
            self._dtype = np.promote_types(self._dtype, float_dtype(X.dtype)).name
        self._moments = tuple(M)
        for name in self._lazy:  # computed when next accessed, not at each chunk
            self.__dict__.pop(name, None)
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in type(self)._lazy or "_moments" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        try:
            self._solve_stream()
        except ValueError as error:
            raise AttributeError(str(error)) from error
        return vars(self)[name]

    def _finish_pending(self) -> None:
        if "_moments" in vars(self) and "components_" not in vars(self):
            self._solve_stream()

    @fitting
    def _solve_stream(self) -> None:
        self._solve(Moments(*self._moments))

    def __getstate__(self) -> dict[str, Any]:
        """State for files and copies: without moments, which are d/k times as large, unless svd_solver='streaming'."""
        self._finish_pending()
        state = dict(super().__getstate__())
        if state.get("solver_") != "streaming":
            state.pop("_moments", None)
        return state
