"""The digits by PCA and by t-SNE, and how well each keeps neighbourhoods of every size."""

from pathlib import Path

import matplotlib

from lowdim import PCA, TSNE, data, show

OUT = Path(__file__).parents[1] / "docs" / "images" / "digits_tsne.png"


def main(out: str | Path = OUT) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = data.load("digits")
    maps = {"PCA": PCA(2).fit_transform(X), "t-SNE": TSNE(random_state=0).fit_transform(X)}
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained", width_ratios=(1, 1, 1.1))
    for ax, (name, Y) in zip(axes, maps.items(), strict=False):
        show.scatter(Y, y, ax=ax, labels=True, legend=False)
        ax.set_title(f"1,797 digits by {name}", fontsize=11, loc="left")
    show.rnx(X, maps, ax=axes[2])
    axes[2].set_title("Neighbourhoods kept", fontsize=11, loc="left")
    figure.savefig(out, dpi=100)
    print(Path(out).resolve())


if __name__ == "__main__":
    main()
