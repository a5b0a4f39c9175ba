"""Eigenfaces: the mean face and the directions in which faces differ most, as images."""

from pathlib import Path

import matplotlib

from lowdim import PCA, data, show

OUT = Path(__file__).parents[1] / "docs" / "images" / "eigenfaces.png"


def main(out: str | Path = OUT) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, _ = data.load("faces")
    pca = PCA(0.9).fit(X)
    figure, ax = plt.subplots(figsize=(8.4, 2.8), layout="constrained")
    show.components(pca, image_shape=data.image_shape("faces"), ax=ax)
    ax.set_title(f"The mean face and the first 15 of {pca.n_components_} eigenfaces that hold 90 %", fontsize=11)
    figure.savefig(out, dpi=80)
    print(Path(out).resolve())


if __name__ == "__main__":
    main()
