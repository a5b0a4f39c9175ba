"""Memory of the device that a tensor is on."""

from typing import Any

import torch

from lowdim.work import memory


def available(like: Any) -> int:
    """Bytes that can be allocated now where ``like`` is: free on the device, and what torch holds unused there."""
    if not like.is_cuda:
        return memory.available()
    free, _ = torch.cuda.mem_get_info(like.device)
    unused = torch.cuda.memory_reserved(like.device) - torch.cuda.memory_allocated(like.device)
    return int(free + unused)


def require(n_bytes: float, like: Any, what: str, instead: str) -> None:
    """Raise MemoryError unless ``n_bytes`` for ``what`` fit where ``like`` is; ``instead`` says what to do."""
    free = available(like)
    if n_bytes > free:
        raise MemoryError(
            f"{what} needs {memory.human(n_bytes)} of memory on {like.device}; {memory.human(free)} is available. "
            f"{instead}"
        )
