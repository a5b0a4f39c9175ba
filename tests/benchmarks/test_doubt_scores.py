"""The published scores that the benchmark of reliability compares with: by their definitions."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.reliability import auc, singularity
from lowdim import parts


def test_singularity_is_minus_the_least_curvature_of_a_row_s_own_loss(rng):
    X = rng.normal(size=(60, 4))
    Y = rng.normal(size=(60, 2))
    found = singularity(X, Y, perplexity=10.0)
    near = parts.nearest(X, 30)
    P = parts.likelihoods(near.distances, [10.0])[0]
    P = P / P.sum(axis=1, keepdims=True)

    def loss(i, place):
        attraction = P[i] @ np.log1p(((place - Y[near.indices[i]]) ** 2).sum(axis=1))
        return attraction + np.log((1 / (1 + ((place - np.delete(Y, i, axis=0)) ** 2).sum(axis=1))).sum())

    step, eye = 1e-3, np.eye(2)
    for i in (0, 7, 31):
        H = np.empty((2, 2))
        for a in range(2):
            for b in range(2):
                far = [loss(i, Y[i] + step * (s * eye[a] + t * eye[b])) for s in (1, -1) for t in (1, -1)]
                H[a, b] = (far[0] - far[1] - far[2] + far[3]) / (4 * step**2)
        assert found[i] == pytest.approx(-np.linalg.eigvalsh(H)[0], abs=1e-4)


def test_areas_and_their_errors(rng):
    wrong = np.arange(400) < 60
    drawn = [(score := rng.normal(size=400) + wrong, *auc(score, wrong)) for _ in range(200)]
    for score, area, _ in drawn[:5]:
        assert area == pytest.approx(roc_auc_score(wrong, score))
    areas, errors = np.array([one[1:] for one in drawn]).T
    assert errors.mean() == pytest.approx(areas.std(), rel=0.2)
    lead, error = auc(drawn[0][0], wrong, drawn[0][0])
    assert (lead, error) == (0, 0)
