"""Rows of tensors with gaps, in float64 a block at a time; see :mod:`lowdim.compose.pca_with_gaps`."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from lowdim.backends import TORCH
from lowdim.backends.torch.moments import doubles, row_blocks
from lowdim.backends.torch.tensors import torch_dtype
from lowdim.compose import pca_with_gaps
from lowdim.compose.pca_with_gaps import Factors, Products, Sums, doubled, shifted
from lowdim.relate import gaps
from lowdim.relate.gaps import Frame, Survey
from lowdim.solve import gap_posterior
from lowdim.solve.gap_posterior import Posterior, packed, symmetric

_WIDTH = 2  # a value and its mask


def blocks(X: Any, frame: Frame, width: int = _WIDTH) -> Iterator[tuple[slice, Any, Any]]:
    """Yield (rows, Z, M): values in the units of the frame, 0 in gaps, and a mask of the observed ones."""
    rate = doubles(1.0 / frame.scale, X)
    for rows, block in row_blocks(X, doubles(frame.shift, X), width=width):
        known = _known(X[rows], frame)
        yield rows, torch.where(known, block * rate, 0.0), known.double()


def _known(X: Any, frame: Frame) -> Any:
    known = X == X  # NaN differs from itself
    return known & (X != 0) if frame.zeros else known


@TORCH.implements(gaps.survey)
def survey(X: Any, zeros: bool, weights: Any = None) -> Survey:
    """What the columns of rows with gaps hold, in two passes."""
    (n, d), frame = X.shape, Frame(np.zeros(X.shape[1]), np.ones(X.shape[1]), zeros)
    w = doubles(np.ones(n) if weights is None else weights, X)
    weight, sums, squares = torch.zeros(3, d, dtype=torch.float64, device=X.device)
    known, empty, infinite = 0, None, None
    for rows, Z, M in blocks(X, frame):
        weight, sums, counts = weight + w[rows] @ M, sums + w[rows] @ Z, M.sum(1)
        known += int(counts.sum())
        if empty is None and not bool(counts.all()):
            empty = rows.start + int(counts.argmin())
        if infinite is None and bool(Z.isinf().any()):
            row, column = Z.isinf().nonzero()[0].tolist()
            infinite = rows.start + row, column
    mean = (sums / weight.clamp_min(1e-300)).cpu().numpy()
    for rows, Z, _ in blocks(X, frame._replace(shift=mean)):
        squares = squares + w[rows] @ Z.square()
    variance = (squares / weight.clamp_min(1e-300)).cpu().numpy()
    return Survey(weight.cpu().numpy(), mean, variance, n * d - known, empty, infinite)


@TORCH.implements(gaps.pair_moments)
def pair_moments(X: Any, frame: Frame, dtype: Any) -> Any:  # noqa: ARG001
    """``Σ z_i z_j / c_ij`` (d, d) over the rows that have both values of a pair of columns."""
    products, counts = torch.zeros(2, X.shape[1], X.shape[1], dtype=torch.float64, device=X.device)
    for _, Z, M in blocks(X, frame):
        products.addmm_(Z.T, Z)
        counts.addmm_(M.T, M)
    return (products / counts.clamp_min(1.0)).cpu().numpy()


@TORCH.implements(pca_with_gaps.filled_by_mean)
def filled_by_mean(X: Any, frame: Frame, dtype: Any) -> Any:
    """All rows in the units of the frame, with 0 in gaps."""
    out = torch.empty(X.shape, dtype=torch_dtype(dtype), device=X.device)
    for rows, Z, _ in blocks(X, frame):
        out[rows] = Z.to(out.dtype)
    return out


@TORCH.implements(gap_posterior.posterior)
def posterior(A: Any, B: Any, noise: float, weights: Any = None) -> Posterior:
    """``t ~ N(M⁻¹ b, σ² M⁻¹)`` with ``M = A + σ² I`` for each row: ``A`` packed (n, q), ``b`` rows of ``B`` (n, k)."""
    k = B.shape[1]
    M = symmetric(A, k) + noise * torch.eye(k, dtype=A.dtype, device=A.device)
    L = torch.linalg.cholesky(M)
    inverse = torch.cholesky_inverse(L)
    t = (inverse @ B[:, :, None])[:, :, 0]
    u = torch.cat([t, torch.ones_like(t[:, :1])], dim=1)
    products = packed(u)
    i, j = np.tril_indices(k)
    products[:, : len(i)] += noise * inverse[:, i, j]
    w = 1.0 if weights is None else weights[:, None]
    return Posterior(u * w, products * w, 2 * L.diagonal(dim1=1, dim2=2).log().sum(1), (t * B).sum(1))


@TORCH.implements(pca_with_gaps.expectation)
def expectation(X: Any, frame: Frame, factors: Factors, weights: Any = None) -> Sums:
    """Sums over the rows of what their observed values say about t, and the loss of these factors."""
    d, k = factors.W.shape
    W, pack, logs = doubles(factors.W, X), doubles(packed(factors.W), X), doubles(np.log(frame.scale), X)
    q = (k + 1) * (k + 2) // 2
    products, crosses = (torch.zeros(d, c, dtype=torch.float64, device=X.device) for c in (q, k + 1))
    latent, totals = (torch.zeros(c, dtype=torch.float64, device=X.device) for c in (q, 4))
    for rows, Z, M in blocks(X, shifted(frame, factors), width=max(_WIDTH, (k + 1) ** 2)):
        counts, squares = M.sum(1), Z.square().sum(1)
        w = torch.ones_like(counts) if weights is None else doubles(weights[rows], X)
        P = posterior(M @ pack, Z @ W, factors.noise, w)
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
        latent += P.products.sum(0)
        products.addmm_(M.T, P.products)
        crosses.addmm_(Z.T, P.means)
        totals += w @ torch.stack([squares, counts, torch.ones_like(counts), loss], dim=1)
    sums = (A.cpu().numpy() for A in (products, crosses, latent))
    return Sums(*sums, *totals.tolist())


@TORCH.implements(pca_with_gaps.observed_products)
def observed_products(X: Any, frame: Frame, U: Any) -> Products:
    """Products of the observed values of rows with directions ``U`` (d, k), in float64."""
    turn, pack, logs = doubles(U, X), doubles(packed(U), X), doubles(np.log(frame.scale), X)
    parts = [(M @ pack, Z @ turn, Z.square().sum(1), M.sum(1), M @ logs) for _, Z, M in blocks(X, frame)]
    return Products(*(torch.cat(part) for part in zip(*parts, strict=True)))


@TORCH.implements(pca_with_gaps.filled)
def filled(X: Any, frame: Frame, latent: Any, W: Any, dtype: Any) -> Any:
    """Rows (n, d) with ``shift + scale W t`` in their gaps, from ``t`` (n, k)."""
    out = latent @ doubles(W * frame.scale[:, None], X).T + doubles(frame.shift, X)
    return torch.where(_known(X, frame), X.double(), out).to(torch_dtype(dtype))


@TORCH.implements(pca_with_gaps.gap_deviations)
def gap_deviations(X: Any, frame: Frame, covariance: Any, W: Any, noise: float, dtype: Any) -> Any:
    """Standard errors (n, d) of what fills gaps, 0 elsewhere, from the packed covariances (n, q) of t."""
    variances = (covariance @ doubles(doubled(W), X).T + noise).clamp_min(0.0)
    return torch.where(_known(X, frame), 0.0, doubles(frame.scale, X) * variances.sqrt()).to(torch_dtype(dtype))
