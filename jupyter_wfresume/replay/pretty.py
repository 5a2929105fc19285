"""A value in a few lines, for reading."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from enum import Enum
from typing import Any

from ..codec import Outline
from .diff import parts_of
from .words import show

WIDTH = 88
"""Characters of a line."""
LINES = 24
"""Lines of a value."""
ITEMS = 12
"""Items of a list, or lines of a text, that are shown of one."""
DEPTH = 3
"""Levels that get lines of their own."""
PACKED = 200
"""Short items of a list that are shown."""
NARROW = 20
"""Characters that a part gets at the least."""

Named = list[tuple[str, Any]]


def pretty(value: Any, width: int = WIDTH, lines: int = LINES) -> str:
    """A value in one line where it fits, else in several, cut where there are too many.

    Args:
        value: of any kind.
        width: characters of a line.
        lines: lines at the most.
    """
    found = list(_lines(value, width, DEPTH))
    if len(found) > lines:
        found = [*found[: lines - 1], f"… {len(found) - lines + 1:,} more lines"]
    return "\n".join(found)


def brief(value: Any, limit: int = WIDTH) -> str:
    """A value in one line, cut where it is long.

    Args:
        value: of any kind.
        limit: characters.
    """
    text = " ".join(_flat(value, limit, DEPTH).split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _lines(value: Any, width: int, depth: int) -> Iterator[str]:
    flat = _flat(value, width + 1, depth)
    if len(flat) <= width and "\n" not in flat:
        yield flat
        return
    shape = _shape(value)
    if shape is None or depth == 0:
        yield from _leaf(value, width)
        return
    opening, named, closing = shape
    yield opening
    if all(not name and _is_short(part) for name, part in named):
        yield from _packed([part for _, part in named], width)
        named = []
    for name, part in named[:ITEMS]:
        head, *rest = _lines(part, max(NARROW, width - 2 - len(name)), depth - 1)
        if name and rest and _shape(part) is None and not isinstance(part, str):
            # A table's columns have to stand below each other.
            head, rest = "", ["  " + line for line in (head, *rest)]
        yield f"  {name}{head}"
        yield from (f"  {line}" for line in rest)
    if len(named) > ITEMS:
        yield f"  … {len(named) - ITEMS:,} more"
    yield closing


def _is_short(part: Any) -> bool:
    return isinstance(part, (int, float, type(None))) or (isinstance(part, str) and len(part) < NARROW)


def _packed(parts: list[Any], width: int) -> Iterator[str]:
    """Short items, many in a line."""
    some = ", ".join(map(repr, parts[: PACKED + 1]))
    lines = textwrap.wrap(some, width - 2)
    yield from (f"  {line}" for line in lines[:ITEMS])
    if len(parts) > PACKED or len(lines) > ITEMS:
        yield f"  … {len(parts):,} in all"


def _leaf(value: Any, width: int) -> Iterator[str]:
    """A text line by line, a table as it prints itself, the rest in one line."""
    if isinstance(value, str):
        texts = [part for line in value.splitlines() for part in textwrap.wrap(line, width - 2) or [""]]
        yield "'''"
        yield from (f"  {text}" for text in texts[:ITEMS])
        yield f"  … {len(texts) - ITEMS:,} more lines" if len(texts) > ITEMS else "'''"
        return
    text = _repr(value, width)
    if "\n" in text:
        lines = text.splitlines()
        yield from (_cut(line, width) for line in lines[:ITEMS])
        if len(lines) > ITEMS:
            yield f"… {len(lines) - ITEMS:,} more lines"
    else:
        yield show(value, width)


def _flat(value: Any, limit: int, depth: int) -> str:
    """The value in one line; what is beyond the limit may be missing."""
    shape = _shape(value)
    if shape is None:
        return _repr(value, limit)
    opening, named, closing = shape
    if depth == 0 and named:
        return f"{opening}…{closing}"
    said, size = [], 0
    for name, part in named:
        if size > limit:
            said.append("…")
            break
        text = f"{name}{_flat(part, limit - size, depth - 1)}"
        said.append(text)
        size += len(text) + 2
    return f"{opening}{', '.join(said)}{closing}"


def _shape(value: Any) -> tuple[str, Named, str] | None:
    """What stands before the parts of a value, its parts with their names, and what stands behind them."""
    if isinstance(value, Outline):
        named = [("", item) for item in value.items] + [
            (f"{name}=", part) for name, part in value.parts.items()
        ]
        return None if value.whole else (f"{value.name}(", named, ")")
    if isinstance(value, Enum):
        return None
    if type(value) is dict:
        return "{", [(f"{show(key)}: ", part) for key, part in value.items()], "}"
    for kind, opening, closing in ((list, "[", "]"), (tuple, "(", ")"), (set, "{", "}")):
        if type(value) is kind and value:
            return opening, [("", part) for part in value], f",{closing}" if _is_single(value) else closing
    if isinstance(value, BaseException) or hasattr(value, "__code__"):
        return None
    parts = parts_of(value)
    if parts is None:
        return None
    return f"{type(value).__qualname__}(", [(f"{name}=", part) for name, part in parts.items()], ")"


def _is_single(value: Any) -> bool:
    return type(value) is tuple and len(value) == 1


def _repr(value: Any, limit: int) -> str:
    if isinstance(value, (str, bytes)) and len(value) > max(NARROW, limit):
        return repr(value[: max(NARROW, limit)])
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  # a user's __repr__ may raise anything; `show` names what it raised
        return show(value)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
