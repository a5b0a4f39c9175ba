import pickle
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

import lowdim
from lowdim import CCA, LDA, PCA, KLExpansion
from lowdim.backends import TORCH
from lowdim.relate.moments import class_moments, column_moments, divided_by_deviation, moments
from lowdim.work import devices, memory


@pytest.fixture
def labelled(rng):
    """80 rows of 6 features in three classes."""
    y = np.repeat(np.arange(3), [30, 30, 20])
    means = y[:, None] * np.array([1.0, 0.0, 2.0, 0.0, 1.0, 0.0])
    return rng.normal(size=(80, 6)) @ np.diag([3.0, 2.0, 1.0, 0.5, 0.2, 0.1]) + means, y


@pytest.fixture
def there(device):
    return lambda A: torch.tensor(A, device=device)


@pytest.fixture
def pretended(device, monkeypatch):
    """``device="cuda"`` without a GPU: rows become tensors in this memory."""
    if device == "cpu":
        monkeypatch.setattr(devices, "find", lambda *_: torch.device("cpu"))


def fitted(model):
    names = ("components_", "explained_variance_", "eigenvalues_", "correlations_", "mean_", "means_", "y_components_")
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def agree(found, expected, **close):
    for name, value in fitted(expected).items():
        assert isinstance(getattr(found, name), np.ndarray)
        assert getattr(found, name).dtype == value.dtype
        np.testing.assert_allclose(getattr(found, name), value, **close, err_msg=name)


MODELS = [
    PCA(3),
    PCA(0.9, standardize=True, whiten=True),
    PCA(2, svd_solver="gram"),
    PCA(2, svd_solver="svd"),
    PCA(2, svd_solver="randomized", random_state=0),
    KLExpansion(3),
    KLExpansion(2, priors="uniform"),
    LDA(),
    LDA(shrinkage="auto", priors="uniform"),
    LDA(shrinkage=0.2, orthogonal=True),
    LDA(solver="gram"),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_what_is_learnt_is_that_of_numpy(model, dtype, labelled, there):
    X, y = labelled[0].astype(dtype), labelled[1]
    close = {"rtol": 1e-3, "atol": 2e-4} if dtype == np.float32 else {"rtol": 1e-6, "atol": 1e-7}
    here = model.fit(X, y)
    elsewhere = type(model)(**model.get_params()).fit(there(X), there(y))
    agree(elsewhere, here, **close)
    scores = elsewhere.transform(there(X))
    assert isinstance(scores, torch.Tensor)
    assert scores.dtype == (torch.float32 if dtype == np.float32 else torch.float64)
    expected = here.transform(X)
    np.testing.assert_allclose(scores.numpy(force=True), expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
    assert isinstance(elsewhere.transform(X), np.ndarray)
    if hasattr(model, "inverse_transform"):
        for name, value in (("inverse_transform", scores), ("reconstruction_error", there(X))):
            found = getattr(elsewhere, name)(value)
            assert isinstance(found, torch.Tensor)
            np.testing.assert_allclose(
                found.numpy(force=True), getattr(here, name)(value.numpy(force=True)), rtol=1e-3, atol=1e-3
            )


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_are_predicted_as_by_numpy(classes, labelled, there):
    X, y = (part[labelled[1] < classes] for part in labelled)
    here, elsewhere = LDA().fit(X, y), LDA().fit(there(X), there(y))
    for name in ("decision_function", "predict_proba", "predict_log_proba"):
        found = getattr(elsewhere, name)(there(X))
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.numpy(force=True), getattr(here, name)(X), rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(elsewhere.predict(there(X)), here.predict(X))
    names = np.array(["a", "b", "c"])[y]
    assert LDA().fit(X, names).score(there(X), names) == here.score(X, y)


@pytest.mark.parametrize("model", [PCA(4), KLExpansion(4), LDA()], ids=str)
def test_more_columns_than_rows(model, rng, there):
    X, y = rng.normal(size=(21, 40)), np.arange(21) % 3
    agree(type(model)(**model.get_params()).fit(there(X), y), model.fit(X, y), rtol=1e-6, atol=1e-7)


def test_two_views_are_those_of_numpy(labelled, there):
    X, Y = labelled[0][:, :4], labelled[0][:, 4:] + labelled[0][:, :2]
    here, elsewhere = CCA().fit(X, Y), CCA().fit(there(X), there(Y))
    agree(elsewhere, here, rtol=1e-8, atol=1e-10)
    for found, expected in zip(elsewhere.transform(there(X), there(Y)), here.transform(X, Y), strict=True):
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.numpy(force=True), expected, rtol=1e-8, atol=1e-10)
    for views in ((X, there(Y)), (there(X), Y)):
        with pytest.raises(TypeError, match="both views must be of the same kind"):
            CCA().fit(*views)
    with pytest.raises(ValueError, match="a row for each of the 80 of X; got 9"):
        CCA().fit(there(X), there(Y[:9]))


def test_weights_chunks_and_densities_are_those_of_numpy(labelled, there, rng):
    X = labelled[0]
    w = rng.integers(3, size=len(X)).astype(float)
    here, elsewhere = PCA(3).fit(X, sample_weight=w), PCA(3).fit(there(X), sample_weight=there(w))
    agree(elsewhere, here, rtol=1e-9, atol=1e-12)
    densities = elsewhere.score_samples(there(X))
    np.testing.assert_allclose(densities.numpy(force=True), here.score_samples(X), rtol=1e-9)
    assert elsewhere.score(there(X)) == pytest.approx(here.score(X))
    streamed = PCA(3)
    for chunk in (X[:30], X[30:]):
        streamed.partial_fit(there(chunk))
    agree(streamed, PCA(3).fit(X), rtol=1e-9, atol=1e-12)


def test_moments_are_those_of_numpy(rng, there):
    X = 1e5 + rng.normal(size=(50, 4)).astype(np.float32)
    y, w, each = rng.integers(3, size=50).astype(np.int32), rng.random(50), np.array([0.5, 0.0, 2.0])
    exact = X.astype(np.float64)
    pairs = [
        (moments(there(X), w), moments(exact, w)),
        (column_moments(there(X), w), column_moments(exact, w)),
        (class_moments(there(X), y, each), class_moments(exact, y, each)),
    ]
    for found, expected in pairs:
        for part, value in zip(found, expected, strict=True):
            np.testing.assert_allclose(part, value, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(divided_by_deviation(there(X)).numpy(force=True), divided_by_deviation(exact), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:PCA. X is in half precision")
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.uint8, torch.int32, torch.bool])
def test_other_types_are_taken_as_floats(kind, rng, device):
    X = torch.tensor(rng.integers(2, size=(40, 5)), device=device).to(kind)
    model = PCA(2).fit(X)
    assert model.transform(X).dtype == (torch.float64 if kind == torch.int32 else torch.float32)
    same = X.to(torch.float64 if kind == torch.int32 else torch.float32).numpy(force=True)
    agree(model, PCA(2).fit(same), rtol=1e-4, atol=1e-5)


def test_tensors_of_any_strides_and_with_gradients(labelled, device):
    X = labelled[0].astype(np.float32)
    leaf = torch.tensor(X.T.copy(), device=device, requires_grad=True)
    scores = PCA(2).fit(leaf.T).transform(leaf.T)
    assert not scores.requires_grad
    np.testing.assert_allclose(scores.numpy(force=True), PCA(2).fit_transform(X), atol=1e-4)


@pytest.mark.parametrize("model", [PCA(2), KLExpansion(2), LDA(), CCA()], ids=str)
def test_rows_of_numpy_come_back_from_a_device(model, labelled, pretended, tmp_path):
    X, y = labelled
    model.set_params(device="cuda").fit(X, y)
    scores = model.transform(X)
    assert isinstance(scores, np.ndarray)
    assert not [name for name, value in vars(model).items() if isinstance(value, torch.Tensor)]
    model.save(tmp_path / "model.lowdim")
    for copy in (pickle.loads(pickle.dumps(model)), lowdim.load(tmp_path / "model.lowdim")):
        np.testing.assert_allclose(copy.set_params(device=None).transform(X), scores, atol=1e-10)


def test_bad_rows_are_refused_in_words(device, labelled):
    X = torch.tensor(labelled[0], device=device)
    for bad, words in (
        (X.clone().index_fill_(0, torch.tensor([3], device=device), torch.nan), "X must be finite; got NaN at row 3"),
        (X[0], "a dense 2D tensor"),
        (X.to_sparse(), "a dense 2D tensor"),
        (X.to(torch.complex64), "Complex data not supported"),
        (X[:1], "at least 2 samples"),
    ):
        with pytest.raises(ValueError, match=words):
            PCA(2).fit(bad)
    with pytest.raises(ValueError, match=r"device='cuda:99' needs a GPU"):
        PCA(2, device="cuda:99").fit(labelled[0])


def test_sparse_rows_are_not_moved(labelled, pretended):
    with pytest.raises(TypeError, match=r"device='cuda' needs dense rows; got sparse ones\. Pass X\.toarray"):
        PCA(2, device="cuda").fit(sp.csr_array(labelled[0]))


def test_rows_that_do_not_fit_on_the_device_are_refused_with_the_figure(labelled, pretended, monkeypatch):
    monkeypatch.setitem(TORCH.implementations, memory.available_for, lambda rows: 100)
    with pytest.raises(
        MemoryError, match=r"PCA: 80 rows moved to 'cuda' needs 3.75 kB .* 100 bytes is available\. Pass"
    ):
        PCA(2, device="cuda").fit(labelled[0])


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("shape", [(80, 6), (12, 30)])
def test_gaps_are_learnt_and_filled_as_by_numpy(standardize, shape, there, rng):
    X = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1])) + 0.3 * rng.normal(size=shape) + 3
    X[rng.random(shape) < 0.2] = np.nan
    here = PCA(2, missing="em", standardize=standardize, tol=1e-10, max_iter=3000).fit(X)
    elsewhere = PCA(**here.get_params()).fit(there(X))
    agree(elsewhere, here, rtol=1e-3, atol=1e-4)
    for mine, theirs in zip(here.impute(X, True), elsewhere.impute(there(X), True), strict=True):
        assert isinstance(theirs, torch.Tensor)
        np.testing.assert_allclose(theirs.numpy(force=True), mine, rtol=1e-2, atol=1e-3)
    for name in ("transform", "score_samples", "reconstruction_error"):
        found = getattr(elsewhere, name)(there(X)).numpy(force=True)
        np.testing.assert_allclose(found, getattr(here, name)(X), rtol=1e-2, atol=1e-2)
    weights = rng.integers(1, 3, shape[0]).astype(float)
    chunks = PCA(2, missing="em").partial_fit(there(X), sample_weight=weights).partial_fit(there(X))
    mine = PCA(2, missing="em").partial_fit(X, sample_weight=weights).partial_fit(X)
    np.testing.assert_allclose(chunks.get_covariance(), mine.get_covariance(), rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match="every row must have an observed value"):
        elsewhere.transform(there(np.full((2, shape[1]), np.nan)))
    zeros = PCA(2, missing="em_zeros").fit(there(np.nan_to_num(X)))
    agree(zeros, PCA(2, missing="em_zeros").fit(np.nan_to_num(X)), rtol=1e-3, atol=1e-4)
