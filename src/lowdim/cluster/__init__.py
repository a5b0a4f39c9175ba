"""Verbs for rows on several machines, in Dask's arrays and DataFrames: a module for each module of NumPy's.

What is computed of a block is what NumPy's verb computes; ``lowdim.work.cluster`` says how blocks become one result.
"""

METHODS = frozenset({"CCA", "KLExpansion", "KernelPCA", "LDA", "PCA"})  # estimators that fit from blocks
