"""One rule for ``random_state``: counter-based streams keyed by (seed, stage, block)."""

import zlib
from numbers import Integral
from typing import Any

import numpy as np


def seed_of(random_state: Any) -> int:
    """Integer seed of a ``random_state``: an int is itself, None is fresh, a generator gives its next draw.

    >>> seed_of(7)
    7
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and int(random_state) >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    raise ValueError(
        f"random_state must be None, an integer ≥ 0, a numpy Generator or a RandomState; got {random_state!r}. "
        "Pass an integer for a repeatable result."
    )


def stream(seed: int, stage: str, block: int = 0) -> np.random.Generator:
    """Generator for one block of one stage; no other block, stage or thread count changes its numbers.

    >>> float(stream(0, "init").random()) == float(stream(0, "init").random())
    True
    """
    key = np.random.SeedSequence([seed, zlib.crc32(stage.encode()), block])
    return np.random.Generator(np.random.Philox(key))
