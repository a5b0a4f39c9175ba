"""The convolution of ``convolution.hpp`` by SciPy (pocketfft); prints lines as the programs do."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.fft

# columns and rows of nodes, and periods; as in convolution.hpp
SIZES = [
    (29, 25, 60, 50),
    (148, 139, 300, 288),
    (360, 350, 720, 720),
    (551, 433, 1152, 900),
    (655, 563, 1440, 1200),
    (746, 720, 1500, 1440),
    (1051, 1013, 2304, 2250),
    (745, 1, 1536, 1),
]


def seconds(call: Callable[[], Any]) -> float:
    """Median of calls over a tenth of a second, after a warm-up."""
    call()
    times: list[float] = []
    while sum(times) < 0.1 or len(times) < 5:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def _stencil(n: int) -> Any:
    return 0.5 + 0.5 * np.cos(2 * np.pi * np.arange(n) / n) if n > 1 else np.ones(1)


def _convolve(nodes: Any, multiplier: Any, wide: int, tall: int, workers: int) -> Any:
    rows, columns = nodes.shape
    spectrum = scipy.fft.rfft(nodes, wide, axis=1, workers=workers)
    if tall > 1:
        spectrum = scipy.fft.fft(spectrum, tall, axis=0, overwrite_x=True, workers=workers)
    spectrum *= multiplier
    if tall > 1:
        spectrum = scipy.fft.ifft(spectrum, axis=0, overwrite_x=True, workers=workers)[:rows]
    return scipy.fft.irfft(spectrum, wide, axis=1, overwrite_x=True, workers=workers)[:, :columns]


def main() -> None:
    for columns, rows, wide, tall in SIZES:
        nodes = np.random.default_rng(0).random((rows, columns), np.float32)
        multiplier = np.outer(_stencil(tall), _stencil(wide)[: wide // 2 + 1]).astype(np.float32)
        exact = np.apply_along_axis(np.convolve, 1, nodes.astype(float), [0.25, 0.5, 0.25])[:, 1:-1]
        if tall > 1:
            exact = np.apply_along_axis(np.convolve, 0, exact, [0.25, 0.5, 0.25])[1:-1]
        for workers in (1, 2):
            call = partial(_convolve, nodes, multiplier, wide, tall, workers)
            error = np.linalg.norm(call() - exact) / np.linalg.norm(exact)
            print(f"fft {wide} × {tall}, threads {workers}|SciPy|{seconds(call):.9g}|{error:.3g}", flush=True)


if __name__ == "__main__":
    main()
