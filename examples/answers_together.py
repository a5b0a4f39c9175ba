"""
Answers that go together
========================

A survey with a latent habit behind it: levels that the same people choose lie together, numbers point where they grow.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from lowdim import FAMD, MCA


def survey(n: int = 800) -> pl.DataFrame:
    """Answers of people who live in the country, in a suburb or in town; fuel is a number that follows from it."""
    random = np.random.default_rng(0)
    place = random.integers(0, 3, n)

    def answers(levels: list[str], most: float) -> list[str]:
        own = random.random(n) < most
        return np.array(levels)[np.where(own, place, random.integers(0, 3, n))].tolist()

    return pl.DataFrame(
        {
            "home": answers(["farm", "house", "flat"], 0.8),
            "transport": answers(["car", "bus", "bicycle"], 0.6),
            "shopping": answers(["market", "mall", "corner shop"], 0.35),
            "news": answers(["radio", "paper", "phone"], 0.25),
            "garden": np.where(random.random(n) < np.array([0.9, 0.6, 0.15])[place], "yes", "no").tolist(),
            "fuel": np.round(40 - 15 * place + 12 * random.normal(size=n)),
            "children": random.poisson(np.array([2.0, 1.5, 0.8])[place]),
        }
    )


table = survey()
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.4), layout="constrained")
mca = MCA(2, supplementary=["fuel", "children"], correction="greenacre").fit(table)
rows, levels = mca.transform(table), mca.levels().filter("active")
left.scatter(*rows.T, s=6, color="0.85", linewidths=0)
names = levels["column"].unique(maintain_order=True).to_list()
for j, name in enumerate(names):
    of = levels.filter(pl.col("column") == name)
    left.scatter(of["mca0"], of["mca1"], s=28, color=f"C{j}", label=name)
    for row in of.iter_rows(named=True):
        left.annotate(row["level"], (row["mca0"], row["mca1"]), (4, 3), textcoords="offset points", fontsize=9)
left.legend(frameon=False, fontsize=9)
shares = mca.explained_variance_ratio_
left.set(title="MCA: people and their answers", xlabel=f"mca0 ({shares[0]:.0%})", ylabel=f"mca1 ({shares[1]:.0%})")

famd = FAMD(2).fit(table)
columns = famd.columns()
right.scatter(
    columns["famd0"],
    columns["famd1"],
    s=28,
    color=["C3" if c in ("fuel", "children") else "C0" for c in columns["column"]],
)
for row in columns.iter_rows(named=True):
    right.annotate(row["column"], (row["famd0"], row["famd1"]), (5, 3), textcoords="offset points", fontsize=10)
right.set(xlim=(-0.02, 1), ylim=(-0.02, 1), title="FAMD: what each column has in common with the components")
right.set(xlabel="famd0: r² of numbers (red), η² of categories", ylabel="famd1")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
