"""
How many random directions
==========================

Errors of distances between rows of 10,000 features along ever more random directions, and the bound for all pairs.

.. image:: /images/random_projections.png
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist

from lowdim import GaussianRandomProjection, SparseRandomProjection, johnson_lindenstrauss_min_dim

X = np.random.default_rng(0).normal(size=(100, 10_000)) ** 3  # heavy tails, on which sparse directions do worse
true = pdist(X) ** 2
counts = np.array([10, 30, 100, 300, 1000, 3000])
figure, ax = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
kinds = ((GaussianRandomProjection, "#185ac9", "normal"), (SparseRandomProjection, "#b2460a", "1 % of entries not 0"))
for kind, colour, name in kinds:
    errors = [np.abs(pdist(kind(k, random_state=0).fit_transform(X)) ** 2 / true - 1) for k in counts]
    ax.loglog(counts, [e.max() for e in errors], "o-", color=colour, label=f"{name}: largest of 4,950 pairs")
    ax.loglog(counts, [np.median(e) for e in errors], "o:", color=colour, label=f"{name}: median")
eps = np.linspace(0.08, 0.95, 50)
needed = [johnson_lindenstrauss_min_dim(100, eps=e) for e in eps]
ax.loglog(needed, eps, color="#333333", label="bound for all pairs")
ax.set(xlabel="components", ylabel="relative error of squared distances", xlim=(8, 7000))
ax.legend(fontsize="small", frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# sphinx_gallery_thumbnail_path = "images/random_projections.png"
