"""Unrolling: a swiss roll and a spiral by kernel PCA, which cannot, and by Isomap and LLE, which can."""

from pathlib import Path

import matplotlib

from lowdim import LLE, Isomap, KernelPCA, data, show

OUT = Path(__file__).parents[1] / "docs" / "images" / "unrolling.png"


def main(out: str | Path = OUT) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 5.6), layout="constrained")
    roll, t = data.load("swissroll", n_samples=1500)
    ax = figure.add_subplot(2, 4, 1, projection="3d")
    show.scatter(roll, t, ax=ax, legend=False)
    ax.set_title("A swiss roll …", fontsize=11, loc="left")
    spiral, length = data.load("spiral")
    ax = figure.add_subplot(2, 4, 5)
    show.scatter(spiral, length, ax=ax, legend=False)
    ax.set_title("A spiral …", fontsize=11, loc="left")
    models = {
        "kernel PCA": lambda k: KernelPCA(k),
        "Isomap": lambda k: Isomap(k, n_neighbors=10),
        "LLE": lambda k: LLE(k, n_neighbors=12),
    }
    for place, (name, model) in enumerate(models.items(), start=2):
        ax = figure.add_subplot(2, 4, place)
        show.scatter(model(2).fit_transform(roll), t, ax=ax, legend=False)
        ax.set_aspect("auto")
        ax.set_title(f"… by {name}", fontsize=11, loc="left")
        ax = figure.add_subplot(2, 4, 4 + place)
        ax.scatter(length, model(1).fit_transform(spiral)[:, 0], c=length, s=6)
        ax.set(xlabel="length along the spiral", yticks=[])
        ax.set_title(f"… to one number by {name}", fontsize=11, loc="left")
    figure.savefig(out, dpi=90)
    print(Path(out).resolve())


if __name__ == "__main__":
    main()
