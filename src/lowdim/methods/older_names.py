"""Names of parameters and fitted attributes in model files of formats 1 and 2, and those of today."""

import re
from collections.abc import Callable, Mapping
from typing import Any

_SINCE = 3  # format that has the names of today
_MAPS = {"n_iter": "max_iter", "loss_trace_": "loss_curve_", "neighbors": "neighbor_search", "_X": "_rows"}
_STOCHASTIC = _MAPS | {
    "exaggeration": "early_exaggeration",
    "exaggeration_iter": "early_exaggeration_iter",
    "late_exaggeration": "exaggeration",
    "repulsion": "method",
    "repulsion_": "method_",
    "kl_normalizer_": "kl_divergence_error_",
}
_GRAPHS = {"components_found_": "n_connected_components_"}
_NAMES: Mapping[str, Mapping[str, str]] = {
    "SNE": _STOCHASTIC,
    "TSNE": _STOCHASTIC,
    "UMAP": _MAPS | {"supervision": "target_weight", "graph_": "_graph", "loss_how_": "loss_error_"},
    "PaCMAP": _MAPS | {"mid_near": "MN_ratio", "further": "FP_ratio"},
    "PCA": {"solver": "svd_solver"},
    "KernelPCA": {"solver": "eigen_solver", "inverse": "fit_inverse_transform", "ridge": "alpha"},
    "MDS": {"n_iter": "max_iter"},
    "Isomap": _GRAPHS,
    "LLE": _GRAPHS | {"variant": "method"},
    "LaplacianEigenmaps": _GRAPHS,
    "DiffusionMap": _GRAPHS,
    "Autoencoder": {
        "validation_share": "validation_fraction",
        "loss_trace_": "loss_curve_",
        "validation_trace_": "validation_curve_",
    },
}


def _error_in(text: str) -> float:
    """Error that a sentence about a loss states; 0 for an exact one."""
    found = re.search(r"within ([0-9.e+-]+)", text)
    return float(found.group(1).rstrip(".")) if found else 0.0


_METHOD: Callable[[Any], Any] = lambda value: "fft" if value == "interpolation" else value  # noqa: E731
_VALUES: Mapping[str, Callable[[Any], Any]] = {  # by the name of today
    "method": _METHOD,
    "method_": _METHOD,
    "kl_divergence_error_": _error_in,
    "loss_error_": _error_in,
    "repulsion_strength": lambda value: 2 * value,  # pairs pushed both of their points, which is umap-learn's 2
}


def with_names_of_today(class_name: str, values: dict[str, Any], version: int) -> dict[str, Any]:
    """Parameters or fitted attributes from a file of format ``version``, under the names of today.

    >>> with_names_of_today("TSNE", {"exaggeration": 12, "late_exaggeration": 1.0, "repulsion": "interpolation"}, 2)
    {'early_exaggeration': 12, 'exaggeration': 1.0, 'method': 'fft'}
    """
    if version >= _SINCE:
        return values
    names = _NAMES.get(class_name, {})
    renamed = {names.get(key, key): value for key, value in values.items()}
    if len(renamed) < len(values) or not set(names.values()).isdisjoint(set(values) - set(names)):
        raise ValueError(f"a file of format {version} has names of format {_SINCE}")
    try:
        return {key: _VALUES[key](value) if key in _VALUES else value for key, value in renamed.items()}
    except TypeError:
        raise ValueError(f"values of a file of format {version} have other types than it has") from None
