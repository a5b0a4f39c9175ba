"""
What dimensionality reduction gives a classifier
================================================

Accuracy and time of naive Bayes and k-NN on raw pixels, after PCA, after LDA.

.. image:: /images/what_reduction_buys.png
"""

from time import perf_counter

import matplotlib.pyplot as plt
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from lowdim import LDA, PCA, data


def measured(model, split) -> tuple[float, float]:
    """Accuracy on the test rows, and seconds of fitting and predicting, the best of three."""
    train, test, train_y, test_y = split
    times = []
    for _ in range(3):
        fresh, start = clone(model), perf_counter()
        accuracy = fresh.fit(train, train_y).score(test, test_y)
        times.append(perf_counter() - start)
    return accuracy, min(times)


X, y = (values[:10_000] for values in data.load("mnist"))
split = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
before = {"raw, 784": (), "PCA, 40": (PCA(40),), "LDA, 9": (LDA(),)}
rules = {"naive Bayes": GaussianNB(), "5-NN": KNeighborsClassifier()}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for i, (name, rule) in enumerate(rules.items()):
    results = [measured(make_pipeline(*steps, rule), split) for steps in before.values()]
    positions = [j + (i - 0.5) * 0.38 for j in range(3)]
    colour = ("#4393c3", "#d6604d")[i]
    for ax, values, form in zip(axes, zip(*results, strict=True), ("{:.3f}", "{:.0f}"), strict=True):
        heights = [v if ax is axes[0] else 1e3 * v for v in values]
        ax.bar_label(ax.bar(positions, heights, 0.36, color=colour, label=name), fmt=form, fontsize=8, padding=2)
axes[0].set(ylabel="accuracy on the other half")
axes[1].set(ylabel="milliseconds, fit and predict")
axes[0].legend(frameon=False, loc="upper left", ncols=2)
for ax, title in zip(axes, ("What reduction buys: accuracy", "and time"), strict=True):
    ax.set_xticks(range(3), before)
    ax.margins(y=0.15)
    ax.set_title(title, fontsize=11, loc="left")
axes[0].set_ylim(0.5, 1.06)
plt.show()

# sphinx_gallery_thumbnail_path = "images/what_reduction_buys.png"
