"""What the execution that runs a run of its own has to know of its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import RunEnded

if TYPE_CHECKING:
    from .life import Life


def without_result(life: Life, ended: RunEnded) -> RunEnded:
    """Tell the execution above that a run ended without a result, whatever its step makes of it.

    ``gather(..., return_exceptions=True)`` or a bare ``except`` would otherwise go on with a result
    that does not exist, and the execution would be recorded with it for good. A run that the step
    itself gave up is no such thing.

    Args:
        life: of the run.
        ended: how it ended.

    Returns:
        The same ending.
    """
    parent = life.parent
    if parent is not None and not life.abandoned:
        for flight in parent.drive.flights.current():
            if f"{flight.label}#{flight.attempt}" == life.header.parent_execution:
                flight.ended.append(ended)
    return ended
