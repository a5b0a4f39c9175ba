"""The comparison of kernels with libraries: its sizes and its page."""

import re
from pathlib import Path

from benchmarks.libraries import page, scipy_fft


def test_every_system_convolves_the_same_sizes():
    text = (Path(page.__file__).with_name("sizes.hpp")).read_text(encoding="utf-8")
    sizes = re.findall(r"\{(\d+), (\d+), (\d+), (\d+)\}", text)
    assert [tuple(map(int, size)) for size in sizes] == scipy_fft.SIZES


def test_the_page_has_medians_with_their_spread_and_names_what_is_missing(tmp_path):
    def row(*seconds, error=1e-7):
        return {"seconds": list(seconds), "error": error}

    figures = {
        "fft": {
            "fft 60 × 50, threads 1": {"SciPy": row(0.004, 0.002, 0.003), "lowdim": row(0.001)},
            "fft 60 × 50, threads 2": {"lowdim": row(0.0005)},
        },
        "functions": {"exp, float32": {"SLEEF, avx2": row(2e-9, error=0.9), "lowdim, avx2": row(1e-9, error=1.0)}},
        "others": {"geodesics": {"lowdim": row(0.1), "SciPy, dijkstra": row(0.45, error=-1)}},
    }
    page.write(figures, {}, ["MKL: install mkl of PyPI"], tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| 60 × 50 | 1 (1–1) | 3 (2–4) |" in text  # ours first
    assert "| 60 × 50 | 0.5 (0.5–0.5) | – |" in text
    assert "| geodesics | SciPy, dijkstra | 450 (450–450) | 4.50 |" in text
    assert "Skipped: MKL: install mkl of PyPI." in text
    assert text.index("lowdim, avx2") < text.index("SLEEF, avx2")
