"""Code objects: compared, and digested where a function has no source."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

_HAS_DOCSTRING = 0x4000000  # CO_HAS_DOCSTRING, from Python 3.14 on


def same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same, wherever they stand."""
    return (
        one.co_code == other.co_code
        and one.co_names == other.co_names
        and one.co_varnames == other.co_varnames
        and one.co_freevars == other.co_freevars
        and one.co_cellvars == other.co_cellvars
        and len(one.co_consts) == len(other.co_consts)
        and all(map(_same_constant, one.co_consts, other.co_consts))
    )


def _same_constant(one: Any, other: Any) -> bool:
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return same_code(one, other)
    return type(one) is type(other) and _constant_text(one) == _constant_text(other)


def code_text(code: CodeType) -> str:
    """What a code object does, as a text that does not depend on where it stands.

    It differs between versions of Python, and in rare cases with line breaks in the source.
    """
    constants = [_constant_text(constant) for constant in code.co_consts]
    if _has_docstring(code):
        constants[0] = ""
    head = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    table = getattr(code, "co_exceptiontable", b"")
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return f"{head}{names}{code.co_code.hex()}{table.hex()}[{','.join(constants)}]"


def _constant_text(constant: Any) -> str:
    if isinstance(constant, CodeType):
        return code_text(constant)
    if isinstance(constant, frozenset):  # its order differs from process to process
        return f"frozenset({sorted(map(_constant_text, constant))})"
    if isinstance(constant, tuple):
        return f"({','.join(map(_constant_text, constant))})"
    return repr(constant)


def _has_docstring(code: CodeType) -> bool:
    if not code.co_consts or not isinstance(code.co_consts[0], str) or code.co_name.startswith("<"):
        return False
    if sys.version_info >= (3, 14):
        return bool(code.co_flags & _HAS_DOCSTRING)
    return bool(code.co_flags & inspect.CO_OPTIMIZED)


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all that it holds."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_codes(constant)


def names_in(code: CodeType) -> tuple[str, ...]:
    """All global, attribute and module names that a code object mentions."""
    return tuple(dict.fromkeys(name for each in nested_codes(code) for name in each.co_names))
