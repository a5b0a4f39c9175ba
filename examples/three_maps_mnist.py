"""
MNIST by t-SNE, UMAP and PaCMAP
===============================

70,000 digits along 50 principal axes, by three methods that keep neighbours. Set LOWDIM_DATA.

.. image:: /images/three_maps_mnist.png
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, TSNE, UMAP, PaCMAP, data, show

X, y = data.load("mnist")
Z = PCA(50).fit_transform(np.divide(X, 255, dtype=np.float32))

figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.6), layout="constrained")
models = {"t-SNE": TSNE(random_state=0), "UMAP": UMAP(random_state=0), "PaCMAP": PaCMAP(random_state=0)}
for ax, (name, model) in zip(axes, models.items(), strict=True):
    show.scatter(model.fit_transform(Z), np.asarray(y), legend=ax is axes[-1], ax=ax)
    ax.set_title(name, fontsize=11, loc="left")
figure.suptitle("70,000 digits of MNIST", fontsize=11, x=0.01, ha="left")
plt.show()

# sphinx_gallery_thumbnail_path = "images/three_maps_mnist.png"
