"""Verbs for distributed rows, in Dask arrays and DataFrames; the modules mirror those for NumPy.

Each block is computed by the NumPy verb; ``lowdim.work.cluster`` combines the blocks into one result.
"""

METHODS = frozenset({"CCA", "KLExpansion", "KernelPCA", "LDA", "PCA"})  # estimators that fit from blocks
