"""
Factors of wines
================

Loadings of thirteen measurements of wines on three factors, before and after rotations, and the noise of each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from lowdim import FactorAnalysis

X = load_wine().data
X = X / X.std(axis=0)
names = [name.replace("_", " ") for name in load_wine().feature_names]
figure, axes = plt.subplots(1, 4, figsize=(12, 4.8), layout="constrained", sharey=True)
for ax, rotation in zip(axes, (None, "varimax", "promax"), strict=False):
    fa = FactorAnalysis(3, rotation=rotation).fit(X)
    image = ax.imshow(fa.components_.T, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    for (j, i), value in np.ndenumerate(fa.components_.T):
        if abs(value) > 0.4:
            ax.text(i, j, f"{value:.1f}", ha="center", va="center", color="white" if abs(value) > 0.6 else "black")
    ax.set_xticks(range(3), ["factor 1", "factor 2", "factor 3"])
    correlation = np.abs(np.triu(fa.factor_correlations_, 1)).max()
    title = {None: "As estimated", "promax": f"promax (correlations up to {correlation:.2f})"}
    ax.set_title(title.get(rotation, rotation), fontsize=11)
axes[0].set_yticks(range(13), names)
axes[3].barh(range(13), fa.noise_variance_, color="#888888")
axes[3].set_xlim(0, 1)
axes[3].set_title("Share of noise", fontsize=11)
axes[3].spines[["top", "right"]].set_visible(False)
figure.colorbar(image, ax=axes[:3], shrink=0.5, label="loading")
plt.show()
