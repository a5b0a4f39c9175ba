"""Loading of model files: the state from ``persist``, the classes from the registry only."""

import os
from itertools import pairwise
from typing import Any

from lowdim.methods import registry
from lowdim.methods.chain import CLASS_NAME, Chain
from lowdim.methods.older_names import state_of_today
from lowdim.persist import FORMAT_VERSION, ModelFileError, read_state
from lowdim.work.archive_errors import shortened

State = dict[str, Any]


def read_model(path: str | os.PathLike[str]) -> State:
    """Content of a model file: lowdim (version), format_version, class, and steps, each with its class, params, fitted.

    A file of one model has one step; those of a chain have a name too. Names are those of today, whatever the format.
    """
    state, version = read_state(path)
    _demand_kinds(state, {"class": str, "lowdim": str}, path)
    if state["class"] == CLASS_NAME:
        _demand_kinds(state, {"steps": list}, path)
        steps = state["steps"]
        for step in steps:
            if not isinstance(step, dict):
                raise _refusal(path, "has a step without a state")
            _demand_kinds(step, {"name": str}, path)
        names = [step["name"] for step in steps]
        if not names or len(set(names)) < len(names) or any("__" in name or not name for name in names):
            raise _refusal(path, "has steps without unique names")
    else:
        steps = [state]
    for step in steps:
        _demand_kinds(step, {"class": str, "params": dict, "fitted": dict}, path)
        for part in ("params", "fitted"):
            if not all(isinstance(key, str) and key.isidentifier() for key in step[part]):
                raise _refusal(path, f"has {part} without valid names")
    try:
        steps = [state_of_today(step, version) for step in steps]
    except (ValueError, TypeError, ArithmeticError) as error:
        raise _refusal(path, f"holds an invalid model ({shortened(error)})") from None
    name = state["class"] if state["class"] == CLASS_NAME else steps[0]["class"]
    return {"lowdim": state["lowdim"], "format_version": version, "class": name, "steps": steps}


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model or chain from a file.

    Only numbers, text and arrays are read: loading a file executes no code from it.

    Parameters
    ----------
    path : str or path-like
        A file written by a model's ``save`` or by :func:`lowdim.save`.

    Returns
    -------
    Reducer or Chain
        The fitted model, as it was saved.

    Examples
    --------
    >>> import lowdim, tempfile, pathlib
    >>> X, y = lowdim.data.load("digits")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "digits.lowdim"
    >>> lowdim.PCA(3).fit(X).save(path)
    >>> lowdim.load(path)
    PCA(n_components=3)
    """
    state = read_model(path)
    models = [_revive(step, state, path) for step in state["steps"]]
    if state["class"] != CLASS_NAME:
        return models[0]
    _demand_fit(models, path)
    return Chain(list(zip((step["name"] for step in state["steps"]), models, strict=True)))


def _revive(state: State, file: State, path: str | os.PathLike[str]) -> Any:
    """Model of one state of a file, of a class that the registry knows."""
    name, version = state["class"], file["format_version"]
    known = {method.class_name: method for method in (*registry.METHODS, *registry.PREPARATIONS)}
    if name not in known:
        raise ModelFileError(
            f"'{path}' holds a model of class {name!r}; this lowdim ({file['lowdim']!r} wrote it) knows "
            f"{', '.join(known)}. Load it with the version that wrote it."
        )
    cls = known[name].load()
    params, fitted = state["params"], state["fitted"]
    own = set(cls._get_param_names())
    # Attributes that the class itself defines, or parameters, are not state.
    strange = sorted(set(params) - own) + [
        key for key in fitted if key in own or key.startswith("__") or hasattr(cls, key)
    ]
    if strange:
        raise ModelFileError(
            f"'{path}' holds {', '.join(map(repr, strange))}, which {name} does not have. "
            "Load it with the version of lowdim that wrote it."
        )
    try:
        model = cls(**cls._params_from_file(params))
        vars(model).update(cls._fitted_from_file(fitted, version) if fitted else {})
        model._check_parameters()
        if fitted:
            model._check_state()
    except ModelFileError:
        raise
    except (ValueError, TypeError, AttributeError, IndexError, KeyError, OverflowError) as error:
        raise _refusal(path, f"holds an invalid model ({shortened(error)})") from None
    return model


def revived(state: State) -> Any:
    """Model of a state within that of another model, such as its anchors."""
    if not all(isinstance(state.get(key), kind) for key, kind in (("class", str), ("params", dict), ("fitted", dict))):
        raise ValueError("a model within it has no class, parameters or state")
    return _revive(state, {"lowdim": "", "format_version": FORMAT_VERSION}, "anchors")


def _demand_fit(models: list[Any], path: str | os.PathLike[str]) -> None:
    """Raise unless each step of a chain takes as many columns as the previous one returns."""
    fitted = [hasattr(model, "n_features_in_") for model in models]
    if not all(fitted):
        if any(fitted):
            raise _refusal(path, "holds a chain of which only some steps are fitted")
        return
    for before, after in pairwise(models):
        try:
            given = len(before.get_feature_names_out())
        except (ValueError, TypeError, AttributeError) as error:
            raise _refusal(path, f"holds an invalid chain ({error})") from None
        if given != after.n_features_in_:
            raise _refusal(
                path,
                f"holds an invalid chain ({type(before).__name__} returns {given} columns, "
                f"{type(after).__name__} takes {after.n_features_in_})",
            )


def _demand_kinds(state: State, kinds: dict[str, type], path: str | os.PathLike[str]) -> None:
    for key, kind in kinds.items():
        if not isinstance(state.get(key), kind):
            raise _refusal(path, f"has no {key!r}")


def _refusal(path: str | os.PathLike[str], why: str) -> ModelFileError:
    return ModelFileError(
        f"A file written by lowdim's save() is needed; '{os.fspath(path)}' {why}. "
        "Use another copy, or fit and save again."
    )
