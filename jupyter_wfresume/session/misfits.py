"""Answers that the response event refuses, told when they are given, where its class is at hand."""

from __future__ import annotations

import sys
from typing import Any

from ..codec.classes import class_ref
from ..engine import Event, answer_fields, refuse_misfit
from ..errors import UsageError
from ..records import QuestionView


def refuse(question: QuestionView, value: Any) -> None:
    """See that an answer makes the event that is waited for.

    Where another process asks, and this one does not know the class, it is seen when the answer is delivered.

    Args:
        question: what is answered.
        value: an event, or a dict of fields of the kinds that are asked for.

    Raises:
        UsageError: it does not; one sentence says why.
    """
    cls = _class_here(question.answer)
    if cls is None or not _asks_for(cls, question):
        return
    if not isinstance(value, Event):
        refuse_misfit(cls, value, question.decided)
    elif all(class_ref(one) != question.answer for one in type(value).__mro__):
        raise UsageError(
            f"an answer to '{question.text}' is a {cls.__name__}, or its fields, not a {type(value).__name__}"
        )


def _class_here(ref: str) -> type[Event] | None:
    """The class, where a module that is imported already has it; nothing is imported for it."""
    module, _, qualname = ref.partition(":")
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) and issubclass(found, Event) else None


def _asks_for(cls: type[Event], question: QuestionView) -> bool:
    """Whether it is the class that asked: another notebook may have one of that name with other fields."""
    names = {field.name for field in answer_fields(cls, question.decided)}
    return names == {field.name for field in question.fields}
