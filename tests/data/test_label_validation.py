"""Labels, targets and weights as users hold them: what is taken, and what is told where they cannot be."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from lowdim import quality
from lowdim.data import validation
from lowdim.data.labels import labels


class Model(BaseEstimator):
    pass


X = np.zeros((4, 2))


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (np.array([3, 1, 1, 3], dtype=object), [1, 3]),
        (pd.Series([True, False, None, True])[[0, 1, 1, 3]], [False, True]),
        (np.array([2.0, 1, 1, 2], dtype=object), [1.0, 2.0]),
        (pd.Categorical(["b", "a", "a", "b"]), ["a", "b"]),
        (pd.array(["b", "a", "a", "b"], dtype="string"), ["a", "b"]),
        (np.array(["2020-02-01", "2020-01-01"] * 2, dtype="datetime64[D]"), [date(2020, 1, 1), date(2020, 2, 1)]),
    ],
)
def test_labels_of_one_kind_are_taken(y, classes):
    found = labels("Model", y, X)
    assert found.classes.tolist() == classes
    assert found.codes.tolist() == [1, 0, 0, 1] or found.codes.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (
            np.array([1, "a", 2, "b"], dtype=object),
            r"one kind, all numbers or all text; got 1 at row 0 and 'a' at row 1",
        ),
        (pd.interval_range(0, 4), r"numbers, text or dates as labels; got Interval objects such as Interval\(0, 1"),
        (np.array([b"a", b"b", b"a", b"b"]), "got bytes objects such as b'a'.*Convert them"),
        ([[1], [2, 3], [1], [1]], "one label for each of the 4 rows of X; got lists of different lengths"),
        (3, "one label for each of the 4 rows of X; got a single int"),
        (sp.eye(4).tocsr(), "got a single csr_matrix"),
        ([1, 2, 1], "one label for each of the 4 rows of X; got 3"),
        (np.ones((4, 2)), r"a 1d array of labels; got shape \(4, 2\). Pass one column"),
        (np.array([np.ones(2), None, 1, 2], dtype=object), "got NaN or infinity at row 1"),
        (np.array([np.ones(2), 1, 1, 2], dtype=object), "of one kind"),
    ],
)
def test_labels_that_cannot_be_are_told(y, words):
    with pytest.raises(ValueError, match=f"Model: y must .*{words}"):
        labels("Model", y, X)


@pytest.mark.parametrize("measure", [quality.silhouette, quality.knn_accuracy, quality.neighbor_hit])
def test_a_measure_of_a_map_names_the_map(measure):
    with pytest.raises(ValueError, match="one label for each of the 30 rows of Y; got 3"):
        measure(np.random.default_rng(0).normal(size=(30, 2)), [0, 1, 0])


@pytest.mark.parametrize("y", [3, [[1], [2, 3], [1], [1]], [1, 2]])
def test_targets_that_cannot_be_are_told(y):
    with pytest.raises(ValueError, match="Model: y must have one value for each of the 4 rows of X; got .*Pass|Match"):
        validation.targets("Model", y, X)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (list("abcd"), "numbers; got <U1 such as .*'a'"),
        ([1, "a", 2, 3], "numbers; got <U"),
        (np.array([1, "a", 2, 3], dtype=object), "numbers; got object such as 1"),
        (np.ones(4) * 1j, "numbers; got complex128"),
        ([[1], [2, 3], [1], [1]], "one weight for each of the 4 rows of X; got lists of different lengths"),
        (2.0, "got a single float"),
        ([1, None, 1, 1], "finite and 0 or more, never negative; got nan at row 1"),
    ],
)
def test_weights_that_cannot_be_are_told(weights, words):
    with pytest.raises(ValueError, match=f"Model: sample_weight must .*{words}"):
        validation.weights("Model", weights, X)
