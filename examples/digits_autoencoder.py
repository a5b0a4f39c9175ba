"""
An autoencoder
==============

Digits encoded by two numbers: maps and reconstructions by PCA, autoencoders and kernel PCA.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, Autoencoder, KernelPCA, data

X, y = data.load("digits")
methods = {
    "PCA": PCA(2),
    "linear autoencoder": Autoencoder(2, hidden=(), activation="linear", standardize=False, random_state=1),
    "stacked autoencoder": Autoencoder(2, hidden=(128, 64), standardize=False, random_state=0),
    "kernel PCA": KernelPCA(2, gamma=5e-4, fit_inverse_transform=True),
}
shown = [int(np.flatnonzero(y == digit)[3]) for digit in range(10)]
figure = plt.figure(figsize=(10, 6.2), layout="constrained")
maps, images = figure.subfigures(2, 1, height_ratios=(1, 1.3))
axes = maps.subplots(1, 4)
lines = images.subplots(5, 10)
rows = {"digits": X}
for ax, (name, model) in zip(axes, methods.items(), strict=True):
    Y = model.fit_transform(X)
    rows[name] = model.inverse_transform(Y)
    dots = ax.scatter(*Y.T, c=y, s=3, cmap="tab10", vmin=-0.5, vmax=9.5)
    ax.set(xticks=[], yticks=[])
    ax.set_title(name, fontsize=10)
maps.colorbar(dots, ax=axes, ticks=range(10), shrink=0.9)
total = np.square(X - X.mean(axis=0)).sum()
for line, (name, back) in zip(lines, rows.items(), strict=True):
    for ax, which in zip(line, shown, strict=True):
        ax.imshow(back[which].reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
    lost = np.square(X - back).sum() / total
    label = f"{name}\nloses {lost:.0%}" if lost else name
    line[0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=9)
figure.suptitle("1,797 digits encoded by two numbers each, and the share of variance lost", fontsize=11)
plt.show()

# sphinx_gallery_thumbnail_path = "images/digits_autoencoder.png"
