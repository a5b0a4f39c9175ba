"""Verbs for tensors of torch, on whatever device they are: a module for each module of NumPy's, with the same names."""

METHODS = frozenset(
    {"Autoencoder", "CCA", "Isomap", "KLExpansion", "KernelPCA", "LDA", "PCA", "SNE", "TSNE"}
)  # all of whose verbs are here
