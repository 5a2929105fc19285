"""Exceptions: type, arguments, attributes, cause, context and notes.

The traceback is not kept, nor ``AttributeError.obj``, which is a handle for
debuggers on whatever object was asked.
"""

from __future__ import annotations

import builtins
from types import GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

from ..errors import DamagedError
from .classes import is_exception
from .containers import encode_items, encode_table
from .core import TAG, DecodeFn, EncodeFn, Node, Refused
from .objects import HEAP_TYPE, restore_state, slot_members, slot_state

if TYPE_CHECKING:
    from .core import Decoder, Encoder

GROUP: type[BaseException] | None = getattr(builtins, "BaseExceptionGroup", None)
"""Exception groups came with Python 3.11."""

NOT_KEPT = frozenset({"args", "obj", "message", "exceptions"})


def builtin_base(cls: type) -> Any:
    """The builtin exception whose memory layout the class has, or None."""
    base: Any = cls
    while base.__flags__ & HEAP_TYPE:
        base = base.__base__
    return base if vars(builtins).get(base.__name__) is base else None


def builtin_fields(base: type) -> dict[str, Any]:
    """Descriptors of what a builtin exception keeps beside its arguments (``errno``, ``reason``)."""
    fields: dict[str, Any] = {}
    for cls in base.__mro__:
        for name, member in vars(cls).items():
            kind = isinstance(member, (GetSetDescriptorType, MemberDescriptorType))
            if kind and name not in NOT_KEPT and not name.startswith("__"):
                fields.setdefault(name, member)
    return fields


def blank(base: Any, cls: type, args: tuple[Any, ...]) -> Any:
    """An exception with these arguments; no ``__init__`` and no ``__new__`` of the user runs."""
    grouped = GROUP is not None and issubclass(base, GROUP)
    exc = base.__new__(cls, *args) if grouped else base.__new__(cls)
    BaseException.args.__set__(exc, args)  # type: ignore[attr-defined]  # a descriptor
    return exc


def read_fields(value: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """Those builtin fields that are filled."""
    state: dict[str, Any] = {}
    for name, member in fields.items():
        try:
            item = member.__get__(value)
        except (AttributeError, TypeError):
            # This is how an empty field of OSError or UnicodeError answers.
            continue
        if item is not None:
            state[name] = item
    return state


def exception_encoder(cls: type) -> EncodeFn | None:
    """Encoder of an exception class, or None where it hides state in C."""
    base = builtin_base(cls)
    if base is None:
        return None
    grouped = GROUP is not None and issubclass(base, GROUP)
    if not grouped:
        try:
            blank(base, cls, ())
        except TypeError:
            return None
    fields = builtin_fields(base)
    members = slot_members(cls, base)

    def encode(enc: Encoder, value: Any) -> Node:
        if id(value) in enc.chain:
            return {TAG: "xr", "n": len(enc.chain) - 1 - enc.chain.index(id(value))}
        if grouped and tuple(value.exceptions) != tuple(value.args[1]):
            return enc.refuse(value, "its arguments were changed")
        before = enc.enter(value)
        node: dict[str, Any] = {TAG: "x", "c": enc.class_node(cls)}
        try:
            node["a"] = encode_items(enc, value.args)
        except Refused as refused:
            refused.at(".args")
            raise
        enc.chain.append(id(value))
        state = slot_state(value, members)
        state.update(value.__dict__)
        for key, table in (("k", read_fields(value, fields)), ("d", state)):
            if table:
                node[key] = encode_table(enc, table)
        for name in ("__cause__", "__context__"):
            if getattr(value, name) is not None:
                node[name] = enc.item(getattr(value, name), f".{name}")
        if value.__suppress_context__:
            node["s"] = True
        enc.chain.pop()
        return enc.leave(value, before, node)

    return encode


def decode_exception(dec: Decoder, node: dict[str, Any]) -> Any:
    """An exception that equals the recorded one in all but its traceback."""
    cls = dec.find(node["c"], is_exception)
    base = builtin_base(cls)
    if base is None:
        raise DamagedError(f"a recorded value names {node['c']}, which cannot be restored")
    exc = blank(base, cls, tuple(dec.values(node["a"])))
    dec.chain.append(exc)
    recorded = dec.table(node.get("k", {}))
    fields = builtin_fields(base)
    for name in read_fields(exc, fields).keys() - recorded.keys():
        fields[name].__set__(exc, None)
    for name, item in recorded.items():
        fields[name].__set__(exc, item)
    if "d" in node:
        restore_state(exc, dec.table(node["d"]))
    for name in ("__cause__", "__context__"):
        if name in node:
            setattr(exc, name, dec.value(node[name]))
    exc.__suppress_context__ = node.get("s") is True
    dec.chain.pop()
    return exc


def decode_back_reference(dec: Decoder, node: dict[str, Any]) -> Any:
    """An exception further up the same chain, such as ``raise a from b`` while ``a`` was handled."""
    position = len(dec.chain) - 1 - node["n"]
    if position < 0:
        raise DamagedError("a recorded exception is malformed: its chain is cut")
    return dec.chain[position]


def encoder_for(cls: type) -> EncodeFn | None:
    """The encoder of an exception class."""
    return exception_encoder(cls) if is_exception(cls) else None


DECODERS: dict[str, DecodeFn] = {"x": decode_exception, "xr": decode_back_reference}
