"""What a class of the user's says: its members, fields and bases, as they are in memory."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Iterator
from enum import Enum
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

from .graph import Node
from .owners import ENGINE
from .values import holds_secret, wrapped_in

if TYPE_CHECKING:
    from .walk import Walk

_UNCOUNTED = frozenset(
    {
        "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__firstlineno__",
        "__static_attributes__", "__annotations__", "__annotate__", "__annotate_func__",
        "__annotations_cache__", "model_config",
        "__abstractmethods__", "_abc_impl", "__parameters__", "__orig_bases__",
        "__dataclass_fields__", "__dataclass_params__", "__class_vars__",
        "__private_attributes__", "__signature__", "__protocol_attrs__", "__non_callable_proto_members__",
        "_is_protocol", "_is_runtime_protocol", "__type_params__", "__classcell__",
        "_fields", "_field_defaults", "__getnewargs__", "__classdictcell__",
    }
)  # fmt: skip
_FIELD_SAYS = (
    "default", "default_factory", "alias", "alias_priority", "validation_alias", "serialization_alias",
    "description", "title", "examples", "discriminator", "exclude", "frozen", "validate_default",
    "init", "init_var", "kw_only", "metadata", "json_schema_extra", "pattern",
)  # fmt: skip
_UNDEFINED = "PydanticUndefinedType"
_DATACLASS_SAYS = ("init", "repr", "eq", "order", "unsafe_hash", "frozen", "kw_only", "slots", "match_args")


def functions_in(member: Any) -> list[Any]:
    """The functions that a member of a class is made of; empty for other members."""
    if isinstance(member, FunctionType):
        return [member]
    if isinstance(member, (staticmethod, classmethod)):
        return functions_in(member.__func__)
    if isinstance(member, property):
        return [f for f in (member.fget, member.fset, member.fdel) if f is not None]
    if isinstance(member, (functools.cached_property, functools.partialmethod)):
        return [member.func]
    if isinstance(member, functools.singledispatchmethod):
        return list(member.dispatcher.registry.values())
    if type(member).__name__ == "PydanticDescriptorProxy":
        return functions_in(member.wrapped)
    return [] if wrapped_in(member) is None else [member]


def fill_class(walk: Walk, node: Node, cls: type) -> None:
    """Write down what a class says.

    Args:
        walk: resolves what the class names.
        node: of the class.
        cls: the class.
    """
    if type(cls) is not type:
        node.edges += walk.class_edges(type(cls))
    for base in cls.__bases__:
        if base is not object:
            node.text.append(f"base {walk.library_name(base) or base.__name__}")
            node.edges += walk.class_edges(base)
    if issubclass(cls, Enum):
        _fill_enum(walk, node, cls)
    if "__dataclass_fields__" in vars(cls):
        _fill_dataclass(walk, node, cls)
    doc = vars(cls).get("__doc__")
    if isinstance(doc, str):
        node.docs.append(inspect.cleandoc(doc))
    if "__pydantic_fields__" in vars(cls):
        _fill_model(walk, node, cls)
        if node.docs and not _is_engines(cls):  # it is the description in the schema that a model is told
            node.text.append(f"doc {node.docs[0]}")
    fields = vars(cls).get("_fields")
    if isinstance(fields, tuple):
        node.text.append(f"fields {fields}")
        walk.fold(
            node, "default", f"{cls.__name__}._field_defaults", vars(cls).get("_field_defaults"), id(cls)
        )
    if hasattr(cls, "__total__"):  # a TypedDict: nothing but its annotations
        for name, kind in vars(cls).get("__annotations__", {}).items():
            node.text.append(f"key {name}: {walk.describe(node, name, kind)}")
    for name, member in _members(cls):
        found = functions_in(member)
        if found:
            node.text.append(f"{type(member).__name__} {name}")
        for function in found:
            walk.inline(node, function)
        if isinstance(member, functools.partialmethod):
            given = (member.args, member.keywords)
            walk.fold(node, "class attribute", f"{cls.__name__}.{name}", given, (id(cls), name))
        if not found:
            walk.fold(node, "class attribute", f"{cls.__name__}.{name}", member, (id(cls), name))


def _is_engines(cls: type) -> bool:
    """Whether it is an event, a workflow or a state of the engine's kinds."""
    return any(base.__module__.partition(".")[0] == ENGINE for base in cls.__mro__)


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    enum_names = set(cls.__members__) if issubclass(cls, Enum) else set()
    tuple_names = vars(cls).get("_fields", ()) if issubclass(cls, tuple) else ()
    made = "__dataclass_fields__" in vars(cls)
    for name, member in sorted(vars(cls).items()):
        if name in _UNCOUNTED or name in enum_names or name in tuple_names or name.startswith("__pydantic_"):
            continue
        if name == "__match_args__" and member == _made_match(cls):
            continue
        if isinstance(member, MemberDescriptorType) or (made and _is_made(member)):
            continue
        sunder = name.startswith("_") and name.endswith("_") and not name.startswith("__")
        if enum_names and sunder and not functions_in(member):
            continue
        yield name, member


def _made_match(cls: type) -> Any:
    """``__match_args__`` as it is generated from the fields, which count themselves."""
    fields = vars(cls).get("__dataclass_fields__")
    if fields is None:
        return vars(cls).get("_fields")
    return tuple(each.name for each in dataclasses.fields(cls) if each.init and not each.kw_only)


def _is_made(member: Any) -> bool:
    """Whether a method was generated from the fields, which count themselves."""
    function = getattr(member, "__wrapped__", member)
    return isinstance(function, FunctionType) and function.__code__.co_filename == "<string>"


def _fill_enum(walk: Walk, node: Node, cls: type[Enum]) -> None:
    for name, member in cls.__members__.items():
        node.text.append(f"member {name}: {walk.describe(node, name, member.value)}")


def _fill_dataclass(walk: Walk, node: Node, cls: type) -> None:
    params = vars(cls)["__dataclass_params__"]
    node.text.append(f"dataclass {[getattr(params, name, None) for name in _DATACLASS_SAYS]}")
    for each in vars(cls)["__dataclass_fields__"].values():
        said = [each.name, walk.describe(node, each.name, each.type)]
        said.append(f"{each.init}{each.repr}{each.compare}{each.hash}{getattr(each, 'kw_only', None)}")
        defaults = () if holds_secret(each.name, each.default) else (each.default, each.default_factory)
        for value in (*defaults, dict(each.metadata)):
            said.append("" if value is dataclasses.MISSING else walk.describe(node, each.name, value))
        node.text.append(f"field {said}")


def _fill_model(walk: Walk, node: Node, cls: Any) -> None:
    """Write down a pydantic model's own fields; those of a library's base count by its version."""
    inherited = {
        name
        for base in cls.__mro__[1:]
        if not walk.is_user_class(base)
        for name in getattr(base, "__pydantic_fields__", {})
    }
    own = vars(cls).get("__annotations__", {})
    node.text.append(f"config {walk.describe(node, 'model_config', cls.model_config)}")
    generic = cls.__pydantic_generic_metadata__
    if generic["origin"] is not None:
        node.text.append(f"of {[walk.describe(node, cls.__name__, each) for each in generic['args']]}")
    for name, each in vars(cls)["__pydantic_fields__"].items():
        if name in inherited and name not in own:
            continue
        said = [name, walk.describe(node, name, each.annotation)]
        for what in _FIELD_SAYS:
            value = getattr(each, what, None)
            if holds_secret(name, value) and what in ("default", "default_factory", "examples"):
                continue
            if value is not None and type(value).__name__ != _UNDEFINED:
                said.append(f"{what}={walk.describe(node, name, value)}")
        node.text.append(f"field {said}")
    for name, private in vars(cls).get("__private_attributes__", {}).items():
        said = [
            walk.describe(node, name, value)
            for value in (private.default, private.default_factory)
            if type(value).__name__ != _UNDEFINED and not holds_secret(name, value)
        ]
        node.text.append(f"private {name} {said}")
