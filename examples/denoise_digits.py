"""
Denoising
=========

Noisy digits, denoised by PCA and kernel PCA, which were fitted on other, clean digits.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, KernelPCA, data

X, y = data.load("digits")
train, test = slice(0, 1200), slice(1200, None)
noisy = X + np.random.default_rng(0).normal(scale=4, size=X.shape)
pca = PCA(16).fit(X[train])  # 16 is the number with the smallest error here
kpca = KernelPCA(30, gamma=2e-4, fit_inverse_transform=True).fit(X[train])
rows = {
    "clean": X[test],
    "noisy": noisy[test],
    "PCA": pca.inverse_transform(pca.transform(noisy[test])),
    "kernel PCA": kpca.inverse_transform(kpca.transform(noisy[test])),
}
shown = [int(np.flatnonzero(y[test] == digit)[1]) for digit in range(10)]
figure, axes = plt.subplots(len(rows), 10, figsize=(9, 4.1), layout="constrained")
for line, (name, images) in zip(axes, rows.items(), strict=True):
    error = np.square(images - X[test]).mean()
    for ax, which in zip(line, shown, strict=True):
        ax.imshow(images[which].reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
    label = f"{name}\nerror {error:.1f}" if error else name
    line[0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=10)
figure.suptitle("597 test digits: mean squared error per pixel", fontsize=11)
plt.show()
