"""CUDA C++ versions of the few Triton kernels, and of torch's Fourier transforms, that gain by it.

They are used where CuPy is installed to compile them by NVRTC, and give the same results as those, against which
they are tested. ``LOWDIM_CUPY=0`` disables them.
"""

import os
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from lowdim.work.user_warnings import warn


@lru_cache
def find(file: str, name: str | None = None, **macros: int) -> Callable[..., None] | None:
    """Function ``(grid, block, device, *arguments)`` that runs a kernel of this folder; None if it is not available.

    A kernel without a name of its own has that of the file.
    """
    if os.environ.get("LOWDIM_CUPY") == "0" or not torch.cuda.is_available() or find_spec("cupy") is None:
        return None
    import cupy

    source = Path(__file__).with_name(f"{file}.cu").read_text(encoding="utf-8")
    options = ("-std=c++17", *(f"-D{macro}={value}" for macro, value in macros.items()))
    kernel = cupy.RawKernel(source, name or file, options=options)
    try:
        kernel.compile()
    except Exception as error:  # a CuPy for another CUDA fails in many ways; Triton or torch do the work instead
        warn(f"gpu: CuPy could not compile {file} ({str(error).splitlines()[0]}); another kernel is used.")
        return None

    def run(grid: tuple[int, ...], block: int, device: torch.device, *arguments: Any) -> None:
        values = [A.data_ptr() if isinstance(A, torch.Tensor) else A for A in arguments]
        with cupy.cuda.Device(device.index), _stream(torch.cuda.current_stream(device).cuda_stream, device.index):
            kernel(grid, (block,), tuple(values))

    return run


@lru_cache
def _stream(pointer: int, device: int) -> Any:
    """A torch stream as a CuPy stream."""
    import cupy

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its successor is not in older versions
        return cupy.cuda.ExternalStream(pointer, device)
