"""Pictures of embeddings and models; each function takes ``ax=`` and returns the Axes it drew in.

Nothing here loads matplotlib until a function is called.
"""

from lowdim.show.components import components
from lowdim.show.scatter import scatter
from lowdim.show.scree import scree

__all__ = ["components", "scatter", "scree"]
