"""Perplexity 5, 30 and 100: how many neighbours a row keeps decides between fragments and wholes."""

from pathlib import Path

import matplotlib

from lowdim import TSNE, data, show

OUT = Path(__file__).parents[1] / "docs" / "images" / "perplexity.png"


def main(out: str | Path = OUT) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = data.load("digits")
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    for ax, perplexity in zip(axes, (5, 30, 100), strict=True):
        Y = TSNE(perplexity=perplexity, random_state=0).fit_transform(X)
        show.scatter(Y, y, legend=False, ax=ax)
        ax.set_title(f"perplexity {perplexity}", fontsize=11, loc="left")
    figure.savefig(out, dpi=80)
    print(Path(out).resolve())


if __name__ == "__main__":
    main()
