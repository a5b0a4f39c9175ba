"""
Branches of a tree
==================

Ten random walks in 100 dimensions that branch off one another, with noise: PCA, t-SNE and PHATE.
"""

import matplotlib.pyplot as plt

import lowdim
from lowdim import PCA, PHATE, TSNE, show

X, branch = lowdim.data.load("tree", n_samples=2000)
methods = {"PCA": PCA(2), "t-SNE": TSNE(random_state=0), "PHATE": PHATE(random_state=0)}
figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, (name, method) in zip(axes, methods.items(), strict=True):
    show.scatter(method.fit_transform(X), branch, ax=ax, title=name, kind="categories", legend=False)
plt.show()
