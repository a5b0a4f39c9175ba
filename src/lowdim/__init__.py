"""Dimensionality reduction from PCA to t-SNE: one contract, native speed, honest measures.

Everything public is loaded on first use, so that ``import lowdim`` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lowdim import backends as _backends  # noqa: F401  # so that operations know them

__version__ = "0.2.0"

# public name -> the module that defines it
_HOMES = {
    "Autoencoder": "lowdim.methods.autoencoder",
    "CCA": "lowdim.methods.cca",
    "DiffusionMap": "lowdim.methods.diffusion_map",
    "PHATE": "lowdim.methods.phate",
    "FAMD": "lowdim.methods.famd",
    "FactorAnalysis": "lowdim.methods.factor_analysis",
    "FastICA": "lowdim.methods.fast_ica",
    "Isomap": "lowdim.methods.isomap",
    "KLExpansion": "lowdim.methods.kl_expansion",
    "KernelCCA": "lowdim.methods.kernel_cca",
    "KernelLDA": "lowdim.methods.kernel_lda",
    "KernelPCA": "lowdim.methods.kernel_pca",
    "LDA": "lowdim.methods.lda",
    "LLE": "lowdim.methods.lle",
    "LaplacianEigenmaps": "lowdim.methods.laplacian_eigenmaps",
    "MCA": "lowdim.methods.mca",
    "MDS": "lowdim.methods.mds",
    "NCA": "lowdim.methods.nca",
    "NMF": "lowdim.methods.nmf",
    "PCA": "lowdim.methods.pca",
    "PaCMAP": "lowdim.methods.pacmap",
    "ParametricTSNE": "lowdim.methods.parametric",
    "ParametricUMAP": "lowdim.methods.parametric",
    "Prepare": "lowdim.methods.prepare",
    "RobustPCA": "lowdim.methods.robust_pca",
    "johnson_lindenstrauss_min_dim": "lowdim.methods.random_projection",
    "SparseRandomProjection": "lowdim.methods.random_projection",
    "GaussianRandomProjection": "lowdim.methods.random_projection",
    "TruncatedSVD": "lowdim.methods.truncated_svd",
    "PLSCanonical": "lowdim.methods.pls",
    "PLSRegression": "lowdim.methods.pls",
    "SNE": "lowdim.methods.sne",
    "ScaleWarning": "lowdim.work.user_warnings",
    "RankFeatures": "lowdim.methods.rank_features",
    "SequentialFeatureSelector": "lowdim.methods.selection",
    "SparsePCA": "lowdim.methods.sparse_pca",
    "TSNE": "lowdim.methods.sne",
    "UMAP": "lowdim.methods.umap",
    "aligned": "lowdim.comparison.aligned",
    "chain": "lowdim.methods.chain",
    "choose": "lowdim.comparison.choose",
    "compare": "lowdim.comparison.compare",
    "explore": "lowdim.explorer.opening",
    "load": "lowdim.methods.loading",
    "procrustes": "lowdim.comparison.procrustes",
    "reduce": "lowdim.comparison.reduce",
    "save": "lowdim.methods.chain",
}
_PACKAGES = ("data", "parts", "quality", "show")

__all__ = [
    "CCA",
    "FAMD",
    "LDA",
    "LLE",
    "MCA",
    "MDS",
    "NCA",
    "NMF",
    "PCA",
    "PHATE",
    "SNE",
    "TSNE",
    "UMAP",
    "Autoencoder",
    "DiffusionMap",
    "FactorAnalysis",
    "FastICA",
    "GaussianRandomProjection",
    "Isomap",
    "KLExpansion",
    "KernelCCA",
    "KernelLDA",
    "KernelPCA",
    "LaplacianEigenmaps",
    "PLSCanonical",
    "PLSRegression",
    "PaCMAP",
    "ParametricTSNE",
    "ParametricUMAP",
    "Prepare",
    "RankFeatures",
    "RobustPCA",
    "ScaleWarning",
    "SequentialFeatureSelector",
    "SparsePCA",
    "SparseRandomProjection",
    "TruncatedSVD",
    "__version__",
    "aligned",
    "chain",
    "choose",
    "compare",
    "data",
    "explore",
    "johnson_lindenstrauss_min_dim",
    "load",
    "parts",
    "procrustes",
    "quality",
    "reduce",
    "save",
    "show",
]

if TYPE_CHECKING:
    from lowdim import data as data
    from lowdim import parts as parts
    from lowdim import quality as quality
    from lowdim import show as show
    from lowdim.comparison.aligned import aligned as aligned
    from lowdim.comparison.choose import choose as choose
    from lowdim.comparison.compare import compare as compare
    from lowdim.comparison.procrustes import procrustes as procrustes
    from lowdim.comparison.reduce import reduce as reduce
    from lowdim.explorer.opening import explore as explore
    from lowdim.methods.autoencoder import Autoencoder as Autoencoder
    from lowdim.methods.cca import CCA as CCA
    from lowdim.methods.chain import chain as chain
    from lowdim.methods.chain import save as save
    from lowdim.methods.diffusion_map import DiffusionMap as DiffusionMap
    from lowdim.methods.factor_analysis import FactorAnalysis as FactorAnalysis
    from lowdim.methods.famd import FAMD as FAMD
    from lowdim.methods.fast_ica import FastICA as FastICA
    from lowdim.methods.isomap import Isomap as Isomap
    from lowdim.methods.kernel_cca import KernelCCA as KernelCCA
    from lowdim.methods.kernel_lda import KernelLDA as KernelLDA
    from lowdim.methods.kernel_pca import KernelPCA as KernelPCA
    from lowdim.methods.kl_expansion import KLExpansion as KLExpansion
    from lowdim.methods.laplacian_eigenmaps import LaplacianEigenmaps as LaplacianEigenmaps
    from lowdim.methods.lda import LDA as LDA
    from lowdim.methods.lle import LLE as LLE
    from lowdim.methods.loading import load as load
    from lowdim.methods.mca import MCA as MCA
    from lowdim.methods.mds import MDS as MDS
    from lowdim.methods.nca import NCA as NCA
    from lowdim.methods.nmf import NMF as NMF
    from lowdim.methods.pacmap import PaCMAP as PaCMAP
    from lowdim.methods.parametric import ParametricTSNE as ParametricTSNE
    from lowdim.methods.parametric import ParametricUMAP as ParametricUMAP
    from lowdim.methods.pca import PCA as PCA
    from lowdim.methods.phate import PHATE as PHATE
    from lowdim.methods.pls import PLSCanonical as PLSCanonical
    from lowdim.methods.pls import PLSRegression as PLSRegression
    from lowdim.methods.prepare import Prepare as Prepare
    from lowdim.methods.random_projection import GaussianRandomProjection as GaussianRandomProjection
    from lowdim.methods.random_projection import SparseRandomProjection as SparseRandomProjection
    from lowdim.methods.random_projection import johnson_lindenstrauss_min_dim as johnson_lindenstrauss_min_dim
    from lowdim.methods.rank_features import RankFeatures as RankFeatures
    from lowdim.methods.robust_pca import RobustPCA as RobustPCA
    from lowdim.methods.selection import SequentialFeatureSelector as SequentialFeatureSelector
    from lowdim.methods.sne import SNE as SNE
    from lowdim.methods.sne import TSNE as TSNE
    from lowdim.methods.sparse_pca import SparsePCA as SparsePCA
    from lowdim.methods.truncated_svd import TruncatedSVD as TruncatedSVD
    from lowdim.methods.umap import UMAP as UMAP
    from lowdim.work.user_warnings import ScaleWarning as ScaleWarning


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _PACKAGES:
        value = import_module(f"lowdim.{name}")
    else:
        raise AttributeError(f"module 'lowdim' has no attribute {name!r}; it has {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
