"""Several steps as one model: preparation, a first reduction, a map; fitted, applied and saved together."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from lowdim.data.compat import rows_at
from lowdim.methods import onnx_export
from lowdim.methods.base import Reducer, fewer_components_allowed
from lowdim.methods.explanation import Explanation, chained

CLASS_NAME = "Chain"


class Chain(Pipeline):
    """Pipeline of lowdim's estimators that can be saved to one file; returned by :func:`lowdim.chain`.

    It is scikit-learn's ``Pipeline`` with four additions: :meth:`save`; rows that a first step with ``missing="drop"``
    leaves out are left out of ``y`` too; a PCA before the last step keeps all components where the data have fewer than
    it asks for, since it only shortens rows for the next step; and a ``fit`` that fails leaves every step as it was.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> model = lowdim.chain(lowdim.PCA(3), lowdim.LDA()).fit(X, y)
    >>> model.transform(X[:5]).shape, list(model.named_steps)
    ((5, 2), ['pca', 'lda'])
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> "Chain":
        """Fit the steps one after the other, each on the output of the previous one.

        Parameters
        ----------
        X : what the first step takes
            The data.
        y : array (n_samples,), optional
            Labels, for steps that use them.
        **params
            Parameters of the ``fit`` of a step, as ``step__parameter``.

        Returns
        -------
        Chain
            This object.
        """
        with self._as_it_was():
            super().fit(*self._complete(X, y), **params)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit the steps and return the output of the last one.

        Parameters
        ----------
        X : what the first step takes
            The data.
        y : array (n_samples,), optional
            Labels, for steps that use them.
        **params
            Parameters of the ``fit`` of a step, as ``step__parameter``.

        Returns
        -------
        array of shape (n_samples, n_components)
            The embedding.
        """
        with self._as_it_was():
            return super().fit_transform(*self._complete(X, y), **params)

    def explain(self, X: Any, *, scale: Any = None) -> Explanation:
        """How the positions of rows change with each column, by the chain rule over the steps.

        After :class:`Prepare`, columns are those that it makes.

        Parameters
        ----------
        X : what the first step takes
            Rows, of the fit or new.
        scale : array (n_features,), optional
            Standard deviation of each column; None takes that of ``X``, or of the rows of the fit where the first step
            has them.

        Returns
        -------
        Explanation
            As of the ``explain`` of a single method.
        """
        found, names = None, None
        for _, step in self.steps:
            if getattr(step, "_any_columns", False):
                X, names = np.asarray(step.transform(X)), step.get_feature_names_out()
                continue
            here = step.explain(X, scale=scale if found is None else None)
            if found is None:
                found = here if names is None else replace(here, columns=tuple(map(str, names)))
            else:
                found = chained(here, found)
            X = np.asarray(step.transform(X))
        if found is None:
            raise TypeError(f"{type(self).__name__}: explain needs a method with positions; got preparation alone.")
        return found

    def extend(self, X: Any) -> "Chain":
        """Map of the training rows and of new ones: the old rows stay, the new ones are laid out together.

        The steps before the last transform the new rows; the last one must have ``extend``, as maps have.

        Parameters
        ----------
        X : what the first step takes
            New rows.

        Returns
        -------
        Chain
            A new chain of all rows, the old ones first; the steps before the last are those of this one.
        """
        name, last = self.steps[-1]
        if not hasattr(last, "extend"):
            raise ValueError(
                f"Chain: extend needs a last step with extend, such as TSNE or UMAP; got {type(last).__name__}. Use "
                "transform."
            )
        check_is_fitted(last)
        return type(self)([*self.steps[:-1], (name, last.extend(self[:-1].transform(X) if len(self) > 1 else X))])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all steps to ``path``, whole or not at all; :func:`lowdim.load` reads them back.

        Parameters
        ----------
        path : str or path-like
            Usually ends in ``.lowdim``. An existing file is replaced only once the new one is complete.
        """
        save(self, path)

    def to_onnx(self, path: str | os.PathLike[str], method: str = "transform", *, dtype: str = "float32") -> None:
        """Write what all steps compute as one ONNX file.

        Parameters
        ----------
        path : str or path-like
            Usually ends in ``.onnx``. An existing file is replaced only once the new one is complete.
        method : {"transform", "inverse_transform"}
            What the file computes.
        dtype : {"float32", "float64"}
            Type of its input, its numbers and its output. A ``Prepare`` in it takes columns of numbers only, in the
            order of the ``features_in`` that the file names.
        """
        onnx_export.write(self, path, method, dtype)

    @contextmanager
    def _as_it_was(self) -> Iterator[None]:
        """On any error, restore the steps; those before the last may keep fewer components than asked."""
        before = [(step, vars(step).copy()) for _, step in self.steps if isinstance(step, Reducer)]
        try:
            with fewer_components_allowed([step for _, step in self.steps[:-1]]):
                yield
        except BaseException:
            for step, state in before:
                step.__dict__.clear()
                step.__dict__.update(state)
            raise

    def _complete(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Rows that the first step does not drop, and their labels."""
        first = self.steps[0][1] if self.steps else None
        if y is None or getattr(first, "missing", None) != "drop":
            return X, y
        complete = clone(first).fit(X).complete(X)
        if _length(y) != len(complete):  # refused by the step that reads labels
            return X, y
        kept = np.flatnonzero(complete)
        take = X.iloc if hasattr(X, "iloc") else X
        return take[kept], rows_at(y, kept)


def _length(y: Any) -> int | None:
    """Number of labels; None if it is not a list of labels."""
    if hasattr(y, "shape"):
        return int(y.shape[0]) if y.shape else None
    return len(y) if isinstance(y, list | tuple) else None


def chain(*steps: Any) -> Chain:
    """Combine steps into one model.

    Parameters
    ----------
    *steps : estimators
        Estimators of lowdim, in the order in which the data pass through them, such as ``Prepare(), PCA(50), TSNE()``.
        A chain among them is replaced by its steps.

    Returns
    -------
    Chain
        A ``Pipeline`` with ``save``; its steps are named after their classes, in lower case.

    Examples
    --------
    >>> import lowdim
    >>> model = lowdim.chain(lowdim.PCA(10), lowdim.TSNE(random_state=0))
    >>> list(model.named_steps)
    ['pca', 'tsne']
    """
    flat = [one for step in steps for one in ([s for _, s in step.steps] if isinstance(step, Pipeline) else [step])]
    if not flat:
        raise ValueError(
            "chain: at least one step is needed; got none. Pass estimators, as in chain(Prepare(), PCA(2))."
        )
    _demand_steps(flat, "chain")
    names = [type(step).__name__.lower() for step in flat]
    positions = [names[: j + 1].count(name) for j, name in enumerate(names)]
    several = {name for name in names if names.count(name) > 1}
    named = [f"{name}-{place}" if name in several else name for name, place in zip(names, positions, strict=True)]
    return Chain(list(zip(named, flat, strict=True)))


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to ``path``, whole or not at all; :func:`lowdim.load` reads it back.

    Parameters
    ----------
    model : estimator of lowdim, chain, or Pipeline of scikit-learn
        The model, fitted or not. A ``Pipeline`` must be of lowdim's estimators; it comes back as a :class:`Chain`,
        which is a ``Pipeline`` too.
    path : str or path-like
        Usually ends in ``.lowdim``. An existing file is replaced only once the new one is complete.

    Examples
    --------
    >>> import lowdim, pathlib, tempfile
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = lowdim.data.load("digits")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "digits.lowdim"
    >>> lowdim.save(make_pipeline(lowdim.PCA(10), lowdim.LDA(2)).fit(X, y), path)
    >>> lowdim.load(path).transform(X).shape
    (1797, 2)
    """
    from lowdim import __version__
    from lowdim.persist import write_state

    if isinstance(model, Reducer):
        model.save(path)
        return
    if not isinstance(model, Pipeline):
        raise TypeError(
            f"save: an estimator of lowdim or a Pipeline of them is needed; got a {type(model).__name__}. "
            "Save others with joblib.dump."
        )
    steps = [(name, step) for name, step in model.steps if step is not None and step != "passthrough"]
    _demand_steps([step for _, step in steps], "save")
    states = [{"name": name} | step._state_for_file() for name, step in steps]
    write_state(path, {"lowdim": __version__, "class": CLASS_NAME, "steps": states})


def _demand_steps(steps: list[Any], caller: str) -> None:
    for step in steps:
        if not isinstance(step, Reducer):
            what = f"the class {step.__name__}" if isinstance(step, type) else f"a {type(step).__name__}"
            raise TypeError(
                f"{caller}: steps must be estimators of lowdim, which can be saved without pickle; got {what}. "
                "Pass instances such as Prepare() or PCA(50), or use scikit-learn's make_pipeline and joblib."
            )
