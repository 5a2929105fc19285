"""Side effects that a step asked for and never awaited, so that they were never done."""

from __future__ import annotations

import inspect

from ..errors import UsageError
from . import words
from .place import HERE


def is_asking() -> bool:
    """Whether a side effect was asked for where the running code stands, and is not awaited so far."""
    place = HERE.get()
    if place is None:
        return False
    for key, (_, coroutine) in list(place.asked.items()):
        if inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED:
            # The step gave it up before it began: a task that was cancelled at once.
            place.asked.pop(key, None)
    return bool(place.asked)


def not_awaited() -> UsageError:
    """What is wrong with an execution that has ended so; they are closed, and Python does not warn."""
    place = HERE.get()
    names: list[str] = []
    while place is not None and place.asked:
        _, (name, coroutine) = place.asked.popitem()
        coroutine.close()
        names.append(name)
    return UsageError(words.not_awaited(names[::-1], "" if place is None else place.label))
