"""What a function says, and what the names in it mean."""

from __future__ import annotations

import builtins
import types
from typing import TYPE_CHECKING, Any

from .bytecode import code_text, names_in, nested_codes
from .describe import closure_of
from .documents import ASKED, DOC, TELLERS, TOLD, said_by
from .graph import Edge, Node
from .imports import import_edges
from .owners import ENGINE
from .reader import FIRST, OUTER, SUPER, Chain, Read
from .sources import Sources
from .values import peek

if TYPE_CHECKING:
    from .walk import Walk

_MISSING = object()
_EVERYWHERE = frozenset(name for name in vars(builtins) if name.startswith("__"))
"""Names that every module has, such as ``__name__``."""


class FunctionReader:
    """Writes functions into nodes.

    Args:
        walk: resolves what the functions name.
    """

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._sources = Sources()
        self._decorating: dict[int, types.CodeType] = {}
        self.rebound: set[Any] = set()

    def read(self, node: Node, function: types.FunctionType) -> None:
        """Write a function of the user's into a node, its decorators but not its wrappers."""
        source = self._sources.find(function.__code__, function.__globals__)
        if source is None:
            node.text.append(code_text(function.__code__))
            self._follow_names(node, function)
        else:
            node.text.append(source.read.text)
            self._follow(node, function, source.read)
            for decorator in source.decorators:
                self._decorator(node, function, decorator)
        node.docs += said_by(function)
        self._defaults(node, function)
        self._attributes(node, function)

    def read_wrapper(self, node: Node, function: types.FunctionType) -> None:
        """Write what a decorator has put around a function; what the decorator says is not said twice."""
        self.read(node, function)
        if id(function.__code__) in self._decorating:
            node.text = []

    def _follow(self, node: Node, function: types.FunctionType, read: Read) -> None:
        node.reads |= read.reads
        self.rebound.update(self._look_up(function, name)[2] for name in sorted(read.stores))
        for chain in read.chains:
            self._chain(node, function, chain)
        for each in read.imports:
            package = str(function.__globals__.get("__package__") or "")
            node.edges += import_edges(self._walk, each, package)

    def _follow_names(self, node: Node, function: types.FunctionType) -> None:
        """Without source, whatever is called as something in the code is taken for it."""
        names = names_in(function.__code__)
        node.reads |= {ASKED} if DOC in names or "getdoc" in names else set()
        node.reads |= set() if TELLERS.isdisjoint(names) else {TOLD}
        for name in function.__code__.co_freevars:
            self._chain(node, function, (OUTER, name))
        for name in names:
            value = function.__globals__.get(name, _MISSING)
            if isinstance(value, types.ModuleType) and self._walk.owners.of_module(value).user:
                chains: list[Chain] = [(OUTER, name, each) for each in names if each in vars(value)]
                for chain in chains or [(OUTER, name)]:
                    self._chain(node, function, chain)
            elif value is not _MISSING:
                self._chain(node, function, (OUTER, name))
            if self._walk.members.is_method(function):
                node.edges += self._walk.members.named(name)

    def _decorator(self, node: Node, function: types.FunctionType, read: Read) -> None:
        callee = next((chain for chain in read.chains if chain[0] == OUTER), None)
        if callee is not None:
            value = self._look_up(function, callee[1])[1]
            module = (
                value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", "")
            )
            if str(module).partition(".")[0] == ENGINE:
                return  # ``@step(num_workers=8)`` says how it is run, not what it computes
        node.text.append(f"@{read.text}")
        for chain in read.chains:
            self._chain(node, function, chain, "decorator")
            value = self._resolve(function, chain)[1] if chain[0] == OUTER else None
            if isinstance(value, types.FunctionType):
                self._decorating |= {id(code): code for code in nested_codes(value.__code__)}

    def _defaults(self, node: Node, function: types.FunctionType) -> None:
        code = function.__code__
        plain = function.__defaults__ or ()
        names = code.co_varnames[: code.co_argcount][code.co_argcount - len(plain) :]
        for name, value in (*zip(names, plain, strict=True), *(function.__kwdefaults__ or {}).items()):
            self._walk.fold(node, "default", f"{function.__name__}.{name}", value, (id(function), name))

    def _attributes(self, node: Node, function: types.FunctionType) -> None:
        """What the user has hung on a function; a run may set it, as it may an instance's attributes."""
        for name, value in sorted(vars(function).items()):
            if name != "__wrapped__" and type(value).__module__.partition(".")[0] != ENGINE:
                said = f"{function.__name__}.{name}"
                node.edges += self._walk.binding("attribute", said, value, ("function", id(function), name))

    def _chain(self, node: Node, function: types.FunctionType, chain: Chain, kind: str = "helper") -> None:
        """Add what a chain of names means."""
        members = self._walk.members
        if chain == (OUTER, DOC):
            node.text.append(str(function.__globals__.get(DOC)))
        elif DOC in chain:
            self._docstring(node, function, chain[: chain.index(DOC)])
        if chain[0] in (FIRST, SUPER):
            if members.is_method(function):
                node.edges += self._on_self(chain)
            return
        where, value, key, name, rest = self._resolve(function, chain)
        if value is _MISSING or name in _EVERYWHERE:
            return
        if isinstance(value, types.ModuleType) and rest and self._walk.owners.of_module(value).user:
            return  # an attribute that is not there yet
        if value is members.owner and rest:
            node.edges += members.named(rest[0])
            return
        if isinstance(value, (type, types.FunctionType)):  # by another name
            names = {value.__name__, f"{value.__module__}.{value.__name__}"}
            node.reads |= set() if TELLERS.isdisjoint(names) else {TOLD}
        edges = self._walk.code_edges(name, value, kind)
        node.edges += self._walk.binding(where, name, value, key) if edges is None else edges
        library = self._walk.library_name(value)
        if library:
            node.text.append(f"{'.'.join(chain)} is {library}")

    def _docstring(self, node: Node, function: types.FunctionType, chain: Chain) -> None:
        """Add the docstring of what a chain means."""
        if chain[0] == OUTER:
            _, value, _, _, rest = self._resolve(function, chain)
        elif chain[0] == FIRST and self._walk.members.is_method(function):
            value, rest = self._walk.members.value(chain[1:2]), list(chain[2:])
        else:
            node.reads.add(ASKED)
            return
        for name in rest:
            value = peek(value, name)
        node.edges += self._walk.docstring(".".join(chain[1:]) or "self", value)

    def _on_self(self, chain: Chain) -> list[Edge]:
        if len(chain) > 1:
            return self._walk.members.named(chain[1], every=chain[0] == SUPER)
        return self._walk.members.all() if chain[0] == FIRST else []

    def _resolve(self, function: types.FunctionType, chain: Chain) -> tuple[str, Any, Any, str, list[str]]:
        """Kind, value, place, last name and what is left of a chain, followed through the user's modules."""
        where, value, key = self._look_up(function, chain[1])
        name, rest = chain[1], list(chain[2:])
        while isinstance(value, types.ModuleType) and rest and self._walk.owners.of_module(value).user:
            space = vars(value)
            if rest[0] not in space:
                break
            name = rest.pop(0)
            value, key, where = space[name], (id(space), name), "constant"
        return where, value, key, name, rest

    def _look_up(self, function: types.FunctionType, name: str) -> tuple[str, Any, Any]:
        """Kind, value and place of a name from outside; the value is ``_MISSING`` where there is none."""
        if name in function.__code__.co_freevars:
            position = function.__code__.co_freevars.index(name)
            cell = (function.__closure__ or ())[position]
            value = _MISSING if name == "__class__" else closure_of(function).get(name, _MISSING)
            return "closure", value, ("cell", id(cell))
        space = function.__globals__
        return "constant", space.get(name, _MISSING), (id(space), name)
