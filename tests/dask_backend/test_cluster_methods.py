"""The same estimators take Dask collections, and give what they give of NumPy arrays."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

pytest.importorskip("distributed", reason="Dask is not installed: pip install lowdim[dask]")
import dask.array as da
import dask.dataframe as dd

import lowdim
from lowdim.methods import registry

N = 240


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    y = random.integers(0, 3, N)
    X = random.normal(size=(N, 5)) @ random.normal(size=(5, 5)) + 3 + y[:, None]
    return X, y


def cut(A, length=70):
    return da.from_array(A, chunks=(length, *A.shape[1:]))


def near(a, b, tol=1e-12):
    np.testing.assert_allclose(a, b, rtol=tol, atol=tol * np.abs(b).max(initial=0))


def attributes(model):
    return {key: value for key, value in vars(model).items() if key.endswith("_") and not key.startswith("_")}


def same(there, here, tol=1e-11):
    """Two fitted models have the same attributes, all in NumPy."""
    assert set(attributes(there)) == set(attributes(here))
    for key, value in attributes(there).items():
        other = getattr(here, key)
        if isinstance(other, np.ndarray):
            assert type(value) is np.ndarray
            assert value.dtype == other.dtype
            near(value, other, tol) if other.dtype.kind == "f" else np.testing.assert_array_equal(value, other)
        elif isinstance(other, float):
            assert value == pytest.approx(other, rel=tol, abs=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        lowdim.PCA(3),
        lowdim.PCA(0.9, standardize=True),
        lowdim.PCA("elbow", whiten=True),
        lowdim.PCA(2, svd_solver="streaming"),
        lowdim.PCA(2, svd_solver="randomized", random_state=0),
        lowdim.KLExpansion(2),
        lowdim.KLExpansion(2, priors="uniform"),
        lowdim.LDA(),
        lowdim.LDA(shrinkage=0.1),
        lowdim.LDA(shrinkage="auto", orthogonal=True),
        lowdim.LDA(1, priors=[0.5, 0.5, 0.0]),
    ],
    ids=str,
)
def test_fits_of_blocks_equal_those_of_one_machine(client, table, model):
    X, y = table
    here = type(model)(**model.get_params()).fit(X, y)
    there = model.fit(cut(X), cut(y))
    tol = 1e-7 if model.get_params().get("svd_solver") == "randomized" else 1e-9
    same(there, here, tol)
    Y = there.transform(cut(X))
    assert isinstance(Y, da.Array)
    assert Y.chunks[0] == (70, 70, 70, 30)
    near(Y.compute(), there.transform(X))


def test_cca_reads_both_views(client, table):
    X = table[0]
    here, there = lowdim.CCA().fit(X[:, :3], X[:, 3:]), lowdim.CCA().fit(cut(X[:, :3]), cut(X[:, 3:]))
    same(there, here, 1e-9)
    for lazy, now in zip(
        there.transform(cut(X[:, :3]), cut(X[:, 3:])), there.transform(X[:, :3], X[:, 3:]), strict=True
    ):
        assert isinstance(lazy, da.Array)
        near(lazy.compute(), now)


def test_weights_and_partial_fits(client, table):
    X, w = table[0], np.random.default_rng(1).integers(0, 4, N).astype(float)
    w[:70] = 0  # a block that counts nothing
    same(lowdim.PCA(3).fit(cut(X), sample_weight=cut(w)), lowdim.PCA(3).fit(X, sample_weight=w), 1e-10)
    stream = lowdim.PCA(3).partial_fit(cut(X[:100])).partial_fit(X[100:])
    near(stream.explained_variance_, lowdim.PCA(3).fit(X).explained_variance_)


def test_data_frames_need_no_lengths_and_keep_their_names(client, table, tmp_path):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["kind"] = np.array(["u", "v", "w"])[y]
    spread = dd.from_pandas(frame, npartitions=3)
    numbers = spread[list("abcde")]
    there = lowdim.LDA().fit(numbers, spread["kind"])
    same(there, lowdim.LDA().fit(frame[list("abcde")], frame["kind"]), 1e-9)
    assert there.feature_names_in_.tolist() == list("abcde")
    assert np.isnan(there.transform(numbers).shape[0])
    near(there.transform(numbers).compute(), there.transform(frame[list("abcde")]))
    for name in ("predict_proba", "predict_log_proba", "decision_function"):
        near(getattr(there, name)(numbers).compute(), getattr(there, name)(frame[list("abcde")]))
    assert (there.predict(numbers).compute() == there.predict(frame[list("abcde")])).all()
    with pytest.raises(ValueError, match=r"LDA: score needs all rows in one memory.*predict\(X\) == y"):
        there.score(numbers, spread["kind"])
    pca = lowdim.PCA(0.95).fit(numbers)
    same(pca, lowdim.PCA(0.95).fit(frame[list("abcde")]))
    pca.save(tmp_path / "pca.lowdim")
    near(lowdim.load(tmp_path / "pca.lowdim").transform(numbers).compute(), pca.transform(frame[list("abcde")]))
    same(lowdim.KLExpansion(2).fit(numbers), lowdim.KLExpansion(2).fit(frame[list("abcde")]), 1e-9)
    with pytest.raises(ValueError, match="feature names should match"):
        pca.transform(spread[list("edcba")])
    ready = lowdim.Prepare().fit(frame)
    near(ready.transform(spread).compute(), ready.transform(frame))
    assert ready.complete(spread).compute().tolist() == [True] * N


def test_sparse_blocks(client, table):
    X = np.where(table[0] > 4, table[0], 0.0)
    blocks = cut(X).map_blocks(sp.csr_array, meta=sp.csr_array((0, 5)))
    there = lowdim.PCA(2).fit(blocks)
    near(there.explained_variance_, lowdim.PCA(2).fit(X).explained_variance_, 1e-10)
    near(there.transform(blocks).compute(), there.transform(X), 1e-10)
    with pytest.raises(TypeError, match="must be dense here.*toarray"):
        lowdim.KLExpansion(2).fit(blocks)


@pytest.mark.parametrize("method", [m.name for m in registry.METHODS])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_method_places_blocks(client, table, method, dtype):
    found = next(m for m in registry.METHODS if m.name == method)
    here = dtype == "float32" or found.needs_torch  # which saves workers the import of PyTorch
    run = {"scheduler": "synchronous"} if here else {}
    cls = found.load()
    X, y = table[0].astype(dtype), table[1]
    X = np.abs(X) if method == "nmf" else X
    if found.needs_torch:
        pytest.importorskip("torch", reason=f"{method} needs PyTorch")
    known = set(cls._get_param_names())
    given = {"random_state": 0, "max_iter": 60, "n_neighbors": 8, "perplexity": 8, "fit_inverse_transform": True}
    given |= {"max_epochs": 20, "decoder": True}
    if method == "select":
        given = {"n_features_to_select": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls(**{key: value for key, value in given.items() if key in known})
        model.fit(X, X[:, :2] if model._two_views else y)
    assert hasattr(model, "transform")
    names = ["transform", "score_samples", "trust", "predict", "predict_proba", "decision_function"]
    names += ["reconstruction_error"] if hasattr(model, "inverse_transform") else []  # of rows; Isomap's is of the map
    calls = [name for name in names if hasattr(model, name)]
    for name in calls:
        lazy, now = getattr(model, name)(cut(X, 100)), getattr(model, name)(X)
        assert isinstance(lazy, da.Array)
        assert lazy.dtype == now.dtype, name
        assert lazy.shape == now.shape, name
        blocks = [getattr(model, name)(X[i : i + 100]) for i in range(0, N, 100)]
        np.testing.assert_array_equal(lazy.compute(**run), np.concatenate(blocks))
    if found.takes_table:
        with pytest.raises(ValueError, match="inverse_transform returns a table.*compute"):
            model.inverse_transform(cut(model.transform(X), 100))
    elif hasattr(model, "inverse_transform"):
        Y = model.transform(X)
        lazy, now = model.inverse_transform(cut(Y, 100)), model.inverse_transform(Y)
        assert (lazy.dtype, lazy.shape) == (now.dtype, now.shape)
        near(lazy.compute(**run), now, 1e-5 if dtype == "float32" else 1e-10)


def test_samples_are_the_same_for_any_blocks(client, table):
    X, y = table
    expected = lowdim.data.sample(X, 50, random_state=3)
    for length in (240, 70, 11):
        np.testing.assert_array_equal(lowdim.data.sample(cut(X, length), 50, random_state=3), expected)
    frame = pd.DataFrame(X, columns=list("abcde"))
    for parts in (1, 4):
        drawn = lowdim.data.sample(dd.from_pandas(frame, npartitions=parts), 50, random_state=3)
        np.testing.assert_array_equal(drawn, expected)
        assert drawn.columns.tolist() == list("abcde")
    rows = {tuple(row): label for row, label in zip(X, y, strict=True)}
    assert lowdim.data.sample(cut(y, 20), 50, random_state=3).tolist() == [rows[tuple(row)] for row in expected]
    assert lowdim.data.sample(cut(X), 1000).shape == X.shape
    with pytest.raises(ValueError, match="n must be a whole number"):
        lowdim.data.sample(cut(X), 0)


def refusals():
    """What is refused, with what is said: a call of rows and labels."""
    return {
        r"blocks of X must hold whole rows.*rechunk\(\{1: -1\}\)": lambda X, y: lowdim.PCA(2).fit(
            da.from_array(X, chunks=(70, 2))
        ),
        r"svd_solver='svd' needs all rows.*'covariance'": lambda X, y: lowdim.PCA(2, svd_solver="svd").fit(cut(X)),
        r"solver='gram' needs all rows.*'range'": lambda X, y: lowdim.LDA(solver="gram").fit(cut(X), cut(y)),
        r"TSNE has no version.*lowdim.data.sample.*transform": lambda X, y: lowdim.TSNE().fit(cut(X)),
        r"y must be chunked as X is.*rechunk\(\{0: X.chunks\[0\]\}\)": lambda X, y: lowdim.LDA().fit(
            cut(X), cut(y, 60)
        ),
        r"y must be a Dask collection.*compute_chunk_sizes": lambda X, y: lowdim.LDA().fit(
            dd.from_pandas(pd.DataFrame(X), npartitions=2), y
        ),
        r"set_output\(transform='pandas'\) has no effect.*from_dask_array": lambda X, y: (
            lowdim.PCA(2).fit(X).set_output(transform="pandas").transform(cut(X))
        ),
        r"got text in column 'k'": lambda X, y: lowdim.PCA(1).fit(
            dd.from_pandas(pd.DataFrame(X, columns=list("abcde")).assign(k="u"), npartitions=2)
        ),
        r"got NaN at row 203, column 1 .*rows of its block": lambda X, y: lowdim.PCA(2).fit(cut(with_gap(X))),
        r"got NaN at row 203, column 1": lambda X, y: lowdim.PCA(2).fit(X).transform(cut(with_gap(X))).compute(),
        r"got NaN at row 23 of block 3, column 'b'": lambda X, y: lowdim.PCA(2).fit(
            dd.from_pandas(pd.DataFrame(with_gap(X), columns=list("abcde")), npartitions=4)
        ),
        r"y must have a label for every row; got NaN or infinity at row 203": lambda X, y: lowdim.LDA().fit(
            cut(X), cut(with_gap(np.c_[y, y].astype(float))[:, 1])
        ),
        r"at least two classes are needed; got 1 class \(0\) in 240 rows": lambda X, y: lowdim.LDA().fit(
            cut(X), cut(np.zeros(N, int))
        ),
        r"must hold labels, a few distinct values": lambda X, y: lowdim.LDA().fit(cut(X), cut(X[:, 0])),
        r"sample_weight must be finite and 0 or more": lambda X, y: lowdim.PCA(2).fit(
            cut(X), sample_weight=cut(-X[:, 0])
        ),
        r"NumPy rows need labels.*compute\(\)": lambda X, y: lowdim.LDA().fit(X, cut(y)),
        r"at least 2 samples": lambda X, y: lowdim.PCA(1).fit(cut(X[:1])),
        r"n_components must be at most .* = 5; got 9": lambda X, y: lowdim.PCA(9).fit(cut(X)),
        r"5 features": lambda X, y: lowdim.PCA(2).fit(X).transform(cut(X[:, :3])),
        r"needs 2 columns": lambda X, y: lowdim.PCA(2).fit(X).inverse_transform(cut(X)),
        r"must hold numbers; got <U1": lambda X, y: lowdim.PCA(2).fit(cut(np.full((N, 3), "a"))),
        r"Expected 2D array": lambda X, y: lowdim.PCA(2).fit(cut(X[:, 0])),
    }


def with_gap(X):
    X = X.copy()
    X[203, 1] = np.nan
    return X


@pytest.mark.parametrize("words", refusals())
def test_what_cannot_be_is_refused_with_what_to_do(client, table, words):
    with pytest.raises((ValueError, TypeError), match=words):
        refusals()[words](*table)


def test_empty_blocks_add_nothing(client, table):
    X, y = table
    some, both = da.from_array(X, chunks=((70, 0, 170), 5)), da.from_array(y, chunks=((70, 0, 170),))
    same(lowdim.LDA().fit(some, both), lowdim.LDA().fit(X, y), 1e-9)
    assert lowdim.PCA(2).fit(some).transform(some).compute().shape == (N, 2)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=3)
    none = frame[frame["a"] > 1e9]
    with pytest.raises(ValueError, match="at least 2 samples"):
        lowdim.PCA(2).fit(none)


def test_a_lazy_result_keeps_the_model_it_was_made_by(table):
    X = table[0]
    model = lowdim.PCA(2).fit(X)
    lazy, now = model.transform(cut(X)), model.transform(X)
    model.fit(X[:50] * [1, 5, 1, 1, 1])
    near(lazy.compute(scheduler="synchronous"), now)
    assert sum(str(key).startswith("lowdim-model-") for key in lazy.__dask_graph__()) == 1


def test_threads_of_a_local_scheduler_serve_as_well(table):
    X, y = table
    same(lowdim.LDA(n_jobs=2).fit(cut(X), cut(y)), lowdim.LDA().fit(X, y), 1e-9)


@pytest.mark.parametrize(
    "given",
    [
        {"rank": 40},
        {"tol": 0.1, "gamma": "median"},
        {"approximation": "nystroem", "rank": 40},
        {"kernel": "poly", "rank": 30},
    ],
    ids=str,
)
def test_kernel_pca_of_low_rank_sums_features_over_blocks(client, table, given, tmp_path):
    X = table[0] / 3
    given = {"approximation": "rpcholesky", "random_state": 0, **given}
    here, there = lowdim.KernelPCA(2, **given).fit(X), lowdim.KernelPCA(2, **given).fit(cut(X))
    near(there.eigenvalues_, here.eigenvalues_, 1e-8)
    assert there.approximation_error_ == pytest.approx(here.approximation_error_, abs=1e-9)
    np.testing.assert_array_equal(there.landmarks_, here.landmarks_)
    near(np.abs(there.transform(cut(X)).compute()), np.abs(here.transform(X)), 1e-7)
    there.save(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "model.lowdim").transform(X), there.transform(X))
    assert not hasattr(there, "eigenvectors_")
    assert isinstance(lowdim.KernelPCA(2, **given).fit_transform(cut(X)), da.Array)
    with pytest.raises(ValueError, match="needs all rows in one memory.*rpcholesky"):
        lowdim.KernelPCA(2).fit(cut(X))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_measures_of_blocks_equal_those_of_one_machine(client, table, metric):
    X, Y = table[0], table[0][:, :2]
    D, E = cut(X), cut(Y, 100)
    for measure in (lowdim.quality.trustworthiness, lowdim.quality.continuity, lowdim.quality.neighborhood_recall):
        here, there = (measure(*pair, 7, metric=metric, sample=60) for pair in ((X, Y), (D, E)))
        assert (float(there), there.error, there.sampled) == (pytest.approx(float(here), abs=1e-12), here.error, 60)
    here, there = (lowdim.quality.stress(*pair, metric=metric, sample=500) for pair in ((X, Y), (D, E)))
    assert (float(there), there.error) == (pytest.approx(float(here)), pytest.approx(here.error))
    if metric == "euclidean":
        with pytest.raises(TypeError, match="all distances of each row are needed.*sample"):
            lowdim.quality.rnx_auc(D, E)
        with pytest.raises(ValueError, match="one row for each of the 240"):
            lowdim.quality.stress(D, E[:50])


def test_candidates_of_a_selection_are_fitted_by_the_workers(client, table):
    import joblib
    from sklearn.neighbors import KNeighborsClassifier

    X, y = table
    model = lowdim.SequentialFeatureSelector(
        KNeighborsClassifier(5), n_features_to_select=2, scoring="balanced_accuracy", cv=3
    )
    here = model.fit(X, y).history_["score"]
    with joblib.parallel_config(backend="dask"):
        there = lowdim.SequentialFeatureSelector(**model.get_params(deep=False)).fit(X, y)
    assert there.history_["score"] == here
    assert any("Batch" in str(key) or "fit_and_score" in str(key) for key in client.run_on_scheduler(keys_seen))


def keys_seen(dask_scheduler):
    return list(dask_scheduler.task_prefixes)
