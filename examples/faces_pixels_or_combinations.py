"""
Selected pixels or combinations of pixels
=========================================

Single pixels of faces against combinations of them: accuracy by the number of features.

.. image:: /images/faces_pixels_or_combinations.png
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from lowdim import LDA, PCA, SequentialFeatureSelector, data

COUNTS = (1, 2, 3, 5, 8, 12, 16, 24, 32, 39)

X, y = data.load("faces")
train = np.arange(len(X)) % 10 < 5
X = X.reshape(-1, 32, 2, 32, 2).mean(axis=(2, 4)).reshape(len(X), -1)  # 32 × 32, so that all pixels can be tried
selector = SequentialFeatureSelector(KNeighborsClassifier(1), n_features_to_select=max(COUNTS), cv=5).fit(
    X[train], y[train]
)
order = np.array(selector.history_["feature"][1:])
pca, lda = PCA(max(COUNTS)).fit(X[train]), LDA(max(COUNTS), shrinkage="auto").fit(X[train], y[train])
columns = {
    "single pixels, selected": (X[:, order], "#4d4d4d"),
    "PCA: combinations that vary most": (pca.transform(X), "#2166ac"),
    "LDA: combinations that separate people": (lda.transform(X), "#b2182b"),
}
figure, axes = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained", width_ratios=(1.7, 1))
for name, (Y, colour) in columns.items():
    right = [KNeighborsClassifier(1).fit(Y[train, :k], y[train]).score(Y[~train, :k], y[~train]) for k in COUNTS]
    axes[0].plot(COUNTS, right, "o-", color=colour, label=name, ms=4)
axes[0].set(xlabel="number of features", ylabel="accuracy, 1-NN, held out", ylim=(0, 1.02))
axes[0].legend(frameon=False, loc="lower right")
axes[0].set_title("Forty people, five training images each", fontsize=11, loc="left")
axes[1].imshow(X.mean(axis=0).reshape(32, 32), cmap="gray")
axes[1].scatter(order % 32, order // 32, c=np.arange(len(order)), cmap="autumn", s=28, edgecolor="black", lw=0.5)
axes[1].set(xticks=[], yticks=[])
axes[1].set_title("Pixels selected, first ones red", fontsize=11, loc="left")
plt.show()

# sphinx_gallery_thumbnail_path = "images/faces_pixels_or_combinations.png"
