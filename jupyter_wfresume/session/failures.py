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
        summary=f"{type(error).__name__}: {_text(str, error)}"[:500],
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


class Failures:
    """What was set aside in one life, by error, in few words: it goes into the header each time.

    Each failure is looked at once, however often the board is drawn.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._first: dict[str, list[ErrorView]] = {}
        self._counts: Counter[str] = Counter()
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
            FailureView(tuple(sorted(errors, key=lambda one: (one.step, one.index))), self._counts[said])
            for said, errors in self._first.items()
        ]
        return (*found, *([FailureView((), self._further)] if self._further else []))

    def _add(self, flight: Flight, error: Exception) -> None:
        view = error_view(error, flight)
        kept = self._first.get(view.summary)
        if kept is None and len(self._first) >= KINDS:
            self._further += 1
            return
        self._counts[view.summary] += 1
        if kept is None:
            traceback = view.traceback[-TRACE:]
            self._first[view.summary] = [replace(view, input=view.input[:INPUT], traceback=traceback)]
        elif len(kept) < EACH:
            kept.append(replace(view, input=view.input[:INPUT], traceback=""))
