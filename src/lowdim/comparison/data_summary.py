"""The data at a glance, before any method is fitted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim.quality.fitted_map import FEWEST
from lowdim.quality.structure import structure

_WHOLE = 2000  # smaller side up to which the whole spectrum is computed; beyond it, the leading part
_PART = 100
_FAR_APART = 10.0  # ratio of standard deviations from which some columns dominate others


@dataclass(frozen=True)
class Facts:
    """Facts of a data set."""

    rows: int
    columns: int
    kind: str  # numeric type, and whether it is sparse
    constant: int  # constant columns
    spread: tuple[float, float] | None  # smallest and largest standard deviation of the others
    classes: int
    shares: np.ndarray  # of the variance, by principal component
    whole: bool  # whether ``shares`` has all components
    enough: int | None  # components that explain 90 % of the variance
    corner: int | None  # components before the elbow
    dimension: dict[str, float]  # intrinsic dimension, by estimator

    noise: float | None  # p-value of neighbours as close as in permuted columns; None for too few rows
    alike: bool  # whether all columns have one unit: pixels, bytes, counts of words

    @property
    def drowned(self) -> bool:
        """Whether columns differ so much in scale that a few dominate every distance."""
        return not self.alike and self.spread is not None and self.spread[1] > _FAR_APART * self.spread[0]


def gather(X: Any, classes: int, pictures: bool, random_state: int) -> Facts:
    """Facts of the validated data ``X``; ``pictures`` says that its columns are pixels."""
    from lowdim.comparison.measures import intrinsic_dimension
    from lowdim.methods.pca import PCA
    from lowdim.relate.feature_scales import one_unit
    from lowdim.relate.moments import column_moments
    from lowdim.solve.component_count import components_for, elbow

    moments = column_moments(X)
    deviation = np.sqrt(moments.variance)
    still = deviation <= 1e-9 * np.abs(moments.mean)
    moving = deviation[~still]
    whole = min(X.shape) <= _WHOLE
    count = None if whole else _PART
    shares = np.asarray(PCA(count, random_state=random_state).fit(X).explained_variance_ratio_, dtype=np.float64)
    varies = bool(shares[0])
    return Facts(
        rows=X.shape[0],
        columns=X.shape[1],
        kind=f"{X.dtype}{', sparse' if sparse.issparse(X) else ''}",
        constant=int(still.sum()),
        spread=(float(moving.min()), float(moving.max())) if len(moving) else None,
        classes=classes,
        shares=shares if varies else np.zeros(0),
        whole=whole,
        enough=components_for(0.9, shares) if varies and shares.sum() >= 0.9 else None,
        corner=elbow(shares) if varies and whole else None,
        dimension=intrinsic_dimension(X, random_state),
        noise=_noise(X, random_state),
        alike=pictures or one_unit(X),
    )


def _noise(X: Any, random_state: int) -> float | None:
    """P-value of the test that neighbours are no closer than with the columns permuted."""
    if X.shape[0] < FEWEST or X.shape[1] < 2:
        return None
    return structure(X, random_state=random_state).p_value
