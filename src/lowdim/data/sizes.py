"""Limits on the numbers of neighbours and components, checked before any work starts."""

from typing import Any


def count_neighbors(name: str, given: Any, auto: int, below: int, of: str = "n_samples") -> int:
    """Neighbours of each row: as given, if that is below a limit, which is ``of``, or ``auto``.

    >>> count_neighbors("LLE", "auto", 10, 150), count_neighbors("LLE", 12, 10, 150)
    (10, 12)
    """
    if given in ("auto", "choose"):  # the estimates before a choice are those of "auto"
        return auto
    if given >= below:
        raise ValueError(
            f"{name}: n_neighbors must be below {of} ({below:,}); got {given}. Lower it or pass more samples."
        )
    return int(given)


def demand_components(name: str, given: int, limit: int, of: str, advice: str = "pass more rows") -> None:
    """Refuse more components than ``limit``, which is ``of`` in words.

    >>> demand_components("LLE", 2, 149, "n_samples - 1 = 149")
    """
    if given > limit:
        raise ValueError(f"{name}: n_components must be at most {of}; got {given}. Lower it, or {advice}.")
