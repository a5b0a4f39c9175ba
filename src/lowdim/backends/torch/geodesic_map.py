"""Maps that preserve distances along the data, on a device."""

from typing import Any

import numpy as np
import torch
import triton
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.backends.torch.geodesics import geodesics
from lowdim.backends.torch.kernels.distance_sums import distance_sums
from lowdim.backends.torch.scaling import place_by_distances
from lowdim.compose import geodesic_map as numpy_map
from lowdim.compose.geodesic_map import ClassDistances
from lowdim.compose.scaling import Scaling
from lowdim.relate.geodesics import Beside
from lowdim.work.backend_arrays import all_to_numpy, is_native

_BLOCK = 2**26  # distances between new rows and old ones at a time


@TORCH.implements(numpy_map.place_by_geodesics)
def place_by_geodesics(near: Beside, graph: Any, drawn: Any, scaling: Scaling) -> Any:
    """Positions (m, k) of points outside the graph, by their distances along it to all rows, or to the landmarks."""
    m = len(near.starts) - 1
    step, found = max(64, _BLOCK // graph.n), []
    for start in range(0, m, step):
        starts = near.starts[start : start + step + 1]
        cut = slice(int(starts[0]), int(starts[-1]))
        D = geodesics(graph, Beside(starts - starts[0], near.rows[cut], near.lengths[cut]))
        D = D if drawn is None else D[:, torch.as_tensor(drawn, device=D.device)]
        found.append(place_by_distances(D.double().square_(), scaling))
    return torch.cat(found)


@TORCH.implements(numpy_map.mix_classes)
def mix_classes(D: Any, drawn: Any, classes: ClassDistances) -> NDArray:
    """Turn the distances ``D`` (m, n) into squares of ``(1 − α) D + α C``, in place; return ``C`` between classes."""
    codes = torch.as_tensor(classes.codes, device=D.device).long()
    own = codes if drawn is None else codes[torch.as_tensor(drawn, device=D.device)]
    C = classes.between
    if C is None:
        member = torch.nn.functional.one_hot(codes, classes.n_classes)
        theirs = torch.nn.functional.one_hot(own, classes.n_classes)
        sums = theirs.double().T @ (D @ member.to(D.dtype)).double()
        C = numpy_map.mean_between(sums.cpu().numpy(), theirs.sum(0).cpu().numpy(), member.sum(0).cpu().numpy())
    columns = torch.as_tensor(classes.share * C, dtype=D.dtype, device=D.device)[:, codes]
    D *= 1 - classes.share
    for code in range(classes.n_classes):
        rows = (own == code).nonzero().view(-1)
        D[rows] += columns[code]
    D.square_()
    return C


@TORCH.implements(numpy_map.residual_by_dimension)
def residual_by_dimension(D2: Any, drawn: Any, Y: Any) -> NDArray:
    """Share (k,) in NumPy of the variance of distances that the first 1 … k coordinates of ``Y`` leave unexplained."""
    if is_native(D2):
        return numpy_map.residual_by_dimension(*all_to_numpy((D2.contiguous(), drawn, Y)))
    (m, n), k = D2.shape, Y.shape[1]
    rows = torch.arange(n, device=D2.device) if drawn is None else torch.as_tensor(drawn, device=D2.device)
    parts = max(1, min(64, n // 256))
    columns, grid = triton.cdiv(n, parts), (triton.cdiv(m, 128), parts, k)
    sums = torch.empty(k, parts, grid[0], 5, dtype=torch.float64, device=D2.device)
    distance_sums[grid](
        D2, rows, Y.float().contiguous(), sums, m, n, k, columns, D2.stride(0), D2.stride(1), BM=128, BN=16
    )
    means = sums.sum((1, 2)).cpu().numpy() / (m * n)
    return numpy_map.unexplained(*np.moveaxis(means, 1, 0))
