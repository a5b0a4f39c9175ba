"""Isomap of a swiss roll: too few neighbours tear it, too many short-circuit it; warnings and residual variance tell."""

import warnings
from pathlib import Path

import matplotlib

from lowdim import Isomap, data, show

OUT = Path(__file__).parents[1] / "docs" / "images" / "isomap_neighbors.png"


def main(out: str | Path = OUT) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, t = data.load("swissroll", n_samples=1000, noise=0.3)
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for ax, (k, word) in zip(axes, {3: "too few", 8: "right", 30: "too many"}.items(), strict=True):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = Isomap(2, n_neighbors=k).fit(X)
        show.scatter(model.embedding_, t, legend=False, ax=ax)
        facts = f"parts of the graph: {model.components_found_}; short circuits named: {len(model.short_circuits_)}"
        ax.set_title(
            f"{k} neighbours, {word}: residual variance {model.residual_variance_[1]:.3f}\n{facts}",
            fontsize=10,
            loc="left",
        )
        for warning in told:
            print(f"{k} neighbours: {warning.message}")
    figure.savefig(out, dpi=90)
    print(Path(out).resolve())


if __name__ == "__main__":
    main()
