"""Islands of a map, at several scales, and names for them: from texts, columns or labels.

An island is a mode of the density of a map: the valley around it falls below half of its peak, or below three quarters
at the finest scale. Names say what sets its
rows apart from all others; they describe the map, and test nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.data.categories import Categories, read_labels
from lowdim.quality.measure import measuring

Floats = NDArray[np.float64]
_CELLS = {1: 1024, 2: 192, 3: 40}  # of the grid along the longest side, by dimension
_WIDTHS = (40, 80, 160)  # the width of the map over the bandwidth, by level; at most _FINEST n^(1/6)
_FINEST = 13.0
_VALLEYS = (0.5, 0.65, 0.75)  # density of a valley over that of the lower peak, below which there are two islands
_LEAST, _SHARE = 5, 0.002  # rows of an island
_WHOLE = 0.6  # share of all rows from which an island is the map itself
_MODE = 0.2  # share of the rows of a label in one place, from which the label is written there
_SAME = 0.8  # share of a coarser island that a finer one must not hold, to be one of its own
_TERMS, _COLUMNS = 3, 2
_FEW_TEXTS = 20  # texts, up to which a term in most of them still tells something
_CLEAR = 0.3  # difference of means, in standard deviations, from which a column is worth naming
_MOST_LABELS = 200
_WORDS = 2.0  # words in a row from which labels are texts
_RULES = {"levels": options.integer(1, 3), "most": options.integer(1)}


@dataclass(frozen=True)
class Island:
    """A dense part of a map, and what sets its rows apart; returned by :func:`islands`.

    Attributes
    ----------
    name : str
        Terms, columns or a label.
    position : tuple of float
        The median of its rows, or the densest place if the median is outside.
    level : int
        0 for islands of the whole map; 1 and 2 for parts of them, seen when the map is magnified.
    rows : array of int
        Its rows.
    """

    name: str
    position: tuple[float, ...]
    level: int
    rows: NDArray[np.intp]


def islands(
    Y: Any, about: Any = None, *, names: Sequence[str] | None = None, levels: int = 2, most: int = 60
) -> list[Island]:
    """Find the dense parts of a map, and name them.

    Parameters
    ----------
    Y : array (n_samples, 1, 2 or 3)
        The map.
    about : texts, labels, or a table of the same rows
        What names are made of. Texts give the terms that are frequent in an island and rare elsewhere (class-based
        TF-IDF), names of single rows those at its middle, and columns those whose mean differs most from that of
        other rows; labels stand where their rows are densest. A table may be an array, a DataFrame with columns of
        text, or a sparse matrix.
    names : sequence of str, optional
        Names of the columns of an array.
    levels : int, default 2
        Number of scales, 1 to 3.
    most : int, default 60
        Largest number of islands of a level.

    Returns
    -------
    list of Island
        Large scales first, and large islands first within them.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> found = lowdim.quality.islands(lowdim.UMAP(random_state=0).fit_transform(X), y, levels=1)
    >>> sorted({island.name for island in found}) == list("0123456789")
    True
    """
    with measuring("islands", _RULES, levels=levels, most=most, n_jobs=None) as who:
        points = _points(who, Y)
        labels = _labels(who, about, len(points))
        if labels is not None:
            return _of_labels(points, *labels)[:most]
        namer = namer_of(who, about, points, names)
        found: list[Island] = []
        coarser: list[NDArray[np.intp]] = []
        width = float(np.ptp(points, axis=0).max())
        least, largest = max(_LEAST, int(_SHARE * len(points))), _WHOLE * len(points)
        for level in range(levels):
            across = _across(len(points), level)
            if level and across == _across(len(points), level - 1):
                break
            codes, peaks = modes(points, across, valley=_VALLEYS[level])
            parts = [(np.flatnonzero(codes == code), peaks[code]) for code in range(len(peaks))]
            parts = sorted((one for one in parts if least <= len(one[0]) <= largest), key=lambda one: -len(one[0]))
            parts = [one for one in parts[:most] if not any(_alike(one[0], other) for other in coarser)]
            called = namer([rows for rows, _ in parts], [peak for _, peak in parts])
            here = [
                Island(name, _middle(points[rows], peak, width / across), level, rows)
                for (rows, peak), name in zip(parts, called, strict=True)
                if name
            ]
            found += [one for one in here if not any(_repeats(one, other) for other in found)]
            coarser += [rows for rows, _ in parts]
        return found


def _labels(who: str, about: Any, n: int) -> tuple[NDArray[np.intp], list[str]] | None:
    """Codes (n,) of labels, −1 for none, and their names; None if ``about`` is no labels."""
    if about is None or sp.issparse(about) or np.ndim(about) != 1:
        return None
    read = read_labels(about, n, caller=who, most=_MOST_LABELS)
    if not isinstance(read, Categories) or read.hidden or len(read.names) > n / 2:
        return None
    return read.codes, list(read.names)


def _of_labels(points: Floats, codes: NDArray[np.intp], names: list[str]) -> list[Island]:
    """Each label where its rows are densest, and, on level 1, at other places of a fair share of them."""
    found, across = [], _across(len(points), 0)
    width = float(np.ptp(points, axis=0).max()) / across
    for code, name in enumerate(names):
        rows = np.flatnonzero(codes == code)
        if not len(rows):
            continue
        parts, peaks = modes(points[rows], across, points)
        sizes = np.bincount(parts, minlength=len(peaks))
        for rank, part in enumerate(np.argsort(-sizes, kind="stable")):
            if rank == 0 or sizes[part] >= max(_LEAST, _MODE * len(rows)):
                some = rows[parts == part]
                found.append(Island(name, _middle(points[some], peaks[part], width), min(rank, 1), some))
    return sorted(found, key=lambda one: (one.level, -len(one.rows)))


def _alike(rows: NDArray[np.intp], others: NDArray[np.intp]) -> bool:
    """Whether a finer island is a coarser one, for the most part."""
    return len(rows) > _SAME * len(others) and len(np.intersect1d(rows, others, assume_unique=True)) > _SAME * len(rows)


def _repeats(one: Island, other: Island) -> bool:
    """Whether a finer island only repeats the name of the one that it is part of."""
    return one.name == other.name and len(np.intersect1d(one.rows, other.rows, assume_unique=True)) > len(one.rows) / 2


def _points(who: str, Y: Any) -> Floats:
    points = np.asarray(Y.to_numpy() if hasattr(Y, "to_numpy") else Y, np.float64)
    if points.ndim != 2 or not 1 <= points.shape[1] <= 3 or not len(points) or not np.isfinite(points).all():
        raise ValueError(
            f"{who}: Y must be finite positions (n_samples, 1 to 3); got shape {points.shape}. Pass the map."
        )
    return points


# Modes of the density


def _across(n: int, level: int) -> float:
    """Width of the map over the bandwidth of a level: few rows show no fine structure."""
    return min(_WIDTHS[level], _FINEST * n ** (1 / 6))


def _middle(points: Floats, peak: Floats, width: float) -> tuple[float, ...]:
    """The median of an island, or its peak where the median is outside: of rings and crescents."""
    middle = np.median(points, axis=0)
    near = np.sqrt(((points - middle) ** 2).sum(axis=1)).min()
    return tuple(float(v) for v in (middle if near < width else peak))


def modes(
    points: Floats, across: float, within: Floats | None = None, valley: float = _VALLEYS[0]
) -> tuple[NDArray[np.intp], Floats]:
    """Number (n,) of the mode of the density that each point belongs to, and the peaks (modes, k).

    The density is that of a grid, smoothed by a Gaussian of the width of the map over ``across``. Cells join the mode
    of their densest neighbour, from the densest cell to the emptiest; where two modes meet, they are one if the density
    there is at least ``valley`` times that of the lower peak. The points may be some of those of a map ``within``.

    >>> codes, peaks = modes(np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0]]), 32)
    >>> codes.tolist(), len(peaks)
    ([0, 0, 1], 2)
    """
    from scipy.ndimage import gaussian_filter

    k = points.shape[1]
    low, span = np.quantile(points if within is None else within, [0.001, 0.999], axis=0)
    width = float((span - low).max()) or 1.0
    step = width / _CELLS[k]
    cells = np.clip(np.floor((points - low) / step), -1, _CELLS[k]).astype(np.intp) + 2  # a margin holds outliers
    shape = tuple(int(v) + 3 for v in cells.max(axis=0))
    flat = np.ravel_multi_index(tuple(cells.T), shape)
    counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
    density = gaussian_filter(counts, _CELLS[k] / across, mode="constant", truncate=3).ravel()
    label = _joined(density, shape, valley)
    codes, peaks = label[flat], []
    kept = np.unique(codes)
    for code in kept:
        peaks.append(low + (np.array(np.unravel_index(code, shape)) - 1.5) * step)
    return np.searchsorted(kept, codes), np.array(peaks)


def _joined(density: Floats, shape: tuple[int, ...], valley: float) -> NDArray[np.intp]:
    """Cell of the peak that each cell belongs to."""
    floor = 1e-6 * float(density.max())
    order = np.flatnonzero(density > floor)
    order = order[np.argsort(-density[order], kind="stable")]
    strides = np.cumprod((1, *shape[:0:-1]))[::-1]
    around = [int(np.dot(step, strides)) for step in product((-1, 0, 1), repeat=len(shape)) if any(step)]
    parent = np.full(len(density), -1, np.intp).tolist()
    heights = density.tolist()

    def root(cell: int) -> int:
        while parent[cell] != cell:
            parent[cell] = parent[parent[cell]]
            cell = parent[cell]
        return cell

    for cell in order.tolist():
        near = {root(cell + step) for step in around if 0 <= cell + step < len(parent) and parent[cell + step] >= 0}
        if not near:
            parent[cell] = cell
            continue
        highest = max(near, key=lambda one: (heights[one], -one))
        parent[cell] = highest
        for other in near:
            if other != highest and heights[cell] >= valley * heights[other]:
                parent[other] = highest
    return np.array([root(cell) if parent[cell] >= 0 else cell for cell in range(len(parent))], np.intp)


# Names


Namer = Callable[[list[NDArray[np.intp]], list[Floats]], list[str]]  # of the rows and the peaks of groups


def namer_of(who: str, about: Any, points: Floats, names: Sequence[str] | None = None) -> Namer:
    """What names groups of rows that have no labels."""
    if about is None:
        raise ValueError(
            f"{who}: names need texts, labels or a table of the rows; got None. Pass about=texts, y, or the data."
        )
    n = len(points)
    if not sp.issparse(about) and not hasattr(about, "columns"):
        values = np.asarray(about.to_numpy() if hasattr(about, "to_numpy") else about)
        if values.ndim == 1:
            _demand_length(who, len(values), n)
            return _namer_of_values(values, points)
        about = values
    _demand_length(who, about.shape[0], n)
    return _namer_of_table(who, about, names)


def _demand_length(who: str, length: int, n: int) -> None:
    if length != n:
        raise ValueError(f"{who}: about must be of the {n:,} rows of the map; got {length:,}. Pass one of each.")


def _namer_of_values(values: NDArray, points: Floats) -> Namer:
    """By terms of texts of several words, by the names of the rows at the peak, or by a number."""
    if values.dtype.kind not in "OUS":
        return lambda groups, _: _by_columns(values[:, None].astype(np.float64), ["value"], groups)
    text = [str(value) for value in values]
    if np.mean([len(one.split()) for one in text]) >= _WORDS:
        return lambda groups, _: by_terms(text, groups)

    def nearest(groups: list[NDArray[np.intp]], peaks: list[Floats]) -> list[str]:
        squares = [((points[rows] - peak) ** 2).sum(axis=1) for rows, peak in zip(groups, peaks, strict=True)]
        chosen = [rows[np.argsort(far, kind="stable")[:_COLUMNS]] for rows, far in zip(groups, squares, strict=True)]
        return [" · ".join(dict.fromkeys(text[i] for i in rows)) for rows in chosen]

    return nearest


def by_terms(texts: Sequence[str], groups: Sequence[NDArray[np.intp]]) -> list[str]:
    """Terms that are frequent in each group and rare in others: ``tf log(1 + A/f)`` (Grootendorst 2022).

    ``tf`` is the count of a term in the group over the length of its texts, ``f`` that in all texts and ``A`` the mean
    length of a group; terms in more than half of the texts, and single letters, are left out.

    >>> texts = ["red apple pie", "apple juice here", "fast car here", "car engine"]
    >>> by_terms(texts, [np.array([0, 1]), np.array([2, 3])])
    ['apple · juice · pie', 'car · engine · fast']
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(stop_words="english", max_df=0.5 if len(texts) > _FEW_TEXTS else 1.0)
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:  # there are no terms
        return ["" for _ in groups]
    terms = vectorizer.get_feature_names_out()
    sums = np.array([np.asarray(counts[rows].sum(axis=0)).ravel() for rows in groups], np.float64).reshape(
        -1, len(terms)
    )
    whole = np.asarray(counts.sum(axis=0), np.float64).ravel()
    lengths = sums.sum(axis=1, keepdims=True)
    scores = sums / np.maximum(lengths, 1) * np.log1p(lengths.mean() / whole) if len(groups) else sums
    named = []
    for score in scores:
        order = np.argsort(-score, kind="stable")[:_TERMS]
        named.append(" · ".join(str(terms[j]) for j in order if score[j] > 0))
    return named


def _namer_of_table(who: str, about: Any, names: Sequence[str] | None) -> Namer:
    """By the columns whose means differ most: numbers, and shares of the categories of columns of text."""
    if not hasattr(about, "columns"):
        called = [f"x{j}" for j in range(about.shape[1])] if names is None else [str(name) for name in names]
        if len(called) != about.shape[1]:
            raise ValueError(f"{who}: names must hold one name per column ({about.shape[1]}); got {len(called)}.")
        values = about.tocsc() if sp.issparse(about) else np.asarray(about)
        return lambda groups, _: _by_columns(values, called, groups)
    numbers: list[NDArray] = []
    called = []
    for name in about.columns:
        column = about[name]
        raw = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
        if raw.dtype.kind in "biuf":
            numbers.append(raw.astype(np.float64))
            called.append(str(name))
        elif raw.dtype.kind in "OUS":
            kinds, codes = np.unique(raw.astype(str), return_inverse=True)
            if len(kinds) <= 50:
                numbers += [(codes == j).astype(np.float64) for j in range(len(kinds))]
                called += [f"{name} {kind}" for kind in kinds]
    if not numbers:
        raise ValueError(f"{who}: about must have a column of numbers or of categories; it has none. Pass texts, or y.")
    values = np.column_stack(numbers)
    return lambda groups, _: _by_columns(np.where(np.isfinite(values), values, np.nan), called, groups)


def _by_columns(X: Any, names: Sequence[str], groups: Sequence[NDArray[np.intp]]) -> list[str]:
    """Columns with the largest difference of means, in standard deviations; "high" is left out of shares and counts."""
    n = X.shape[0]
    sparse = sp.issparse(X)
    whole, squares = _sums(X, slice(None)), _sums(X, slice(None), square=True)
    seen = np.full(X.shape[1], float(n)) if sparse else np.isfinite(X).sum(axis=0).astype(np.float64)
    mean = whole / np.maximum(seen, 1)
    deviation = np.sqrt(np.maximum(squares / np.maximum(seen, 1) - mean**2, 0))
    counted = sparse or bool(np.nanmin(X) == 0 and np.nanmax(X) <= 1)
    named = []
    for rows in groups:
        inside = _sums(X, rows)
        here = np.full(X.shape[1], float(len(rows))) if sparse else np.isfinite(X[rows]).sum(axis=0)
        gap = inside / np.maximum(here, 1) - (whole - inside) / np.maximum(seen - here, 1)
        effect = np.divide(gap, deviation, out=np.zeros_like(gap), where=deviation > 0)
        order = np.argsort(-(effect if counted else np.abs(effect)), kind="stable")[: _TERMS if counted else _COLUMNS]
        some = [j for j in order if (effect[j] if counted else abs(effect[j])) > _CLEAR]
        words = ("" if counted else "high " if effect[j] > 0 else "low " for j in some)
        named.append(" · ".join(word + names[j] for word, j in zip(words, some, strict=True)))
    return named


def _sums(X: Any, rows: Any, *, square: bool = False) -> Floats:
    """Sums of columns over some rows, missing values left out."""
    if sp.issparse(X):
        block = X if isinstance(rows, slice) else X.tocsr()[rows]
        return np.asarray((block.multiply(block) if square else block).sum(axis=0), np.float64).ravel()
    block = np.asarray(X[rows], np.float64)
    return np.asarray(np.nansum(block**2 if square else block, axis=0))
