"""Plots of embeddings and models; each function takes ``ax=`` and returns the Axes it drew in.

Nothing here loads matplotlib until a function is called.
"""

from lowdim.show.biplot import biplot
from lowdim.show.components import components
from lowdim.show.distortion import distortion
from lowdim.show.explanation import explanation
from lowdim.show.loss import loss
from lowdim.show.neighbor_graph import graph
from lowdim.show.reconstructions import reconstructions
from lowdim.show.redundancy import redundancy
from lowdim.show.reliability import reliability
from lowdim.show.rnx import rnx
from lowdim.show.scatter import scatter
from lowdim.show.scree import scree
from lowdim.show.selection import selection
from lowdim.show.sequence import film, multiples
from lowdim.show.shepard import shepard

__all__ = [
    "biplot",
    "components",
    "distortion",
    "explanation",
    "film",
    "graph",
    "loss",
    "multiples",
    "reconstructions",
    "redundancy",
    "reliability",
    "rnx",
    "scatter",
    "scree",
    "selection",
    "shepard",
]
