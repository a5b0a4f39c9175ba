"""
Digits: the map, how many components, and what they look like
=============================================================

PCA of the digits in three panels: the map, the scree plot, the components as images.
"""

import matplotlib.pyplot as plt

from lowdim import PCA, data, show

X, y = data.load("digits")
pca = PCA().fit(X)
figure = plt.figure(figsize=(12, 3.9), layout="constrained")
axes = figure.subplots(1, 3, width_ratios=(1.15, 1.1, 1.0))
show.scatter(pca.transform(X), y, dims=(0, 1), labels=True, legend=False, ax=axes[0])
show.scree(pca, ax=axes[1])
show.components(pca, image_shape=(8, 8), ax=axes[2])
titles = ("1,797 digits, from 64 dimensions to 2", "How many components?", "The mean and the components")
for ax, title in zip(axes, titles, strict=True):
    ax.set_title(title, fontsize=11, loc="left")
plt.show()
