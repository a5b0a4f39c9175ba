"""Probabilistic PCA of rows with gaps, by EM over the observed values.

``x = m + W t + e`` with ``t ~ N(0, I)``, ``e ~ N(0, σ² I)`` (Tipping and Bishop 1999). Of a row with the observed
columns O only ``W_O`` counts: ``t | x_O ~ N(M⁻¹ W_Oᵀ (x − m)_O, σ² M⁻¹)``, ``M = W_Oᵀ W_O + σ² I``. The matrices M of
all rows are one product: the mask (n, d) times the packed products ``w_j w_jᵀ`` (d, k(k+1)/2).
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from lowdim.compose import spectrum
from lowdim.relate.gaps import Doubles, Frame, blocks, kept_sparse, observed_sums, observed_times, pair_moments
from lowdim.relate.moments import column_moments
from lowdim.solve.gap_posterior import packed, posterior, symmetric
from lowdim.solve.leading_eigenpairs import eigh_top
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import operation
from lowdim.work.progress import note, stage
from lowdim.work.user_warnings import warn

_PAIRS = 3000  # columns up to which EM starts from the covariance of pairs
_FLOOR = 30  # the least noise, in units of the rounding of the mean variance


class Factors(NamedTuple):
    """Loadings ``W`` (d, k), mean (d,) and noise variance, in the units of a frame."""

    W: Doubles
    mean: Doubles
    noise: float


class Sums(NamedTuple):
    """What a pass over the rows adds up, with ``u = (t, 1)`` and z less the current mean.

    ``products`` (d, q) are packed ``Σ E[u uᵀ]`` over the rows that have a column, ``crosses`` (d, k + 1) ``Σ z E[u]``,
    ``latent`` (q,) packed ``Σ E[u uᵀ]`` over all rows; then ``Σ z²``, the weight of values and of rows, and the
    negative logarithm of the likelihood.
    """

    products: Doubles
    crosses: Doubles
    latent: Doubles
    squares: float
    values: float
    rows: float
    loss: float


class Found(NamedTuple):
    """Directions (k, d) as rows, their variances, that of the noise, the mean, and the loss of each pass."""

    vectors: Doubles
    values: Doubles
    noise: float
    mean: Doubles
    losses: list[float]


def demand_memory(n: int, d: int, k: int, sparse: bool = False) -> None:
    """Refuse before allocating: blocks and their latent products, sums over them, and what the start needs."""
    q, rows = (k + 1) * (k + 2) // 2, -(-n // 16) if sparse else min(n, max(1, 2**20 // d))
    pass_ = 8.0 * (rows * ((0 if sparse else 2 * d) + 2 * q + 3 * k) + 21 * d * q)
    if by_pairs(n, d, sparse):
        before = 8.0 * (3 * rows * d + 4 * d * d)
    else:
        with memory.recording() as asked:
            spectrum.demand_memory(_solver(n, d, k, sparse), n, d, k)
        before = 8.0 * (0 if sparse else n * d + rows * d) + asked[0]
    what = f"PCA: missing='em' with {k:,} components of {d:,} features"
    memory.require(max(pass_, before) + 4e6, what, "Lower n_components.")


def by_pairs(n: int, d: int, sparse: bool) -> bool:
    """Whether EM starts from the covariance of pairs of columns."""
    return d <= _PAIRS and n >= d and not sparse


def _solver(n: int, d: int, k: int, sparse: bool) -> str:
    """Solver of the start that fills gaps by the mean."""
    how = spectrum.choose_for(n, d, k, sparse=sparse)
    return "randomized" if how == "covariance" else how


def demand_rows(n: int, d: int, copies: int) -> None:
    """Refuse before allocating dense rows with filled gaps."""
    memory.require(8.0 * n * d * (copies + 1), f"PCA: {n:,} filled rows of {d:,} features", "Pass fewer rows.")


def learn(X: Any, frame: Frame, k: int, weights: Doubles | None, *, seed: int, tol: float, max_iter: int) -> Found:
    """Most likely factors of rows with gaps, from a start that reads pairs of columns, or fills gaps by the mean."""
    return turned(*em(X, frame, start(X, frame, k, seed), weights, tol=tol, max_iter=max_iter))


def em(
    X: Any, frame: Frame, factors: Factors, weights: Doubles | None, *, tol: float, max_iter: int
) -> tuple[Factors, list[float]]:
    """Factors of the largest likelihood near given ones, and the loss of each pass."""
    losses: list[float] = []
    with stage("EM", total=max_iter) as tick:
        for step in range(max_iter):
            sums = expectation(X, frame, factors, weights)
            losses.append(sums.loss / sums.values)
            tick(step + 1)
            note(f"loss {losses[-1]:.5g}")
            if step and losses[-2] - losses[-1] < tol:
                break
            factors = maximise(sums, factors, float_dtype(X.dtype))
        else:
            warn(
                f"PCA: EM should change the loss by less than tol={tol:g}; max_iter={max_iter} passes ended before. "
                "Raise max_iter or tol."
            )
    return factors, losses


def turned(factors: Factors, losses: list[float]) -> Found:
    """The model along its principal directions."""
    U, s, _ = np.linalg.svd(factors.W, full_matrices=False)
    return Found(U.T, np.square(s) + factors.noise, factors.noise, factors.mean, losses)


def start(X: Any, frame: Frame, k: int, seed: int) -> Factors:
    """Factors of the covariance of pairs where that is small enough, else of the rows with gaps filled by the mean."""
    (n, d), dtype = X.shape, float_dtype(X.dtype)
    if by_pairs(n, d, kept_sparse(X, frame.zeros)):
        S = pair_moments(X, frame, dtype)
        total = float(np.trace(S))
        pairs = eigh_top(S, k)
        values, vectors = np.maximum(pairs.values, 0.0), pairs.vectors
    else:
        Z = filled_by_mean(X, frame, dtype)
        M = column_moments(Z)
        how, options = _solver(n, d, k, sp.issparse(Z)), dict[str, Any](standardize=False, proportion=None, seed=seed)
        found = spectrum.of_rows(Z, None, M, k, how, **options)
        total, values, vectors = found.total / n, np.pad(found.values, (0, k - len(found.values))) / n, found.vectors.T
    noise = max((total - float(values.sum())) / max(d - k, 1), 1e-3 * total / d)
    W = vectors * np.sqrt(np.maximum(values - noise, 1e-2 * noise))
    return Factors(W, np.zeros(d), noise)


@operation
def filled_by_mean(X: Any, frame: Frame, dtype: np.dtype) -> Any:
    """All rows in the units of the frame, with 0 in gaps.

    >>> filled_by_mean(np.array([[1.0, np.nan]]), Frame(np.zeros(2), np.ones(2), False), np.dtype(float))
    array([[1., 0.]])
    """
    if kept_sparse(X, frame.zeros):
        return sp.vstack([block.Z for block in blocks(X, frame, dtype)], format="csr")
    out = np.empty(X.shape, dtype)
    for block in blocks(X, frame, dtype):
        out[block.rows] = block.Z
    return out


@operation
def expectation(X: Any, frame: Frame, factors: Factors, weights: Doubles | None = None) -> Sums:
    """Sums over the rows of what their observed values say about t, and the loss of these factors.

    >>> rows, frame = np.array([[1.0, np.nan], [3.0, 5.0]]), Frame(np.zeros(2), np.ones(2), False)
    >>> float(expectation(rows, frame, Factors(np.zeros((2, 1)), np.zeros(2), 1.0)).squares)
    35.0
    """
    (d, k), dtype = factors.W.shape, float_dtype(X.dtype)
    W, pack, logs = factors.W.astype(dtype), packed(factors.W).astype(dtype), np.log(frame.scale).astype(dtype)
    products, latent = np.zeros((d, (k + 1) * (k + 2) // 2)), np.zeros((k + 1) * (k + 2) // 2)
    crosses, totals = np.zeros((d, k + 1)), np.zeros(4)
    for rows, Z, M, counts, squares in blocks(X, shifted(frame, factors), dtype):
        w = np.ones(len(counts)) if weights is None else weights[rows]
        P = posterior(observed_times(M, pack), observed_times(Z, W), factors.noise, w)
        loss = (
            0.5
            * (
                (counts - k) * np.log(factors.noise)
                + P.logdet
                + (squares - P.fit) / factors.noise
                + counts * np.log(2 * np.pi)
            )
            + M @ logs
        )
        latent += P.products.sum(axis=0, dtype=np.float64)
        products += observed_sums(M, P.products)
        crosses += observed_sums(Z, P.means)
        totals += w @ np.stack([squares, counts, np.ones(len(counts)), loss], axis=1)
    return Sums(products, crosses, latent, *map(float, totals))


def shifted(frame: Frame, factors: Factors) -> Frame:
    """The frame about the mean of the model."""
    return frame._replace(shift=frame.shift + frame.scale * factors.mean)


def maximise(sums: Sums, factors: Factors, dtype: np.dtype) -> Factors:
    """Most likely factors given the sums: a regression of each column on t, which gets the moments (0, I) again.

    The latter (Liu, Rubin and Wu 1998) changes no likelihood but speeds EM up.
    """
    k = factors.W.shape[1]
    V = np.linalg.solve(symmetric(sums.products, k + 1), sums.crosses[:, :, None])[:, :, 0]
    left = (sums.squares - float(np.sum(V * sums.crosses))) / sums.values
    floor = _FLOOR * float(np.finfo(dtype).eps) * sums.squares / sums.values
    centre, L = latent_moments(sums, k)
    mean = factors.mean + V[:, k] + V[:, :k] @ centre
    return Factors(V[:, :k] @ L, mean, max(left, floor, 1e-300))


def latent_moments(sums: Sums, k: int) -> tuple[Doubles, Doubles]:
    """Mean of t over all rows, and the Cholesky factor of its covariance."""
    T = symmetric(sums.latent[None], k + 1)[0] / sums.rows
    return T[k, :k], np.linalg.cholesky(T[:k, :k] - np.outer(T[k, :k], T[k, :k]))


def standardized(sums: Sums, k: int) -> Sums:
    """The sums with t given the moments (0, I) over all rows, as :func:`maximise` does."""
    centre, L = latent_moments(sums, k)
    A = np.eye(k + 1)
    A[:k, :k] = np.linalg.inv(L)
    A[:k, k] = -A[:k, :k] @ centre
    i, j = np.tril_indices(k + 1)
    products, latent = ((A @ symmetric(P, k + 1) @ A.T)[:, i, j] for P in (sums.products, sums.latent[None]))
    return sums._replace(products=products, crosses=sums.crosses @ A.T, latent=latent[0])


class Stream(NamedTuple):
    """Sums over the chunks so far in the units of a frame, and the factors."""

    sums: Sums
    factors: Factors


def next_chunk(X: Any, frame: Frame, seen: Stream | None, k: int, weights: Doubles | None, **how: Any) -> Stream:
    """The stream after another chunk: a step of EM that leaves the sums of earlier chunks (Neal and Hinton 1998)."""
    dtype = float_dtype(X.dtype)
    if seen is None:
        factors, _ = em(X, frame, start(X, frame, k, how.pop("seed")), weights, **how)
        return Stream(about_frame(expectation(X, frame, factors, weights), factors), factors)
    new = about_frame(expectation(X, frame, seen.factors, weights), seen.factors)
    parts: Any = zip(seen.sums, new, strict=True)
    sums = Sums(*(a + b for a, b in parts))
    still = seen.factors._replace(mean=np.zeros_like(seen.factors.mean))
    return Stream(standardized(sums, k), maximise(sums, still, dtype))


def about_frame(sums: Sums, factors: Factors) -> Sums:
    """Sums of z less the mean of the factors, as sums of z."""
    mean, k = factors.mean, factors.W.shape[1]
    latent, crosses = sums.products[:, -k - 1 :], sums.crosses
    squares = sums.squares + float(2 * mean @ crosses[:, k] + np.square(mean) @ latent[:, k])
    return sums._replace(crosses=crosses + mean[:, None] * latent, squares=squares)


class Products(NamedTuple):
    """Of rows: packed ``Σ u_j u_jᵀ`` over the observed columns, ``Σ z_j u_j``, ``Σ z²``, their count, ``Σ log s``."""

    pairs: Any
    scores: Any
    squares: Any
    counts: Any
    logs: Any


@operation
def observed_products(X: Any, frame: Frame, U: Doubles) -> Products:
    """Products of the observed values of rows with directions ``U`` (d, k), in float64.

    >>> frame = Frame(np.zeros(2), np.ones(2), False)
    >>> observed_products(np.array([[2.0, np.nan]]), frame, np.array([[1.0], [1.0]])).scores
    array([[2.]])
    """
    parts = [
        (
            observed_times(block.M, packed(U)),
            observed_times(block.Z, U),
            block.squares,
            block.counts,
            block.M @ np.log(frame.scale),
        )
        for block in blocks(X, frame, np.dtype(np.float64))
    ]
    return Products(*(np.concatenate(part) for part in zip(*parts, strict=True)))


@operation
def filled(X: Any, frame: Frame, latent: Any, W: Doubles, dtype: np.dtype) -> Any:
    """Rows (n, d) with ``shift + scale W t`` in their gaps, from ``t`` (n, k).

    >>> frame = Frame(np.zeros(2), np.ones(2), False)
    >>> filled(np.array([[2.0, np.nan]]), frame, np.array([[3.0]]), np.array([[1.0], [2.0]]), np.dtype(float))
    array([[2., 6.]])
    """
    out = (latent @ (W * frame.scale[:, None]).T + frame.shift).astype(dtype)
    values = X.toarray() if sp.issparse(X) else X
    known = values == values if not frame.zeros else (values == values) & (values != 0)
    np.copyto(out, values, where=known, casting="unsafe")
    return out


@operation
def gap_deviations(X: Any, frame: Frame, covariance: Any, W: Doubles, noise: float, dtype: np.dtype) -> Any:
    """Standard errors (n, d) of what fills gaps, 0 elsewhere, from the packed covariances (n, q) of t.

    >>> frame = Frame(np.zeros(1), np.ones(1), False)
    >>> gap_deviations(np.array([[np.nan]]), frame, np.array([[0.0]]), np.array([[1.0]]), 4.0, np.dtype(float))
    array([[2.]])
    """
    out = frame.scale * np.sqrt(np.maximum(covariance @ doubled(W).T + noise, 0.0))
    values = X.toarray() if sp.issparse(X) else X
    known = values == values if not frame.zeros else (values == values) & (values != 0)
    return np.where(known, 0.0, out).astype(dtype)


def doubled(W: Doubles) -> Doubles:
    """``packed(W)`` with the products of two different columns twice, as sums over a symmetric matrix need them."""
    k = W.shape[1]
    i, j = np.tril_indices(k)
    return packed(W) * np.where(i == j, 1.0, 2.0)
