"""Kernels are compiled when first used on a machine and cached on disk by Triton; a message announces the delay."""

import sys
import time
from typing import Any

import triton

_LONG = 0.2  # seconds from which a kernel was compiled, not found on disk


class _Watch:
    """Hooks of Triton that notice the first kernel compiled in this process; those set before are called too."""

    def __init__(self) -> None:
        self.started, self.told = 0.0, False
        self.before: Any = None
        self.after: Any = None

    def begin(self, **what: Any) -> Any:
        """A kernel is to be compiled, or found on disk."""
        self.started = time.perf_counter()
        return self.before(**what) if self.before else None

    def end(self, **what: Any) -> Any:
        """It is there."""
        if not self.told and time.perf_counter() - self.started > _LONG:
            self.told = True
            print(
                "lowdim: compiling GPU kernels, once on this machine; a fit takes 10 to 20 seconds longer.",
                file=sys.stderr,
                flush=True,
            )
        return self.after(**what) if self.after else None


def watch() -> None:
    """Announce the first compilation in this process, if Triton has hooks for it."""
    hooks: Any = getattr(getattr(triton, "knobs", None), "runtime", None)
    if all(hasattr(hooks, name) for name in ("jit_cache_hook", "jit_post_compile_hook")):
        seen = _Watch()
        seen.before, hooks.jit_cache_hook = hooks.jit_cache_hook, seen.begin
        seen.after, hooks.jit_post_compile_hook = hooks.jit_post_compile_hook, seen.end
