"""
Mixed signals
=============

Three sources as four sensors hear them; what PCA and independent component analysis make of the recordings.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, FastICA

random, t = np.random.default_rng(0), np.linspace(0, 12, 1500)
sources = np.column_stack([np.sin(2.2 * t), np.sign(np.sin(3.1 * t)), (1.7 * t) % 1.0 - 0.5])
sources = sources / sources.std(axis=0) + 0.07 * random.normal(size=sources.shape)
recordings = sources @ random.uniform(0.3, 1.0, (3, 4))
found = FastICA(3, random_state=0).fit_transform(recordings)
figure, columns = plt.subplots(4, 4, figsize=(13, 4.6), layout="constrained", sharex=True)
shown = (
    ("Three sources", sources, "#4c78a8"),
    ("Four recordings of their mixtures", recordings, "#888888"),
    ("Principal components", PCA(3).fit_transform(recordings), "#e45756"),
    ("Independent components", found, "#54a24b"),
)
for column, (title, signals, colour) in zip(columns.T, shown, strict=True):
    column[0].set_title(title, fontsize=11, loc="left")
    for ax, signal in zip(column, signals.T, strict=False):
        ax.plot(t, signal, color=colour, lw=1)
    for ax in column:
        ax.set_axis_off()
plt.show()
