"""The gate for tensors: they are checked on their device and returned detached from the autograd graph."""

from typing import Any

import torch


def rows(X: Any, name: str, *, minimum: int = 1, called: str = "X", **_: Any) -> Any:
    """Validated rows; ``sparse`` and ``scan`` have no effect: checking every value is fast here."""
    if X.ndim != 2 or X.is_complex() or X.layout != torch.strided:
        raise ValueError(
            f"{name}: a dense 2D tensor of real numbers is needed; got {X.dtype} of shape {tuple(X.shape)}, "
            f"{X.layout}. Rows are samples, columns are features."
        )
    if X.shape[0] < minimum or X.shape[1] < 1:
        raise ValueError(
            f"{name}: at least {minimum} rows and one column are needed; got shape {tuple(X.shape)}. Pass more."
        )
    return demand_finite(X.detach(), f"{name}: {called} must be finite", "Drop such rows, or replace the values.")


def scores(Y: Any, name: str) -> Any:
    """Validated scores."""
    return demand_finite(Y.detach(), f"{name}: scores must be finite", "Drop such rows.")


def demand_finite(X: Any, needs: str, advice: str) -> Any:
    """``X`` itself, if all its values are finite."""
    if X.is_floating_point() and not bool(X.isfinite().all()):
        row, column = (~X.isfinite()).nonzero()[0].tolist()
        value = X[row, column].item()
        raise ValueError(f"{needs}; got {value} (NaN or infinity) at row {row}, column {column}. {advice}")
    return X
