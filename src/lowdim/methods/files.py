"""Loading of model files: the state from ``persist``, the class from the registry and from nowhere else."""

import os
from typing import Any

from lowdim.methods import registry
from lowdim.persist import ModelFileError, read_state


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
    state = read_state(path)
    name, params, fitted = state.get("class"), state.get("params"), state.get("fitted")
    known = {method.class_name: method for method in registry.METHODS}
    if name not in known or not isinstance(params, dict) or not isinstance(fitted, dict):
        raise ModelFileError(
            f"'{path}' holds a model of class {name!r}; this lowdim ({state.get('lowdim')!r} wrote it) knows "
            f"{', '.join(known)}. Load it with the version that wrote it."
        )
    cls = known[name].load()
    unknown = set(params) - set(cls._get_param_names())
    methods = [key for key in fitted if not isinstance(key, str) or key.startswith("__") or hasattr(cls, key)]
    if unknown or methods:
        raise ModelFileError(
            f"'{path}' holds {', '.join(map(repr, [*sorted(map(str, unknown)), *methods]))}, which {name} does not "
            "have. Load it with the version of lowdim that wrote it."
        )
    model = cls(**cls._params_from_file(params))
    vars(model).update(fitted)
    return model
