"""Training of a network that maps rows, by stochastic gradients, in torch, which is imported when it is used.

The last layer of the network adds up landmarks by shares, ``y = Σ_m softmax(h)_m c_m``. First it imitates a map: the
shares are trained on those of the map by their cross-entropy, as a classifier is, since squared errors of positions
would lead rows in doubt to places between groups. Then it lowers the loss of the map itself, whose attraction is taken
over one edge of each row, and whose repulsion over all pairs of a batch. A batch consists of cells, of rows that are
next to each other in the map, where repulsion is strongest and which pairs drawn from all rows hardly ever meet; each
pair is weighed so that the mean is that over all pairs.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lowdim.solve.descent import SparseRows
from lowdim.solve.network import Layer, pull, push, softmax
from lowdim.solve.training import DivergenceError, TrainingRows, threads
from lowdim.work.progress import note, stage
from lowdim.work.random import stream

CELL = 8  # rows of a cell
_LATER = 0.25  # learning rate after imitation, as a share of that before
_DIVERGED = 1e3


class MapPlan(NamedTuple):
    """Epochs of imitation and of the loss, steps, share of dropped values, and the weight of a decoder's error."""

    imitating: int
    lowering: int
    batch_size: int
    learning_rate: float
    dropout: float
    reconstruction_weight: float
    seed: int


class Pattern(NamedTuple):
    """The map that is imitated: rows in its order, landmarks near each (n, near) and their shares (n, near)."""

    order: NDArray[np.int64]
    near: NDArray[np.int32]
    shares: NDArray[np.float32]
    positions: NDArray[np.float32]  # (n, k), in the unit of the network


class BatchLoss(Protocol):
    """Loss of a map by a batch of it; positions are in the unit of the map."""

    def attraction(self, torch: Any, squares: Any) -> tuple[Any, Any]:
        """Loss of edges of these squared lengths, and its slope by them."""
        ...

    def repulsion(self, torch: Any, squares: Any, ends: Any, weights: Any) -> tuple[Any, Any]:
        """Loss of pairs of points (b, b) at these squared distances, and its slopes by them.

        ``ends`` (b,) are degrees relative to their mean, ``weights`` (b, b) the share of each pair in the mean over
        all.
        """
        ...


class TrainedMap(NamedTuple):
    """Layers of the network and of the decoder, the loss of each epoch, and the decoder's squared error in the last."""

    layers: list[Layer]
    decoder: list[Layer]
    losses: list[float]
    error: float


class Tails:
    """Draws one neighbour of each row, in proportion to the weight of their edge."""

    def __init__(self, graph: SparseRows) -> None:
        self.starts, self.columns = graph[0], graph[1]
        self.sums = np.concatenate([[0.0], np.cumsum(graph[2], dtype=np.float64)])
        degrees = np.diff(self.sums[self.starts])
        self.degrees, self.relative = degrees, (degrees / (degrees.mean() or 1.0)).astype(np.float32)

    def draw(self, rows: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """A neighbour of each of these rows."""
        at = self.sums[self.starts[rows]] + random.random(len(rows)) * self.degrees[rows]
        found = np.searchsorted(self.sums, at, side="right") - 1
        last = np.maximum(self.starts[rows + 1] - 1, self.starts[rows])
        found = np.minimum(np.clip(found, self.starts[rows], last), len(self.columns) - 1)
        return self.columns[found].astype(np.int64)


def train_map(
    layers: Sequence[Layer],
    activations: Sequence[str],
    decoder: Sequence[Layer],
    rows: TrainingRows,
    pattern: Pattern,
    graph: SparseRows,
    loss: BatchLoss,
    unit: float,
    spread: float,
    plan: MapPlan,
) -> TrainedMap:
    """Train a network whose outputs, times ``unit``, are positions; ``spread`` is the variance of the scaled rows.

    On a CPU it runs on one thread, which gives the same bits for any number of them.
    """
    torch = rows.torch
    with torch.no_grad(), threads(torch, 1):
        trainer = _MapTrainer(layers, activations, decoder, rows, pattern, graph, loss, unit, spread, plan)
        with stage("imitation", total=plan.imitating * rows.n) as tick:
            trainer.imitate(tick)
        with stage("training", total=plan.lowering * rows.n) as tick:
            trainer.lower(tick)
        return trainer.outcome()


class _MapTrainer:
    """The state of a training: layers on the device, and the losses so far."""

    def __init__(
        self,
        layers: Sequence[Layer],
        activations: Sequence[str],
        decoder: Sequence[Layer],
        rows: TrainingRows,
        pattern: Pattern,
        graph: SparseRows,
        loss: BatchLoss,
        unit: float,
        spread: float,
        plan: MapPlan,
    ) -> None:
        self.rows, self.plan, self.loss, self.torch = rows, plan, loss, rows.torch
        self.activations, self.pattern, self.unit, self.spread = activations, pattern, unit, spread or 1.0
        self.layers, self.decoder = self._there(layers), self._there(decoder)
        self.tails, self.error = Tails(graph), math.nan
        self.losses: list[float] = []
        self.cell = max(1, min(CELL, rows.n // 4))
        self.weights: dict[int, Any] = {}

    def _there(self, layers: Sequence[Layer]) -> list[Layer]:
        torch = self.torch
        there = [Layer(*(torch.tensor(part, device=self.rows.device) for part in layer)) for layer in layers]
        for part in (part for layer in there for part in layer):
            part.grad = torch.zeros_like(part)
        return there

    def _optimizer(self, layers: Sequence[Layer], rate: float, steps: int) -> Iterator[Any]:
        """An optimiser of these layers, with the length of each step set."""
        optimizer = self.torch.optim.AdamW(
            [part for layer in layers for part in layer], lr=rate, weight_decay=0.0, fused=True
        )
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = rate * (0.5 + 0.5 * math.cos(math.pi * step / steps))
            yield optimizer

    def imitate(self, tick: Any) -> None:
        """Train the shares of the landmarks on those of the map, and the decoder on its positions."""
        torch, plan, n = self.torch, self.plan, self.rows.n
        head, between = self.layers[:-1], self.activations[:-1]
        per_epoch = math.ceil(n / plan.batch_size)
        steps = self._optimizer([*head, *self.decoder], plan.learning_rate, plan.imitating * per_epoch)
        for epoch in range(plan.imitating):
            random = stream(plan.seed, "imitation", epoch)
            order = random.permutation(n)
            total = 0.0
            for start in range(0, n, plan.batch_size):
                optimizer, ids = next(steps), order[start : start + plan.batch_size]
                Z, masks = self.rows.take(ids), self._masks(len(ids), random)
                outputs = push(torch, head, Z, between, masks)
                G = softmax(torch, outputs[-1])
                near = self._moved(self.pattern.near[ids].astype(np.int64))
                shares = self._moved(self.pattern.shares[ids])
                total -= (shares * G.gather(1, near).clamp_(min=1e-30).log()).sum().item()
                G.scatter_add_(1, near, -shares)
                pull(torch, head, outputs, G / len(ids), between, masks)
                self._decode(self._moved(self.pattern.positions[ids]), Z, 1.0)
                optimizer.step()
            self._demand_finite(epoch, total / n)
            note(f"cross-entropy {total / n:.4g}")
            tick((epoch + 1) * n)

    def lower(self, tick: Any) -> None:
        """Lower the loss of the map, and the error of the decoder."""
        torch, plan, n = self.torch, self.plan, self.rows.n
        in_batch = max(1, plan.batch_size // self.cell)
        per_epoch = math.ceil((n // self.cell) / in_batch)
        layers = [*self.layers, *self.decoder]
        steps = self._optimizer(layers, _LATER * plan.learning_rate, plan.lowering * per_epoch)
        for epoch in range(plan.lowering):
            total, error, seen = 0.0, 0.0, 0
            random = stream(plan.seed, "cells", epoch)
            for heads in self._cells(random, in_batch):
                optimizer, tails = next(steps), self.tails.draw(heads, random)
                Z, masks = self.rows.take(np.concatenate([heads, tails])), self._masks(2 * len(heads), random)
                outputs = push(torch, self.layers, Z, self.activations, masks)
                value, G = self._batch(outputs[-1], self._moved(self.tails.relative[heads]))
                total += value * len(heads)
                if self.decoder:
                    lost, back = self._decode(outputs[-1][: len(heads)], Z[: len(heads)], plan.reconstruction_weight)
                    error += lost
                    if plan.reconstruction_weight:
                        G[: len(heads)] += back
                pull(torch, self.layers, outputs, G, self.activations, masks)
                optimizer.step()
                seen += len(heads)
            self.losses.append(total / seen)
            self.error = error / (seen * self.spread)
            self._demand_finite(plan.imitating + epoch, self.losses[-1])
            note(f"loss {self.losses[-1]:.4g}")
            tick((epoch + 1) * n)

    def _masks(self, n: int, random: np.random.Generator) -> list[Any]:
        """Factors on the outputs of hidden layers, of which a share is dropped in 256ths: 0, or what keeps the mean."""
        dropped = round(256 * self.plan.dropout)
        if not dropped:
            return []
        masks = []
        for width in (len(layer.bias) for layer in self.layers[:-2]):
            drawn = np.frombuffer(random.bytes(n * width), np.uint8).reshape(n, width)
            masks.append(self._moved((drawn >= dropped) * np.float32(256 / (256 - dropped))))
        return masks

    def _cells(self, random: np.random.Generator, in_batch: int) -> Iterator[NDArray[np.int64]]:
        """Batches of whole cells: runs of rows in the order of the map, which start elsewhere in each epoch."""
        n, cell = self.rows.n, self.cell
        first = int(random.integers(n % cell + 1))
        cells = self.pattern.order[first : first + n // cell * cell].reshape(-1, cell)
        mixed = random.permutation(len(cells))
        for start in range(0, len(mixed), in_batch):
            yield cells[mixed[start : start + in_batch]].ravel()

    def _batch(self, Y: Any, ends: Any) -> tuple[float, Any]:
        """Loss by the heads, in the first half of ``Y``, and their tails; and its gradient by the network's outputs."""
        b, Y = len(ends), Y * self.unit
        heads, apart = Y[:b], Y[:b] - Y[b:]
        pulls, slope = self.loss.attraction(self.torch, apart.square().sum(1))
        squares = sum((column[:, None] - column).square_() for column in heads.T)
        pushes, slopes = self.loss.repulsion(self.torch, squares, ends, self._pair_weights(b))
        forward = apart * (2.0 / b * ends * slope)[:, None]
        slopes = slopes + slopes.T
        away = 2.0 * (slopes.sum(1)[:, None] * heads - slopes @ heads)
        G = self.torch.cat([forward + away, -forward]) * self.unit
        return float((ends * pulls).mean() + pushes), G

    def _pair_weights(self, b: int) -> Any:
        """Weights (b, b) of the ordered pairs of a batch: their sum is 1, and their mean that over all pairs."""
        if b not in self.weights:
            n, s, g = self.rows.n, self.cell, b // self.cell
            own = np.kron(np.eye(g), np.ones((s, s)))
            inside = (s - 1) / (n - 1) if g > 1 else 1.0  # one cell alone stands for all
            W = (1 - own) * ((1 - inside) / max(1, g * (g - 1) * s * s))
            if s > 1:
                W += own * (inside / (g * s * (s - 1)))
            np.fill_diagonal(W, 0.0)
            self.weights[b] = self._moved(W.astype(np.float32))
        return self.weights[b]

    def _decode(self, Y: Any, Z: Any, weight: float) -> tuple[float, Any]:
        """Squared error of the decoder, with its gradients set, and ``weight`` times that by ``Y``."""
        if not self.decoder:
            return 0.0, None
        outputs = push(self.torch, self.decoder, Y, self.activations[0])
        E = outputs[-1] - Z
        lost = E.square().sum(0).sum().item()
        E *= 2.0 / (len(Z) * self.spread)
        G = pull(self.torch, self.decoder, outputs, E, self.activations[0])
        return lost, (G @ self.decoder[0].weights) * weight if weight else None

    def _moved(self, values: NDArray) -> Any:
        return self.torch.from_numpy(values).to(self.rows.device)

    def _demand_finite(self, epoch: int, loss: float) -> None:
        if not math.isfinite(loss):
            raise DivergenceError(epoch + 1, loss)

    def outcome(self) -> TrainedMap:
        layers, decoder = (
            [Layer(*(part.cpu().numpy() for part in layer)) for layer in stack] for stack in (self.layers, self.decoder)
        )
        if not all(np.isfinite(part).all() for layer in (*layers, *decoder) for part in layer):
            raise DivergenceError(self.plan.imitating + self.plan.lowering, math.inf)
        return TrainedMap(layers, decoder, self.losses, self.error)
