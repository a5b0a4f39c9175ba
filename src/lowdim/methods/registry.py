"""The available methods, one entry each, read by the command line, the contract tests and ``lowdim.reduce``."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Method:
    """A method's short name, class, and what helps to choose one."""

    name: str
    class_name: str
    module: str
    summary: str
    when: str
    cost: str
    supervised: bool = False
    components: int | None = 2  # default n_components, where the caller names none
    default_rows: int = 20_000  # rows up to which a comparison includes it by default; 0: never
    apart: str = "produces no map"  # why a comparison never includes it by default
    takes_table: bool = False  # columns of any kind, which it prepares by itself

    @property
    def needs_torch(self) -> bool:
        """Whether a fit needs PyTorch, of the extra lowdim[torch]."""
        return "lowdim[torch]" in self.when

    def load(self) -> Any:
        """Return the class, imported now."""
        return getattr(import_module(self.module), self.class_name)

    def build(self, parameters: Mapping[str, Any], **defaults: Any) -> Any:
        """Unfitted model with these parameters, which must be its own, and those of the defaults that it has."""
        from lowdim.data import options

        cls = self.load()
        known = cls._get_param_names()
        options.demand_known(self.class_name, parameters, known)
        return cls(**{name: value for name, value in defaults.items() if name in known} | dict(parameters))

    def memory(self, n: int, d: int) -> float:
        """Bytes that the method needs for n rows of d features, with its default parameters; 0 for sizes it refuses."""
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
        "first look, compression, denoising; linear, invertible, with a loading for each feature",
        "n·d² time, d² memory (n ≥ d); n²·d and n² (d > n); streams data of any length",
        default_rows=10_000_000,
    ),
    Method(
        "nmf",
        "NMF",
        "lowdim.methods.nmf",
        "non-negative parts that add up to the rows",
        "counts, spectra, pictures, words: rows without negative values, as amounts of parts to look at",
        "two products with the rows per iteration, n·d·k (sparse: stored values times k); (n + d)·k memory",
        default_rows=0,
        apart="finds parts of rows without negative values",
    ),
    Method(
        "fast_ica",
        "FastICA",
        "lowdim.methods.fast_ica",
        "independent sources of which the rows are mixtures",
        "recordings of several sources by several sensors; artefacts; not for Gaussian sources, nor to compress",
        "that of PCA, then n·k² time per step; n·k memory",
        default_rows=0,
        apart="finds sources rather than a map",
    ),
    Method(
        "factor_analysis",
        "FactorAnalysis",
        "lowdim.methods.factor_analysis",
        "common factors, with noise of its own for each feature",
        "tests and questionnaires: what several measurements share, loadings to read; not to compress",
        "n·d² time, then d²·k per step; d² memory (n ≥ d); n²·d and n² (d > n)",
        default_rows=0,
        apart="explains columns by factors rather than drawing a map",
    ),
    Method(
        "sparse_pca",
        "SparsePCA",
        "lowdim.methods.sparse_pca",
        "directions of large variance in which few features take part",
        "components to read or to measure: few loadings each, at some cost in variance",
        "n·d² time once, then d²·k per sweep over the features; d² memory",
        default_rows=0,
        apart="is PCA with fewer loadings",
    ),
    Method(
        "robust_pca",
        "RobustPCA",
        "lowdim.methods.robust_pca",
        "directions of a low-rank part, beside sparse errors",
        "rows of low rank in which some entries are wrong or something else: backgrounds of films, faulty sensors",
        "some 30 steps of n·d·min(n, d) time each; 56 n·d bytes",
        default_rows=0,
        apart="splits rows in two parts, in time that grows with both sides",
    ),
    Method(
        "famd",
        "FAMD",
        "lowdim.methods.famd",
        "directions shared by numbers and categories",
        "tables of mixed columns: a map of rows, columns and levels, with contributions and cos²",
        "n·p² time, p² memory for the p prepared columns; reads the rows block by block",
        default_rows=1_000_000,
        takes_table=True,
    ),
    Method(
        "mca",
        "MCA",
        "lowdim.methods.mca",
        "directions shared by categories",
        "surveys and other tables of categories: which answers go together; numbers are cut into classes",
        "n·p² time, p² memory for the p levels; reads the rows block by block",
        default_rows=1_000_000,
        takes_table=True,
    ),
    Method(
        "truncated_svd",
        "TruncatedSVD",
        "lowdim.methods.truncated_svd",
        "the best approximation of the rows by few directions through the origin",
        "sparse counts and tf-idf (latent semantic analysis), whose zeros must stay zeros; else PCA",
        "n·d² time, d² memory (n ≥ d); products alone for few components of sparse rows",
        default_rows=0,
    ),
    Method(
        "gaussian_projection",
        "GaussianRandomProjection",
        "lowdim.methods.random_projection",
        "normal directions drawn without looking at the rows, which keep all distances nearly",
        "very many features, before a method of distances; hundreds of components, not two: no map",
        "n·d·k time, d·k memory",
        default_rows=0,
    ),
    Method(
        "sparse_projection",
        "SparseRandomProjection",
        "lowdim.methods.random_projection",
        "the same along directions that are mostly zero",
        "as the Gaussian one, for sparse rows and very many features",
        "n·√d·k time for sparse directions, √d·k memory",
        default_rows=0,
    ),
    Method(
        "kl",
        "KLExpansion",
        "lowdim.methods.kl_expansion",
        "directions of largest variance within classes",
        "labelled rows: variation within classes, whatever the class means; invertible",
        "n·d² time, d² memory (n ≥ d); n²·d and n² (d > n)",
        supervised=True,
        default_rows=10_000_000,
    ),
    Method(
        "lda",
        "LDA",
        "lowdim.methods.lda",
        "directions that separate classes",
        "labelled rows: a map, or features for a classifier; at most n_classes − 1 directions",
        "n·d² time, d² memory (n ≥ d); n²·d and n² (d > n)",
        supervised=True,
        components=None,
        default_rows=10_000_000,
    ),
    Method(
        "nca",
        "NCA",
        "lowdim.methods.nca",
        "the linear map in which nearest neighbours share a label",
        "labelled rows whose classes have several clusters each; before a nearest-neighbour classifier",
        "n²·k time per iteration; n·d memory",
        supervised=True,
        default_rows=0,
        apart="takes all pairs of rows in each iteration",
    ),
    Method(
        "kernel_pca",
        "KernelPCA",
        "lowdim.methods.kernel_pca",
        "PCA in the feature space of a kernel",
        "curved structure, nested groups, denoising by pre-images; the kernel must suit the data",
        "n²·d time, n² memory (matrix-free: n²·d time per iteration); n·rank of both with approximation='rpcholesky'",
    ),
    Method(
        "isomap",
        "Isomap",
        "lowdim.methods.isomap",
        "geodesic distances along the data",
        "coordinates of one bent or rolled-up sheet or curve; global structure rather than clusters",
        "n² log n time, 2 n² bytes; n·landmarks of both with landmarks=1000",
    ),
    Method(
        "mds",
        "MDS",
        "lowdim.methods.mds",
        "distances between all pairs of rows",
        "precomputed distances or dissimilarities; global layout of a few thousand rows, with its stress",
        "n² time per iteration, 4 n² bytes",
        default_rows=5_000,
    ),
    Method(
        "lle",
        "LLE",
        "lowdim.methods.lle",
        "how each row is reconstructed from its neighbours",
        "coordinates of one bent or rolled-up sheet or curve, also of many rows",
        "n·d·neighbours² time and a sparse eigenproblem; memory linear in n",
    ),
    Method(
        "laplacian_eigenmaps",
        "LaplacianEigenmaps",
        "lowdim.methods.laplacian_eigenmaps",
        "the smoothest coordinates on the neighbour graph",
        "clusters and curves of many rows; the embedding behind spectral clustering",
        "neighbour search and a sparse eigenproblem; memory linear in n",
    ),
    Method(
        "diffusion_map",
        "DiffusionMap",
        "lowdim.methods.diffusion_map",
        "coordinates of a random walk between similar rows",
        "paths and branches, as of developing cells; distances that average over all paths",
        "neighbour search and a sparse eigenproblem; memory linear in n",
    ),
    Method(
        "phate",
        "PHATE",
        "lowdim.methods.phate",
        "branches and transitions, by potentials of a random walk",
        "trajectories that branch, as of developing cells, in two dimensions; noise is averaged out by the walk",
        "neighbour search, then landmarks³ time and landmarks² memory; linear in n",
    ),
    Method(
        "tsne",
        "TSNE",
        "lowdim.methods.sne",
        "neighbourhoods, with room between clusters",
        "visualising clusters; distances between clusters are mostly not meaningful",
        "neighbour search, then n time per iteration in 1 and 2 dimensions, n·log n in 3; n·perplexity memory",
        default_rows=200_000,
    ),
    Method(
        "umap",
        "UMAP",
        "lowdim.methods.umap",
        "neighbourhoods, with compact, well separated clusters",
        "as t-SNE, with more emphasis on how clusters are connected; any number of dimensions",
        "neighbour search, then n·n_neighbors time per epoch; n·n_neighbors memory",
        default_rows=200_000,
    ),
    Method(
        "pacmap",
        "PaCMAP",
        "lowdim.methods.pacmap",
        "neighbourhoods and the global structure",
        "visualising clusters and their arrangement",
        "neighbour search, then n·n_neighbors time per iteration; n·n_neighbors memory",
        default_rows=200_000,
    ),
    Method(
        "sne",
        "SNE",
        "lowdim.methods.sne",
        "neighbourhoods, by Gaussian similarities in the map",
        "comparison with t-SNE: clusters are crowded, distances between them are kept better",
        "as t-SNE",
        default_rows=50_000,
    ),
    Method(
        "autoencoder",
        "Autoencoder",
        "lowdim.methods.autoencoder",
        "a nonlinear code from which a network reconstructs the rows",
        "curved structure and many rows; smaller code than PCA for the same error; invertible; needs lowdim[torch]",
        "n·d time per epoch, d memory for given hidden layers; streams data of any length",
    ),
    Method(
        "parametric_umap",
        "ParametricUMAP",
        "lowdim.methods.parametric",
        "UMAP by a network, which places new rows by a few products",
        "a stream of new rows for a map, without neighbours to search or rows to keep; needs lowdim[torch]",
        "that of UMAP, then n·d·h per epoch for hidden layers of h values; d·h per new row",
        default_rows=0,
        apart="is UMAP's map as a network learnt it",
    ),
    Method(
        "parametric_tsne",
        "ParametricTSNE",
        "lowdim.methods.parametric",
        "t-SNE by a network, which places new rows by a few products",
        "the same for t-SNE's map; needs lowdim[torch]",
        "that of t-SNE, then n·d·h per epoch for hidden layers of h values; d·h per new row",
        default_rows=0,
        apart="is t-SNE's map as a network learnt it",
    ),
    Method(
        "select",
        "SequentialFeatureSelector",
        "lowdim.methods.selection",
        "features that serve a classifier or a regression, added or removed one at a time",
        "fewer columns to measure or explain, each as it was measured; see 'lowdim select'",
        "d² fits in all; least squares, LDA and k-NN without refits; k-NN keeps n² distances",
        supervised=True,
        default_rows=0,
    ),
    Method(
        "rank",
        "RankFeatures",
        "lowdim.methods.rank_features",
        "features by a score of each with the target: ANOVA, mutual information, mRMR, ReliefF or variance",
        "thousands of columns, before a wrapper or instead of one; p-values; see 'lowdim select --by'",
        "n·log n·d time; ReliefF 2000·n·d; reads the columns block by block",
        supervised=True,
        default_rows=0,
    ),
    Method(
        "kernel_lda",
        "KernelLDA",
        "lowdim.methods.kernel_lda",
        "LDA in the feature space of a kernel",
        "classes that are not linearly separable; a few thousand labelled rows",
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
        "pls",
        "PLSRegression",
        "lowdim.methods.pls",
        "directions that covary with a target, and its prediction",
        "a target of one or more numbers, and many correlated features, also more than rows",
        "n·(d² + d·e) time, d² memory, e targets; rows are read once",
        supervised=True,
        default_rows=0,
    ),
    Method(
        "pls_canonical",
        "PLSCanonical",
        "lowdim.methods.pls",
        "directions of two views whose scores covary most",
        "two sets of measurements of the same rows, with many correlated columns, where CCA would overfit",
        "n·(d² + e²) time, d² + e² memory, e features in the second view",
        supervised=True,
        components=1,  # as many as targets, of which there may be one
        default_rows=0,
    ),
    Method(
        "kernel_cca",
        "KernelCCA",
        "lowdim.methods.kernel_cca",
        "CCA in the feature space of a kernel",
        "two views with a nonlinear relation; a few thousand rows",
        "n³ time, n² memory",
        supervised=True,
        components=None,
        default_rows=0,
    ),
)

# Steps before a method: they produce no map, but are part of chains and of model files.
PREPARATIONS = (
    Method(
        "prepare",
        "Prepare",
        "lowdim.methods.prepare",
        "numbers, categories, dates and missing values as columns of comparable weight",
        "tables of mixed columns, before any method",
        "n·d time, 8 n·d bytes for the d columns that come out",
        default_rows=0,
    ),
)


def _plain(name: str) -> str:
    """Name without case, hyphens and underscores: "t-SNE" is "tsne"."""
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def find(name: str) -> Method:
    """Return the method called ``name`` (short name or class name, in any case, hyphens left out or not).

    >>> find("pca").class_name, find("t-SNE").class_name
    ('PCA', 'TSNE')
    """
    if not isinstance(name, str):
        raise TypeError(f"method must be a name, such as 'pca'; got {name!r}. 'lowdim methods' lists them.")
    plain = _plain(name)
    for method in METHODS:
        if plain in (_plain(method.name), _plain(method.class_name)):
            return method
    names = [method.name for method in METHODS]
    close = get_close_matches(name.lower(), names, n=1)
    raise ValueError(
        f"method must be one of {', '.join(names)}; got {name!r}. "
        + (f"Did you mean {close[0]!r}?" if close else "'lowdim methods' describes them.")
    )
