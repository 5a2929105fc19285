"""Objects whose state is their attributes: dataclasses, named tuples, enums."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from enum import Enum, Flag
from types import BuiltinFunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Generic

from ..errors import DamagedError
from .classes import is_dataclass, is_enum, is_named_tuple
from .containers import encode_table
from .core import TAG, DecodeFn, EncodeFn, Node
from .migrating import migrated

if TYPE_CHECKING:
    from .core import Decoder, Encoder

HEAP_TYPE = 1 << 9
"""Flag of classes made by a class statement (``Py_TPFLAGS_HEAPTYPE``)."""


def slot_members(cls: type, stop: type = object) -> dict[str, MemberDescriptorType]:
    """Descriptors of the ``__slots__`` that a class has above ``stop``."""
    members: dict[str, MemberDescriptorType] = {}
    for base in cls.__mro__:
        if base is stop or not base.__flags__ & HEAP_TYPE:
            continue
        if issubclass(stop, base):
            continue
        for name, member in vars(base).items():
            if type(member) is MemberDescriptorType:
                members.setdefault(name, member)
    return members


def slot_state(value: Any, members: Mapping[str, MemberDescriptorType]) -> dict[str, Any]:
    """Values of the slots that are filled."""
    state: dict[str, Any] = {}
    for name, member in members.items():
        try:
            state[name] = member.__get__(value)
        except AttributeError:
            continue
    return state


def without_cached(cls: type, state: dict[str, Any]) -> dict[str, Any]:
    """State without what a ``cached_property`` left there; it does not count for equality."""
    return {
        name: item
        for name, item in state.items()
        if not isinstance(getattr(cls, name, None), functools.cached_property)
    }


def is_plain_layout(cls: type) -> bool:
    """Whether nothing but object lies below the class: no state hidden in C."""
    for base in cls.__mro__[:-1]:
        made_in_c = isinstance(vars(base).get("__new__"), BuiltinFunctionType)
        if base is not Generic and (made_in_c or not base.__flags__ & HEAP_TYPE):
            return False
    return True


def restore_state(obj: Any, state: dict[str, Any]) -> None:
    """Set attributes without running the class's own ``__setattr__``."""
    own = getattr(obj, "__dict__", None)
    if type(own) is dict:
        members = slot_members(type(obj))
        for name, item in state.items():
            if name in members:
                members[name].__set__(obj, item)
            else:
                own[name] = item
        return
    for name, item in state.items():
        object.__setattr__(obj, name, item)


def dataclass_encoder(cls: type) -> EncodeFn:
    """Encoder of a dataclass: all its attributes, whatever ``init`` says."""
    members = slot_members(cls)
    names = [field.name for field in dataclasses.fields(cls) if has_default(field)]

    def encode(enc: Encoder, value: Any) -> Node:
        before = enc.enter(value)
        state = slot_state(value, members)
        state.update(getattr(value, "__dict__", ()))
        if enc.canonical:
            state = without_cached(cls, state)
        node = {TAG: "dc", "c": enc.class_node(cls), "d": encode_table(enc, state)}
        unset = [name for name in names if name not in state]
        if unset:
            node["u"] = unset
        return enc.leave(value, before, node)

    return encode


def has_default(field: dataclasses.Field[Any]) -> bool:
    """Whether a dataclass field can be filled in without being told."""
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def decode_dataclass(dec: Decoder, node: dict[str, Any]) -> Any:
    """A dataclass, without its ``__init__``; fields that the class has got since take their default."""
    made = None if dec.migration is None else migrated(dec, node)
    if made is not None:
        return made
    cls: Any = dec.find(node["c"], is_dataclass)
    if not is_plain_layout(cls):
        raise DamagedError(f"a recorded value names {node['c']}, which cannot be restored")
    state = dec.table(node["d"])
    for field in dataclasses.fields(cls):
        if field.name in state or not has_default(field) or field.name in node.get("u", ()):
            continue
        factory: Any = field.default_factory
        state[field.name] = field.default if factory is dataclasses.MISSING else factory()
    obj = object.__new__(cls)
    restore_state(obj, state)
    return obj


def named_tuple_encoder(cls: type) -> EncodeFn:
    """Encoder of a named tuple: its items, and attributes of a subclass."""
    fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]  # checked by is_named_tuple
    members = slot_members(cls, tuple)

    def encode(enc: Encoder, value: Any) -> Node:
        before = enc.enter(value)
        items = list(tuple.__iter__(value))
        if len(items) != len(fields):
            return enc.refuse(value, "it has more or fewer items than its class has fields")
        nodes = [enc.item(item, f".{name}") for name, item in zip(fields, items, strict=True)]
        node = {TAG: "nt", "c": enc.class_node(cls), "v": nodes}
        state = slot_state(value, members)
        state.update(getattr(value, "__dict__", ()))
        if state:
            node["d"] = encode_table(enc, state)
        return enc.leave(value, before, node)

    return encode


def decode_named_tuple(dec: Decoder, node: dict[str, Any]) -> Any:
    """A named tuple, without its ``__new__``."""
    cls: Any = dec.find(node["c"], is_named_tuple)
    items = dec.values(node["v"])
    if len(items) != len(cls._fields):
        raise DamagedError(
            f"{node['c']} has {len(cls._fields)} fields now and had {len(items)} when it was recorded"
        )
    obj = tuple.__new__(cls, items)
    if "d" in node:
        restore_state(obj, dec.table(node["d"]))
    return obj


def enum_encoder(cls: type) -> EncodeFn:
    """Encoder of an enumeration: the member's name, or a flag's bits."""
    flag = issubclass(cls, Flag)

    def encode(enc: Encoder, value: Any) -> Node:
        enc.size += 60
        name = value._name_
        if name in cls._member_map_:  # type: ignore[attr-defined]  # cls is an Enum
            return {TAG: "e", "c": enc.class_node(cls), "n": name}
        if flag:
            return {TAG: "e", "c": enc.class_node(cls), "v": enc.node(value._value_)}
        return enc.refuse(value, "it is no member of its enumeration")

    return encode


def decode_enum(dec: Decoder, node: dict[str, Any]) -> Any:
    """A member by name, or a combination of flags.

    Raises:
        DamagedError: the class has no such member.
    """
    cls: type[Enum] = dec.find(node["c"], is_enum)
    if "n" in node:
        member = cls._member_map_.get(node["n"])
        if member is None:
            raise DamagedError(f"{node['c']} has no member {node['n']!r} any more")
        return member
    value = dec.value(node["v"])
    if not issubclass(cls, Flag) or type(value) is not int:
        raise DamagedError(f"{node['c']} has no member {value!r}")
    return cls(value)


def encoder_for(cls: type) -> EncodeFn | None:
    """The encoder of a class of these kinds."""
    if is_enum(cls):
        return enum_encoder(cls)
    if is_named_tuple(cls):
        return named_tuple_encoder(cls)
    if is_dataclass(cls) and is_plain_layout(cls):
        return dataclass_encoder(cls)
    return None


DECODERS: dict[str, DecodeFn] = {
    "dc": decode_dataclass,
    "nt": decode_named_tuple,
    "e": decode_enum,
}
