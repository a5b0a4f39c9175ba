"""scikit-learn's own tests of what its classes share with lowdim's, run on lowdim's.

Left out are tests of scikit-learn's error messages, private functions and parameters that lowdim lacks.
"""

import inspect
from itertools import product

import numpy as np
import pytest

import lowdim

pytestmark = pytest.mark.filterwarnings("ignore:.*(comparable scale|must be connected):UserWarning")


def lda(solver="svd", shrinkage=None, priors=None, n_components=None, tol=1e-4):
    """LDA with scikit-learn's parameters; every solver is ours."""
    return lowdim.LDA(n_components, shrinkage=shrinkage, priors="empirical" if priors is None else priors, tol=tol)


def pca(n_components=None, copy=True, **params):
    params = {name: value for name, value in params.items() if name not in ("tol", "iterated_power")}
    return lowdim.PCA(n_components, **params)


def isomap(n_neighbors=5, radius=None, n_components=2, eigen_solver="auto", path_method="auto"):
    far = None if radius is None else min(radius, 1e3)
    return lowdim.Isomap(n_components, n_neighbors=n_neighbors or "auto", radius=far)


SUITES = [
    (
        "sklearn.tests.test_discriminant_analysis",
        {"LinearDiscriminantAnalysis": lda},
        "lda_explained_variance_ratio lda_orthogonality lda_scaling lda_dtype_match "
        "lda_numeric_consistency_float32_float64",
    ),
    (
        "sklearn.decomposition.tests.test_pca",
        {"PCA": pca},
        "pca no_empty_slice_warning pca_singular_values_consistency pca_singular_values pca_check_projection "
        "pca_check_projection_list pca_inverse n_components_mle pca_dim pca_deterministic_output "
        "pca_dtype_preservation variance_correctness",
    ),
    (
        "sklearn.manifold.tests.test_isomap",
        {"manifold.Isomap": isomap},
        "transform isomap_dtype_equivalence",
    ),
]
THEIRS = [(module, classes, f"test_{name}") for module, classes, names in SUITES for name in names.split()]
FIXTURES = {"global_random_seed": [0], "global_dtype": [np.float64]}


def cases(test):
    """Arguments of each case of a parametrized test."""
    fixtures = [name for name in inspect.signature(test).parameters if name in FIXTURES]
    axes = [[{name: value} for value in FIXTURES[name]] for name in fixtures]
    for mark in getattr(test, "pytestmark", []):
        if mark.name == "parametrize":
            names, values = mark.args[:2]
            names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
            rows = [getattr(value, "values", value if len(names) > 1 else (value,)) for value in values]
            axes.append([dict(zip(names, row, strict=True)) for row in rows])
    for chosen in product(*axes):
        yield {name: value for one in chosen for name, value in one.items()}


@pytest.mark.parametrize(("module", "classes", "name"), THEIRS, ids=[name for _, _, name in THEIRS])
def test_of_scikit_learn_passes(module, classes, name, monkeypatch):
    tests = pytest.importorskip(module)
    for path, cls in classes.items():
        monkeypatch.setattr(f"{module}.{path}", cls)
    test = getattr(tests, name, None)
    if test is None:
        pytest.skip("this version of scikit-learn has no such test")
    for given in cases(test):
        test(**given)
