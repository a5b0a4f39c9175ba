"""Kernels in Triton, one per file with its formula. Sizes are run-time arguments, so that few variants are compiled.

Under Triton's interpreter (``TRITON_INTERPRET=1``) they run on tensors in this machine's memory.
"""

from lowdim.backends.torch import compilation

compilation.watch()
