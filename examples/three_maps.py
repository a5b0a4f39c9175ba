"""The digits by t-SNE, UMAP and PaCMAP: the same neighbours, drawn with more and more attraction."""

from pathlib import Path

import matplotlib
import numpy as np

from lowdim import TSNE, UMAP, PaCMAP, data, show

OUT = Path(__file__).parents[1] / "docs" / "images" / "three_maps.png"


def draw(X: np.ndarray, y: np.ndarray, title: str, out: str | Path) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.6), layout="constrained")
    models = {"t-SNE": TSNE(random_state=0), "UMAP": UMAP(random_state=0), "PaCMAP": PaCMAP(random_state=0)}
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        show.scatter(model.fit_transform(X), y, legend=ax is axes[-1], ax=ax)
        ax.set_title(name, fontsize=11, loc="left")
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    figure.savefig(out, dpi=80)
    print(Path(out).resolve())


def main(out: str | Path = OUT) -> None:
    X, y = data.load("digits")
    draw(X, y, "1,797 digits of 64 pixels", out)


if __name__ == "__main__":
    main()
