"""Messages between the page and Python: a JSON header and raw arrays in one block of bytes.

``u32 H | H bytes of JSON | arrays``, little-endian. The header is padded with spaces to a multiple of 8 bytes (its
length field included) and each array with zeros, so that the page can view the arrays without copying.
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

DTYPES = {name: np.dtype(f"<{name[0]}{int(name[1:]) // 8}") for name in ("u8", "u16", "u32", "i32", "f32")}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_ALIGN = 8
_MOST_HEADER = 2**26  # bytes
_MOST_DIMENSIONS = 4


class WireError(ValueError):
    """Bytes that are not a valid message."""


@dataclass
class Message:
    """A message: its type, the number of the request it belongs to, further fields, and arrays by name."""

    type: str
    id: int | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, NDArray] = field(default_factory=dict)


def encode(message: Message) -> bytes:
    """Bytes of a message.

    >>> decode(encode(Message("ack", 3, {"frame": 7}))).fields
    {'frame': 7}
    """
    arrays = {name: np.asarray(array) for name, array in message.arrays.items()}
    described = [
        {"name": name, "dtype": _NAMES[array.dtype.newbyteorder("<")], "shape": list(array.shape)}
        for name, array in arrays.items()
    ]
    header = {**_plain(message.fields), "type": message.type, "id": message.id, "arrays": described}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    raw = text.encode("utf-8", "replace")  # lone surrogates have no bytes
    raw += b" " * (-(4 + len(raw)) % _ALIGN)
    parts = [struct.pack("<I", len(raw)), raw]
    for array in arrays.values():
        content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        parts += [content, bytes(-len(content) % _ALIGN)]
    return b"".join(parts)


def decode(data: bytes | bytearray | memoryview) -> Message:
    """Message of these bytes; anything malformed raises :class:`WireError`. Arrays are views of ``data``."""
    view = memoryview(data).cast("B")
    if len(view) < 4:
        raise WireError(f"a message has at least 4 bytes; got {len(view)}.")
    (length,) = struct.unpack_from("<I", view)
    if length > _MOST_HEADER or 4 + length > len(view):
        raise WireError(f"a header of {length:,} bytes is announced; {len(view) - 4:,} bytes follow.")
    try:
        header = json.loads(bytes(view[4 : 4 + length]).decode("utf-8"))
    except (ValueError, RecursionError):
        raise WireError("the header must be JSON in UTF-8.") from None
    if not isinstance(header, dict):
        raise WireError("the header must be an object.")
    kind, number, described = header.pop("type", None), header.pop("id", None), header.pop("arrays", [])
    if not isinstance(kind, str):
        raise WireError("the header must have a type, a string.")
    if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
        raise WireError("the id of a message must be a whole number or null.")
    if not isinstance(described, list):
        raise WireError("arrays must be a list.")
    arrays: dict[str, NDArray] = {}
    place = 4 + length
    for one in described:
        name, dtype, shape = _described(one)
        place += -place % _ALIGN
        size = math.prod(shape) * dtype.itemsize
        if place + size > len(view):
            raise WireError(f"array {name!r} needs {size:,} bytes; {max(0, len(view) - place):,} are left.")
        if name in arrays:
            raise WireError(f"array {name!r} occurs twice.")
        arrays[name] = np.frombuffer(view[place : place + size], dtype).reshape(shape)
        place += size
    if len(view) - place >= _ALIGN:
        raise WireError(f"{len(view) - place:,} bytes are left over.")
    return Message(kind, number, header, arrays)


def _described(one: Any) -> tuple[str, np.dtype, tuple[int, ...]]:
    """Name, type and shape of an array that the header announces."""
    if not isinstance(one, dict) or not isinstance(one.get("name"), str):
        raise WireError("an array must be described by an object with a name.")
    dtype, shape = one.get("dtype"), one.get("shape")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise WireError(f"the type of an array must be one of {', '.join(DTYPES)}; got {dtype!r}.")
    sizes: list[Any] = shape if isinstance(shape, list) else [None]
    whole = all(isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in sizes)
    if not whole or len(sizes) > _MOST_DIMENSIONS or math.prod(max(s, 1) for s in sizes) > 2**40:
        raise WireError(f"the shape of array {one['name']!r} must be a list of sizes; got {shape!r}.")
    return one["name"], DTYPES[dtype], tuple(sizes)


def _plain(value: Any) -> Any:
    """Value in the types of JSON; NaN and infinity become null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def pack_bits(mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Mask (n,) as bits, the first row in the lowest bit of the first byte."""
    return np.packbits(mask, bitorder="little")


def unpack_bits(bits: NDArray[np.uint8], n: int) -> NDArray[np.bool_]:
    """Mask (n,) from packed bits."""
    if bits.dtype != np.uint8 or bits.shape != ((n + 7) // 8,):
        raise WireError(f"a mask of {n:,} rows has {(n + 7) // 8:,} bytes; got {bits.shape} of {bits.dtype}.")
    return np.unpackbits(bits, count=n, bitorder="little").astype(bool)


def quantise(Y: NDArray) -> tuple[NDArray[np.uint16], list[list[float]]]:
    """Positions (n, k) as 16-bit fractions of their bounding box, and the box: lowest and highest of each dimension.

    >>> quantise(np.array([[0.0], [1.0]]))[1]
    [[0.0, 1.0]]
    """
    if not len(Y):
        return np.empty(Y.shape, np.uint16), [[0.0, 1.0]] * Y.shape[1]
    columns = np.ascontiguousarray(Y.T)  # reductions along the rows of few columns are slow
    low, high = (np.array([reach(one) for one in columns], np.float64) for reach in (np.min, np.max))
    span = np.where(high > low, high - low, 1.0)
    shares = Y - low  # float64, in which neither tiny nor huge maps overflow
    shares *= 65535 / span
    np.rint(shares, out=shares)
    return shares.astype(np.uint16), [[float(a), float(b)] for a, b in zip(low, low + span, strict=True)]
