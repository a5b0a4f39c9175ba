"""
A map as a network
==================

A network learns a map of digits, places digits it has not seen, and a decoder draws digits at any place of the map.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import ParametricUMAP, data

X, y = data.load("digits")
seen, new = np.arange(len(X)) % 4 > 0, np.arange(len(X)) % 4 == 0
model = ParametricUMAP(decoder=True, random_state=0).fit(X[seen])
Y, Z = model.embedding_, model.transform(X[new])

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, points, digit, title in (
    (axes[0], Y, y[seen], f"{seen.sum():,} digits that the network learned"),
    (axes[1], Z, y[new], f"{new.sum()} digits it has not seen"),
):
    dots = ax.scatter(*points.T, c=digit, s=5, cmap="tab10", vmin=-0.5, vmax=9.5)
    ax.set_title(title, fontsize=10)
low, high = Y.min(axis=0) - 0.5, Y.max(axis=0) + 0.5
for ax in axes:
    ax.set(xticks=[], yticks=[], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
figure.colorbar(dots, ax=axes[:2], ticks=range(10), shrink=0.8)

side = (high - low) / 18
for cell in np.unique(np.floor((Y - low) / side), axis=0):  # where there are digits
    place = low + (cell + 0.5) * side
    image = model.inverse_transform(place[None]).reshape(8, 8)
    (left, bottom), (right, top) = place - side * 0.48, place + side * 0.48
    axes[2].imshow(image, cmap="gray_r", vmin=0, vmax=16, extent=(left, right, bottom, top), aspect="auto")
axes[2].set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
axes[2].set_title("what the decoder draws there", fontsize=10)
plt.show()

# sphinx_gallery_thumbnail_path = "images/parametric_digits.png"
