"""
Unrolled
========

A swiss roll and a spiral: Isomap and LLE unroll them; PCA and kernel PCA, whatever its width, do not.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import LLE, PCA, Isomap, KernelPCA, data, show

roll, t = data.load("swissroll", n_samples=1500)
spiral, s = data.load("spiral")
methods = {
    "PCA": (PCA(2), PCA(1)),
    "Kernel PCA (rbf)": (KernelPCA(2, gamma="median"), KernelPCA(1, gamma="median")),
    "Isomap": (Isomap(2, n_neighbors=8), Isomap(1, n_neighbors=8)),
    "LLE": (LLE(2, n_neighbors=12, random_state=0), LLE(1, n_neighbors=14, random_state=0)),
}
figure = plt.figure(figsize=(14, 5.6), layout="constrained")
ax = figure.add_subplot(2, 5, 1, projection="3d")
show.scatter(roll[:, [0, 2, 1]], t, legend=False, ax=ax)
ax.view_init(elev=60, azim=-80)
ax.set_title("Swiss roll", fontsize=11, loc="left")
ax = figure.add_subplot(2, 5, 6)
show.scatter(spiral, s, legend=False, ax=ax)
ax.set_title("Spiral", fontsize=11, loc="left")
for place, (name, (plane, line)) in enumerate(methods.items(), start=2):
    ax = figure.add_subplot(2, 5, place)
    show.scatter(plane.fit_transform(roll), t, legend=False, ax=ax)
    ax.set_title(name, fontsize=11, loc="left")
    ax = figure.add_subplot(2, 5, place + 5)
    y = line.fit_transform(spiral)[:, 0]
    ax.scatter(s, y, c=s, s=4)
    ax.set(xlabel="arc length", xticks=[], yticks=[])
    ax.set_title(f"{name}: |r| = {abs(np.corrcoef(s, y)[0, 1]):.3f}", fontsize=11, loc="left")
plt.show()
