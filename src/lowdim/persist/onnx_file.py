"""ONNX files, written without a library: a graph of operators as the bytes of Protocol Buffers.

A message is a sequence of fields: a key (the field's number and the kind of its value), then the value; numbers are
written seven bits at a time, lower bits first. The numbers of the fields are those of ``onnx.proto``.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.work.atomic_files import atomic

OPSET = 17  # version of the standard operators
_IR_VERSION = 8  # version of the file format that came with them
_MOST_BYTES = 2**31 - 1  # of a message
_TYPES = {"f4": 1, "i8": 7, "b1": 9, "f8": 11}
_INTEGER, _INTEGERS = 2, 7  # kinds of attributes


class Graph:
    r"""Operators from one matrix to another; constants are kept in ``dtype``.

    >>> graph = Graph("double", np.float64, "X", 2)
    >>> graph.write_bytes(graph.node("Add", graph.input, graph.constant(np.ones(2))), "Y", 2, {})[:2]
    b'\x08\x08'
    """

    def __init__(self, name: str, dtype: Any, given: str, width: int) -> None:
        self.name, self.dtype, self.input = name, np.dtype(dtype), given
        self._width = width
        self._nodes: list[bytes] = []
        self._constants: list[tuple[str, NDArray]] = []

    def constant(self, values: Any) -> str:
        """Name of an array that is part of the file; floats are cast, and refused where that makes them infinite."""
        values = np.asarray(values)
        if values.dtype.kind == "f":
            with np.errstate(over="ignore"):
                cast = values.astype(self.dtype)
            if not np.isfinite(cast).all():
                raise ValueError(
                    f"to_onnx: the numbers of the model must fit in {self.dtype}; the largest is "
                    f"{np.abs(values).max():.3g}. Pass dtype='float64'."
                )
            values = cast
        name = f"c{len(self._constants)}"
        self._constants.append((name, values))
        return name

    def node(self, operator: str, *inputs: str, **attributes: int | list[int]) -> str:
        """Name of what the operator makes of its inputs."""
        name = f"n{len(self._nodes)}"
        parts = [_text(1, one) for one in inputs] + [_text(2, name), _text(3, name), _text(4, operator)]
        for key, value in attributes.items():
            if isinstance(value, int):
                kind, written = _INTEGER, _number(3, value)
            else:
                kind, written = _INTEGERS, b"".join(_number(8, one) for one in value)
            parts.append(_bytes(5, _text(1, key) + written + _number(20, kind)))
        self._nodes.append(b"".join(parts))
        return name

    @contextmanager
    def in_doubles(self) -> Iterator[None]:
        """Inside, constants are float64."""
        before, self.dtype = self.dtype, np.dtype(np.float64)
        try:
            yield
        finally:
            self.dtype = before

    def cast(self, X: str) -> str:
        """``X`` in the type that constants have now."""
        return self.node("Cast", X, to=self._type)

    def affine(self, X: str, W: NDArray, less: Any = None, plus: Any = None) -> str:
        """``(X − less) W + plus``."""
        if less is not None:
            X = self.node("Sub", X, self.constant(less))
        X = self.node("MatMul", X, self.constant(W))
        return X if plus is None else self.node("Add", X, self.constant(plus))

    def write(self, path: str | os.PathLike[str], made: str, output: str, width: int, facts: dict[str, str]) -> None:
        """Write the graph to ``path``, whole or not at all; what is ``made`` is called ``output``."""
        size = sum(values.nbytes for _, values in self._constants)
        if size > _MOST_BYTES - 2**20:
            raise ValueError(
                f"to_onnx: an ONNX file holds up to 2 GB; this model has {size / 1e9:.1f} GB of numbers. Pass "
                "dtype='float32', or fit the model on fewer rows."
            )
        with atomic(path) as file:
            for part in self._parts(made, output, width, facts):
                file.write(part)

    def write_bytes(self, made: str, output: str, width: int, facts: dict[str, str]) -> bytes:
        """The same file, as bytes."""
        return b"".join(self._parts(made, output, width, facts))

    def _parts(self, made: str, output: str, width: int, facts: dict[str, str]) -> Iterator[bytes]:
        named = _text(1, made) + _text(2, output) + _text(4, "Identity")
        head = [_bytes(1, node) for node in [*self._nodes, named]] + [_text(2, self.name)]
        ends = [
            _bytes(number, _text(1, name) + _bytes(2, _bytes(1, _number(1, self._type) + _bytes(2, _shape(size)))))
            for number, name, size in ((11, self.input, self._width), (12, output, width))
        ]
        tensors = [(_tensor(name, values), values) for name, values in self._constants]
        keys = [_key(5, 2) + _varint(len(first) + values.nbytes) + first for first, values in tensors]
        size = sum(map(len, chain(head, ends, keys))) + sum(values.nbytes for _, values in tensors)
        yield _number(1, _IR_VERSION) + _text(2, "lowdim") + _text(3, facts.get("lowdim", ""))
        yield _key(7, 2) + _varint(size)
        yield from head
        for key, (_, values) in zip(keys, tensors, strict=True):
            yield key
            yield np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False).tobytes()
        yield from ends
        yield _bytes(8, _text(1, "") + _number(2, OPSET))
        for fact, text in facts.items():
            yield _bytes(14, _text(1, fact) + _text(2, text))

    @property
    def _type(self) -> int:
        return _TYPES[self.dtype.str[1:]]


def _tensor(name: str, values: NDArray) -> bytes:
    """All of a tensor before its values, which are the last field."""
    dims = b"".join(_number(1, int(size)) for size in values.shape)
    return dims + _number(2, _TYPES[values.dtype.str[1:]]) + _text(8, name) + _key(9, 2) + _varint(values.nbytes)


def _shape(width: int) -> bytes:
    """Any number of rows of this width."""
    return _bytes(1, _text(2, "n_samples")) + _bytes(1, _number(1, width))


def _varint(value: int) -> bytes:
    value &= 2**64 - 1  # negative numbers, as all 64 bits
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())
