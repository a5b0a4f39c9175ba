"""Isomap with too few neighbours, enough, and too many: the graph of neighbours drawn over the map it gives."""

from pathlib import Path

import matplotlib

from lowdim import Isomap, data, show

OUT = Path(__file__).parents[1] / "docs" / "images" / "isomap_neighbors.png"
COUNTS = {3: "too few: paths make detours", 10: "enough: the sheet lies flat", 60: "too many: short cuts fold it"}


def main(out: str | Path = OUT) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, t = data.load("swissroll", n_samples=1000)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
    for ax, (k, what) in zip(axes, COUNTS.items(), strict=True):
        Y = Isomap(2, n_neighbors=k).fit_transform(X)
        show.graph(X, Y, t, n_neighbors=k, ax=ax, legend=False, size=8)
        ax.set_title(f"{k} neighbours, {what}", fontsize=11, loc="left")
        ax.set_title("", loc="right")
    figure.savefig(out, dpi=80)
    print(Path(out).resolve())


if __name__ == "__main__":
    main()
