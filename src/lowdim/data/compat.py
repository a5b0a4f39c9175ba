"""Private functions of scikit-learn that have no public counterpart in all supported releases; imported here alone."""

from typing import Any

from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_n_features as check_n_features

__all__ = ["check_feature_names", "check_feature_names_in", "check_n_features", "output_of", "rows_at"]


def output_of(estimator: Any) -> str:
    """Container that ``set_output`` asked for: "default", "pandas" or "polars"."""
    return str(_get_output_config("transform", estimator)["dense"])


def rows_at(y: Any, kept: Any) -> Any:
    """Rows of an array, list or DataFrame, by a mask or by indices."""
    return _safe_indexing(y, kept)
