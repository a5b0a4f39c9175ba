"""Operations for torch tensors on any device. Importing the package registers them with the table of backends."""

from importlib.util import find_spec

from lowdim.backends.torch import (  # noqa: F401  # each registers its functions
    centring,
    class_probabilities,
    column_scores,
    finite,
    gaps,
    gram,
    kernel_values,
    leading_eigenpairs,
    memory,
    moments,
    neighbor_places,
    neighborhood_components,
    network,
    nonnegative,
    projection,
    row_norms,
    rows,
    scaling,
    shrinkage,
    signs,
    sources,
    tensors,
    training,
    trust,
    validation,
    weights,
)

if find_spec("triton"):  # these have kernels in Triton
    from lowdim.backends.torch import (  # noqa: F401
        affinities,
        common_neighbors,
        cross_entropy,
        density,
        descent_loop,
        divergence,
        equal_rows,
        fuzzy,
        geodesic_map,
        geodesics,
        graph,
        layout,
        neighbors,
        new_points,
        pair_loss,
        pairs,
        ranks,
        shortcuts,
    )

ESTIMATORS = frozenset(
    {
        "Autoencoder",
        "CCA",
        "GaussianRandomProjection",
        "PLSCanonical",
        "PLSRegression",
        "SparseRandomProjection",
        "TruncatedSVD",
        "FactorAnalysis",
        "FastICA",
        "Isomap",
        "KLExpansion",
        "KernelPCA",
        "LDA",
        "NCA",
        "NMF",
        "PCA",
        "PaCMAP",
        "RankFeatures",
        "ParametricTSNE",
        "ParametricUMAP",
        "RobustPCA",
        "SNE",
        "SparsePCA",
        "TSNE",
        "UMAP",
    }
)
MEASURES = frozenset(
    {
        "continuity",
        "distortion",
        "lcmc",
        "neighborhood_recall",
        "reliability",
        "rnx_auc",
        "rnx_curve",
        "trustworthiness",
    }
)
SUPPORTED = ESTIMATORS | MEASURES  # all of whose operations are here
