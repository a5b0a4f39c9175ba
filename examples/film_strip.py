"""
How a t-SNE map forms
=====================

t-SNE of the digits, from its initial layout by PCA to the end, recorded by a callback. Exaggerated attraction forms
the clusters in about 100 iterations; afterwards they expand.
"""

import matplotlib.pyplot as plt

from lowdim import TSNE, data, show

X, y = data.load("digits")
seen = {}
tsne = TSNE(random_state=0, callback=lambda i, _, Y: seen.update({i: Y.copy()}), callback_every=10).fit(X)
seen[tsne.n_iter_] = tsne.embedding_
frames = (10, 30, 60, 110, 150, tsne.n_iter_)

figure, axes = plt.subplots(1, len(frames), figsize=(15, 2.9), layout="constrained")
for ax, i in zip(axes, frames, strict=True):
    show.scatter(seen[i], y, legend=False, ax=ax)
    ax.set(xlabel="", ylabel="")
    ax.set_title(f"{i} iterations", fontsize=10, loc="left")
plt.show()
