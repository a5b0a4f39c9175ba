"""
A film and its background
=========================

A camera looks at a street while the light changes. What stays is of low rank, what moves is sparse.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import RobustPCA

HEIGHT, WIDTH, FRAMES = 48, 80, 90
random = np.random.default_rng(3)
y, x = np.mgrid[:HEIGHT, :WIDTH] / HEIGHT
houses = 0.55 + 0.1 * np.sin(9 * x) + 0.25 * ((x * 4 % 1 > 0.3) & (x * 4 % 1 < 0.6) & (y * 5 % 1 < 0.5) & (y < 0.6))
street = np.where(y > 0.66, 0.3 + 0.1 * y, houses)
lamp = np.exp(-8 * ((x - 1.2) ** 2 + (y - 0.2) ** 2))
film = np.empty((FRAMES, HEIGHT, WIDTH))
for t in range(FRAMES):
    film[t] = street * (0.8 + 0.2 * np.cos(t / 17)) + 0.35 * (0.5 + 0.5 * np.sin(t / 5)) * lamp
    for top, size, speed, shade, start in ((34, 9, 1.6, 0.95, -20), (40, 6, -2.3, 0.05, 95), (27, 4, 0.7, 0.0, 5)):
        left = int(start + speed * t)
        film[t, top : top + size, max(0, left) : max(0, left + 2 * size)] = shade
film += 0.004 * random.normal(size=film.shape)
X = film.reshape(FRAMES, -1)
robust = RobustPCA(2, tol=1e-5).fit(X)
background = robust.inverse_transform(robust.transform(X))
figure, axes = plt.subplots(3, 4, figsize=(11, 5.6), layout="constrained")
for ax in axes.flat:
    ax.set_axis_off()
for i, t in enumerate((20, 45, 70)):
    for ax, picture in zip(axes[i], (X[t], background[t], np.abs(X[t] - background[t])), strict=False):
        ax.imshow(picture.reshape(HEIGHT, WIDTH), cmap="gray", vmin=0, vmax=1)
for ax, title in zip(axes[0], ("Frames", "Low-rank part, two directions", "Sparse part, its size"), strict=False):
    ax.set_title(title, fontsize=11)
for ax, picture, title in zip(
    axes[:2, 3], (X.mean(axis=0), np.median(background, axis=0)), ("Mean of the frames", "Median of the low-rank part"),
    strict=True,
):  # fmt: skip
    ax.imshow(picture.reshape(HEIGHT, WIDTH), cmap="gray", vmin=0, vmax=1)
    ax.set_title(title, fontsize=11)
plt.show()
