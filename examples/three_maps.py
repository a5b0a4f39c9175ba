"""
Digits by t-SNE, UMAP and PaCMAP
================================

The same neighbours, drawn with more and more attraction.
"""

import matplotlib.pyplot as plt

from lowdim import TSNE, UMAP, PaCMAP, data, show

X, y = data.load("digits")
figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.6), layout="constrained")
models = {"t-SNE": TSNE(random_state=0), "UMAP": UMAP(random_state=0), "PaCMAP": PaCMAP(random_state=0)}
for ax, (name, model) in zip(axes, models.items(), strict=True):
    show.scatter(model.fit_transform(X), y, legend=ax is axes[-1], ax=ax)
    ax.set_title(name, fontsize=11, loc="left")
figure.suptitle("1,797 digits of 64 pixels", fontsize=11, x=0.01, ha="left")
plt.show()
