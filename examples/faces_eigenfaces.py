"""
Eigenfaces
==========

The mean face and the directions in which faces differ most, as images.

.. image:: /images/faces_eigenfaces.png
"""

import matplotlib.pyplot as plt

from lowdim import PCA, data, show

X, _ = data.load("faces")
pca = PCA(0.9).fit(X)
figure, ax = plt.subplots(figsize=(8.4, 2.8), layout="constrained")
show.components(pca, image_shape=data.image_shape("faces"), ax=ax)
ax.set_title(f"The mean face and the first 15 of {pca.n_components_} eigenfaces that explain 90 %", fontsize=11)
plt.show()

# sphinx_gallery_thumbnail_path = "images/faces_eigenfaces.png"
