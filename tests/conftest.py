"""Data that several packages test with, and the choice of another build of the native module."""

import functools
import importlib.util
import inspect
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from click.testing import CliRunner

matplotlib.use("Agg")

if all(importlib.util.find_spec(name) for name in ("torch", "triton")):
    import torch

    if not torch.cuda.is_available():  # kernels run under Triton's interpreter, which it asks for when it is imported
        os.environ["TRITON_INTERPRET"] = "1"

collect_ignore_glob = ["*conftest.py"]  # they hold no examples, and share a name

# What a shell starts in the background ignores Ctrl-C and so do its children: tests that press it would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if folder := os.environ.get("LOWDIM_NATIVE"):  # `make sanitize` tests another build than the installed one
    import lowdim

    built = next(Path(folder).glob("_native*.so"))
    spec = importlib.util.spec_from_file_location("lowdim._native", built)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["lowdim._native"] = lowdim._native = module
    spec.loader.exec_module(module)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def decaying(rng) -> np.ndarray:
    """200 rows of 12 features with distinct variances, turned so that no feature stands alone."""
    turn, _ = np.linalg.qr(rng.normal(size=(12, 12)))
    return rng.normal(size=(200, 12)) * 2.0 ** -np.arange(12) @ turn + rng.normal(size=12)


@pytest.fixture(params=["default", "avx2", "avx512", "avx512vnni"])
def isa(request) -> Iterator[str]:
    """Each instruction set of this processor in turn; a test of one that it lacks is skipped, not run with another."""
    from lowdim import _native

    before = _native.isa()
    try:
        if _native.set_isa(request.param) != request.param:
            pytest.skip(f"this processor has no {request.param}")
        yield request.param
    finally:
        _native.set_isa(before)


if "mix_stderr" in inspect.signature(CliRunner).parameters:  # click before 8.2 mixes both streams unless told not to
    CliRunner.__init__ = functools.partialmethod(CliRunner.__init__, mix_stderr=False)  # type: ignore[method-assign]
