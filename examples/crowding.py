"""
The crowding problem
====================

A Gaussian pushes clusters into the middle of the map, Student's t leaves room between them.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import SNE, TSNE, data, show

X, y = data.load("digits")
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
s = np.linspace(0, 4, 200)
axes[0].plot(s, np.exp(-np.square(s)), label="SNE: exp(−r²)")
axes[0].plot(s, 1 / (1 + np.square(s)), label="t-SNE: 1/(1 + r²)")
axes[0].set(xlabel="distance r in the map", ylabel="similarity f")
axes[0].legend(frameon=False)
axes[0].set_title("The heavy tail lets distant points move apart", fontsize=11, loc="left")
for ax, model in zip(axes[1:], (SNE(random_state=0), TSNE(random_state=0)), strict=True):
    show.scatter(model.fit_transform(X), y, legend=False, ax=ax)
    name = {"SNE": "SNE: clusters touch", "TSNE": "t-SNE: clusters separate"}[type(model).__name__]
    ax.set_title(f"{name} (KL {model.kl_divergence_:.2f})", fontsize=11, loc="left")
plt.show()
