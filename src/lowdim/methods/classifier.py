"""Base class of discriminant methods that are classifiers too: Gaussian classes of one covariance.

A row x belongs to the class with the largest ``δ_c = log π_c + aᵀ S_w⁻¹ (x − m) − ½ aᵀ S_w⁻¹ a``, ``a = m_c − m``; the
probabilities of the classes are proportional to ``exp δ_c``.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lowdim.methods.base import Reducer, applying
from lowdim.solve.class_probabilities import probabilities
from lowdim.work import dispatch
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.rows import call


class DiscriminantClassifier(ClassifierMixin, Reducer):
    """A method that learns directions from labels and assigns classes to rows.

    A subclass sets ``classes_`` and returns ``δ_c`` in ``_class_scores``.
    """

    classes_: NDArray[Any]

    @abstractmethod
    def _class_scores(self, X: Any) -> Any:
        """``δ_c`` (n, C) of rows not yet validated, up to a term of all classes; ``δ_1 − δ_0`` (n, 1) of two."""

    @applying
    def decision_function(self, X: Any) -> NDArray:
        """Score of each class for the rows of ``X``: its logarithmic probability, up to a term that classes share.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples, n_classes), or (n_samples,) for two classes
            The scores; of two classes that of the second less that of the first.
        """
        scores = self._class_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray:
        """Class of each row of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples,)
            Labels, as a NumPy array; a Dask array for Dask collections.
        """
        check_is_fitted(self)
        if dispatch.is_distributed(X):
            return call(self, "predict", X)
        scores = to_numpy(self.decision_function(X))
        best = scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0).astype(np.intp)
        return self.classes_[best]

    @applying
    def predict_log_proba(self, X: Any) -> NDArray:
        """Logarithm of the probability of each class for the rows of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples, n_classes)
            The logarithms, classes in the order of ``classes_``.
        """
        return probabilities(self._class_scores(X), logarithms=True)

    @applying
    def predict_proba(self, X: Any) -> NDArray:
        """Probability of each class for the rows of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples, n_classes)
            The probabilities, classes in the order of ``classes_``.
        """
        return probabilities(self._class_scores(X))

    def _no_rule(self) -> AttributeError:
        return AttributeError(
            f"{self._name}: a model fitted by this version is needed to predict classes; this one is from a file of an "
            "earlier version, which can only transform. Fit it again."
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows of ``X`` whose class is that of ``y``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.
        y : array (n_samples,)
            Labels of the rows.
        sample_weight : array (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            The accuracy.
        """
        dispatch.require_one_memory(X, f"{self._name}: score", "Use (model.predict(X) == y).mean().")
        return float(super().score(X, y, sample_weight))

    def _outline(self, method: str, dtype: np.dtype) -> tuple[int | None, Any]:
        if method == "predict":
            return None, self.classes_.dtype
        if method == "decision_function" or method.startswith("predict_"):
            count = len(self.classes_)
            return None if method == "decision_function" and count == 2 else count, float_dtype(dtype)
        return super()._outline(method, dtype)
