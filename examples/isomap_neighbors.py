"""
Too few neighbours, and too many
================================

Isomap of a swiss roll: too few neighbours leave gaps, too many short-circuit it; warnings and figures show both.
"""

import warnings

import matplotlib.pyplot as plt

from lowdim import Isomap, data, show

X, t = data.load("swissroll", n_samples=1000, noise=0.3)
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, (k, word) in zip(axes, {3: "too few", 8: "right", 30: "too many"}.items(), strict=True):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = Isomap(2, n_neighbors=k).fit(X)
    show.scatter(model.embedding_, t, legend=False, ax=ax)
    facts = (
        f"connected components: {model.n_connected_components_}; suspected short circuits: {len(model.short_circuits_)}"
    )
    ax.set_title(
        f"{k} neighbours, {word}: residual variance {model.residual_variance_[1]:.3f}\n{facts}",
        fontsize=10,
        loc="left",
    )
    for warning in told:
        print(f"{k} neighbours: {warning.message}")
plt.show()
