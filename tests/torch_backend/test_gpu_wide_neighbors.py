from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

from lowdim.backends.torch import neighbors as device_neighbors
from lowdim.backends.torch import packed_rows, tile_search
from lowdim.relate.neighbors import nearest

KINDS = [torch.float16, torch.float32]


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch, device):
    monkeypatch.setattr(device_neighbors, "FEW_WIDE", 1)
    monkeypatch.setattr(device_neighbors, "_WHOLE", 64)
    if device == "cpu":
        monkeypatch.setattr(packed_rows, "TILE", 16)
        monkeypatch.setattr(tile_search, "SPARE", 3)


def expected(X, k, queries=None, metric="euclidean"):
    """Neighbours in float64, by all distances, with ties broken by index; of directions in the type of the search."""
    wide = np.float64 if X.dtype == torch.float64 else np.float32
    A, Q = (B.double().numpy(force=True) for B in (X, X if queries is None else queries))
    if metric == "cosine":
        A, Q = ((B / np.linalg.norm(B, axis=1, keepdims=True)).astype(wide).astype(float) for B in (A, Q))
    D = ((Q[:, None] - A[None]) ** 2).sum(2).astype(np.float32)
    if queries is None:
        np.fill_diagonal(D, np.inf)
    indices = np.argsort(D, axis=1, kind="stable")[:, :k]
    near = np.take_along_axis(D, indices, 1)
    return indices, near / 2 if metric == "cosine" else np.sqrt(near)


def agree(found, X, k, *rest):
    indices, distances = expected(X, k, *rest)
    np.testing.assert_allclose(found.distances.numpy(force=True), distances, rtol=1e-6, atol=1e-7)
    assert (found.indices.numpy(force=True) != indices).mean() < 0.01


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_wide_rows_in_every_precision(kind, rng, device):
    X = torch.tensor(rng.normal(size=(34, 66)), device=device).to(kind)
    metric = "cosine" if kind == torch.float16 else "euclidean"
    found = nearest(X, 3, metric=metric)
    agree(found, X, 3, None, metric)
    assert found.how == "exact"
    Q = X[:3] + 0.25
    agree(nearest(X, 3, Q, metric), X, 3, Q, metric)


def test_lists_without_room_are_searched_again(rng, device, monkeypatch):
    monkeypatch.setattr(tile_search, "_ahead", lambda *_: 100)
    monkeypatch.setattr(tile_search, "room_for", lambda _: packed_rows.TILE)
    X = torch.tensor(rng.normal(size=(48, 66)), device=device).half()
    agree(nearest(X, 3), X, 3)


def test_equal_rows_go_to_the_lower_index(rng, device):
    X = torch.tensor(rng.integers(-8, 9, size=(40, 66)), device=device).half()
    X[10:30] = X[3]
    np.testing.assert_array_equal(nearest(X, 3).indices.numpy(force=True), expected(X, 3)[0])


def test_many_rows_at_one_distance_are_compared_with_all(device, monkeypatch):
    monkeypatch.setattr(tile_search, "_AGAIN", 32)
    monkeypatch.setattr(tile_search, "room_for", lambda _: packed_rows.TILE)
    monkeypatch.setattr(tile_search, "_ROWS", 30)
    X = torch.eye(66, device=device)[:40]
    indices, distances = expected(X, 3)
    found = nearest(X, 3)
    np.testing.assert_array_equal(found.indices.numpy(force=True), indices)
    np.testing.assert_array_equal(found.distances.numpy(force=True), distances)


@pytest.mark.parametrize(("kind", "size"), [(torch.bfloat16, 1e-30), (torch.float32, 1e6)])
def test_values_beyond_half_precision_are_scaled(kind, size, rng, device):
    X = (torch.tensor(rng.normal(size=(30, 66)), device=device) * size).to(kind)
    agree(nearest(X, 3, metric="cosine"), X, 3, None, "cosine")


def test_rows_far_from_the_origin_are_centred(rng, device):
    X = (300 + torch.tensor(rng.normal(size=(30, 66)), device=device)).half()
    assert packed_rows.form_of(X, None).centre is not None
    agree(nearest(X, 3), X, 3)


@pytest.mark.parametrize("kind", [torch.float16, torch.float32])
@pytest.mark.parametrize("cosine", [False, True])
def test_errors_of_scores_are_within_their_bound(kind, cosine, rng, device):
    X = torch.tensor(rng.normal(size=(60, 140)) * rng.uniform(0.1, 10, (60, 1)), device=device).to(kind)
    norms = packed_rows.norms_of(X) if cosine else None
    P = packed_rows.pack(X, norms, packed_rows.form_of(X, norms), torch.arange(60, device=device), own=True)
    products = P.factors.float() @ P.factors.float().T
    scores = (products * P.scale + P.add)[:60, :60].double()
    by, begin = packed_rows.to_squares(P)
    rows = X.double() if norms is None else X.double() / norms[:, None]
    squares = torch.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist").square()
    off = (by[:60, None] * scores + begin[:60, None] - squares).abs()
    assert bool((off <= (by * packed_rows.errors(P, P))[:60, None] * 1.001 + 1e-12).all())
    assert float(packed_rows.errors(P, P)[:60].min()) > 0


@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_each_pair_of_tiles_meets_once(count):
    lists = tile_search.new_lists(count * packed_rows.TILE, count, 128, "cpu")
    met = np.zeros((count, count), int)
    for wave in tile_search.circulant(count, 20, lists):
        for a, b in torch.cat([*wave.pairs()]).tolist():
            met[a, b] += 1
            met[b, a] += a != b
    assert (met == 1).all()


def test_a_row_of_zeros_has_no_direction(device):
    X = torch.ones(40, 130, device=device).half()
    X[7] = 0
    with pytest.raises(ValueError, match="cosine.* not all zeros; row 7"):
        nearest(X, 3, metric="cosine")


def test_more_neighbours_than_rows_are_refused(device):
    with pytest.raises(ValueError, match="40 neighbours of each row need more than 40 rows"):
        nearest(torch.ones(40, 130, device=device), 40)
