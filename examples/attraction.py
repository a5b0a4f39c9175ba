"""
Attraction and repulsion
========================

From t-SNE over maps like UMAP's towards Laplacian eigenmaps, by late exaggeration alone.
"""

import matplotlib.pyplot as plt

from lowdim import TSNE, data, show

X, y = data.load("digits")
figure, axes = plt.subplots(1, 4, figsize=(15, 4.1), layout="constrained")
for ax, factor in zip(axes, (1, 4, 12, 40), strict=True):
    Y = TSNE(exaggeration=factor, early_exaggeration=max(12, factor), random_state=0).fit_transform(X)
    show.scatter(Y, y, legend=False, ax=ax)
    ax.set_title(f"exaggeration = {factor}", fontsize=11, loc="left")
plt.show()
