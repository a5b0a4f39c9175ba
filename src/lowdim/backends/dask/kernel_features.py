"""Spectra for kernel PCA of distributed rows: landmarks from a sample, moments of features over all blocks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.backends import DASK
from lowdim.backends.dask.graphs import counted, fold
from lowdim.backends.dask.moments import demand_rows
from lowdim.backends.dask.partitioned import Spread, Where
from lowdim.backends.dask.sampling import rows_at
from lowdim.compose import kernel_features as numpy_kernel_features
from lowdim.compose.kernel_features import Features, Summed, landmark_features
from lowdim.compose.kernel_spectrum import Approximation, KernelSpectrum
from lowdim.data.sampling import drawn
from lowdim.relate.kernels import Kernel, KernelRows

_DRAWN = 20_000  # rows that landmarks are chosen from


@DASK.implements(numpy_kernel_features.draw)
def draw(X: Spread, seed: int) -> tuple[Any, NDArray[np.int64]]:
    """Some rows by their numbers, the same for any blocks, and these numbers."""
    lengths = counted(X.X, X.name)
    ids = drawn(sum(lengths), _DRAWN, seed)
    return X.opened(rows_at(X.X, ids, lengths), Where(-1, None)), ids


@DASK.implements(numpy_kernel_features.of_features)
def of_features(
    X: Spread,
    kernel: Kernel,
    A: KernelRows,
    shift: NDArray | None,
    k: int,
    way: Approximation,
    seed: int,
) -> KernelSpectrum:
    """Leading ``k`` eigenpairs of the features that landmarks in the sample ``A`` give to all rows, in one pass."""
    features = landmark_features(kernel, A, shift, k, way, seed)
    state = 8.0 * len(features.pivots) ** 2
    over = fold(X, _summed, Summed.merge, features, state=state, stage="features of landmarks")
    demand_rows(X, over and over.moments)
    return features.spectrum(over, k)


def _summed(X: Any, features: Features) -> Summed:
    return features.summed(X)
