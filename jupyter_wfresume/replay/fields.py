"""A recorded input as a form: what stands in its fields, and what a person puts there instead."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..codec import digest
from ..engine import Event
from ..engine.fields import (
    as_json,
    choice_of_words,
    copied,
    declared_field,
    may_be_none,
    names_of,
    words_of_choice,
)
from ..errors import CannotKeepError, UsageError
from ..records import FieldView, InputField
from .edits import set_field
from .pretty import brief

Edits = Mapping[tuple[int, str], Any]
"""By number of the event and name of the field, what a person left in the field."""

LONGEST = 100_000
"""Characters of one field that a form shows for editing."""
_WHOLE = 2**53
"""Whole numbers from here on are not exact in a browser."""
_KINDS: dict[type, str] = {str: "text", bool: "bool", int: "int", float: "float"}


def input_fields(event: Event) -> tuple[InputField, ...]:
    """The fields of a recorded event, each with what stands in it.

    A value is shown as JSON only if the JSON gives the very same value back.

    Args:
        event: the event.
    """
    return tuple(_field(event, name) for name in names_of(event))


def misfits(events: Sequence[Event], edits: Edits, label: str) -> dict[tuple[int, str], str]:
    """One sentence for each edit that does not fit; the events stay as they are.

    Args:
        events: the recorded input.
        edits: what a person left in the fields.
        label: ``work[17]``.
    """
    found = {}
    copies: dict[int, Event] = {}
    for (number, name), said in edits.items():
        event = copies.setdefault(number, copied(events[number]))
        try:
            _put(event, name, said, label)
        except UsageError as error:
            found[number, name] = str(error).removeprefix(f"{label}: ")
    return found


def edit_of(edits: Edits, label: str) -> Callable[[Any], None] | None:
    """The edit that `replay` takes; None where nothing was changed.

    Args:
        edits: what a person left in the fields.
        label: ``work[17]``.
    """
    if not edits:
        return None

    def change(given: Any) -> None:
        events = given if isinstance(given, list) else [given]
        for (number, name), said in edits.items():
            _put(events[number], name, said, label)

    return change


def _field(event: Event, name: str) -> InputField:
    value = getattr(event, name)
    view, optional = _view(event, name, value), may_be_none(event, name)
    if view.kind == "choice":
        value = words_of_choice(event, name)
        fits = value is not None or (optional and getattr(event, name) is None)
    elif value is None:
        fits = optional and view.kind != "json"
    else:
        fits = view.kind != "json" and _is_plain(view.kind, value)
    if fits:
        return InputField(view, value, optional)
    text = _json_text(event, name)
    if text is None:
        return InputField(view, optional=optional, fixed=_in_short(getattr(event, name)))
    return InputField(dataclasses.replace(view, kind="json", choices=()), text, optional)


def _in_short(value: Any) -> str:
    said = brief(value)
    name = type(value).__name__
    return said if said.startswith((name, "[", "{", "(")) else f"{name}: {said}"


def _view(event: Event, name: str, value: Any) -> FieldView:
    declared = declared_field(event, name)
    if declared is not None:
        return FieldView(**dataclasses.asdict(declared))
    return FieldView(name, _KINDS.get(type(value), "json"))


def _is_plain(kind: str, value: Any) -> bool:
    """Whether a control of this kind holds the value exactly."""
    if _KINDS.get(type(value)) != kind:
        return False
    if isinstance(value, str):
        # A browser knows one kind of line end; `_read` puts back the other kind where it was the only one.
        return len(value) <= LONGEST and "\r" not in value.replace("\r\n", "")
    return math.isfinite(value) and abs(value) < _WHOLE


def _json_text(event: Event, name: str) -> str | None:
    """The value as JSON text, or None where that would not give the same value back."""
    value = getattr(event, name)
    try:
        made = as_json(event, name)
        text = json.dumps(made, ensure_ascii=False)
        again = copied(event)
        _put(again, name, text, "")
        same = type(getattr(again, name)) is type(value) and digest(getattr(again, name)) == digest(value)
    except (ValueError, TypeError, RecursionError, UsageError, CannotKeepError):
        return None
    if not same or len(text) > LONGEST:
        return None
    return text if len(text) <= 60 else json.dumps(made, ensure_ascii=False, indent=2)


def _put(event: Event, name: str, said: Any, label: str) -> None:
    set_field(event, name, _read(event, name, said), label)


def _read(event: Event, name: str, said: Any) -> Any:
    """The value that is meant by what stands in a field.

    Raises:
        UsageError: it is no JSON.
    """
    declared = declared_field(event, name)
    kind = declared.kind if declared is not None else _KINDS.get(type(getattr(event, name)), "json")
    if said == "" and kind != "text":
        said = "null"
    if said == "" and may_be_none(event, name):
        return None
    if kind == "choice":
        return choice_of_words(event, name, said)
    if not isinstance(said, str):
        return said
    if kind == "text":
        ends = "\r\n" if "\r\n" in str(getattr(event, name)) else "\n"
        return ends.join(said.split("\r\n" if "\r\n" in said else "\n"))
    try:
        return json.loads(said)
    except (ValueError, RecursionError) as error:
        what = f"a number: {said!r}" if kind in ("int", "float") else f"JSON: {error}"
        raise UsageError(f"{name} is not {what}") from None
