"""Are distances preserved? Distances d_ij of pairs in X against e_ij in Y; formulas are in docs/maths/quality.md."""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import Space, both, demand_same_length, rows_of
from lowdim.data import options
from lowdim.data.descriptions import described
from lowdim.quality.measure import METRIC, SAMPLE, TEXTS, Measure, Sample, measuring
from lowdim.work import memory, thread_limit
from lowdim.work.blockwise import row_blocks
from lowdim.work.finite import refuse_overflow
from lowdim.work.random import seed_of, stream

_RULES = {"metric": METRIC, "sample": SAMPLE, "random_state": options.seed, "n_jobs": options.jobs}
_MOST = 500_000  # default number of pairs: all of 1,000 rows
_PARTS = 20  # parts of a sample, whose spread gives its standard error
_LARGE_PART = 1000  # pairs of a part from which its statistic approximates that of the whole
_SAME = 1e-13  # share of the squares below which a variance is rounding error

Doubles = NDArray[np.float64]


@described(TEXTS)
def shepard_correlation(
    X: Any,
    Y: Any,
    *,
    kind: str = "spearman",
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Correlation of the distances of pairs in the data with those in the map; 1 if their order is preserved.

    Parameters
    ----------
    {X}
    {Y}
    kind : {"spearman", "pearson"}, default "spearman"
        Correlation of the ranks of the distances, or of the distances themselves.
    {metric}
    sample : None, int or "auto", default "auto"
        Pairs to use: all, this many, or 500,000 if there are more (1,000 rows).
    random_state : int, Generator, RandomState or None, default 0
        Seed of the sample of pairs.
    n_jobs : int, default None
        Number of threads; None uses all cores.

    Returns
    -------
    Measure
        A float; its ``error`` is the standard error of sampling, ``sampled`` the number of pairs, or None for all.

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, _ = data.load("iris")
    >>> round(quality.shepard_correlation(X, PCA(2).fit_transform(X)), 3)
    0.996
    """
    rules = _RULES | {"kind": options.one_of("spearman", "pearson")}
    given = {"kind": kind, "metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("shepard_correlation", rules, **given) as who:
        pairs = Pairs(who, *both(who, X, Y, metric), sample, random_state)
        return pairs.sorted(spearman) if kind == "spearman" else pairs.summed(correlation)


def stress(
    X: Any,
    Y: Any,
    kind: str = "normalised",
    *,
    scaled: bool = True,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """How much the distances in the map differ from those in the data; 0 is perfect.

    Parameters
    ----------
    X, Y, metric, sample, random_state, n_jobs
        As in :func:`shepard_correlation`.
    kind : {"normalised", "kruskal", "sammon"}, default "normalised"
        Root of the squared differences, relative to the squared distances; Kruskal's stress-1, which allows any
        monotone function of the distances; Sammon's, in which small distances have more weight.
    scaled : bool, default True
        Whether to scale the map by the best factor first, so that its unit does not matter (for Kruskal's stress it
        never does).

    Returns
    -------
    Measure
        As in :func:`shepard_correlation`.

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, _ = data.load("iris")
    >>> Y = PCA(2).fit_transform(X)
    >>> round(quality.stress(X, Y), 3), round(quality.stress(X, Y, kind="kruskal"), 3)
    (0.04, 0.03)
    """
    rules = _RULES | {"kind": options.one_of("normalised", "kruskal", "sammon"), "scaled": options.flag}
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("stress", rules, kind=kind, scaled=scaled, **given) as who:
        pairs = Pairs(who, *both(who, X, Y, metric), sample, random_state)
        if kind == "kruskal":
            found = pairs.sorted(kruskal)
        else:
            found = pairs.summed(partial(normalised if kind == "normalised" else sammon, scaled=scaled))
        if not np.isfinite(found):
            raise ValueError(
                f"stress: distinct rows of X are needed; kind={kind!r} came to "
                f"{float(found)}. Pass other rows, or another kind."
            )
        return found


def residual_variance(
    X: Any,
    Y: Any,
    *,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Share of the variance of the distances that is not explained linearly by those in the map: 1 − r².

    Parameters and result are those of :func:`shepard_correlation`.

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, _ = data.load("iris")
    >>> round(quality.residual_variance(X, PCA(2).fit_transform(X)), 3)
    0.003
    """
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("residual_variance", _RULES, **given) as who:
        return Pairs(who, *both(who, X, Y, metric), sample, random_state).summed(unexplained)


def reconstruction_error(X: Any, X_back: Any, *, relative: bool = False, n_jobs: int | None = None) -> Measure:
    """Mean squared distance between the rows and their reconstructions.

    Parameters
    ----------
    X : array, DataFrame or CSR matrix of shape (n_samples, n_features)
        The data.
    X_back : array or DataFrame of the same shape
        Reconstructed rows, from ``inverse_transform``.
    relative : bool, default False
        Whether to divide by the total variance.
    n_jobs : int, default None
        Number of threads; None uses all cores. Results do not depend on it.

    Returns
    -------
    Measure
        A float, exact.

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, _ = data.load("iris")
    >>> pca = PCA(2).fit(X)
    >>> X_back = pca.inverse_transform(pca.transform(X))
    >>> round(quality.reconstruction_error(X, X_back, relative=True), 3)
    0.022
    """
    rules = {"relative": options.flag, "n_jobs": options.jobs}
    with measuring("reconstruction_error", rules, relative=relative, n_jobs=n_jobs) as who:
        A, B = rows_of(who, X, "X", minimum=1), rows_of(who, X_back, "X_back", sparse=False, minimum=1)
        demand_same_length(who, A, B, ("X", "X_back"))
        if A.shape != B.shape:
            raise ValueError(
                f"reconstruction_error: X_back must have the {A.shape[1]} columns of X; got {B.shape[1]}. Pass what "
                "inverse_transform returned."
            )
        error = _mean_square(A, B) / (_total_variance(A) if relative else 1.0)
        refuse_overflow(np.array(error), "reconstruction_error: the result")
        return Measure(error)


def _mean_square(A: Any, B: Any) -> float:
    total = 0.0
    for rows, block in row_blocks(A, np.float64):
        gap = block - B[rows]
        total += float(np.einsum("ij,ij->", gap, gap))
    return total / A.shape[0]


def _total_variance(A: Any) -> float:
    mean = np.asarray(A.mean(axis=0, dtype=np.float64)).ravel()
    total = sum(float(np.einsum("ij,ij->", block, block)) for _, block in row_blocks(A, np.float64, less=mean))
    rounding = A.shape[0] * np.finfo(np.float64).eps * np.abs(mean).max()  # of an entry of the mean
    refuse_overflow(np.array(total), "reconstruction_error: squared values")
    if total <= A.shape[0] * A.shape[1] * rounding * rounding:
        raise ValueError(
            "reconstruction_error: distinct rows are needed for relative=True; all rows of X are equal. Pass "
            "relative=False."
        )
    return total / A.shape[0]


class Pairs:
    """Distances of pairs of rows in both spaces: of all pairs, block by block, or of a sample of them."""

    def __init__(self, who: str, X: Space, Y: Space, sample: Any, random_state: Any) -> None:
        self.X, self.Y = X, Y
        n = self.X.n
        self.count = n * (n - 1) // 2
        asked = self.count if sample is None else (_MOST if sample == "auto" else int(sample))
        self.sampled = None if asked >= self.count else asked
        self.seed = seed_of(random_state)
        self.name = who

    def blocks(self) -> Iterator[tuple[Doubles, Doubles]]:
        """Distances (d, e) of all pairs, some at a time."""
        everyone = Sample(self.X.n, None)
        strips = zip(self.X.strips(everyone, "pairs in X"), self.Y.strips(everyone, "pairs in Y"), strict=True)
        for (rows, A), (_, B) in strips:
            after = np.arange(self.X.n) > np.arange(rows.start, rows.stop)[:, None]
            yield A[after], B[after]

    @cached_property
    def drawn(self) -> tuple[Doubles, Doubles]:
        """Distances (d, e) of the sampled pairs, drawn with replacement."""
        assert self.sampled is not None
        numbers = stream(self.seed, "pairs of a measure")
        first = numbers.integers(self.X.n, size=self.sampled)
        second = (first + numbers.integers(1, self.X.n, size=self.sampled)) % self.X.n
        rows, others = Sample(self.X.n, first), second[:, None].astype(np.int32)
        return self.X.apart(rows, others).ravel(), self.Y.apart(rows, others).ravel()

    @cached_property
    def side_by_side(self) -> tuple[Doubles, Doubles]:
        """Distances (d, e) of all pairs."""
        d, e = (np.concatenate(part) for part in zip(*self.blocks(), strict=True))
        return d, e

    def all(self) -> dict[str, Measure]:
        """Every measure of distances by name."""
        return {
            "shepard_correlation": self.sorted(spearman),
            "stress_normalised": self.summed(normalised),
            "stress_kruskal": self.sorted(kruskal),
            "stress_sammon": self.summed(sammon),
            "residual_variance": self.summed(unexplained),
        }

    def summed(self, statistic: Callable[[Doubles], float]) -> Measure:
        """Statistic of sums over the pairs."""
        if self.sampled is not None:
            return self._from_sample(lambda d, e: statistic(sums(d, e)))
        if "side_by_side" in vars(self) or self.count <= _MOST:
            return Measure(statistic(sums(*self.side_by_side)))
        return Measure(statistic(np.sum([sums(d, e) for d, e in self.blocks()], axis=0)))

    def sorted(self, statistic: Callable[[Doubles, Doubles], float]) -> Measure:
        """Statistic that needs all distances side by side."""
        if self.sampled is not None:
            return self._from_sample(statistic)
        memory.require(
            64 * self.count, f"{self.name}: {self.count:,} pairs", "Pass sample='auto' or a number of pairs."
        )
        return Measure(statistic(*self.side_by_side))

    def _from_sample(self, statistic: Callable[[Doubles, Doubles], float]) -> Measure:
        d, e = self.drawn
        return Measure(statistic(d, e), _spread(statistic, d, e), self.sampled)


def _spread(statistic: Callable[[Doubles, Doubles], float], d: Doubles, e: Doubles) -> float:
    """Standard error of the statistic of independent pairs, from parts of them; NaN for fewer than three."""
    m = len(d)
    if m < 3:
        return float("nan")
    parts = np.array_split(np.arange(m), min(m, _PARTS))
    if m >= _PARTS * _LARGE_PART:
        return float(np.std([statistic(d[part], e[part]) for part in parts], ddof=1)) / _PARTS**0.5
    # With few pairs, the statistic of all others without the part is used instead (the jackknife).
    without = [statistic(np.delete(d, part), np.delete(e, part)) for part in parts]
    return float(np.std(without)) * (len(parts) - 1) ** 0.5


def sums(d: Doubles, e: Doubles) -> Doubles:
    """Count, Σd, Σe, Σd², Σe², Σde, and Σe²/d, Σe where d > 0, from which every statistic of sums is computed."""
    apart = d > 0
    ratio = e[apart] / d[apart]
    with thread_limit.alone():  # the sums of BLAS depend on its number of threads
        return np.array([d.size, d.sum(), e.sum(), d @ d, e @ e, d @ e, ratio @ e[apart], e[apart].sum()])


def correlation(S: Doubles) -> float:
    """Pearson's, 0 where one side does not vary."""
    n, d, e, dd, ee, de = S[:6]
    vary = n * dd - d * d > _SAME * n * dd and n * ee - e * e > _SAME * n * ee
    return float((n * de - d * e) / (np.sqrt(n * dd - d * d) * np.sqrt(n * ee - e * e))) if vary else 0.0


def unexplained(S: Doubles) -> float:
    """1 − r²."""
    return 1 - correlation(S) ** 2


def normalised(S: Doubles, scaled: bool = True) -> float:
    """√(Σ(d − αe)² / Σd²), with the best α or 1."""
    dd, ee, de = S[3:6]
    if not dd:
        return 0.0 if not ee else float("inf")
    alpha = (de / ee if ee else 0.0) if scaled else 1.0
    return float(np.sqrt(max(0.0, dd - 2 * alpha * de + alpha**2 * ee) / dd))


def sammon(S: Doubles, scaled: bool = True) -> float:
    """Σ(d − αe)²/d / Σd over pairs that are apart in X, with the best α or 1."""
    d, ratio, e = S[1], S[6], S[7]
    if not d:
        return 0.0
    alpha = (e / ratio if ratio else 0.0) if scaled else 1.0
    return float(max(0.0, d - 2 * alpha * e + alpha**2 * ratio) / d)


def spearman(d: Doubles, e: Doubles) -> float:
    """Correlation of ranks, equal distances sharing their mean rank."""
    from scipy.stats import rankdata

    middle = (d.size + 1) / 2
    return correlation(sums(rankdata(d) - middle, rankdata(e) - middle))


def kruskal(d: Doubles, e: Doubles) -> float:
    """√(Σ(e − ê)² / Σe²), with ê the monotone function of d closest to e; pairs of equal d in the order of e.

    A map of one point has stress 1, the worst, unless the data are one point too.
    """
    from scipy.optimize import isotonic_regression

    if not e.any():
        return float(d.any())
    e = e[np.lexsort((e, d))]
    gap = e - isotonic_regression(e).x
    with thread_limit.alone():  # as in sums
        return float(np.sqrt(gap @ gap / (e @ e)))
