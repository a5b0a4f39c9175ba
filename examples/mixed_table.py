"""
Tables of numbers, categories and dates
=======================================

A table of numbers, categories and dates: which columns dominate the map, and how Prepare gives all a comparable weight.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from lowdim import PCA, Prepare, chain, quality, show


def customers(n: int = 600) -> tuple[pl.DataFrame, np.ndarray]:
    """Three groups of customers; each column is weakly related to the group."""
    random, group = np.random.default_rng(0), np.arange(n) % 3

    def level(names: list[str], most: float) -> list[str]:
        own = random.random(n) < most
        return np.array(names)[np.where(own, group, random.integers(0, 3, n))].tolist()

    table = {
        "customer": [f"no. {i}" for i in range(n)],
        "income": 30_000 * np.exp(0.6 * random.normal(size=n) + 0.15 * group),
        "age": 35 + 8 * random.normal(size=n) + np.array([-8.0, 6.0, 0.0])[group],
        "distance": 9 + 4 * random.normal(size=n) + np.array([0.0, -2.0, 4.0])[group],
        "transport": level(["bicycle", "bus", "car"], 0.7),
        "plan": level(["student", "family", "business"], 0.7),
        "town": level(["city", "suburb", "village"], 0.4),
        "newsletter": np.where(random.random(n) < np.array([0.3, 0.5, 0.8])[group], "yes", "no").tolist(),
        "joined": np.datetime64("2020-01-01") + random.integers(0, 1500, n),
    }
    return pl.DataFrame(table), np.array(["students", "families", "commuters"])[group]


warnings.filterwarnings("ignore", ".*of comparable scale")  # intended: the first map shows the effect
table, groups = customers()
numbers = table.select("income", "age", "distance")
maps = {
    "All columns as they are: income dominates": (Prepare("as_is"), table),
    "Numbers alone, scaled": (Prepare(), numbers),
    "All columns by Prepare()": (Prepare(), table),
}
figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.2), layout="constrained")
for ax, (title, (prepare, rows)) in zip(axes, maps.items(), strict=True):
    Y = chain(prepare, PCA(2)).fit_transform(rows)
    show.scatter(Y, groups, ax=ax, legend=ax is axes[-1])
    found = quality.knn_accuracy(Y, groups)
    ax.set_title(f"{title}\nneighbours of the same group: {found:.0%}", fontsize=11, loc="left")
plt.show()
