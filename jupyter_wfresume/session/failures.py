"""A failure as the board and the header show it: the user's part first."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

from ..records import ErrorView
from ..replay.traces import own_frames, own_place, where
from ..runtime import Flight
from .words import listed


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


def grouped(failures: Sequence[tuple[Flight, Exception]]) -> list[str]:
    """Executions that were set aside, by error, one line each.

    Args:
        failures: each execution with its exception.
    """
    by_error: dict[str, list[str]] = {}
    for flight, error in failures:
        by_error.setdefault(f"{type(error).__name__}: {_text(str, error)}"[:200], []).append(flight.label)
    return [f"{listed(labels, 8)} failed: {error}" for error, labels in by_error.items()]
