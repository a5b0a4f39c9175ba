"""
Spread and tight groups
=======================

Three groups of 400 rows whose spreads are 1, 3 and 9: plain UMAP and t-SNE draw them in the same size, with densmap
those that are spread take more room.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import TSNE, UMAP, quality, show

rng = np.random.default_rng(0)
spread = np.repeat([1, 3, 9], 400)
X = rng.normal(size=(1200, 10)) * spread[:, None]
X[:, 0] += np.repeat([0, 60, -60], 400)

figure, axes = plt.subplots(1, 4, figsize=(14, 4), layout="constrained")
maps = [(method, on) for method in (UMAP, TSNE) for on in (False, True)]
for ax, (method, on) in zip(axes, maps, strict=True):
    Y = method(densmap=on, random_state=0).fit_transform(X)
    kept = quality.density_preservation(X, Y)
    title = f"{method.__name__}{', densmap' if on else ''}: {kept:.2f}"
    show.scatter(Y, [f"spread {size}" for size in spread], ax=ax, title=title, kind="categories", legend=ax is axes[0])
plt.show()
