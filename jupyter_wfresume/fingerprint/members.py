"""What ``self.x`` means in a workflow."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .classes import functions_in
from .graph import Edge
from .values import peek, unwrapped

if TYPE_CHECKING:
    from .walk import Walk


class Members:
    """The members of the workflow class and the attributes of its instance.

    Args:
        walk: resolves what the members name.
        owner: the workflow class.
        steps: names of its steps.
        attributes: of the instance.
    """

    def __init__(self, walk: Walk, owner: type, steps: frozenset[str], attributes: Mapping[str, Any]) -> None:
        self.owner = owner
        self._walk = walk
        self._steps = steps
        self._attributes = attributes
        self._methods = {id(each): each for each in self._functions()}

    def is_method(self, function: types.FunctionType) -> bool:
        """Whether a function's first parameter is the workflow, or its class."""
        return id(function) in self._methods

    def _functions(self) -> Iterator[types.FunctionType]:
        for base in self.owner.__mro__:
            if self._walk.is_user_class(base):
                for member in vars(base).values():
                    for each in () if isinstance(member, staticmethod) else functions_in(member):
                        inner, _ = unwrapped(each)
                        if isinstance(inner, types.FunctionType):
                            yield inner

    def all(self) -> list[Edge]:
        """What ``self`` means that is handed on, to code that may use anything of it but the steps."""
        found = dict.fromkeys(self._attributes)
        for base in self.owner.__mro__:
            if self._walk.is_user_class(base):
                found |= dict.fromkeys(name for name in sorted(vars(base)) if not name.startswith("__"))
        return [edge for name in found if name not in self._steps for edge in self.named(name)]

    def value(self, names: Sequence[str]) -> Any:
        """What ``self.name`` holds, as far as that is known without asking the instance.

        Args:
            names: the attribute; none for the workflow class.
        """
        for name in names:
            return self._attributes[name] if name in self._attributes else peek(self.owner, name)
        return self.owner

    def named(self, name: str, every: bool = False) -> list[Edge]:
        """What ``self.name`` means.

        Args:
            name: the attribute.
            every: with the overridden ones, as ``super()`` reaches them.
        """
        edges: list[Edge] = []
        for base in self.owner.__mro__:
            private = name.startswith("__") and not name.endswith("__")
            mangled = f"_{base.__name__.lstrip('_')}{name}" if private else name
            cached = isinstance(vars(base).get(mangled), functools.cached_property)
            if not every and not cached and mangled in self._attributes:
                return [*edges, *self._attribute(mangled)]
            if mangled not in vars(base):
                continue
            origin = self._walk.owners.of_name(base.__module__)
            if not origin.user:
                return [*edges, *self._walk.package(origin)]
            member = vars(base)[mangled]
            edges += self._member(base, mangled, member)
            if not every and not isinstance(member, property):
                return edges
        return edges

    def _member(self, base: type, name: str, member: Any) -> list[Edge]:
        found = functions_in(member)
        if not found:
            return self._walk.binding("class attribute", name, member, ("member", id(base), name))
        edges = [edge for each in found for edge in self._walk.code_edges(name, each, "method") or []]
        if isinstance(member, functools.partialmethod):
            given = (member.args, member.keywords)
            edges += self._walk.binding("class attribute", name, given, ("member", id(base), name))
        return edges

    def _attribute(self, name: str) -> list[Edge]:
        edges = self._walk.binding("attribute", name, self._attributes[name], ("attribute", name))
        if any(node.opaque for _, node in edges):
            # What cannot be compared is at least known by the code that made it.
            edges += self.named("__init__", every=True)
        return edges
