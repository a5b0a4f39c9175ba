"""Where the kernels run in these tests: on a GPU if there is one, else under Triton's interpreter."""

from importlib.util import find_spec

import pytest

MISSING = [name for name in ("torch", "triton") if find_spec(name) is None]
if not MISSING:
    import torch


@pytest.fixture
def device() -> str:
    """Name of the device that tensors are put on."""
    return "cuda" if torch.cuda.is_available() else "cpu"
