"""Whether a value that was read back still fits its class, and what lies in it."""

from __future__ import annotations

import dataclasses
import functools
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pydantic

from .classes import is_dataclass, is_model

_SEQUENCES = (list, tuple, set, frozenset, deque)


def fault_of(error: BaseException) -> str:
    """What a class has against its fields, in a few words."""
    if isinstance(error, pydantic.ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        return f"'{where}': {first['msg']}" if where else str(first["msg"])
    return str(error) or type(error).__name__


def fault(value: Any, it: str = "it") -> str:
    """What its class, as it is now, has against a model or a dataclass; or nothing.

    A plain dataclass checks no types, so it has nothing against a value of another type.

    Args:
        value: the instance.
        it: what it is called in the sentence.
    """
    names = names_fault(value, it)
    if names:
        return names
    refused = refusal(type(value), getattr(value, "__dict__", {}))
    return refused if it == "it" or not refused else f"{it} {refused}"


def refusal(cls: Any, held: Mapping[str, Any]) -> str:
    """What a class has against the values of its fields, or nothing.

    Args:
        cls: a model, or a dataclass: one of pydantic's checks types, a plain one does not.
        held: by name of the field.
    """
    try:
        if is_model(cls):
            given = _by_alias(cls, held)
            if given is not None:
                cls.model_validate(given)
        elif hasattr(cls, "__pydantic_validator__"):
            names = [one.name for one in dataclasses.fields(cls) if one.init and one.name in held]
            cls.__pydantic_validator__.validate_python({name: held[name] for name in names})
    except Exception as error:  # noqa: BLE001  # the class's validators are the user's and may raise anything
        return fault_of(error)
    return ""


def _by_alias(cls: type[pydantic.BaseModel], held: Mapping[str, Any]) -> dict[str, Any] | None:
    """Values by the names that a model is given them under; None where those cannot be told."""
    given = {}
    for name, each in cls.model_fields.items():
        alias = name if each.validation_alias is None else each.validation_alias
        if not isinstance(alias, str):
            return None
        if name in held:
            given[alias] = held[name]
    return given


def names_fault(value: Any, it: str = "it") -> str:
    """What the names of an instance's fields have against it, or nothing.

    Args:
        value: a model or a dataclass.
        it: what it is called in the sentence.
    """
    declared, defaulted = _model_names(value) if is_model(type(value)) else _dataclass_names(value)
    held = getattr(value, "__dict__", {})
    for name, needed in declared.items():
        if needed and not (name in held if is_model(type(value)) else hasattr(value, name)):
            return f"{it} has no '{name}'"
    gone = [name for name in held if name not in declared and not _is_cached(type(value), name)]
    if gone and defaulted:
        # Renamed, perhaps: a default in the place of what is on record would go unnoticed.
        return f"{it} holds '{gone[0]}', which the class no longer has"
    return ""


def faults_inside(value: Any, looks_at: Callable[[type], bool] = lambda cls: True) -> Iterator[str]:
    """What is wrong with instances in a value's fields, each with the way to it.

    Args:
        value: a model or a dataclass, which is not looked at itself; or fields by name.
        looks_at: whether instances of a class are.
    """
    seen: set[int] = set()
    left: list[tuple[str, Any]] = [("" if type(value) is dict else type(value).__name__, value)]
    while left:
        path, one = left.pop()
        if isinstance(one, (str, bytes, int, float, type(None))) or id(one) in seen:
            continue
        seen.add(id(one))
        cls = type(one)
        if one is not value and (is_model(cls) or is_dataclass(cls)) and looks_at(cls):
            found = fault(one, cls.__name__)
            if found:
                yield f"{path}: {found}"
        left += reversed([(f"{path}{step}", part) for step, part in _parts(one)])


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    cls = type(value)
    if is_model(cls):
        held = {**value.__dict__, **(value.__pydantic_extra__ or {})}
        private = value.__pydantic_private__ or {}
        # An event keeps its undeclared fields in this one.
        dynamic = private.get("_data")
        held.update(dynamic if isinstance(dynamic, dict) else {})
        held.update({name: part for name, part in private.items() if name != "_data"})
        yield from ((f".{name}", part) for name, part in held.items())
    elif is_dataclass(cls):
        names = [one.name for one in dataclasses.fields(cls)]
        yield from ((f".{name}", getattr(value, name)) for name in names if hasattr(value, name))
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in value.items())
    elif isinstance(value, _SEQUENCES):
        yield from ((f"[{at}]", part) for at, part in enumerate(value))


def _model_names(value: pydantic.BaseModel) -> tuple[dict[str, bool], bool]:
    """By declared name whether it has to be there; and whether some field was not given."""
    fields = type(value).model_fields
    declared = {name: each.is_required() for name, each in fields.items()}
    return declared, bool(fields.keys() - value.model_fields_set)


def _dataclass_names(value: Any) -> tuple[dict[str, bool], bool]:
    declared, defaulted = {}, False
    for one in dataclasses.fields(value):
        made = one.default is not dataclasses.MISSING or one.default_factory is not dataclasses.MISSING
        declared[one.name] = not made
        defaulted = defaulted or (made and _is_default(one, getattr(value, one.name, dataclasses.MISSING)))
    return declared, defaulted


def _is_default(field: dataclasses.Field[Any], held: Any) -> bool:
    """Whether a field holds what it gets by itself: whether it was given is not on record."""
    if field.default is not dataclasses.MISSING:
        return held is field.default or (
            type(held) is type(field.default) and repr(held) == repr(field.default)
        )
    return field.default_factory is not dataclasses.MISSING and not held


def _is_cached(cls: type, name: str) -> bool:
    return isinstance(getattr(cls, name, None), functools.cached_property)
