"""
What a random walk finds on a circle
====================================

Eigenvalues of a circle by diffusion maps: at α = 1 they do not depend on the density of the rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import DiffusionMap

u = np.sort(np.random.default_rng(0).uniform(size=1500))
angle = 2 * np.pi * u + 0.7 * np.sin(2 * np.pi * u)  # density 1/(1 + 0.7 cos), six times as high on one side
circle = np.column_stack([np.cos(angle), np.sin(angle)])
steps, gamma = np.repeat(np.arange(1, 5), 2), 50.0
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
axes[0].scatter(*circle.T, s=3, c=angle, cmap="twilight")
axes[0].set(aspect="equal", xticks=[], yticks=[])
axes[0].set_title("1,500 rows, six times as dense on the left", fontsize=11, loc="left")
axes[1].plot(np.arange(1, 9), steps**2, "k_", markersize=16, label="circle: 1, 1, 4, 4, 9, 9, …")
for alpha, mark in ((0.0, "s"), (1.0, "o")):
    model = DiffusionMap(8, n_neighbors=None, gamma=gamma, alpha=alpha, random_state=0).fit(circle)
    values = 4 * gamma * (1 - model.eigenvalues_)
    axes[1].plot(np.arange(1, 9), values, mark, fillstyle="none", label=f"α = {alpha:g}")
    if alpha:
        axes[2].scatter(*model.embedding_[:, :2].T, s=3, c=angle, cmap="twilight")
axes[1].set(xlabel="coordinate", ylabel="4 γ (1 − λ)")
axes[1].legend(frameon=False)
axes[1].set_title("Eigenvalues come in pairs", fontsize=11, loc="left")
axes[2].set(aspect="equal", xticks=[], yticks=[])
axes[2].set_title("Map at α = 1", fontsize=11, loc="left")
plt.show()
