"""Numpy arrays, scalars and dtypes, by their bytes; nothing is unpickled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DamagedError
from .containers import encode_items
from .core import TAG, DecodeFn, EncodeFn, Node, Refused

if TYPE_CHECKING:
    from .core import Decoder, Encoder

PADDED = (np.longdouble, np.clongdouble)
"""Kinds whose bytes hold padding, which differs between equal values."""


def string_dtype(dtype: Any) -> bool:
    """Whether it is numpy 2's dtype of strings of any length."""
    return bool(dtype.kind == "T")


def encode_dtype(enc: Encoder, dtype: Any) -> Node:
    """A dtype as a name, or field by field.

    Raises:
        Refused: it carries metadata, or is not one of numpy's own.
    """
    if dtype.metadata:
        raise Refused(type(dtype), "its metadata cannot be kept")
    if string_dtype(dtype):
        if hasattr(dtype, "na_object") or not dtype.coerce:
            raise Refused(type(dtype), "a string dtype with an object for missing values cannot be kept")
        return "T"
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return {"sub": encode_dtype(enc, base), "shape": list(shape)}
    if dtype.names is None:
        twin = np.dtype(dtype.str)
        if twin != dtype or (twin.char != dtype.char and not dtype.isnative):
            raise Refused(type(dtype), "this dtype cannot be kept")
        # np.longlong and np.int64 are two types of one size and one ``str``.
        return dtype.str if twin.char == dtype.char else dtype.char
    fields = [dtype.fields[name] for name in dtype.names]
    node: dict[str, Any] = {
        "names": [enc.node(name) for name in dtype.names],
        "formats": [encode_dtype(enc, field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
    }
    if any(len(field) == 3 for field in fields):
        node["titles"] = [enc.node(field[2] if len(field) == 3 else None) for field in fields]
    if dtype.isalignedstruct:
        node["aligned"] = True
    return node


def decode_dtype(dec: Decoder, node: Any) -> Any:
    """A dtype."""
    if type(node) is str:
        return np.dtypes.StringDType() if node == "T" else np.dtype(node)
    if "sub" in node:
        return np.dtype((decode_dtype(dec, node["sub"]), tuple(node["shape"])))
    spec: Any = {
        "names": dec.values(node["names"]),
        "formats": [decode_dtype(dec, item) for item in node["formats"]],
        "offsets": node["offsets"],
        "itemsize": node["itemsize"],
    }
    if "titles" in node:
        spec["titles"] = dec.values(node["titles"])
    return np.dtype(spec, align=node.get("aligned") is True)


def encode_dtype_value(enc: Encoder, value: Any) -> Node:
    """A dtype that is itself a value."""
    return {TAG: "numpy.dtype", "d": encode_dtype(enc, value)}


def decode_dtype_value(dec: Decoder, node: dict[str, Any]) -> Any:
    """A dtype."""
    return decode_dtype(dec, node["d"])


def encode_array(enc: Encoder, value: Any, part: bool = False) -> Node:
    """An array: dtype, shape, memory order and bytes, or its items where they are objects.

    Args:
        enc: the encoding under way.
        value: the array.
        part: it is a library's inner array, whose being read-only is no property of the value.
    """
    before = enc.enter(value)
    dtype = value.dtype
    node: dict[str, Any] = {TAG: "numpy.array", "d": encode_dtype(enc, dtype), "s": list(value.shape)}
    fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    if not enc.canonical:
        if fortran:
            node["o"] = "F"
        if not (part or value.flags.writeable):
            node["w"] = False
    if dtype.kind == "O":
        node["v"] = object_items(enc, value)
    elif string_dtype(dtype):
        node["v"] = encode_items(enc, value.ravel().tolist())
    elif dtype.hasobject:
        raise Refused(type(value), "its fields hold objects")
    elif enc.canonical and dtype.names is not None:
        node["v"] = [encode_array(enc, np.asarray(value[name])) for name in dtype.names]
    elif enc.canonical and dtype.type in PADDED:
        node["v"] = [repr(item) for item in value.ravel().tolist()]
    else:
        order = "F" if fortran and not enc.canonical else "C"
        node["b"] = enc.buffer(value.tobytes(order))
    return enc.leave(value, before, node)


def object_items(enc: Encoder, value: Any) -> list[Node]:
    """Items of an array of objects in C order; a refused one is named by its position."""
    nodes: list[Node] = []
    try:
        for item in value.ravel().tolist():
            nodes.append(enc.node(item))
    except Refused as refused:
        position = np.unravel_index(len(nodes), value.shape)
        refused.at("[" + ", ".join(str(int(index)) for index in position) + "]")
        raise
    return nodes


def decode_array(dec: Decoder, node: dict[str, Any]) -> Any:
    """An array, writable where it was.

    Raises:
        DamagedError: the bytes do not fit the shape.
    """
    dtype = decode_dtype(dec, node["d"])
    shape = tuple(node["s"])
    order: Any = "F" if node.get("o") == "F" else "C"
    if "v" in node:
        if dtype.kind != "O" and not string_dtype(dtype):
            raise DamagedError("a recorded array is malformed: its items do not fit its dtype")
        items = dec.values(node["v"])
        flat = np.empty(len(items), dtype=dtype)
        for position, item in enumerate(items):
            flat[position] = item
        value = flat.reshape(shape).copy(order)
    else:
        data = dec.buffer(node["b"])
        if dtype.hasobject or len(data) != dtype.itemsize * math.prod(shape):
            raise DamagedError("a recorded array is malformed: its bytes do not fit its shape")
        value = np.ndarray(shape, dtype, data, order=order).copy(order)
    if node.get("w") is False:
        value.flags.writeable = False
    return value


def encode_scalar(enc: Encoder, value: Any) -> Node:
    """A scalar, as the one item of an array."""
    dtype = value.dtype
    if dtype.hasobject:
        return enc.refuse(value, "its fields hold objects")
    enc.size += 60
    node: dict[str, Any] = {TAG: "numpy.scalar", "d": encode_dtype(enc, dtype)}
    if enc.canonical and dtype.names is not None:
        node["v"] = encode_array(enc, np.asarray(value))
    elif enc.canonical and dtype.type in PADDED:
        node["v"] = repr(value)
    else:
        node["b"] = enc.buffer(value.tobytes())
    return node


def decode_scalar(dec: Decoder, node: dict[str, Any]) -> Any:
    """A scalar."""
    dtype = decode_dtype(dec, node["d"])
    data = dec.buffer(node["b"])
    if dtype.hasobject or len(data) != dtype.itemsize:
        raise DamagedError("a recorded number is malformed: its bytes do not fit its dtype")
    return np.ndarray((), dtype, data).copy()[()]


def encode_text_scalar(enc: Encoder, value: Any) -> Node:
    """``np.str_`` and ``np.bytes_``, which an array would strip of trailing zeros."""
    if isinstance(value, str):
        return {TAG: "numpy.text", "v": enc.node(str.__getitem__(value, slice(None)))}
    return {TAG: "numpy.text", "v": enc.node(bytes.__getitem__(value, slice(None)))}


def decode_text_scalar(dec: Decoder, node: dict[str, Any]) -> Any:
    """``np.str_`` or ``np.bytes_``."""
    text = dec.value(node["v"])
    return np.str_(text) if type(text) is str else np.bytes_(text)


def encode_masked(enc: Encoder, value: Any) -> Node:
    """A masked array: data, mask and fill value."""
    before = enc.enter(value)
    own_mask = value.mask is not np.ma.nomask
    node = {
        TAG: "numpy.masked",
        "v": enc.node(np.asarray(value.data)),
        "m": enc.node(np.asarray(value.mask)) if own_mask else None,
        "f": enc.node(value.fill_value),
    }
    return enc.leave(value, before, node)


def decode_masked(dec: Decoder, node: dict[str, Any]) -> Any:
    """A masked array."""
    mask = np.ma.nomask if node["m"] is None else dec.value(node["m"])
    return np.ma.MaskedArray(dec.value(node["v"]), mask=mask, fill_value=dec.value(node["f"]))


def encoder_for(cls: type) -> EncodeFn | None:
    """The encoder of one of numpy's own classes; subclasses of users have none."""
    if cls is np.ndarray:
        return encode_array
    if cls is np.ma.MaskedArray:
        return encode_masked
    if cls in (np.str_, np.bytes_):
        return encode_text_scalar
    if issubclass(cls, np.generic) and cls.__module__ == "numpy":
        return encode_scalar
    if issubclass(cls, np.dtype):
        return encode_dtype_value
    return None


DECODERS: dict[str, DecodeFn] = {
    "numpy.array": decode_array,
    "numpy.dtype": decode_dtype_value,
    "numpy.masked": decode_masked,
    "numpy.scalar": decode_scalar,
    "numpy.text": decode_text_scalar,
}
