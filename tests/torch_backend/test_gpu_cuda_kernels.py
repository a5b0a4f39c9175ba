"""Kernels in CUDA C++ against those in Triton; they need a GPU and CuPy."""

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

from lowdim import TSNE
from lowdim.backends.torch import convolution, cuda_kernels, repulsive_field
from lowdim.backends.torch import neighbors as device_neighbors
from lowdim.backends.torch.convolution import Convolution, sizes_for
from lowdim.relate.neighbors import nearest
from lowdim.solve.divergence import Falloff

with_cuda_kernels = pytest.mark.skipif(
    not torch.cuda.is_available() or find_spec("cupy") is None, reason="no GPU that PyTorch can use, or no CuPy"
)


@pytest.fixture
def without(monkeypatch):
    """Function that runs another with Triton's kernels alone."""

    def run(work):
        with monkeypatch.context() as patched:
            patched.setattr(cuda_kernels, "find", lambda *_, **__: None)
            return work()

    return run


def test_cuda_kernels_are_optional(monkeypatch):
    monkeypatch.setenv("LOWDIM_CUPY", "0")
    assert cuda_kernels.find.__wrapped__("candidates", WIDTH=64) is None


@pytest.mark.parametrize(("m", "n", "room"), [(1, 1, 128), (70_000, 70_000, 256), (5, 10**7, 256), (1000, 10**6, 4096)])
def test_columns_of_a_block_are_few_enough(m, n, room):
    blocks, parts = device_neighbors._blocks(m, n, room)
    assert blocks * 128 >= m
    columns = -(-n // 64 // parts) * 64
    assert parts * columns >= n - 63
    assert columns <= 65_536
    assert room / 1.38 / parts <= 48 or columns <= 64


@with_cuda_kernels
@pytest.mark.parametrize(("n", "d", "k"), [(20_000, 20, 7), (17_001, 50, 90), (16_999, 100, 30), (30_000, 64, 200)])
def test_neighbours_are_those_of_triton(n, d, k, rng, without):
    X = torch.tensor(rng.normal(size=(n, d)).astype(np.float32), device="cuda")
    for queries in (None, X[:333] + 0.1):
        found, expected = nearest(X, k, queries), without(lambda queries=queries: nearest(X, k, queries))
        assert torch.equal(found.indices, expected.indices)
        torch.testing.assert_close(found.distances, expected.distances, rtol=1e-6, atol=0)


@with_cuda_kernels
def test_neighbours_of_sorted_rows_are_those_of_triton(rng, without):
    X = np.sort(rng.normal(size=(20_000, 1)), axis=0) + 0.001 * rng.normal(size=(20_000, 24))
    X = torch.tensor(X.astype(np.float32), device="cuda")
    assert torch.equal(nearest(X, 50).indices, without(lambda: nearest(X, 50)).indices)


@with_cuda_kernels
@pytest.mark.parametrize("size", [128, 256, 512, 1024, 2048, 4096])
def test_the_convolution_is_that_of_torch(size, rng, without):
    device, nodes = torch.device("cuda", 0), size // 2
    ours, theirs = Convolution(size, 2, device), without(lambda: Convolution(size, 2, device))
    assert ours.kernels is not None
    assert theirs.kernels is None
    counts = torch.tensor(rng.integers(-(2**40), 2**40, size=(nodes, nodes)), device=device)
    fields = []
    for one in (ours, theirs):
        one.falloff.copy_(repulsive_field._transformed(size, 0.4, Falloff("student"), 2, device))
        for _ in range(2):  # the counts are 0 again for the second
            one.clear()
            one.counts += counts
            found = one.apply(2.0**-36)[:nodes, :nodes]
        fields.append(found.double())
    assert float((fields[0] - fields[1]).norm() / fields[1].norm()) < 1e-6


def test_a_convolution_has_no_cuda_kernel_on_the_cpu():
    assert Convolution(128, 2, torch.device("cpu")).kernels is None


def test_large_kernels_are_compiled_for_large_grids_alone(monkeypatch):
    asked = []
    monkeypatch.setattr(convolution, "_kernels", asked.append)
    sizes = sizes_for(2, torch.device("cuda"))
    assert [next(sizes) for _ in range(4)] == [128, 256, 512, 1024]
    assert asked == []
    assert list(sizes) == [1536, 2048, 3072, 4096]  # torch has all of them
    assert asked == [2048]
    monkeypatch.setattr(convolution, "_kernels", lambda size: [size])
    assert 1536 not in sizes_for(2, torch.device("cuda"))
    assert list(sizes_for(1, torch.device("cuda"))) == [2**e for e in range(8, 19)]


@with_cuda_kernels
def test_maps_are_as_good_and_have_the_same_bits(rng, without):
    X = torch.tensor(rng.normal(size=(5000, 10)).astype(np.float32), device="cuda")
    model = TSNE(random_state=0, max_iter=400)
    first, again = (model.fit(X).embedding_ for _ in range(2))
    assert torch.equal(first, again)
    reached = model.kl_divergence_
    assert reached == pytest.approx(without(lambda: model.fit(X)).kl_divergence_, rel=0.03)
