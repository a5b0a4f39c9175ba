"""Base classes of all methods: scikit-learn's contract, running and saving."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from lowdim.data import options, validation
from lowdim.data.arrow import from_arrow
from lowdim.data.compat import check_feature_names, check_n_features
from lowdim.methods import choosing, onnx_export
from lowdim.methods.callbacks import demand_no_callback
from lowdim.methods.explanation import Explanation, by_differences, explained, small_steps
from lowdim.methods.html_summary import with_facts
from lowdim.persist.fields import SEEN, Field, check_fields
from lowdim.relate.feature_scales import scales
from lowdim.relate.metrics import METRICS, Metric, kind_of, metric_with
from lowdim.relate.moment_states import ColumnMoments, Moments
from lowdim.work import backend_arrays, dispatch, memory, progress, thread_limit
from lowdim.work.blockwise import float_dtype
from lowdim.work.devices import moved
from lowdim.work.finite import bad_row, careful
from lowdim.work.random import seed_of
from lowdim.work.rows import call, own
from lowdim.work.user_warnings import ScaleWarning, warn

METRIC_RULES = {  # of methods that use distances
    "metric": options.one_of(*METRICS) | options.Rule(callable, "a function of two rows"),
    "metric_params": options.none | options.Rule(lambda value: isinstance(value, Mapping), "a dict"),
}
Call = TypeVar("Call", bound=Callable[..., Any])


def fitting(method: Call) -> Call:
    """Decorator of ``fit`` methods: all or nothing.

    Parameters are checked first, BLAS and kernels use ``n_jobs`` threads, stages are shown under ``verbose``, fitted
    attributes must be as declared (finite above all), and on any error, Ctrl-C included, the object is left as it was.
    If ``device`` moved the rows, results and fitted attributes are moved back.
    """

    @wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        demand_no_callback(self)
        before = self.__dict__.copy()
        try:
            self._check_parameters()
            name = self._name
            with thread_limit.using(self.n_jobs), progress.showing(self.verbose, name), careful(name):
                if method.__name__ in ("fit", "fit_transform") and choosing.to_choose(self) is not None:
                    self._fit_choosing(*args, **kwargs)
                    result = self if method.__name__ == "fit" else own(self.embedding_)
                else:
                    result = method(self, *args, **kwargs)
                self._bring_back(_first(args, kwargs))
                self._demand_learnt()
                return _as_given(result, _first(args, kwargs))
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return cast(Call, run)


def applying(method: Call) -> Call:
    """Decorator of methods of a fitted object: it must be fitted, its result finite; kernels use ``n_jobs`` threads.

    Results are of the backend of the first argument, whatever ``device`` computed them. Calls on distributed rows are
    lazy: each block is transformed where it is.
    """

    @wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_is_fitted(self)
        self._finish_pending()
        name = type(self).__name__
        if dispatch.is_distributed(_first(args, kwargs)):
            return call(self, method.__name__, *args, *kwargs.values())
        with thread_limit.using(self.n_jobs), progress.showing(self.verbose, name), careful(name):
            result = _as_given(method(self, *args, **kwargs), _first(args, kwargs))
            if not self._keeps_values:
                _demand_finite(name, result)
            return result

    return cast(Call, run)


def learns_from_labels(model: Any) -> bool:
    """Whether what an estimator, or a step of a chain, learns depends on labels, by its kind and its parameters."""
    steps = [step for _, step in getattr(model, "steps", [("", model)])]
    try:
        return any(is_classifier(step) or get_tags(step).target_tags.required for step in steps)
    except (AttributeError, TypeError):  # an object with fit_transform alone
        return False


def used_labels(model: Any, y: Any) -> Any:
    """``y`` if the model learns from labels, None otherwise."""
    return y if learns_from_labels(model) else None


_before_others: ContextVar[tuple[int, ...]] = ContextVar("lowdim_steps_before_others", default=())


@contextmanager
def fewer_components_allowed(steps: list[Any]) -> Iterator[None]:
    """Inside, these estimators keep all components where the data have fewer than ``n_components``."""
    token = _before_others.set(tuple(map(id, steps)))
    try:
        yield
    finally:
        _before_others.reset(token)


def _first(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The first argument of a call."""
    return next(iter((*args, *kwargs.values())), None)


def _as_given(result: Any, given: Any) -> Any:
    """The result on the backend of the rows ``given``."""
    if (
        given is None
        or dispatch.is_distributed(given)
        or dispatch.backend_of(result) is dispatch.backend_of(given) is None
    ):
        return result
    return backend_arrays.moved_to(result, given)


def _demand_finite(name: str, result: Any) -> None:
    """Refuse results of finite rows that are not finite in their type."""
    for part in result if isinstance(result, tuple) else (result,):
        array = isinstance(part, np.ndarray) or dispatch.backend_of(part) is not None
        kind = str(part.dtype).removeprefix("torch.") if array else ""
        if kind.startswith("float") and (row := bad_row(part)) is not None:
            raise ValueError(
                f"{name}: results must fit in {kind}; that of row {row} does not, since its values are too large "
                "or too small. Drop such rows, or multiply the data by a constant before fit."
            )


class Reducer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all methods. A subclass declares ``_rules`` and ``_state``, stores its parameters and fits.

    ``_sparse`` says whether it takes CSR input, ``_needs_targets`` whether it requires ``y``, and
    ``_two_views`` whether that is a second view of the rows. ``_scale_matters`` says whether the features' scales do,
    ``_any_columns`` whether they may be text, ``_keeps_values`` whether results are columns of the rows, with
    their NaN; ``_no_onnx`` says why there is no ONNX file, None where there is one. Rows go to ``device``, of those
    methods that have it, unless ``_in_batches`` says that the method moves some at a time.
    """

    _rules: ClassVar[Mapping[str, options.Rule]] = {}
    _sparse: ClassVar[bool] = False
    _needs_targets: ClassVar[bool] = False
    _two_views: ClassVar[bool] = False
    _scale_matters: ClassVar[bool] = False
    _in_batches: ClassVar[bool] = False
    _any_columns: ClassVar[bool] = False
    _keeps_values: ClassVar[bool] = False
    _no_onnx: ClassVar[str | None] = "what this method computes is none"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        tags.target_tags.required = self._needs_targets or self._two_views
        tags.target_tags.multi_output = self._two_views
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _repr_html_inner(self) -> str:
        return with_facts(super()._repr_html_inner(), self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = with_facts(bundle["text/html"], self)
        return bundle

    def _store(self, given: dict[str, Any]) -> None:
        """Store the parameters of the constructor, given its ``locals()``."""
        for name in self._get_param_names():
            setattr(self, name, given[name])

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters, read from the signature once."""
        names: list[str] = super()._get_param_names()
        return names

    @property
    def _takes_gaps(self) -> bool:
        """Whether rows may have NaN."""
        return False

    @property
    def _takes_fewer(self) -> bool:
        """Whether it is a step before others, which keeps what components there are."""
        return id(self) in _before_others.get()

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _fit_choosing(self, X: Any = None, y: Any = None, **instead: Any) -> None:
        """Fit with the value of the open parameter that suits the rows best; what is given ``instead`` has none."""
        if instead.pop("shared", None) is not None:
            raise ValueError(
                f"{self._name}: {choosing.to_choose(self)}='choose' fits copies to samples, which shared= does not "
                "know. Pass a number."
            )
        if X is None or any(value is not None for value in instead.values()):
            what = next((name for name, value in instead.items() if value is not None), "no rows")
            raise ValueError(
                f"{self._name}: {choosing.to_choose(self)}='choose' needs rows X; got {what}. Pass 'auto', or rows."
            )
        X = self._take(X, reset=True, sparse=self._sparse, minimum=2)
        self._ask_memory(*X.shape)
        choosing.adopt(self, X, y, seed_of(getattr(self, "random_state", 0)))

    def _check_parameters(self) -> None:
        """Raise ValueError at the first parameter that breaks its rule."""
        options.check(self._name, vars(self), self._rules)

    def _take(
        self, X: Any, *, reset: bool, sparse: bool = False, minimum: int = 1, scan: bool = True, hint: bool = True
    ) -> Any:
        """Validated rows, with their features noted (``reset``, in fit) or compared with those of fit.

        They are returned on the requested device. ``hint=False`` leaves the hint at scales to a caller that will know
        the moments.
        """
        X = from_arrow(X)
        if type(X) is not np.ndarray or "feature_names_in_" in vars(self):  # no names now, none before
            with validation.advising():
                check_feature_names(self, validation.outline(X), reset=reset)
        X = validation.rows(X, self._name, sparse=sparse, minimum=minimum, scan=scan, gaps=self._takes_gaps)
        with validation.advising():
            check_n_features(self, X, reset=reset)
        if reset and hint:
            self._hint_at_scales(X)
        return moved(X, self._device, self._name)

    @property
    def _device(self) -> str | None:
        """Device that rows are moved to, None for none."""
        return None if self._in_batches else getattr(self, "device", None)

    def _bring_back(self, given: Any) -> None:
        """Move fitted attributes from another device to that of the rows ``given``."""
        if self._device is not None:
            learnt = {key: value for key, value in vars(self).items() if key not in self._get_param_names()}
            learnt = {key: value for key, value in learnt.items() if dispatch.backend_of(value) is not None}
            self.__dict__.update({key: backend_arrays.moved_to(value, given) for key, value in learnt.items()})

    def _depends_on_scale(self) -> bool:
        """Whether multiplying a feature by a number changes the result."""
        scaled = kind_of(self._metric).scaled if hasattr(self, "metric") else True
        return self._scale_matters and scaled and getattr(self, "kernel", "rbf") != "precomputed"

    @property
    def _metric(self) -> Metric:
        """Metric with its parameters, as the operations take it."""
        return metric_with(self.metric, getattr(self, "metric_params", None), self._name)

    def _hint_at_scales(self, X: Any, M: Moments | ColumnMoments | None = None) -> None:
        """Warn of features whose scales, by their moments ``M`` if known, are far apart."""
        known = isinstance(X, np.ndarray) and self._depends_on_scale()
        if known and (found := scales(X, M)) is not None:
            warn(
                f"{self._name}: features should be of comparable scale; their standard deviations differ "
                f"{found.ratio:,.0f}-fold, from {found.least:.3g} to {found.largest:.3g}, so the largest dominate the "
                "result. Divide each by its standard deviation (lowdim.Prepare, or sklearn's StandardScaler), or "
                "ignore lowdim.ScaleWarning if they share one unit.",
                ScaleWarning,
            )

    def _ask_memory(self, n: int, d: int) -> None:
        """Require the memory that fitting n rows of d features takes, before anything is allocated."""
        memory.require(8.0 * n * d, f"{self._name}: {n:,} rows of {d:,} features", "Pass fewer rows.")

    def _demand_finite(self, X: Any, witness: Any) -> None:
        """Raise ValueError if ``witness``, computed from all of ``X``, shows NaN or infinity there."""
        if dispatch.backend_of(X) is None:  # other backends have checked
            validation.demand_finite(self._name, X, witness, columns=getattr(self, "feature_names_in_", None))

    @applying
    def explain(self, X: Any, *, scale: Any = None) -> Explanation:
        """How the positions of rows change with each column.

        In closed form for linear methods. For t-SNE, SNE, UMAP and MDS by implicit differentiation of the row's own
        loss, with all other rows fixed; a row of the fit is not its own neighbour. For others by placing rows of which
        one column was changed; PaCMAP, whose pairs do not change with small steps, takes steps of the length of the
        distance to the fifth neighbour.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Rows, of the fit or new, with the features seen in ``fit``.
        scale : array (n_features,), optional
            Standard deviation of each column, the unit of sensitivities. None takes that of the rows of the fit, if the
            model has them, or of ``X``.

        Returns
        -------
        Explanation
            ``.table`` (columns by sensitivity), ``.sensitivity``, ``.jacobian``; :func:`lowdim.show.explanation` draws
            it. A derivative holds for small changes, and describes the map, not a cause.
        """
        from lowdim.work.backend_arrays import is_native

        if self._keeps_values or self._any_columns or not hasattr(self, "transform"):
            raise TypeError(f"{self._name}: explain needs a method with positions. Pass the model of a map.")
        if getattr(self, "metric", "") == "precomputed" or getattr(self, "kernel", "") == "precomputed":
            raise ValueError(f"{self._name}: explain needs rows of features; got a model of distances. Fit rows.")
        tags = self.__sklearn_tags__().input_tags
        X = self._take(X, reset=False, sparse=tags.sparse, hint=False)
        if not is_native(X):
            raise TypeError(f"{self._name}: explain needs NumPy rows; got a {type(X).__name__}. Convert them.")
        if X.dtype.kind != "f":
            X = X.astype(float_dtype(X.dtype))
        return explained(self, X, scale, self._jacobian)

    def _jacobian(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Positions (m, k) of validated rows, and their derivatives (m, k, d)."""
        return by_differences(X, lambda Q, _: self.transform(Q), small_steps(self, X), self.transform(X))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to ``path``, whole or not at all; :func:`lowdim.load` reads it back.

        Parameters
        ----------
        path : str or path-like
            Usually ends in ``.lowdim``. An existing file is replaced only once the new one is complete.
        """
        from lowdim import __version__
        from lowdim.persist import write_state

        write_state(path, {"lowdim": __version__} | self._state_for_file())

    def to_onnx(self, path: str | os.PathLike[str], method: str = "transform", *, dtype: str = "float32") -> None:
        """Write what the model computes as an ONNX file, which runs without lowdim and without Python.

        Linear and kernel methods, networks and chosen columns can be written. Results are those of ``transform`` to the
        rounding of ``dtype``; rows with NaN or infinity, which lowdim refuses, become NaN.

        Parameters
        ----------
        path : str or path-like
            Usually ends in ``.onnx``. An existing file is replaced only once the new one is complete.
        method : {"transform", "inverse_transform", "predict", "second_view"}
            What the file computes; ``"predict"`` of a regression, ``"second_view"`` the scores of the other view of
            methods that have two.
        dtype : {"float32", "float64"}
            Type of its input, its numbers and its output.

        Examples
        --------
        >>> import lowdim, pathlib, tempfile
        >>> X, y = lowdim.data.load("iris")
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "iris.onnx"
        >>> lowdim.PCA(2).fit(X).to_onnx(path)
        >>> path.stat().st_size < 1000
        True
        """
        onnx_export.write(self, path, method, dtype)

    def _onnx(self, graph: Any, X: str, method: str) -> str:
        """Add operators that compute ``method`` of the rows called ``X``; the name of the result."""
        raise NotImplementedError(f"{self._name}: a class whose _no_onnx is None must have a method _onnx.")

    def _onnx_inputs(self) -> list[str]:
        """Names of the columns that an ONNX file takes."""
        return [str(one) for one in getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])]

    def _state_for_file(self) -> dict[str, Any]:
        """Class, parameters and fitted attributes as a model file keeps them."""
        params = self._params_for_file()
        # Only what is declared: metadata routing requests, for example, belong to the program, not to the model.
        state, declared = cast(dict[str, Any], self.__getstate__()), SEEN | self._state()
        fitted = {key: backend_arrays.all_to_numpy(value) for key, value in state.items() if key in declared}
        return {"class": type(self).__name__, "params": params, "fitted": fitted}

    def _params_for_file(self) -> dict[str, Any]:
        """Parameters as a model file keeps them."""
        params: dict[str, Any] = self.get_params(deep=False)
        if isinstance(params.get("random_state"), np.random.RandomState | np.random.Generator):
            params["random_state"] = None  # the state of a generator belongs to the process, not the model
        return params

    @classmethod
    def _params_from_file(cls, params: dict[str, Any]) -> dict[str, Any]:
        """Parameters of the constructor from those stored in a file."""
        return params

    @classmethod
    def _fitted_from_file(cls, fitted: dict[str, Any], version: int) -> dict[str, Any]:  # noqa: ARG003
        """Fitted attributes from those stored in a file of format ``version``; adds what older files lack."""
        return fitted

    def _outline(self, method: str, dtype: np.dtype) -> tuple[int | None, Any]:
        """Columns (None: one value per row) and type of what ``method`` returns for rows of ``dtype``."""
        columns = {"transform": len(self.get_feature_names_out()), "inverse_transform": self.n_features_in_}
        return columns.get(method), np.float64 if method in ("score_samples", "trust") else float_dtype(dtype)

    def _finish_pending(self) -> None:
        """Complete work that fitting deferred, before the model is applied."""

    def _state(self) -> dict[str, Field]:
        """Names of all fitted attributes, which model files may hold."""
        return {}

    def _demand_learnt(self) -> None:
        """Refuse data whose fit is not finite."""
        try:
            here = {key: value for key, value in vars(self).items() if dispatch.backend_of(value) is None}
            check_fields(here, SEEN | self._state(), partly=True)
        except ValueError as error:
            raise ValueError(
                f"{type(self).__name__}: {error}. Values of the data are too large, too small or too far apart: "
                "multiply them by a constant that brings them near 1."
            ) from None

    def _check_state(self) -> None:
        """Raise unless the fitted attributes are as declared and consistent; called on models loaded from files."""
        params = self._get_param_names()
        check_fields({key: v for key, v in vars(self).items() if key not in params}, SEEN | self._state())
