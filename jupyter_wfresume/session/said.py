"""What a person says, as the fields of an answer; the class itself need not be known here."""

from __future__ import annotations

import difflib
from enum import Enum
from typing import Any

from ..engine import Event
from ..errors import UsageError
from ..records import FieldView, QuestionView
from .written import kept, literal

_YES = frozenset({"true", "yes", "y", "on", "1"})
_NOTHING = ("", "None", "null")
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
    known = {field.name: field for field in fields}
    value = _by_name(question, value)
    if fields and fields[0].kind != "any":
        _refuse_others(question, value, list(known))
        missing = [field.name for field in fields if field.required and field.name not in value]
        if missing:
            raise UsageError(f"an answer to '{question.text}' needs {' and '.join(missing)} too")
    return {
        name: read_field(known[name], said) if name in known else kept(said, False)
        for name, said in value.items()
    }


def _refuse_others(question: QuestionView, value: dict[Any, Any], known: list[str]) -> None:
    """A name that the response event does not declare would be kept, and looked at by no step."""
    for name in value:
        if name in known or name in question.decided:
            continue
        near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.6)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(
            f"an answer to '{question.text}' has no field {str(name)!r:.100}; it has {', '.join(known)}{hint}"
        )


def _is_one_fields(fields: tuple[FieldView, ...], value: dict[Any, Any]) -> bool:
    """Whether a dict is the value of the one field, not a dict of fields."""
    if len(fields) != 1 or fields[0].kind != "json":
        return False
    return fields[0].name not in value and (not fields[0].alias or fields[0].alias not in value)


def _by_name(question: QuestionView, value: dict[Any, Any]) -> dict[Any, Any]:
    """The fields by their own names, also those that were said by an alias."""
    names = {field.alias: field.name for field in question.fields if field.alias}
    for alias, name in names.items():
        if alias != name and alias in value and name in value:
            raise UsageError(f"an answer to '{question.text}' has {name} twice: as {name} and as {alias}")
    return {names.get(name, name): said for name, said in value.items()}


def _only(question: QuestionView) -> FieldView:
    wanted = [field for field in question.fields if field.required] or list(question.fields)
    if len(wanted) == 1:
        return wanted[0]
    said = ", ".join(f'"{field.name}": …' for field in question.fields)
    raise UsageError(f"an answer to '{question.text}' has several fields: give a dict of them, {{{said}}}")


def read_field(field: FieldView, said: Any) -> Any:
    """What was said for one field, of the kind that it asks for.

    Args:
        field: what is asked for.
        said: a value, or words that stand for one.

    Raises:
        UsageError: it is of another kind.
    """
    if said is None and (field.none or not field.required):
        return None
    if field.kind == "choice":
        if isinstance(said, Enum) and str(said) not in field.choices:
            said = said.value
        if field.none and str(said) not in field.choices and _is_nothing(said):
            return None
        if str(said) not in field.choices:
            raise UsageError(f"{field.name} is one of {', '.join(field.choices)}, not {said!r}")
        return str(said)
    if field.kind == "json":
        return kept(literal(said) if isinstance(said, str) else said, field.exact)
    if field.none and field.kind != "text" and _is_nothing(said):
        return None
    if field.kind == "text" and not isinstance(said, str):
        raise UsageError(f"{field.name} is text, not {said!r}")
    if field.kind not in _KINDS:
        return said
    read = _number(field.kind, said)
    if read is None:
        raise UsageError(f"{field.name} is {_KINDS[field.kind]}, not {said!r}")
    return read


def _is_nothing(said: Any) -> bool:
    return isinstance(said, str) and said.strip() in _NOTHING


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
