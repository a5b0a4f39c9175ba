"""The solver of PCA for distributed rows."""

from typing import Any

from lowdim.backends import DASK
from lowdim.backends.dask.partitioned import Spread
from lowdim.compose import spectrum as numpy_spectrum
from lowdim.compose.spectrum import choose_for
from lowdim.work.dispatch import require_one_memory


@DASK.implements(numpy_spectrum.choose)
def choose(X: Spread, n_components: Any, solver: str = "auto") -> str:
    """Solver used: moments in one pass, unless products in several passes are cheaper."""
    if solver == "auto":
        return "randomized" if choose_for(X.width, X.width, n_components) == "randomized" else "covariance"
    if solver in ("svd", "gram"):
        require_one_memory(
            X, f"PCA: svd_solver='{solver}'", "Use svd_solver='covariance', or 'randomized' for many features."
        )
    return solver
