"""
The path of a selection
=======================

Accuracy as pixels of the digits are added one at a time, and which pixels they are.
"""

import matplotlib.pyplot as plt
from sklearn.neighbors import KNeighborsClassifier

from lowdim import SequentialFeatureSelector, data, show

X, y = data.load("digits")
path = SequentialFeatureSelector(KNeighborsClassifier(3), n_features_to_select=25).fit(X, y)
stop = SequentialFeatureSelector(KNeighborsClassifier(3), tol=0.005).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained", width_ratios=(1.7, 1))
show.selection(path, ax=axes[0])
axes[0].axvline(stop.n_features_to_select_, color="#b2460a", ls="--", lw=1.5)
axes[0].annotate(f"ε = 0.005 stops at {stop.n_features_to_select_}", (stop.n_features_to_select_, 0.3), xytext=(6, 0),
                 textcoords="offset points", color="#b2460a")  # fmt: skip
axes[0].set_title("Forward selection of pixels for 3-NN", fontsize=11, loc="left")
axes[1].imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys", vmax=40)
for rank, pixel in enumerate(path.history_["feature"][1:], 1):
    row, column = divmod(pixel, 8)
    axes[1].text(column, row, str(rank), ha="center", va="center", color="#b2182b", weight="bold", fontsize=9)
axes[1].set(xticks=[], yticks=[])
axes[1].set_title("In which order (mean digit behind)", fontsize=11, loc="left")
plt.show()
