"""What a user changes of a recorded input before it is replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..codec import digest, unknown_names
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
        raise UsageError(_no_field(event, name, label))
    else:
        event[name] = value


def check_changes(
    recorded: Sequence[Event], given: Sequence[Event], left: Sequence[Event], label: str
) -> None:
    """Refuse what an edit has set that a class does not have or take; what it left alone may be as it is.

    Args:
        recorded: the input as it is on record.
        given: the same, as it was handed to the edit.
        left: what the edit left; a changed value gets the type that its class reads it as.
        label: ``work[17]``.

    Raises:
        UsageError: a field is unknown, or cannot be the value that it was set to.
    """
    place = {id(event): at for at, event in enumerate(given)}
    same_length = len(left) == len(recorded)
    for at, event in enumerate(left):
        at = place.get(id(event), at if same_length else -1)
        if at >= 0 and type(recorded[at]) is type(event):
            _check_one(recorded[at], event, label)


def _check_one(recorded: Event, event: Event, label: str) -> None:
    cls, before, after = type(event), _held(recorded), _held(event)
    for name, value in after.items():
        if name in before and _same(before[name], value):
            continue
        if name in cls.model_fields:
            trial = event.model_copy()
            try:
                cls.__pydantic_validator__.validate_assignment(trial, name, value)
            except ValueError as error:
                if _is_frozen(error):
                    continue
                raise UsageError(
                    f"{label}: {cls.__name__}.{name} cannot be {value!r}: {_why(error)}"
                ) from error
            if type(trial.__dict__[name]) is not type(value):
                event.__dict__[name] = trial.__dict__[name]
        elif name not in before and unknown_names(cls, [name]):
            raise UsageError(_no_field(recorded, name, label))


def _held(event: Event) -> dict[str, Any]:
    extra = event.__pydantic_extra__ or {}
    return {**event.__dict__, **extra, **{str(name): value for name, value in event.items()}}


def _same(old: Any, new: Any) -> bool:
    return old is new or digest(old, opaque=True) == digest(new, opaque=True)


def _is_frozen(error: ValueError) -> bool:
    """Whether only assignment is refused: such an event was made anew, and its class has read the value."""
    details = getattr(error, "errors", None)
    return callable(details) and str(details()[0]["type"]).startswith("frozen")


def _no_field(event: Event, name: str, label: str) -> str:
    known = ", ".join([*type(event).model_fields, *map(str, event.keys())])
    return f"{label}: {type(event).__name__} has no field '{name}'; its fields are {known}"


def _why(error: ValueError) -> str:
    """The first reason of a validation error, without the machinery around it."""
    details = getattr(error, "errors", None)
    return str(details()[0]["msg"]) if callable(details) else str(error)


def _name(value: object) -> str:
    return type(value).__name__
