"""Encoding of maps and images in a page: coordinates of 16 bits, one sheet of thumbnails, all in base64."""

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim.show.scatter import strips

PAGE_BYTES = 2_850_000  # maximum size of all data of a page, as text
MAPS_BYTES = 2_350_000  # of these, the coordinates of all maps
_BITS = (16, 12, 10, 9)  # of a coordinate, the most that fit; 9 bits are 512 positions across a map
_SHEET_BYTES = 900_000  # maximum size of the sheet of thumbnails
_PICTURED = (20_000, 8_000, 3_000)  # rows on the sheet where not all fit
_SIDES = (48, 32, 24, 16, 12)  # of one thumbnail on the sheet, in pixels
_QUALITIES = (80, 55, 30)
_FULL = 32_767
_FAR_OUT = 1.3  # times the frame of nearly all rows; rows outside are moved to its edge


def text(values: NDArray[Any]) -> str:
    """Array as base64, little-endian.

    >>> text(np.array([1, 2], dtype=np.int16))
    'AQACAA=='
    """
    kind = values.dtype.newbyteorder("<")
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


def coordinates(Y: NDArray[Any]) -> tuple[NDArray[np.int16], int]:
    """First two columns in 16 bits, centred and of one scale, and how many rows were moved to the edge of the frame.

    A single column becomes a strip as wide as it is dense. If a few outliers would shrink all other rows to a spot, the
    frame holds 99 % of the rows with some margin, and those beyond are drawn at its edge.
    """
    if Y.shape[1] == 1:
        points = strips(Y[:, 0].astype(np.float64), None)
        points = points / np.maximum(np.ptp(points, axis=0), 1e-300) * [1.0, 0.5]
    else:
        points = Y[:, :2].astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    inner, outer = np.quantile(points, [0.005, 0.995], axis=0)
    room = 0.15 * (outer - inner).max()
    if (high - low).max() > _FAR_OUT * (outer - inner + 2 * room).max():
        low, high = np.maximum(low, inner - room), np.minimum(high, outer + room)
    beyond = int(((points < low) | (points > high)).any(axis=1).sum())
    points = np.clip(points, low, high)
    reach = float((high - low).max() / 2) or 1.0
    return np.round((points - (low + high) / 2) * (_FULL / reach)).astype(np.int16), beyond


def bits_for(n_rows: int, n_maps: int) -> int:
    """Bits of a coordinate with which all rows fit, 0 where none do.

    >>> bits_for(1_800, 12), bits_for(70_000, 8), bits_for(10_000_000, 8)
    (16, 12, 0)
    """
    return next((bits for bits in _BITS if n_rows * n_maps * 2 * bits / 8 * 4 / 3 <= MAPS_BYTES), 0)


def most_rows(n_maps: int) -> int:
    """How many rows fit at the fewest bits."""
    return int(MAPS_BYTES / (n_maps * 2 * _BITS[-1] / 8 * 4 / 3))


def packed(points: NDArray[np.int16], bits: int) -> str:
    """Coordinates in base64, each of so many bits, the highest first; 16 bits keep their sign.

    >>> packed(np.array([[-32767, 32767]], dtype=np.int16), 12)
    'AA//'
    """
    if bits == 16:
        return text(points)
    levels = np.round((points.ravel() / _FULL + 1) / 2 * (2**bits - 1)).astype(np.uint16)
    rows = np.unpackbits(levels.astype(">u2").view(np.uint8).reshape(-1, 2), axis=1)[:, 16 - bits :]
    return text(np.packbits(rows))


def bytes_of(values: NDArray[Any], low: float, high: float) -> NDArray[np.uint8]:
    """Values in 8 bits from ``low`` (0) to ``high`` (254); 255 means missing."""
    span = high - low or 1.0
    scaled = np.round(np.clip((values - low) / span, 0.0, 1.0) * 254)
    return np.where(np.isfinite(values), scaled, 255).astype(np.uint8)


def pictures(X: Any, shape: tuple[int, int], order: NDArray[np.intp], room: int) -> dict[str, Any] | None:
    """The sheet of all rows, or of the first in ``order`` that fit into ``room`` bytes; ``rows`` says which."""
    for most in (len(order), *(count for count in _PICTURED if count < len(order))):
        if most > _PICTURED[0]:
            continue
        rows = np.sort(order[:most])
        chosen = X[rows]
        chosen = chosen.toarray() if sparse.issparse(chosen) else np.asarray(chosen)
        if (made := sheet(chosen, shape, min(room, _SHEET_BYTES))) is not None:
            return made | {"rows": None if most == len(order) else text(rows.astype(np.int32))}
    return None


def sheet(X: NDArray[Any], shape: tuple[int, int], room: int = _SHEET_BYTES) -> dict[str, Any] | None:
    """All rows as grey thumbnails on one image, as sharp as its size limit allows; None if the smallest do not fit.

    ``side`` is the longer side of one thumbnail and ``columns`` the number per row of the sheet.
    """
    from PIL import Image

    pictures = bytes_of(X.astype(np.float32), float(X.min()), float(X.max())).reshape(-1, *shape)
    columns = int(np.ceil(np.sqrt(len(pictures))))
    for side in _SIDES:
        if side > max(shape) and side != _SIDES[-1]:
            continue  # no image is enlarged
        side = min(side, max(shape))
        size = tuple(max(1, round(length * side / max(shape))) for length in shape)
        tiles = [np.asarray(Image.fromarray(p).resize(size[::-1], Image.Resampling.BOX)) for p in pictures]
        canvas = np.zeros((-(-len(tiles) // columns) * size[0], columns * size[1]), dtype=np.uint8)
        for place, tile in enumerate(tiles):
            row, column = divmod(place, columns)
            canvas[row * size[0] : (row + 1) * size[0], column * size[1] : (column + 1) * size[1]] = tile
        if max(canvas.shape) > 16_000:  # beyond what the format holds
            continue
        for quality in _QUALITIES:
            buffer = io.BytesIO()
            Image.fromarray(canvas).save(buffer, format="webp", quality=quality, method=4)
            if buffer.tell() <= room:
                source = f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
                return {"src": source, "height": size[0], "width": size[1], "columns": columns}
    return None
