"""Starts the tasks of a run and waits for them, so that each can be found and ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from ..engine import (
    Holder,
    NamedTask,
    PendingStart,
    PendingWorker,
    StepInfo,
    TickSessionStart,
    WaitForNextTaskResult,
    WorkflowTick,
    all_tasks,
    executions,
    input_events,
    is_busy,
    pick_highest_priority,
)
from .flights import Flight, Flights
from .hooks import Clock
from .mailbox import Mailbox


class Tasks:
    """Owns the worker tasks of one run.

    Args:
        clock: the run's time.
        holder: the live state.
        flights: the executions under way.
        mailbox: where idleness is known.
        steps: the steps.
        indexes: by step, the work items in order of first dispatch.
        next_due: when the next open waiter times out, seconds since the epoch, or None.
        deliver: puts a tick into the mailbox.
    """

    def __init__(
        self,
        clock: Clock,
        holder: Holder,
        flights: Flights,
        mailbox: Mailbox,
        steps: list[StepInfo],
        indexes: dict[str, dict[str, int]],
        next_due: Callable[[], float | None],
        deliver: Callable[[WorkflowTick], Awaitable[None]],
    ) -> None:
        self._clock = clock
        self._holder = holder
        self._flights = flights
        self._mailbox = mailbox
        self._sync = {info.name: info.sync for info in steps}
        self._indexes = indexes
        self._pulls: set[asyncio.Task[Any]] = set()
        self._next_due = next_due
        self._deliver = deliver

    async def next(
        self, running: list[NamedTask], pending: list[PendingStart], timeout: float | None
    ) -> WaitForNextTaskResult:
        """Start what is pending and wait for the next task to finish.

        Args:
            running: tasks the engine knows of.
            pending: what it wants to start.
            timeout: seconds until its next timer, or None.
        """
        started = [self._start(one) for one in pending]
        named = [*running, *started]
        tasks = all_tasks(named)
        # The one task left pulls from the mailbox; one that is done has something in its hands.
        nothing = len(tasks) == 1 and not any(task.done() for task in tasks)
        idle = nothing and not is_busy(self._holder.state) and self._mailbox.is_empty
        if idle:
            self._mailbox.set_idle(True)
            # The run's own budget does not run out while a person is asked;
            # a waiter's timeout does count.
            due = self._next_due()
            timeout = None if due is None else max(0.0, due - self._clock.at(time.time()))
        done, _ = await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        self._clock.refresh(time.time())
        if not done and idle:
            await self._deliver(TickSessionStart(stamped_at=self._clock.now))
            done, _ = await asyncio.wait(tasks)
        return WaitForNextTaskResult(pick_highest_priority(named, done) if done else None, started)

    def end(self) -> None:
        """The loop has ended: what still waits for its mailbox would be left behind pending."""
        for pull in self._pulls:
            pull.cancel()

    def _start(self, one: PendingStart) -> NamedTask:
        loop = asyncio.get_running_loop()
        if not isinstance(one, PendingWorker):
            pull = loop.create_task(one.coro)
            self._pulls.add(pull)
            pull.add_done_callback(self._pulls.discard)
            return one.start(pull)
        flight = self._flight(one)
        self._flights.add(flight)
        task = loop.create_task(self._gated(flight, one))
        flight.task = task
        # One that is cancelled before it began, or at the gate, has not come to await it.
        task.add_done_callback(lambda done: one.coro.close())
        task.add_done_callback(lambda done: self._ended(flight, done))
        return one.start(task)

    def _flight(self, one: PendingWorker) -> Flight:
        step = str(one.step_id)
        execution = next(
            e for s, e in executions(self._holder.state) if s == one.step_id and e.worker_id == one.worker_id
        )
        known = self._indexes.setdefault(step, {})
        return Flight(
            invocation_id=execution.invocation_id or "",
            step=step,
            index=known.setdefault(execution.work_item_id or "", len(known)),
            work_item_id=execution.work_item_id or "",
            attempt=execution.attempts,
            event=execution.event,
            inputs=input_events(execution),
            sync=self._sync[step],
            behind_s=self._clock.behind_s,
        )

    async def _gated(self, flight: Flight, one: PendingWorker) -> Any:
        if not self._flights.gate.is_set():
            # The gate may have closed since it was dispatched.
            flight.gated = True
            self._flights.poke()
            await self._flights.gate.wait()
            flight.gated = False
        return await one.coro

    def _ended(self, flight: Flight, task: asyncio.Task[Any]) -> None:
        if task.cancelled() or task.exception() is not None:
            self._flights.end(flight)
        self._flights.poke()
