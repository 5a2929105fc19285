"""A workflow class as one digest: what tells a finished call's class from an edited one."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from typing import Any

from ..codec import digest
from .bytecode import code_text
from .values import digest_of, is_simple

LIBRARIES = ("workflows", "llama_index", "pydantic", "builtins", "abc", "typing")
"""Packages whose classes count by their version alone."""


def class_code(cls: type, free_functions: dict[str, Any]) -> str:
    """Digest of a workflow class's source: its own, its bases' and its free steps'.

    Args:
        cls: the class.
        free_functions: steps added to it from outside.
    """
    parts: list[str] = []
    for base in cls.__mro__:
        if base.__module__.split(".")[0] in LIBRARIES:
            continue
        for name, member in sorted(vars(base).items()):
            said = _member(member)
            if said is not None and name not in ("__module__", "__qualname__", "__doc__", "__firstlineno__"):
                parts += [name, said]
    for name, function in sorted(free_functions.items()):
        parts += [name, _member(function) or ""]
    return digest_of(*parts)


def _member(member: Any) -> str | None:
    if isinstance(member, (staticmethod, classmethod)):
        return _member(member.__func__)
    if isinstance(member, property):
        return "".join(_member(f) or "" for f in (member.fget, member.fset, member.fdel) if f is not None)
    function = inspect.unwrap(member) if callable(member) else member
    if isinstance(function, types.FunctionType):
        return function_code(function)
    if is_simple(member):
        return digest(member, opaque=True)
    return None


def function_code(function: types.FunctionType) -> str:
    """Digest of a function's source, or of its byte code where there is no source."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(source)
    except (OSError, TypeError, SyntaxError, IndentationError):
        return digest_of(code_text(function.__code__))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            _drop_docstring(node)
    return digest_of(ast.dump(tree))


def _drop_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    first = node.body[0] if node.body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        node.body = node.body[1:] or [ast.Pass()]
