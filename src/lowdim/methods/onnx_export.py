"""Fitted models as ONNX files, which run without lowdim and without Python.

A class whose results are a fixed formula of a row writes it by ``_onnx``; others say in ``_no_onnx`` why there is none.
"""

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from lowdim.data import options
from lowdim.persist.onnx_file import Graph
from lowdim.relate.kernels import Kernel
from lowdim.solve.network import Layer
from lowdim.work.backend_arrays import to_numpy

CALLS = {  # what a file computes: names of its input and output
    "transform": ("X", "Y"),
    "inverse_transform": ("Y", "X"),
    "second_view": ("y", "Y"),
    "predict": ("X", "y"),
}
DTYPES = ("float32", "float64")


def write(model: Any, path: str | os.PathLike[str], method: str, dtype: str) -> None:
    """Write what ``method`` of a fitted model or chain computes."""
    from lowdim import __version__

    name, steps = type(model).__name__, _steps_of(model)
    options.check(name, {"method": method, "dtype": dtype}, _RULES)
    for step in steps:
        _demand_exportable(step, method, name, alone=len(steps) == 1)
    for step in steps:
        check_is_fitted(step)
        step._finish_pending()
    given, made = written_names(model, method)
    X, Y = CALLS[method]
    graph = Graph(f"{name}.{method}", np.dtype(dtype), X, len(given))
    for step in reversed(steps) if method == "inverse_transform" else steps:
        through = method if len(steps) == 1 or method == "inverse_transform" else "transform"
        X = step._onnx(graph, X, through)
    facts = {
        "lowdim": __version__,
        "model": " → ".join(type(step).__name__ for step in steps),
        "method": method,
        "features_in": json.dumps(given, ensure_ascii=False),
        "features_out": json.dumps(made, ensure_ascii=False),
    }
    graph.write(path, X, Y, len(made), facts)


_RULES = {"method": options.one_of(*CALLS), "dtype": options.one_of(*DTYPES)}


def _steps_of(model: Any) -> list[Any]:
    steps = [step for _, step in getattr(model, "steps", [("", model)])]
    return [step for step in steps if step is not None and step != "passthrough"]


def written_names(model: Any, method: str) -> tuple[list[str], list[str]]:
    """Names of the columns that the file takes, and of those that it makes."""
    steps = _steps_of(model)
    columns, scores = steps[0]._onnx_inputs(), [str(one) for one in steps[-1].get_feature_names_out()]
    if method == "inverse_transform":
        return scores, columns
    if method == "transform":
        return columns, scores
    targets = [f"y{j}" for j in range(steps[0]._n_targets)]
    return (targets, scores) if method == "second_view" else (columns, targets)


def _demand_exportable(step: Any, method: str, name: str, *, alone: bool) -> None:
    """Refuse what is no fixed formula, with what is."""
    where = name if alone else f"{name}: {type(step).__name__}"
    if step._no_onnx is not None:
        can = ", ".join(found.class_name for found in exportable())
        raise TypeError(f"{where}: an ONNX file holds a fixed formula; {step._no_onnx}. It can hold {can}.")
    there = {
        "transform": True,
        "inverse_transform": hasattr(step, "inverse_transform"),
        "predict": alone and is_regressor(step),
        "second_view": alone and step._two_views,
    }
    if not there[method]:
        can = ", ".join(repr(one) for one, possible in there.items() if possible)
        raise TypeError(f"{where}: method must be one of {can} for an ONNX file; got {method!r}. Pass one of them.")


def exportable() -> list[Any]:
    """Entries of the registry that can be written as ONNX."""
    from lowdim.methods.registry import METHODS, PREPARATIONS

    return [one for one in (*METHODS, *PREPARATIONS) if one.load()._no_onnx is None]


def affine_call(graph: Graph, X: str, call: Any, width: int) -> str:
    """What an affine ``call`` computes, known by its values at 0 and at the unit vectors of its ``width``."""
    values = np.asarray(call(np.vstack([np.zeros((1, width)), np.eye(width)])), np.float64).reshape(width + 1, -1)
    return graph.affine(X, values[1:] - values[0], plus=values[0])


def kernel_rows(
    graph: Graph, kernel: Kernel, X: str, basis: Any, weights: NDArray, shift: NDArray | None, plus: NDArray
) -> str:
    """``K(X − shift, basis) weights + plus``, in the precision of the weights; ``basis`` is as the kernel reads it."""
    if callable(kernel.name):
        raise TypeError(
            "to_onnx: a kernel that is a Python function cannot be written as ONNX; got one. Fit the model with "
            "kernel='rbf' or another named one."
        )
    basis, weights = basis.toarray() if sp.issparse(basis) else to_numpy(basis), to_numpy(weights)
    if weights.dtype != np.float64 or graph.dtype == np.float64:
        return _projected(graph, kernel, X, basis, weights, shift, plus)
    with graph.in_doubles():
        Y = _projected(graph, kernel, graph.cast(X), basis, weights, shift, plus)
    return graph.cast(Y)


def _projected(
    graph: Graph, kernel: Kernel, X: str, basis: Any, weights: NDArray, shift: NDArray | None, plus: NDArray
) -> str:
    K = graph.node("MatMul", _values(graph, kernel, X, basis, shift), graph.constant(weights))
    return graph.node("Add", K, graph.constant(plus))


def _values(graph: Graph, kernel: Kernel, X: str, basis: Any, shift: NDArray | None) -> str:
    """Values (n, b) of the kernel."""
    if kernel.name == "precomputed":
        return X
    basis, number = basis.astype(np.float64), graph.constant
    if shift is not None:
        X = graph.node("Sub", X, number(shift))
    if kernel.name == "cosine":
        length = graph.node("Sqrt", _squares(graph, X))
        none = graph.node("Greater", length, number(0.0))
        X = graph.node("Div", X, graph.node("Where", none, length, number(1.0)))
    if kernel.name == "laplacian":
        apart = graph.node("Sub", graph.node("Unsqueeze", X, number(np.array([1]))), number(basis[None]))
        K = graph.node("ReduceSum", graph.node("Abs", apart), number(np.array([2])), keepdims=0)
        K = graph.node("Exp", graph.node("Mul", K, number(-kernel.gamma)))
    else:
        K = graph.node("MatMul", X, number(basis.T))
        if kernel.name == "rbf":  # ‖x‖² + ‖b‖² − 2 xᵀb
            K = graph.node("Mul", K, number(-2.0))
            K = graph.node("Add", K, number(np.square(basis).sum(axis=1)))
            K = graph.node("Relu", graph.node("Add", K, _squares(graph, X)))
            K = graph.node("Exp", graph.node("Mul", K, number(-kernel.gamma)))
        elif kernel.name in ("poly", "sigmoid"):
            K = graph.node("Add", graph.node("Mul", K, number(kernel.gamma)), number(kernel.coef0))
            K = graph.node("Tanh", K) if kernel.name == "sigmoid" else _power(graph, K, kernel.degree)
    return K


def _squares(graph: Graph, X: str) -> str:
    """``‖x‖²`` (n, 1) of each row."""
    return graph.node("ReduceSum", graph.node("Mul", X, X), graph.constant(np.array([1])), keepdims=1)


def _power(graph: Graph, K: str, degree: int) -> str:
    """``K ** degree`` by multiplications."""
    out = K
    for bit in bin(degree)[3:]:
        out = graph.node("Mul", out, out)
        if bit == "1":
            out = graph.node("Mul", out, K)
    return out


def dense_layers(
    graph: Graph, layers: Sequence[Layer], X: str, activations: str | Sequence[str], less: NDArray | None = None
) -> str:
    """Output of a stack of layers for the rows of ``X − less``, see :mod:`lowdim.solve.network`.

    ``activations`` are those between layers, or the name of all.
    """
    between = [activations] * (len(layers) - 1) if isinstance(activations, str) else activations
    for j, ((W, b), activation) in enumerate(zip(layers, [*between, "linear"], strict=True)):
        X = graph.affine(X, np.asarray(W).T, less=None if j else less, plus=b)
        X = _activated(graph, X, activation)
    return X


def _activated(graph: Graph, Z: str, activation: str) -> str:
    if activation == "relu":
        return graph.node("Relu", Z)
    if activation == "tanh":
        return graph.node("Tanh", Z)
    if activation == "softmax":
        return graph.node("Softmax", Z, axis=-1)
    if activation == "sigmoid":
        half = graph.node("Tanh", graph.node("Mul", Z, graph.constant(0.5)))
        return graph.node("Add", graph.node("Mul", half, graph.constant(0.5)), graph.constant(0.5))
    if activation == "elu":  # the sum of what is above 0 and of e^z − 1 below
        below = graph.node("Neg", graph.node("Relu", graph.node("Neg", Z)))
        return graph.node(
            "Add", graph.node("Relu", Z), graph.node("Sub", graph.node("Exp", below), graph.constant(1.0))
        )
    if activation != "linear":
        raise ValueError(f"to_onnx: activations with a formula are needed; got {activation!r}. Fit with another one.")
    return Z
