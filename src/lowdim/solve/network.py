"""Stacks of dense layers, for NumPy arrays and torch tensors alike.

``h_0 = z``, ``h_j = f_j(W_j h_{j−1} + b_j)``, with an activation ``f_j`` between layers and none after the last: one
for all, or one for each.
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
    """A function ``h = f(z)``, and the gradient by ``z`` from ``h`` and that by ``h``, in torch; None leaves it."""

    value: Callable[[ModuleType, Any], Any]
    back: Callable[[Any, Any], Any] | None


# ``xp`` is numpy or torch, so that NumPy can apply what torch has trained.
ACTIVATIONS = {
    "relu": Activation(lambda xp, z: xp.clip(z, 0, None), lambda h, G: G.mul_(h > 0)),
    "tanh": Activation(lambda xp, z: xp.tanh(z), lambda h, G: G.mul_(1 - h * h)),
    "sigmoid": Activation(lambda xp, z: 0.5 + 0.5 * xp.tanh(0.5 * z), lambda h, G: G.mul_(h - h * h)),
    "elu": Activation(
        lambda xp, z: xp.where(z > 0, z, xp.expm1(xp.clip(z, None, 0))), lambda h, G: G.mul_(1 + h.clip(None, 0))
    ),
    "linear": Activation(lambda _, z: z, None),
}
Activations = str | Sequence[str]  # between the layers of a stack: one for all, or one for each


def softmax(xp: ModuleType, z: Any) -> Any:
    """Shares ``exp(z_m) / Σ exp(z_l)`` in each row."""
    h = xp.exp(z - xp.amax(z, 1, keepdims=True))
    return h / h.sum(1)[:, None]


_KNOWN = ACTIVATIONS | {
    "softmax": Activation(softmax, lambda h, G: (G - (G * h).sum(1)[:, None]).mul_(h)),
}


def _after(activation: Activations, j: int) -> Activation:
    """Activation after layer j, counted from 1."""
    return _KNOWN[activation if isinstance(activation, str) else activation[j - 1]]


class Layer(NamedTuple):
    """Weights (outputs, inputs) and bias (outputs,)."""

    weights: Any
    bias: Any


def initial(widths: Sequence[int], seed: int, first: int = 0) -> list[Layer]:
    """Random layers between ``widths``, float32: weights of variance 2/(inputs + outputs) (Glorot and Bengio 2010).

    They are numbered from ``first``: layers of other numbers are drawn independently.
    """
    layers = []
    for j, (before, after) in enumerate(pairwise(widths), start=first):
        weights = stream(seed, "layers", j).standard_normal((after, before), np.float32)
        weights *= np.float32(np.sqrt(2.0 / (before + after)))
        layers.append(Layer(weights, np.zeros(after, np.float32)))
    return layers


def push(
    xp: ModuleType, layers: Sequence[Layer], Z: Any, activation: Activations, masks: Sequence[Any] = ()
) -> list[Any]:
    """Outputs ``h_0, h_1, …`` of a stack for rows ``Z``; the last is its output.

    The first layers after the first may have ``masks``, factors on the values that they take in.
    """
    outputs = [Z]
    for j, (W, b) in enumerate(layers, start=1):
        if 0 <= j - 2 < len(masks):
            Z = Z * masks[j - 2]
        Z = Z @ W.T
        Z += b
        outputs.append(_after(activation, j).value(xp, Z) if j < len(layers) else Z)
        Z = outputs[-1]
    return outputs


@operation(on=1)
def apply(layers: Sequence[Layer], X: Any, activation: Activations, less: NDArray | None = None) -> Any:
    """Output of a stack for the rows of ``X − less``, block by block, by NumPy: torch is not needed for arrays."""
    width, dtype = max(max(W.shape) for W, _ in layers), float_dtype(X.dtype)
    cast = [Layer(W.astype(dtype), b.astype(dtype)) for W, b in layers]
    Y = np.empty((X.shape[0], len(cast[-1].bias)), dtype)
    for rows, block in row_blocks(X, dtype, less=None if less is None else less.astype(dtype), width=width):
        Y[rows] = push(np, cast, block, activation)[-1]
    return Y


def pull(
    torch: ModuleType,
    layers: Sequence[Layer],
    outputs: list[Any],
    G: Any,
    activation: Activations,
    masks: Sequence[Any] = (),
) -> Any:
    """Backpropagate the gradient ``G`` of the loss by a stack's output to its first layer, from :func:`push`'s outputs.

    The gradients by weights and biases are written to their ``.grad``: with ``G_j`` that by
    ``W_j h_{j−1} + b_j``, they are ``G_jᵀ h_{j−1}`` and the sum of ``G_j`` over rows. Returned is ``G_1``; that by the
    input of the stack is ``G_1 W_1``.
    """
    for j in range(len(layers), 0, -1):
        W, b = layers[j - 1]
        if j < len(layers) and (back := _after(activation, j).back) is not None:
            G = back(outputs[j], G)
        mask = masks[j - 2] if 0 <= j - 2 < len(masks) else None
        torch.mm(G.T, outputs[j - 1] if mask is None else outputs[j - 1] * mask, out=W.grad)
        torch.sum(G, 0, out=b.grad)
        if j > 1:
            G = G @ W
        if mask is not None:
            G *= mask
    return G
