"""Anchors on a device: the steps of NumPy, pinned points and extended maps."""

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

from lowdim import TSNE, UMAP, PaCMAP
from lowdim.compose import layout
from lowdim.relate.affinities import affinities, likelihoods
from lowdim.relate.fuzzy import fuzzy_union, memberships
from lowdim.relate.neighbors import nearest
from lowdim.relate.pairs import Pairs, draw_further, draw_mid
from lowdim.solve.anchors import Anchors, strengths
from lowdim.solve.cross_entropy import CrossEntropy, curve
from lowdim.solve.descent import descend
from lowdim.solve.divergence import Divergence, Falloff
from lowdim.solve.pair_loss import PairLoss

N = 40
X = np.random.default_rng(0).normal(size=(N, 5))
NEAR = nearest(X, 9)


def case(name):
    if name == "tsne":
        P = affinities(NEAR.indices, likelihoods(NEAR.distances, [3.0])[0])
        return P, Divergence(Falloff("student"), "exact")
    if name == "umap":
        return fuzzy_union(NEAR.indices, memberships(NEAR.distances).values), CrossEntropy(
            *curve(0.1, 1.0), 5.0, unit=2
        )
    own = np.ascontiguousarray(NEAR.indices[:, :3])
    return Pairs(own, draw_mid(X, 2, "euclidean", 0), *draw_further(own, 4, 0)), PairLoss(phased=False)


def put(parts, device):
    return type(parts)(*(torch.tensor(part, device=device) for part in parts))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", ["tsne", "umap", "pacmap"])
def test_steps_with_anchors_are_those_of_numpy(name, k, scaled, device):
    relations, loss = case(name)
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(N, k)).astype(np.float32)
    shares = rng.random(N)
    shares[:9] = 0 if scaled else 1
    places = np.where(shares[:, None] == 1, Y, 3 * rng.normal(size=(N, k))).astype(np.float32)
    weights = strengths(shares, loss.anchor_unit(relations))
    expected = descend(relations, Y, loss, iterations=3, every=2, anchors=Anchors(places, weights, scaled))
    there = Anchors(*(torch.tensor(part, device=device) for part in (places, weights)), scaled)
    found = descend(put(relations, device), torch.tensor(Y, device=device), loss, iterations=3, every=2, anchors=there)
    free = descend(relations, Y, loss, iterations=3, every=2).embedding
    np.testing.assert_allclose(found.embedding.numpy(force=True), expected.embedding, rtol=5e-3, atol=5e-3)
    np.testing.assert_allclose(found.losses, expected.losses, rtol=1e-3)
    assert np.abs(expected.embedding - free).max() > 0.05
    if not scaled:
        np.testing.assert_array_equal(found.embedding.numpy(force=True)[:9], Y[:9])


def test_layouts_are_continued_as_in_numpy(device):
    graph = fuzzy_union(NEAR.indices, memberships(NEAR.distances).values)
    Y = np.random.default_rng(1).normal(size=(N, 2))
    known = np.arange(N) < 20
    found = layout.continued(put(graph, device), torch.tensor(Y, device=device), torch.tensor(known, device=device), 0)
    np.testing.assert_allclose(found.numpy(force=True), layout.continued(graph, Y, known, 0), atol=1e-6)
    np.testing.assert_array_equal(found.numpy(force=True)[known], Y[known])


@pytest.mark.parametrize(
    "model",
    [
        TSNE(max_iter=6, perplexity=5, random_state=0),
        UMAP(n_epochs=4, n_neighbors=5, init="pca", random_state=0),
        PaCMAP(max_iter=4, n_neighbors=4, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_maps_of_tensors_extend(model, device):
    rows = torch.tensor(X, dtype=torch.float32, device=device)
    first = model.fit(rows[:30])
    more = first.extend(rows[30:])
    assert more.embedding_.device == rows.device
    assert torch.equal(more.embedding_[:30], first.embedding_)
    assert more.embedding_.shape == (N, 2)
    again = type(model)(**model.get_params() | {"anchors": first, "anchor_weight": 1.0}).fit(rows)
    assert torch.equal(again.embedding_[:30], first.embedding_)
    scaled = type(model)(**model.get_params() | {"anchors": "pca", "anchor_weight": 0.5}).fit(rows)
    assert bool(torch.isfinite(scaled.embedding_).all())


def test_metric_scaling_of_tensors_is_that_of_numpy(device):
    model = TSNE(max_iter=6, perplexity=5, random_state=0, anchors="mds", anchor_weight=1.0)
    found = model.fit_transform(torch.tensor(X, device=device))
    np.testing.assert_allclose(found.numpy(force=True), model.fit_transform(X), rtol=1e-6, atol=1e-6)
