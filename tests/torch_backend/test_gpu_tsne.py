from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

import lowdim
from lowdim import LLE, MDS, SNE, TSNE, UMAP, PaCMAP, _native
from lowdim.backends.torch import descent_loop, new_points, repulsive_field, tensors
from lowdim.backends.torch import layout as device_layout
from lowdim.backends.torch.anchors import DrawnPoints
from lowdim.backends.torch.kernels.step import step
from lowdim.backends.torch.space_filling_curve import along_curve
from lowdim.compose import layout
from lowdim.relate.affinities import affinities, likelihoods
from lowdim.relate.equal_rows import find_equal, merge_equal
from lowdim.relate.neighbors import nearest
from lowdim.relate.trust import familiar, trust
from lowdim.solve.divergence import Divergence, Falloff, divergence, gradient

CAUCHY, STUDENT, GAUSS = Falloff("student"), Falloff("student", 0.5), Falloff("gauss")


@pytest.fixture(scope="module")
def digits():
    return lowdim.data.load("digits")[0].astype(np.float32)


def put(A, device):
    return torch.tensor(A, device=device)


def dense(P):
    indptr, indices, values = (np.asarray(torch.as_tensor(part).cpu()) for part in P)
    return sp.csr_array((values, indices, indptr), shape=(len(indptr) - 1,) * 2).toarray()


@pytest.fixture
def related(rng, device):
    """Affinities of 21 rows, in NumPy and on the device."""
    near = nearest(rng.normal(size=(21, 3)).astype(np.float32), 5)
    p, _ = likelihoods(near.distances, [2.0])
    return affinities(near.indices, p), affinities(put(near.indices, device), put(p, device))


@pytest.mark.parametrize("options", [{"perplexities": [2.0, 3.5]}, {"perplexities": [3.0], "sigma": 0.7}])
def test_likelihoods_are_those_of_numpy(options, rng, device):
    distances = np.sort(rng.gamma(3.0, size=(4, 6)), axis=1).astype(np.float32)
    distances[1] = 2.0
    for found, expected in zip(
        likelihoods(put(distances, device), **options), likelihoods(distances, **options), strict=True
    ):
        np.testing.assert_allclose(found.numpy(force=True), expected, rtol=2e-4, atol=1e-6)
    with pytest.raises(ValueError, match="finite.*got inf"):
        likelihoods(put(distances * np.float32(np.inf), device), **options)


def test_affinities_are_those_of_numpy(related):
    here, there = related
    np.testing.assert_allclose(dense(there), dense(here), rtol=1e-6)
    assert dense(there).sum() == pytest.approx(1, abs=1e-6)


def test_equal_rows_are_found_and_merged_as_in_numpy(rng, device):
    X = rng.integers(2, size=(40, 3)).astype(np.float64)
    X[5] *= -0.0 if X[5].any() else 1.0
    first = find_equal(X, X)
    np.testing.assert_array_equal(find_equal(put(X, device), put(X, device)).numpy(force=True), first)
    assert find_equal(put(X, device), put(X[:2] + 5, device)).tolist() == [-1, -1]
    Y = rng.normal(size=(40, 2)).astype(np.float32)
    merged = merge_equal(put(Y, device), put(first, device)).numpy(force=True)
    np.testing.assert_allclose(merged, merge_equal(Y, first), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("direct", [3000, 1], ids=["direct", "subspace"])
def test_the_layout_is_that_of_numpy(direct, decaying, device, monkeypatch):
    monkeypatch.setattr(device_layout, "_DIRECT", direct)
    found = layout.by_pca(put(decaying, device), 2, 0).numpy(force=True)
    np.testing.assert_allclose(found, layout.by_pca(decaying, 2, 0), rtol=1e-6, atol=1e-9)
    line = np.outer(np.arange(9.0), [1.0, 2.0])
    np.testing.assert_allclose(
        layout.by_pca(put(line, device), 2, 3).numpy(force=True), layout.by_pca(line, 2, 3), atol=1e-12
    )


@pytest.mark.parametrize(("falloff", "k"), [(CAUCHY, 2), (STUDENT, 1), (GAUSS, 3), (STUDENT, 3)])
def test_the_divergence_is_that_of_numpy(falloff, k, related, rng, device):
    here, there = related
    Y = rng.normal(size=(21, k)).astype(np.float32)
    found, expected = divergence(there, put(Y, device), falloff), divergence(here, Y, falloff)
    assert found.value == pytest.approx(expected.value, rel=1e-6)
    np.testing.assert_allclose(found.points.numpy(force=True), expected.points, rtol=1e-4, atol=1e-6)
    assert found.error == 0


@pytest.mark.parametrize(("falloff", "k"), [(CAUCHY, 2), (STUDENT, 2), (GAUSS, 1), (CAUCHY, 1)])
def test_the_grid_gives_the_exact_sums(falloff, k, rng, device):
    Y = put((3 * rng.normal(size=(35, k))).astype(np.float32), device)
    forces = []
    for repulsion in (repulsive_field.Grid(Y, falloff, 0.5 * falloff.width), repulsive_field.Exact(Y, falloff)):
        repulsion.fit(Y.amin(0).tolist(), Y.amax(0).tolist(), 1.1)
        push = torch.full_like(Y, torch.nan)
        repulsion.repel(Y, push)
        forces.append((push, float(repulsion.total)))
        assert not int(repulsion.flag)
    (grid, total), (exact, sums) = forces
    assert total == pytest.approx(sums, rel=1e-4)
    assert float((grid - exact).norm() / exact.norm()) < 2e-3


def test_points_in_one_cell_are_summed_before_they_are_added(device):
    Y = torch.zeros(40, 2, device=device)
    grid = repulsive_field.Grid(Y, CAUCHY, 0.5)
    grid.fit([-1.0, -1.0], [1.0, 1.0], 1.0)
    grid.repel(Y, torch.zeros_like(Y))
    assert float(grid.total) == pytest.approx(40 * 39, rel=1e-3)


def test_a_point_outside_the_grid_is_noticed(device):
    Y = torch.zeros(3, 2, device=device)
    grid = repulsive_field.Grid(Y, CAUCHY, 0.5)
    for lost in (1000.0, torch.nan):
        grid.fit([-1.0, -1.0], [1.0, 1.0], 1.0)
        Y[2, 1] = lost
        grid.repel(Y, torch.zeros_like(Y))
        assert int(grid.flag) == 1


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("falloff", "k"), [(CAUCHY, 2), (GAUSS, 1), (STUDENT, 3)])
def test_a_step_goes_down_the_gradient(falloff, k, wide, related, rng, device, monkeypatch):
    monkeypatch.setattr(descent_loop, "_NARROW", 1 if wide else 2**17)
    here, there = related
    Y = rng.normal(size=(21, k)).astype(np.float32)
    loss = Divergence(falloff, "exact", exaggerated=0, rate=1e-3)
    moved = put(Y, device)
    assert descent_loop.lower(loss, there, moved, 1, 50, lambda *_: False, lambda _: None) == 1
    # The first gains are 0.8 where the gradient is 0 or more below no velocity, 1.2 where not.
    _, slope = gradient(here, Y.astype(np.float64), falloff)
    gain = np.where(slope > 0, 1.2, 0.8)
    expected = Y - 1e-3 * gain * slope / 4
    np.testing.assert_allclose(
        moved.numpy(force=True), expected - expected.mean(axis=0), atol=2e-7 if wide or k == 3 else 2e-6
    )


def test_steps_have_momentum_gains_and_a_limit(rng, device):
    Y, v, pull, push = (rng.normal(size=(5, 3)).astype(np.float32) for _ in range(4))
    gains = rng.uniform(0.01, 2, size=(5, 3)).astype(np.float32)
    there = [put(part, device) for part in (Y, v, gains, pull, push)]
    plan = torch.tensor([2.0, 0.8, 12.0, 0.5], device=device)
    total, free = torch.tensor(7.0, dtype=torch.float64, device=device), DrawnPoints(None, there[0])
    step[(1,)](*there, total, plan, *free.arguments, 5, 3, DRAWN=free.any, B=8, BD=4)
    g = 12 * pull - push / 7
    gains = np.maximum(np.where((g > 0) != (v > 0), gains + 0.2, gains * 0.8), 0.01)
    v = 0.8 * v - 2 * gains * g
    v *= np.minimum(1, 0.5 / np.linalg.norm(v, axis=1, keepdims=True))
    for found, expected in zip(there[:3], (Y + v, v, gains), strict=True):
        np.testing.assert_allclose(found.numpy(force=True), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("gathered", "settled", "longest", "done"),
    [(1e9, 1e9, 75, 3), (-1e9, 1e9, 75, 8), (1e9, -1e9, 75, 8), (1e9, -1e9, 2, 4)],
)
def test_exaggeration_ends_where_it_gains_no_more(gathered, settled, longest, done, related, rng, device, monkeypatch):
    monkeypatch.setattr(_native, "CHECK_EARLY", 1)
    for name, value in (("GATHERED", gathered), ("SETTLED", settled), ("LONGEST_WAIT", longest)):
        monkeypatch.setattr(_native, name, value)
    Y = put(rng.normal(size=(21, 2)).astype(np.float32), device)
    loss = Divergence(CAUCHY, "exact", exaggerated=7, exaggeration=4.0)
    # It is told at the second look, after two iterations; those that follow it are as many as planned, less half of
    # the iterations that were waited.
    assert descent_loop.lower(loss, related[1], Y, 8, 80, lambda *_: False, lambda _: None) == done


def test_the_pace_is_that_of_numpys_descent(related, device):
    _, there = related
    loss = Divergence(CAUCHY, "exact", exaggerated=10, exaggeration=4.0)
    plans = [
        descent_loop._DescentLoop(loss, there, torch.zeros(21, 2, device=device), 100, None)._plan(done)
        for done in (0, 9, 10, 60, 300)
    ]
    assert [plan[1] for plan in plans] == pytest.approx([0.8, 0.8, 0.8, 0.85, 0.9])
    assert [plan[0] for plan in plans] == pytest.approx([0.3 * 21 / 4] * 2 + [0.5 * 21] * 3)


def test_iterations_in_which_a_point_left_the_grid_are_done_again(related, rng, device, monkeypatch):
    _, there = related
    loss = Divergence(CAUCHY, "fft", exaggerated=0, rate=30.0)
    Y = put(rng.normal(size=(21, 2)).astype(np.float32), device)
    maps, looks = [], []
    for growth in (0.3, 20.0):
        monkeypatch.setattr(
            descent_loop._DescentLoop, "_growth", lambda self, count, growth=growth: looks.append(growth) or growth
        )
        maps.append(Y.clone())
        descent_loop.lower(loss, there, maps[-1], 1, 50, lambda *_: False, lambda _: None)
    assert looks.count(0.3) > looks.count(20.0)
    np.testing.assert_allclose(*(Y.numpy(force=True) for Y in maps), atol=3e-2)


def test_whole_fits_and_places_agree_with_numpy(rng, device, monkeypatch):
    X = rng.normal(size=(14, 3)).astype(np.float32)
    model = TSNE(perplexity=2, max_iter=2, early_exaggeration_iter=1, callback_every=1, random_state=0, method="exact")
    told = []
    there = lowdim.TSNE(**model.get_params() | {"callback": lambda *seen: told.append(seen)}).fit(put(X, device))
    here = model.fit(X)
    assert isinstance(there.embedding_, torch.Tensor)
    assert there.embedding_.device.type == device
    assert [seen[0] for seen in told] == [1]
    assert isinstance(told[0][2], torch.Tensor)
    assert there.kl_divergence_ == pytest.approx(here.kl_divergence_, rel=1e-4)
    np.testing.assert_allclose(there.loss_curve_, here.loss_curve_, rtol=1e-4)
    monkeypatch.setattr(new_points, "PLACING_STEPS", 2)
    new = X[:2] + np.float32([[0.1], [0.0]])
    places_there = there.transform(put(new, device))
    assert torch.equal(places_there[1], there.embedding_[1])
    assert np.isfinite(places_there.numpy(force=True)).all()
    assert isinstance(there.transform(new), np.ndarray)  # a model of tensors places rows of NumPy, and the reverse
    assert isinstance(here.transform(put(new, device)), torch.Tensor)


@pytest.mark.parametrize("method", [TSNE, SNE])
def test_tensors_in_this_memory_give_the_bits_of_numpy(method, digits, tmp_path, monkeypatch):
    monkeypatch.setattr(tensors, "INTERPRETED", False)
    X = torch.from_numpy(digits[:120])
    here = method(max_iter=60, random_state=0).fit(digits[:120])
    there = method(max_iter=60, random_state=0).fit(X)
    assert isinstance(there.embedding_, torch.Tensor)
    np.testing.assert_array_equal(there.embedding_.numpy(), here.embedding_)
    assert there.kl_divergence_ == here.kl_divergence_
    new = digits[120:130]
    np.testing.assert_array_equal(there.transform(torch.from_numpy(new)).numpy(), here.transform(new))
    there.save(tmp_path / "map.lowdim")
    again = lowdim.load(tmp_path / "map.lowdim")
    assert isinstance(again.embedding_, np.ndarray)
    np.testing.assert_array_equal(again.transform(new), here.transform(new))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (TSNE(method="barnes_hut"), "barnes_hut' has no version"),
        (TSNE(metric="manhattan"), "metric='manhattan' has no version"),
        (TSNE(neighbor_search="approximate"), "approximate' has no version"),
        (TSNE(perplexity=1000.0), "perplexity must be"),
        (TSNE(metric="precomputed", init="random"), "no version for a torch tensor"),
        (LLE(), "LLE has no version"),
        (MDS(), "MDS has no version"),
    ],
)
def test_what_tensors_cannot_have_is_refused_by_name(model, words, device):
    with pytest.raises((TypeError, ValueError), match=words):
        model.fit(torch.rand(30, 30, device=device))


def test_a_device_that_is_not_there_is_refused(digits):
    with pytest.raises(ValueError, match=r"device='cuda:99' needs a GPU that PyTorch can use"):
        TSNE(device="cuda:99").fit(digits[:50])
    with pytest.raises(ValueError, match="device must be"):
        TSNE(device="tpu").fit(digits[:50])
    assert isinstance(TSNE(device="cpu", max_iter=5).fit_transform(digits[:50]), np.ndarray)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that PyTorch can use")
@pytest.mark.parametrize(
    "model",
    [
        TSNE(),
        TSNE(method="exact"),
        TSNE(1),
        TSNE(3),
        TSNE(dof=0.5, metric="cosine"),
        TSNE(1, dof=2.0, metric="mahalanobis"),
        SNE(),
        UMAP(),
        UMAP(3, init="pca"),
        PaCMAP(),
    ],
    ids=str,
)
def test_on_a_gpu_a_map_has_the_same_bits_in_every_run(model, rng):
    X = rng.normal(size=(3000, 10)).astype(np.float32)
    model = model.set_params(random_state=0, device="cuda")
    maps = [model.fit_transform(X) for _ in range(2)]
    np.testing.assert_array_equal(*maps)
    # At new rows that are given ones, the places are theirs.
    np.testing.assert_array_equal(model.transform(X[:5]), maps[0][:5])


def test_the_command_line_names_a_device_that_is_not_there(capsys):
    from lowdim.cli import main

    for method, words in (("tsne", "needs a GPU that PyTorch can use"), ("lle", "no parameter 'device'")):
        with pytest.raises(SystemExit):
            main(["reduce", "iris", "--method", method, "--device", "cuda:99"])
        assert words in capsys.readouterr().err


def test_trust_is_that_of_numpy(rng, device):
    near = nearest(rng.normal(size=(40, 3)), 20)
    new = nearest(rng.normal(size=(40, 3)), 20, rng.normal(size=(6, 3)) * 2)
    Y = rng.normal(size=(40, 2))
    here = familiar(near.indices, near.distances, Y)
    there = familiar(put(near.indices, device), put(near.distances, device), put(Y, device))
    for found, expected in zip(there, here, strict=True):
        np.testing.assert_allclose(found.numpy(force=True), expected, rtol=1e-12)
    found = trust(there, put(new.indices, device), put(new.distances, device), put(Y, device)).numpy(force=True)
    np.testing.assert_allclose(found, trust(here, new.indices, new.distances, Y), rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_curve_alternates_the_bits_of_coordinates(k, rng, device):
    cells = rng.integers(1024, size=(50, k))
    cells[0], cells[1] = 0, 1023
    expected = sum(((cells[:, a] >> bit) & 1) << (k * bit + a) for bit in range(10) for a in range(k))
    found = along_curve(put(cells.astype(np.float32), device))
    np.testing.assert_array_equal(found.numpy(force=True), expected)
