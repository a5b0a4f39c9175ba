"""Local radii of rows and points on a device, and the gradient of their correlation."""

from typing import Any

import torch

from lowdim import _native
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.relate import radii as numpy_radii
from lowdim.solve import density as numpy_density
from lowdim.solve.density import Density


@implements_on_device(numpy_radii.local_radii)
def local_radii(graph: Any, indices: Any, distances: Any) -> Any:
    """Squared radii (m,) of the last m rows of a symmetric graph, whose neighbours (m, k) have these ``distances``."""
    starts, columns, values = graph
    n, (m, k) = len(starts) - 1, indices.shape
    first = n - m
    keys, order = torch.sort((torch.arange(m, device=columns.device)[:, None] * n + indices.long()).ravel())
    lengths = distances.ravel().double()[order]

    def listed(rows: Any, others: Any) -> Any:
        wanted = (rows - first) * n + others
        at = torch.searchsorted(keys, wanted).clamp_(max=m * k - 1)
        return torch.where((rows >= first) & (keys[at] == wanted), lengths[at], -1.0)

    counts = starts.diff()
    tails = torch.arange(n, device=columns.device).repeat_interleave(counts)
    own = listed(tails, columns.long())
    d = torch.where(own >= 0, own, listed(columns.long(), tails))
    v = torch.where(d >= 0, values.double(), 0.0)
    above, below = (torch.segment_reduce(part, "sum", lengths=counts, initial=0) for part in (v * d * d, v))
    return torch.where(below > 0, above / below, torch.nan)[first:]


@implements_on_device(numpy_density.map_radii)
def map_radii(graph: Any, Y: Any, similarity: dict[str, Any]) -> Any:
    """Logarithms ``r`` (n,) of the squared radii in the map ``Y`` (n, k); NaN of points without edges."""
    term = DensityTerm(Density(torch.zeros(len(Y), device=Y.device), 0.0, 0.0, 0.0), graph, similarity)
    above, below = term.sums(Y.float())
    return torch.where(below > 0, torch.log(_native.DENSITY_FLOOR + above / below), torch.nan)


def similar(similarity: dict[str, float], s: Any) -> tuple[Any, Any]:
    """Similarity w at squared lengths, and ``−w′/w``."""
    if "a" in similarity:
        t = s + _native.EPOCH_SOFT
        u = similarity["a"] * t ** similarity["b"]
        w = 1 / (1 + u)
        return w, similarity["b"] * u * w / t
    dof = similarity["dof"]
    power = (dof + 1) / 2
    return (1 + s / dof) ** -power, power / (dof + s)


class DensityTerm:
    """The correlation of densities for a graph whose rows are in the order of the map's points."""

    def __init__(
        self,
        density: Density,
        graph: Any,
        similarity: dict[str, float],
        pinned: Any = None,
    ) -> None:
        starts, columns, values = graph
        self.density, self.similarity = density, similarity
        self.counts, self.columns, self.there = starts.diff(), columns.long(), (values > 0).float()
        self.tails = torch.arange(len(self.counts), device=columns.device).repeat_interleave(self.counts)
        radii = torch.as_tensor(density.radii, device=values.device).double()
        own = torch.segment_reduce(values.double(), "sum", lengths=self.counts, initial=0)
        self.known = (own > 0) & ~radii.isnan()
        if pinned is not None:
            self.known &= ~pinned
        m = int(self.known.sum())
        self.each = density.weight * float(own[self.known].sum()) / max(m, 1)
        middle = 0.0 if density.trend or not m else float(radii[self.known].mean())
        self.radii = torch.where(self.known, radii - middle, 0.0)
        self.m = m

    def on(self, done: int, iterations: int) -> bool:
        """Whether density is considered in this iteration of so many."""
        return done + 1 > (1 - self.density.share) * iterations

    def _edges(self, Y: Any) -> tuple[Any, Any, Any, Any]:
        gap = Y[self.tails] - Y[self.columns]
        s = gap.square().sum(1)
        w, a = similar(self.similarity, s)
        return gap, s, w * self.there, a

    def _total(self, of_edges: Any) -> Any:
        return torch.segment_reduce(of_edges, "sum", lengths=self.counts, axis=0, initial=0)

    def sums(self, Y: Any) -> tuple[Any, Any]:
        """``Σ w s`` and ``Σ w`` (n,) of the edges of each point."""
        _, s, w, _ = self._edges(Y)
        return self._total(w * s), self._total(w)

    def gradient(self, Y: Any) -> Any:
        """Gradient of the weighted correlation and its stiffness (n, k + 1)."""
        gap, s, w, a = self._edges(Y)
        above, below = self._total(w * s).double(), self._total(w).double()
        counts = self.known & (below > 0)
        square = torch.where(counts, above / below, 1.0)
        r = torch.log(square + _native.DENSITY_FLOOR)
        mean, deviation, correlation = self._trend(r, counts)
        slope = self.radii - correlation * (r - mean) / deviation
        slope = torch.where(counts, slope / (deviation * below * (square + _native.DENSITY_FLOOR)), 0.0)
        A = (self.each * slope).float()
        B = A * square.float()
        i, j = self.tails, self.columns
        c = 2 * w * ((1 - a * s) * (A[i] + A[j]) + a * (B[i] + B[j]))
        return self._total(torch.cat([c[:, None] * gap, c.abs()[:, None]], dim=1))

    def _trend(self, r: Any, counts: Any) -> tuple[Any, Any, Any]:
        if self.density.trend is not None:
            return self.density.trend[2:]
        r, m = torch.where(counts, r, 0.0), max(self.m, 1)
        mean = r.sum() / m
        gap = torch.where(counts, r - mean, 0.0)
        deviation = (gap.square().sum() / m + self.density.shift).sqrt().clamp(min=1e-30)
        return mean, deviation, (gap * self.radii).sum() / m / deviation


def of_new(density: Density, some: slice, device: Any) -> Any:
    """What the density of new points adds to their losses (m, 1), half of the forces against it and their stiffness."""
    radii = torch.as_tensor(density.radii[some], device=device).double()[:, None]
    _, _, mean, deviation, correlation = density.trend or (0.0,) * 5

    def added(p: Any, gap: Any, s: Any, w: Any, a: Any) -> tuple[Any, Any, Any]:
        w = torch.where(p > 0, w, 0.0)
        below = w.sum(1, keepdim=True)
        square = (w * s).sum(1, keepdim=True) / below
        weight = 0.5 * density.weight * p.sum(1, keepdim=True)
        z = (torch.log(square + _native.DENSITY_FLOOR) - mean) / deviation
        slope = weight * (radii - correlation * z) / deviation / (below * (square + _native.DENSITY_FLOOR))
        c = 2 * slope * w * ((1 - a * s) + a * square)
        value = -weight * z * (radii - 0.5 * correlation * z)
        known = ~radii.isnan() & (below > 0)
        force = torch.where(known, (c[:, :, None] * gap).sum(1), 0.0)
        return (
            torch.where(known, value, 0.0),
            force,
            torch.where(known, c.abs().sum(1, keepdim=True), 0.0),
        )

    return added
