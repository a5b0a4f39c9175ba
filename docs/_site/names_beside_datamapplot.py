"""Writes docs/images/names.png: one map with names by lowdim and by datamapplot. Needs datamapplot and LOWDIM_DATA."""

import io
import os
from pathlib import Path

import datamapplot
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import lowdim
from lowdim import quality, show

WORDS = 20_000


def main() -> None:
    """A map of word vectors, twice."""
    with np.load(Path(os.environ["LOWDIM_DATA"]) / "glove_100d_100k.npz") as file:
        vectors = file["X"][:WORDS].astype(np.float32)
        words = np.array(bytes(file["words"]).decode().split("\n")[:WORDS])
    Y = lowdim.TSNE(metric="cosine", random_state=0).fit_transform(vectors)
    labels = np.full(len(Y), "Unlabelled", dtype="U60")
    for island in quality.islands(Y, words, levels=2):
        labels[island.rows] = island.name
    figure, ax = plt.subplots(figsize=(7, 7), layout="constrained")
    show.scatter(Y, labels="auto", about=words, ax=ax, title="lowdim")
    other, _ = datamapplot.create_plot(Y, labels, figsize=(7, 7), dpi=90)
    parts = []
    for one in (figure, other):
        out = io.BytesIO()
        one.savefig(out, dpi=90, format="png")
        parts.append(Image.open(out).convert("RGB").resize((630, 630)))
    both = Image.new("RGB", (1260, 630), "white")
    for i, part in enumerate(parts):
        both.paste(part, (630 * i, 0))
    path = Path(__file__).parents[1] / "images" / "names.png"
    both.quantize(200, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
