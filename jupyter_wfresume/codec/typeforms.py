"""Classes and type expressions as values, such as ``int`` or ``list[str]``."""

from __future__ import annotations

import types
import typing
from typing import TYPE_CHECKING, Any

from ..errors import DamagedError
from .core import TAG, DecodeFn, EncodeFn, Node

if TYPE_CHECKING:
    from .core import Decoder, Encoder

BARE: dict[str, Any] = {"Any": typing.Any, "Union": typing.Union, "Optional": typing.Optional}
"""Names of ``typing`` that are no classes everywhere."""

TYPING_NAMES = ("List", "Dict", "Set", "FrozenSet", "Tuple", "Type")

ORIGINS: dict[str, Any] = {
    **{cls.__name__: cls for cls in (list, dict, set, frozenset, tuple, type)},
    **{f"typing.{name}": getattr(typing, name) for name in TYPING_NAMES},
    "Literal": typing.Literal,
    "Union": typing.Union,
}
"""What may be subscripted on reading."""


def encode_class(enc: Encoder, value: type) -> Node:
    """A class by its name.

    Raises:
        Refused: it is of no kind that is kept, so reading would not take the name either.
    """
    enc.size += 60
    if value is typing.Any:
        return {TAG: "bare", "v": "Any"}
    if not enc.dispatch.keeps(value) and value.__module__ != "__main__":
        return enc.refuse(value, f"the class {value.__qualname__} is of no kind that can be kept")
    return {TAG: "c", "c": enc.class_node(value)}


def decode_class(dec: Decoder, node: dict[str, Any]) -> Any:
    """A class of a kind that is kept, or one of the notebook's own."""
    return dec.find(node["c"], lambda cls: cls.__module__ == "__main__" or dec.dispatch.keeps(cls))


def encode_alias(enc: Encoder, value: Any) -> Node:
    """A subscripted type."""
    if value in BARE.values():
        return {TAG: "bare", "v": value._name}
    name = getattr(value, "_name", None)
    origin = typing.get_origin(value)
    for key, known in ORIGINS.items():
        same = origin is known and type(value) is types.GenericAlias
        if same or f"typing.{name}" == key or (origin is known and key in ("Literal", "Union")):
            return {TAG: "ga", "k": key, "a": [enc.node(arg) for arg in typing.get_args(value)]}
    if type(value) is types.UnionType:
        return {TAG: "un", "a": [enc.node(arg) for arg in typing.get_args(value)]}
    return enc.refuse(value, "this type expression cannot be kept")


def decode_alias(dec: Decoder, node: dict[str, Any]) -> Any:
    """A subscripted type."""
    return ORIGINS[node["k"]][tuple(dec.values(node["a"]))]


def decode_union(dec: Decoder, node: dict[str, Any]) -> Any:
    """``A | B``."""
    first, *others = dec.values(node["a"])
    for other in others:
        first = first | other
    if type(first) is not types.UnionType:
        raise DamagedError("a recorded type is malformed: it is no union")
    return first


def decode_bare(dec: Decoder, node: dict[str, Any]) -> Any:
    """A name of ``typing``."""
    return BARE[node["v"]]


def encoder_for(cls: type) -> EncodeFn | None:
    """The encoder of classes, by their metaclass, and of type expressions."""
    if issubclass(cls, type):
        return encode_class
    if cls in (types.GenericAlias, types.UnionType) or cls.__module__ == "typing":
        return encode_alias
    return None


DECODERS: dict[str, DecodeFn] = {
    "c": decode_class,
    "ga": decode_alias,
    "un": decode_union,
    "bare": decode_bare,
}
