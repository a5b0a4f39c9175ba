"""
A rectangle with a hole
=======================

A swiss roll with a hole by all spectral methods: which of them recover the rectangle?
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import LLE, DiffusionMap, Isomap, LaplacianEigenmaps


def roll(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a rolled up rectangle without its middle, and their positions in the rectangle."""
    random = np.random.default_rng(0)
    t, h = 1.5 * np.pi * (1 + 2 * random.uniform(size=n)), 21 * random.uniform(size=n)
    keep = ~((np.abs(t - 9.5) < 2) & (np.abs(h - 10.5) < 4))
    t, h = t[keep], h[keep]
    length = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return np.column_stack([t * np.cos(t), h, t * np.sin(t)]), np.column_stack([length, h])


X, sheet = roll(2500)
methods = {
    "Isomap": Isomap(2, n_neighbors=12),
    "Laplacian eigenmaps": LaplacianEigenmaps(2, n_neighbors=12, random_state=0),
    "Diffusion map": DiffusionMap(2, n_neighbors=12, random_state=0),
    "LLE": LLE(2, n_neighbors=12, random_state=0),
    "LLE, modified": LLE(2, n_neighbors=12, method="modified", random_state=0),
    "LLE, Hessian": LLE(2, n_neighbors=12, method="hessian", random_state=0),
    "LLE, ltsa": LLE(2, n_neighbors=12, method="ltsa", random_state=0),
}
figure, axes = plt.subplots(2, 4, figsize=(14, 5.6), layout="constrained")
axes[0, 0].scatter(*sheet.T, c=sheet[:, 0], s=3)
axes[0, 0].set_title("The rectangle", fontsize=11, loc="left")
T = (sheet - sheet.mean(axis=0)) / sheet.std(axis=0)
for ax, (name, method) in zip(axes.flat[1:], methods.items(), strict=True):
    Y = method.fit_transform(X)
    centred = Y - Y.mean(axis=0)
    fit = centred @ np.linalg.lstsq(centred, T, rcond=None)[0]
    ax.scatter(*Y.T, c=sheet[:, 0], s=3)
    ax.set_title(f"{name}: {np.square(T - fit).sum() / np.square(T).sum():.2g}", fontsize=11, loc="left")
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
plt.show()
