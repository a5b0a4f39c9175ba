"""Two views of many features correlate whatever the data: their spans must meet."""

from lowdim.work.user_warnings import warn


def warn_of_overlap(name: str, n: int, rank: int, other: int) -> None:
    """Warn, from ``fit``, where two views of these ranks must share directions of the n − 1 that n rows have."""
    shared = rank + other - (n - 1)
    if shared > 0:
        warn(
            f"{name}: without a ridge the ranks of the views must add up to at most n_samples - 1 = {n - 1}; got "
            f"{rank} and {other}, so {shared} of the correlations {'is' if shared == 1 else 'are'} 1 whatever the "
            "data. Pass a ridge, such as 1e-3, or more rows, and judge on new rows.",
        )
