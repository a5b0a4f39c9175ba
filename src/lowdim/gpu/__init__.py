"""Verbs for tensors of torch, on whatever device they are: a module for each module of NumPy's, with the same names."""

METHODS = frozenset({"Autoencoder", "SNE", "TSNE"})  # estimators all of whose verbs are here
