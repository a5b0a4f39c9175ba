"""Small files that unpack to much are refused by the memory limit, before they are read."""

import gzip
import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from PIL import Image

from lowdim.data import read


@pytest.fixture(autouse=True)
def limit(monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "60M")


def grown(code, *args):
    """Megabytes by which a process of its own grew while it ran a piece of code, and the error it met."""
    start = "import resource, sys\nfrom lowdim.data import read\nimport polars, PIL.Image\n"
    start += "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\nbefore = peak()\n"
    text = start + f"try:\n    {code}\nexcept MemoryError as error: print(error, peak() - before, sep='|')"
    done = subprocess.run([sys.executable, "-c", text, *args], capture_output=True, text=True, check=True)
    words, _, growth = done.stdout.partition("|")
    return words, float(growth)


def test_a_gzip_bomb_is_stopped_while_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(200):
            file.write(b"0,0,0,0\n" * 2**17)
    assert path.stat().st_size < 2**20
    words, growth = grown("read(sys.argv[1])", str(path))
    assert "unpacked so far, needs" in words
    assert growth < 150


def test_an_npz_of_zeros_is_refused_by_its_header(tmp_path):
    np.savez_compressed(tmp_path / "zeros.npz", X=np.zeros((9000, 1000)))
    with pytest.raises(MemoryError, match=r"the arrays of .* needs 68.7 MB"):
        read(tmp_path / "zeros.npz")


def test_a_header_that_promises_more_than_there_is_is_refused(tmp_path):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**3)})
    with zipfile.ZipFile(tmp_path / "lie.npz", "w") as archive:
        archive.writestr("X.npy", buffer.getvalue())
    with pytest.raises(ValueError, match="declares .* and holds"):
        read(tmp_path / "lie.npz")


def test_large_images_are_refused_by_their_size(tmp_path):
    for name in "abc":
        Image.fromarray(np.zeros((3000, 3000), np.uint8)).save(tmp_path / f"{name}.png")
    with pytest.raises(MemoryError, match="3 images of 3,000 × 3,000 pixels"):
        read(tmp_path)


def test_parquet_files_are_refused_by_their_metadata(tmp_path):
    import polars as pl

    pl.DataFrame({f"c{j}": np.zeros(100_000) for j in range(30)}).write_parquet(tmp_path / "zeros.parquet")
    with pytest.raises(MemoryError, match="100,000 × 30 cells"):
        read(tmp_path / "zeros.parquet")


def test_text_of_many_cells_is_refused_by_a_sample(tmp_path):
    (tmp_path / "cells.csv").write_text("a,b,c,d\n" + "0,0,0,0\n" * 800_000)
    with pytest.raises(MemoryError, match=r"cells of .*cells.csv needs"):
        read(tmp_path / "cells.csv")


def test_too_many_columns_are_refused_before_the_reader_sees_them(tmp_path):
    (tmp_path / "wide.csv").write_text(",".join(map(str, range(200_000))) + "\n")
    with pytest.raises(ValueError, match="at most 100,000 columns; .* has 200,000"):
        read(tmp_path / "wide.csv")


def test_bytes_that_are_no_archive_are_not_called_a_pickle(tmp_path, rng):
    (tmp_path / "noise.npz").write_bytes(rng.bytes(2000))
    with pytest.raises(ValueError, match="not an archive of arrays") as raised:
        read(tmp_path / "noise.npz")
    assert "pickle" not in str(raised.value)
