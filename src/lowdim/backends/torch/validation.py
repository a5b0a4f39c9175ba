"""Validation of tensors: they are checked on their device and returned detached from the autograd graph."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.data import validation
from lowdim.work.user_warnings import warn

_HALF = ("PaCMAP", "RankFeatures", "SNE", "TSNE", "UMAP")  # which take rows in half precision as they are
_BLOCK = 2**26  # values checked at a time


@TORCH.implements(validation.validated_rows)
def validated_rows(
    X: Any,
    name: str,
    *,
    sparse: bool,  # noqa: ARG001
    minimum: int,
    scan: bool,  # noqa: ARG001
    called: str,
    gaps: bool = False,
) -> Any:
    """Validated rows; ``sparse`` and ``scan`` have no effect: checking every value is fast here."""
    if X.is_complex():
        raise ValueError(f"{name}: Complex data not supported; got {X.dtype}. Pass real numbers.")
    if X.ndim != 2 or X.layout != torch.strided or X.is_quantized:
        advice = "Reshape your data: rows are samples, columns are features."
        if X.is_quantized or X.layout != torch.strided:
            advice = f"Pass {called}.{'dequantize' if X.is_quantized else 'to_dense'}()."
        raise ValueError(
            f"{name}: a dense 2D tensor of real numbers is needed; got {X.dtype} of shape {tuple(X.shape)}, "
            f"{X.layout}. {advice}"
        )
    if X.device.type == "meta":
        raise ValueError(f"{name}: {called} must hold values; got a tensor on the device 'meta'. Pass one with data.")
    if X.dtype in (torch.float16, torch.bfloat16) and name not in _HALF:
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
    if gaps:
        return X.detach()
    return demand_finite(X.detach(), f"{name}: {called} must be finite", "Drop such rows, or replace the values.")


@TORCH.implements(validation.finite_scores)
def finite_scores(Y: Any, name: str) -> Any:
    """Validated scores."""
    return demand_finite(Y.detach(), f"{name}: scores must be finite", "Drop such rows.")


def demand_finite(X: Any, needs: str, advice: str) -> Any:
    """``X`` itself, if all its values are finite."""
    if not X.is_floating_point():
        return X
    step = max(1, _BLOCK // X.shape[1])
    for start, block in zip(range(0, len(X), step), X.split(step), strict=False):
        if bool(block.isfinite().all()):
            continue
        row, column = (~block.isfinite()).nonzero()[0].tolist()
        row += start
        what = "NaN" if bool(X[row, column].isnan()) else "infinity"
        raise ValueError(f"{needs}; got {what} at row {row}, column {column}. {advice}")
    return X
