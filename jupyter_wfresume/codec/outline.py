"""Values for looking at, also where their classes are not defined, as in a shell."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import DamagedError, MissingClassError
from .api import decode
from .blobs import Blobs
from .classes import FindClass
from .core import TAG, Node

Read = Callable[[Node], Any]


@dataclass(frozen=True)
class Outline:
    """Stands for a value whose class is not defined here.

    Args:
        name: of its class.
        items: what it holds by position.
        parts: what it holds by name.
        whole: the name says it all, as for a member of an enumeration.
    """

    name: str
    items: list[Any] = field(default_factory=list)
    parts: dict[str, Any] = field(default_factory=dict)
    whole: bool = False

    def __repr__(self) -> str:
        if self.whole:
            return self.name
        said = [repr(item) for item in self.items] + [f"{name}={part!r}" for name, part in self.parts.items()]
        return f"{self.name}({', '.join(said)})"


def outline(node: Node, blobs: Blobs, find_class: FindClass | None = None) -> Any:
    """Read a value back for looking at it: an ``Outline`` stands where a class is missing or another.

    Args:
        node: what ``encode`` returned.
        blobs: the store that ``encode`` filled.
        find_class: asked first for a class.

    Raises:
        DamagedError: the tree or a blob is not what was written.
    """
    try:
        return decode(node, blobs, find_class)
    except (MissingClassError, DamagedError) as error:
        if not isinstance(node, (dict, list)) or (isinstance(error, DamagedError) and "c" not in node):
            raise
    return _outline(node, lambda part: outline(part, blobs, find_class), blobs)


def _outline(node: Node, read: Read, blobs: Blobs) -> Any:
    if isinstance(node, list):
        return [read(item) for item in node]
    if TAG not in node:
        return {key: read(item) for key, item in node.items()}
    if node[TAG] == "J":
        return read(json.loads(blobs.get(node["h"])))
    items = node.get("a", node.get("v"))
    held = [read(item) for item in items] if isinstance(items, list) else []
    if "c" not in node:
        return held
    if "n" in node:
        return Outline(f"{_name(node['c'])}.{node['n']}", whole=True)
    return Outline(_name(node["c"]), held, _parts(node, read))


def _name(ref: Node) -> str:
    while isinstance(ref, dict):
        ref = ref["o"]
    return str(ref).rpartition(":")[2]


def _parts(node: dict[str, Any], read: Read) -> dict[str, Any]:
    """Fields, attributes and private attributes, as they are called from outside."""
    parts: dict[str, Any] = {}
    for key in ("d", "x", "p"):
        table = node.get(key)
        parts.update(table if isinstance(table, dict) else {})
    # An event keeps its undeclared fields in this one.
    parts.update(parts.pop("_data", None) or {})
    return {name.lstrip("_"): read(part) for name, part in parts.items()}
