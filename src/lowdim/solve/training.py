"""Training of an autoencoder by stochastic gradients, in torch, which is imported when it is used.

The loss is ``‖z − ẑ‖²`` as a share of the variance of the rows ``z``: the mean alone would reach 1. Steps are Adam's
with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019); their length falls to 0 along a cosine.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.solve.network import Layer, pull, push
from lowdim.work import devices, thread_limit
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import operation
from lowdim.work.progress import note, stage
from lowdim.work.random import stream

WINDOW_BYTES = 2**25  # scaled rows that are held at a time
_RUN_BYTES = 2**16  # neighbouring rows of large data that are read together, which disks need
_SERIAL = 2**26  # multiply-adds a batch up to which threads wait for each other more than they work
_DIVERGED = 1e3  # times the loss at the start


class Plan(NamedTuple):
    """How long to train, in what steps, and when to stop."""

    max_epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    validation_fraction: float
    patience: int
    tol: float
    seed: int
    first_epoch: int = 0  # epochs trained before, so that no shuffle comes twice
    beta: float = 1.0  # of a variational one, and the variance of its noise at the start
    noise_variance: float = 1.0


class Trained(NamedTuple):
    """Layers, the loss of each epoch on the rows trained on and on those held out, and the variance of noise."""

    layers: list[Layer]
    losses: list[float]
    held_out: list[float]
    noise_variance: float | None = None


class DivergenceError(ArithmeticError):
    """The loss grew without bound; the arguments are the epoch and the loss."""


def find_torch() -> ModuleType:
    """PyTorch, imported now; ImportError says how to get it."""
    return devices.find_torch("to train a network")


@operation
def device_of(X: Any) -> Any:  # noqa: ARG001  # it says where
    """Device on which the rows are."""
    return find_torch().device("cpu")


def find_device(name: str | None, X: Any) -> Any:
    """The device called ``name``, or else that of ``X``."""
    if name is None:
        return device_of(X)
    return devices.find(name, "to train a network")


@operation
def reader(X: Any, mean: NDArray, scale: NDArray) -> Callable[[NDArray], Any]:
    """Function from row numbers to ``(x − mean)/scale`` of these rows, in a buffer that the next call reuses."""
    torch, dtype, d = find_torch(), float_dtype(X.dtype), X.shape[1]
    shift, factor = mean.astype(dtype), (1 / scale).astype(dtype)
    raw = scaled = np.empty((0, d), X.dtype)

    def take(ids: NDArray) -> Any:
        nonlocal raw, scaled
        if sp.issparse(X):
            return torch.from_numpy(((X[ids].toarray() - shift) * factor).astype(dtype, copy=False))
        if len(raw) < len(ids):
            raw = np.empty((len(ids), d), X.dtype)
            scaled = raw if raw.dtype == dtype else np.empty(raw.shape, dtype)
        found, out = raw[: len(ids)], scaled[: len(ids)]
        if X.flags.c_contiguous:
            np.take(X, ids, axis=0, out=found, mode="clip")  # "raise" would make another copy
        else:
            found = X[ids]  # take() would copy all of X first
        np.subtract(found, shift, out=out)
        out *= factor
        return torch.from_numpy(out)

    return take


class TrainingRows:
    """Rows ``(x − mean)/scale``, from any place, in float32 on ``device``, in blocks."""

    def __init__(self, X: Any, mean: NDArray, scale: NDArray, device: Any) -> None:
        self.device, self.torch = device, find_torch()
        self.n, self.d = (int(size) for size in X.shape)
        self._read = reader(X, mean, scale)

    def take(self, ids: NDArray) -> Any:
        """The rows of ``ids``, in that order; their buffer may be reused by the next call."""
        return self._read(ids).to(self.device, self.torch.float32)

    def window(self, batch_size: int) -> int:
        """Number of rows to hold at a time, in whole batches."""
        return batch_size * max(1, WINDOW_BYTES // (4 * self.d * batch_size))


def train(
    layers: Sequence[Layer],
    rows: TrainingRows,
    plan: Plan,
    activation: str,
    spread: float,
    kind: "type[Trainer] | None" = None,
) -> Trained:
    """Train the layers, of which the first half encodes and the second decodes; ``spread`` is the variance of the rows.

    ``kind`` says by which loss: squared error unless given. Everything random comes from ``plan.seed``. On a CPU small
    networks run on one thread, which gives the same bits for any number of them; large ones run on
    ``thread_limit.current()``, and the same number gives the same bits.
    """
    torch = rows.torch
    with torch.no_grad(), threads(torch, _useful_threads(layers, min(plan.batch_size, rows.n))):
        trainer = (kind or Trainer)(layers, rows, plan, activation, spread)
        with stage("training", total=plan.max_epochs * len(trainer.ids)) as tick:
            for epoch in range(plan.max_epochs):
                trainer.run(epoch, tick)
                if trainer.has_stopped_improving():
                    break
        return trainer.outcome()


class Trainer:
    """The state of a training: layers and optimiser on the device, and the losses so far."""

    def __init__(self, layers: Sequence[Layer], rows: TrainingRows, plan: Plan, activation: str, spread: float) -> None:
        torch = rows.torch
        self.rows, self.plan, self.activation, self.torch = rows, plan, activation, torch
        self.layers = [Layer(*(torch.tensor(part, device=rows.device) for part in layer)) for layer in layers]
        for part in (part for layer in self.layers for part in layer):
            part.grad = torch.zeros_like(part)
        half = len(self.layers) // 2
        self.encoder, self.decoder = self.layers[:half], self.layers[half:]
        self.unit = spread or 1.0  # of the loss of a row
        groups = [
            {"params": [layer.weights for layer in self.layers], "weight_decay": plan.weight_decay},
            {"params": [*(layer.bias for layer in self.layers), *self._further()], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=plan.learning_rate, fused=True)
        count = math.ceil(plan.validation_fraction * rows.n) if plan.validation_fraction else 0
        mixed = stream(plan.seed, "validation").permutation(rows.n) if count else np.arange(rows.n)
        self.validation, self.ids = np.sort(mixed[:count]), np.sort(mixed[count:])
        self.per_epoch = math.ceil(len(self.ids) / plan.batch_size)
        self.losses: list[float] = []
        self.held_out: list[float] = []
        self.best: tuple[list[Layer], float | None] | None = None
        self.waited = 0
        self.start = 0.0  # loss of the first batch before any step, at least that of the mean; 0 until known

    def _further(self) -> list[Any]:
        """Parameters beside the layers."""
        return []

    def _begin(self, epoch: int | None) -> None:
        """Called before an epoch, and with None before the rows held out."""

    def run(self, epoch: int, tick: Any) -> None:
        """One pass over the rows in a new order."""
        self._begin(epoch)
        squares, seen, step = 0.0, 0, epoch * self.per_epoch
        for ids in self._windows(epoch):
            found = self.torch.zeros((), dtype=self.torch.float64, device=self.rows.device)
            for Z in self.rows.take(ids).split(self.plan.batch_size):
                self._set_step_length(step)
                found += self._step(Z)
                step += 1
                if not self.start:
                    self.start = max(1.0, found.item() / (len(Z) * self.unit))
            squares, seen = squares + found.item(), seen + len(ids)
            loss = squares / (seen * self.unit)
            if not loss <= _DIVERGED * self.start:
                raise DivergenceError(self.plan.first_epoch + epoch + 1, loss)
            tick(epoch * len(self.ids) + seen)
        self.losses.append(loss)
        if len(self.validation):
            self._validate()
        note(f"loss {(self.held_out or self.losses)[-1]:.4g}")

    def _step(self, Z: Any) -> Any:
        """Step along the gradient of one batch; the sum of squared errors before it.

        The gradient is written out (:func:`pull`): in networks of this size autograd takes as long as the products.
        """
        outputs = push(self.torch, self.encoder, Z, self.activation)
        decoded = push(self.torch, self.decoder, outputs[-1], self.activation)
        E = decoded[-1] - Z
        squares = E.square().sum(0).sum()  # in this order it is the same for any number of threads
        E *= 2.0 / (len(Z) * self.unit)
        G = pull(self.torch, self.decoder, decoded, E, self.activation) @ self.decoder[0].weights
        pull(self.torch, self.encoder, outputs, G, self.activation)
        self.optimizer.step()
        return squares

    def _held_out_loss(self, Z: Any) -> float:
        """Sum of squared errors of rows held out."""
        code = push(self.torch, self.encoder, Z, self.activation)[-1]
        E = push(self.torch, self.decoder, code, self.activation)[-1] - Z
        return float(E.square().sum(0).sum().item())

    def _set_step_length(self, step: int) -> None:
        share = 0.5 + 0.5 * math.cos(math.pi * step / (self.plan.max_epochs * self.per_epoch))
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.learning_rate * share

    def _windows(self, epoch: int) -> Iterator[NDArray]:
        """Numbers of the rows in a random order, a window at a time.

        Data that fill more than a window are drawn in short runs of consecutive rows, which are then shuffled within
        the window.
        """
        random = stream(self.plan.seed, "shuffle", self.plan.first_epoch + epoch)
        window, n = self.rows.window(self.plan.batch_size), len(self.ids)
        run = 1 if n <= window else max(1, min(_RUN_BYTES // (4 * self.rows.d), window // 64))
        order = (random.permutation(math.ceil(n / run))[:, None] * run + np.arange(run)).ravel()
        order = order[order < n]
        for start in range(0, n, window):
            some = order[start : start + window]
            yield self.ids[some if run == 1 else random.permutation(some)]

    def _validate(self) -> None:
        """Loss on the rows held out, and the layers with the lowest so far."""
        self._begin(None)
        squares, window = 0.0, self.rows.window(self.plan.batch_size)
        for start in range(0, len(self.validation), window):
            for Z in self.rows.take(self.validation[start : start + window]).split(self.plan.batch_size):
                squares += self._held_out_loss(Z)
        loss = squares / (len(self.validation) * self.unit)
        least = min(self.held_out, default=math.inf)
        self.waited += 1
        if least == math.inf or loss < least - self.plan.tol * abs(least):
            self.waited = 0
        if loss < least or least == math.inf:
            self.best = [Layer(*(part.clone() for part in layer)) for layer in self.layers], self._noise_variance()
        self.held_out.append(loss)

    def has_stopped_improving(self) -> bool:
        """Whether the rows held out have not improved for long enough."""
        return bool(self.held_out) and self.waited >= self.plan.patience

    def _noise_variance(self) -> float | None:
        """Variance of the noise, None where the loss knows none."""
        return None

    def outcome(self) -> Trained:
        """The layers of the best epoch, or the last."""
        layers, noise = self.best or (self.layers, self._noise_variance())
        if not all(bool(part.isfinite().all()) for layer in layers for part in layer):  # after the last step
            raise DivergenceError(self.plan.first_epoch + len(self.losses), math.inf)
        there = [Layer(*(part.cpu().numpy() for part in layer)) for layer in layers]
        return Trained(there, self.losses, self.held_out, noise)


def _useful_threads(layers: Sequence[Layer], batch_size: int) -> int:
    work = batch_size * sum(layer.weights.size for layer in layers)
    return 1 if work <= _SERIAL else thread_limit.current()


@contextmanager
def threads(torch: ModuleType, n: int) -> Iterator[None]:
    """Limit torch to ``n`` threads; it has its own pool, which the limits of BLAS do not affect."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
