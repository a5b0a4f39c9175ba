"""
Faces with gaps
===============

Faces of which a third of the pixels was lost, in spots and in a bar, and what PCA expects there.

.. image:: /images/faces_with_gaps.png
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, data

X, person = data.load("faces")
rng = np.random.default_rng(0)
gaps = rng.random(X.shape) < 0.3
image = np.zeros((len(X), 64, 64), bool)
for bar, top in zip(image, rng.integers(8, 50, len(X)), strict=True):
    bar[top : top + 6] = True
gaps |= image.reshape(len(X), -1)
pca = PCA(60, missing="em").fit(np.where(gaps, np.nan, X))

shown = np.flatnonzero(person % 5 == 0)[::10]
holes = np.where(gaps, np.nan, X)[shown]
filled, errors = pca.impute(holes, return_std=True)
error = np.sqrt(np.mean((filled - X[shown])[gaps[shown]] ** 2))
plain = np.sqrt(np.mean((X.mean(axis=0) - X[shown])[gaps[shown]] ** 2))
rows = {"true": X[shown], "given": holes, "filled": filled, "standard\nerror": errors}
figure, axes = plt.subplots(4, len(shown), figsize=(8.0, 4.4), layout="constrained")
for line, (name, images) in zip(axes, rows.items(), strict=True):
    for ax, face in zip(line, images, strict=True):
        limits = (0, errors.max()) if name.startswith("standard") else (0, 255)
        grey = plt.get_cmap("magma" if name.startswith("standard") else "gray").with_extremes(bad="#d9480f")
        ax.imshow(face.reshape(64, 64), cmap=grey, vmin=limits[0], vmax=limits[1])
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=10)
share = gaps.mean()
figure.suptitle(
    f"{share:.0%} of the pixels are gaps: error of filled pixels {error:.1f} of 255, of column means {plain:.1f}",
    fontsize=10,
)
plt.show()

# sphinx_gallery_thumbnail_path = "images/faces_with_gaps.png"
