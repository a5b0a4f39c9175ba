from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

import lowdim
from lowdim import KernelPCA
from lowdim.backends.torch import kernel_values
from lowdim.relate.kernels import Kernel, demand_gram, resolve_gamma


@pytest.fixture
def there(device):
    return lambda A: torch.tensor(A, device=device)


KERNELS = ["linear", "rbf", "poly", "sigmoid", "laplacian", "cosine"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KERNELS)
def test_values_and_products_are_those_of_numpy(name, dtype, rng, there, monkeypatch):
    monkeypatch.setattr(kernel_values, "_TILE", 13)
    monkeypatch.setattr(kernel_values, "_STRIP", 50)
    X, V = rng.normal(size=(40, 5)).astype(dtype), rng.normal(size=(40, 3))
    kernel = Kernel(name, gamma=0.1, degree=3, coef0=1.0)
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-9}
    A, B = (kernel.rows(rows, kernel.shift(rows)) for rows in (X, there(X)))
    some = np.array([3, 1])
    for found, expected in (
        (kernel.gram(B), kernel.gram(A)),
        (kernel.block(B[some], B), kernel.block(A[some], A)),
        (kernel.product(B, there(V)), kernel.product(A, V)),
        (kernel.project(B[:7], B, there(V)), kernel.project(A[:7], A, V.astype(dtype))),
        (there(kernel.diagonal(B)), kernel.diagonal(A)),
    ):
        np.testing.assert_allclose(found.numpy(force=True), expected, **close)
    for gamma in ("scale", "median"):
        assert resolve_gamma(there(X), gamma, 0) == pytest.approx(resolve_gamma(X, gamma, 0), rel=1e-5)


MODELS = [
    KernelPCA(3),
    KernelPCA(3, eigen_solver="krylov"),
    KernelPCA(3, eigen_solver="matrix_free", kernel="laplacian"),
    KernelPCA(2, kernel="poly", degree=2),
    KernelPCA(2, approximation="rpcholesky", rank=30),
    KernelPCA(2, approximation="rpcholesky", tol=1e-3, refine=1),
    KernelPCA(2, approximation="nystroem", rank=40),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_components_are_those_of_numpy(model, dtype, decaying, there, tmp_path):
    X = decaying[:90].astype(dtype)
    model.set_params(random_state=0)
    here, elsewhere = model.fit(X), KernelPCA(**model.get_params()).fit(there(X))
    np.testing.assert_allclose(elsewhere.eigenvalues_, here.eigenvalues_, rtol=1e-4)
    expected, found = here.transform(X), elsewhere.transform(there(X))
    assert isinstance(found, torch.Tensor)
    assert isinstance(elsewhere.eigenvectors_, torch.Tensor)
    close = {"rtol": 0, "atol": (2e-3 if dtype == np.float32 else 1e-5) * np.abs(expected).max()}
    np.testing.assert_allclose(found.numpy(force=True), expected, **close)
    np.testing.assert_allclose(elsewhere.transform(X), expected, **close)
    np.testing.assert_allclose(here.transform(there(X)).numpy(force=True), expected, **close)
    elsewhere.save(tmp_path / "model.lowdim")
    np.testing.assert_allclose(lowdim.load(tmp_path / "model.lowdim").transform(X), expected, **close)
    fresh = KernelPCA(**model.get_params()).fit_transform(there(X))
    np.testing.assert_allclose(fresh.numpy(force=True), expected, **close)


def test_a_given_matrix(decaying, there):
    K = np.exp(-0.1 * np.square(decaying[:50, None] - decaying[:50]).sum(axis=2))
    model = KernelPCA(2, kernel="precomputed")
    expected = model.fit_transform(K)
    np.testing.assert_allclose(model.fit_transform(there(K)).numpy(force=True), expected, atol=1e-9)
    K[3, 7] += 0.5
    with pytest.raises(ValueError, match=r"needs a symmetric matrix; entries of rows 0 to 49 .* differ by 0\.5"):
        demand_gram(there(K), "KernelPCA")


def test_what_has_no_version_is_refused_by_name(there, rng):
    X = there(rng.normal(size=(20, 3)))
    with pytest.raises(ValueError, match="fit_inverse_transform=True has no version for tensors"):
        KernelPCA(2, fit_inverse_transform=True).fit(X)
    with pytest.raises(ValueError, match="a function has no version for tensors"):
        KernelPCA(2, kernel=lambda A, B: A @ B.T).fit(X)
