"""Follows names from a step's code to all that they mean in the user's own code."""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
import typing
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from .classes import fill_class
from .contents import is_its_own
from .describe import Describer, is_secret, scan
from .documents import docstring_of
from .functions import FunctionReader
from .graph import Edge, Node
from .members import Members
from .owners import ENGINE, Origin, Owners
from .values import holds_secret, is_immutable, is_plain, peek, unwrapped, wrapped_in

_CYTHON = "cython_function_or_method"
"""A compiled function's type, of which each compiled module has its own."""
_BUILT_IN = (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType)


class Walk:
    """One look at the code of a workflow; what is met twice is read once.

    Args:
        owner: the workflow class, on which ``self.x`` is looked up.
        steps: names of its steps.
        attributes: of the instance.
    """

    def __init__(self, owner: type, steps: frozenset[str], attributes: Mapping[str, Any]) -> None:
        self.owners = Owners()
        self._nodes: dict[Any, tuple[Any, Node]] = {}
        self._later: deque[Callable[[], None]] = deque()
        self.members = Members(self, owner, steps, attributes)
        self._functions = FunctionReader(self)

    def node(self, key: Any, held: Any, kind: str, name: str) -> tuple[Node, bool]:
        """The node of a thing, and whether it is new.

        Args:
            key: with the thing's id in it.
            held: the thing, held so that its id stays its own.
            kind: of a new node.
            name: of a new node.
        """
        known = self._nodes.get(key)
        if known is not None:
            return known[1], False
        node = Node(kind, name)
        self._nodes[key] = held, node
        return node, True

    def finish(self) -> None:
        """Read all that was met, one after the other: call chains may be longer than the stack.

        What any code assigns is called mutable then, wherever it is read.
        """
        while self._later:
            self._later.popleft()()
        for value, node in self._nodes.values():
            if node.kind in ("constant", "closure") and node.key in self._functions.rebound:
                node.mutable = type(value).__name__

    # Code

    def is_user_class(self, cls: type) -> bool:
        """Whether a class is the user's own."""
        return self.owners.of_name(cls.__module__).user

    def package(self, origin: Origin) -> list[Edge]:
        """What naming something of a package means: the package's version."""
        if not origin.package:
            return []
        named = f"{origin.package} {origin.version}".rstrip()
        node, _ = self.node(("package", named), None, "package", named)
        node.text = [origin.version]
        return [(origin.package, node)]

    def class_edges(self, cls: type) -> list[Edge]:
        """What naming a class means."""
        origin = self.owners.of_name(cls.__module__)
        if not origin.user:
            return self.package(origin)
        is_event = any(
            base.__name__ == "Event" and base.__module__.startswith(f"{ENGINE}.") for base in cls.__mro__
        )
        node, fresh = self.node(("class", id(cls)), cls, "event" if is_event else "class", cls.__name__)
        if fresh:
            node.module = cls.__module__
            self._later.append(functools.partial(fill_class, self, node, cls))
        return [(cls.__name__, node)]

    def code_edges(self, name: str, value: Any, kind: str = "helper") -> list[Edge] | None:
        """What naming a piece of code means; None where the value is no code.

        Args:
            name: how it is named.
            value: a function, a class, a module, or what wraps one.
            kind: of a function.
        """
        if isinstance(value, types.FunctionType):
            return self._function_edges(name, value, kind)
        if isinstance(value, type) and typing.get_origin(value) is None:  # ``list[int]`` is a type in 3.10
            edges = self.class_edges(value)
            return [(name, node) for _, node in edges] if self.is_user_class(value) else edges
        if isinstance(value, types.ModuleType):
            return self._module_edges(value)
        if isinstance(value, _BUILT_IN):
            bound = peek(value, "__self__")
            if not (
                bound is None
                or isinstance(bound, (types.ModuleType, type))
                or self._is_library_function(value)
            ):
                return None
            return self.package(self.owners.of_name(getattr(value, "__module__", None) or "builtins"))
        if isinstance(value, types.MethodType) and self._is_library_function(value):
            return self.package(self.owners.of_name(value.__module__))
        if isinstance(value, types.MethodType) and isinstance(value.__self__, type):
            return [*self.class_edges(value.__self__), *(self.code_edges(name, value.__func__) or [])]
        wrapped = wrapped_in(value)
        if wrapped is not None:
            return [*self.class_edges(type(value)), *(self.code_edges(name, wrapped, kind) or [])]
        if type(value).__name__ == _CYTHON and not self.owners.of_name(value.__module__).user:
            return self.package(self.owners.of_name(value.__module__))
        named = isinstance(peek(value, "__name__"), str) and typing.get_origin(value) is None
        if named and callable(value) and is_its_own(value):
            origin = self.owners.of_name(type(value).__module__)
            return None if origin.user or not origin.package else self.package(origin)
        return None

    def docstring(self, name: str, value: Any) -> list[Edge]:
        """What reading a thing's docstring means.

        Args:
            name: how it is named.
            value: a function, a class, a module.
        """
        node, fresh = self.node(("docstring", id(value)), value, "docstring", name)
        if fresh:
            node.text.append(docstring_of(value))
        return [(name, node)]

    def _is_library_function(self, method: Any) -> bool:
        """Whether a package calls a method of an object of its own a function, as ``random.choice``.

        That object is nobody's value: its state is new in each kernel.
        """
        name = type(method.__self__).__module__
        module = sys.modules.get(name)
        if module is None or self.owners.of_name(name).user:
            return False
        return bool(vars(module).get(method.__name__) == method)

    def library_name(self, value: Any) -> str:
        """Full name of a package's function, class or module; empty for the user's code, and for objects."""
        if isinstance(value, types.ModuleType):
            return "" if self.owners.of_module(value).user else value.__name__
        if isinstance(value, types.FunctionType):
            inner = unwrapped(value)[0]
            user = isinstance(inner, types.FunctionType) and self.owners.of_function(inner).user
        elif isinstance(value, type):
            user = self.is_user_class(value)
        else:
            user = not isinstance(value, _BUILT_IN) and self.is_user_class(type(value))
        name = peek(value, "__qualname__") or peek(value, "__name__")
        if user or not isinstance(name, str) or typing.get_origin(value) is not None:
            return ""
        return f"{getattr(value, '__module__', None) or type(value).__module__}.{name}"

    def _function_edges(self, name: str, function: types.FunctionType, kind: str) -> list[Edge]:
        inner, above = unwrapped(function)
        if not isinstance(inner, types.FunctionType):
            return [*(self.code_edges(name, inner) or []), *self._wrapper_edges(above)]
        origin = self.owners.of_function(inner)
        if not origin.user:
            return [*self.package(origin), *scan(self, inner), *self._wrapper_edges(above)]
        if kind == "helper" and self.members.is_method(inner):
            kind = "method"
        node, fresh = self.node(("function", id(inner)), inner, kind, inner.__name__)
        if fresh:
            node.module = str(inner.__globals__.get("__name__", ""))
            self._later.append(functools.partial(self._functions.read, node, inner))
        return [(name, node), *self._wrapper_edges(above)]

    def _wrapper_edges(self, above: list[Any]) -> list[Edge]:
        """What decorators have put around a function; the function itself is read before."""
        edges: list[Edge] = []
        for each in above:
            if not isinstance(each, types.FunctionType):
                edges += self.class_edges(type(each))
            elif self.owners.of_function(each).user:
                node, fresh = self.node(("function", id(each)), each, "wrapper", each.__code__.co_name)
                if fresh:
                    self._later.append(functools.partial(self._functions.read_wrapper, node, each))
                edges.append((node.name, node))
            else:
                edges += [*self.package(self.owners.of_function(each)), *scan(self, each)]
        return edges

    def inline(self, node: Node, function: Any) -> None:
        """Write a method into its class's node."""
        inner, above = unwrapped(function)
        if isinstance(inner, types.FunctionType):
            origin = self.owners.of_function(inner)
            if origin.user:
                self._functions.read(node, inner)
            else:
                node.edges += self.package(origin)
        node.edges += self._wrapper_edges(above)

    def _module_edges(self, module: types.ModuleType) -> list[Edge]:
        """A module that is named as a whole: all that it defines."""
        origin = self.owners.of_module(module)
        if not origin.user:
            return self.package(origin)
        node, fresh = self.node(("module", id(module)), module, "module", module.__name__)
        if fresh:
            self._later.append(functools.partial(self._fill_module, node, module))
        return [(module.__name__, node)]

    def _fill_module(self, node: Node, module: types.ModuleType) -> None:
        for name, value in sorted(vars(module).items()):
            if not name.startswith("__") and not isinstance(value, types.ModuleType):
                node.text.append(name)
                node.edges += self.binding("constant", name, value, (id(vars(module)), name))

    # Values

    def describe(self, node: Node, path: str, value: Any) -> str:
        """A text that is equal for equal values; what the value names becomes the node's edges."""
        if value is None:
            return "None"
        describer = Describer(self, node)
        try:
            return describer.text(path, value)
        except Exception:  # noqa: BLE001  # an object may raise anything when it is looked at: its type counts
            return describer.bare(path, value)

    def fold(self, node: Node, kind: str, name: str, value: Any, key: Any) -> None:
        """Write a value into a node's own text, or as a part of its own where it can change."""
        if holds_secret(name.rpartition(".")[2], value):
            return
        if value is None or (is_plain(value) and is_immutable(value)):
            node.text.append(f"{name}={self.describe(node, name, value)}")
        else:
            node.edges += self.binding(kind, name, value, (kind, key))

    def binding(self, kind: str, name: str, value: Any, key: Any) -> list[Edge]:
        """What a name means that is bound to a value.

        Args:
            kind: of a plain value.
            name: the name.
            value: of any kind.
            key: of the place where it is bound.
        """
        edges = self.code_edges(name, value)
        if edges is not None:
            return edges
        if holds_secret(name.rpartition(".")[2], value) or is_secret(value):
            return []
        node, fresh = self.node(("value", key), value, kind, name)
        if fresh:
            node.key = key
            text = self.describe(node, name, value)
            node.text.append(text)
            if text == "opaque":
                node.kind = "opaque"
            elif kind != "attribute" and not _is_fixed(value):
                node.mutable = type(value).__name__
        return [(name, node)]


def _is_fixed(value: Any) -> bool:
    params = getattr(type(value), "__dataclass_params__", None)
    if dataclasses.is_dataclass(value) and params is not None:
        return bool(params.frozen)
    return is_immutable(value) or isinstance(value, functools.partial) or type(value).__module__ == "typing"
