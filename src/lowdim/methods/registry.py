"""The methods there are: one line each, read by the command line, the contract tests and ``lowdim.reduce``."""

from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Method:
    """A method's short name, class, and what a person choosing one wants to know."""

    name: str
    class_name: str
    module: str
    summary: str
    when: str
    cost: str
    supervised: bool = False
    components: int | None = 2  # n_components for a first look, where the caller names none
    default_rows: int = 20_000  # up to which a comparison includes it without being asked; 0: never

    def load(self) -> Any:
        """Return the class, imported now."""
        return getattr(import_module(self.module), self.class_name)

    def memory(self, n: int, d: int) -> float:
        """Bytes that the method asks for n rows of d features, by its default parameters; 0 for sizes it refuses."""
        from lowdim.work import memory

        with memory.recording() as asked, suppress(ValueError):
            self.load()()._ask_memory(n, d)
        return max(asked, default=0.0)


METHODS = (
    Method(
        "pca",
        "PCA",
        "lowdim.methods.pca",
        "directions of largest variance",
        "first look, compression, denoising; a linear map that can be undone and read feature by feature",
        "n·d² time, d² memory (n ≥ d); n²·d and n² (d > n); streams data of any length",
        default_rows=10_000_000,
    ),
    Method(
        "kl",
        "KLExpansion",
        "lowdim.methods.kl_expansion",
        "directions of largest variance within classes",
        "labelled rows whose classes differ in mean: what varies inside them; can be undone",
        "n·d² time, d² memory (n ≥ d); n²·d and n² (d > n)",
        supervised=True,
        default_rows=10_000_000,
    ),
    Method(
        "lda",
        "LDA",
        "lowdim.methods.lda",
        "directions in which classes lie apart",
        "labelled rows: a map or features for a classifier; at most one direction fewer than classes",
        "n·d² time, d² memory (n ≥ d); n²·d and n² (d > n)",
        supervised=True,
        components=None,
        default_rows=10_000_000,
    ),
    Method(
        "kernel_pca",
        "KernelPCA",
        "lowdim.methods.kernel_pca",
        "PCA in the space of a kernel",
        "curved structure with a kernel that fits it; nested groups; denoising with pre-images",
        "n²·d time, n² memory (without it, n²·d a pass); n·rank of both with approximation='rpcholesky'",
    ),
    Method(
        "isomap",
        "Isomap",
        "lowdim.methods.isomap",
        "distances along the data, kept in a flat map",
        "one sheet or curve, bent or rolled up: its own coordinates; global shape rather than clusters",
        "n² log n time, 4 n² bytes; n·landmarks of both with landmarks=1000",
    ),
    Method(
        "mds",
        "MDS",
        "lowdim.methods.mds",
        "distances of all pairs, kept as nearly as the dimensions allow",
        "given distances or dissimilarities; the overall layout of a few thousand rows, judged by its stress",
        "n² time a step, 4 n² bytes",
        default_rows=5_000,
    ),
    Method(
        "lle",
        "LLE",
        "lowdim.methods.lle",
        "each row put together from its neighbours, and the map likewise",
        "one sheet or curve, bent or rolled up, of many rows; memory grows with n only",
        "n·d·neighbours² time and a sparse eigenproblem; n² for the exact neighbours",
    ),
    Method(
        "laplacian_eigenmaps",
        "LaplacianEigenmaps",
        "lowdim.methods.laplacian_eigenmaps",
        "the smoothest coordinates of the graph of neighbours",
        "clusters and curves of many rows; what spectral clustering sees; rows that are alike end up close",
        "neighbours and a sparse eigenproblem; memory grows with n only",
    ),
    Method(
        "diffusion_map",
        "DiffusionMap",
        "lowdim.methods.diffusion_map",
        "coordinates of a random walk between similar rows",
        "paths and branches, as of developing cells; distances that average over all ways between two rows",
        "neighbours and a sparse eigenproblem; memory grows with n only",
    ),
    Method(
        "tsne",
        "TSNE",
        "lowdim.methods.sne",
        "maps that keep neighbours, with room between clusters",
        "a picture of clusters in many dimensions; distances between clusters mean little",
        "neighbours, then n time a pass in 1 and 2 dimensions, n·log n in 3; n·perplexity memory",
        default_rows=200_000,
    ),
    Method(
        "umap",
        "UMAP",
        "lowdim.methods.umap",
        "maps that keep neighbours, clusters tight and far apart",
        "as t-SNE, and faster still: clusters and how they hang together; also in more than 3 dimensions",
        "neighbours, then n·n_neighbors time an epoch in any dimension; n·n_neighbors memory",
        default_rows=200_000,
    ),
    Method(
        "pacmap",
        "PaCMAP",
        "lowdim.methods.pacmap",
        "maps that keep neighbours and the large shape",
        "clusters, and where they lie to each other: a picture of the whole as well as of the detail",
        "neighbours, then n·n_neighbors time an iteration in any dimension; n·n_neighbors memory",
        default_rows=200_000,
    ),
    Method(
        "sne",
        "SNE",
        "lowdim.methods.sne",
        "maps that keep neighbours, by a Gaussian",
        "to compare with t-SNE: it crowds clusters together, and keeps more of the distances between them",
        "as t-SNE",
        default_rows=50_000,
    ),
    Method(
        "autoencoder",
        "Autoencoder",
        "lowdim.methods.autoencoder",
        "a code from which a network can give rows back",
        "curved structure and many rows; fewer values than PCA for the same error; can be undone; needs lowdim[torch]",
        "n·d time an epoch, d memory for a given hidden; streams data of any length",
    ),
    Method(
        "select",
        "SequentialSelector",
        "lowdim.methods.selection",
        "features that serve a classifier or regression, one at a time",
        "fewer columns to measure or explain, each kept as it is; 'lowdim select' shows the path",
        "d² fits in all; least squares, LDA and k-NN without refits; k-NN keeps n² distances",
        supervised=True,
        default_rows=0,
    ),
    Method(
        "kernel_lda",
        "KernelLDA",
        "lowdim.methods.kernel_lda",
        "LDA in the space of a kernel",
        "classes that no straight line separates; a few thousand labelled rows",
        "n³ time, n² memory",
        supervised=True,
        components=None,
        default_rows=5_000,
    ),
    Method(
        "cca",
        "CCA",
        "lowdim.methods.cca",
        "directions of two views whose scores correlate most",
        "two sets of measurements of the same rows; the label column is the second view",
        "n·(d² + e²) time, d² + e² memory, e features in the second view",
        supervised=True,
        components=None,
        default_rows=0,
    ),
    Method(
        "kernel_cca",
        "KernelCCA",
        "lowdim.methods.kernel_cca",
        "CCA in the space of a kernel",
        "two views related by curves; a few thousand rows",
        "n³ time, n² memory",
        supervised=True,
        components=None,
        default_rows=0,
    ),
)

# Steps that come before a method: no maps themselves, but part of chains and of model files.
PREPARATIONS = (
    Method(
        "prepare",
        "Prepare",
        "lowdim.methods.prepare",
        "numbers, categories, dates and gaps as columns of comparable weight",
        "tables of mixed columns, before any method",
        "n·d time, 8 n·d bytes for the d columns that come out",
        default_rows=0,
    ),
)


def find(name: str) -> Method:
    """Return the method called ``name`` (short name or class name, in any case).

    >>> find("pca").class_name
    'PCA'
    """
    if not isinstance(name, str):
        raise TypeError(f"method must be a name, such as 'pca'; got {name!r}. 'lowdim methods' lists them.")
    for method in METHODS:
        if name.lower() in (method.name, method.class_name.lower()):
            return method
    names = [method.name for method in METHODS]
    close = get_close_matches(name.lower(), names, n=1)
    raise ValueError(
        f"method must be one of {', '.join(names)}; got {name!r}. "
        + (f"Did you mean {close[0]!r}?" if close else "'lowdim methods' describes them.")
    )
