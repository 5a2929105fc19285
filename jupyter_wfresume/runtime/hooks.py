"""What the session hands to a drive."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..engine import StepWorkerOutput, StopEvent
from ..journal import FindClass
from .flights import Flight


@dataclass(frozen=True)
class Hooks:
    """Callbacks of the session that drives a run.

    Args:
        header: makes the header's bytes when it is time to write it.
        changed: called whenever something to show has changed.
        idle: called when nothing can move without help, and when it can again.
        warn: told of what a user should know, one sentence each.
        supply: fills inputs that were not kept.
        reuse: the recorded output of an earlier run's execution that is right for
            this one, or None.
        cut_off: told when an execution will not finish.
        conclude: waits for the engine's result and decides how the run ended.
        given_up: called when the body stops waiting for the handler.
        find_class: asked first for each class on the way back.
    """

    header: Callable[[], bytes | None]
    changed: Callable[[], None]
    idle: Callable[[bool], None]
    warn: Callable[[str], None]
    supply: Callable[[Flight], Awaitable[None]]
    reuse: Callable[[Flight], Awaitable[list[StepWorkerOutput] | None]]
    cut_off: Callable[[Flight, BaseException], None]
    conclude: Callable[[Awaitable[StopEvent]], Awaitable[StopEvent]]
    given_up: Callable[[], None]
    find_class: FindClass


class Clock:
    """A run's time: it stands still while one tick and what it implies are processed.

    So a fold of the recorded ticks, each with its time, makes the very same
    decisions as the live loop.
    """

    def __init__(self) -> None:
        self.now = 0.0

    def refresh(self, wall: float) -> None:
        """Move on to ``wall``, seconds since the epoch; never back."""
        self.now = max(self.now, wall)
