"""Spectra for kernel PCA from features: each row as its kernel values at landmarks, weighted, and moments of these.

With ``K ≈ Φ Φᵀ``, ``Φ = K(·, S) W``, the eigenvalues of ``H K H`` are those of ``Σ (φ − m)(φ − m)ᵀ``, of the size of
the landmarks S: rows need not be in one place, nor in memory at once.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.kernel_spectrum import Approximation, KernelSpectrum, factor, inverse_roots
from lowdim.relate.kernels import Kernel, KernelRows
from lowdim.relate.moment_states import Moments
from lowdim.relate.moments import moments
from lowdim.solve.leading_eigenpairs import eigh_top
from lowdim.work.dispatch import operation


@operation
def draw(X: Any, seed: int) -> tuple[Any, NDArray[np.int64]]:  # noqa: ARG001  # other backends draw
    """Rows that landmarks are chosen from, all there are, and their numbers."""
    return X, np.arange(X.shape[0])


@operation
def of_features(
    X: Any,
    kernel: Kernel,
    A: KernelRows,
    shift: NDArray | None,
    k: int,
    way: Approximation,
    seed: int,
) -> KernelSpectrum:
    """Leading ``k`` eigenpairs of the features that landmarks among the rows ``A`` give to all rows ``X``.

    Vectors and scores are those of the landmarks. :func:`lowdim.compose.kernel_spectrum.low_rank` is faster for rows
    in one memory, since it computes their features once.
    """
    features = landmark_features(kernel, A, shift, k, way, seed)
    return features.spectrum(features.summed(X), k)


class Summed(NamedTuple):
    """Moments of the features of some rows, the trace of the kernel over them, and its largest diagonal entry."""

    moments: Moments
    trace: float
    largest: float

    def merge(self, other: "Summed") -> "Summed":
        """Both sets of rows combined."""
        whole = self.moments.merge(other.moments)
        return Summed(whole, self.trace + other.trace, max(self.largest, other.largest))


class Features(NamedTuple):
    """Feature map ``φ(x) = Wᵀ k(S, x)``, with ``φ(x)ᵀφ(x') ≈ k(x, x')``."""

    kernel: Kernel
    basis: KernelRows
    shift: NDArray | None
    weights: NDArray
    pivots: NDArray[np.int64]

    def summed(self, X: Any) -> Summed:
        """Statistics of some rows that the spectrum needs."""
        A = self.kernel.rows(X, self.shift, self.basis.dtype)
        phi = self.kernel.project(A, self.basis, self.weights.astype(self.basis.dtype))
        diagonal = self.kernel.diagonal(A)
        return Summed(moments(phi), float(diagonal.sum()), float(diagonal.max()))

    def spectrum(self, over: Summed, k: int) -> KernelSpectrum:
        """Eigenpairs from the features of all rows: those of ``Σ (φ − m)(φ − m)ᵀ``."""
        M, r = over.moments, len(over.moments.mean)
        pairs = eigh_top(M.scatter, min(k, r))
        values, V = np.pad(pairs.values, (0, max(0, k - r))), np.pad(pairs.vectors, ((0, 0), (0, max(0, k - r))))
        inverse = inverse_roots(values, self.basis, over.largest, M.rows)
        some = inverse > 0
        dual, offset = self.weights @ (V * some), (M.mean @ V) * some
        scores = self.kernel.block(self.basis, self.basis) @ dual - offset
        held = float(np.trace(M.scatter)) + M.rows * float(M.mean @ M.mean)
        error = max(0.0, 1.0 - held / over.trace) if over.trace > 0 else 0.0
        vectors = scores * inverse
        return KernelSpectrum(values * some, vectors, dual, offset, scores, self.basis, None, self.pivots, error)


def landmark_features(
    kernel: Kernel, A: KernelRows, shift: NDArray | None, k: int, way: Approximation, seed: int
) -> Features:
    """Features by landmarks chosen among the rows ``A``."""
    low = factor(kernel, A, kernel.diagonal(A), k, way, seed)
    return Features(kernel, A[low.pivots], shift, low.dual(np.eye(len(low.factor))), low.pivots)
