"""Validation of tensors: they are checked on their device and returned detached from the autograd graph."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.data import validation
from lowdim.work.user_warnings import warn


@TORCH.implements(validation.validated_rows)
def validated_rows(X: Any, name: str, *, sparse: bool, minimum: int, scan: bool, called: str) -> Any:  # noqa: ARG001
    """Validated rows; ``sparse`` and ``scan`` have no effect: checking every value is fast here."""
    if X.is_complex():
        raise ValueError(f"{name}: Complex data not supported; got {X.dtype}. Pass real numbers.")
    if X.ndim != 2 or X.layout != torch.strided:
        raise ValueError(
            f"{name}: a dense 2D tensor of real numbers is needed; got {X.dtype} of shape {tuple(X.shape)}, "
            f"{X.layout}. Reshape your data: rows are samples, columns are features."
        )
    if X.dtype in (torch.float16, torch.bfloat16):
        warn(f"{name}: {called} is in half precision ({X.dtype}) and is taken as float32, as are the results.")
    if X.shape[0] < minimum:
        samples = "1 sample" if X.shape[0] == 1 else f"{X.shape[0]} samples"
        raise ValueError(
            f"{name}: at least {minimum} samples (rows) are needed; got {samples} (shape {tuple(X.shape)}). "
            "Pass more rows."
        )
    if X.shape[1] < 1:
        raise ValueError(
            f"{name}: 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required. Pass at least one column."
        )
    return demand_finite(X.detach(), f"{name}: {called} must be finite", "Drop such rows, or replace the values.")


@TORCH.implements(validation.finite_scores)
def finite_scores(Y: Any, name: str) -> Any:
    """Validated scores."""
    return demand_finite(Y.detach(), f"{name}: scores must be finite", "Drop such rows.")


def demand_finite(X: Any, needs: str, advice: str) -> Any:
    """``X`` itself, if all its values are finite."""
    if X.is_floating_point() and not bool(X.isfinite().all()):
        row, column = (~X.isfinite()).nonzero()[0].tolist()
        what = "NaN" if bool(X[row, column].isnan()) else "infinity"
        raise ValueError(f"{needs}; got {what} at row {row}, column {column}. {advice}")
    return X
