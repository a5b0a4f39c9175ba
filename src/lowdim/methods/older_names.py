"""Names of classes, parameters and fitted attributes in model files of formats 1 and 2, and those of today."""

import re
from collections.abc import Callable, Mapping
from typing import Any

Values = dict[str, Any]

_SINCE = 3  # format that has the names of today
_CLASSES = {"SequentialSelector": "SequentialFeatureSelector"}
_MAPS = {
    "n_iter": "max_iter",
    "loss_trace_": "loss_curve_",
    "neighbors": "neighbor_search",
    "neighbors_": "neighbor_search_",
    "neighbors_recall_": "neighbor_recall_",
    "_X": "_rows",
}
_STOCHASTIC = _MAPS | {
    "exaggeration": "early_exaggeration",
    "exaggeration_iter": "early_exaggeration_iter",
    "late_exaggeration": "exaggeration",
    "repulsion": "method",
    "repulsion_": "method_",
    "kl_normalizer_": "kl_divergence_error_",
}
_GRAPHS = {"components_found_": "n_connected_components_"}
_SIMILARITIES = _GRAPHS | {"width": "gamma", "width_": "gamma_"}
_NAMES: Mapping[str, Mapping[str, str]] = {
    "SNE": _STOCHASTIC,
    "TSNE": _STOCHASTIC,
    "UMAP": _MAPS | {"supervision": "target_weight", "graph_": "_graph", "loss_how_": "loss_error_"},
    "PaCMAP": _MAPS | {"mid_near": "MN_ratio", "further": "FP_ratio"},
    "PCA": {"solver": "svd_solver"},
    "KernelPCA": {"solver": "eigen_solver", "inverse": "fit_inverse_transform", "ridge": "alpha"},
    "MDS": {"n_iter": "max_iter", "stress_trace_": "loss_curve_"},
    "Isomap": _GRAPHS,
    "LLE": _GRAPHS | {"variant": "method"},
    "LaplacianEigenmaps": _SIMILARITIES,
    "DiffusionMap": _SIMILARITIES | {"time": "t"},
    "Autoencoder": {
        "validation_share": "validation_fraction",
        "loss_trace_": "loss_curve_",
        "validation_trace_": "validation_curve_",
    },
    "SequentialFeatureSelector": {"n_features": "n_features_to_select", "n_features_": "n_features_to_select_"},
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


def state_of_today(state: Values, version: int) -> Values:
    """State of a model, with its class, params and fitted attributes, from a file of format ``version``.

    >>> state_of_today({"class": "TSNE", "params": {"exaggeration": 12, "repulsion": "interpolation"}, "fitted": {}}, 2)
    {'class': 'TSNE', 'params': {'early_exaggeration': 12, 'method': 'fft'}, 'fitted': {}}
    """
    if version >= _SINCE:
        return state
    before: str = state["class"]
    name = _CLASSES.get(before, before)
    params, fitted = (_renamed(state[part], _NAMES.get(name, {})) for part in ("params", "fitted"))
    if name in _CHANGES:
        _CHANGES[name](params, fitted)
    return state | {"class": name, "params": params, "fitted": fitted}


def _renamed(values: Values, names: Mapping[str, str]) -> Values:
    renamed = {names.get(key, key): value for key, value in values.items()}
    if len(renamed) < len(values) or not set(names.values()).isdisjoint(set(values) - set(names)):
        raise ValueError(f"a file of an older format has names of format {_SINCE}")
    try:
        return {key: _VALUES[key](value) if key in _VALUES else value for key, value in renamed.items()}
    except TypeError:
        raise ValueError("values of a file of an older format have other types than it has") from None


def _similarities(params: Values, fitted: Values) -> None:
    """γ is 1/(2σ²) of the width σ; self-tuning was one of the weights."""
    tuned, binary = (params.get("weights") == kind for kind in ("self_tuning", "binary"))
    if tuned:
        params["weights"] = "heat"
    for values, key in ((params, "gamma"), (fitted, "gamma_")):
        if key in values and not isinstance(values[key], str):
            values[key] = 0.5 / values[key] ** 2
    if "gamma" in params and (tuned or binary):
        params["gamma"] = "self_tuning" if tuned else "median"
    if "gamma_" in fitted and (tuned or binary):
        fitted["gamma_"] = None


def _selection(params: Values, fitted: Values) -> None:  # noqa: ARG001
    """Floating was part of the direction, and ``tol`` the loss that a step backward may cost."""
    direction = params.get("direction")
    if isinstance(direction, str):
        params["direction"], params["floating"] = direction.removeprefix("floating_"), direction.startswith("floating_")
        if params["direction"] == "backward" and "tol" in params:
            params["tol"] = -params["tol"]


_CHANGES: Mapping[str, Callable[[Values, Values], None]] = {  # of values that depend on others
    "LaplacianEigenmaps": _similarities,
    "DiffusionMap": _similarities,
    "SequentialFeatureSelector": _selection,
}
