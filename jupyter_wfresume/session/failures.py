"""A failure as the board and the header show it: the user's part first."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..records import ErrorView, FailureView
from ..replay.traces import own_frames, own_place, where
from ..runtime import Flight

KINDS = 6
"""Errors that are told apart; executions with others are counted."""
EACH = 6
"""Executions with the same error that are shown; the others are counted."""
INPUT = 200
"""Characters of an input."""
TRACE = 2000
"""Characters of a traceback's end."""


def error_view(error: BaseException, flight: Flight | None) -> ErrorView:
    """What is shown of a failure.

    Args:
        error: the exception that ended the run.
        flight: the execution that raised it, or None where no step did.
    """
    lines = own_frames(error)
    place = own_place(lines)
    return ErrorView(
        step="" if flight is None else flight.step,
        index=0 if flight is None else flight.index,
        summary=": ".join(said for said in (type(error).__name__, _text(str, error).strip()) if said)[:500],
        where="" if place is None else where(place),
        input="" if flight is None else _text(repr, _given(flight))[:2000],
        traceback="".join(traceback.format_list(lines))[:8000],
    )


def _given(flight: Flight) -> Any:
    """What the step itself got: a fan-in's events, not what the engine puts around them."""
    return flight.inputs[0] if len(flight.inputs) == 1 else flight.inputs


def _text(make: Callable[[Any], str], value: Any) -> str:
    try:
        return make(value)
    except Exception as error:  # noqa: BLE001  # the user's own text of a value may raise anything
        return f"<{type(value).__name__}, whose {make.__name__}() raises {type(error).__name__}>"


_Key = tuple[str, str, str]
"""What failures of one kind share: the exception's class, the step, and the user's line."""


class Failures:
    """What was set aside in one life, by type and line, in few words: it goes into the header each time.

    Each failure is looked at once, however often the board is drawn.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._first: dict[_Key, list[ErrorView]] = {}
        self._counts: Counter[_Key] = Counter()
        self._kinds: dict[_Key, str] = {}
        self._further = 0

    def of(self, parked: Sequence[tuple[Flight, Exception]]) -> tuple[FailureView, ...]:
        """The failures by error, those that came first in front.

        Args:
            parked: each execution that was set aside with its exception; it only grows.
        """
        for flight, error in parked[self._seen :]:
            self._add(flight, error)
        self._seen = len(parked)
        found = [
            FailureView(
                tuple(sorted(errors, key=lambda one: one.index)), self._counts[key], self._kinds.get(key, "")
            )
            for key, errors in self._first.items()
        ]
        return (*found, *([FailureView((), self._further)] if self._further else []))

    def _add(self, flight: Flight, error: Exception) -> None:
        view = error_view(error, flight)
        cls = type(error)
        # Without a line of the user's the text is all that tells errors apart.
        key = (f"{cls.__module__}.{cls.__qualname__}", view.step, view.where or view.summary)
        kept = self._first.get(key)
        if kept is None and len(self._first) >= KINDS:
            self._further += 1
            return
        self._counts[key] += 1
        if kept is None:
            traceback = view.traceback[-TRACE:]
            self._first[key] = [replace(view, input=view.input[:INPUT], traceback=traceback)]
            return
        if view.summary != kept[0].summary:
            self._kinds[key] = cls.__name__
        if len(kept) < EACH:
            kept.append(replace(view, input=view.input[:INPUT], traceback=""))
