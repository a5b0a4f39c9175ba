"""Thumbnails of rows that are images, joined into one atlas."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim.explorer.message_format import Message
from lowdim.explorer.session import Session

_SIDE = 64  # pixels of the longer side; larger images are subsampled
_MOST = 2**24  # pixels of an atlas


def atlas(session: Session, rows: NDArray[np.intp]) -> Message:
    """The images of these rows in a square grid."""
    if session.image_shape is None:
        raise ValueError("thumbs: the rows of these data are not images.")
    height, width = session.image_shape
    thin = max(1, math.ceil(max(height, width) / _SIDE))
    tall, wide = math.ceil(height / thin), math.ceil(width / thin)
    if len(rows) * tall * wide > _MOST:
        raise ValueError(f"thumbs: at most {_MOST // (tall * wide):,} images fit into one atlas. Ask for fewer.")
    across = max(1, math.ceil(math.sqrt(len(rows))))
    down = max(1, math.ceil(len(rows) / across))
    tiles = np.zeros((down * across, tall, wide), np.uint8)
    if len(rows):
        tiles[: len(rows)] = _grey(session, rows).reshape(-1, height, width)[:, ::thin, ::thin]
    picture = tiles.reshape(down, across, tall, wide).swapaxes(1, 2).reshape(down * tall, across * wide)
    rgba = np.empty((*picture.shape, 4), np.uint8)
    rgba[..., :3], rgba[..., 3] = picture[..., None], 255
    return Message("thumbs", None, {"width": wide, "height": tall, "channels": 4, "columns": across}, {"atlas": rgba})


def _grey(session: Session, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Pixels (m, d) of the rows, from the darkest to the brightest value of the data."""
    X: Any = session.features
    some = X[rows].toarray() if sparse.issparse(X) else np.asarray(X[rows])
    if X.dtype == np.uint8:
        return some
    low, high = session.brightness
    return np.clip((some - low) * (255.0 / (high - low or 1.0)), 0, 255).astype(np.uint8)
