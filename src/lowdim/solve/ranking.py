"""From scores of columns to an order of them: the greedy order of mRMR, p-values, and their correction."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
CORRECTIONS = ("bh", "holm", "bonferroni", "none")


def greedy_order(
    relevance: Doubles, redundancy_with: Callable[[int], Doubles], steps: int
) -> tuple[NDArray[np.intp], Doubles]:
    """Order (d,) of columns by relevance less the mean redundancy with those before, and their scores (d,).

    ``redundancy_with(j)`` (d,) is the redundancy of all columns with one. After ``steps`` columns the rest follows by
    what it scores then. Ties go to the first.

    >>> far = lambda j: np.array([[9.0, 9.0, 0.0], [9.0, 9.0, 0.0], [0.0, 0.0, 9.0]])[j]
    >>> greedy_order(np.array([3.0, 2.9, 1.0]), far, 2)[0]
    array([0, 2, 1])
    """
    d, order, scores = len(relevance), list[int](), np.full(len(relevance), -np.inf)
    total, left = np.zeros(d), np.ones(d, bool)
    for step in range(min(steps, d)):
        now = relevance - total / max(step, 1)
        best = int(np.argmax(np.where(left, now, -np.inf)))
        order.append(best)
        scores[best], left[best] = now[best], False
        if step + 1 < d:
            total += redundancy_with(best)
    rest = np.flatnonzero(left)
    now = relevance - total / max(len(order), 1)
    scores[rest] = now[rest]
    return np.concatenate([order, rest[np.argsort(-now[rest], kind="stable")]]).astype(np.intp), scores


def permutation_p_values(scores: Doubles) -> Doubles:
    """Shares (d,) of the columns of ``scores`` (d, t) that reach the first, which counts itself.

    >>> permutation_p_values(np.array([[3.0, 1.0, 2.0, 3.0]]))
    array([0.5])
    """
    return np.asarray((scores >= scores[:, :1]).mean(axis=1))


def corrected(p: Doubles, how: str) -> Doubles:
    """p-values for many tests: "bh" bounds the share of false discoveries, "holm" and "bonferroni" any at all.

    >>> corrected(np.array([0.01, 0.04, 0.03]), "holm").round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    n, order = len(p), np.argsort(p, kind="stable")
    if how == "none":
        return p
    if how == "bonferroni":
        return np.minimum(p * n, 1.0)
    out = np.empty(n)
    if how == "holm":
        out[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(n, 0, -1)), 1.0)
    else:
        steps = p[order] * n / np.arange(1, n + 1)
        out[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return out
