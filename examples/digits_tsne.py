"""
Digits by PCA and by t-SNE
==========================

The digits by PCA and by t-SNE: the same rows, one map of directions and one of neighbours.
"""

import matplotlib.pyplot as plt

from lowdim import PCA, TSNE, data, show

X, y = data.load("digits")
tsne = TSNE(random_state=0).fit(X)
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
show.scatter(PCA(2).fit_transform(X), y, legend=False, ax=axes[0])
axes[0].set_title("PCA: digits overlap", fontsize=11, loc="left")
show.scatter(tsne.embedding_, y, ax=axes[1])
axes[1].set_title(f"t-SNE: digits separate (KL {tsne.kl_divergence_:.2f})", fontsize=11, loc="left")
plt.show()
