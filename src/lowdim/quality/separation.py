"""Are groups of rows apart in the data? A test on rows that chose neither the axis nor the groups.

Formulas, and what was measured, are in docs/maths/reliability.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.compose.metric_space import rows_of
from lowdim.data import options
from lowdim.methods.lda import LDA
from lowdim.quality.fitted_map import FEWEST
from lowdim.quality.measure import measuring
from lowdim.relate.neighbors import nearest
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of, stream
from lowdim.work.rows import searchable, take
from lowdim.work.user_warnings import ScaleWarning

_NEAREST = 15
_LEAST = 8  # rows of a group, so that each half has some
_WINDOWS = 8  # windows between the two means: as wide as the peaks and the valley
_SHRINKAGE = 0.1  # of the covariance within the groups, for the axis
_STEPS = 97  # positions of a window that are tried
_REACH = 0.95  # quantile of the distances from the axis within which rows of no group may lie between

_RULES = {"random_state": options.seed, "n_jobs": options.jobs}


@dataclass(frozen=True)
class Separation:
    """Two groups of rows; returned by :func:`separation`. Its text is a sentence.

    Attributes
    ----------
    groups : tuple
        Their names, and ``sizes`` their numbers of rows.
    across : float
        Share of the nearest rows of either group that are of the other, among rows of the two; ``expected`` is that of
        mixed groups.
    gap : float
        Median over rows of the distance to the other group over that to the own one.
    p_value : float
        That held-out rows have no valley along the axis between the groups.
    valley, peaks : int, tuple of two int
        Held-out rows in the valley, and in equally wide windows at the peak of either side, of the clearer half.
    """

    groups: tuple[Any, Any]
    sizes: tuple[int, int]
    across: float
    expected: float
    gap: float
    p_value: float
    valley: int
    peaks: tuple[int, int]

    def __str__(self) -> str:
        a, b = self.groups
        told = f"{self.valley} of the held-out rows lie between, against {self.peaks[0]} and {self.peaks[1]} beside"
        p = f"p = {self.p_value:.2g}"
        mixed = f"{self.across:.0%} of their nearest rows are of the other group, {self.expected:.0%} if mixed"
        if self.p_value < 0.05:
            return f"{a} and {b} are apart in the data ({told}, {p}); {mixed}."
        return f"{a} and {b} are not shown to be apart in the data: no valley between them ({told}, {p}); {mixed}."


def separation(
    X: Any,
    groups: Any,
    *,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> list[Separation]:
    """Test whether groups of rows, such as islands of a map, are apart in the data.

    Groups seen on a map were chosen by looking at it, so that a test of their difference on the same rows always
    rejects. Here one half of the rows gives the axis and the places of the valley and of the peaks; the other half is
    counted there, whatever its groups: a cloud that was cut in two has no valley.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        All rows of the data, those in no group too: they may fill the gap.
    groups : array (n_samples,), or pair of arrays of row numbers
        Label of each row, with None, NaN or −1 for rows in no group; or the rows of two groups.
    random_state : int, Generator, RandomState or None, default 0
        Seed of the halves.
    n_jobs : int, default None
        Number of threads; None uses all cores.

    Returns
    -------
    list of Separation
        One for each pair of groups, the least separated first.

    Examples
    --------
    >>> from lowdim import data, quality
    >>> X, y = data.load("iris")
    >>> setosa = quality.separation(X, [range(50), range(50, 150)])[0]
    >>> setosa.p_value < 0.05, round(setosa.across, 2)
    (True, 0.0)
    """
    with measuring("separation", _RULES, random_state=random_state, n_jobs=n_jobs) as who:
        X = rows_of(who, X, "X", minimum=FEWEST)
        codes, names = _codes(who, groups, X.shape[0])
        rows = searchable(X, float_dtype(X.dtype))
        seed = seed_of(random_state)
        pairs = [(a, b) for a in range(len(names)) for b in range(a + 1, len(names))]
        found = [_pair(rows, codes, (a, b), names, seed) for a, b in pairs]
        return sorted(found, key=lambda one: -one.p_value)


def _codes(who: str, groups: Any, n: int) -> tuple[NDArray[np.intp], list[Any]]:
    """Group of each row, −1 for none, and the names."""
    if isinstance(groups, list | tuple) and len(groups) == 2 and all(np.ndim(one) == 1 for one in groups):
        codes = np.full(n, -1, np.intp)
        for code, given in enumerate(groups):
            rows = np.asarray(given)
            if rows.dtype.kind not in "iu" or len(rows) == 0 or rows.min() < 0 or rows.max() >= n:
                raise ValueError(f"{who}: a group needs row numbers from 0 to {n - 1}; got {given!r}. Correct it.")
            if (codes[rows] >= 0).any():
                row = rows[codes[rows] >= 0][0]
                raise ValueError(f"{who}: groups must not overlap; both hold row {row}. Take it out of one.")
            codes[rows] = code
        names: list[Any] = ["group 1", "group 2"]
    else:
        import pandas as pd

        labels = np.asarray(groups, dtype=object)
        if labels.shape != (n,):
            raise ValueError(
                f"{who}: groups must hold one label for each of the {n:,} rows, or two lists of row numbers; got shape "
                f"{labels.shape}. Pass -1 for rows in no group."
            )
        none = pd.isna(labels) | np.array([isinstance(one, int | float | np.number) and one == -1 for one in labels])
        names = sorted(set(labels[~none].tolist()), key=lambda one: (str(type(one)), one))
        place = {name: code for code, name in enumerate(names)}
        codes = np.array([-1 if out else place[one] for one, out in zip(labels.tolist(), none, strict=True)], np.intp)
    if len(names) < 2:
        raise ValueError(f"{who}: at least two groups are needed; got {len(names)}. Pass labels of two or more.")
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    if sizes.min() < _LEAST:
        raise ValueError(
            f"{who}: groups of at least {_LEAST} rows are needed; {names[int(sizes.argmin())]!r} has {sizes.min()}. "
            "Leave it out, or add rows."
        )
    return codes, names


def _pair(X: Any, codes: NDArray[np.intp], pair: tuple[int, int], names: list[Any], seed: int) -> Separation:
    a, b = (np.flatnonzero(codes == code) for code in pair)
    both = np.concatenate([a, b])
    second = np.repeat([False, True], [len(a), len(b)])
    near = nearest(take(X, both), min(_NEAREST, len(both) - 1), how="exact").indices
    other = second[near] != second[:, None]
    expected = 2 * len(a) * len(b) / (len(both) * (len(both) - 1))
    to_b, to_a = (nearest(take(X, there), 1, take(X, here), how="exact").distances for here, there in ((a, b), (b, a)))
    within = np.concatenate([nearest(take(X, one), 1, how="exact").distances[:, 0] for one in (a, b)])
    across = np.concatenate([to_b[:, 0], to_a[:, 0]])
    ratios = np.divide(across, within, out=np.full(len(across), np.inf), where=within > 0)
    halves = stream(seed, "halves", pair[0] * len(names) + pair[1]).permutation(len(codes)) % 2 == 0
    tests = [_valley(X, codes, pair, train) for train in (halves, ~halves)]
    p, valley, peaks = min(tests, key=lambda test: test[0])
    return Separation(
        (names[pair[0]], names[pair[1]]), (len(a), len(b)), float(other.mean()), expected, float(np.median(ratios)),
        min(1.0, 2 * p), valley, peaks,
    )  # fmt: skip


def _valley(
    X: Any, codes: NDArray[np.intp], pair: tuple[int, int], train: NDArray[np.bool_]
) -> tuple[float, int, tuple[int, int]]:
    """Test of a valley: its p-value, and the held-out rows in the valley and at both peaks."""
    import warnings

    from scipy.stats import binom

    mine, theirs = ((codes == code) for code in pair)
    rows = np.flatnonzero(train & (mine | theirs))
    if min(mine[rows].sum(), theirs[rows].sum()) < 2:
        return 1.0, 0, (0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleWarning)
        axis = LDA(1, shrinkage=_SHRINKAGE).fit(take(X, rows), theirs[rows])
    line = axis.transform(X)[:, 0].astype(np.float64)
    ends = np.median(line[train & mine]), np.median(line[train & theirs])
    if ends[0] > ends[1]:
        line, ends = -line, (-ends[0], -ends[1])
    width = (ends[1] - ends[0]) / _WINDOWS
    if width <= 0:
        return 1.0, 0, (0, 0)
    # Rows of other groups are islands of their own; those of none count if they lie between the two.
    inside = (mine | theirs) | ((codes < 0) & _between(X, line, ends, train, mine, theirs))
    learnt, held = np.sort(line[train & inside]), np.sort(line[~train & inside])
    between = np.linspace(ends[0], ends[1] - width, _STEPS)
    low = between[int(np.argmin(_counts(learnt, between, width)))]
    sides = np.linspace(learnt[0], low - width, _STEPS), np.linspace(low + width, learnt[-1], _STEPS)
    tops = [side[int(np.argmax(_counts(learnt, side, width)))] for side in sides]
    valley, left, right = (int(_counts(held, np.array([at]), width)[0]) for at in (low, *tops))
    # Under one mode the valley has at least the density of one of the peaks: counts are at worst Binomial(·, ½).
    p = max(float(binom.cdf(valley, valley + peak, 0.5)) for peak in (left, right))
    return p, valley, (left, right)


def _between(
    X: Any,
    line: NDArray[np.float64],
    ends: tuple[float, float],
    train: NDArray[np.bool_],
    mine: NDArray[np.bool_],
    theirs: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Rows whose projection is between two groups, as near to the segment between their means as rows of these."""
    first, second = (np.asarray(X[train & one].mean(axis=0), np.float64).ravel() for one in (mine, theirs))
    step = second - first
    share = np.clip(_products(X, step) - first @ step, 0, step @ step) / (step @ step or 1.0)
    squares = _squares(X) - 2 * (_products(X, first) + share * _products(X, step))
    squares += first @ first + 2 * share * (first @ step) + share**2 * (step @ step)
    limit = np.quantile(squares[train & (mine | theirs)], _REACH)
    return (line > ends[0]) & (line < ends[1]) & (squares <= limit)


def _products(X: Any, v: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(X @ v.astype(X.dtype), np.float64)


def _squares(X: Any) -> NDArray[np.float64]:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def _counts(ordered: NDArray[np.float64], starts: NDArray[np.float64], width: float) -> NDArray[np.intp]:
    """Values in windows of a width."""
    return np.searchsorted(ordered, starts + width) - np.searchsorted(ordered, starts)
