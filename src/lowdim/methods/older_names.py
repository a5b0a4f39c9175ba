"""Names of parameters and fitted attributes in model files of formats 1 and 2, and those of today."""

from collections.abc import Mapping
from typing import Any

_SINCE = 3  # format that has the names of today
_MAPS = {"n_iter": "max_iter", "loss_trace_": "loss_curve_", "neighbors": "neighbor_search"}
_STOCHASTIC = _MAPS | {
    "exaggeration": "early_exaggeration",
    "exaggeration_iter": "early_exaggeration_iter",
    "late_exaggeration": "exaggeration",
    "repulsion": "method",
    "repulsion_": "method_",
}
_GRAPHS = {"components_found_": "n_connected_components_"}
_NAMES: Mapping[str, Mapping[str, str]] = {
    "SNE": _STOCHASTIC,
    "TSNE": _STOCHASTIC,
    "UMAP": _MAPS,
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
_VALUES = {"method": {"interpolation": "fft"}, "method_": {"interpolation": "fft"}}


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
    for key, known in _VALUES.items():
        if key in renamed and isinstance(renamed[key], str):
            renamed[key] = known.get(renamed[key], renamed[key])
    return renamed
