"""Which methods take tensors, and that the others say so before any work."""

from importlib.util import find_spec

import pytest

from lowdim.methods import registry

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

from lowdim.backends.torch import ESTIMATORS


@pytest.mark.parametrize("method", registry.METHODS, ids=lambda method: method.name)
def test_methods_without_a_version_refuse_by_name(method):
    cls = method.load()
    if cls.__name__ in ESTIMATORS:
        assert "device" in cls().get_params()
        return
    with pytest.raises(
        TypeError, match=f"{cls.__name__}.*torch tensor, for which {cls.__name__} has no version.*NumPy|numpy"
    ):
        cls().fit(torch.ones(9, 3), [0, 1, 1] * 3)
