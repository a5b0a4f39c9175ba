"""Verbs for torch tensors on any device; modules and names mirror those for NumPy."""

ESTIMATORS = frozenset(
    {"Autoencoder", "CCA", "Isomap", "KLExpansion", "KernelPCA", "LDA", "PCA", "PaCMAP", "SNE", "TSNE", "UMAP"}
)
MEASURES = frozenset(
    {"continuity", "distortion", "lcmc", "neighborhood_recall", "rnx_auc", "rnx_curve", "trustworthiness"}
)
METHODS = ESTIMATORS | MEASURES  # all of whose verbs are here
