"""What a result depends on besides its input: code, and simple attributes.

Source is compared as a syntax tree without docstrings, so that comments,
formatting and the cell it stands in do not count.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import textwrap
import types
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any

from .codec import digest

LIBRARIES = ("workflows", "llama_index", "pydantic", "builtins", "abc", "typing")
"""Packages whose classes count by their version alone."""

_RANDOM_ID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_SECRET = re.compile(r"(^|_)(api_?key|key|token|secret|password|passwd|credentials?)$", re.IGNORECASE)
_ATOMS = (type(None), bool, int, float, complex, str, bytes, Decimal, date, time, timedelta, Enum, PurePath)


def digest_of(*parts: str) -> str:
    """Hexadecimal digest of some texts, 20 bytes."""
    text = "\0".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def is_simple(value: Any) -> bool:
    """Whether a value counts as a setting: plain values, and plain containers of them."""
    if isinstance(value, str) and _RANDOM_ID.fullmatch(value):
        return False
    if isinstance(value, _ATOMS):
        return True
    if type(value) in (list, tuple, set, frozenset):
        return all(is_simple(item) for item in value)
    if type(value) is dict:
        return all(is_simple(key) and is_simple(item) for key, item in value.items())
    return False


def attribute_digests(attributes: dict[str, Any]) -> dict[str, str]:
    """Digests of the simple attributes; secrets and random ids do not count."""
    return {
        name: digest(value, opaque=True)
        for name, value in attributes.items()
        if not _SECRET.search(name) and is_simple(value)
    }


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
        return _code_object(function.__code__)
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


def _code_object(code: types.CodeType) -> str:
    constants = [_code_object(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return digest_of(code.co_code.hex(), *constants, *code.co_names, *code.co_varnames)
