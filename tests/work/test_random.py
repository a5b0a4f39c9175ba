import numpy as np
import pytest

from lowdim.work.random import seed_of, stream


def test_streams_depend_on_seed_stage_and_block_alone():
    draws = {
        (seed, stage, block): stream(seed, stage, block).random()
        for seed in (0, 1)
        for stage in "ab"
        for block in (0, 1)
    }
    assert len(set(draws.values())) == 8
    assert draws == {key: stream(*key).random() for key in draws}


def test_seeds_of_every_kind():
    assert seed_of(5) == seed_of(np.int32(5)) == 5
    assert seed_of(np.random.default_rng(3)) == seed_of(np.random.default_rng(3))
    assert seed_of(np.random.RandomState(3)) == seed_of(np.random.RandomState(3))
    assert seed_of(None) != seed_of(None)
    used = np.random.default_rng(3)
    assert seed_of(used) != seed_of(used)


@pytest.mark.parametrize("value", [-1, 1.5, "x", True])
def test_other_things_are_no_seed(value):
    with pytest.raises(ValueError, match="random_state must be"):
        seed_of(value)
