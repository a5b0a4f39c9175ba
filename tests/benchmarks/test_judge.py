"""The judge's scores on maps whose scores are known, and a page that shows losses."""

import numpy as np
import pytest

from benchmarks import judge


@pytest.fixture
def rows(rng):
    y = np.repeat([0, 1, 2, 3], 40)
    return rng.normal(0, 0.3, (160, 5)) + 4 * np.eye(4, 5)[y], y


def test_a_rotated_map_keeps_all_triplets_and_a_random_one_half(rows, rng):
    X, y = rows
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    assert judge.triplet_accuracy(X, 3 * X @ turn, 0) == 1
    assert judge.centroid_accuracy(X, 3 * X @ turn, y) == 1
    noise = rng.normal(size=(160, 2))
    assert 0.4 < judge.triplet_accuracy(X, noise, 0) < 0.6


def test_accuracies_on_separated_and_on_mixed_classes(rows, rng):
    X, y = rows
    assert judge.neighbor_accuracy(X, y) == 1
    assert judge.svm_accuracy(X, y) > 0.98
    noise = rng.normal(size=(160, 2))
    assert judge.neighbor_accuracy(noise, y) < 0.5
    assert judge.svm_accuracy(noise, y) < 0.5


def test_losses_are_shown_as_plainly_as_wins():
    scores = ("kNN", "SVM", "random triplets", "centroid triplets")
    found = [
        {"set": "s", "method": "t-SNE", "system": system, "seed": seed} | dict.fromkeys(scores, value)
        for system, value in (("lowdim", 0.8), ("openTSNE", 0.9))
        for seed in (0, 1)
    ]
    text = judge.maps_table(found)
    assert "0 ahead (▲), 4 behind (▼), 0 equal (=) of 4" in text
    assert text.count("▼") == 5
    times = [{"system": s, "rows": 100, "seconds": t, "recall": 0.5} for s, t in (("lowdim", 2.0), ("openTSNE", 1.0))]
    page = judge.page({"maps": found, "times": times})
    assert "| 0.5 |" in page
    assert "as in ann-benchmarks" not in page


def test_unknown_parts_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "KEPT", tmp_path)
    with pytest.raises(SystemExit, match="parts are maps, times, agreement, search; got nonesuch"):
        judge.main(["nonesuch"])
