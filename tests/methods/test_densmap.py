"""UMAP and t-SNE that keep density (densMAP and den-SNE)."""

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim import TSNE, UMAP, quality

CLASSES = [UMAP, TSNE]


@pytest.fixture(scope="module")
def rows():
    """Three groups of the same size and of spreads 1, 4 and 16."""
    rng = np.random.default_rng(0)
    scale = np.repeat([1.0, 4.0, 16.0], 120)
    X = rng.normal(size=(360, 6)) * scale[:, None]
    X[:, 0] += np.repeat([0.0, 100.0, -100.0], 120)
    return X.astype(np.float32)


@pytest.fixture(scope="module", params=CLASSES, ids=lambda c: c.__name__)
def maps(request, rows):
    return [request.param(densmap=on, random_state=0).fit(rows) for on in (False, True)]


def test_groups_that_are_spread_in_the_data_are_spread_in_the_map(maps, rows):
    def sizes(model):
        return [model.embedding_[120 * g : 120 * (g + 1)].std(axis=0).mean() for g in range(3)]

    plain, dense = maps
    narrow, middle, wide = sizes(dense)
    assert narrow < middle < wide
    assert wide / narrow > 1.3 * sizes(plain)[2] / sizes(plain)[0]
    assert quality.density_preservation(rows, dense.embedding_) > 0.85
    assert quality.density_preservation(rows, plain.embedding_) < 0.6


def test_radii_are_those_of_data_and_map(maps, rows):
    plain, dense = maps
    assert dense.rad_orig_.shape == dense.rad_emb_.shape == (360,)
    groups = dense.rad_orig_.reshape(3, 120).mean(axis=1)
    np.testing.assert_allclose(np.diff(groups), 2 * np.log(4), atol=0.3)  # squares of spreads
    assert np.corrcoef(dense.rad_orig_, dense.rad_emb_)[0, 1] > 0.8
    with pytest.raises(AttributeError, match="densmap=True"):
        plain.rad_emb_  # noqa: B018


def test_a_weight_of_zero_gives_the_plain_map(maps, rows):
    plain, dense = maps
    same = type(plain)(densmap=True, dens_lambda=0, random_state=0).fit(rows)
    assert np.array_equal(same.embedding_, plain.embedding_)
    assert not np.array_equal(same.embedding_, dense.embedding_)
    never = type(plain)(densmap=True, dens_frac=0.0, random_state=0).fit(rows)
    assert np.array_equal(never.embedding_, plain.embedding_)


def test_the_bits_do_not_depend_on_threads(maps, rows):
    again = type(maps[1])(densmap=True, random_state=0, n_jobs=2).fit(rows)
    assert np.array_equal(again.embedding_, maps[1].embedding_)


def test_new_rows_keep_density(maps, rows):
    dense = maps[1]
    rng = np.random.default_rng(5)
    scale = np.repeat([1.0, 4.0, 16.0], 20)
    new = rng.normal(size=(60, 6)) * scale[:, None]
    new[:, 0] += np.repeat([0.0, 100.0, -100.0], 20)
    new = new.astype(np.float32)
    assert np.array_equal(dense.transform(rows[:9]), dense.embedding_[:9])
    for Y in (np.vstack([dense.embedding_, dense.transform(new)]), (grown := dense.extend(new)).embedding_):
        assert np.array_equal(Y[:360], dense.embedding_)
        assert quality.density_preservation(np.vstack([rows, new]), Y) > 0.75
    assert grown.rad_orig_.shape == (420,)
    np.testing.assert_array_equal(grown.rad_orig_[:360], dense.rad_orig_)
    one = dense.transform(new[:1])
    np.testing.assert_array_equal(one, dense.transform(new)[:1])


def test_files_and_refits_keep_or_forget_radii(maps, rows, tmp_path):
    dense = maps[1]
    dense.save(tmp_path / "map.lowdim")
    loaded = lowdim.load(tmp_path / "map.lowdim")
    new = rows[:5] + np.float32(0.1)
    np.testing.assert_array_equal(loaded.transform(new), dense.transform(new))
    np.testing.assert_array_equal(loaded.rad_orig_, dense.rad_orig_)
    again = type(dense)(densmap=True, random_state=0).fit(rows[:200])
    again.set_params(densmap=False).fit(rows[:200])
    assert not hasattr(again, "rad_orig_")
    again.save(tmp_path / "plain.lowdim")


@pytest.mark.parametrize("method", CLASSES)
def test_other_forms_of_rows_have_the_same_radii(method, rows):
    X = rows[:150]
    by_rows = method(densmap=True, random_state=0).fit(X)
    D = np.linalg.norm(X[:, None].astype(float) - X[None], axis=2)
    np.fill_diagonal(D, 0)
    init = {"init": "spectral"}
    by_lengths = method(densmap=True, metric="precomputed", random_state=0, **init).fit(D)
    np.testing.assert_allclose(by_lengths.rad_orig_, by_rows.rad_orig_, rtol=1e-3)
    sparse = method(densmap=True, random_state=0).fit(sp.csr_matrix(X))
    np.testing.assert_allclose(sparse.rad_orig_, by_rows.rad_orig_, rtol=1e-3)


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("method", CLASSES)
def test_other_dimensions(method, k, rows):
    X = np.vstack([rows[::3], rows[:10]])  # some rows are equal
    model = method(k, densmap=True, random_state=0).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert quality.density_preservation(X, model.embedding_) > 0.5


def test_few_rows_and_rows_all_alike():
    for X in (np.zeros((6, 2)), np.eye(3), np.array([[0.0], [1.0]])):
        for method in CLASSES:
            model = method(densmap=True, random_state=0, init="random").fit(X)
            assert np.isfinite(model.embedding_).all()
            assert np.isfinite(model.rad_orig_).all()


@pytest.mark.parametrize("method", CLASSES)
@pytest.mark.parametrize(
    "wrong", [{"dens_lambda": -1.0}, {"dens_frac": 1.5}, {"dens_var_shift": -0.1}, {"densmap": "yes"}]
)
def test_wrong_parameters_are_named(method, wrong, rows):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        method(**{"densmap": True, **wrong}).fit(rows)


def test_relations_without_lengths_are_refused(rows):
    graph = UMAP(random_state=0, n_epochs=5).fit(rows).graph_
    with pytest.raises(ValueError, match="densmap=True needs the distances"):
        UMAP(densmap=True).fit(rows, graph=graph)
    with pytest.raises(ValueError, match="Leave affinities out"):
        TSNE(densmap=True).fit(affinities=graph)


def test_explanations_count_the_change_of_the_radius(rows):
    dense = UMAP(densmap=True, random_state=0, n_epochs=100).fit(rows)
    found = dense.explain(rows[:2]) if hasattr(dense, "explain") else None
    assert found is not None
