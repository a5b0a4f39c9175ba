"""An artificial backend: rows that NumPy cannot read, served by operations that are counted."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim.data import validation
from lowdim.work import dispatch

ASKED: Counter = Counter()
MANY = 20  # rows from which on an array stays on its backend; smaller ones are NumPy arrays
HOST = {
    "backend_arrays.to_numpy",
    "moments.moments",
    "divergence.divergence",
    "graph.components",
    "shortcuts.short_circuits",
}


class Toy:
    """Rows that live elsewhere: only what an operation is asked for can be seen of them."""

    def __init__(self, values):
        self.values = values

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: self.values.ndim)
    T = property(lambda self: Toy(self.values.T))

    def __len__(self):
        return len(self.values)

    def __array__(self, *args, **kwargs):
        raise AssertionError("rows were moved in silence")

    def __getitem__(self, at):
        return Toy(self.values[_seen(at)])

    def __setitem__(self, at, other):
        self.values[_seen(at)] = _seen(other)

    def __matmul__(self, other):
        return Toy(self.values @ _seen(other))

    def __add__(self, other):
        return Toy(self.values + _seen(other))

    def __sub__(self, other):
        return Toy(self.values - _seen(other))

    def __mul__(self, other):
        return Toy(self.values * _seen(other))

    def __truediv__(self, other):
        return Toy(self.values / _seen(other))

    def sum(self, axis):
        return Toy(self.values.sum(axis))

    def mean(self, axis):
        return Toy(self.values.mean(axis))


def _seen(value):
    """What is behind toys, in tuples too."""
    if isinstance(value, Toy):
        return value.values
    if isinstance(value, tuple):
        inside = [_seen(item) for item in value]
        return type(value)(*inside) if hasattr(value, "_fields") else tuple(inside)
    return value


def _hidden(value):
    """Long arrays as toys, in tuples too."""
    if isinstance(value, np.ndarray) and len(value) >= MANY:
        return Toy(value)
    if isinstance(value, tuple):
        inside = [_hidden(item) for item in value]
        return type(value)(*inside) if hasattr(value, "_fields") else tuple(inside)
    return value


class ToyBackend(dispatch.Backend):
    """Every operation there is, by way of NumPy's."""

    def supports(self, method):
        return True

    def find(self, operation):
        key = dispatch.full_name(operation)

        def run(*args, **kwargs):
            ASKED[key] += 1
            if key in ("validation.validated_rows", "validation.finite_scores"):
                return args[0]
            given = {name: _seen(value) for name, value in kwargs.items()}
            found = dispatch.numpy_version(operation)(*map(_seen, args), **given)
            return found if key in HOST else _hidden(found)

        return run


@pytest.fixture
def toys(monkeypatch):
    monkeypatch.setitem(dispatch._BACKENDS, Toy.__module__, ToyBackend("a toy", "values"))
    ASKED.clear()


def test_pca_of_another_backend_runs_through_its_operations(toys, rng):
    X = rng.normal(size=(60, 5))
    plain, toy = lowdim.PCA(2).fit(X), lowdim.PCA(2).fit(Toy(X))
    np.testing.assert_array_equal(plain.components_, toy.components_)
    scores = toy.transform(Toy(X))
    assert isinstance(scores, Toy)
    np.testing.assert_array_equal(scores.values, plain.transform(X))
    np.testing.assert_array_equal(toy.inverse_transform(scores).values, plain.inverse_transform(scores.values))
    assert ASKED["moments.moments"] == 1
    assert ASKED["projection.project"] == 1


def test_tsne_of_another_backend_runs_through_its_operations(toys, rng):
    X, new = rng.normal(size=(60, 5)), rng.normal(size=(MANY, 5))
    made = {"max_iter": 60, "perplexity": 8, "random_state": 0}
    plain, toy = lowdim.TSNE(**made).fit(X), lowdim.TSNE(**made).fit(Toy(X))
    assert isinstance(toy.embedding_, Toy)
    np.testing.assert_array_equal(toy.embedding_.values, plain.embedding_)
    assert toy.kl_divergence_ == plain.kl_divergence_
    np.testing.assert_array_equal(toy.transform(Toy(new)).values, plain.transform(new))
    np.testing.assert_array_equal(toy.transform(new), plain.transform(new))  # a model serves rows of any backend
    for operation in ("neighbors.nearest", "affinities.likelihoods", "affinities.affinities", "layout.by_pca"):
        assert ASKED[operation], operation
    assert ASKED["divergence.Divergence.lower"] == ASKED["divergence.divergence"] == 1
    assert ASKED["divergence.Divergence.place_new"] == 1


@pytest.mark.parametrize("landmarks", [None, 30])
def test_isomap_of_another_backend_runs_through_its_operations(toys, rng, landmarks):
    X, new = rng.normal(size=(80, 3)), rng.normal(size=(MANY, 3))
    made = {"n_neighbors": 9, "landmarks": landmarks, "random_state": 0}
    plain, toy = lowdim.Isomap(**made).fit(X), lowdim.Isomap(**made).fit(Toy(X))
    assert isinstance(toy.embedding_, Toy)
    np.testing.assert_array_equal(toy.embedding_.values, plain.embedding_)
    np.testing.assert_array_equal(toy.residual_variance_, plain.residual_variance_)
    np.testing.assert_array_equal(toy.transform(Toy(new)).values, plain.transform(new))
    np.testing.assert_array_equal(toy.transform(new), plain.transform(new))
    for operation in ("graph.neighbor_graph", "geodesics.geodesics", "scaling.classical_scaling", "graph.beside"):
        assert ASKED[operation] == 1, operation
    assert ASKED["geodesic_map.place_by_geodesics"] == 1


def test_a_model_of_another_backend_is_saved_as_numpy(toys, rng, tmp_path):
    X = rng.normal(size=(40, 3))
    model = lowdim.TSNE(max_iter=20, random_state=0).fit(Toy(X))
    model.save(tmp_path / "toy.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "toy.lowdim").embedding_, model.embedding_.values)


def test_krylov_vectors_stay_where_the_operator_works(toys, rng):
    from lowdim.solve.leading_eigenpairs import eigh_top_operator

    A = rng.normal(size=(300, 300))
    A = A @ A.T

    def apply(V):
        assert isinstance(V, Toy)
        return Toy(A @ V.values)

    found = eigh_top_operator(apply, 300, 3, seed=0, tol=1e-8, like=Toy(A))
    assert isinstance(found.vectors, Toy)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(A)[::-1][:3], rtol=1e-10)


def test_a_backend_without_the_operation_refuses_by_name(monkeypatch):
    class Few(dispatch.Backend):
        supports = lambda self, method: True  # noqa: E731

    few = Few("a toy", "values")
    few.implements(validation.validated_rows)(lambda X, *args, **kwargs: X)
    monkeypatch.setitem(dispatch._BACKENDS, Toy.__module__, few)
    with pytest.raises(TypeError, match=r"moments\.moments: no version for a toy exists.*\.values"):
        lowdim.PCA().fit(Toy(np.ones((3, 2))))


def test_only_operations_are_implemented_and_each_once():
    backend = dispatch.Backend("a toy", "values")
    with pytest.raises(ValueError, match=r"validation\.rows is not an operation"):
        backend.implements(validation.rows)(lambda X: X)
    backend.implements(validation.validated_rows)(lambda X: X)
    with pytest.raises(ValueError, match=r"validation\.validated_rows has two implementations for a toy"):
        backend.implements(validation.validated_rows)(lambda X: X)


def test_backends_refuse_unsupported_estimators_before_any_work():
    torch = pytest.importorskip("torch")
    for method in (lowdim.LLE(), lowdim.KernelLDA()):
        name = type(method).__name__
        with pytest.raises(TypeError, match=rf"{name}: a NumPy array.*a torch tensor.*{name} has no version"):
            method.fit(torch.ones(3, 2))


def test_numpy_belongs_to_no_other_backend():
    for rows in (np.ones(3), sp.csr_array(np.eye(2)), [[1, 2]], (np.ones(2), None)):
        assert dispatch.backend_of(rows) is None
