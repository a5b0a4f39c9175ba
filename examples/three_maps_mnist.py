"""MNIST by t-SNE, UMAP and PaCMAP: 70,000 digits along 50 principal axes."""

from pathlib import Path

import numpy as np

from examples.three_maps import draw
from lowdim import PCA, data

OUT = Path(__file__).parents[1] / "docs" / "images" / "three_maps_mnist.png"


def main(out: str | Path = OUT) -> None:
    X, y = data.load("mnist")
    axes = PCA(50).fit_transform(np.divide(X, 255, dtype=np.float32))
    draw(axes, np.asarray(y), "70,000 digits of MNIST", out)


if __name__ == "__main__":
    main()
