"""Maps of AnnData objects, with scanpy's names of parameters and places of results.

``lowdim.scanpy.umap(adata)`` stands for ``scanpy.tl.umap(adata)``: it reads the stored principal components or graph
and writes ``obsm["X_umap"]`` and ``uns["umap"]``. The fitted model is returned, and stored beside the parameters, so
that :func:`ingest` can place new cells, also after the object was written to a file and read again. scanpy need not be
installed.
"""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.methods.loading import load
from lowdim.methods.pacmap import PaCMAP
from lowdim.methods.pca import PCA
from lowdim.methods.sne import TSNE
from lowdim.methods.umap import UMAP
from lowdim.relate.moments import column_moments
from lowdim.relate.neighbors import nearest
from lowdim.work.rows import dense

__all__ = ["ingest", "pacmap", "pca", "tsne", "umap"]

_WIDE = 50  # genes above which cells are reduced by PCA first, and the number of components
_MODEL = "lowdim"  # key of the model file in ``uns``
_NEAREST = 15  # cells that vote on the label of a new one


def pca(
    adata: Any,
    n_comps: int | None = None,
    *,
    mask_var: Any = None,
    random_state: Any = 0,
    key_added: str | None = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Principal components of the cells, as ``scanpy.pp.pca``.

    Parameters
    ----------
    adata : AnnData
        Cells; ``X`` may be sparse, and is centred without becoming dense.
    n_comps : int, optional
        Number of components; 50, or fewer if there are fewer cells or genes.
    mask_var : array of bool or str, optional
        Genes used, or the column of ``var`` that says so; ``var["highly_variable"]`` where there is one.
    random_state : int, default 0
        Seed.
    key_added : str, optional
        Name of the results instead of "X_pca", "PCs" and "pca".
    copy : bool
        Return a changed copy instead of changing ``adata``.
    **parameters
        Parameters of :class:`lowdim.PCA`.

    Returns
    -------
    PCA, or AnnData with ``copy=True``
        The model; ``obsm["X_pca"]``, ``varm["PCs"]`` and ``uns["pca"]`` are set.
    """
    adata = _object("pca", adata, copy)
    column = "highly_variable" if mask_var is None and "highly_variable" in adata.var else mask_var
    genes = (
        np.ones(adata.n_vars, bool)
        if column is None
        else np.asarray(adata.var[column] if isinstance(column, str) else column, bool)
    )
    if genes.shape != (adata.n_vars,) or not genes.any():
        raise ValueError(
            f"pca: mask_var must choose some of the {adata.n_vars} genes; got {int(genes.sum())} of shape "
            f"{genes.shape}. Pass a column of adata.var, or None."
        )
    X = _rows(adata.X)[:, genes]
    count = min(_WIDE, min(X.shape) - 1) if n_comps is None else n_comps
    model = PCA(count, random_state=random_state, **parameters)
    scores = model.fit_transform(X)
    axes = np.zeros((adata.n_vars, scores.shape[1]), scores.dtype)
    axes[genes] = model.components_.T
    adata.obsm[key_added or "X_pca"], adata.varm[key_added or "PCs"] = scores, axes
    adata.uns[key_added or "pca"] = {
        "params": {"zero_center": True, "use_highly_variable": column == "highly_variable", "mask_var": _text(column)},
        "variance": model.explained_variance_,
        "variance_ratio": model.explained_variance_ratio_,
    }
    return adata if copy else model


def tsne(
    adata: Any,
    n_pcs: int | None = None,
    *,
    use_rep: str | None = None,
    perplexity: Any = 30,
    metric: str = "euclidean",
    early_exaggeration: float = 12,
    learning_rate: Any = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    key_added: str | None = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """t-SNE of the cells, as ``scanpy.tl.tsne``.

    Parameters
    ----------
    adata : AnnData
        Cells, with ``obsm["X_pca"]``; without, :func:`pca` makes it.
    n_pcs : int, optional
        Number of principal components used, all by default; 0 takes ``X``.
    use_rep : str, optional
        Key of ``obsm``, or "X".
    perplexity, metric, early_exaggeration, learning_rate, random_state, n_jobs
        As in :class:`lowdim.TSNE`. scanpy's learning rate of 1000 is too small for many cells; "auto" grows with them.
    key_added : str, optional
        Name of the results instead of "X_tsne" and "tsne".
    copy : bool
        Return a changed copy instead of changing ``adata``.
    **parameters
        Further parameters of :class:`lowdim.TSNE`.

    Returns
    -------
    TSNE, or AnnData with ``copy=True``
        The model; ``obsm["X_tsne"]`` and ``uns["tsne"]`` are set.
    """
    adata = _object("tsne", adata, copy)
    X, how = _representation("tsne", adata, use_rep, n_pcs)
    given = {
        "perplexity": perplexity,
        "metric": metric,
        "early_exaggeration": early_exaggeration,
        "learning_rate": learning_rate,
    }
    model = TSNE(**given, random_state=random_state, n_jobs=n_jobs, **parameters).fit(X)
    return _keep(adata, model, "tsne", {**given, **how}, key_added, copy)


def umap(
    adata: Any,
    *,
    min_dist: float = 0.5,
    spread: float = 1.0,
    n_components: int = 2,
    maxiter: int | None = None,
    alpha: float | None = None,
    gamma: float | None = None,
    negative_sample_rate: int = 5,
    init_pos: Any = "spectral",
    random_state: Any = 0,
    key_added: str | None = None,
    neighbors_key: str = "neighbors",
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """UMAP of the cells, as ``scanpy.tl.umap``: of the graph that ``scanpy.pp.neighbors`` has stored, if there is one.

    Parameters
    ----------
    adata : AnnData
        Cells, with the graph of ``scanpy.pp.neighbors``; without, the graph is computed from ``obsm["X_pca"]``.
    min_dist, spread, n_components, negative_sample_rate, random_state
        As in :class:`lowdim.UMAP`.
    maxiter : int, optional
        Number of epochs.
    alpha, gamma : float, optional
        ``learning_rate`` and ``repulsion_strength``; those of :class:`lowdim.UMAP` by default.
    init_pos : {"spectral", "pca", "random"}, key of ``obsm``, or array
        Initial layout.
    key_added : str, optional
        Name of the results instead of "X_umap" and "umap".
    neighbors_key : str
        Where the graph is stored in ``uns``.
    copy : bool
        Return a changed copy instead of changing ``adata``.
    **parameters
        Further parameters of :class:`lowdim.UMAP`.

    Returns
    -------
    UMAP, or AnnData with ``copy=True``
        The model; ``obsm["X_umap"]`` and ``uns["umap"]`` are set.
    """
    adata = _object("umap", adata, copy)
    stored = adata.uns.get(neighbors_key)
    if stored is None and neighbors_key != "neighbors":
        raise ValueError(
            f"umap: neighbors_key must be in uns; got {neighbors_key!r}, not among {', '.join(adata.uns)}. Run "
            "scanpy.pp.neighbors with this key_added."
        )
    known = {} if stored is None else stored.get("params", {})
    X, how = _representation("umap", adata, known.get("use_rep"), known.get("n_pcs"))
    graph = None if stored is None else adata.obsp[stored.get("connectivities_key", "connectivities")]
    init = adata.obsm[init_pos] if isinstance(init_pos, str) and init_pos in adata.obsm else init_pos
    given = {"n_epochs": maxiter, "learning_rate": alpha, "repulsion_strength": gamma}
    given = {name: value for name, value in given.items() if value is not None}
    count = known.get("n_neighbors")
    if count is not None:
        given.setdefault("n_neighbors", int(count))
    if known.get("metric", "euclidean") in ("euclidean", "cosine", "manhattan"):
        given.setdefault("metric", known.get("metric", "euclidean"))
    model = UMAP(
        n_components, min_dist=min_dist, spread=spread, negative_sample_rate=negative_sample_rate, init=init,
        random_state=random_state, **{**given, **parameters},
    ).fit(X, graph=graph)  # fmt: skip
    return _keep(adata, model, "umap", {"a": model.a_, "b": model.b_, **how}, key_added, copy)


def pacmap(
    adata: Any,
    n_pcs: int | None = None,
    *,
    use_rep: str | None = None,
    n_neighbors: Any = "auto",
    random_state: Any = 0,
    key_added: str | None = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """PaCMAP of the cells, in the manner of scanpy.

    Parameters
    ----------
    adata : AnnData
        Cells, with ``obsm["X_pca"]``; without, :func:`pca` makes it.
    n_pcs : int, optional
        Number of principal components used, all by default; 0 takes ``X``.
    use_rep : str, optional
        Key of ``obsm``, or "X".
    n_neighbors, random_state
        As in :class:`lowdim.PaCMAP`.
    key_added : str, optional
        Name of the results instead of "X_pacmap" and "pacmap".
    copy : bool
        Return a changed copy instead of changing ``adata``.
    **parameters
        Further parameters of :class:`lowdim.PaCMAP`.

    Returns
    -------
    PaCMAP, or AnnData with ``copy=True``
        The model; ``obsm["X_pacmap"]`` and ``uns["pacmap"]`` are set.
    """
    adata = _object("pacmap", adata, copy)
    X, how = _representation("pacmap", adata, use_rep, n_pcs)
    model = PaCMAP(n_neighbors=n_neighbors, random_state=random_state, **parameters).fit(X)
    return _keep(adata, model, "pacmap", {"n_neighbors": model.n_neighbors_, **how}, key_added, copy)


def ingest(
    adata: Any,
    adata_ref: Any,
    obs: str | Iterable[str] | None = None,
    *,
    embedding_method: str | Iterable[str] = "umap",
) -> None:
    """Place new cells in the maps of reference cells, and give them labels, as ``scanpy.tl.ingest``.

    New cells are projected on the principal components of the reference and placed by the stored model; the maps of the
    reference stay as they are. ``obs["umap_trust"]`` says how well each place is
    supported: low for cells unlike any of the reference.

    Parameters
    ----------
    adata : AnnData
        New cells, prepared like those of the reference (normalised, logarithm), with its genes in any order.
    adata_ref : AnnData
        Reference, with the results of :func:`umap`, :func:`tsne` or :func:`pacmap`, also from a file.
    obs : str or list of str, optional
        Columns of ``obs`` of the reference: each new cell gets the most frequent value among its 15 nearest cells.
    embedding_method : str or list of str
        Keys of ``uns`` of the maps.
    """
    for what, one in (("adata", adata), ("adata_ref", adata_ref)):
        _object(f"ingest: {what}", one, copy=False)
    keys = [embedding_method] if isinstance(embedding_method, str) else list(embedding_method)
    models = {key: _stored_model(adata_ref, key) for key in keys}
    wanted = [] if obs is None else [obs] if isinstance(obs, str) else list(obs)
    if missing := [name for name in wanted if name not in adata_ref.obs]:
        raise ValueError(
            f"ingest: obs must name columns of the reference; got {missing[0]!r}, not among "
            f"{', '.join(map(str, adata_ref.obs.columns))}. Correct it."
        )
    scores: dict[str, NDArray] = {}

    def represented(key: str, count: int) -> NDArray:
        if key not in scores:
            scores[key] = _projected(adata, adata_ref) if key == "X_pca" else _same(adata, adata_ref, key)
        return scores[key][:, : count or None]

    for key, model in models.items():
        params = adata_ref.uns[key]["params"]
        X = represented(str(params["use_rep"]), int(params["n_pcs"]))
        adata.obsm[f"X_{key}"] = model.transform(X)
        adata.obs[f"{key}_trust"] = model.trust(X)
    if "X_pca" in scores:
        adata.obsm["X_pca"] = scores["X_pca"]
    if wanted:
        near = nearest(_floats(adata_ref.obsm["X_pca"]), _NEAREST, _floats(represented("X_pca", 0))).indices
        for name in wanted:
            adata.obs[name] = _voted(adata_ref.obs[name], near)


def _object(who: str, adata: Any, copy: bool) -> Any:
    """The object, or a copy of it, after a check that it is one."""
    if not all(hasattr(adata, name) for name in ("obsm", "obs", "var", "uns", "n_vars")):
        raise TypeError(
            f"{who}: an AnnData object is needed; got a {type(adata).__name__}. Use lowdim's classes for arrays."
        )
    return adata.copy() if copy else adata


def _rows(X: Any) -> Any:
    """Rows in memory: CSR or an array."""
    X = X.to_memory() if hasattr(X, "to_memory") else X
    return sp.csr_array(X) if sp.issparse(X) else np.asarray(X)


def _floats(X: Any) -> NDArray:
    return np.ascontiguousarray(X, np.float32)


def _text(column: Any) -> str:
    return column if isinstance(column, str) else "none" if column is None else "given"


def _representation(who: str, adata: Any, use_rep: str | None, n_pcs: int | None) -> tuple[Any, dict[str, Any]]:
    """Rows that a map is made of, and where they come from."""
    if use_rep is None:
        use_rep = "X" if n_pcs == 0 or (adata.n_vars <= _WIDE and "X_pca" not in adata.obsm) else "X_pca"
    if use_rep == "X":
        return _rows(adata.X), {"use_rep": "X", "n_pcs": 0}
    if use_rep == "X_pca" and use_rep not in adata.obsm:
        pca(adata)
    if use_rep not in adata.obsm:
        raise ValueError(
            f"{who}: use_rep must be 'X' or a key of obsm; got {use_rep!r}, not among {', '.join(adata.obsm)}. "
            "Correct it."
        )
    X = np.asarray(adata.obsm[use_rep])
    count = int(n_pcs or 0)
    if count > X.shape[1]:
        raise ValueError(
            f"{who}: n_pcs must be at most {X.shape[1]}, the columns of {use_rep}; got {count}. Lower it, or run pca."
        )
    return X[:, : count or None], {"use_rep": use_rep, "n_pcs": count}


def _keep(adata: Any, model: Any, name: str, params: dict[str, Any], key_added: str | None, copy: bool) -> Any:
    """Write map, parameters and model into the object; returns it, or the model."""
    key = key_added or name
    adata.obsm[key_added or f"X_{name}"] = model.embedding_
    with tempfile.TemporaryDirectory(prefix="lowdim-") as folder:
        path = Path(folder) / "model.lowdim"
        model.save(path)
        stored = np.frombuffer(path.read_bytes(), np.uint8)
    adata.uns[key] = {"params": {k: v for k, v in params.items() if v is not None}, _MODEL: stored}
    return adata if copy else model


def _stored_model(adata: Any, key: str) -> Any:
    stored = adata.uns.get(key, {}).get(_MODEL) if key in adata.uns else None
    if stored is None:
        raise ValueError(
            f"ingest: the reference needs a map made by lowdim.scanpy; uns[{key!r}] has none. Run "
            f"lowdim.scanpy.{key if key in ('umap', 'tsne', 'pacmap') else 'umap'}(adata_ref) first."
        )
    with tempfile.TemporaryDirectory(prefix="lowdim-") as folder:
        path = Path(folder) / "model.lowdim"
        path.write_bytes(np.asarray(stored, np.uint8).tobytes())
        return load(path)


def _projected(adata: Any, ref: Any) -> NDArray:
    """Scores of new cells on the components of the reference, centred by the means of the reference."""
    if "PCs" not in ref.varm or "X_pca" not in ref.obsm:
        raise ValueError("ingest: the reference needs varm['PCs'] and obsm['X_pca']. Run lowdim.scanpy.pca on it.")
    axes = np.asarray(ref.varm["PCs"], np.float64)
    genes = np.flatnonzero((axes != 0).any(axis=1))
    place = {name: i for i, name in enumerate(adata.var_names)}
    wanted = [ref.var_names[j] for j in genes]
    if missing := [name for name in wanted if name not in place]:
        raise ValueError(
            f"ingest: new cells need the {len(genes):,} genes of the components; {len(missing):,} are missing, such as "
            f"{missing[0]!r}. Add them, with 0 where they were not counted."
        )
    X = _rows(adata.X)[:, [place[name] for name in wanted]]
    means = column_moments(_rows(ref.X)[:, genes]).mean
    scores = X @ axes[genes] - means @ axes[genes]
    return np.asarray(scores, np.asarray(ref.obsm["X_pca"]).dtype)


def _same(adata: Any, ref: Any, key: str) -> NDArray:
    """Rows of new cells in another representation that they must have, too."""
    if key == "X":
        order = adata.var_names.get_indexer(ref.var_names)
        if (order < 0).any():
            raise ValueError(f"ingest: new cells need all {ref.n_vars:,} genes of the reference. Add them.")
        return dense(_rows(adata.X)[:, order])
    if key not in adata.obsm:
        raise ValueError(f"ingest: the map was made of obsm[{key!r}], which the new cells lack. Compute it for them.")
    return np.asarray(adata.obsm[key])


def _voted(values: Any, near: NDArray) -> Any:
    """The most frequent value among the nearest cells; categories stay categories."""
    import pandas as pd

    column = pd.Categorical(values)
    votes = np.array([np.bincount(row[row >= 0], minlength=len(column.categories)) for row in column.codes[near]])
    return pd.Categorical.from_codes(votes.argmax(axis=1), categories=column.categories, ordered=column.ordered)
