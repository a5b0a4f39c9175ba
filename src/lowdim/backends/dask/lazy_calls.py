"""Lazy calls of a fitted model on distributed rows: each block is computed where it is."""

import warnings
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from lowdim.backends import DASK
from lowdim.backends.dask import validation
from lowdim.backends.dask.graphs import each, key, lengths_of
from lowdim.backends.dask.partitioned import Spread, Where
from lowdim.data.compat import check_feature_names, check_n_features, output_of
from lowdim.data.validation import advising
from lowdim.data.validation import second_view as second_view_here
from lowdim.work.blockwise import float_dtype
from lowdim.work.rows import call


@DASK.implements(call)
def call_lazily(model: Any, method: str, X: Any, y: Any = None) -> Any:
    """Dask array of ``model.method(X)``, or of both views; the model is one key that any worker can recompute."""
    if method == "transform" and (asked := output_of(model)) != "default":
        raise ValueError(
            f"{model._name}: set_output(transform='{asked}') has no effect on Dask collections, whose scores are a "
            "Dask array. Call set_output(transform='default'), and make a DataFrame of the scores by "
            "dask.dataframe.from_dask_array(Y, columns=model.get_feature_names_out())."
        )
    rows = _scores(model, X) if method == "inverse_transform" else _rows(model, X)
    # A copy: a later fit must not change a lazy call made before.
    shared = key(copy(model), [type(model).__name__, model.__getstate__()], "model")
    columns, dtype = model._outline(method, rows.dtype)
    result = each(rows, partial(_called, method=method, opened=rows.opened), columns, dtype, shared=shared)
    if y is None:
        return result
    others = validation.second_view(model._name, y, rows, n_columns=model._n_targets)
    return result, each(others, _second_scores, columns, float_dtype(others.dtype), shared=shared)


def _rows(model: Any, X: Any) -> Spread:
    """Rows with the features of fit."""
    with advising():
        check_feature_names(model, validation.outline(X), reset=False)
    if model._any_columns:
        single = getattr(X, "dtype", None) == np.float32  # an array; columns of frames have types of their own
        rows = Spread(X, np.dtype(np.float32 if single else np.float64), int(X.shape[1]), lengths_of(X), model._name)
    else:
        rows = validation.rows(X, model._name, sparse=model._sparse)
    with advising():
        check_n_features(model, rows, reset=False)
    return rows


def _scores(model: Any, Y: Any) -> Spread:
    """Scores for ``inverse_transform``."""
    rows = validation.rows(Y, model._name, called="Y", sparse=model._sparse)
    if rows.width != (k := len(model.get_feature_names_out())):
        raise ValueError(
            f"{model._name}: inverse_transform needs {k} columns, one per component; got {rows.width}. "
            "Pass what transform returned."
        )
    return rows


def _called(block: Any, where: Where, model: Any, *, method: str, opened: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about feature names that arrays lack, reported when the call was made
        try:
            return getattr(model, method)(block)
        except ValueError:
            opened(block, where)  # errors name the row among all
            raise


def _second_scores(block: Any, where: Where, model: Any) -> Any:  # noqa: ARG001  # each's order
    return model._second_scores(second_view_here(model._name, block, block, n_columns=model._n_targets))
