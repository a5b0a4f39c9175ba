"""Input of data: validation of arrays, readers of files, and example data sets."""

from lowdim.data.datasets import image_shape, load, names
from lowdim.data.gower import gower_distances
from lowdim.data.read import read
from lowdim.data.sampling import sample
from lowdim.data.table import Table
from lowdim.data.write import write

__all__ = ["Table", "gower_distances", "image_shape", "load", "names", "read", "sample", "write"]
