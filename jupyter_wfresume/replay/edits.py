"""What a user changes of a recorded input before it is replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..engine import Event
from ..errors import UsageError

Edit = Callable[[Any], Any] | Mapping[str, Any] | Event | Sequence[Event]
"""A function of the event (of the list, for a fan-in), fields to set, or the whole input."""


def edited(edit: Edit | None, events: list[Event], many: bool, label: str) -> list[Event]:
    """The input with an edit made; ``events`` may be changed in place.

    Args:
        edit: a function that changes what it is given or returns something new,
            the fields to set, an event, or for a fan-in the events.
        events: the recorded input.
        many: the step takes a list of events, or several.
        label: ``work[17]``.

    Raises:
        UsageError: the edit does not fit.
    """
    if edit is None:
        return events
    if isinstance(edit, Event):
        if many:
            raise UsageError(f"{label} takes a list of events: give all of them, not one {_name(edit)}")
        return [edit]
    if isinstance(edit, Mapping):
        if many:
            raise UsageError(f"{label} takes a list of events: edit them with a function, not with fields")
        for name, value in edit.items():
            set_field(events[0], name, value, label)
        return events
    if callable(edit):
        given = edit(events if many else events[0])
        if callable(given) and not isinstance(given, Event):
            raise UsageError(f"the edit of {label} returned a function; an event belongs there")
        return edited(given, events, many, label)
    if isinstance(edit, (list, tuple)) and all(isinstance(event, Event) for event in edit):
        return list(edit)
    raise UsageError(
        f"{label} cannot be edited with a {_name(edit)}: give a function, a dict of fields, or an event"
    )


def set_field(event: Event, name: str, value: Any, label: str) -> None:
    """Set one field of an event, checked as its class says.

    Args:
        event: the event.
        name: the field's name.
        value: what it is to be.
        label: ``work[17]``.

    Raises:
        UsageError: the class has no such field, or it cannot be this value.
    """
    cls = type(event)
    if name in cls.model_fields:
        try:
            cls.__pydantic_validator__.validate_assignment(event, name, value)
        except ValueError as error:
            raise UsageError(f"{label}: {cls.__name__}.{name} cannot be {value!r}: {_why(error)}") from error
    elif name == "result" and "_result" in (event.__pydantic_private__ or {}):
        event._result = value
    elif cls.model_fields and name not in event:
        known = ", ".join([*cls.model_fields, *map(str, event.keys())])
        raise UsageError(f"{label}: {cls.__name__} has no field '{name}'; its fields are {known}")
    else:
        event[name] = value


def _why(error: ValueError) -> str:
    """The first reason of a validation error, without the machinery around it."""
    details = getattr(error, "errors", None)
    return str(details()[0]["msg"]) if callable(details) else str(error)


def _name(value: object) -> str:
    return type(value).__name__
