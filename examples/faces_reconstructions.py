"""
Faces from few components
=========================

Eight faces, and their reconstructions from a growing number of principal components.

.. image:: /images/faces_reconstructions.png
"""

import matplotlib.pyplot as plt

from lowdim import PCA, data, show

X, person = data.load("faces")
pca = PCA(200).fit(X)
held = pca.explained_variance_ratio_.cumsum()
counts = (5, 20, 60, 200)
figure, ax = plt.subplots(figsize=(7.0, 4.6), layout="constrained")
show.reconstructions(pca, X[person % 5 == 0][::10], image_shape=(64, 64), counts=counts, ax=ax)
told = ", ".join(f"{100 * held[k - 1]:.0f}" for k in counts)
ax.set_title(f"4,096 pixels from a few numbers, which explain {told} % of the variance", fontsize=10, loc="left")
plt.show()

# sphinx_gallery_thumbnail_path = "images/faces_reconstructions.png"
