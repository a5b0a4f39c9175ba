"""The crowding problem: SNE presses the digits into one heap, t-SNE's heavy tails let groups move apart."""

from pathlib import Path

import matplotlib
import numpy as np

from lowdim import SNE, TSNE, data, show

OUT = Path(__file__).parents[1] / "docs" / "images" / "crowding.png"


def main(out: str | Path = OUT) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = data.load("digits")
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained", width_ratios=(1, 1, 1))
    for ax, (name, cls) in zip(axes, {"SNE": SNE, "t-SNE": TSNE}.items(), strict=False):
        show.scatter(cls(random_state=0).fit_transform(X), y, ax=ax, labels=True, legend=False)
        ax.set_title(f"The digits by {name}", fontsize=11, loc="left")
    d = np.linspace(0, 5, 200)
    axes[2].plot(d, np.exp(-(d**2)), color="#185ac9", lw=2, label="SNE: exp(−d²)")
    axes[2].plot(d, 1 / (1 + d**2), color="#b2460a", lw=2, label="t-SNE: 1 / (1 + d²)")
    axes[2].fill_between(d, np.exp(-(d**2)), 1 / (1 + d**2), color="#b2460a", alpha=0.12, lw=0)
    axes[2].annotate("the same affinity\nat a larger distance", (2.6, 0.16), color="#b2460a")
    axes[2].set(xlabel="distance on the map", ylabel="affinity")
    axes[2].spines[["top", "right"]].set_visible(False)
    axes[2].legend(frameon=False)
    axes[2].set_title("Why: what a distance stands for", fontsize=11, loc="left")
    figure.savefig(out, dpi=100)
    print(Path(out).resolve())


if __name__ == "__main__":
    main()
