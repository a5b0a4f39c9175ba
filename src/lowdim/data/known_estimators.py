"""Estimators of scikit-learn that features are selected for by a short name, and that model files can hold."""

from importlib import import_module
from typing import Any

from lowdim.data.evaluation import kind_of_targets

ESTIMATORS = {  # module and class by short name
    "knn": ("sklearn.neighbors", "KNeighborsClassifier"),
    "lda": ("sklearn.discriminant_analysis", "LinearDiscriminantAnalysis"),
    "logistic": ("sklearn.linear_model", "LogisticRegression"),
    "bayes": ("sklearn.naive_bayes", "GaussianNB"),
    "linear": ("sklearn.linear_model", "LinearRegression"),
    "ridge": ("sklearn.linear_model", "Ridge"),
    "knn_regressor": ("sklearn.neighbors", "KNeighborsRegressor"),
}


def named(name: str) -> Any:
    """New estimator of a short name in :data:`ESTIMATORS`."""
    module, class_name = ESTIMATORS[name]
    return getattr(import_module(module), class_name)()


def default_for(y: Any) -> Any:
    """Estimator for these targets: least squares for numbers, nearest neighbours for labels."""
    return named("linear" if kind_of_targets(y).startswith("continuous") else "knn")


def as_stored(estimator: Any) -> dict[str, Any]:
    """Class and parameters of an estimator, as model files hold them."""
    name = type(estimator).__name__
    if (type(estimator).__module__.rsplit("._", 1)[0], name) not in set(ESTIMATORS.values()):
        known = ", ".join(sorted(class_name for _, class_name in ESTIMATORS.values()))
        raise TypeError(
            f"SequentialFeatureSelector: model files hold {known}; the estimator is a {name}. Call "
            "set_params(estimator=None) first: the selection itself is kept."
        )
    return {"class": name, "params": estimator.get_params(deep=False)}


def from_stored(kept: Any) -> Any:
    """The estimator that :func:`as_stored` describes."""
    known = {class_name: short for short, (_, class_name) in ESTIMATORS.items()}
    if not isinstance(kept, dict) or kept.get("class") not in known or not isinstance(kept.get("params"), dict):
        raise ValueError(f"A known estimator is needed; the file names {kept!r}. Use another copy of it.")
    return named(known[kept["class"]]).set_params(**kept["params"])
