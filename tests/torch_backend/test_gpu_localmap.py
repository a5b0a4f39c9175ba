from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

from lowdim import PaCMAP, _native, quality
from lowdim.backends.torch import pair_loss as device_pairs
from lowdim.solve.pair_loss import PairLoss


def put(A, device):
    return torch.tensor(A, device=device)


def array(A):
    return A.numpy(force=True) if isinstance(A, torch.Tensor) else np.asarray(A)


@pytest.fixture
def pairs(rng):
    others = np.array([rng.permutation(np.delete(np.arange(40), i))[:8] for i in range(40)], np.int32)
    none = np.empty((40, 0), np.int32)
    order = rng.permutation(40).astype(np.int32)
    return others[:, :3].copy(), none, others[:, 3:].copy(), order, np.empty(0, np.int32), np.empty((0, 2), np.int32)


@pytest.mark.parametrize("seed", [7, 2**62 + 11])
def test_partners_are_those_drawn_on_the_cpu(seed, pairs, device, rng):
    Y = rng.uniform(0, 9, size=(40, 2)).astype(np.float32)
    near = pairs[0].copy()
    near[4] = 4  # a row that rests
    expected = _native.draw_local(near, pairs[2], Y, local=4.0, seed=seed, round=3)
    loss = PairLoss(further=5.0, local=4.0, seed=seed)
    found = device_pairs.drawn_locally(put(near, device).long(), put(pairs[2], device), put(Y, device), loss, 3)
    np.testing.assert_array_equal(array(found), expected)


def test_the_loss_is_that_of_numpy(pairs, device, rng):
    Y = rng.normal(size=(40, 2)).astype(np.float32)
    loss = PairLoss(further=5.0, local=6.0)
    found = loss.at(tuple(put(part, device) for part in pairs), put(Y, device))
    expected = loss.at(pairs, Y)
    np.testing.assert_allclose(array(found.points), expected.points, rtol=1e-4)
    assert found.value == pytest.approx(expected.value, rel=1e-5)


def test_a_step_of_the_last_phase_is_that_of_numpy(pairs, device, rng):
    start = rng.normal(size=(40, 2)).astype(np.float32)
    loss = PairLoss(phased=False, further=5.0, local=6.0, seed=5)
    maps = []
    for move in (lambda A: A.copy(), lambda A: put(A, device)):
        Y = move(start)
        loss.lower(tuple(move(part) for part in pairs), Y, 12, 50, lambda *_: False, lambda _: None)
        maps.append(array(Y))
    np.testing.assert_allclose(maps[1], maps[0], atol=2e-2)


def test_fits_keep_neighbours(device):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 4)) + np.repeat([0, 8, 16], 20)[:, None]).astype(np.float32)
    model = PaCMAP(low_dist_thres=10, max_iter=90, random_state=0).fit(put(X, device))
    assert quality.trustworthiness(X, array(model.embedding_)) > 0.85
