"""
What predicts, and what varies
==============================

Spectra whose largest variation says nothing about a concentration: PCA finds the variation, PLS what predicts.

.. image:: /images/pls_against_pca.png
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, PLSRegression

rng = np.random.default_rng(0)
wave, n = np.linspace(0, 1, 300), 160
bands = np.stack([np.exp(-0.5 * ((wave - at) / width) ** 2) for at, width in ((0.3, 0.12), (0.75, 0.15), (0.55, 0.02))])
amounts = rng.gamma(4, 0.5, (n, 3)) * [1.5, 1.2, 0.25]  # two large bands, and a small one that is looked for
X = amounts @ bands + np.outer(rng.normal(size=n), wave) + 0.1 * rng.normal(size=(n, 300))
y = amounts[:, 2]
train, test = slice(0, 80), slice(80, None)
counts, found = range(1, 11), {"PLS": [], "PCA": []}
for k in counts:
    for model, name in ((PCA(k), "PCA"), (PLSRegression(k, scale=False), "PLS")):
        model.fit(X[train], y[train])
        known, new = (np.column_stack([model.transform(rows), np.ones(80)]) for rows in (X[train], X[test]))
        left = y[test] - new @ np.linalg.lstsq(known, y[train], rcond=None)[0]
        found[name].append(1 - np.square(left).mean() / y[test].var())

figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
axes[0].plot(wave, X[:25].T, color="#9aa5b1", linewidth=0.6)
axes[0].set(title="25 of 160 spectra", xlabel="wavelength", yticks=[])
for name, colour in (("PLS", "#185ac9"), ("PCA", "#b2460a")):
    axes[1].plot(counts, found[name], "o-", color=colour, label=name)
axes[1].set(title="R² of 80 new rows", xlabel="directions", xticks=list(counts), ylim=(-0.1, 1))
axes[1].legend(frameon=False)
axes[1].spines[["top", "right"]].set_visible(False)
plt.show()

# sphinx_gallery_thumbnail_path = "images/pls_against_pca.png"
