"""Values as texts: by content where they can be compared, by type where not."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..codec import digest
from ..errors import CannotKeepError
from .contents import Content, content_of
from .documents import tool_says
from .graph import Node
from .owners import ENGINE
from .values import holds_secret, is_plain, is_random_id, items_of, peek

if TYPE_CHECKING:
    from .walk import Walk

_MOST_OBJECTS = 20_000
"""Objects looked at in one value; what is larger counts by type."""
_DEEPEST = 40
_SCAN_OBJECTS = 300
_SCAN_DEPTH = 3
_UNHEARD = frozenset({"Logger", "RootLogger", "LoggerAdapter"})


def is_secret(value: Any) -> bool:
    """Whether a value hides what it holds, as pydantic's ``SecretStr`` does."""
    return callable(getattr(type(value), "get_secret_value", None))


class Describer:
    """Describes one value of a node; what it names becomes the node's edges.

    Args:
        walk: resolves code.
        node: takes the edges, and what is opaque.
    """

    def __init__(self, walk: Walk, node: Node) -> None:
        self._walk = walk
        self._node = node
        self._seen: dict[int, tuple[int, Any]] = {}
        self._asked: list[Content] = []

    def text(self, path: str, value: Any, depth: int = 0) -> str:
        """A text that is equal for equal values.

        Args:
            path: the way to the value, in the user's words.
            value: of any kind.
            depth: how deep in the node's value it lies.
        """
        if is_secret(value):
            return "secret"
        if is_random_id(value):
            return self._opaque(path, "random id")
        if is_plain(value):
            return digest(value)
        edges = self._walk.code_edges(path, value)
        if edges is not None:
            self._node.edges += edges
            return f"code {self._walk.library_name(value)}"
        if id(value) in self._seen:
            return f"again {self._seen[id(value)][0]}"
        self._seen[id(value)] = len(self._seen), value
        if depth > _DEEPEST or len(self._seen) > _MOST_OBJECTS:
            return self.by_type(path, value)
        return self._compound(path, value, depth + 1)

    def _compound(self, path: str, value: Any, depth: int) -> str:
        kind = type(value)
        if isinstance(value, (list, tuple, dict, set, frozenset)) and self._is_container(kind):
            return self._container(path, value, depth)
        if isinstance(value, Enum):
            return f"member {value.name}{self._class(kind)}"
        if isinstance(value, functools.partial):
            said = [self.text(path, value.func, depth), self._items(path, list(value.args), depth)]
            return f"partial{said}{self._items(path, value.keywords, depth)}"
        if isinstance(value, types.MethodType):
            return f"method{self.text(path, value.__func__, depth)}{self.text(path, value.__self__, depth)}"
        if typing.get_origin(value) is not None or kind.__module__ == "typing":
            return self._form(path, value, depth)
        told = tool_says(value)
        if told is not None:
            return self._tool(path, value, told, depth)
        state = self._state(value)
        if state is not None:
            return f"{self._class(kind)}{self._attributes(path, state, depth)}"
        if kind.__module__ == "logging" and kind.__name__ in _UNHEARD:
            return "logger"
        if "__pydantic_fields__" in vars(kind):
            return self._model(path, value, depth)
        try:
            return digest(value)
        except CannotKeepError:
            content = content_of(self._walk.owners, value)
            return (
                self.by_type(path, value) if content is None else self._content(path, value, content, depth)
            )

    def _tool(self, path: str, value: Any, told: dict[str, Any], depth: int) -> str:
        """A tool: what a model is told of it, and what it does."""
        said = f"tool {digest(told, opaque=True)}"
        state = vars(value) if type(value).__name__ == "FunctionTool" else self._state(value)
        if state is None:
            return f"{said} {self.by_type(path, value)}"
        own = {name: item for name, item in state.items() if name != "_metadata"}
        return f"{said} {self._class(type(value))}{self._attributes(path, own, depth)}"

    def _content(self, path: str, value: Any, content: Content, depth: int) -> str:
        # What asking has made lives in no one else's hands: held, so that its id stays its own.
        self._asked.append(content)
        parts = [self.text(path, part, depth) for part in content.parts]
        said = self._attributes(path, content.attributes, depth) if content.attributes else ""
        return f"{self._class(type(value))} {content.head}{parts}{said}"

    def _is_container(self, kind: type) -> bool:
        return kind.__module__ in ("builtins", "collections") or self._walk.is_user_class(kind)

    def _container(self, path: str, value: Any, depth: int) -> str:
        said = self._class(type(value)) + self._items(path, value, depth)
        if isinstance(value, defaultdict):
            said += f"else {self.text(f'{path}.default_factory', value.default_factory, depth)}"
        own = getattr(value, "__dict__", None)
        return said + self._attributes(path, own, depth) if own else said

    def _items(self, path: str, value: Any, depth: int) -> str:
        if isinstance(value, dict):
            pairs = [
                f"{self.text(path, key, depth)}:{self.text(f'{path}{place}', item, depth)}"
                for (place, item), key in zip(items_of(value), value, strict=True)
                if not holds_secret(key, item)
            ]
            return f"{{{','.join(pairs)}}}"
        said = [self.text(f"{path}{place}", item, depth) for place, item in items_of(value)]
        return f"[{','.join(sorted(said) if isinstance(value, (set, frozenset)) else said)}]"

    def _class(self, kind: type) -> str:
        if kind.__module__ != "builtins":
            self._node.edges += self._walk.class_edges(kind)
        return kind.__name__

    def _attributes(self, path: str, state: dict[str, Any], depth: int) -> str:
        said = [
            f"{name}={self.text(f'{path}.{name}', item, depth)}"
            for name, item in sorted(state.items())
            if not holds_secret(name, item)
        ]
        return f"({','.join(said)})"

    def _state(self, value: Any) -> dict[str, Any] | None:
        """The attributes of an object that is nothing but its attributes; None for others."""
        kind = type(value)
        user = self._walk.is_user_class(kind)
        if dataclasses.is_dataclass(kind):
            fields = {each.name: getattr(value, each.name, None) for each in dataclasses.fields(kind)}
            return {**fields, **getattr(value, "__dict__", {})} if user else fields
        if user or isinstance(value, types.SimpleNamespace):
            state = dict(getattr(value, "__dict__", {}))
            for base in kind.__mro__:
                slots = vars(base).get("__slots__", ())
                for name in [slots] if isinstance(slots, str) else slots:
                    if isinstance(vars(base).get(name), types.MemberDescriptorType) and hasattr(value, name):
                        state[name] = getattr(value, name)
            for name in _engines_own(kind):
                state.pop(name, None)
            private = state.pop("__pydantic_private__", None)
            cached = [
                name for name in state if isinstance(getattr(kind, name, None), functools.cached_property)
            ]
            for name in cached:  # comes and goes with use, and follows from the rest
                del state[name]
            return {**state, **(private or {})}
        return None

    def _model(self, path: str, value: Any, depth: int) -> str:
        """A library's pydantic object, such as a language model: its plain fields count, the rest by type."""
        state = {
            name: item
            for name, item in vars(value).items()
            if name in type(value).__pydantic_fields__ and not holds_secret(name, item)
        }
        inner = Describer(self._walk, Node("", ""))
        inner._seen = self._seen
        said = inner._attributes(path, state, depth)
        self._node.edges += inner._node.edges
        private = getattr(value, "__pydantic_private__", None)
        if inner._node.opaque or private:
            self.by_type(path, value)
        return f"{self._class(type(value))}{said}"

    def _form(self, path: str, value: Any, depth: int) -> str:
        """A type form such as ``list[Item]``."""
        origin = typing.get_origin(value)
        if origin is None:
            return str(getattr(value, "__forward_arg__", None) or getattr(value, "__name__", "typing"))
        args = [self.text(path, each, depth) for each in getattr(value, "__args__", ())]
        marks = [self.text(path, each, depth) for each in getattr(value, "__metadata__", ())]
        head = self.text(path, origin, depth) if isinstance(origin, type) else str(origin)
        return f"{getattr(origin, '__name__', '')}{head}{args}{marks}"

    def by_type(self, path: str, value: Any) -> str:
        """A text for an object that cannot be compared.

        Objects of a library that are a few public settings, such as ``stop_after_attempt(3)``, count by
        these. Private attributes are mostly state that changes with use, as a semaphore's.
        """
        kind = type(value)
        said = self._class(kind)
        own = peek(value, "__dict__")
        own = own if isinstance(own, dict) else {}
        if own and all(name[0] != "_" and is_plain(item) for name, item in own.items()):
            return f"{said}{self._attributes(path, own, 0)}"
        self._node.edges += scan(self._walk, value)
        return self.bare(path, value)

    def bare(self, path: str, value: Any) -> str:
        """The text for an object that is not even looked at."""
        return self._opaque(path, type(value).__qualname__)

    def _opaque(self, path: str, kind: str) -> str:
        if (path, kind) not in self._node.opaque:
            self._node.opaque.append((path, kind))
        return "opaque"


def _engines_own(kind: type) -> set[str]:
    """Names of attributes that the engine's classes keep on a workflow: caches, whose order may differ."""
    engines = [base for base in kind.__mro__ if base.__module__.split(".")[0] == ENGINE]
    members = [member for base in engines for member in vars(base).values()]
    return {
        name for each in members if isinstance(each, types.FunctionType) for name in each.__code__.co_names
    }


def scan(walk: Walk, value: Any) -> list[tuple[str, Node]]:
    """The user's functions and classes that a library's object holds, such as a tool's function."""
    found: list[tuple[str, Node]] = []
    left: list[tuple[Any, int]] = [(value, 0)]
    seen: dict[int, Any] = {}
    while left and len(seen) < _SCAN_OBJECTS:
        each, depth = left.pop(0)
        if id(each) in seen:
            continue
        seen[id(each)] = each
        if isinstance(each, types.FunctionType) and walk.owners.of_function(each).user:
            found += walk.code_edges(each.__name__, each) or []
        elif isinstance(each, type):
            if walk.is_user_class(each):
                found += walk.class_edges(each)
        elif depth == 0 or (depth < _SCAN_DEPTH and not type(each).__module__.startswith(f"{ENGINE}.")):
            # The engine's objects know each other: beyond the first one lies every other workflow.
            left += [(item, depth + deeper) for item, deeper in _held(each)]
    return found


def _held(value: Any) -> Iterator[tuple[Any, int]]:
    if isinstance(value, (list, tuple, set, frozenset)):
        yield from ((item, 0) for item in value)
    elif isinstance(value, dict):
        yield from ((item, 0) for item in value.values())
    elif isinstance(value, types.FunctionType):
        yield from ((cell, 1) for cell in closure_of(value).values())
        yield from ((item, 1) for item in vars(value).values())
    elif isinstance(value, types.MethodType):
        yield value.__func__, 0
        yield value.__self__, 1
    elif isinstance(value, functools.partial):
        yield from ((item, 0) for item in (value.func, *value.args, *value.keywords.values()))
    elif not isinstance(value, types.ModuleType):
        for name in ("__dict__", "__pydantic_private__"):
            own = peek(value, name)
            if isinstance(own, dict):
                yield from ((item, 1) for item in own.values())


def closure_of(function: types.FunctionType) -> dict[str, Any]:
    """The names that a function has from the functions around it; those that are not set yet are left out."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found
