"""Memory of the device that a tensor is on."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.work import memory


@TORCH.implements(memory.available_for)
def available_for(rows: Any) -> int:
    """Bytes that can be allocated now where the tensor is: free on the device, and what torch holds unused there."""
    if not rows.is_cuda:
        return memory.available()
    free, _ = torch.cuda.mem_get_info(rows.device)
    unused = torch.cuda.memory_reserved(rows.device) - torch.cuda.memory_allocated(rows.device)
    return int(free + unused)
