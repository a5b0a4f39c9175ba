"""Messages come out as they went in, and nothing malformed is read."""

import json
import struct

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim.explorer.message_format import DTYPES, Message, WireError, decode, encode, pack_bits, quantise, unpack_bits

_text = st.text(st.characters(exclude_categories=["Cs"]))
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)
_arrays = st.sampled_from(list(DTYPES.values())).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
)
_names = _text.filter(lambda name: name not in ("type", "id", "arrays"))
_messages = st.builds(
    Message,
    _text,
    st.none() | st.integers(0, 2**53),
    st.dictionaries(_names, _values, max_size=3),
    st.dictionaries(_text, _arrays, max_size=3),
)


@given(_messages)
@settings(max_examples=150, deadline=None)
def test_a_message_comes_out_as_it_went_in(message):
    found = decode(encode(message))
    assert (found.type, found.id, found.fields) == (message.type, message.id, message.fields)
    assert list(found.arrays) == list(message.arrays)
    for name, array in message.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].shape == array.shape
        np.testing.assert_array_equal(found.arrays[name], array)


@given(_messages)
@settings(max_examples=50, deadline=None)
def test_arrays_begin_at_multiples_of_eight(message):
    data = encode(message)
    (header,) = struct.unpack_from("<I", data)
    assert (4 + header) % 8 == 0
    assert len(data) % 8 == 0


@given(st.binary(max_size=80))
@settings(max_examples=300, deadline=None)
def test_bytes_that_are_no_message_are_refused_not_read(data):
    try:
        decode(data)
    except WireError:
        return
    raise AssertionError("noise was taken for a message")  # a header of JSON does not come about by chance


@given(_messages, st.data())
@settings(max_examples=150, deadline=None)
def test_damaged_messages_are_refused_or_stay_within_their_bytes(message, draw):
    data = bytearray(encode(message))
    for _ in range(draw.draw(st.integers(1, 3))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    cut = draw.draw(st.integers(0, len(data)))
    try:
        found = decode(bytes(data[:cut]))
    except WireError:
        return
    assert sum(array.nbytes for array in found.arrays.values()) <= cut


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ([], "an object"),
        ({"id": 1}, "a type"),
        ({"type": "x", "id": "1"}, "whole number"),
        ({"type": "x", "id": True}, "whole number"),
        ({"type": "x", "arrays": {}}, "a list"),
        ({"type": "x", "arrays": [3]}, "a name"),
        ({"type": "x", "arrays": [{"name": "a", "dtype": "f64", "shape": [1]}]}, "one of u8"),
        ({"type": "x", "arrays": [{"name": "a", "dtype": "u8", "shape": [-1]}]}, "list of sizes"),
        ({"type": "x", "arrays": [{"name": "a", "dtype": "u8", "shape": [2**30, 2**30, 2**30]}]}, "list of sizes"),
        ({"type": "x", "arrays": [{"name": "a", "dtype": "u8", "shape": [2**40]}]}, "needs"),
        ({"type": "x", "arrays": [{"name": "a", "dtype": "u8", "shape": []}] * 2}, "needs"),
    ],
)
def test_headers_that_say_too_much_are_refused(header, words):
    raw = json.dumps(header).encode()
    raw += b" " * (-(4 + len(raw)) % 8)
    with pytest.raises(WireError, match=words):
        decode(struct.pack("<I", len(raw)) + raw)


def test_a_header_deeper_than_python_can_read_is_refused():
    raw = b'{"type":"x","a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with pytest.raises(WireError, match="JSON"):
        decode(struct.pack("<I", len(raw)) + raw)


def test_numbers_that_json_lacks_become_null():
    message = Message("x", None, {"a": float("nan"), "b": [np.float32(1.5), float("inf")], "c": {"d": np.int64(3)}})
    assert decode(encode(message)).fields == {"a": None, "b": [1.5, None], "c": {"d": 3}}


def test_text_without_bytes_of_its_own_does_not_stop_a_message():
    assert decode(encode(Message("x", None, {"a": "lone \ud800 half"}))).fields == {"a": "lone ? half"}


@given(hnp.arrays(bool, st.integers(0, 40)))
def test_masks_come_out_as_they_went_in(mask):
    np.testing.assert_array_equal(unpack_bits(pack_bits(mask), len(mask)), mask)


def test_masks_of_another_length_are_refused():
    with pytest.raises(WireError, match="2 bytes"):
        unpack_bits(np.zeros(3, np.uint8), 10)


@given(hnp.arrays(np.float32, (7, 2), elements=st.floats(-1e6, 1e6, width=32)))
def test_places_are_kept_to_a_65535th_of_their_box(Y):
    shares, box = quantise(Y)
    for j, (low, high) in enumerate(box):
        back = low + shares[:, j] / 65535 * (high - low)
        np.testing.assert_allclose(back, Y[:, j], atol=(high - low) / 65535 + 1e-6 * np.abs(Y[:, j]).max())
