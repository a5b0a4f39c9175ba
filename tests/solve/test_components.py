import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim.solve.component_count import completed, components_for, elbow
from lowdim.solve.signs import signs


@pytest.mark.parametrize(
    ("values", "k"),
    [
        ([10, 1, 0.9, 0.8], 1),
        ([10, 9, 8, 0.1, 0.1, 0.1], 3),
        ([5, 4, 3, 2, 1], 5),  # a straight line has no corner
        ([5, 5, 5], 3),
        ([9, 8, 7, 1], 4),  # it falls at the very end: nothing lies below the line
        ([1], 1),
        ([2, 1], 2),
    ],
)
def test_elbow_on_graphs_whose_corner_is_plain(values, k):
    assert elbow(values) == k


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=50), st.floats(0.1, 10))
def test_elbow_is_a_count_and_does_not_depend_on_units(values, factor):
    values = np.sort(values)[::-1]
    assert 1 <= elbow(values) <= len(values)
    assert elbow(values * 2.0 ** round(factor)) == elbow(values)


def test_elbow_of_nothing_is_refused():
    with pytest.raises(ValueError, match="non-empty"):
        elbow([])


@pytest.mark.parametrize(("p", "k"), [(0.5, 1), (0.6, 1), (0.61, 2), (0.9, 2), (0.95, 3), (0.999, 3)])
def test_fewest_components_that_reach_a_proportion(p, k):
    assert components_for(p, [0.6, 0.3, 0.1]) == k


@given(r=st.integers(0, 6), extra=st.integers(0, 4), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_completion_is_orthonormal_and_depends_on_the_span_alone(r, extra, seed):
    rng = np.random.default_rng(seed)
    d = r + extra + 2
    V = np.linalg.qr(rng.normal(size=(d, r)))[0].T
    turned = np.linalg.qr(rng.normal(size=(r, r)))[0] @ V if r else V
    full = completed(V, r + extra)
    np.testing.assert_allclose(full @ full.T, np.eye(r + extra), atol=1e-9)
    np.testing.assert_array_equal(full[:r], V)
    np.testing.assert_allclose(full[r:], completed(turned, r + extra)[r:], atol=1e-6)


def test_signs_make_the_largest_loading_positive_and_ignore_rounding():
    V = np.array([[0.1, -0.9], [-0.7, 0.7 + 1e-9], [0.7, -0.7 - 1e-9], [0.0, 0.0]])
    np.testing.assert_array_equal(signs(V), [-1, -1, 1, 1])
    np.testing.assert_array_equal(signs(-V[:3]), [1, 1, -1])
