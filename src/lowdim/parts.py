"""The building blocks of t-SNE and UMAP, to combine by hand: neighbours, affinities, initial layouts, optimisation.

``TSNE`` runs them one after the other. Use them directly for other affinities, a layout of your own or an optimisation
in several phases, as in openTSNE:

>>> import lowdim
>>> from lowdim import parts
>>> X, y = lowdim.data.load("iris")
>>> near = parts.nearest(X, 45)
>>> p, _ = parts.likelihoods(near.distances, [15.0])
>>> P = parts.affinities(near.indices, p)
>>> loss = parts.Divergence(parts.Falloff("student"), "exact", exaggerated=100)
>>> found = parts.descend(P, parts.by_pca(X, 2, seed=0), loss, iterations=300, every=50)
>>> found.embedding.shape, found.losses[-1] < found.losses[0]
((150, 2), True)
>>> parts.place(near.indices[:3], p[:3], found.embedding, loss).shape
(3, 2)
"""

from lowdim.compose.layout import by_chance, by_pca, by_spectrum
from lowdim.relate.affinities import Affinities, affinities, likelihoods, neighbors_for
from lowdim.relate.fuzzy import FuzzyGraph, fuzzy_union, memberships
from lowdim.relate.neighbors import Neighbors, Within, nearest, within
from lowdim.solve.cross_entropy import CrossEntropy
from lowdim.solve.descent import Descended, Loss, Reached, descend, place
from lowdim.solve.divergence import Divergence, Falloff, divergence, gradient

__all__ = [
    "Affinities",
    "CrossEntropy",
    "Descended",
    "Divergence",
    "Falloff",
    "FuzzyGraph",
    "Loss",
    "Neighbors",
    "Reached",
    "Within",
    "affinities",
    "by_chance",
    "by_pca",
    "by_spectrum",
    "descend",
    "divergence",
    "fuzzy_union",
    "gradient",
    "likelihoods",
    "memberships",
    "nearest",
    "neighbors_for",
    "place",
    "within",
]
