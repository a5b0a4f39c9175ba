"""Warnings name the line that called, whichever room they come from."""

import numpy as np
import pytest

from lowdim import CCA, LLE, PCA, Isomap, KernelPCA

_X = np.random.default_rng(0).normal(size=(40, 3))
_PARTS = np.vstack([_X[:30], _X[30:] + 100])


def _twice():
    PCA(2, svd_solver="randomized", random_state=0).fit(_X).partial_fit(_X)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Isomap(n_neighbors=4).fit(_PARTS), "must be connected; it has"),
        (lambda: LLE(n_neighbors=4).fit_transform(_PARTS), "closed class"),
        (lambda: KernelPCA(2, kernel="sigmoid", gamma=5.0).fit(_X), "indefinite"),
        (lambda: CCA(1).fit(_X[:5], _X[5:10]), "are 1 for any data"),
        (_twice, "starts again"),
    ],
)
def test_warnings_name_the_line_of_the_caller(call, words):
    with pytest.warns(UserWarning, match=words) as told:
        call()
    assert [one.filename for one in told] == [__file__] * len(told)
