"""Verbs for tensors of torch, on whatever device they are: a module for each module of NumPy's, with the same names."""

ESTIMATORS = frozenset(
    {"Autoencoder", "CCA", "Isomap", "KLExpansion", "KernelPCA", "LDA", "PCA", "PaCMAP", "SNE", "TSNE", "UMAP"}
)
MEASURES = frozenset({"continuity", "distortion", "lcmc", "neighborhood_recall", "trustworthiness"})
METHODS = ESTIMATORS | MEASURES  # all of whose verbs are here
