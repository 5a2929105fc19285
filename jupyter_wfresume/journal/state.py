"""Patches of a run's state: what changed since it was last written down.

A patch names paths, so that a list that grows by one costs one item on disk
and not the whole list. A path's first part is a slot of the state model:
``f:name`` for a field, ``d:key`` for a dynamic entry, ``p:name`` for another
private attribute. The further parts are str keys of plain dicts and indexes
of plain lists; anything else is a leaf and is written whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..codec import Blobs, digest, encode
from ..codec.blobs import NoBlobs
from ..engine import MISSING, StateModel, value_at
from ..errors import CannotKeepError, DamagedError

Path = tuple[Any, ...]
Op = list[Any]

_ATOMS = (type(None), bool, int, float, str)
_LARGE = 256


@dataclass
class Node:
    """What was last written of one value.

    Args:
        kind: ``a`` atom, ``l`` list, ``d`` dict, ``x`` anything else.
        value: the atom, or the text of the encoded leaf.
        parts: what was last written of each part.
    """

    kind: str
    value: Any = None
    parts: Any = None


@dataclass
class Lost:
    """A part of the state that cannot be written down."""

    path: Path
    error: CannotKeepError


@dataclass
class Patch:
    """Changes, and what of them could not be kept."""

    ops: list[Op] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)


def slots(model: StateModel) -> dict[str, Any]:
    """The parts of a state model by slot."""
    found: dict[str, Any] = {f"f:{name}": value for name, value in model.__dict__.items()}
    for name, value in (model.__pydantic_extra__ or {}).items():
        found[f"f:{name}"] = value
    for name, value in (model.__pydantic_private__ or {}).items():
        if name == "_data" and type(value) is dict:
            found.update({f"d:{key}": item for key, item in value.items()})
        else:
            found[f"p:{name}"] = value
    return found


def _kind(value: Any) -> str:
    kind = type(value)
    if kind in _ATOMS and not (kind is str and len(value) > _LARGE):
        return "a"
    if kind is list:
        return "l"
    if kind is dict and all(type(key) is str for key in value):
        return "d"
    return "x"


def _same_atom(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    # nan equals nan here, and 0.0 is not -0.0: repr tells floats apart.
    return repr(a) == repr(b) if type(a) is float else bool(a == b)


class StateLog:
    """Remembers what of the state is on disk and makes patches against it.

    Args:
        blobs: where large values go.
    """

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._root: dict[str, Node] = {}

    def accept(self, model: StateModel) -> list[Lost]:
        """Take the whole state as written; return what cannot be kept of it."""
        patch = Patch()
        self._root = {}
        for slot, value in slots(model).items():
            self._root[slot] = self._write(value, (slot,), patch)
        return patch.lost

    def diff(self, model: StateModel, paths: list[Path]) -> Patch:
        """What changed at or below ``paths`` since it was last written.

        Args:
            model: the live state.
            paths: where to look; ``()`` looks everywhere.
        """
        patch = Patch()
        now = slots(model)
        for path in _outermost(paths):
            if not path:
                for slot in [*now, *(slot for slot in self._root if slot not in now)]:
                    self._slot(slot, now, patch)
            else:
                self._below(path, now, patch)
        return patch

    def _slot(self, slot: str, now: dict[str, Any], patch: Patch) -> None:
        if slot not in now:
            del self._root[slot]
            self._note(patch, ["-", [slot]], (slot,))
        elif slot not in self._root:
            self._root[slot] = self._set(now[slot], (slot,), patch)
        else:
            self._root[slot] = self._compare(self._root[slot], now[slot], (slot,), patch)

    def _below(self, path: Path, now: dict[str, Any], patch: Patch) -> None:
        slot, *rest = path
        if not rest or slot not in now or slot not in self._root:
            if slot in now or slot in self._root:
                self._slot(slot, now, patch)
            return
        at: Path = (slot,)
        node, value = self._root[slot], now[slot]
        for step, part in enumerate(rest):
            last = step == len(rest) - 1
            known = node.kind == "d" and type(value) is dict and part in node.parts and part in value
            if not known:
                self._replace(at, self._compare(node, value, at, patch))
                return
            node, value, at = node.parts[part], value[part], (*at, part)
            if last:
                self._replace(at, self._compare(node, value, at, patch))

    def _replace(self, path: Path, node: Node) -> None:
        if len(path) == 1:
            self._root[path[0]] = node
            return
        holder = self._root[path[0]]
        for part in path[1:-1]:
            holder = holder.parts[part]
        holder.parts[path[-1]] = node

    def _note(self, patch: Patch, op: Op, path: Path) -> None:
        patch.ops.append(op)
        patch.paths.append(path)

    def _write(self, value: Any, path: Path, patch: Patch) -> Node:
        kind = _kind(value)
        if kind == "a":
            return Node("a", value)
        if kind == "l":
            parts = [self._write(item, (*path, i), patch) for i, item in enumerate(value)]
            return Node("l", parts=parts)
        if kind == "d":
            return Node(
                "d", parts={key: self._write(item, (*path, key), patch) for key, item in value.items()}
            )
        return Node("x", self._text(value, path, patch))

    def _text(self, value: Any, path: Path, patch: Patch) -> str | None:
        try:
            return json.dumps(encode(value, self._blobs))
        except CannotKeepError as error:
            patch.lost.append(Lost(path, error))
            return None

    def _set(self, value: Any, path: Path, patch: Patch) -> Node:
        try:
            encoded: Any = encode(value, self._blobs)
        except CannotKeepError as error:
            patch.lost.append(Lost(path, error))
            self._note(patch, ["!", list(path), error.path, error.type_name], path)
            return Node("x", None)
        self._note(patch, ["=", list(path), encoded], path)
        if _kind(value) == "x":
            return Node("x", json.dumps(encoded))
        return self._write(value, path, Patch())

    def _compare(self, node: Node, value: Any, path: Path, patch: Patch) -> Node:
        kind = _kind(value)
        if kind != node.kind:
            return self._set(value, path, patch)
        if kind == "a":
            return node if _same_atom(node.value, value) else self._set(value, path, patch)
        if kind == "l":
            return self._compare_list(node, value, path, patch)
        if kind == "d":
            return self._compare_dict(node, value, path, patch)
        scratch = Patch()
        text = self._text(value, path, scratch)
        if text is not None and text == node.value:
            return node
        return self._set(value, path, patch)

    def _compare_list(self, node: Node, value: list[Any], path: Path, patch: Patch) -> Node:
        inner = Patch()
        kept = min(len(node.parts), len(value))
        parts = [self._compare(node.parts[i], value[i], (*path, i), inner) for i in range(kept)]
        if len(inner.ops) > 8 + kept // 2:
            return self._set(value, path, patch)
        patch.ops += inner.ops
        patch.lost += inner.lost
        patch.paths += inner.paths
        if len(value) < len(node.parts):
            self._note(patch, ["t", list(path), len(value)], path)
        elif len(value) > kept:
            added: list[Any] = []
            for i in range(kept, len(value)):
                one = Patch()
                parts.append(self._set(value[i], (*path, i), one))
                added.append(one.ops[0][2] if one.ops[0][0] == "=" else {"gone": one.ops[0][2:]})
                patch.lost += one.lost
            self._note(patch, ["e", list(path), added], path)
        return Node("l", parts=parts)

    def _compare_dict(self, node: Node, value: dict[str, Any], path: Path, patch: Patch) -> Node:
        if [key for key in node.parts if key in value] != [key for key in value if key in node.parts]:
            # The order of keys is part of the value, and a patch cannot move one.
            return self._set(value, path, patch)
        parts: dict[str, Node] = {}
        for key in node.parts:
            if key not in value:
                self._note(patch, ["-", [*path, key]], (*path, key))
        for key, item in value.items():
            at = (*path, key)
            old = node.parts.get(key)
            parts[key] = self._set(item, at, patch) if old is None else self._compare(old, item, at, patch)
        kept_first = list(value)[: sum(key in node.parts for key in value)]
        if any(key not in node.parts for key in kept_first):
            return self._set(value, path, patch)
        return Node("d", parts=parts)


def _outermost(paths: list[Path]) -> Iterator[Path]:
    kept: list[Path] = []
    for path in sorted(set(paths), key=len):
        if not any(path[: len(other)] == other for other in kept):
            kept.append(path)
            yield path


def changed_paths(before: StateModel, after: StateModel) -> list[Path]:
    """Where two states differ, as deep as plain dicts go."""
    a, b = slots(before), slots(after)
    found: list[Path] = []
    for slot in {**a, **b}:
        if slot not in a or slot not in b:
            found.append((slot,))
        else:
            _differ(a[slot], b[slot], (slot,), found)
    return found


def _differ(a: Any, b: Any, path: Path, found: list[Path]) -> None:
    if a is b and _kind(a) == "a":
        return
    if _kind(a) == "d" and _kind(b) == "d":
        for key in {**a, **b}:
            if key not in a or key not in b:
                found.append((*path, key))
            else:
                _differ(a[key], b[key], (*path, key), found)
    elif _kind(a) == "a" and _kind(b) == "a":
        if not _same_atom(a, b):
            found.append(path)
    elif _text_of(a) != _text_of(b):
        found.append(path)


def _text_of(value: Any) -> str | int:
    try:
        return json.dumps(encode(value, NoBlobs()))
    except CannotKeepError:
        return id(value)


def content_at(model: StateModel, path: Path) -> str | None:
    """Digest of a state at a path that was read, or None where it cannot be compared.

    Args:
        model: the state.
        path: as a watch on the state makes it; ``()`` for all.
    """
    names = [str(path[0])[2:], *map(str, path[1:])] if path else []
    value = value_at(model, names)
    if value is MISSING:
        return "-"
    try:
        return digest(value)
    except CannotKeepError:
        return None


class LostValue:
    """Stands in a restored state for a value that was not kept.

    Args:
        path: where it was.
        reason: the type that stood in the way.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason


def apply_ops(model: StateModel, ops: list[Op], value_of: Callable[[Any], Any]) -> None:
    """Bring a state forward by one patch, in place.

    Args:
        model: the state.
        ops: the patch's operations, in order.
        value_of: decodes a node.
    """
    for op in ops:
        kind, path = op[0], op[1]
        if kind == "=":
            _put(model, path, value_of(op[2]))
        elif kind == "!":
            _put(model, path, LostValue(".".join(str(part) for part in path)[2:], op[3]))
        elif kind == "-":
            _drop(model, path)
        elif kind == "t":
            del _at(model, path)[op[2] :]
        elif kind == "e":
            _at(model, path).extend(value_of(node) for node in op[2])
        else:
            raise DamagedError(f"a state patch holds the unknown operation '{kind}'")


def _holder(model: StateModel, slot: str) -> tuple[dict[str, Any], str]:
    kind, name = slot.split(":", 1)
    private = model.__pydantic_private__
    if kind == "d" and private is not None:
        data: dict[str, Any] = private.setdefault("_data", {})
        return data, name
    if kind == "p" and private is not None:
        return private, name
    extra = model.__pydantic_extra__
    if extra is not None and name not in type(model).model_fields:
        return extra, name
    return model.__dict__, name


def _at(model: StateModel, path: list[Any]) -> Any:
    holder, name = _holder(model, path[0])
    value: Any = holder[name]
    for part in path[1:]:
        value = value[part]
    return value


def _put(model: StateModel, path: list[Any], value: Any) -> None:
    if len(path) == 1:
        holder, name = _holder(model, path[0])
        holder[name] = value
    else:
        _at(model, path[:-1])[path[-1]] = value


def _drop(model: StateModel, path: list[Any]) -> None:
    if len(path) == 1:
        holder, name = _holder(model, path[0])
        holder.pop(name, None)
    else:
        del _at(model, path[:-1])[path[-1]]
