"""UMAP's two parameters: n_neighbors decides what hangs together, min_dist how tightly it is drawn."""

from pathlib import Path

import matplotlib

from lowdim import UMAP, data, show

OUT = Path(__file__).parents[1] / "docs" / "images" / "umap_parameters.png"
MAPS = (
    {"n_neighbors": 3},
    {"n_neighbors": 15},
    {"n_neighbors": 200},
    {"min_dist": 0.0},
    {"min_dist": 0.1},
    {"min_dist": 0.99},
)


def main(out: str | Path = OUT) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = data.load("digits")
    figure, axes = plt.subplots(2, 3, figsize=(13, 8.4), layout="constrained")
    for ax, given in zip(axes.flat, MAPS, strict=True):
        show.scatter(UMAP(random_state=0, **given).fit_transform(X), y, legend=False, ax=ax)
        ax.set_title(", ".join(f"{name} = {value}" for name, value in given.items()), fontsize=11, loc="left")
    figure.savefig(out, dpi=80)
    print(Path(out).resolve())


if __name__ == "__main__":
    main()
