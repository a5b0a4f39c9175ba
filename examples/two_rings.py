"""
Two rings
=========

No direction separates them; one kernel component does, as does the third coordinate x² + y² drawn beside it.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, KernelPCA, data, show


def _gap(y: np.ndarray, ring: np.ndarray) -> float:
    """Middle between the two rings along one component."""
    return float(y[ring == 0].min() + y[ring == 1].max()) / 2


X, ring = data.load("rings")
lifted = np.column_stack([X, np.square(X).sum(axis=1)])
maps = {
    "PCA: the inner ring stays inside": PCA(2).fit_transform(X),
    "Kernel PCA (rbf): one component separates them": KernelPCA(2, gamma=0.5).fit_transform(X),
}
figure = plt.figure(figsize=(12, 3.9), layout="constrained")
for place, (title, Y) in enumerate(maps.items(), start=1):
    ax = figure.add_subplot(1, 3, place)
    show.scatter(Y, ring, legend=False, ax=ax)
    ax.set_title(title, fontsize=11, loc="left")
ax.axvline(_gap(maps[title][:, 0], ring), color="0.4", linewidth=1, linestyle="--")

ax = figure.add_subplot(1, 3, 3, projection="3d")
show.scatter(lifted, ring, legend=False, ticks=True, ax=ax)
ax.set(xlabel="x", ylabel="y", zlabel="x² + y²", xticks=[-3, 0, 3], yticks=[-3, 0, 3], zticks=[0, 5, 10])
ax.set_box_aspect((1, 1, 0.8))
ax.view_init(elev=14, azim=-60)
ax.set_title("With x² + y²: a plane separates them", fontsize=11, loc="left")
plt.show()
