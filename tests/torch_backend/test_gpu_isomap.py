from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

import lowdim
from lowdim import Isomap
from lowdim.backends.torch import geodesics as device_geodesics
from lowdim.backends.torch import graph as device_graph
from lowdim.compose.geodesic_map import residual_by_dimension
from lowdim.relate.geodesics import geodesics
from lowdim.relate.graph import Bridges, components, joined, neighbor_graph, part_of, undirected
from lowdim.relate.neighbors import within
from lowdim.work.backend_arrays import moved_to


@pytest.fixture
def there(device):
    return lambda A: torch.tensor(A, device=device)


@pytest.fixture
def strip(rng):
    """14 rows along a bent strip."""
    t = np.linspace(0, 3, 14)
    return np.column_stack([np.cos(t), np.sin(t), 0.05 * rng.normal(size=14)]).astype(np.float32)


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    """As few sweeps as can be."""
    monkeypatch.setattr(device_geodesics, "_LOOK", 1)


def same(found, expected):
    for part, value in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part.numpy(force=True), value)


def test_graphs_are_those_of_numpy(rng, there):
    n = 30
    tails, ends, lengths = rng.integers(n, size=60), rng.integers(n, size=60), rng.random(60).astype(np.float32)
    here, elsewhere = (
        undirected(n, tails, ends, lengths),
        device_graph.undirected(n, *map(there, (tails, ends, lengths))),
    )
    same(elsewhere, here)
    np.testing.assert_array_equal(components(elsewhere), components(here))
    bridges = Bridges(np.array([[0, 9], [3, 4]], np.int32), np.array([0.5, 0.1], np.float32))
    same(joined(elsewhere, bridges), joined(here, bridges))
    rows = rng.permutation(n)[:20]
    same(part_of(elsewhere, rows), part_of(here, rows))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_rows_within_a_radius_are_those_of_numpy(metric, rng, there):
    X = rng.normal(size=(50, 3)).astype(np.float32)
    for Q in (None, X[:7] + np.float32(0.1)):
        here = within(X, 0.7, Q, metric)
        elsewhere = within(there(X), 0.7, None if Q is None else there(Q), metric)
        same(elsewhere[:2], here[:2])
        np.testing.assert_allclose(elsewhere.distances.numpy(force=True), here.distances, rtol=1e-5, atol=1e-6)
    same(neighbor_graph(there(X), None, 3.0, "euclidean")[:2], neighbor_graph(X, None, 3.0, "euclidean")[:2])
    with pytest.raises(ValueError, match="radius must reach a neighbour of every row; got 0.01"):
        neighbor_graph(there(X), None, 0.01, "euclidean")


@pytest.mark.parametrize("ordered", [False, True])
def test_paths_have_the_bits_of_numpy(ordered, strip, there, monkeypatch):
    monkeypatch.setattr(device_geodesics, "_MANY", 1 if ordered else 2**22)
    here = neighbor_graph(strip, 3, None, "euclidean")
    elsewhere = moved_to(here, there(strip))
    sources = None if ordered else np.array([5, 0, 13])
    found = geodesics(elsewhere, sources, squared=True).numpy(force=True)
    np.testing.assert_array_equal(found, geodesics(here, sources, squared=True))
    cut = part_of(here, np.r_[0:4, 9:14])
    np.testing.assert_array_equal(
        geodesics(moved_to(cut, there(strip)), [0, 5]).numpy(force=True), geodesics(cut, [0, 5])
    )


def test_the_residual_variance_is_that_of_numpy(rng, there):
    D2, Y = rng.random((9, 21)).astype(np.float32), rng.normal(size=(21, 3))
    drawn = np.arange(9) * 2
    np.testing.assert_allclose(
        residual_by_dimension(there(D2.T.copy()).T, drawn, there(Y)), residual_by_dimension(D2, drawn, Y), rtol=1e-6
    )


@pytest.mark.parametrize(
    "options",
    [
        {"n_neighbors": 4},
        {"radius": 0.7},
        {"n_neighbors": 4, "landmarks": 8},
        {"n_neighbors": 4, "supervision": 0.3},
        {"n_neighbors": 4, "metric": "mahalanobis", "new_points": "interpolate"},
    ],
    ids=str,
)
def test_maps_and_places_are_those_of_numpy(options, strip, there, tmp_path):
    y = np.arange(14) // 7
    here, elsewhere = Isomap(2, random_state=0, **options), Isomap(2, random_state=0, **options)
    expected, found = here.fit_transform(strip, y), elsewhere.fit_transform(there(strip), y)
    assert isinstance(found, torch.Tensor)
    close = {"atol": 1e-3 * np.abs(expected).max()}
    np.testing.assert_allclose(found.numpy(force=True), expected, **close)
    np.testing.assert_allclose(elsewhere.eigenvalues_, here.eigenvalues_, rtol=1e-4)
    np.testing.assert_allclose(elsewhere.residual_variance_, here.residual_variance_, atol=1e-4)
    new = (strip[::6] + np.float32(0.01)).astype(np.float32)
    positions = here.transform(new)
    np.testing.assert_allclose(elsewhere.transform(there(new)).numpy(force=True), positions, **close)
    np.testing.assert_allclose(elsewhere.transform(new), positions, **close)
    np.testing.assert_allclose(here.transform(there(new)).numpy(force=True), positions, **close)
    elsewhere.save(tmp_path / "map.lowdim")
    np.testing.assert_allclose(lowdim.load(tmp_path / "map.lowdim").transform(new), positions, **close)


@pytest.mark.parametrize("policy", ["bridge", "largest"])
def test_broken_graphs_are_mended_as_in_numpy(policy, strip, there):
    X = np.concatenate([strip[:8], strip[8:] + 9])
    model = Isomap(2, n_neighbors=3, disconnected=policy)
    with pytest.warns(UserWarning, match="has 2 components"):
        expected = model.fit(X).embedding_
    with pytest.warns(UserWarning, match="has 2 components"):
        found = model.fit(there(X)).embedding_
    np.testing.assert_allclose(found.numpy(force=True), expected, atol=1e-3 * np.abs(expected).max())
