"""Base class of methods whose map is a network: what is applied, by NumPy alone, and what it takes."""

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.spectrum import scales
from lowdim.data import options, validation
from lowdim.methods.base import Reducer, applying
from lowdim.methods.onnx_export import dense_layers
from lowdim.persist import fields
from lowdim.relate.moment_states import ColumnMoments
from lowdim.solve.network import Activations, Layer, apply

NETWORK_RULES = {
    "hidden": options.widths,
    "max_epochs": options.integer(1) | options.one_of("auto"),
    "batch_size": options.integer(1) | options.one_of("auto"),
    "learning_rate": options.real(0) | options.one_of("auto"),
    "device": options.none | options.device,
    "random_state": options.seed,
    "n_jobs": options.jobs,
    "verbose": options.integer(0),
}


class Applied(NamedTuple):
    """A network as it is applied to rows ``x``: layers of ``x − less``, with what stands between them."""

    layers: list[Layer]
    activations: Activations
    less: NDArray | None


class NetworkReducer(Reducer, ABC):
    """A method whose map of rows ``z = (x − m)/s`` is a stack of dense layers."""

    _in_batches = True
    _no_onnx = None
    mean_: NDArray
    scale_: NDArray
    _spread: float

    def _state(self) -> dict[str, fields.Field]:
        return {"mean_": fields.array("d"), "scale_": fields.array("d", low=0), "_spread": fields.number(0)}

    @abstractmethod
    def _encoding(self) -> tuple[list[Layer], Activations]:
        """Layers from ``z`` to the position."""

    @abstractmethod
    def _decoding(self) -> tuple[list[Layer], Activations]:
        """Layers from the position to ``z``."""

    def _applied_encoder(self) -> Applied:
        """The network that ``transform`` applies."""
        ((W, b), *others), activations = self._encoding()
        return Applied([Layer(W / self.scale_, b), *others], activations, self.mean_)

    def _applied_decoder(self) -> Applied:
        """The network that ``inverse_transform`` applies."""
        (*others, (W, b)), activations = self._decoding()
        return Applied([*others, Layer(W * self.scale_[:, None], b * self.scale_ + self.mean_)], activations, None)

    def _decoded(self, Y: Any) -> Any:
        layers, activations, _ = self._applied_decoder()
        return apply(layers, validation.scores(Y, self._name, self._n_features_out), activations)

    @applying
    def transform(self, X: Any) -> Any:
        """Positions of the rows of ``X``, computed where they are; PyTorch is needed for tensors only.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            The positions, float32 for float32 and small integers, float64 otherwise; a tensor for a tensor.
        """
        layers, activations, less = self._applied_encoder()
        return apply(layers, self._take(X, reset=False, sparse=self._sparse), activations, less=less)

    @applying
    def inverse_transform(self, Y: Any) -> Any:
        """Rows of positions, or codes, by the decoder.

        Parameters
        ----------
        Y : of shape (n_samples, n_components)
            Positions as ``transform`` gives them.

        Returns
        -------
        array (n_samples, n_features)
            ``m + s g(y)``, in the precision of ``Y``; a tensor for a tensor.
        """
        return self._decoded(Y)

    def _onnx(self, graph: Any, X: str, method: str) -> str:
        network = self._applied_encoder() if method == "transform" else self._applied_decoder()
        return dense_layers(graph, network.layers, X, network.activations, less=network.less)

    @property
    def _n_features_out(self) -> int:
        return len(self._encoding()[0][-1].bias)

    def _standardize(self, M: ColumnMoments, *, each: bool) -> None:
        """Set the mean, the scale of ``each`` feature or one for all, and the variance of the scaled rows."""
        if not np.isfinite(M.variance.sum()):
            raise ValueError(
                f"{self._name}: variances must fit in float64; the squares of these values do not. "
                "Multiply X by a constant that brings it near 1."
            )
        self.mean_, self.scale_ = M.mean, scales(M, M.variance, True)
        if not each:
            self.scale_ = np.full(len(M.mean), np.sqrt(M.variance.mean()) or 1.0)
        self._spread = float(np.sum(M.variance / self.scale_**2))


def shapes_that_fit(layers: list[Layer], first: int) -> bool:
    """Whether the layers follow each other, from ``first`` values on."""
    widths = [first, *(len(layer.bias) for layer in layers)]
    return [layer.weights.shape for layer in layers] == [(after, before) for before, after in pairwise(widths)]
