"""Where two values differ: fields, items, texts, numbers, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from ..engine import StateModel
from . import arrays, frames
from .html import as_html, as_text
from .words import Difference, difference, show

__all__ = ["Difference", "as_html", "as_text", "differences", "parts_of"]

Same = Callable[[Any, Any], bool]


def differences(old: Any, new: Any) -> list[Difference]:
    """Where two values differ, by path; an empty list where they are equal.

    Types count exactly, but a class that was defined again under its name is
    the same. NaN equals NaN. The order of dicts and sets does not count.

    Args:
        old: one value.
        new: the other.
    """
    return list(_Walk().walk(old, new, ""))


class _Walk:
    """One comparison; it knows the pairs that it is inside of, since values may hold themselves."""

    def __init__(self) -> None:
        self._inside: set[tuple[int, int]] = set()

    def walk(self, old: Any, new: Any, path: str) -> Iterator[Difference]:
        """The differences of one pair."""
        if old is new:
            return
        if not _same_type(old, new):
            yield difference(path, "type", old, new)
            return
        pair = (id(old), id(new))
        if pair in self._inside:
            return
        self._inside.add(pair)
        try:
            yield from self._of_one_type(old, new, path)
        finally:
            self._inside.discard(pair)

    def same(self, old: Any, new: Any) -> bool:
        """Whether two values are equal; it stops at the first difference."""
        return next(self.walk(old, new, ""), None) is None

    def _of_one_type(self, old: Any, new: Any, path: str) -> Iterator[Difference]:
        if isinstance(old, (str, bytes, bool, int, float, complex, Enum)) or old is None:
            yield from _leaf(old, new, path)
        elif isinstance(old, dict):
            yield from self._members(dict(old), dict(new), path, lambda key: f"[{show(key)}]")
        elif _is_named_tuple(old):
            yield from self._members(old._asdict(), new._asdict(), path, lambda key: f".{key}")
        elif isinstance(old, (list, tuple)):
            yield from self._sequence(list(old), list(new), path)
        elif isinstance(old, (set, frozenset)):
            yield from _sets(old, new, path)
        elif arrays.is_array(old):
            yield from arrays.walk(old, new, path, self.same)
        elif frames.is_table(old):
            yield from frames.walk(old, new, path, self.same)
        else:
            yield from self._object(old, new, path)

    def _object(self, old: Any, new: Any, path: str) -> Iterator[Difference]:
        parts = parts_of(old), parts_of(new)
        if parts[0] is None or parts[1] is None:
            yield from _leaf(old, new, path)
        else:
            yield from self._members(parts[0], parts[1], path, lambda key: f".{key}")

    def _members(
        self, old: dict[Any, Any], new: dict[Any, Any], path: str, step: Callable[[Any], str]
    ) -> Iterator[Difference]:
        for key, value in old.items():
            if key in new:
                yield from self.walk(value, new[key], path + step(key))
            else:
                yield difference(path + step(key), "removed", value, None)
        for key, value in new.items():
            if key not in old:
                yield difference(path + step(key), "added", None, value)

    def _sequence(self, old: list[Any], new: list[Any], path: str) -> Iterator[Difference]:
        start, end, common = 0, 0, min(len(old), len(new))
        if len(old) != len(new):
            # What was put in or taken out in the middle must not make all behind it differ.
            while start < common and self.same(old[start], new[start]):
                start += 1
            while end < common - start and self.same(old[-1 - end], new[-1 - end]):
                end += 1
        for at in range(start, common - end):
            yield from self.walk(old[at], new[at], f"{path}[{at}]")
        for at in range(common - end, len(old) - end):
            yield difference(f"{path}[{at}]", "removed", old[at], None)
        for at in range(common - end, len(new) - end):
            yield difference(f"{path}[{at}]", "added", None, new[at])


def _same_type(old: Any, new: Any) -> bool:
    a, b = type(old), type(new)
    if a is b:
        return True
    # A cell that is run again defines its classes again.
    return (a.__module__, a.__qualname__) == (b.__module__, b.__qualname__) and hasattr(a, "__dict__")


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _leaf(old: Any, new: Any, path: str) -> Iterator[Difference]:
    if not _equal(old, new):
        yield difference(path, "changed", old, new)


def _equal(old: Any, new: Any) -> bool:
    if isinstance(old, Enum):
        return bool(old.name == new.name)
    try:
        if old == new:
            return True
        return bool(old != old and new != new)
    except Exception:  # noqa: BLE001  # a user's __eq__ may raise anything; what they print decides
        return show(old, 10_000) == show(new, 10_000)


def _sets(old: Any, new: Any, path: str) -> Iterator[Difference]:
    for item in sorted(old - new, key=show):
        yield difference(f"{path}{{}}", "removed", item, None)
    for item in sorted(new - old, key=show):
        yield difference(f"{path}{{}}", "added", None, item)


def parts_of(value: Any) -> dict[str, Any] | None:
    """What a value is made of by name; None for one that is compared as a whole.

    Args:
        value: of any kind.
    """
    if isinstance(value, StateModel):
        return _model_parts(value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name, None) for field in fields(value)}
        held = getattr(value, "__dict__", {})
        return {**parts, **{name: one for name, one in held.items() if not hasattr(type(value), name)}}
    if isinstance(value, BaseException):
        return {"args": value.args, **vars(value)}
    if callable(value) and hasattr(value, "__code__"):
        code = value.__code__
        return {"__qualname__": value.__qualname__, "__code__": (code.co_code, code.co_names, code.co_consts)}
    equals: Any = type(value).__eq__
    return dict(vars(value)) if equals is object.__eq__ and getattr(value, "__dict__", None) else None


def _model_parts(model: StateModel) -> dict[str, Any]:
    cls = type(model)
    # A model's __dict__ holds cached properties too; and, on record, fields that its class no longer has.
    parts = {
        name: value
        for name, value in model.__dict__.items()
        if name in cls.model_fields or not hasattr(cls, name)
    }
    parts.update(model.__pydantic_extra__ or {})
    for name, value in (model.__pydantic_private__ or {}).items():
        if name == "_data" and isinstance(value, dict):
            parts.update({str(key): item for key, item in value.items()})
        else:
            bare = name.lstrip("_")
            parts[bare if isinstance(getattr(cls, bare, None), property) else name] = value
    return parts
