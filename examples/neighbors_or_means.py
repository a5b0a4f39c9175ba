"""
Neighbours or means
===================

Digits in two dimensions by PCA, LDA and NCA: variance, class means, and nearest neighbours of the same class.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from lowdim import LDA, NCA, PCA, show

X, y = load_digits(return_X_y=True)
X = X / 16
seen, new = slice(0, 1200), slice(1200, None)
figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, model in zip(axes, (PCA(2), LDA(2), NCA(2)), strict=True):
    model.fit(X[seen], y[seen])
    rule = KNeighborsClassifier(3).fit(model.transform(X[seen]), y[seen])
    accuracy = rule.score(model.transform(X[new]), y[new])
    show.scatter(model.transform(X[new]), y[new], ax=ax, legend=ax is axes[2])
    ax.set_title(f"{type(model).__name__}: {100 * accuracy:.0f} % of new rows right", fontsize=11)
plt.show()
