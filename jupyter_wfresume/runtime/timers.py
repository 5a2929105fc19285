"""Timeouts of ``wait_for_event``, over the lives of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..engine import (
    AddWaiter,
    DeleteWaiter,
    Holder,
    StepFunctionResult,
    StepId,
    TickWaiterTimeout,
    WorkflowTick,
    open_waiters,
)
from ..journal import Restored
from .hooks import Clock


class Timers:
    """Knows when open waiters time out, and arms those of earlier lives again.

    The engine arms a waiter's timeout only when the waiter is made.

    Args:
        clock: the run's time.
        holder: the live state.
        deliver: puts a tick into the mailbox.
    """

    def __init__(self, clock: Clock, holder: Holder, deliver: Callable[[WorkflowTick], None]) -> None:
        self._clock = clock
        self._holder = holder
        self._deliver = deliver
        self._due: dict[tuple[str, str], float] = {}

    def arm(self, restored: Restored) -> None:
        """Arm the waiters that an earlier life left open, with the time they have left."""
        for waiter in restored.waiters:
            if waiter.timeout_s is None:
                continue
            left = max(0.0, waiter.timeout_s - waiter.waited_s)
            self._due[(waiter.step, waiter.waiter_id)] = self._clock.now + left
            tick = TickWaiterTimeout(step_id=StepId.from_str(waiter.step), waiter_id=waiter.waiter_id)
            asyncio.get_running_loop().call_later(left, self._deliver, tick)

    def note(self, step: str, results: list[StepFunctionResult]) -> None:
        """A step's result may make or end waiters."""
        for item in results:
            if isinstance(item, AddWaiter) and item.timeout is not None:
                self._due.setdefault((step, item.waiter_id), self._clock.now + item.timeout)
            elif isinstance(item, DeleteWaiter):
                self._due.pop((step, item.waiter_id), None)

    def has_due(self) -> bool:
        """Whether something of the run is due by itself: a retry, or the end of a wait."""
        workers = self._holder.state.workers.values()
        delayed = any(one.not_before is not None for worker in workers for one in worker.queue)
        return delayed or self.next_due() is not None

    def next_due(self) -> float | None:
        """When the next open waiter times out, seconds since the epoch, or None."""
        waiting = {(str(step_id), waiter.waiter_id) for step_id, waiter in open_waiters(self._holder.state)}
        return min((at for key, at in self._due.items() if key in waiting), default=None)
