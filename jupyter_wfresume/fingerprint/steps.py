"""The code of each step, and the words for what has changed in it."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .graph import Edge, Node, parts_of
from .values import digest_of
from .walk import Walk

ITSELF = "the step itself"
_MUTABLE = re.compile(r"attribute \S+|(global|closure|default|class attribute) \S+ \(\S+\)( \d+)?")
_PACKAGE = re.compile(r"package (\S+)(?: (.*))?")
_OPAQUE = re.compile(r"opaque: (.*) \((.*)\)")


@dataclass(frozen=True)
class StepCode:
    """All that a step's outcome can depend on in code.

    Args:
        digest: equal for equal code.
        parts: digests by readable name, such as ``helper clean()``.
        opaque: what counts by its type only, such as ``client (OpenAI)``.
    """

    digest: str
    parts: Mapping[str, str]
    opaque: tuple[str, ...]


def step_codes(
    steps: Mapping[str, Callable[..., Any]],
    *,
    owner: type,
    instance_attributes: Mapping[str, Any],
    resources: Mapping[str, Sequence[Callable[..., Any]]],
    events: Mapping[str, Sequence[type]],
    states: Mapping[str, Sequence[type]] = types.MappingProxyType({}),
) -> dict[str, StepCode]:
    """The code of steps: their own, and all of the user's that it names, however far away.

    Comments, formatting, docstrings, annotations, the place of a definition and the engine's own
    decorators do not count. Installed packages count by their version, secrets not at all.

    Args:
        steps: the functions by name; bound, unbound or decorated.
        owner: the workflow class.
        instance_attributes: what the user set on the instance.
        resources: factories of each step's resources.
        events: classes of the events that each step accepts and returns.
        states: classes of the state that each step declares.
    """
    walk = Walk(owner, frozenset(steps), instance_attributes)
    named = {"resource": resources, "event": events, "state": states}
    walked = {
        name: _roots(walk, name, function, {kind: known.get(name, ()) for kind, known in named.items()})
        for name, function in steps.items()
    }
    walk.finish()
    found = {}
    for name, (roots, given) in walked.items():
        parts, opaque = parts_of(roots, given)
        digest = digest_of(*(text for part in sorted(parts.items()) for text in part))
        found[name] = StepCode(digest, parts, opaque)
    return found


def _roots(
    walk: Walk,
    name: str,
    function: Callable[..., Any],
    named: Mapping[str, Sequence[Any]],
) -> tuple[list[Edge], dict[Node, str]]:
    if isinstance(function, types.MethodType):
        function = function.__func__
    roots = walk.code_edges(name, function) or []
    given = {node: ITSELF for _, node in roots[:1] if node.kind in ("helper", "method")}
    if not given:  # a library's step, such as an agent's: it may use anything of its workflow
        roots += walk.members.all()
    for kind, things in named.items():
        for thing in things:
            edges = walk.binding(kind, getattr(thing, "__name__", kind), thing, (kind, id(thing)))
            roots += edges
            for each, node in edges[:1]:
                if node.kind in ("helper", "class") and node not in given:
                    title = f"{kind} {each}" + ("()" if node.kind == "helper" else "")
                    if title not in given.values():
                        given[node] = title
    return roots, given


def by_type_only(parts: Iterable[str]) -> list[str]:
    """What counts by its type only, such as ``client (OpenAI)``, each once.

    Args:
        parts: keys of `StepCode.parts`.
    """
    found = (_OPAQUE.fullmatch(part) for part in parts)
    return list(dict.fromkeys(f"{each[1]} ({each[2]})" for each in found if each))


def is_mutable(part: str) -> bool:
    """Whether a part is a value that a run itself may have changed, such as ``global CACHE (list)``.

    The instance's attributes are among them, whatever their type: a step may assign ``self.count``.

    Args:
        part: a key of `StepCode.parts`.
    """
    return _MUTABLE.fullmatch(part) is not None


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Say in plain words what differs between two codes of a step; empty where nothing does.

    Args:
        old: `StepCode.parts` as recorded.
        new: as they are now.
    """
    gone = [part for part in old if part not in new]
    added = [part for part in new if part not in old]
    said = [f"{part} differs" for part in new if part in old and old[part] != new[part]]
    same_thing: dict[str, str] = {}
    for part in gone:
        same_thing.setdefault(_thing(part), part)
    for part in added:
        before = same_thing.pop(_thing(part), None)
        if before is None:
            said.append(f"{part} is new")
        else:
            gone.remove(before)
            said.append(_replaced(before, part))
    said += [f"{part} is no longer used" for part in gone]
    return sorted(said, key=_rank)


def _thing(part: str) -> str:
    """What a part is about, whatever its version, type or kind of value."""
    for pattern in (_PACKAGE, _OPAQUE):
        found = pattern.fullmatch(part)
        if found:
            return f"{pattern is _PACKAGE} {found[1]}"
    kind, _, name = part.partition(" ")
    return f"value {name.partition(' (')[0]}" if kind in ("constant", "global") else part


def _replaced(before: str, after: str) -> str:
    for pattern, word in ((_PACKAGE, "package "), (_OPAQUE, "type of ")):
        old, new = pattern.fullmatch(before), pattern.fullmatch(after)
        if old and new:
            return f"{word}{new[1]}: {old[2] or 'unknown'} -> {new[2] or 'unknown'}"
    return f"{after} differs"


def _rank(said: str) -> tuple[bool, bool, str]:
    return not said.startswith(ITSELF), said.startswith("package "), said
