"""Made rows like those of a language model: clusters on a curved sheet of 30 dimensions, unit length, float16."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_CLUSTERS, _SHEET, _HIDDEN, _BLOCK = 2000, 30, 256, 20_000


def embeddings(n: int, d: int, seed: int = 0) -> NDArray[np.float16]:
    """Rows (n, d), the same for a seed whatever ``n`` is beyond a block.

    >>> embeddings(3, 8).shape
    (3, 8)
    """
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((_CLUSTERS, _SHEET), np.float32)
    bend = rng.standard_normal((_SHEET, _HIDDEN), np.float32) / np.float32(_SHEET**0.5)
    lift = rng.standard_normal((_HIDDEN, d), np.float32) / np.float32(_HIDDEN**0.5)
    out: NDArray[Any] = np.empty((n, d), np.float16)
    for start in range(0, n, _BLOCK):
        m = min(_BLOCK, n - start)
        z = centres[rng.integers(_CLUSTERS, size=m)] + 0.35 * rng.standard_normal((m, _SHEET), np.float32)
        x = np.tanh(z @ bend) @ lift + 0.05 * rng.standard_normal((m, d), np.float32)
        out[start : start + m] = x / np.linalg.norm(x, axis=1, keepdims=True)
    return out
