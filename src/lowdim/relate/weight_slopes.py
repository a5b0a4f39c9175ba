"""How the weights of a row's neighbours change with the row: derivatives of :mod:`affinities` and :mod:`fuzzy`.

The weights are given as the fit computed them; only their slopes are computed here, in float64, for one row.
"""

import numpy as np
from numpy.typing import NDArray

from lowdim.relate.affinities import likelihoods
from lowdim.relate.fuzzy import Memberships
from lowdim.relate.metrics import distances_to, kind_of

Floats = NDArray[np.float64]
_STEP = 1e-6  # of differences of other metrics, in units of the largest value of a row
_CAPPED = 1e-3  # from the target, beyond which the width of a row is a bound
_NEWTON = 4
_CLOSED = ("euclidean", "cosine", "correlation", "manhattan")  # metrics whose slopes have a closed form


def distance_slopes(row: NDArray, neighbors: NDArray, metric: str) -> tuple[Floats, Floats]:
    """Distances (near,) of a row (d,) from its ``neighbors`` (near, d), and their slopes (near, d) with its values.

    In closed form for the metrics of ``_CLOSED``, by central differences for other ``differentiable`` ones.

    >>> distance_slopes(np.array([3.0, 4.0]), np.zeros((1, 2)), "euclidean")
    (array([5.]), array([[0.6, 0.8]]))
    >>> distance_slopes(np.array([0.0, 2.0]), np.array([[1.0, 0.0]]), "cosine")
    (array([1.]), array([[-0.5,  0. ]]))
    """
    x, B = np.asarray(row, np.float64), np.asarray(neighbors, np.float64)
    if str(metric) == "euclidean":
        gaps = x - B
        lengths = np.sqrt((gaps**2).sum(axis=1))
        return lengths, np.divide(gaps, lengths[:, None], out=np.zeros_like(gaps), where=lengths[:, None] > 0)
    if str(metric) == "manhattan":
        return np.abs(x - B).sum(axis=1), np.sign(x - B)
    if str(metric) == "correlation":
        lengths, slopes = distance_slopes(x - x.mean(), B - B.mean(axis=1, keepdims=True), "cosine")
        return lengths, slopes - slopes.mean(axis=1, keepdims=True)
    if str(metric) == "cosine":
        size, sizes = np.linalg.norm(x) or 1.0, np.linalg.norm(B, axis=1)
        units = B / np.where(sizes > 0, sizes, 1.0)[:, None]
        shared = units @ x / size
        return 1 - shared, (shared[:, None] * x / size - units) / size
    h = _STEP * max(1e-3, float(np.abs(B).max(initial=0)), float(np.abs(x).max(initial=0)))
    moved = np.concatenate([x + h * np.eye(len(x)), x - h * np.eye(len(x))])
    there = distances_to(moved, B, metric)
    slopes = (there[: len(x)] - there[len(x) :]).T / (2 * h)
    lengths = distances_to(x[None], B, metric)[0]
    slopes[lengths <= 0] = 0.0
    return lengths, slopes


def differentiable(metric: str) -> bool:
    """Whether ``distance_slopes`` has this metric: its values change smoothly, and none of its parameters is learnt."""
    given = getattr(metric, "given", {})
    return str(metric) in _CLOSED or (bool(kind_of(metric).scipy or given) and metric not in ("hamming", "mahalanobis"))


def interpolated(at: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Values of the piecewise linear function through ``(x, y)``, constant beyond its ends, and its slopes.

    >>> interpolated(np.array([0.5, 2.0, 9.0]), np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 3.0]))
    (array([1. , 2.5, 3. ]), array([2. , 0.5, 0. ]))
    """
    right = np.clip(np.searchsorted(x, at, side="right"), 1, len(x) - 1)
    slopes = (y[right] - y[right - 1]) / (x[right] - x[right - 1])
    return np.interp(at, x, y), np.where((at < x[0]) | (at > x[-1]), 0.0, slopes)


def likelihood_slopes(
    lengths: Floats, slopes: Floats, perplexities: list[float], sigma: float | None
) -> tuple[Floats, Floats]:
    """Probabilities (near,) of the neighbours at these distances, and their slopes (near, d).

    With ``D = d²`` and precision ``β``, ``dp_j = −p_j (β (dD_j − Σ p dD) + dβ (D_j − Σ p D))``, where the entropy stays
    the same: ``dβ = −β Cov_p(dD, D)/Var_p(D)``.
    """
    squares = lengths**2
    rises = 2 * lengths[:, None] * slopes
    total, total_rise = np.zeros_like(lengths), np.zeros_like(slopes)
    for perplexity in perplexities:
        p, beta = _by_precision(lengths, squares, perplexity, sigma)
        away = squares - p @ squares
        apart = rises - p @ rises
        variance = float(p @ away**2)
        turn = np.zeros(slopes.shape[1])
        if sigma is None and variance > 0:
            turn = -beta * (p * away) @ apart / variance
        total += p
        total_rise -= p[:, None] * (beta * apart + away[:, None] * turn)
    return total / len(perplexities), total_rise / len(perplexities)


def _by_precision(lengths: Floats, squares: Floats, perplexity: float, sigma: float | None) -> tuple[Floats, float]:
    """Probabilities and their ``β``: that of the fit, whose float32 Newton's steps for the entropy make exact."""
    if sigma is not None:
        return _softmax(squares, 1 / (2 * float(sigma) ** 2))
    rough = likelihoods(lengths[None], [perplexity])[0][0].astype(np.float64)
    some = rough > 0
    logs, D, p = np.log(rough[some]), squares[some], rough[some] / rough[some].sum()
    away = D - p @ D
    variance = float(p @ away**2)
    beta = max(0.0, -float((p * away) @ logs) / variance) if variance > 0 else 0.0
    for _ in range(_NEWTON):
        q, beta = _softmax(squares, beta)
        over = float(-(q @ np.log(np.maximum(q, 1e-300)))) - np.log(perplexity)
        slope = -beta * float(q @ (squares - q @ squares) ** 2)
        if abs(over) > _CAPPED or slope == 0:  # a perplexity that cannot be reached
            break
        beta -= over / slope
    return _softmax(squares, beta)


def _softmax(squares: Floats, beta: float) -> tuple[Floats, float]:
    p = np.exp(-beta * (squares - squares.min()))
    return p / p.sum(), beta


def membership_slopes(lengths: Floats, slopes: Floats, found: Memberships) -> tuple[Floats, Floats]:
    """Memberships (near,) of the neighbours at ascending distances, and their slopes (near, d).

    ``v_j = exp(−(d_j − ρ)/σ)``, where ``ρ`` moves with the nearest distances, and ``σ`` so that the sum stays the same.
    """
    v, sigma = found.values[0].astype(np.float64), float(found.sigma[0])
    rho, rho_rises = _start(float(found.rho[0]), lengths, slopes)
    beyond = (lengths > rho * (1 + 1e-6)) & (v > 0)
    if not beyond.any() or sigma <= 0:
        return v, np.zeros_like(slopes)
    rises = np.where(beyond[:, None], slopes - rho_rises, 0.0)
    over = np.where(beyond, lengths - rho, 0.0)
    widening = np.zeros(slopes.shape[1])
    for _ in range(_NEWTON):
        v = np.where(beyond, np.exp(-over / sigma), v)
        above = v.sum() - np.log2(len(lengths) + 1)
        if abs(above) > _CAPPED:  # a width that is a bound
            break
        widening = sigma * (v @ rises) / (v @ over)
        sigma -= above / (v @ over) * sigma**2
    return v, -v[:, None] * (rises - over[:, None] / sigma * widening) / sigma


def _start(rough: float, lengths: Floats, slopes: Floats) -> tuple[np.float64, Floats]:
    """``ρ``, a distance or a mean of two that follow one another, and its slopes (d,); ``rough`` is in float32."""
    high = min(int(np.searchsorted(lengths, rough * (1 - 1e-6))), len(lengths) - 1)
    low = high - 1
    if rough <= 0:
        return np.float64(0.0), np.zeros(slopes.shape[1])
    if abs(lengths[high] - rough) <= 1e-6 * rough:
        return lengths[high], slopes[high]
    if low < 0 or lengths[low] <= 0:
        return np.float64(rough), slopes[high] * (rough / lengths[high])
    share = round((rough - lengths[low]) / (lengths[high] - lengths[low]), 5)
    return (1 - share) * lengths[low] + share * lengths[high], (1 - share) * slopes[low] + share * slopes[high]
