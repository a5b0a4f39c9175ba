"""Operations for distributed rows, in Dask arrays and DataFrames, registered when the package is imported.

Each block is computed by the NumPy version; ``lowdim.backends.dask.graphs`` combines the blocks into one result.
"""

from lowdim.backends.dask import (  # noqa: F401  # each registers its functions
    common_neighbors,
    conversions,
    cross_moments,
    gram,
    kernel_features,
    labels,
    lazy_calls,
    moments,
    projection,
    sampled_space,
    sampling,
    shrinkage,
    spectrum,
    validation,
)

SUPPORTED = frozenset({"CCA", "KLExpansion", "KernelPCA", "LDA", "PCA"})  # estimators that fit from blocks
