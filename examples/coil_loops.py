"""
Objects on a turntable
======================

COIL-20: images of an object on a turntable lie on a loop, which Isomap shows. Set LOWDIM_DATA.

.. image:: /images/coil_loops.png
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, Isomap, data

X, y = data.load("coil20")
shape, objects = data.image_shape("coil20"), [0, 3, 9, 13]
figure, axes = plt.subplots(3, len(objects), figsize=(10, 7.2), layout="constrained")
for (top, middle, bottom), label in zip(axes.T, np.unique(y)[objects], strict=True):
    views = X[y == label].astype(np.float32)
    top.imshow(views[0].reshape(shape), cmap="gray")
    top.axis("off")
    for ax, model in ((middle, PCA(2)), (bottom, Isomap(2, n_neighbors=3))):
        Y = model.fit_transform(views)
        ax.plot(*np.vstack([Y, Y[:1]]).T, color="0.8", linewidth=1, zorder=0)
        ax.scatter(*Y.T, c=np.arange(len(Y)), cmap="twilight", s=14)
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.set_title(type(model).__name__, fontsize=10, loc="left")
plt.show()

# sphinx_gallery_thumbnail_path = "images/coil_loops.png"
