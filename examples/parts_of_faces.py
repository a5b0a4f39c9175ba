"""
Parts of faces
==============

The same faces by directions that cancel (PCA) and by parts that only add up (NMF), and one face as a sum of its parts.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import NMF, PCA, data

X, _ = data.load("faces")
shape = data.image_shape("faces")
X = X.astype(np.float32) / 255
nmf, pca = NMF(24, random_state=0).fit(X), PCA(24).fit(X)
figure = plt.figure(figsize=(13, 6.6), layout="constrained")
parts = figure.subfigures(3, 1, height_ratios=[2, 2, 1.1])


def pictures(part, n_rows: int, title: str) -> list:
    """Axes for 12 pictures in each row, under a title."""
    part.suptitle(title, x=0.01, ha="left", fontsize=11)
    axes = part.subplots(n_rows, 12).ravel().tolist()
    for ax in axes:
        ax.set_axis_off()
    return axes


for ax, part in zip(pictures(parts[0], 2, "PCA: 24 directions, blue minus red"), pca.components_, strict=True):
    high = np.abs(part).max()
    ax.imshow(part.reshape(shape), cmap="RdBu", vmin=-high, vmax=high)
for ax, part in zip(pictures(parts[1], 2, "NMF: 24 parts without a negative pixel"), nmf.components_, strict=True):
    ax.imshow(part.reshape(shape), cmap="magma", vmin=0)
face, amounts = X[40], nmf.transform(X[40:41])[0]
largest = np.argsort(-amounts)[:9]
axes = pictures(parts[2], 1, "A face, the nine parts of which it has most, their sum, and the sum of all 24")
axes[0].imshow(face.reshape(shape), cmap="gray", vmin=0, vmax=1)
high = (amounts[:, None] * nmf.components_).max()
for ax, j in zip(axes[1:10], largest, strict=True):
    ax.imshow((amounts[j] * nmf.components_[j]).reshape(shape), cmap="magma", vmin=0, vmax=high)
for ax, used in ((axes[10], largest), (axes[11], np.arange(24))):
    ax.imshow((amounts[used] @ nmf.components_[used]).reshape(shape), cmap="gray", vmin=0, vmax=1)
plt.show()
