"""Reads a function's syntax tree: a text without what does not count, and the names it uses."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .documents import ASKED, DOC, TELLERS, TOLD
from .scopes import COMPREHENSIONS, Function, Scope, all_arguments, bound, inside
from .values import holds_secret

Chain = tuple[str, ...]

# Type annotations of steps count through their event classes; the fields below carry no meaning else.
_UNCOUNTED = frozenset({"ctx", "type_comment", "kind", "annotation", "returns", "type_params", "simple"})

FIRST = "first"
"""Root of a chain at the function's first parameter, such as ``self``."""
SUPER = "super"
"""Root of a chain at ``super()``."""
OUTER = "outer"
"""Root of a chain at a name from outside: a closure's or a global one."""


@dataclass(frozen=True)
class Import:
    """An import inside a function.

    Args:
        module: as written, without leading dots.
        level: number of leading dots.
        names: what ``from`` takes; empty for a plain import.
    """

    module: str
    level: int
    names: tuple[str, ...]


@dataclass
class Read:
    """What was read.

    Args:
        text: equal for equal code.
        chains: a root, then names: ``("outer", "helpers", "clean")``; in order, each once.
        stores: names from outside that the code assigns.
        imports: imports inside.
        reads: what it does with docstrings: ``TOLD``, ``ASKED``.
    """

    text: str = ""
    chains: list[Chain] = field(default_factory=list)
    stores: set[str] = field(default_factory=set)
    imports: list[Import] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)


def read_function(node: Function) -> Read:
    """Read a function without its name, decorators, defaults and annotations."""
    arguments = [argument.arg for argument in all_arguments(node.args)]
    reader = _Reader(arguments[0] if arguments else None)
    reader.function(node)
    return reader.result()


def read_expressions(nodes: Sequence[ast.AST]) -> Read:
    """Read expressions that stand outside of any function."""
    reader = _Reader(None)
    for node in nodes:
        reader.visit(node)
    return reader.result()


def read_module(tree: ast.Module) -> Read:
    """Read a whole module."""
    reader = _Reader(None)
    reader.body(tree.body)
    return reader.result()


class _Reader:
    def __init__(self, first: str | None) -> None:
        self._first = first
        self._out: list[str] = []
        self._chains: dict[Chain, None] = {}
        self._stores: set[str] = set()
        self._imports: list[Import] = []
        self._reads: set[str] = set()
        self._scopes: list[Scope] = []

    def result(self) -> Read:
        return Read("".join(self._out), list(self._chains), self._stores, self._imports, self._reads)

    def visit(self, node: ast.AST) -> None:
        special = _SPECIAL.get(type(node))
        if special is not None:
            special(self, node)
        else:
            self._generic(node)

    def _generic(self, node: ast.AST) -> None:
        out = self._out
        out.append(type(node).__name__)
        out.append("(")
        for name in node._fields:
            if name not in _UNCOUNTED:
                self._field(name, getattr(node, name, None))
        out.append(")")

    def _field(self, name: str, value: object) -> None:
        out = self._out
        if isinstance(value, ast.AST):
            self.visit(value)
        elif not isinstance(value, list):
            out.append(f"{value!r},")
        elif name in ("body", "orelse", "finalbody"):
            self.body(value)
        else:
            out.append("[")
            for item in value:
                if isinstance(item, ast.AST):
                    self.visit(item)
                else:
                    out.append(f"{item!r},")
            out.append("]")

    def body(self, statements: Iterable[ast.stmt]) -> None:
        """Read statements; ``pass`` and texts that stand alone, docstrings among them, do nothing."""
        self._out.append("{")
        for statement in statements:
            alone = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not alone and not isinstance(statement, ast.Pass):
                self.visit(statement)
        self._out.append("}")

    # Names

    def _scope_of(self, name: str) -> int:
        """Position of the scope that binds a name, -1 where none does."""
        for position in range(len(self._scopes) - 1, -1, -1):
            scope = self._scopes[position]
            if name in scope.globals:
                return -1
            if name in scope.names and (not scope.is_class or position == len(self._scopes) - 1):
                return position
        return -1

    def _root(self, node: ast.AST) -> Chain | None:
        """The root that an expression is, with what it adds to the chain; None for others."""
        if isinstance(node, ast.Name):
            position = self._scope_of(node.id)
            if position == 0 and node.id == self._first:
                return (FIRST,)
            return (OUTER, node.id) if position < 0 else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "super" and not node.keywords:
                return (SUPER,)
            if node.func.id == "type" and len(node.args) == 1 and self._root(node.args[0]) == (FIRST,):
                return (FIRST,)
        return None

    def name(self, node: ast.Name) -> None:
        self._out.append(f"N{node.id!r}")
        if isinstance(node.ctx, ast.Load):
            self._told(node.id)
            root = self._root(node)
            if root is not None:
                self._chains[root] = None
        elif self._scope_of(node.id) < 0 and self._scopes:
            self._stores.add(node.id)

    def attribute(self, node: ast.Attribute) -> None:
        names: list[str] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            names.append(base.attr)
            base = base.value
        self._told(*names, f"{base.id}.{names[-1]}" if isinstance(base, ast.Name) else "")
        self._out.append(f"A{'.'.join(names)}(")
        root = self._root(base)
        if root is None:
            if DOC in names:
                self._reads.add(ASKED)
            self.visit(base)
        else:
            self._out.append(f"N{base.id!r}" if isinstance(base, ast.Name) else ast.dump(base))
            assigned = not isinstance(node.ctx, ast.Load)
            follow = names[:0:-1] if assigned else names[::-1]
            chain = (*root, *(name for name in follow if name != "__class__"))
            if follow:
                self._chains[chain] = None
        self._out.append(")")

    def _told(self, *names: str) -> None:
        if not TELLERS.isdisjoint(names):
            self._reads.add(TOLD)

    def augmented(self, node: ast.AugAssign) -> None:
        """``x += 1`` also reads x."""
        read = ast.copy_location(_as_read(node.target), node.target)
        self.visit(read)
        self._generic(node)

    # Scopes

    def function(self, node: Function) -> None:
        """Read a function's parameters and body in a scope of its own."""
        names = all_arguments(node.args)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        scope = bound(body)
        scope.names.update(argument.arg for argument in names)
        kinds = (len(node.args.posonlyargs), len(node.args.args), len(node.args.kwonlyargs))
        marks = (node.args.vararg is not None, node.args.kwarg is not None)
        self._out.append(f"{type(node).__name__}{kinds}{marks}{[argument.arg for argument in names]}")
        self._scopes.append(scope)
        if isinstance(node, ast.Lambda):
            self.visit(node.body)
        else:
            self.body(node.body)
        self._scopes.pop()

    def nested(self, node: Function) -> None:
        if not isinstance(node, ast.Lambda):
            self._out.append(f"def {node.name!r}")
            self._field("decorators", node.decorator_list)
        defaults = [*node.args.defaults, *(item for item in node.args.kw_defaults if item is not None)]
        self._field("defaults", defaults)
        self.function(node)

    def class_(self, node: ast.ClassDef) -> None:
        self._out.append(f"class {node.name!r}")
        self._field("bases", node.bases)
        self._field("keywords", node.keywords)
        self._field("decorators", node.decorator_list)
        scope = bound(node.body)
        scope.is_class = True
        self._scopes.append(scope)
        self.body(node.body)
        self._scopes.pop()

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self._out.append(type(node).__name__)
        self.visit(node.generators[0].iter)
        targets = {
            each.id
            for generator in node.generators
            for each in inside(generator.target)
            if isinstance(each, ast.Name)
        }
        self._scopes.append(Scope(targets, set()))
        for position, generator in enumerate(node.generators):
            self._out.append(f"for {generator.is_async}")
            self.visit(generator.target)
            if position:
                self.visit(generator.iter)
            self._field("ifs", generator.ifs)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self._scopes.pop()

    def globals_(self, node: ast.Global | ast.Nonlocal) -> None:
        self._out.append(f"{type(node).__name__}{sorted(node.names)}")
        self._stores.update(name for name in node.names if self._scope_of(name) < 0)

    def import_(self, node: ast.Import) -> None:
        self._generic(node)
        self._imports += [Import(alias.name, 0, ()) for alias in node.names]

    def import_from(self, node: ast.ImportFrom) -> None:
        self._generic(node)
        names = tuple(alias.name for alias in node.names)
        self._imports.append(Import(node.module or "", node.level, names))

    # Values

    def constant(self, node: ast.Constant) -> None:
        self._out.append(f"{node.value!r},")
        if node.value == DOC:  # for ``getattr``
            self._reads.add(ASKED)

    def joined(self, node: ast.JoinedStr) -> None:
        """An f-string; texts side by side are one text."""
        self._out.append("f(")
        text = ""
        for value in node.values:
            if isinstance(value, ast.Constant):
                text += str(value.value)
                continue
            self._out.append(f"{text!r},")
            text = ""
            self.visit(value)
        self._out.append(f"{text!r})")

    def _value(self, name: object, value: ast.expr) -> None:
        if isinstance(value, ast.Constant) and holds_secret(name, value.value):
            self._out.append("secret,")
        else:
            self.visit(value)

    def keyword(self, node: ast.keyword) -> None:
        self._out.append(f"{node.arg}=")
        self._value(node.arg, node.value)

    def assign(self, node: ast.Assign) -> None:
        self._field("targets", node.targets)
        self._out.append("=")
        self._value(next(filter(None, map(_target_name, node.targets)), None), node.value)

    def annotated(self, node: ast.AnnAssign) -> None:
        """An annotation counts in a class, where it makes a field."""
        self.visit(node.target)
        if self._scopes and self._scopes[-1].is_class:
            self._out.append(":")
            self.visit(node.annotation)
        self._out.append("=")
        if node.value is not None:
            self._value(_target_name(node.target), node.value)

    def dict_(self, node: ast.Dict) -> None:
        self._out.append("Dict(")
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self._out.append("**")
            else:
                self.visit(key)
            self._value(key.value if isinstance(key, ast.Constant) else None, value)
        self._out.append(")")

    def call(self, node: ast.Call) -> None:
        """A call; ``getattr(self, "x")`` is ``self.x``."""
        named = isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr")
        root = self._root(node.args[0]) if named and len(node.args) >= 2 else None
        if root == (FIRST,) and isinstance(node.args[1], ast.Constant):
            self._chains[(FIRST, str(node.args[1].value))] = None
            self._out.append(f"{ast.dump(node.func)}{self._first!r}")
            self._field("args", node.args[1:])
            return
        if (getattr(node.func, "id", None) or getattr(node.func, "attr", None)) == "getdoc":
            for argument in node.args:  # ``getdoc(x)`` is ``x.__doc__``
                self.attribute(ast.Attribute(argument, DOC, ast.Load()))
        root = self._root(node)
        if root is not None:  # ``type(self)`` or ``super()`` by itself
            self._chains[root] = None
            self._out.append(ast.dump(node))
            return
        self._generic(node)


_SPECIAL: dict[type[ast.AST], Callable[[_Reader, Any], None]] = {
    ast.Name: _Reader.name,
    ast.Attribute: _Reader.attribute,
    ast.AugAssign: _Reader.augmented,
    ast.FunctionDef: _Reader.nested,
    ast.AsyncFunctionDef: _Reader.nested,
    ast.Lambda: _Reader.nested,
    ast.ClassDef: _Reader.class_,
    **dict.fromkeys(COMPREHENSIONS, _Reader.comprehension),
    ast.Global: _Reader.globals_,
    ast.Nonlocal: _Reader.globals_,
    ast.Import: _Reader.import_,
    ast.ImportFrom: _Reader.import_from,
    ast.Constant: _Reader.constant,
    ast.JoinedStr: _Reader.joined,
    ast.keyword: _Reader.keyword,
    ast.Assign: _Reader.assign,
    ast.AnnAssign: _Reader.annotated,
    ast.Dict: _Reader.dict_,
    ast.Call: _Reader.call,
}


def _target_name(target: ast.expr) -> str | None:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return str(target.slice.value)
    return None


def _as_read(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Attribute):
        return ast.Attribute(target.value, target.attr, ast.Load())
    return target
