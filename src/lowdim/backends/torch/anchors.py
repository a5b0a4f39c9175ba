"""Points drawn to anchors, as the descents on a device have them in their own orders."""

from typing import Any

import torch

from lowdim.solve.anchors import Anchors


class DrawnPoints:
    """Anchors (n, k), their weights (n,), and scale and factor (2,), on the device; of that size without anchors.

    ``parts`` are those in the order of the points.
    """

    def __init__(self, anchors: Anchors | None, Y: Any, unit: float = 1.0) -> None:
        self.any = anchors is not None
        self.scaled = anchors is not None and anchors.scaled
        self.scale = torch.ones(2, device=Y.device)
        self.parts: list[Any] = []
        if anchors is not None:
            places, weights = (torch.as_tensor(part, device=Y.device) for part in anchors[:2])
            weights = weights if anchors.scaled else weights * unit**2
            self.parts = [(places / unit).float().contiguous(), weights.float().contiguous()]

    def in_order(self, order: Any) -> "DrawnPoints":
        """The same with the points in this order."""
        self.parts = [part[order].contiguous() for part in self.parts]
        return self

    @property
    def arguments(self) -> tuple[Any, Any, Any]:
        """Anchors, weights and scale, as the kernels take them."""
        places, weights = self.parts or (self.scale, self.scale)
        return places, weights, self.scale

    def fit(self, Y: Any) -> None:
        """Set the scale and the factor of the weights that the gradient has at the map."""
        if self.scaled:
            both, own, size, total = self._sums(Y)
            share = (size - both * both / own) / (size + total)
            factor = total * (1 - share) / (size + total)
            self.scale.copy_(torch.stack([both / own / (1 - share), factor]).float())

    def _sums(self, Y: Any) -> tuple[Any, Any, Any, Any]:
        """Weighted inner products of map and anchors, both ways and with themselves, and the sum of the weights."""
        places, weights = (part.double() for part in self.parts)
        weights, Y = weights[:, None], Y.double()
        own = (weights * places * places).sum().clamp(min=1e-300)
        return (weights * places * Y).sum(), own, (weights * Y * Y).sum(), weights.sum()

    def cost(self, Y: Any) -> float:
        """Cost of the anchors of points that are not pinned."""
        if not self.any:
            return 0.0
        if self.scaled:
            both, own, size, total = self._sums(Y)
            return float(total * (size - both * both / own) / (size + total))
        places, weights = (part.double() for part in self.parts)
        free = weights.isfinite()
        return float((weights[free] * (Y.double() - places).square().sum(1)[free]).sum())

    def centred(self, Y: Any) -> Any:
        """The map, centred unless anchors say where it is."""
        return Y if self.any else (Y.double() - Y.double().mean(0)).float()
