"""
UMAP's two parameters
=====================

``n_neighbors`` sets the scale of the structure that is kept, ``min_dist`` how compact clusters are drawn.
"""

import matplotlib.pyplot as plt

from lowdim import UMAP, data, show

MAPS = (
    {"n_neighbors": 3},
    {"n_neighbors": 15},
    {"n_neighbors": 200},
    {"min_dist": 0.0},
    {"min_dist": 0.1},
    {"min_dist": 0.99},
)

X, y = data.load("digits")
figure, axes = plt.subplots(2, 3, figsize=(13, 8.4), layout="constrained")
for ax, given in zip(axes.flat, MAPS, strict=True):
    show.scatter(UMAP(random_state=0, **given).fit_transform(X), y, legend=False, ax=ax)
    ax.set_title(", ".join(f"{name} = {value}" for name, value in given.items()), fontsize=11, loc="left")
plt.show()
