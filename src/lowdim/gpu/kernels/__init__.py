"""Kernels in Triton, one per file with its formula. Sizes are run-time arguments, so that few variants are compiled.

Under Triton's interpreter (``TRITON_INTERPRET=1``) they run on tensors in this machine's memory. Kernels between rows,
the verbs of ``relate.kernels``, are found here by that module's name.
"""

from lowdim.gpu import compilation
from lowdim.gpu.kernel_values import Kernel, demand_gram, demand_kernel_function

__all__ = ["Kernel", "demand_gram", "demand_kernel_function"]
compilation.watch()
