"""One answer for one waiter, and what an answer is made of.

The engine lets an event resolve every waiter of its type. Each waiter gets a
requirement of ours that an event without a name on it meets, so that what the
body sends keeps the engine's meaning, and an answer with a name on it meets
only if it is the waiter's own.
"""

from __future__ import annotations

import types
from collections.abc import Collection
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo
from workflows.events import Event, HumanResponseEvent
from workflows.runtime.types.results import AddWaiter

from ..errors import UsageError

KEY = "_wfresume_answers"
"""Name of the requirement, and of the mark on an answer while it is delivered."""


class AnswerKey:
    """Met by an event without a mark, and by one that is marked for this waiter.

    Args:
        key: names the waiter.
    """

    def __init__(self, key: str) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return other is None or other == self.key or (isinstance(other, AnswerKey) and other.key == self.key)

    def __hash__(self) -> int:
        return hash(self.key)


def waiter_key(step: str, waiter_id: str) -> str:
    """The name of a waiter."""
    return f"{step}/{waiter_id}"


def keyed(waiter: AddWaiter[Event], step: str) -> AddWaiter[Event]:
    """A waiter with our requirement on it."""
    wanted = {**waiter.requirements, KEY: AnswerKey(waiter_key(step, waiter.waiter_id))}
    return waiter.model_copy(update={"requirements": wanted})


def own_requirements(requirements: dict[str, Any]) -> dict[str, Any]:
    """The user's requirements, without ours."""
    return {name: value for name, value in requirements.items() if name != KEY}


def mark(event: Event, key: str) -> None:
    """Name the waiter that an answer is for, while the answer is on its way."""
    event._data[KEY] = key


def unmark(event: Event) -> str | None:
    """Take the name off again; None where there is none."""
    taken = event._data.pop(KEY, None)
    return taken if isinstance(taken, str) else None


@dataclass(frozen=True)
class AnswerField:
    """One thing that an answer says.

    Args:
        name: of the response event's field.
        kind: how it is asked for.
        choices: what may be said, where that is fixed.
        required: it has no default.
        alias: another name of it; else empty.
        none: it may be None.
        exact: numbers in it are taken as they are written, not as the nearest float.
    """

    name: str
    kind: Literal["text", "int", "float", "bool", "choice", "json", "any"]
    choices: tuple[str, ...] = ()
    required: bool = True
    alias: str = ""
    none: bool = False
    exact: bool = False


_KINDS: dict[Any, Literal["text", "int", "float", "bool"]] = {
    str: "text",
    int: "int",
    float: "float",
    bool: "bool",
}


def answer_fields(cls: type[Event], requirements: Collection[str] = ()) -> tuple[AnswerField, ...]:
    """What an answer of a class says: its declared fields, or ``response``.

    Args:
        cls: the class.
        requirements: fields that the waiter has decided already.
    """
    found = tuple(
        replace(one_field(name, field.annotation, field.is_required()), alias=alias_of(field))
        for name, field in cls.model_fields.items()
        if name not in requirements
    )
    return found if cls.model_fields else (AnswerField("response", "any"),)


def one_field(name: str, annotation: Any, required: bool) -> AnswerField:
    """How a field is asked for.

    Args:
        name: the field's name.
        annotation: its type; that it may be None changes no kind.
        required: it has no default.
    """
    none = annotation is type(None)
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [one for one in get_args(annotation) if one is not type(None)]
        none = len(kinds) < len(get_args(annotation))
        annotation = kinds[0] if len(kinds) == 1 else annotation
    choices = choices_of(annotation)
    if choices:
        return AnswerField(name, "choice", tuple(choices), required, none=none)
    kind: Literal["text", "int", "float", "bool", "json"] = _KINDS.get(annotation, "json")
    return AnswerField(name, kind, (), required, none=none, exact=_has_decimals(annotation, set()))


def _has_decimals(annotation: Any, seen: set[type]) -> bool:
    if annotation is Decimal:
        return True
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in seen:
        seen.add(annotation)
        return any(_has_decimals(field.annotation, seen) for field in annotation.model_fields.values())
    return any(_has_decimals(one, seen) for one in get_args(annotation))


def alias_of(field: FieldInfo) -> str:
    """The name, other than its own, that pydantic takes a field by; empty where there is none."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        alias = next((one for one in alias.choices if isinstance(one, str)), None)
    return alias if isinstance(alias, str) else ""


def choices_of(annotation: Any) -> dict[str, Any]:
    """By the words that stand for it, each value that a field may have; empty where any may be."""
    if get_origin(annotation) is Literal:
        return {str(one): one for one in get_args(annotation)}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {str(one.value): one for one in annotation}
    return {}


def answer_event(cls: type[Event], value: Any, requirements: dict[str, Any]) -> Event:
    """The event that an answer becomes.

    Args:
        cls: the class that is waited for.
        value: such an event, a dict of its fields, or the value of its one field.
        requirements: what the waiter wants of it; filled in where the answer does not say.

    Raises:
        UsageError: the value does not fit.
    """
    if isinstance(value, cls):
        return _required(value, requirements)
    if not isinstance(value, dict):
        fields = answer_fields(cls, requirements)
        wanted = [f for f in fields if f.required] or list(fields)
        if len(wanted) != 1:
            names = ", ".join(f.name for f in fields)
            raise UsageError(f"an answer of {cls.__name__} has several fields ({names}): give a dict of them")
        value = {wanted[0].name: value}
    try:
        made = _made(cls, {**requirements, **value})
    except Exception as error:  # the class is the user's, and may refuse in any way
        raise UsageError(f"the answer does not fit {cls.__name__}: {_first(error)}") from error
    return _required(made, requirements)


def refuse_misfit(cls: type[Event], value: dict[str, Any], decided: Collection[str]) -> None:
    """See that the fields of an answer make an event.

    Args:
        cls: the class that is waited for.
        value: the fields.
        decided: names that the waiter gives values for, which are not known here.

    Raises:
        UsageError: they do not; one sentence says why.
    """
    try:
        _made(cls, value)
    except Exception as error:  # the class is the user's, and may refuse in any way
        said = _first(error, decided)
        if said:
            raise UsageError(f"the answer does not fit {cls.__name__}: {said}") from error


def _first(error: Exception, decided: Collection[str] = ()) -> str:
    """What is wrong first; empty where all that is wrong is that decided names have no value."""
    if not isinstance(error, ValidationError):
        return str(error) or type(error).__name__
    for one in error.errors():
        if not (one["type"] == "missing" and one["loc"][0] in decided):
            where = ".".join(str(part) for part in one["loc"])
            return f"{where}: {one['msg']}" if where else one["msg"]
    return ""


def _made(cls: type[Event], value: dict[str, Any]) -> Event:
    fields = {name: _meant(cls, name, said) for name, said in value.items()}
    aliases = {name: alias for name, field in cls.model_fields.items() if (alias := alias_of(field))}
    by_name = any(cls.model_config.get(one) for one in ("populate_by_name", "validate_by_name"))
    if by_name or not aliases:
        return cls(**fields)
    # The engine's own `__init__` takes fields by name alone, and pydantic these by alias alone.
    event = cls.__new__(cls)
    declared = {name: said for name, said in fields.items() if name in cls.model_fields}
    BaseModel.__init__(event, **{aliases.get(name, name): said for name, said in declared.items()})
    event._data.update({name: said for name, said in fields.items() if name not in declared})
    return event


def _required(event: Event, requirements: dict[str, Any]) -> Event:
    """The event, which has what the waiter wants of it; another one would answer nobody."""
    for name, wanted in requirements.items():
        if name in type(event).model_fields:
            raise UsageError(
                f"nothing can answer it: the engine looks for {name} only among what {type(event).__name__} "
                "does not declare; take it out of the class, or out of the requirements"
            )
        if event.get(name, default=None) != wanted:
            raise UsageError(f"the question is for a {type(event).__name__} with {name}={wanted!r}")
    return event


def _meant(cls: type[Event], name: str, said: Any) -> Any:
    """The value that the words of a choice stand for; all else as it is."""
    field = cls.model_fields.get(name)
    if field is None or not isinstance(said, str):
        return said
    kinds = [field.annotation]
    if get_origin(field.annotation) in (Union, types.UnionType):
        kinds = [one for one in get_args(field.annotation) if one is not type(None)]
    return choices_of(kinds[0]).get(said, said) if len(kinds) == 1 else said


def response_class(accepted: list[type[Event]]) -> type[Event]:
    """The class that answers a question without a waiter: the one response that a step takes."""
    responses = {cls for cls in accepted if issubclass(cls, HumanResponseEvent)}
    return responses.pop() if len(responses) == 1 else HumanResponseEvent
