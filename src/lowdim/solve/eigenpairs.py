"""The result of every eigensolver."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from lowdim.work.user_warnings import warn

Doubles = NDArray[np.float64]


class Eigenpairs(NamedTuple):
    """Eigenpairs of a symmetric matrix A, and how they were found.

    ``values`` (k,) are sorted as asked for, ``vectors`` V (n, k). ``residual`` is the largest ``‖A v − λ v‖`` relative
    to the largest eigenvalue, or to each λ where the solver was asked so; ``converged`` says whether it is within the
    tolerance. ``iterations`` counts passes over A, or degrees of polynomials of A. ``product`` is ``A V`` (``V Λ`` up
    to the residual) and ``lowest`` the lowest eigenvalue or Ritz value seen.
    """

    values: Doubles
    vectors: Doubles
    residual: float
    converged: bool
    solver: str
    iterations: int
    product: Doubles
    lowest: float


def warn_unless_converged(pairs: Eigenpairs, advice: str) -> Eigenpairs:
    """The same pairs; a warning with ``advice`` if their residual is above the tolerance."""
    if not pairs.converged:
        warn(
            f"Eigenvectors: residual {pairs.residual:.1e} of the largest eigenvalue for {len(pairs.vectors):,} rows "
            f"after {pairs.iterations:,} iterations of the solver {pairs.solver!r}, above the tolerance: eigenvalues "
            f"are nearly equal. {advice}",
            ConvergenceWarning,
        )
    return pairs
