from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

import lowdim
from lowdim import quality
from lowdim.backends.torch import tensors

MEASURES = [quality.trustworthiness, quality.continuity, quality.neighborhood_recall, quality.lcmc]


@pytest.fixture
def spaces(rng):
    X = rng.integers(4, size=(60, 4)).astype(np.float64)  # ties, and equal rows
    return X + 1, (X[:, :2] + 0.1 * rng.normal(size=(60, 2))).astype(np.float32)


@pytest.mark.parametrize("options", [{}, {"metric": "cosine"}, {"sample": 20}], ids=str)
@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_measures_are_those_of_numpy(measure, options, spaces, device):
    X, Y = spaces
    expected = measure(X, Y, 5, **options)
    there = torch.tensor(X, device=device)
    for map_ in (torch.tensor(Y, device=device), Y):
        found = measure(there, map_, 5, **options)
        # Cosines of rows that point the same way differ by rounding.
        assert float(found) == pytest.approx(float(expected), abs=0.02 if options.get("metric") else 1e-12)
        assert found.sampled == expected.sampled


def test_tensors_in_this_memory_go_to_numpys_verbs(spaces, monkeypatch):
    monkeypatch.setattr(tensors, "INTERPRETED", False)
    X, Y = spaces
    for found, expected in zip(
        quality.distortion(torch.tensor(X), torch.tensor(Y), 5), quality.distortion(X, Y, 5), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_what_has_no_version_is_refused_by_name(spaces, device):
    X, Y = (torch.tensor(part, device=device) for part in spaces)
    with pytest.raises(ValueError, match="metric='manhattan' has no version for tensors"):
        quality.trustworthiness(X, Y, 5, metric="manhattan")
    with pytest.raises(TypeError, match="stress has no version"):
        quality.stress(X, Y)


@pytest.mark.parametrize("options", [{}, {"sample": 20}], ids=str)
def test_curves_are_those_of_numpy(options, spaces, device):
    X, Y = spaces
    expected = quality.rnx_curve(X, Y, return_error=True, **options)
    there = torch.tensor(X, device=device)
    for map_ in (torch.tensor(Y, device=device), Y):
        found = quality.rnx_curve(there, map_, return_error=True, **options)
        np.testing.assert_allclose(found, expected, atol=1e-3)
    assert float(quality.rnx_auc(there, Y, **options)) == pytest.approx(
        float(quality.rnx_auc(X, Y, **options)), abs=1e-4
    )


def test_curves_of_tensors_in_this_memory_are_numpys(spaces, monkeypatch):
    monkeypatch.setattr(tensors, "INTERPRETED", False)
    X, Y = spaces
    np.testing.assert_array_equal(quality.rnx_curve(torch.tensor(X), torch.tensor(Y)), quality.rnx_curve(X, Y))


def test_rows_on_two_devices_are_refused(device):
    X, Y = torch.ones(9, 3, device=device), torch.ones(9, 2, device="meta")
    with pytest.raises(ValueError, match=r"trustworthiness: X and Y must be on one device; got .*meta.*\.to\("):
        quality.trustworthiness(X, Y, 2)
    with pytest.raises(ValueError, match=r"CCA: X and y must be on one device; got .*meta.*\.to\("):
        lowdim.CCA().fit(X, Y)
