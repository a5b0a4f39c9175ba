from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

from lowdim.backends import TORCH
from lowdim.backends.torch import neighbors as device_neighbors
from lowdim.backends.torch import tensors
from lowdim.backends.torch.kernels.ranks import ranks
from lowdim.relate.neighbors import nearest, whitened, whitening
from lowdim.work import memory


def put(A, device):
    return None if A is None else torch.from_numpy(A).to(device)


def agree(found, expected):
    """The same neighbours, but for those that rounding puts at one distance."""
    np.testing.assert_allclose(found.distances.numpy(force=True), expected.distances, rtol=3e-6, atol=1e-6)
    differ = found.indices.numpy(force=True) != expected.indices
    assert differ.mean() < 0.02


@pytest.mark.parametrize("few", [1, 10_000], ids=["candidates", "all"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "mahalanobis"])
@pytest.mark.parametrize(("shape", "k", "dtype"), [((71, 3), 5, np.float32), ((133, 1), 1, np.float64)])
def test_the_neighbours_are_those_of_numpy(few, metric, shape, k, dtype, rng, device, monkeypatch):
    monkeypatch.setattr(device_neighbors, "FEW", few)
    X = rng.normal(size=shape).astype(dtype)
    if metric == "cosine":
        X = np.hstack([X, X[:, :1] ** 2 + 1])
    for Q in (None, (X[:9] + 0.25).astype(dtype)):
        expected = nearest(X, k, Q, metric)
        found = nearest(put(X, device), k, put(Q, device), metric)
        agree(found, expected)
        assert found.indices.dtype == torch.int32
        assert found.how == "exact"


def test_as_many_as_1024_neighbours(rng, device):
    X = rng.normal(size=(1100, 2)).astype(np.float32)
    Q = None if device == "cuda" else X[:2] + np.float32(0.1)
    agree(nearest(put(X, device), 1024, put(Q, device)), nearest(X, 1024, Q))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that PyTorch can use")
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "mahalanobis"])
@pytest.mark.parametrize("k", [300, 1024])
def test_many_neighbours_of_many_rows(k, metric, rng, device):
    X = rng.normal(size=(20_000, 6)).astype(np.float32)
    Q = X[:200] + np.float32(0.1)
    agree(nearest(put(X, device), k, put(Q, device), metric), nearest(X, k, Q, metric))
    agree(nearest(put(X, device), k, metric=metric), nearest(X, k, metric=metric))


def test_wide_rows_are_multiplied_in_pieces(rng, device, monkeypatch):
    monkeypatch.setattr(device_neighbors, "FEW", 1)
    X = rng.normal(size=(65, 131)).astype(np.float32)
    Q = X[:2] + np.float32(0.1)
    agree(nearest(put(X, device), 4, put(Q, device)), nearest(X, 4, Q))


@pytest.mark.parametrize("few", [1, 10_000])
def test_ties_go_to_the_lower_index(few, rng, device, monkeypatch):
    monkeypatch.setattr(device_neighbors, "FEW", few)
    X = rng.integers(3, size=(90, 2)).astype(np.float32)
    np.testing.assert_array_equal(
        nearest(put(X, device), 7).indices.numpy(force=True), nearest(X, 7, how="exact").indices
    )


def test_rows_far_from_the_origin_lose_nothing(rng, device, monkeypatch):
    monkeypatch.setattr(device_neighbors, "FEW", 1)
    X = 1e4 + rng.normal(size=(80, 3))
    agree(nearest(put(X, device), 3), nearest(X, 3))


@pytest.mark.parametrize("room", [16, 64])
def test_thresholds_that_are_too_high_or_too_low_lose_nothing(room, rng, device, monkeypatch):
    monkeypatch.setattr(device_neighbors, "FEW", 1)
    monkeypatch.setattr(
        device_neighbors.triton, "next_power_of_2", lambda v: room if v > 100 else 1 << (v - 1).bit_length()
    )
    X = rng.normal(size=(120, 2)).astype(np.float32)
    if room == 64:  # nothing lies below the thresholds
        monkeypatch.setattr(
            device_neighbors, "_limits", lambda turned, *_: torch.full((len(turned),), -1e9, device=turned.device)
        )
    agree(nearest(put(X, device), 3), nearest(X, 3))


def test_the_kernel_sorts_its_candidates(rng, device):
    X = torch.tensor(rng.normal(size=(20, 4)), dtype=torch.float32, device=device)
    found = torch.tensor(rng.permutation(20)[:16], dtype=torch.int32, device=device)[None]
    counts = torch.tensor([14], dtype=torch.int32, device=device)
    keyed = torch.empty(1, 5, dtype=torch.int64, device=device)
    own = torch.tensor([int(found[0, 0])], device=device)
    ranks[(1,)](X[own], X, own, counts, found, keyed, 5, 4, ROOM=16, SORT=True, WIDE=False)
    indices, squares = device_neighbors._decoded(keyed)
    some = found[0, 1:14].long()
    exact = (X[some].double() - X[own].double()).square().sum(1)
    order = exact.argsort()[:5]
    assert indices[0].tolist() == some[order].tolist()
    torch.testing.assert_close(squares[0], exact[order].float())


def test_whitening_is_that_of_numpy(rng, device):
    X = rng.normal(size=(60, 3)) @ np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    for of_tensor, of_array in zip(whitening(put(X, device)), whitening(X), strict=True):
        np.testing.assert_allclose(np.abs(of_tensor), np.abs(of_array), atol=1e-9)
    np.testing.assert_allclose(
        whitened(put(X, device), *whitening(X)).numpy(force=True), whitened(X, *whitening(X)), atol=1e-9
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "manhattan"}, "no version for tensors"),
        ({"how": "approximate"}, "no version for tensors"),
        ({"k": 1025}, "At most 1024"),
    ],
)
def test_what_has_no_version_is_refused_by_name(options, words, device):
    with pytest.raises(ValueError, match=words):
        nearest(torch.zeros(2000, 2, device=device), **{"k": 3} | options)
    with pytest.raises(ValueError, match="cosine.* not all zeros; row 0"):
        nearest(torch.zeros(9, 2, device=device), 3, metric="cosine")


def test_rows_that_do_not_fit_are_refused_with_the_figure(device, monkeypatch):
    monkeypatch.setitem(TORCH.implementations, memory.available_for, lambda rows: 1000)
    with pytest.raises(MemoryError, match=r"neighbours of 50 rows needs .* available\. Use fewer"):
        nearest(torch.rand(50, 2, device=device), 3)


def test_tensors_in_this_memory_go_to_numpys_verbs(rng, monkeypatch):
    monkeypatch.setattr(tensors, "INTERPRETED", False)
    X = rng.normal(size=(50, 3))
    found, expected = nearest(torch.from_numpy(X), 4, metric="manhattan"), nearest(X, 4, metric="manhattan")
    np.testing.assert_array_equal(found.indices.numpy(), expected.indices)
    np.testing.assert_array_equal(found.distances.numpy(), expected.distances)


def test_tensors_of_two_devices_are_refused():
    with pytest.raises(ValueError, match=r"one device; got cpu, meta\. Move them"):
        nearest(torch.zeros(9, 2), 3, torch.zeros(9, 2, device="meta"))
