"""
Sparse loadings
===============

Components of handwritten digits by PCA, and by sparse PCA with fewer and fewer pixels; what each costs in variance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from lowdim import SparsePCA

X = load_digits().data
alphas = (0.0, 0.05, 0.2)
figure = plt.figure(figsize=(11.5, 4.6), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[1.4, 1])
rows = left.subplots(3, 6)
for axes, alpha in zip(rows, alphas, strict=True):
    model = SparsePCA(6, alpha=alpha).fit(X)
    for ax, component, used in zip(axes, model.components_, model.n_nonzero_, strict=True):
        ax.imshow(component.reshape(8, 8), cmap="RdBu", vmin=-0.6, vmax=0.6)
        ax.set_title(f"{used} pixels", fontsize=8)
        ax.set_xticks([])
        ax.set_yticks([])
    axes[0].set_ylabel(f"alpha = {alpha:g}")
path = SparsePCA(6).path(X, np.array([0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5]))
ax = right.subplots()
ax.plot(path.nonzeros.sum(axis=1), 100 * path.explained, "o-", color="#4c78a8")
ax.set_xlabel("loadings that are not 0, of 384")
ax.set_ylabel("variance explained (%)")
ax.set_ylim(0)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
