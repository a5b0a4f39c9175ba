"""Stacks of dense layers, for NumPy arrays and torch tensors alike.

``h_0 = z``, ``h_j = f(W_j h_{j−1} + b_j)``, with an activation ``f`` between layers and none after the last.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.work.blockwise import float_dtype, row_blocks
from lowdim.work.dispatch import operation
from lowdim.work.random import stream


class Activation(NamedTuple):
    """A function ``f(z)``, and its slope as a function of its value ``h = f(z)``; no slope is slope 1."""

    value: Callable[[ModuleType, Any], Any]
    slope: Callable[[ModuleType, Any], Any] | None


# ``xp`` is numpy or torch, so that NumPy can apply what torch has trained.
ACTIVATIONS = {
    "relu": Activation(lambda xp, z: xp.clip(z, 0, None), lambda _, h: h > 0),
    "tanh": Activation(lambda xp, z: xp.tanh(z), lambda _, h: 1 - h * h),
    "sigmoid": Activation(lambda xp, z: 0.5 + 0.5 * xp.tanh(0.5 * z), lambda _, h: h - h * h),
    "elu": Activation(
        lambda xp, z: xp.where(z > 0, z, xp.expm1(xp.clip(z, None, 0))), lambda xp, h: 1 + xp.clip(h, None, 0)
    ),
    "linear": Activation(lambda _, z: z, None),
}


class Layer(NamedTuple):
    """Weights (outputs, inputs) and bias (outputs,)."""

    weights: Any
    bias: Any


def initial(widths: Sequence[int], seed: int) -> list[Layer]:
    """Random layers between ``widths``, float32: weights of variance 2/(inputs + outputs) (Glorot and Bengio 2010)."""
    layers = []
    for j, (before, after) in enumerate(pairwise(widths)):
        weights = stream(seed, "layers", j).standard_normal((after, before), np.float32)
        weights *= np.float32(np.sqrt(2.0 / (before + after)))
        layers.append(Layer(weights, np.zeros(after, np.float32)))
    return layers


def push(xp: ModuleType, layers: Sequence[Layer], Z: Any, activation: str) -> list[Any]:
    """Outputs ``h_0, h_1, …`` of a stack for rows ``Z``; the last is its output."""
    outputs = [Z]
    for j, (W, b) in enumerate(layers, start=1):
        Z = Z @ W.T
        Z += b
        outputs.append(ACTIVATIONS[activation].value(xp, Z) if j < len(layers) else Z)
        Z = outputs[-1]
    return outputs


@operation(on=1)
def apply(layers: Sequence[Layer], X: Any, activation: str, less: NDArray | None = None) -> Any:
    """Output of a stack for the rows of ``X − less``, block by block, by NumPy: torch is not needed for arrays."""
    width, dtype = max(max(W.shape) for W, _ in layers), float_dtype(X.dtype)
    cast = [Layer(W.astype(dtype), b.astype(dtype)) for W, b in layers]
    Y = np.empty((len(X), len(cast[-1].bias)), dtype)
    for rows, block in row_blocks(X, dtype, less=None if less is None else less.astype(dtype), width=width):
        Y[rows] = push(np, cast, block, activation)[-1]
    return Y


def pull(torch: ModuleType, layers: Sequence[Layer], outputs: list[Any], G: Any, activation: str) -> Any:
    """Backpropagate the gradient ``G`` of the loss by a stack's output to its first layer, from :func:`push`'s outputs.

    The gradients by weights and biases are written to their ``.grad``: with ``G_j`` that by
    ``W_j h_{j−1} + b_j``, they are ``G_jᵀ h_{j−1}`` and the sum of ``G_j`` over rows. Returned is ``G_1``; that by the
    input of the stack is ``G_1 W_1``.
    """
    slope = ACTIVATIONS[activation].slope
    for j in range(len(layers), 0, -1):
        W, b = layers[j - 1]
        if slope is not None and j < len(layers):
            G *= slope(torch, outputs[j])
        torch.mm(G.T, outputs[j - 1], out=W.grad)
        torch.sum(G, 0, out=b.grad)
        if j > 1:
            G = G @ W
    return G
