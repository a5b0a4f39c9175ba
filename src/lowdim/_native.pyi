"""Types of the native kernels (cpp/bind)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32] | NDArray[np.float64] | NDArray[np.floating]

def barycentric(
    X: Floats,
    Q: Floats,
    starts: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    reg: float,
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float64]:
    """Weights of the rows of X that rebuild each row of Q from its neighbors."""

def gram_weights(G: NDArray[np.float64], reg: float, *, n_threads: int = 1) -> NDArray[np.float64]:
    """The same weights (rows, k) from Gram matrices (rows, k, k), which are overwritten."""

def chebyshev(
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    t_starts: NDArray[np.int32],
    t_columns: NDArray[np.int32],
    t_values: NDArray[np.float64],
    V: NDArray[np.float64],
    low: float,
    high: float,
    degree: int,
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> None:
    """Apply Chebyshev's polynomial of BᵀB, small from low to high, to V (n, 8) in place."""

def csr_product(
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    V: NDArray[np.float64],
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float64]:
    """Sparse rows (starts, columns, values) times the block V (cols, width)."""

def geodesics(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    lengths: NDArray[np.float32],
    source_starts: NDArray[np.int64],
    source_nodes: NDArray[np.int32],
    source_lengths: NDArray[np.float32],
    out: NDArray[np.float32],
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> None:
    """Fill out (sources, nodes) with the lengths of the shortest paths from sources to nodes."""

def supported(
    starts: NDArray[np.int64], ends: NDArray[np.int32], lengths: NDArray[np.float32], *, n_threads: int = 1
) -> NDArray[np.bool_]:
    """Whether the two ends of each edge have a neighbour in common."""

def distance_sums(
    D: NDArray[np.float32],
    places: NDArray[np.int32],
    Y: NDArray[np.float32],
    *,
    squared: bool = False,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float64]:
    """Sums over each row of D of its distances and of those in the first 1 to k rows of Y (k, n)."""

def scatter(
    X: NDArray[np.uint8] | NDArray[np.float32] | NDArray[np.float64],
    *,
    shift: NDArray[np.float64] | None = None,
    labels: NDArray[np.int32] | None = None,
    n_classes: int = 1,
    weights: NDArray[np.float64] | None = None,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Column sums per class (n_classes, d) and scatter matrix (d, d) of X, in one pass."""

def gaussian(G: Floats, a: Floats, b: Floats, gamma: float, *, n_threads: int = 1) -> None:
    """Turn inner products G into exp(-gamma max(0, a_i + b_j - 2 G_ij)), in place."""

def manhattan(X: Floats, Y: Floats, D: Floats, *, n_threads: int = 1) -> None:
    """Fill D (m, n) with the city-block distances of the rows of X and Y."""

def mirror(K: Floats, start: int, stop: int, *, n_threads: int = 1) -> None:
    """Copy rows start to stop of K, up to the diagonal, to the columns above it."""

def nearest_with(
    base: NDArray[Any],
    queries: NDArray[Any],
    points: NDArray[Any],
    members: NDArray[np.int32],
    offsets: NDArray[np.int32],
    *,
    k: int,
    joining: bool = True,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Indices and squared distances (units, q, k) of the nearest points once a unit of features joins or leaves."""

def isa() -> str:
    """The instruction set the kernels run with: default, avx2, avx512 or avx512vnni."""
