from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

from lowdim import TSNE, UMAP, _native, quality
from lowdim.backends.torch import density as device_density
from lowdim.relate.fuzzy import fuzzy_union, memberships
from lowdim.relate.neighbors import nearest
from lowdim.relate.radii import local_radii, log_radii
from lowdim.solve.cross_entropy import CrossEntropy, curve
from lowdim.solve.density import Density, Trend, map_radii, native
from lowdim.solve.descent import place
from lowdim.solve.divergence import Divergence, Falloff

A, B = curve(0.1, 1.0)


def put(A, device):
    return torch.tensor(A, device=device)


def array(A):
    return A.numpy(force=True) if isinstance(A, torch.Tensor) else np.asarray(A)


@pytest.fixture
def related(rng):
    near = nearest((rng.normal(size=(60, 3)) * rng.lognormal(size=(60, 1))).astype(np.float32), 6)
    return fuzzy_union(near.indices, memberships(near.distances).values), near


def test_radii_of_rows_are_those_of_numpy(related, device):
    graph, near = related
    there = tuple(put(part, device) for part in graph)
    for some in (slice(None), slice(45, None)):
        lists = near.indices[some].copy(), near.distances[some].copy()
        found = local_radii(there, *(put(part, device) for part in lists))
        np.testing.assert_allclose(array(found), local_radii(graph, *lists), rtol=1e-9)


@pytest.mark.parametrize("similarity", [{"a": A, "b": B}, {"dof": 1.0}, {"dof": 3.0}])
@pytest.mark.parametrize("trend", [None, Trend(0.0, 1.0, 0.2, 1.1, 0.6)])
def test_radii_and_gradient_of_a_map_are_those_of_numpy(similarity, trend, related, device, rng):
    graph, _ = related
    Y = rng.normal(size=(60, 2)).astype(np.float32)
    radii = rng.normal(size=60).astype(np.float32)
    radii[3] = np.nan
    there = tuple(put(part, device) for part in graph)
    np.testing.assert_allclose(
        array(map_radii(there, put(Y, device), similarity)), map_radii(graph, Y, similarity), atol=2e-4
    )
    term = Density(radii, 1.5, 0.5, 0.2, trend)
    found = device_density.DensityTerm(term, there, similarity).gradient(put(Y, device))
    expected = _native.density_gradient(*graph, Y, **similarity, **native(term))
    np.testing.assert_allclose(array(found)[:, :2], expected, atol=1e-3 * np.abs(expected).max())
    assert (array(found)[:, 2] >= 0).all()


@pytest.mark.parametrize("loss", [CrossEntropy(A, B, 5.0), Divergence(Falloff("student"), "exact")])
def test_new_points_are_placed_as_by_numpy(loss, related, device, rng):
    _, near = related
    Y = rng.normal(size=(60, 2)).astype(np.float32)
    picked, weights = near.indices[:12].copy(), np.full((12, 6), 1 / 6, np.float32)
    term = Density(rng.normal(size=12).astype(np.float32), 0.5, 0.5, 0.2, Trend(0.0, 1.0, -0.5, 1.0, 0.8))
    loss = replace(loss, density=term)
    expected = place(picked, weights, Y, loss)
    found = array(place(put(picked, device), put(weights, device), put(Y, device), loss))
    assert np.median(np.linalg.norm(found - expected, axis=1)) < 1e-2


@pytest.mark.parametrize("method", [UMAP, TSNE])
def test_fits_keep_density(method, device):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) * np.repeat([1.0, 4.0, 16.0], 30)[:, None]
    X = X.astype(np.float32)
    length = {"n_epochs": 60} if method is UMAP else {"max_iter": 120, "early_exaggeration_iter": 40}
    model = method(densmap=True, random_state=0, **length).fit(put(X, device))
    assert quality.density_preservation(X, array(model.embedding_)) > 0.6
    known = array(model.rad_orig_)
    plain = nearest(X, model._near_each(90))
    if method is UMAP:
        graph = fuzzy_union(plain.indices, memberships(plain.distances).values)
        np.testing.assert_allclose(known, log_radii(local_radii(graph, plain.indices, plain.distances))[0], atol=1e-3)
    new = model.transform(put(X[:4] + 0.5, device))
    assert np.isfinite(array(new)).all()
    assert np.isfinite(array(model.transform(X[:4] + np.float32(0.5)))).all()
