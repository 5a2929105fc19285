"""What the session hands to a drive."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..effects import Place
from ..engine import Event, StepWorkerOutput, StopEvent
from ..journal import FindClass
from .blocking import Blocked
from .flights import Flight


@dataclass(frozen=True)
class Hooks:
    """Callbacks of the session that drives a run.

    Args:
        header: makes the header's bytes when it is time to write it.
        changed: called whenever something to show has changed.
        idle: called when nothing can move without help, and when it can again.
        asked: called when what is asked may have changed.
        warn: told of what a user should know, one sentence each.
        blocked: told of an execution that keeps the loop busy.
        unaccepted: told of an event that no step and no waiter has taken.
        reads: told when the running task begins to wait for an event of the stream, and when it has one.
        supply: fills inputs that were not kept.
        reuse: the recorded output of an earlier run's execution that is right for
            this one, or None.
        skip: when a person decided that an execution is left out, seconds since the epoch, or 0.
        keep_going: an execution that fails for good is set aside.
        place: where an execution stands, for its side effects.
        cut_off: told when an execution will not finish.
        conclude: waits for the engine's result and decides how the run ended.
        given_up: called when the body stops waiting for the handler.
        find_class: asked first for each class on the way back.
    """

    header: Callable[[], bytes | None]
    changed: Callable[[], None]
    idle: Callable[[bool], None]
    asked: Callable[[], None]
    warn: Callable[[str], None]
    blocked: Blocked
    unaccepted: Callable[[Event], None]
    reads: Callable[[bool], None]
    supply: Callable[[Flight], Awaitable[None]]
    reuse: Callable[[Flight], Awaitable[list[StepWorkerOutput] | None]]
    skip: Callable[[Flight], float]
    keep_going: bool
    place: Callable[[Flight], Place]
    cut_off: Callable[[Flight, BaseException], None]
    conclude: Callable[[Awaitable[StopEvent]], Awaitable[StopEvent]]
    given_up: Callable[[], None]
    find_class: FindClass


class Clock:
    """A run's time: it stands still while one tick and what it implies are processed.

    So a fold of the recorded ticks, each with its time, makes the very same
    decisions as the live loop.

    While the run rests, the clock stands still, and is behind by that much afterwards.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.behind_s = 0.0
        self._rests_since: float | None = None

    def at(self, wall: float) -> float:
        """The run's time at a moment that is not before the newest rest.

        Args:
            wall: the moment, seconds since the epoch.
        """
        return (wall if self._rests_since is None else min(wall, self._rests_since)) - self.behind_s

    def refresh(self, wall: float) -> None:
        """Move on to ``wall``, seconds since the epoch; never back."""
        self.now = max(self.now, self.at(wall))

    def rest(self, rests: bool, wall: float) -> None:
        """Stand still from ``wall`` on, seconds since the epoch, or go on from there."""
        if rests:
            self._rests_since = wall if self._rests_since is None else self._rests_since
        elif self._rests_since is not None:
            self.behind_s += max(0.0, wall - self._rests_since)
            self._rests_since = None
