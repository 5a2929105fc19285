"""The fields of a recorded event, as a form shows and reads them."""

from __future__ import annotations

import types
from typing import Any, Union, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from workflows.context.state_store import copy_state_for_edit
from workflows.events import Event

from .answers import AnswerField, choices_of, one_field


def names_of(event: Event) -> list[str]:
    """The names of what an event holds, declared fields first.

    Args:
        event: the event.
    """
    declared = list(type(event).model_fields)
    return [*declared, *(name for name in map(str, event.keys()) if name not in declared)]


def declared_field(event: Event, name: str) -> AnswerField | None:
    """How a declared field is asked for; None for one that the class does not declare.

    Args:
        event: the event.
        name: the field's name.
    """
    field = type(event).model_fields.get(name)
    return None if field is None else one_field(name, field.annotation, field.is_required())


def may_be_none(event: Event, name: str) -> bool:
    """Whether a declared field takes None.

    Args:
        event: the event.
        name: the field's name.
    """
    field = type(event).model_fields.get(name)
    return field is not None and type(None) in _kinds(field.annotation)


def words_of_choice(event: Event, name: str) -> str | None:
    """The words that stand for the value of a field with fixed choices; None where none do.

    Args:
        event: the event.
        name: the field's name.
    """
    value = getattr(event, name)
    for words, choice in _choices(event, name).items():
        if type(choice) is type(value) and choice == value:
            return words
    return None


def choice_of_words(event: Event, name: str, words: Any) -> Any:
    """The value that the words of a choice stand for; all else as it is.

    Args:
        event: the event.
        name: the field's name.
        words: what was chosen.
    """
    return _choices(event, name).get(words, words) if isinstance(words, str) else words


def as_json(event: Event, name: str) -> Any:
    """The value of a field in terms of JSON: lists, dicts, text, numbers, truth values and None.

    Args:
        event: the event.
        name: the field's name.

    Raises:
        ValueError: there is no such form of it.
        TypeError: likewise.
    """
    field = type(event).model_fields.get(name)
    if field is None:
        return event[name]
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(Any if field.annotation is None else field.annotation)
    except PydanticUserError as error:
        raise TypeError(f"{name} is of a type that has no form in JSON") from error
    return adapter.dump_python(getattr(event, name), mode="json", warnings=False)


def copied(event: Event) -> Event:
    """A copy of an event that may be changed.

    Args:
        event: the event.
    """
    copy: Event = copy_state_for_edit(event)
    return copy


def _choices(event: Event, name: str) -> dict[str, Any]:
    field = type(event).model_fields.get(name)
    if field is None:
        return {}
    kinds = [one for one in _kinds(field.annotation) if one is not type(None)]
    return choices_of(kinds[0]) if len(kinds) == 1 else {}


def _kinds(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) in (Union, types.UnionType):
        return get_args(annotation)
    return (annotation,)
