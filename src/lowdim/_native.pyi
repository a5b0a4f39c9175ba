"""Types of the native kernels (cpp/bind)."""

from collections.abc import Callable, Sequence
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

def chebyshev_symmetric(
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: Floats,
    V: Floats,
    low: float,
    high: float,
    degree: int,
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> None:
    """The same of the symmetric matrix A."""

def csr_product(
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: Floats,
    V: Floats,
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> Any:
    """Sparse rows (starts, columns, values) times the block V (cols, width)."""

def lu_solve(
    l_starts: NDArray[np.int32],
    l_rows: NDArray[np.int32],
    l_values: NDArray[np.float64],
    u_starts: NDArray[np.int32],
    u_rows: NDArray[np.int32],
    u_values: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    B: NDArray[np.float64],
    *,
    transposed: bool = False,
    n_threads: int = 1,
) -> NDArray[np.float64]:
    """Solve A X = B, or with its transpose, by the columns of L and U, whose rows and columns are permuted."""

def geodesics(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    lengths: NDArray[np.float32],
    source_starts: NDArray[np.int64],
    source_nodes: NDArray[np.int32],
    source_lengths: NDArray[np.float32],
    out: NDArray[np.float32],
    *,
    squared: bool = False,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> None:
    """Fill out (sources, nodes) with the lengths of the shortest paths from sources to nodes, or their squares."""

def all_geodesics(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    lengths: NDArray[np.float32],
    out: NDArray[np.float32],
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.int32]:
    """Fill panels with the squared lengths of the shortest paths between all nodes; return the order of the nodes."""

def multiply_packed(
    gemm: int, A: NDArray[np.float32], V: NDArray[np.float32], *, n_threads: int = 1
) -> NDArray[np.float32]:
    """A V for a symmetric matrix A in panels (rows, 64) and V (n, width)."""

def packed_distance_sums(
    D2: NDArray[np.float32],
    Y: NDArray[np.float32],
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float64]:
    """Sums as of distance_sums over all pairs once, from their squared distances in panels (rows, 64)."""

def distance_sums(
    D: NDArray[np.float32],
    places: NDArray[np.int32],
    Y: NDArray[np.float32],
    *,
    squared: bool = False,
    beyond: bool = False,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float64]:
    """Sums over each row of D (or what lies beyond its place) of distances, and those in the first rows of Y (k, n)."""

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

def scatter_integers(
    X: NDArray[np.float32] | NDArray[np.float64],
    divisor: float,
    *,
    labels: NDArray[np.int32] | None = None,
    n_classes: int = 1,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The same, exact, of the whole numbers from 0 to 255 whose quotients by divisor X holds; None for others."""

def gaussian(G: Floats, a: Floats, b: Floats, gamma: float, *, n_threads: int = 1) -> None:
    """Turn inner products G into exp(-gamma max(0, a_i + b_j - 2 G_ij)), in place."""

def manhattan(X: Floats, Y: Floats, D: Floats, *, n_threads: int = 1) -> None:
    """Fill D (m, n) with the city-block distances of the rows of X and Y."""

def multiply(
    gemm: int,
    A: NDArray[Any],
    B: NDArray[Any],
    out: NDArray[Any],
    *,
    high: int,
    wide: int,
    parts: int = 1,
    less: bool = False,
    n_threads: int = 1,
) -> None:
    """Fill out with A B, or where `less` out - A B, by the BLAS function at the address `gemm`, by pieces."""

def multiply_few(A: NDArray[Any], B: NDArray[Any], out: NDArray[Any], *, n_threads: int = 1) -> None:
    """Fill out with A B for B of few columns."""

GROUPS_PLAIN: float
GROUPS_LEAST: int
GROUPS_AXES: int
GROUPS_EACH: int

def groups(n: int) -> int:
    """Number of groups of n rows."""

def stages(variances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers of coordinates after which a partial distance is checked."""

def centres(gemm: int, sample: NDArray[np.float32], count: int, *, n_threads: int = 1) -> NDArray[np.float32]:
    """Centres (count, d) of some steps of k-means, by BLAS at the address `gemm`; the first rows are its start."""

def group(
    gemm: int, Z: NDArray[np.float32], centres: NDArray[np.float32], *, n_threads: int = 1
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Order of the rows by groups, the nearest to the centre first, and where each group starts."""

def phases(
    sizes: NDArray[np.int64], *, failing: int = -1, n_threads: int = 1, tick: Callable[[int], Any] | None = None
) -> NDArray[np.int64]:
    """Run phases of so many pieces, as kernels do: pieces that had ended when each began. For tests."""

def touch(out: Floats, *, n_threads: int = 1) -> None:
    """Write to every page of an array that holds nothing yet, each by one thread."""

def column_sums(
    X: Floats, shift: NDArray[np.float64], weights: NDArray[np.float64], *, n_threads: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted sums, and sums of squares, of each column of X less shift."""

def centre_columns(X: Floats, out: Floats, *, n_threads: int = 1) -> None:
    """Fill out with X less the mean of each column."""

def observed(
    X: Floats, shift: Floats, rate: Floats, zeros: bool, Z: Floats, M: Floats, *, n_threads: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fill Z with the values of X, shifted and scaled, 0 in gaps, and M with a mask; counts and Σ Z² of rows."""

def posteriors(
    A: Floats, B: Floats, noise: float, weights: NDArray[np.float64], *, n_threads: int = 1
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """Means, packed second moments, log det and fits of small Gaussian posteriors, one for each row."""

def information_with_labels(
    X: NDArray[np.float64],
    labels: NDArray[np.int32],
    n_classes: int,
    k: int,
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float64]:
    """Mutual information of each row of X with each row of labels."""

def information_with_numbers(
    X: NDArray[np.float64],
    targets: NDArray[np.float64],
    k: int,
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float64]:
    """Mutual information of each row of X with each row of targets, which are orders of the first."""

def mirror(K: Floats, start: int, stop: int, *, n_threads: int = 1) -> None:
    """Copy rows start to stop of K, up to the diagonal, to the columns above it."""

def multiplies_bytes() -> bool:
    """Whether the kernels multiply bytes faster than floats."""

def as_integers(X: Floats, divisor: float, out: NDArray[np.uint8], *, n_threads: int = 1) -> bool:
    """Fill out with the whole numbers from 0 to 255 whose quotients by divisor X holds; False for others."""

def integer_gaussian(
    A: NDArray[np.uint8], B: NDArray[np.uint8], K: Floats, gamma: float, *, n_threads: int = 1
) -> None:
    """Fill K (m, n) with exp(-gamma ‖a_i - b_j‖²) for rows of bytes; only where multiplies_bytes()."""

def nearest(
    points: tuple[Any, ...],
    centres: NDArray[np.float32],
    stages: NDArray[np.int64],
    *,
    k: int,
    queries: tuple[Any, ...] | None = None,
    itself: bool = True,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Indices and distances (m, k) of the nearest points, for rows given as (values, exact, order, starts)."""

def within(
    points: tuple[Any, ...],
    centres: NDArray[np.float32],
    stages: NDArray[np.int64],
    *,
    radius: float,
    scale: float,
    most: int,
    queries: tuple[Any, ...] | None = None,
    itself: bool = True,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]] | None:
    """Counts (m), indices and distances of the points within a radius; None where they are more than most in all."""

def smallest(
    D: Floats, k: int, *, skip: NDArray[np.int32] | None = None, n_threads: int = 1
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Columns and values (rows, k) of the smallest entries of each row, without column skip[row]."""

def move_distances(
    base: NDArray[Any],
    queries: NDArray[Any],
    points: NDArray[Any],
    *,
    joining: bool = True,
    n_threads: int = 1,
) -> None:
    """Add a feature to squared distances (q, n), or remove it, in place."""

def near_graph(
    points: tuple[Any, ...],
    queries: tuple[Any, ...] | None,
    *,
    k: int,
    trees: int,
    leaf: int,
    rounds: int,
    keep: int,
    by_trees: float,
    target: float,
    seed: int,
    n_threads: int,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]:
    """Indices (m, k) and distances of neighbours found by a forest and rounds of neighbours of neighbours.

    Some of the rows follow, and how far the true last of their neighbours is: NaN where that is not known. Rows are
    (values, means or None, norms or None).
    """

def rank_candidates(
    points: tuple[Any, ...], queries: tuple[Any, ...], candidates: NDArray[np.int32], *, k: int, n_threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Indices (m, k) and distances of the nearest of some candidates (m, c) of each query."""

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

def euclidean(Q: Floats, X: Floats, D: NDArray[np.float64], *, root: bool = True, n_threads: int = 1) -> None:
    """Fill D (m, n) with the distances of the rows of Q and X, or their squares, summed in float64."""

def class_distances(
    Q: Floats,
    X: Floats,
    starts: NDArray[np.int64],
    out: NDArray[np.float64],
    *,
    root: bool = True,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> None:
    """Fill out (m, C) with sums of those distances over the rows starts[c] … starts[c + 1] − 1 of X."""

def perplexity(
    distances: Floats, perplexities: list[float], *, n_threads: int = 1, tick: Callable[[int], Any] | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Probabilities (n, k) of neighbours at rising distances (n, k), and the perplexity (n,) of each row."""

def bandwidth(
    distances: Floats, sigma: float, *, n_threads: int = 1, tick: Callable[[int], Any] | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The same with one width for all rows."""

def symmetrize(
    indices: NDArray[np.int32],
    p: NDArray[np.float32],
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Symmetric rows (starts, columns, values) of (p_j|i + p_i|j) / 2n."""

def memberships(
    distances: Floats,
    *,
    local: float = 1.0,
    target: float,
    typical: float = 0.0,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Memberships (n, k) of neighbours at rising distances (n, k), and the rho and sigma (n,) of each row."""

def fuzzy_union(
    indices: NDArray[np.int32],
    v: NDArray[np.float32],
    *,
    mix: float = 1.0,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Symmetric rows of mix (a + b - ab) + (1 - mix) ab, a and b the memberships of both directions."""

def lower_cross_entropy(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    Y: NDArray[np.float32],
    order: NDArray[np.int32],
    shifts: NDArray[np.int32],
    *,
    a: float,
    b: float,
    negatives: float,
    rate: float,
    every: int,
    report: Callable[[int, float], bool],
    anchors: NDArray[np.float32] | None = None,
    weights: NDArray[np.float32] | None = None,
    scaled: bool = False,
    radii: NDArray[np.float32] | None = None,
    density: Sequence[float] = ...,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> int:
    """Move the map Y down the gradient of UMAP's loss, an epoch for each row of shifts; returns the epochs done."""

def fitted_curve(min_dist: float) -> tuple[float, float]:
    """The a and b of 1/(1 + a d^2b) nearest to 1 up to min_dist and exp(min_dist − d) beyond."""

def cross_entropy(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    Y: NDArray[np.float32],
    order: NDArray[np.int32],
    shifts: NDArray[np.int32],
    *,
    a: float,
    b: float,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Attraction (n,) of each point, and the repulsion of each shift in the one row of shifts."""

def cross_entropy_gradient(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    Y: NDArray[np.float32],
    order: NDArray[np.int32],
    shifts: NDArray[np.int32],
    *,
    a: float,
    b: float,
    negatives: float,
    longest: float,
    n_threads: int = 1,
) -> NDArray[np.float32]:
    """Gradient (n, k) by the pairs of the one row of shifts, forces of pairs cut at longest."""

def place_new_cross_entropy(
    neighbors: NDArray[np.int32],
    v: NDArray[np.float32],
    Y: NDArray[np.float32],
    sample: NDArray[np.int32],
    *,
    a: float,
    b: float,
    negatives: float,
    radii: NDArray[np.float32] | None = None,
    density: Sequence[float] = ...,
    iterations: int = 100,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float32]:
    """Places (m, k) of new points by their neighbours in the map Y (n, k), with repulsion by a sample."""

def draw_local(
    near: NDArray[np.int32],
    before: NDArray[np.int32],
    Y: NDArray[np.float32],
    *,
    local: float,
    seed: int,
    round: int,
    n_threads: int = 1,
) -> NDArray[np.int32]:
    """Further partners (n, each) drawn again within a distance in the map Y."""

LOCAL_AGAIN: int  # iterations between two draws of further partners
LOCAL_TRIES: int  # rows tried for a partner

def lower_pairs(
    near: NDArray[np.int32],
    mid: NDArray[np.int32],
    further: NDArray[np.int32],
    order: NDArray[np.int32],
    shifts: NDArray[np.int32],
    excluded: NDArray[np.int32],
    Y: NDArray[np.float32],
    *,
    iterations: int,
    phased: bool = True,
    rate: float = 1.0,
    every: int,
    report: Callable[[int, float], bool],
    anchors: NDArray[np.float32] | None = None,
    weights: NDArray[np.float32] | None = None,
    scaled: bool = False,
    local: float = 0.0,
    further_each: int = 0,
    seed: int = 0,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> int:
    """Move the map Y down the gradient of PaCMAP's loss, in place; returns the iterations done."""

def pair_rate(done: int, iterations: int, phased: bool, rate: float) -> float:
    """Rate of Adam in an iteration, the correction of its moments included."""

def pair_weights(done: int, iterations: int, phased: bool) -> tuple[float, float, float]:
    """Weights of near, middle and further pairs in an iteration."""

def pair_loss(
    near: NDArray[np.int32],
    mid: NDArray[np.int32],
    further: NDArray[np.int32],
    order: NDArray[np.int32],
    shifts: NDArray[np.int32],
    excluded: NDArray[np.int32],
    Y: NDArray[np.float32],
    weights: tuple[float, float, float],
    *,
    local: float = 0.0,
    n_threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Loss of each point (n,), half of that of its pairs, and the gradient (n, k), by the weights of the kinds."""

def place_new_pairs(
    neighbors: NDArray[np.int32],
    p: NDArray[np.float32],
    Y: NDArray[np.float32],
    sample: NDArray[np.int32],
    *,
    further: float,
    iterations: int = 100,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float32]:
    """Places (m, k) of new points by their neighbours in the map Y (n, k), with repulsion by a sample."""

def attraction(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    Y: Floats,
    *,
    falloff: str = "student",
    dof: float = 1.0,
    packed: bool = False,
    n_threads: int = 1,
) -> tuple[Floats, NDArray[np.float64]]:
    """Forces (n, k) of sparse affinities on a map, and Σ_j p log(p / f) of each point (n,).

    With ``packed`` the forces are those of the descent of a line or a plane.
    """

def repulsion_at(
    Q: Floats,
    Y: Floats,
    *,
    falloff: str = "student",
    dof: float = 1.0,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[Floats, NDArray[np.float64]]:
    """Exact forces (m, k) at the points Q by the points Y, and the field (m,) there."""

def repulsion(
    Y: NDArray[np.float32],
    *,
    how: str,
    falloff: str = "student",
    dof: float = 1.0,
    angle: float = 0.5,
    spacing: float = 0.4,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
    """Forces (n, k) of the points of a map on each other, the field (n,) at them, and the normaliser."""

def descend(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    Y: NDArray[np.float32],
    *,
    how: str,
    falloff: str,
    dof: float,
    angle: float,
    spacing: float,
    fine_spacing: float = 0.4,
    iterations: int,
    exaggerated: int,
    exaggeration: float,
    late: float = 1.0,
    rate: float,
    every: int,
    progress: float,
    report: Callable[[int, float], bool],
    anchors: NDArray[np.float32] | None = None,
    weights: NDArray[np.float32] | None = None,
    scaled: bool = False,
    radii: NDArray[np.float32] | None = None,
    density: Sequence[float] = ...,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> int:
    """Move the map Y down the gradient, in place; returns the iterations done."""

CHECK_EVERY: int  # iterations between two looks at the progress of a descent
CHECK_EARLY: int  # and at that of its exaggeration
GATHERED: float  # gain of so many, over the exaggeration, below which it may end
SETTLED: float  # and below which it ends
LONGEST_WAIT: int  # or so many iterations later
GROWN_MAP: float  # if the map has this extent
SMALLEST_MAP: float  # extent to which exaggeration may shrink one
GAIN_UP: float  # what a factor of the rate adds where a gradient keeps its direction
GAIN_DOWN: float  # what it is multiplied by elsewhere
LEAST_GAIN: float

PLACING_STILL: float  # a step of this length ends the search for the position of a new point
PLACING_STARTS: int  # neighbours of largest weight at which it also starts
PLACING_APART: float  # from the position found, for a start to lead elsewhere

PAIR_NEAR: float  # shift of near pairs in PaCMAP's loss
PAIR_MID: float  # and of pairs of middle distance
ADAM_DECAY: float
ADAM_DECAY_SQUARES: float
ADAM_LEAST: float  # added to the root of the second moment

def local_radii(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    neighbors: NDArray[np.int32],
    distances: Floats,
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float64]:
    """Squared local radii (m,) of the last m rows of a graph, whose lists of neighbours (m, k) have these distances."""

def map_radii(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    Y: NDArray[np.float32],
    *,
    a: float = 0.0,
    b: float = 0.0,
    dof: float = 1.0,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float32]:
    """Logarithms (n,) of the squared local radii of a map."""

def density_gradient(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    Y: NDArray[np.float32],
    *,
    a: float = 0.0,
    b: float = 0.0,
    dof: float = 1.0,
    radii: NDArray[np.float32],
    density: Sequence[float],
    n_threads: int = 1,
) -> NDArray[np.float32]:
    """Gradient (n, k) of the weighted correlation of radii in a map."""

DENSITY_FLOOR: float  # added to squared radii in a map
DENSITY_DAMPING: float  # part of the stiffness of density by which steps are shortened
EPOCH_SOFT: float  # ε of UMAP's loss
EPOCH_CROWD_SOFT: float  # the same between a new point and those that repel it
EPOCH_CUT: float  # longest force between two points in an epoch
EPOCH_MOMENTUM: float  # of the first epoch
EPOCH_DAMPING: float  # of steps, times their stiffness

def pace(*, falloff: str, dof: float, exaggerated: bool, since: int) -> tuple[float, float, float]:
    """Momentum, the step as a share of n / exaggeration, and the longest step, so many iterations after it."""

def place(
    neighbors: NDArray[np.int32],
    p: NDArray[np.float32],
    Y: NDArray[np.float32],
    *,
    falloff: str = "student",
    dof: float = 1.0,
    spacing: float = 0.4,
    radii: NDArray[np.float32] | None = None,
    density: Sequence[float] = ...,
    iterations: int = 100,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.float32]:
    """Places (m, k) of new points by their neighbours in the map Y (n, k)."""

def squared_distances(
    X: Floats, others: NDArray[np.int32], *, rows: NDArray[np.int64] | None = None, n_threads: int = 1
) -> NDArray[np.float64]:
    """Squared distances (m, k) of rows of X (all without rows) from their own others (m, k), summed in float64."""

def ranks(
    X: Floats,
    targets: NDArray[np.int32],
    *,
    rows: NDArray[np.int64] | None = None,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> NDArray[np.int32]:
    """How many other rows come before each target (m, k) by (distance, index); tick is told thousandths."""

def ranks_in(D: NDArray[np.float64], targets: NDArray[np.int32], *, n_threads: int = 1) -> NDArray[np.int32]:
    """The same from distances D (m, n), infinite from each row to itself."""

def common_neighbors(
    A: NDArray[np.float64],
    B: NDArray[np.float64],
    weights: NDArray[np.float64],
    total: NDArray[np.int64],
    squares: NDArray[np.int64],
    *,
    n_threads: int = 1,
) -> NDArray[np.float64]:
    """Add sums over rows of the neighbours that A and B share, by size of neighbourhood; weighted sums of each row."""

def isa() -> str:
    """The instruction set the kernels run with: default, avx2, avx512 or avx512vnni."""

def set_isa(name: str) -> str:
    """Cap the instruction set from now on; returns the one the kernels run with."""

def smoothest(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    k: int,
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Component (n,) of each row of a symmetric graph, its smoothest coordinates (n, k) in it, eigenvalues (C, k)."""

def spectra(
    A: NDArray[np.float64], *, n_threads: int = 1, tick: Callable[[int], Any] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Falling eigenvalues (count, k) and eigenvectors, row by row (count, k, k), of symmetric A, overwritten."""

def guttman(
    D: NDArray[np.float32],
    W: NDArray[np.float32] | None,
    points: NDArray[np.float32],
    map: NDArray[np.float32],
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Guttman's transform (rows, k) of points to a map (k, n), and the sums (rows, 2) of w (D − d)² and w d²."""

def nonnegative_sweeps(
    G: Floats,
    B: Floats,
    W: Floats,
    most: int,
    tol: float,
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> None:
    """Lower w G wᵀ / 2 − b·w with w ≥ 0 for each row of W by coordinate descent, in place."""

def nonnegative_ratios(
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: Floats,
    W: Floats,
    H: Floats,
    least: float,
    *,
    loss: bool = True,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[Any, NDArray[np.float64]]:
    """Σ x / (w·h) h over the stored entries of each sparse row, and Σ x log(x / (w·h))."""

def contrast_sums(
    Z: Floats,
    W: Floats,
    contrast: int,
    alpha: float,
    *,
    n_threads: int = 1,
    tick: Callable[[int], Any] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Σ g(W z) zᵀ (p, k) and Σ g'(W z) (p,) over the rows z, for g = tanh(alpha s), s exp(−s²/2) or s³."""
