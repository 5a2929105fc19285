"""What a person says, as the fields of an answer; the class itself need not be known here."""

from __future__ import annotations

import ast
import json
from typing import Any

from ..engine import Event
from ..errors import UsageError
from ..records import FieldView, QuestionView

_YES = frozenset({"true", "yes", "y", "on", "1"})
_NO = frozenset({"false", "no", "n", "off", "0"})
_KINDS = {"int": "a whole number", "float": "a number", "bool": "yes or no"}


def fitted(question: QuestionView, value: Any) -> Any:
    """The answer as an event, or as a dict of its fields, each of the kind that is asked for.

    Args:
        question: what is answered.
        value: an event, a dict of fields, or the value of the one field; words stand for numbers,
            yes and no, and choices.

    Raises:
        UsageError: it does not fit; one sentence says what does.
    """
    if isinstance(value, Event):
        return value
    fields = question.fields
    if not isinstance(value, dict) or _is_one_fields(fields, value):
        value = {_only(question).name: value} if fields else {}
    missing = [field.name for field in fields if field.required and field.name not in value]
    if missing and fields[0].kind != "any":
        raise UsageError(f"an answer to '{question.text}' needs {' and '.join(missing)} too")
    known = {field.name: field for field in fields}
    return {name: _read(known[name], said) if name in known else said for name, said in value.items()}


def _is_one_fields(fields: tuple[FieldView, ...], value: dict[Any, Any]) -> bool:
    """Whether a dict is the value of the one field, not a dict of fields."""
    return len(fields) == 1 and fields[0].kind == "json" and fields[0].name not in value


def _only(question: QuestionView) -> FieldView:
    wanted = [field for field in question.fields if field.required] or list(question.fields)
    if len(wanted) == 1:
        return wanted[0]
    said = ", ".join(f'"{field.name}": …' for field in question.fields)
    raise UsageError(f"an answer to '{question.text}' has several fields: give a dict of them, {{{said}}}")


def _read(field: FieldView, said: Any) -> Any:
    if said is None and not field.required:
        return None
    if field.kind == "choice":
        if str(said) not in field.choices:
            raise UsageError(f"{field.name} is one of {', '.join(field.choices)}, not {said!r}")
        return str(said)
    if field.kind == "json":
        return literal(said) if isinstance(said, str) else said
    if field.kind == "text" and not isinstance(said, str):
        raise UsageError(f"{field.name} is text, not {said!r}")
    if field.kind not in _KINDS:
        return said
    read = _number(field.kind, said)
    if read is None:
        raise UsageError(f"{field.name} is {_KINDS[field.kind]}, not {said!r}")
    return read


def _number(kind: str, said: Any) -> int | float | bool | None:
    if kind == "bool":
        word = str(said).strip().lower()
        return True if word in _YES else False if word in _NO else None
    if isinstance(said, bool):
        return None
    try:
        number = float(said)
        if kind == "float":
            return number
        return int(said) if isinstance(said, str) or number == int(number) else None
    except (TypeError, ValueError, OverflowError):
        return None


def literal(text: str) -> Any:
    """The value that text stands for in JSON or Python; text that is neither stands for itself."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue  # the next reader, or plain text
    return text
