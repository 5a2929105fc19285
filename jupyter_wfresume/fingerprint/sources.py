"""Finds the syntax tree of a function that is in memory, and proves that it is the function's."""

from __future__ import annotations

import ast
import linecache
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any

from .bytecode import nested_codes, same_code
from .reader import Read, read_expressions, read_function
from .scopes import Function, inside

_FUTURES = 0x1FE0000
"""Flags of ``from __future__``: a cell inherits them from earlier cells."""


@dataclass
class FunctionSource:
    """A function as it is written.

    Args:
        node: its syntax tree.
    """

    node: Function

    @cached_property
    def read(self) -> Read:
        """The function without its decorators."""
        return read_function(self.node)

    @cached_property
    def decorators(self) -> list[Read]:
        """Its decorators, outermost first."""
        if isinstance(self.node, ast.Lambda):
            return []
        return [read_expressions([each]) for each in self.node.decorator_list]


class Text:
    """A cell or a file: its functions, and the code objects they compile to."""

    def __init__(self, source: str, flags: int) -> None:
        options = flags & _FUTURES | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user has seen the warnings about their text already
            tree: Any = compile(source, "", "exec", options | ast.PyCF_ONLY_AST, dont_inherit=True)
            # A cell is compiled statement by statement, and a call of what the same text imports
            # (``random.random()`` below ``import random``) compiles to other code then.
            parts = [tree, *([ast.Module([each], []) for each in tree.body] if _imports(tree) else [])]
            codes: list[CodeType] = [compile(part, "", "exec", options, dont_inherit=True) for part in parts]
        self._codes: dict[str, list[CodeType]] = {}
        for each in (nested for code in codes for nested in nested_codes(code)):
            self._codes.setdefault(each.co_name, []).append(each)
        self._tree = tree
        self._functions: dict[tuple[str, int], list[FunctionSource]] = {}
        self._add(_definitions(tree))
        self._has_lambdas = "<lambda>" not in self._codes

    def _add(self, nodes: Iterable[Function]) -> None:
        for node in nodes:
            self._functions.setdefault(_place(node), []).append(FunctionSource(node))

    def find(self, code: CodeType) -> FunctionSource | None:
        """The function whose code is the same, the nearest of several; None where there is none."""
        same = [each for each in self._codes.get(code.co_name, ()) if same_code(each, code)]
        if not same:
            return None
        nearest = min(same, key=lambda each: abs(each.co_firstlineno - code.co_firstlineno))
        if (
            code.co_name == "<lambda>" and not self._has_lambdas
        ):  # they may stand anywhere: looked for if needed
            self._has_lambdas = True
            self._add(node for node in inside(self._tree) if isinstance(node, ast.Lambda))
        found = self._functions.get((code.co_name, nearest.co_firstlineno), [])
        if len(found) > 1:
            moved = nearest.co_firstlineno - code.co_firstlineno
            found = [each for each in found if _holds(each.node, code, moved)]
            found.sort(key=lambda each: _width(each.node))
        return found[0] if found else None


def _imports(tree: ast.Module) -> bool:
    return any(isinstance(each, (ast.Import, ast.ImportFrom)) for each in tree.body)


def _definitions(tree: ast.AST) -> Iterator[Function]:
    """All ``def``s; they stand in blocks, so that expressions need not be looked at."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                left += block


def _place(node: Function) -> tuple[str, int]:
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    first = node.decorator_list[0] if node.decorator_list else node
    return node.name, first.lineno


def _holds(node: Function, code: CodeType, moved: int) -> bool:
    """Whether all of the code lies within the node; Python 3.10 does not say where code lies."""
    positions: Any = getattr(code, "co_positions", None)
    if positions is None:
        return False
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    spans = [
        ((line + moved, column), (last_line + moved, last_column))
        for line, last_line, column, last_column in positions()
        if None not in (line, last_line, column, last_column) and last_column
    ]
    return bool(spans) and all(start <= first and last <= end for first, last in spans)


def _width(node: Function) -> tuple[int, int]:
    return (node.end_lineno or 0) - node.lineno, (node.end_col_offset or 0) - node.col_offset


@lru_cache(maxsize=64)
def _text(source: str, flags: int) -> Text | None:
    """Remembered by content: a cell is the same in the next call, and costs 1 ms for 60 lines."""
    try:
        return Text(source, flags)
    except (SyntaxError, ValueError, RecursionError):
        return None


class Sources:
    """Finds functions' sources, each code object once."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[CodeType, FunctionSource | None]] = {}
        self._joined: dict[str, str] = {}

    def find(self, code: CodeType, module_globals: dict[str, Any]) -> FunctionSource | None:
        """The source of a code object; None where there is none, or where it is no longer this code's.

        Args:
            code: the function's.
            module_globals: of its module, for a loader that holds the source.
        """
        known = self._found.get(id(code))
        if known is None:
            known = code, self._find(code, module_globals)
            self._found[id(code)] = known
        return known[1]

    def _find(self, code: CodeType, module_globals: dict[str, Any]) -> FunctionSource | None:
        name = code.co_filename
        if name not in self._joined:
            self._joined[name] = "".join(linecache.getlines(name, module_globals))
        found = self._search(code)
        if found is None:
            # The module was loaded again, and what is remembered is the file as it was before.
            linecache.checkcache(name)
            fresh = "".join(linecache.getlines(name, module_globals))
            if fresh != self._joined[name]:
                self._joined[name] = fresh
                found = self._search(code)
        return found

    def _search(self, code: CodeType) -> FunctionSource | None:
        source = self._joined[code.co_filename]
        text = _text(source, code.co_flags & _FUTURES) if source else None
        return None if text is None else text.find(code)
