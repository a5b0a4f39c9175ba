"""Falloffs of similarity with squared distance s: ``f(s)`` and ``−f′/f``, chosen when a kernel is compiled.

Cauchy ``1/(1 + s)``; Student ``(1 + s/ν)^(−(ν + 1)/2)``; Gauss ``e^−s``.
"""

from typing import Any

import triton
import triton.language as tl

CAUCHY, STUDENT, GAUSS = 0, 1, 2


def law(falloff: Any) -> dict[str, Any]:
    """Arguments of a kernel for a falloff."""
    kind = GAUSS if falloff.name == "gauss" else CAUCHY if falloff.dof == 1 else STUDENT
    return {"dof": float(falloff.dof), "LAW": kind}


@triton.jit
def pull_of(s, dof, LAW: tl.constexpr):
    """``−f′(s)/f(s)``."""
    if LAW == 0:
        return value_of(s, dof, LAW)
    elif LAW == 1:
        return (0.5 * (dof + 1.0)) / (dof + s)
    else:
        return tl.full(s.shape, 1.0, tl.float32)


@triton.jit
def cost_of(s, dof, LAW: tl.constexpr):
    """``−log f(s)``."""
    if LAW == 0:
        return tl.log(1.0 + s)
    elif LAW == 1:
        return (0.5 * (dof + 1.0)) * tl.log(1.0 + s / dof)
    else:
        return s


@triton.jit
def value_of(s, dof, LAW: tl.constexpr):
    """``f(s)``."""
    if LAW == 0:
        root = tl.rsqrt(1.0 + s)  # its square costs less than a quotient
        return root * root
    else:
        return tl.exp(-cost_of(s, dof, LAW))
