"""The solver of PCA for distributed rows."""

from typing import Any

from lowdim.compose.spectrum import choose_for
from lowdim.work.places import demand_together
from lowdim.work.spread import Spread


def choose(X: Spread, n_components: Any, solver: str = "auto") -> str:
    """Solver used: moments in one pass, unless products in several passes are cheaper."""
    if solver == "auto":
        return "randomized" if choose_for(X.width, X.width, n_components) == "randomized" else "covariance"
    if solver in ("svd", "gram"):
        demand_together(X, f"PCA: solver='{solver}'", "Use solver='covariance', or 'randomized' for many features.")
    return solver
