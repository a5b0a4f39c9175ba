"""
PCA against LDA
===============

Three classes of wine; two classes where they agree, and where they are orthogonal.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import LDA, PCA, data, show


def two_classes(along: bool) -> tuple[np.ndarray, np.ndarray]:
    """Two long clouds, apart along their length or across it."""
    random, y = np.random.default_rng(0), np.arange(240) % 2
    X = random.normal(size=(240, 2)) * [2.2, 0.35] + (y[:, None] - 0.5) * ([9.0, 0.0] if along else [0.0, 1.8])
    turn = np.array([[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]])
    return X @ turn, y


def arrow(ax, mean: np.ndarray, direction: np.ndarray, length: float, text: str, colour: str) -> None:
    end = mean + length * direction / np.linalg.norm(direction)
    ax.annotate("", end, mean, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.5, "mutation_scale": 18})
    ax.annotate(text, end, xytext=(-34, 12), textcoords="offset points", color=colour, weight="bold")


figure, axes = plt.subplots(1, 4, figsize=(15, 3.9), layout="constrained")
X, y = data.load("wine")
show.scatter(PCA(2, standardize=True).fit_transform(X), y, ax=axes[0], legend=False)
show.scatter(LDA(2).fit_transform(X, y), y, ax=axes[1], legend=False)
for ax, along in zip(axes[2:], (True, False), strict=True):
    X, y = two_classes(along)
    show.scatter(X, y, ax=ax, legend=False)
    ax.set_aspect("equal", adjustable="datalim")
    pca, lda = PCA(1).fit(X), LDA().fit(X, y)
    u, w = pca.components_[0], lda.components_[0]
    arrow(ax, X.mean(axis=0), u * np.sign(u[0]), 4.5, "PCA", "#222222")
    arrow(ax, X.mean(axis=0), w * np.sign(w[0 if along else 1]), 2.5, "LDA", "#b2182b")
titles = (
    "Three wines by PCA: variance",
    "by LDA: separation of classes",
    "Where both agree",
    "Where they are orthogonal",
)
for ax, title in zip(axes, titles, strict=True):
    ax.set_title(title, fontsize=11, loc="left")
plt.show()
