"""Groups of rows found in the data, as a column of labels: by HDBSCAN, or by Leiden where it is installed."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.explorer.column_summaries import Labels
from lowdim.explorer.session import Session
from lowdim.methods.pca import PCA
from lowdim.relate.fuzzy import fuzzy_union, memberships

_HDBSCAN_ROWS = 20_000  # its time grows with the square of the rows
_LEIDEN_ROWS = 500_000
_DIMENSIONS = 50  # principal components that are clustered
_NEAREST = 15
_SHARE = 0.005  # of the rows, the smallest cluster of HDBSCAN


def available(n: int) -> list[str]:
    """Methods that are installed, for so many rows."""
    found = ["leiden"] if find_spec("leidenalg") and find_spec("igraph") and n <= _LEIDEN_ROWS else []
    return found + (["hdbscan"] if n <= _HDBSCAN_ROWS else [])


def group(session: Session, method: Any) -> Labels:
    """Labels of the groups, numbered from the largest; rows in none have no label."""
    offered = available(session.n)
    if method not in offered:
        raise ValueError(
            f"group: a method of {', '.join(offered) or 'none'} is needed; got {str(method)[:40]!r}. Install leidenalg "
            "for more."
        )
    codes = _leiden(session) if method == "leiden" else _hdbscan(session)
    sizes = np.bincount(codes[codes >= 0])
    order = np.argsort(-sizes, kind="stable")
    names = {int(code): f"{method} {rank + 1}" for rank, code in enumerate(order)}
    return session.relabel(method, codes, names)


def _leiden(session: Session) -> NDArray[np.intp]:
    """Modularity on the fuzzy graph of neighbours, which UMAP has too."""
    import igraph
    import leidenalg

    near = session.near(min(_NEAREST, session.n - 1))
    indptr, indices, values = fuzzy_union(near.indices, memberships(near.distances).values)
    upper = sp.triu(sp.csr_array((values, indices, indptr), shape=(session.n, session.n))).tocoo()
    graph = igraph.Graph(session.n, np.column_stack(upper.coords), edge_attrs={"weight": upper.data.astype(float)})
    found = leidenalg.find_partition(graph, leidenalg.RBConfigurationVertexPartition, weights="weight", seed=0)
    return np.array(found.membership, np.intp)


def _hdbscan(session: Session) -> NDArray[np.intp]:
    """Dense parts of the rows, along their principal components."""
    from sklearn.cluster import HDBSCAN

    X = session.rows
    if X.shape[1] > _DIMENSIONS:
        X = PCA(_DIMENSIONS, random_state=0).fit_transform(X)
    X = X.toarray() if sp.issparse(X) else X
    least = max(5, int(_SHARE * session.n))
    return np.asarray(HDBSCAN(min_cluster_size=least, copy=True).fit_predict(X), np.intp)
