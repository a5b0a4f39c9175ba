"""Parts common to all measures: validation, sampling of rows, and a float with its standard error."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import SampledRows
from lowdim.data import options
from lowdim.data.labels import Labels, labels
from lowdim.work import thread_limit
from lowdim.work.random import seed_of, stream

NEIGHBORS = 5  # of each row, in measures of neighbourhoods: the default of scikit-learn's trustworthiness
SAMPLE = options.none | options.one_of("auto") | options.integer(1)
METRIC = options.one_of("euclidean", "cosine", "manhattan", "precomputed")


class Measure(float):
    """A float with its standard error (0 if computed on all rows) and the number of sampled rows or pairs (or None).

    >>> Measure(0.5)
    0.5
    >>> sampled = Measure(0.5, error=0.01, sampled=1000)
    >>> sampled, sampled + 1, sampled.sampled
    (0.5 ± 0.01, 1.5, 1000)
    """

    error: float
    sampled: int | None

    def __new__(cls, value: float, error: float = 0.0, sampled: int | None = None) -> "Measure":
        """Store the standard error and the size of the sample."""
        number = super().__new__(cls, value)
        number.error, number.sampled = float(error), sampled
        return number

    def __repr__(self) -> str:
        return f"{float(self):.6g} ± {self.error:.1g}" if self.error else float.__repr__(self)


TEXTS = {  # what docstrings of measures share
    "X": """X : array, DataFrame or CSR matrix of shape (n_samples, n_features)
        The data, or their distances with ``metric="precomputed"``.""",
    "Y": """Y : array or DataFrame of shape (n_samples, n_components)
        The map.""",
    "metric": """metric : {"euclidean", "cosine", "manhattan", "precomputed"}, default "euclidean"
        Distance in ``X``; that in ``Y`` is always Euclidean.""",
    "rows": """sample : None, int or "auto", default "auto"
        Rows to use: all, this many, or all up to ``n²d = 5e12`` products. Their neighbours are searched among all rows.
    random_state : int, Generator, RandomState or None, default 0
        Seed of the sample.""",
    "sampled_rows": """Measure
        A float; its ``error`` is the standard error of sampling, ``sampled`` the number of rows, or None for all.""",
}


@contextmanager
def measuring(name: str, rules: Mapping[str, options.Rule], **given: Any) -> Iterator[str]:
    """Validate the arguments of the measure ``name``, limit threads to its ``n_jobs``, and yield the name."""
    options.check(name, given, rules)
    with thread_limit.using(given["n_jobs"]):
        yield name


def labels_of(who: str, y: Any, Y: Any) -> Labels:
    """Labels of the rows, at least two classes of them."""
    if y is None:
        raise ValueError(f"{who}: the labels y of the rows are needed; got None. Pass one label per row.")
    return labels(who, y, Y, of="Y")


def demand_neighbors(who: str, k: int, n: int, below: float, reason: str) -> None:
    """Raise ValueError unless ``k`` neighbours are fewer than ``below``."""
    if not k < below:
        raise ValueError(
            f"{who}: n_neighbors must be below {reason} ({below:g} for {n:,} rows); got {k}. Lower it or "
            "pass more rows."
        )


class Sample(SampledRows):
    """Rows that a measure uses, and the mean of a score over them with its error."""

    def mean(self, values: NDArray[np.floating]) -> Measure:
        """Mean over all rows, from the values of those used."""
        if self.rows is None:
            return Measure(float(values.mean()))
        m = len(values)
        left = 1 - m / self.n  # drawn without replacement: all rows would leave no error
        spread = float(values.std(ddof=1)) if m > 1 else float("nan")
        return Measure(float(values.mean()), spread * (left / m) ** 0.5, m)


def draw_rows(n: int, sample: Any, automatic: int, random_state: Any, stage: str) -> Sample:
    """Rows for ``sample``: None is all, a number that many, ``"auto"`` as many as ``automatic`` says; or a sample."""
    if isinstance(sample, Sample):
        return sample
    m = n if sample is None else automatic if not isinstance(sample, Integral) else int(sample)
    if m >= n:
        return Sample(n, None)
    return Sample(n, np.sort(stream(seed_of(random_state), stage).choice(n, m, replace=False)))
