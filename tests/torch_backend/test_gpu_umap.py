from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

from lowdim import UMAP, PaCMAP
from lowdim.backends.torch import layout as device_layout
from lowdim.backends.torch import new_points, small_components
from lowdim.backends.torch import pairs as device_pairs
from lowdim.backends.torch import smoothest as device_smoothest
from lowdim.backends.torch.coarse_graph import Graph, coarsened, tails_of
from lowdim.backends.torch.kernels.chebyshev import chebyshev
from lowdim.backends.torch.smoothest import parts, smoothest
from lowdim.compose import layout
from lowdim.relate import pairs
from lowdim.relate.fuzzy import fuzzy_union, intersected, memberships, sharpened, typical_distance
from lowdim.relate.neighbors import nearest
from lowdim.solve import cross_entropy, pair_loss
from lowdim.solve.cross_entropy import CrossEntropy, curve
from lowdim.solve.pair_loss import PairLoss


def put(A, device):
    return torch.tensor(A, device=device)


def array(A):
    return A.numpy(force=True) if isinstance(A, torch.Tensor) else np.asarray(A)


def quiet(*_):
    return False


@pytest.fixture
def graphs(rng, device):
    """The fuzzy graph of 40 rows, in NumPy and on the device."""
    near = nearest(rng.normal(size=(40, 3)).astype(np.float32), 6)
    return tuple(
        fuzzy_union(move(near.indices), memberships(move(near.distances)).values, 0.8)
        for move in (lambda A: A, lambda A: put(A, device))
    )


@pytest.mark.parametrize("weight", [0.2, 0.5, 0.9])
def test_intersections_with_targets_are_those_of_numpy(weight, graphs, device, rng):
    near = nearest(rng.normal(size=(40, 1)), 5)
    targets = fuzzy_union(near.indices, memberships(near.distances).values)
    expected = intersected(graphs[0], targets, weight)
    found = intersected(graphs[1], type(targets)(*(put(part, device) for part in targets)), weight)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(array(one), other, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("local", [0.4, 1.0, 2.5, 9.0])
def test_memberships_are_those_of_numpy(local, rng, device):
    distances = np.sort(rng.gamma(3.0, size=(9, 6)), axis=1).astype(np.float32)
    distances[1] = 2.0
    distances[2, :3] = 0.0
    distances[3] = 0.0
    distances[4, :5] = 0.0
    for found, expected in zip(memberships(put(distances, device), local), memberships(distances, local), strict=True):
        np.testing.assert_allclose(array(found), expected, rtol=1e-5, atol=1e-7)
    assert typical_distance(put(distances, device)) == pytest.approx(typical_distance(distances), rel=1e-6)
    with pytest.raises(ValueError, match="finite.*got inf"):
        memberships(put(distances + np.float32(np.inf), device))


def test_graphs_are_those_of_numpy(graphs, device):
    here, there = graphs
    for found, expected in zip(there, here, strict=True):
        np.testing.assert_allclose(array(found), expected, rtol=1e-5)
    codes = (np.arange(40) % 3 - 1).astype(np.int32)
    for found, expected in zip(sharpened(there, codes, 0.4), sharpened(here, codes, 0.4), strict=True):
        np.testing.assert_allclose(array(found), expected, rtol=1e-5)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_epochs_and_losses_are_those_of_numpy(k, graphs, rng, device):
    here, there = graphs
    Y = 3 * rng.normal(size=(40, k)).astype(np.float32)
    loss = CrossEntropy(*curve(0.1, 1.0), negatives=5.0, rate=1.5, seed=3, unit=2.0)
    told = [], []
    maps = Y.copy(), put(Y, device)
    for graph, map_, seen in zip(graphs, maps, told, strict=True):
        tell = lambda done, value, seen=seen: seen.append((done, value))  # noqa: E731
        assert loss.lower(graph, map_, 5, 2, tell, quiet) == 5
    np.testing.assert_allclose(array(maps[1]), maps[0], rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(told[1], told[0], rtol=1e-3)
    found, expected = loss.at(there, maps[1]), loss.at(here, array(maps[1]))
    assert found.value == pytest.approx(expected.value, rel=1e-5)
    assert found.error == expected.error == 0
    np.testing.assert_allclose(array(found.points), expected.points, rtol=1e-4)
    assert loss.lower(there, maps[1], 5, 1, lambda *_: True, quiet) == 1


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("ring", [10**6, 20], ids=["partners", "ring"])
def test_pairs_and_their_loss_are_those_of_numpy(ring, k, rng, device, monkeypatch):
    monkeypatch.setattr(pairs, "RING", ring)
    X = rng.normal(size=(30, 4)).astype(np.float32)
    both = []
    for move in (lambda A: A, lambda A: put(A, device)):
        near = nearest(move(X), 9)
        scales = pairs.scales(near.distances)
        columns = pairs.nearest_by_scale(near.indices, near.distances, scales, scales, 4)
        own = pairs.at_columns(near.indices, columns)
        both.append(pairs.Pairs(own, pairs.draw_mid(move(X), 2, "euclidean", 0), *pairs.draw_further(own, 5, 0)))
        np.testing.assert_array_equal(array(pairs.chosen(columns, 9)).sum(axis=1), 4)
    for found, expected in zip(*both[::-1], strict=True):
        np.testing.assert_array_equal(array(found), expected)
    Y = rng.normal(size=(30, k)).astype(np.float32)
    maps, told = (Y.copy(), put(Y, device)), ([], [])
    for of, map_, seen in zip(both, maps, told, strict=True):
        tell = lambda done, value, seen=seen: seen.append((done, value))  # noqa: E731
        assert PairLoss(rate=0.1).lower(of, map_, 9, 4, tell, quiet) == 9
    np.testing.assert_allclose(array(maps[1]), maps[0], rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(told[1], told[0], rtol=1e-4)
    found, expected = PairLoss().at(both[1], maps[1]), PairLoss().at(both[0], array(maps[1]))
    np.testing.assert_allclose(array(found.points), expected.points, rtol=1e-4)
    assert PairLoss().lower(both[1], maps[1], 5, 1, lambda *_: True, quiet) == 1


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("loss", [CrossEntropy(*curve(0.1, 1.0), negatives=5.0, unit=2.0), PairLoss(further=6.0)])
def test_new_points_are_placed_as_in_numpy(loss, k, rng, device, monkeypatch):
    Y = (3 * rng.normal(size=(40, k))).astype(np.float32)
    neighbors = np.argsort(rng.random((3, 40)), axis=1)[:, :5].astype(np.int32)
    v = rng.uniform(0.1, 1, size=(3, 5)).astype(np.float32)
    there = put(neighbors, device), put(v, device), put(Y, device)
    for module in (new_points, cross_entropy, pair_loss):
        monkeypatch.setattr(module, "PLACING_STEPS", 40)
    np.testing.assert_allclose(
        array(loss.place_new(*there, quiet)), loss.place_new(neighbors, v, Y, quiet), rtol=5e-3, atol=5e-3
    )


def test_parts_of_a_graph_are_found(rng, device):
    A = sp.random_array((60, 60), density=0.015, random_state=rng, format="csr")
    A = sp.csr_array(A + A.T)
    count, labels = sp.csgraph.connected_components(A)
    found = array(parts(put(A.indptr.astype(np.int64), device), put(A.indices, device)))
    assert len(np.unique(found)) == count
    assert len(np.unique(np.column_stack([found, labels]), axis=0)) == count
    assert (found <= np.arange(60)).all()


def test_a_step_of_chebyshevs_recurrence(rng, device):
    S = sp.csr_array(sp.random_array((21, 21), density=0.3, random_state=rng))
    V, W = rng.normal(size=(2, 21, 8)).astype(np.float32)
    there = [put(part, device) for part in (V, W, S.indptr.astype(np.int64), S.indices, S.data.astype(np.float32))]
    chebyshev[(2,)](*there, 21, 2.0, 0.5, -0.3, BR=16, BC=4, BW=8)
    np.testing.assert_allclose(array(there[1]), 2 * (V - S @ V) + 0.5 * V - 0.3 * W, rtol=1e-4, atol=1e-5)


def test_spectral_layouts_are_those_of_numpy(graphs, device, monkeypatch):
    here, there = graphs
    expected = layout.by_spectrum(here, 2, 0)
    np.testing.assert_allclose(array(layout.by_spectrum(there, 2, 0)), expected, atol=1e-9)
    found = array(smoothest(*there, 2, 0, 1e-3)[0])
    found -= found.mean(axis=0)
    # The same plane up to the tolerance of the eigenvectors.
    angles = np.linalg.svd(np.linalg.qr(found)[0].T @ np.linalg.qr(expected)[0])[1]
    assert angles.min() > 0.95
    monkeypatch.setattr(device_layout, "_SOLVED", 10**6)
    starts, ends, values = here
    apart = np.concatenate([starts, starts[-1] + starts[1:]]), np.concatenate([ends, ends + 40]), np.tile(values, 2)
    np.testing.assert_allclose(
        array(layout.by_spectrum(tuple(put(part, device) for part in apart), 2, 0)),
        layout.by_spectrum(apart, 2, 0),
        atol=1e-9,
    )


def by_product(S, V, W, alpha, beta, gamma):
    """A step of the recurrence without its kernel, which takes seconds in the interpreter."""
    A = torch.zeros(len(V), len(V), device=V.device)
    A[tails_of(S.starts), S.columns.long()] = S.values
    W.copy_(alpha * (V - A @ V) + beta * V + gamma * W)
    return W


def neighborhoods(rng, *sizes):
    """Sparse symmetric graphs of points in rectangles, side by side in one random order, and the part of each row."""
    blocks = [kneighbors_graph(rng.random((size, 2)) * [3, 1], 8) for size in sizes]
    A = sp.block_diag([block.maximum(block.T) for block in blocks], format="csr").astype(np.float32)
    mixed = rng.permutation(A.shape[0])
    A = sp.csr_array(A[mixed][:, mixed])
    parts_of = np.repeat(np.arange(len(sizes)), sizes)[mixed]
    return (A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data), parts_of


def overlap(A, B):
    """Smallest cosine of the angles between the column spaces of two centred layouts."""
    A, B = (np.linalg.qr(part - part.mean(axis=0))[0] for part in (A, B))
    return np.linalg.svd(A.T @ B)[1].min()


def test_a_graph_of_groups_keeps_all_weights(rng, device):
    here, _ = neighborhoods(rng, 300)
    coarse, group = coarsened(Graph(*(put(part, device) for part in here)), 0)
    W, chosen = sp.csr_array((here[2], here[1], here[0])), array(group)
    P = sp.csr_array((np.ones(300), (np.arange(300), chosen)))
    found = sp.csr_array(tuple(array(part) for part in (coarse.values, coarse.columns, coarse.starts)))
    np.testing.assert_allclose(found.toarray(), (P.T @ W @ P).toarray(), rtol=1e-6)
    assert 20 < chosen.max() + 1 < 100


def test_large_graphs_begin_with_the_graph_of_their_groups(rng, device, monkeypatch):
    monkeypatch.setattr(device_smoothest, "_step", by_product)
    monkeypatch.setattr(device_smoothest, "_LARGE", 100)
    monkeypatch.setattr(device_smoothest, "_COARSE", 20)
    here, _ = neighborhoods(rng, 600)
    found = array(smoothest(*(put(part, device) for part in here), 2, 0, 1e-3)[0])
    assert overlap(found, layout.by_spectrum(here, 2, 0)) > 0.99


def test_many_parts_are_laid_out_together(rng, device, monkeypatch):
    monkeypatch.setattr(device_smoothest, "_step", by_product)
    monkeypatch.setattr(device_layout, "_MANY", 1)
    here, part = neighborhoods(rng, 60, 70, 50)
    found = array(layout.by_spectrum(tuple(put(one, device) for one in here), 2, 0))
    expected = layout.by_spectrum(here, 2, 0)
    for c in range(3):
        A, B = found[part == c], expected[part == c]
        np.testing.assert_allclose(A.mean(axis=0), B.mean(axis=0), atol=1e-9)
        np.testing.assert_allclose(A.std(axis=0).max(), B.std(axis=0).max(), rtol=1e-3)
        assert (
            np.linalg.svd(np.linalg.qr(A - A.mean(axis=0))[0].T @ np.linalg.qr(B - B.mean(axis=0))[0])[1].max() > 0.95
        )


@pytest.mark.parametrize("k", [1, 2, 4, 140])
def test_small_parts_are_laid_out_together_as_each_is_in_numpy(k, rng, device, monkeypatch):
    monkeypatch.setattr(small_components, "_ENTRIES", 500)  # several batches
    sizes = [3, 20, 1, 9, 2, 40, 135, 5, 16, 17, 6, 9]
    blocks = [np.triu(rng.random((size, size)) * (rng.random((size, size)) < 0.7), 1) for size in sizes]
    for block in blocks:
        block[np.arange(len(block) - 1), np.arange(1, len(block))] += 0.1  # connected
    A = sp.block_diag([sp.coo_array(block + block.T) for block in blocks], format="csr")
    mixed = rng.permutation(A.shape[0])
    A = sp.csr_array(A[mixed][:, mixed].astype(np.float32))
    graph = A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data
    found = array(layout.by_spectrum(tuple(put(part, device) for part in graph), k, 0))
    np.testing.assert_allclose(found, layout.by_spectrum(graph, k, 0), atol=1e-8 if k < 140 else 1e-7)


@pytest.mark.parametrize("k", [1, 2])
def test_parts_are_arranged_by_their_means_as_in_numpy(k, rng, device):
    A = sp.block_diag([sp.coo_array(np.ones((size, size)) - np.eye(size)) for size in (7, 5, 9, 6)], format="csr")
    mixed = rng.permutation(27)
    A = sp.csr_array(A[mixed][:, mixed].astype(np.float32))
    graph = A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data
    X = rng.normal(size=(27, 3)) + 10 * rng.normal(size=(4, 3))[np.repeat(np.arange(4), (7, 5, 9, 6))[mixed]]
    parts_of = sp.csgraph.connected_components(A)[1]
    here = layout.by_spectrum(graph, k, 0, X)
    there = array(layout.by_spectrum(tuple(put(part, device) for part in graph), k, 0, put(X, device)))
    for c in range(4):  # equal eigenvalues leave the rows of a part any order
        np.testing.assert_allclose(there[parts_of == c].mean(0), here[parts_of == c].mean(0), atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        UMAP(n_neighbors=4, n_epochs=3, random_state=0, callback_every=2, target_weight=0.3),
        UMAP(1, n_neighbors=4, n_epochs=2, random_state=0, init="pca", metric="cosine"),
        PaCMAP(n_neighbors=3, max_iter=4, random_state=0),
        PaCMAP(n_neighbors=3, max_iter=2, random_state=0, init="spectral", metric="cosine"),
    ],
    ids=["umap", "umap by cosines", "pacmap", "pacmap by cosines"],
)
def test_whole_fits_agree_with_numpy(model, rng, device, monkeypatch):
    monkeypatch.setattr(new_points, "PLACING_STEPS", 3)
    X, y = (rng.normal(size=(24, 5)) + 3).astype(np.float32), np.arange(24) % 2
    there = type(model)(**model.get_params()).fit(put(X, device), y)
    here = model.fit(X, y)
    assert there.embedding_.device.type == device
    scale = np.abs(here.embedding_).max()
    np.testing.assert_allclose(array(there.embedding_), here.embedding_, atol=1e-2 * scale)
    assert there.loss_ == pytest.approx(here.loss_, rel=1e-2)
    np.testing.assert_array_equal(there.loss_iterations_, here.loss_iterations_)
    positions = there.transform(put(X[:2] + 0.1, device))
    assert positions.device.type == device
    assert np.isfinite(array(positions)).all()
    np.testing.assert_array_equal(array(there.transform(put(X[:2], device))), array(there.embedding_[:2]))
    assert np.isfinite(there.transform(X[:2] + 0.1)).all()  # NumPy rows, on the CPU


def test_wide_rows_of_pacmap_are_reduced_as_in_numpy(rng, device):
    X = rng.normal(size=(110, 105)) * np.linspace(3, 0.1, 105)
    mean, axes = layout.principal_axes(put(X, device), 100, 0)
    expected = layout.principal_axes(X, 100, 0)
    np.testing.assert_allclose(axes, expected.axes, atol=1e-6)
    found = layout.scores_of_new(put(X, device), layout.Axes(mean, axes))
    np.testing.assert_allclose(array(found), layout.scores(X, expected), atol=1e-5)
    mid = device_pairs.draw_mid(found.float(), 2, "euclidean", 0)
    assert mid.shape == (110, 2)
