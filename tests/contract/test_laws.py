"""The laws that hold for every registered method alike."""

import inspect
import pickle
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import lowdim
from lowdim.methods import registry
from lowdim.work import progress

no_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="PyTorch is not installed: pip install 'lowdim[torch]'"
)
METHODS = [
    pytest.param(method.load(), id=method.name, marks=no_torch if method.needs_torch else ())
    for method in registry.METHODS
]
# methods of rows of numbers: others take columns of text and dates
NUMBERS = [one for one in METHODS if not one.values[0]._any_columns]
QUICK = {"max_epochs": 20}  # what takes long by default, where a method has it
# The neighbour graph of iris has two components, of which methods on it warn.
pytestmark = pytest.mark.filterwarnings("ignore:.* the graph of neighbours must be")
every_method = pytest.mark.parametrize("cls", METHODS)
every_method_of_numbers = pytest.mark.parametrize("cls", NUMBERS)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    X += np.random.default_rng(0).normal(scale=0.01, size=X.shape)  # no duplicates
    return X, y


def size_name(cls):
    """Name of the parameter that says how many columns come out."""
    return "n_components" if "n_components" in inspect.signature(cls).parameters else "n_features_to_select"


def two_views(cls):
    return getattr(cls, "_two_views", False)


def make(cls, **params):
    """A small instance of ``cls`` with a seed where it takes one."""
    known = inspect.signature(cls).parameters
    few = 1 if two_views(cls) else 2  # labels are a second view of one column
    fixed = {size_name(cls): few, "random_state": 0} | QUICK | params
    return cls(**{name: value for name, value in fixed.items() if name in known})


# scikit-learn's checks expect of these names that fit_transform gives a pair, which no pipeline could use.
class TwoViews(lowdim.CCA):
    """CCA by another name."""


class Regression(lowdim.PLSRegression):
    """PLSRegression by another name."""


class Canonical(lowdim.PLSCanonical):
    """PLSCanonical by another name."""


RENAMED = {cls.__base__: cls for cls in (TwoViews, Regression, Canonical)}


@every_method
def test_scikit_learn_finds_nothing_to_complain_about(cls):
    known = inspect.signature(cls).parameters
    quick = {name: value for name, value in QUICK.items() if name in known}
    few = {"n_components": 1} if cls.__name__.startswith("PLS") else {}  # of one target
    check_estimator(RENAMED.get(cls, cls)(**quick, **few), on_skip=None)


@every_method
def test_parameters_are_only_stored_and_survive_a_clone(cls):
    model = make(cls)
    assert set(vars(model)) == set(model.get_params())
    assert clone(model).get_params() == model.get_params()


@every_method
def test_names_are_public_and_documented(cls):
    assert getattr(lowdim, cls.__name__) is cls
    for name in inspect.signature(cls).parameters:
        assert name in cls.__doc__
    assert ">>>" in cls.__doc__


@every_method
def test_input_is_left_untouched(cls, iris):
    X, y = iris[0].copy(), iris[1].copy()
    X.flags.writeable = False
    make(cls).fit(X, y).transform(X)
    np.testing.assert_array_equal(X, iris[0])
    np.testing.assert_array_equal(y, iris[1])


@every_method
def test_same_seed_gives_same_bits(cls, iris):
    np.testing.assert_array_equal(make(cls).fit_transform(*iris), make(cls).fit_transform(*iris))


@every_method
def test_threads_change_nothing_but_rounding(cls, iris):
    one, two = (make(cls, n_jobs=n).fit_transform(*iris) for n in (1, 2))
    np.testing.assert_allclose(one, two, atol=1e-9)


@every_method
def test_fit_then_transform_is_fit_transform(cls, iris):
    np.testing.assert_allclose(make(cls).fit(*iris).transform(iris[0]), make(cls).fit_transform(*iris), atol=1e-8)


@every_method
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_precision_of_the_input_is_kept(cls, dtype, iris):
    X = iris[0].astype(dtype)
    model = make(cls).fit(X, iris[1])
    assert model.transform(X).dtype == dtype
    assert make(cls).fit_transform(X, iris[1]).dtype == dtype


@every_method
def test_order_and_strides_do_not_matter(cls, iris):
    X, y = iris
    expected = make(cls).fit_transform(X, y)
    wide = np.empty((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    for other in (np.asfortranarray(X), wide[:, ::2], X[::-1][::-1]):
        np.testing.assert_allclose(make(cls).fit_transform(other, y), expected, atol=1e-9)


@every_method
def test_new_points_get_places_and_training_rows_their_own(cls, iris):
    X, y = iris
    model = make(cls).fit(X, y)
    Y = model.transform(X)
    np.testing.assert_allclose(model.transform(X[7:9]), Y[7:9], atol=1e-8)
    assert np.isfinite(model.transform(X[:5] + 0.05)).all()


@every_method
def test_saved_and_loaded_model_is_identical(cls, iris, tmp_path):
    X, y = iris
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = make(cls).fit(frame, y).set_output(transform="pandas")
    model.save(tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    assert type(again) is cls
    assert again.get_params() == model.get_params()
    assert {key for key in vars(model) if not key.startswith("_")} <= set(vars(again))
    pd.testing.assert_frame_equal(again.transform(frame), model.transform(frame), check_exact=True)
    for key, value in vars(model).items():
        if isinstance(value, np.ndarray) and not key.startswith("_"):
            np.testing.assert_array_equal(vars(again)[key], value)
            assert vars(again)[key].dtype == value.dtype


@every_method
def test_pickle_works_too(cls, iris):
    model = make(cls).fit(*iris)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(iris[0]), model.transform(iris[0]))


@every_method
@pytest.mark.parametrize(("frame", "kind"), [(pd.DataFrame, "pandas"), (pl.DataFrame, "polars")])
def test_data_frames_in_and_out(cls, frame, kind, iris):
    X, y = iris
    data = frame({name: X[:, i] for i, name in enumerate("abcd")})
    model = make(cls).set_output(transform=kind).fit(data, y)
    Y = model.transform(data)
    assert isinstance(Y, frame)
    assert list(Y.columns) == list(model.get_feature_names_out())
    assert Y.columns[0] == cls.__name__.lower() + "0" or Y.columns[0] in model.feature_names_in_
    np.testing.assert_array_equal(model.feature_names_in_, list("abcd"))
    np.testing.assert_allclose(np.asarray(Y), make(cls).fit_transform(X, y), atol=1e-9)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(data.rename({"a": "z"}) if kind == "polars" else data.rename(columns={"a": "z"}))


@every_method
def test_works_in_a_pipeline_and_a_grid_search(cls, iris):
    pipe = make_pipeline(make(cls), GaussianNB())
    name = cls.__name__.lower()
    search = GridSearchCV(pipe, {f"{name}__{size_name(cls)}": [1] if two_views(cls) else [1, 2]}, cv=3).fit(*iris)
    assert search.best_score_ > 0.5


@every_method_of_numbers
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda X: np.where(np.arange(X.size).reshape(X.shape) == 9, np.nan, X), "NaN at row 2, column 1.*[Dd]rop"),
        (lambda X: np.where(np.arange(X.size).reshape(X.shape) == 9, np.inf, X), "infinity at row 2, column 1.*Drop"),
        (lambda X: X.astype(str), "must be numeric.*encode"),
        (lambda X: [[None, *row[1:]] for row in X.tolist()], "NaN at row 0, column 0"),
        (lambda X: X.astype("datetime64[s]"), "must be numeric; got dates"),
        (
            lambda X: pd.DataFrame(X).assign(day=pd.Timestamp("2026-01-01")).set_axis(list("abcde"), axis=1),
            "dates in column 'e'",
        ),
        (lambda X: pl.DataFrame(X).lazy(), "LazyFrame.*collect"),
        (lambda X: X[:1], "at least 2 samples.*1 sample.*more rows"),
        (lambda X: X[:, 0], "2D"),
        (lambda X: X[:, :0], "at least one column"),
        (lambda X: X + 1j, "[Cc]omplex"),
    ],
)
def test_bad_data_is_refused_with_what_to_do(cls, damage, words, iris):
    X, y = iris
    bad = damage(X)
    with pytest.raises((ValueError, TypeError), match=f"(?s){words}"):
        make(cls).fit(bad, y[: len(bad)] if hasattr(bad, "__len__") else y)


@every_method
def test_other_features_at_transform_are_refused(cls, iris):
    model = make(cls).fit(*iris)
    with pytest.raises(ValueError, match=r"3 features, but .* expecting 4 features.*columns that fit saw"):
        model.transform(iris[0][:, :3])
    with pytest.raises(ValueError, match=r"NaN at row 0( \(counted from 0\))?, column '?x?3"):
        model.transform(np.array([[0, 0, 0, np.nan]]))


@every_method
def test_unfitted_models_say_so(cls, iris):
    with pytest.raises(NotFittedError):
        make(cls).transform(iris[0])


@every_method
@pytest.mark.parametrize("value", [0, -1, "many", True, 2.5, 10**6])
def test_impossible_numbers_of_components_are_refused(cls, value, iris):
    with pytest.raises(ValueError, match=rf"{size_name(cls)} must be .*got"):
        make(cls, **{size_name(cls): value}).fit(*iris)


@every_method
def test_impossible_n_jobs_is_refused(cls, iris):
    with pytest.raises(ValueError, match="n_jobs must be"):
        make(cls, n_jobs=0).fit(*iris)


@every_method
def test_an_interrupted_fit_leaves_the_model_as_it_was(cls, iris, monkeypatch):
    X, y = iris
    model = make(cls).fit(X[:, :3], y)
    before = dict(vars(model))
    fresh = make(cls)

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(progress, "_silent", interrupt)
    monkeypatch.setattr("lowdim.work.memory.require", interrupt)
    for one in (model, fresh):
        with pytest.raises(KeyboardInterrupt):
            one.fit(X, y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is before[key] for key in before)
    assert set(vars(fresh)) == set(fresh.get_params())


@every_method
def test_progress_goes_to_standard_error_only_when_asked(cls, iris, capsys):
    make(cls, verbose=0).fit(*iris)
    assert capsys.readouterr() == ("", "")
    make(cls, verbose=1).fit(*iris)
    out, err = capsys.readouterr()
    assert out == ""
    assert cls.__name__ in err


@every_method
def test_arrays_from_elsewhere_are_not_coerced_in_silence(cls):
    Cupy = type("ndarray", (), {"__module__": "cupy"})
    with pytest.raises(TypeError, match=r"a cupy array.*get\(\)"):
        make(cls).fit(Cupy())


@every_method
def test_a_map_that_was_returned_is_the_callers_own(cls, iris):
    X, y = iris
    model = make(cls)
    Y = model.fit_transform(X, y)
    before = model.transform(X).copy()
    Y[:] = 7.0
    np.testing.assert_array_equal(model.transform(X), before)


@pytest.mark.parametrize("method", registry.METHODS, ids=lambda method: method.name)
def test_the_registry_asks_the_method_for_its_memory(method):
    few, many = method.memory(200, 10), method.memory(20_000, 10)
    assert 0 < few <= many


@every_method
@pytest.mark.filterwarnings("ignore")  # what is told of such data is each method's own
@pytest.mark.parametrize("case", ["repeated", "all equal", "constant and copied columns", "wide"])
def test_degenerate_rows_give_finite_places_or_an_error_in_the_methods_name(cls, case, iris):
    X, y = iris
    X, y = {
        "repeated": (np.repeat(X[::5], 5, axis=0), np.repeat(y[::5], 5)),
        "all equal": (np.tile(X[:1], (len(X), 1)), y),
        "constant and copied columns": (np.column_stack([X, X[:, 0], np.ones(len(X))]), y),
        "wide": (np.random.default_rng(0).normal(size=(12, 40)), np.arange(12) % 3),
    }[case]
    told, Y = "", np.zeros(1)
    try:
        Y = make(cls).fit_transform(X, y)
    except ValueError as error:
        told = str(error)
    assert told.startswith((cls.__name__, "Neighbours", "metric=")) if told else np.isfinite(Y).all()


@every_method
@pytest.mark.filterwarnings("ignore:.*differ")
def test_dense_and_sparse_rows_agree(cls, iris):
    if not cls._sparse:
        pytest.skip("takes dense rows only, and says so")
    X, y = iris
    X = np.where(X > 1, X, 0.0)[:, :3]
    dense, sparse = (make(cls).fit_transform(rows, y) for rows in (X, sp.csr_array(X)))
    if sp.issparse(sparse):
        sparse = sparse.toarray()
    if hasattr(cls, "_loss"):  # rounding of the first step grows in a descent, so that clusters may change positions
        kept = [lowdim.quality.trustworthiness(X, Y, n_neighbors=10) for Y in (dense, sparse)]
        assert min(kept) > 0.95
        assert kept[0] == pytest.approx(kept[1], abs=0.02)
    else:
        np.testing.assert_allclose(dense, sparse, atol=1e-3 * np.abs(dense).max())
