"""Loading of model files: the state from ``persist``, the class from the registry and from nowhere else."""

import os
from typing import Any

from lowdim.data import options
from lowdim.methods import registry
from lowdim.persist import ModelFileError, read_state


def read_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says: class, params, fitted, lowdim (version) and format_version, each of its type."""
    state, version = read_state(path)
    kinds = {"class": str, "params": dict, "fitted": dict, "lowdim": str}
    for key, kind in kinds.items():
        if not isinstance(state.get(key), kind):
            raise _refusal(path, f"has no {key!r}")
    for part in ("params", "fitted"):
        if not all(isinstance(key, str) and key.isidentifier() for key in state[part]):
            raise _refusal(path, f"has {part} without proper names")
    return state | {"format_version": version}


def load(path: str | os.PathLike[str]) -> Any:
    """Model that ``save`` wrote.

    Only numbers, text and arrays are read: loading a file runs nothing from it, whoever made it.

    Parameters
    ----------
    path : str or path-like
        A file written by a model's ``save``.

    Returns
    -------
    Reducer
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
    name, params, fitted = state["class"], state["params"], state["fitted"]
    known = {method.class_name: method for method in registry.METHODS}
    if name not in known:
        raise ModelFileError(
            f"'{path}' holds a model of class {name!r}; this lowdim ({state['lowdim']!r} wrote it) knows "
            f"{', '.join(known)}. Load it with the version that wrote it."
        )
    cls = known[name].load()
    own = set(cls._get_param_names())
    # Attributes that the class itself defines, or a parameter in disguise, are not state.
    strange = sorted(set(params) - own) + [
        key for key in fitted if key in own or key.startswith("__") or hasattr(cls, key)
    ]
    if strange:
        raise ModelFileError(
            f"'{path}' holds {', '.join(map(repr, strange))}, which {name} does not have. "
            "Load it with the version of lowdim that wrote it."
        )
    model = cls(**cls._params_from_file(params))
    vars(model).update(fitted)
    try:
        options.check(model, cls._rules)
        if fitted:
            model._check_state()
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise _refusal(path, f"holds a model that cannot be ({error})") from None
    return model


def _refusal(path: str | os.PathLike[str], why: str) -> ModelFileError:
    return ModelFileError(
        f"A file written by lowdim's save() is needed; '{os.fspath(path)}' {why}. "
        "Use another copy, or fit and save again."
    )
