"""Reliability of maps on a device is that of NumPy."""

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

from lowdim.quality import reliability
from lowdim.relate.neighbor_places import common_share, region_overlap, spreads


def test_operations_are_those_of_numpy(rng, device):
    Y, near, there = rng.normal(size=(50, 2)), rng.integers(50, size=(50, 6)), rng.integers(50, size=(50, 4))
    Y[:5] = np.nan
    G = rng.normal(size=(50, 16)).astype(np.float32)
    put = lambda A: torch.tensor(A, device=device)  # noqa: E731
    np.testing.assert_allclose(spreads(put(Y), put(near)).cpu(), spreads(Y, near))
    np.testing.assert_allclose(common_share(put(near), put(there)).cpu(), common_share(near, there))
    found = region_overlap(put(near), put(there), put(G)).cpu()
    np.testing.assert_allclose(found, region_overlap(near, there, G), atol=1e-5)


def test_a_map_of_tensors_is_judged_where_it_is(rng, device):
    X, Y = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))

    class Map:
        def __init__(self, Y):
            self.embedding_ = Y

    found = reliability(Map(torch.tensor(Y, device=device)), torch.tensor(X, device=device))
    expected = reliability(Map(Y), X)
    for name in ("spread", "near_spread", "shared", "recall", "overlap"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-4)
