"""
Cities from distances alone
===========================

A map of cities from the distances between them alone, by classical, metric and nonmetric scaling.
"""

import matplotlib.pyplot as plt
import numpy as np

from lowdim import MDS

CITIES = {  # degrees north and east
    "Athens": (37.98, 23.73),
    "Berlin": (52.52, 13.40),
    "Bucharest": (44.43, 26.10),
    "Dublin": (53.35, -6.26),
    "Helsinki": (60.17, 24.94),
    "Istanbul": (41.01, 28.98),
    "Kyiv": (50.45, 30.52),
    "Lisbon": (38.72, -9.14),
    "London": (51.51, -0.13),
    "Madrid": (40.42, -3.70),
    "Oslo": (59.91, 10.75),
    "Paris": (48.86, 2.35),
    "Reykjavik": (64.15, -21.94),
    "Rome": (41.90, 12.50),
    "Stockholm": (59.33, 18.07),
    "Tromsø": (69.65, 18.96),
    "Vienna": (48.21, 16.37),
    "Warsaw": (52.23, 21.01),
}


def great_circles(degrees: np.ndarray) -> np.ndarray:
    """Distances in kilometres on a sphere."""
    north, east = np.radians(degrees).T
    chord = np.column_stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)])
    D = 6371 * np.arccos(np.clip(chord @ chord.T, -1, 1))
    np.fill_diagonal(D, 0)
    return D


degrees = np.array(list(CITIES.values()))
D = great_circles(degrees)
flat = np.column_stack([degrees[:, 1] * np.cos(np.radians(50)), degrees[:, 0]])
flat -= flat.mean(axis=0)
figure, axes = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
for ax, kind in zip(axes, ("classical", "metric", "nonmetric"), strict=True):
    model = MDS(2, kind=kind, metric="precomputed", random_state=0).fit(D)
    U, _, V = np.linalg.svd(model.embedding_.T @ flat)
    Y = model.embedding_ @ U @ V  # turned so that north is up
    ax.scatter(*Y.T, s=12)
    for name, place in zip(CITIES, Y, strict=True):
        ax.annotate(name, place, xytext=(3, 3), textcoords="offset points", fontsize=8)
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.margins(0.2)
    ax.set_title(f"{kind}: stress {model.stress_:.4f}", fontsize=11, loc="left")
plt.show()
