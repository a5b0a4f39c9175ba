"""Reduce data by the name of a method, in one call."""

from collections.abc import Mapping
from typing import Any

from lowdim.methods import registry


def reduce(X: Any, method: str = "pca", /, *, y: Any = None, parameters: Mapping[str, Any] | None = None) -> Any:
    """Embed ``X`` by the method called ``method``.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The data. Only ``"famd"`` and ``"mca"`` take columns of text.
    method : str
        A name that ``lowdim methods`` lists, such as ``"pca"``.
    y : array of shape (n_samples,), optional
        Labels, for methods that use them.
    parameters : mapping of str to values, optional
        Parameters of the method's class, such as ``{"n_neighbors": 12}``. ``n_components`` is 2 by default; methods
        with few components (LDA) return all of them.

    Returns
    -------
    array of shape (n_samples, n_components)
        The embedding.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> lowdim.reduce(X, "mds", parameters={"kind": "classical"}).shape
    (150, 2)
    """
    if parameters is not None and not isinstance(parameters, Mapping):
        raise TypeError(
            f"reduce: parameters must map names of parameters to values; got {parameters!r}. Pass for example "
            "{'n_neighbors': 12}."
        )
    chosen = registry.find(method)
    return chosen.build(dict(parameters or {}), n_components=chosen.components).fit_transform(X, y)
