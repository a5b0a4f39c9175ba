"""
Perplexity
==========

Perplexity 5, 30 and 100: the effective number of neighbours decides between fragments and whole clusters.
"""

import matplotlib.pyplot as plt

from lowdim import TSNE, data, show

X, y = data.load("digits")
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
for ax, perplexity in zip(axes, (5, 30, 100), strict=True):
    Y = TSNE(perplexity=perplexity, random_state=0).fit_transform(X)
    show.scatter(Y, y, legend=False, ax=ax)
    ax.set_title(f"perplexity {perplexity}", fontsize=11, loc="left")
plt.show()
