"""States as JSON: numbers, text, lists and dictionaries as they are; the rest as {"$kind": ...}, arrays separately."""

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.work.csr import demand_sound

Arrays = dict[str, NDArray[Any]]
PLAIN = "biufcUSMm"  # kinds of arrays that a file holds: numbers, text and dates


def encode(value: Any, arrays: Arrays, where: str) -> Any:
    """Form of ``value`` that JSON can hold; arrays go to ``arrays`` under a number.

    >>> encode((1, 2.5, None), {}, "example")
    {'$tuple': [1, 2.5, None]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return {"$scalar": encode(np.asarray(value), arrays, where)}
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, Real):  # such as a Fraction
        return encode(int(value) if isinstance(value, Integral) else float(value), arrays, where)
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, where)
    if sp.issparse(value):
        csr = value.tocsr()
        parts = {part: encode(getattr(csr, part), arrays, where) for part in ("data", "indices", "indptr")}
        return {"$csr": parts | {"shape": list(csr.shape)}}
    if isinstance(value, tuple):
        return {"$tuple": [encode(item, arrays, where) for item in value]}
    if isinstance(value, list):
        return [encode(item, arrays, where) for item in value]
    if isinstance(value, dict):
        items = [[encode(k, arrays, where), encode(v, arrays, f"{where}[{k!r}]")] for k, v in value.items()]
        return {"$dict": items}
    raise TypeError(
        f"{where} is a {type(value).__name__}, which a model file cannot hold: only numbers, text, lists, "
        "dictionaries and arrays can be saved. Replace it (for a function: by the name of a built-in option)."
    )


def _encode_array(array: NDArray[Any], arrays: Arrays, where: str) -> Any:
    if array.dtype.kind == "O":
        if not all(isinstance(item, str) for item in array.ravel()):
            raise TypeError(f"{where} is an array of Python objects; only numbers and text can be saved. Convert it.")
        return {"$text": array.ravel().tolist(), "shape": list(array.shape)}
    if array.dtype.kind not in PLAIN:
        raise TypeError(f"{where} is an array of {array.dtype}; only numbers, text and dates can be saved. Convert it.")
    name = str(len(arrays))
    arrays[name] = array
    return {"$array": name}


def names_of_arrays(value: Any) -> set[str]:
    """Names of the arrays that an encoded state refers to.

    >>> sorted(names_of_arrays([{"$array": "1"}, {"$dict": [["a", {"$array": "0"}]]}]))
    ['0', '1']
    """
    if isinstance(value, dict):
        own = {value["$array"]} if isinstance(value.get("$array"), str) else set()
        return own.union(*(names_of_arrays(part) for part in value.values()))
    if isinstance(value, list):
        return set().union(*(names_of_arrays(part) for part in value))
    return set()


def decode(value: Any, arrays: Arrays) -> Any:
    """Inverse of :func:`encode`; anything unknown is a ValueError.

    >>> decode({"$tuple": [1, 2.5, None]}, {})
    (1, 2.5, None)
    """
    if isinstance(value, list):
        return [decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value), "")
    body: Any = value.get(kind)
    if kind == "$array":
        return arrays[body]
    if kind == "$scalar":
        return decode(body, arrays)[()]
    if kind == "$float":
        return float(body)
    if kind == "$text":
        return np.array(body, dtype=object).reshape(value["shape"])
    if kind == "$tuple":
        return tuple(decode(body, arrays))
    if kind == "$dict":
        return {decode(k, arrays): decode(v, arrays) for k, v in body}
    if kind == "$csr":
        parts = tuple(decode(body[part], arrays) for part in ("data", "indices", "indptr"))
        if not all(
            isinstance(part, np.ndarray) and part.dtype.isnative and part.dtype.kind in "biuf" for part in parts
        ):
            raise ValueError("a sparse matrix whose parts are not plain arrays")
        matrix = sp.csr_array(parts, shape=tuple(body["shape"]))
        demand_sound(matrix)
        return matrix
    raise ValueError(f"unknown kind of value {kind!r} in the manifest")
