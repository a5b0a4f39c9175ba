"""The instruction set is the best that the processor and the system offer."""

from pathlib import Path

import pytest

from lowdim import _native

CPUINFO = Path("/proc/cpuinfo")
AVX512 = {"avx512f", "avx512bw", "avx512dq", "avx512vl"}


def best_by_the_system() -> str:
    """By the flags that Linux shows: those of registers that it does not save are left out."""
    flags = next(set(line.split()) for line in CPUINFO.read_text().splitlines() if line.startswith("flags"))
    if not {"avx2", "fma"} <= flags:
        return "default"
    if not flags >= AVX512:
        return "avx2"
    return "avx512vnni" if "avx512_vnni" in flags else "avx512"


@pytest.mark.skipif(
    not CPUINFO.exists() or "\nflags" not in CPUINFO.read_text(), reason="no /proc/cpuinfo of an x86-64 processor here"
)
def test_the_best_set_is_that_of_the_processor():
    before = _native.isa()
    try:
        assert _native.set_isa("avx512vnni") == best_by_the_system()
    finally:
        _native.set_isa(before)
