"""Values as a person writes them, in JSON or as in Python; a number keeps how it was written."""

from __future__ import annotations

import ast
import json
from decimal import Decimal
from typing import Any


class Written(float):
    """A number with a point or an exponent.

    Args:
        text: as it was written.
    """

    def __new__(cls, text: str) -> Written:
        """The nearest float, with its text."""
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str


class _Texts(ast.NodeTransformer):
    """Puts into the place of each number in an expression what it is written as."""

    def __init__(self, source: str) -> None:
        self._source = source

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if type(node.value) is not float:
            return node
        text = ast.get_source_segment(self._source, node)
        return node if text is None else ast.Constant(Written(text))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        number = self.visit(node.operand)
        if not isinstance(number, ast.Constant) or not isinstance(number.value, Written):
            return node
        return ast.Constant(Written(f"{'-' if isinstance(node.op, ast.USub) else ''}{number.value.text}"))


def _from_json(text: str) -> Any:
    return json.loads(text, parse_float=Written)


def _from_python(text: str) -> Any:
    text = text.lstrip(" \t")
    return ast.literal_eval(_Texts(text).visit(ast.parse(text, mode="eval")))


def literal(text: str) -> Any:
    """The value that text stands for in JSON or Python; text that is neither stands for itself.

    Args:
        text: as typed. Numbers in it know how they were written; `kept` makes plain ones of them.
    """
    for read in (_from_json, _from_python):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue  # the next reader, or plain text
    return text


def kept(value: Any, exact: bool) -> Any:
    """A value of `literal` as it is kept: its numbers are floats, or what was written, as decimals.

    Args:
        value: the value; lists, tuples and dicts are looked into.
        exact: as they were written.
    """
    if isinstance(value, Written):
        return Decimal(value.text.replace("_", "")) if exact else float(value)
    if type(value) in (list, tuple):
        return type(value)(kept(one, exact) for one in value)
    if type(value) is dict:
        return {name: kept(one, exact) for name, one in value.items()}
    return value
