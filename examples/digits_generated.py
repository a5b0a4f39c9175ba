"""
New digits from a variational autoencoder
=========================================

A variational autoencoder learns a model that rows can be drawn from; on its codes one digit turns into another.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from lowdim import Autoencoder, data

X, y = data.load("digits")
options = {"hidden": (256, 128), "standardize": False, "variational": True, "random_state": 0}
plane, model = Autoencoder(2, **options).fit(X), Autoencoder(10, **options).fit(X)

figure = plt.figure(figsize=(10, 5.2), layout="constrained")
left, right = figure.subplots(1, 2)
Y = plane.transform(X)
dots = left.scatter(*Y.T, c=y, s=4, cmap="tab10", vmin=-0.5, vmax=9.5)
left.set(xticks=[], yticks=[])
left.set_title("Means of two codes", fontsize=10)
figure.colorbar(dots, ax=left, ticks=range(10), shrink=0.8)

grid = norm.ppf(np.linspace(0.03, 0.97, 12))  # equal shares of the codes between them
codes = np.stack(np.meshgrid(grid, grid[::-1]), axis=-1).reshape(-1, 2)
new = model.sample(24, random_state=0)


def tiles(rows: np.ndarray, width: int) -> np.ndarray:
    """One picture of many, ``width`` in a line."""
    return rows.reshape(-1, width, 8, 8).swapaxes(1, 2).reshape(-1, width * 8)


picture = np.vstack([tiles(plane.inverse_transform(codes), 12), np.full((4, 96), 16.0), tiles(new, 12)])
right.imshow(picture, cmap="gray_r", vmin=0, vmax=16)
right.set(xticks=[], yticks=[])
right.set_title("Rows of a grid of these codes; below, 24 rows drawn from ten codes", fontsize=10)
plt.show()

# sphinx_gallery_thumbnail_path = "images/digits_generated.png"
