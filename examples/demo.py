"""The digits from 64 dimensions to 2 and back: one page of pictures and facts; prints where it is."""

import sys
from pathlib import Path
from time import perf_counter

import matplotlib

from lowdim import PCA, data, show
from lowdim.show.page import code, figure, heading, page, paragraph, row, table
from lowdim.solve.components import elbow

COMMANDS = """from lowdim import PCA, data, show
X, y = data.load("digits")
show.scatter(PCA(2).fit_transform(X), y)
show.scree(PCA().fit(X))
show.components(PCA(0.9).fit(X), image_shape=(8, 8))"""


def main(out: str = "demo/index.html") -> None:
    matplotlib.use("Agg")
    X, y = data.load("digits")
    everything = PCA().fit(X)
    start = perf_counter()
    pca = PCA(0.9).fit(X)
    seconds = perf_counter() - start
    plane = PCA(2).set_output(transform="polars").fit_transform(X)
    held = everything.explained_variance_ratio_.cumsum()
    facts = {
        "samples": len(X),
        "features": X.shape[1],
        "components for 90 % of the variance": int(pca.n_components_),
        "components before the elbow": elbow(everything.explained_variance_ratio_),
        "solver chosen": pca.solver_,
        "seconds to fit": seconds,
        "mean squared reconstruction error": float(pca.reconstruction_error(X).mean()),
    }
    lost = {k: float(PCA(k).fit(X).reconstruction_error(X).mean()) for k in (1, 2, 5, 10, 20, 40)}
    errors = [(k, f"{100 * held[k - 1]:.1f} %", error) for k, error in lost.items()]
    blocks = [
        paragraph("Handwritten digits of 8 × 8 pixels, reduced by principal component analysis."),
        row(table(facts), table(errors, header=("components", "variance held", "mean squared error"))),
        heading("The map: each point is one digit, along the two directions of largest variance"),
        figure(show.scatter(plane, y), alt="Map of the digits, coloured by digit"),
        heading("How many components?"),
        figure(show.scree(everything), alt="Share of variance per component, the 90 % mark and the elbow"),
        heading("What the components look like: red pixels raise the coordinate, blue ones lower it"),
        figure(show.components(pca, image_shape=(8, 8)), alt="The mean digit and 15 components as images"),
        heading("Do it yourself"),
        code(COMMANDS),
    ]
    path = Path(out).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    page("lowdim on handwritten digits", blocks, path)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
