"""Executions under way in this process: started, held back, waited for, cancelled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..engine import Event, StepWorkerFailed
from ..records import Saved, Tokens

T = TypeVar("T")


class StepInterrupt(BaseException):
    """Raised inside a step that blocks the loop, by the interrupt's signal handler.

    It is no ``KeyboardInterrupt``: asyncio lets that escape from the loop.
    """


@dataclass(eq=False)
class Flight:
    """One execution under way.

    Args:
        invocation_id: the engine's id of this dispatch.
        step: step name.
        index: N of ``STEP[N]``.
        work_item_id: the engine's id of the work item.
        attempt: 0 for the first.
        event: the input.
        inputs: every event it got, the several of a fan-in included.
        sync: a plain function in a thread, which cannot be cancelled.
        began: seconds since the epoch, or 0 before it started.
        gated: dispatched while nothing new may start.
        held: its final failure is held back while siblings finish.
        parked: the failure for which it was set aside.
        skipped: when a person decided that it is left out, seconds since the epoch, or 0.
        dead: it was interrupted and will not finish.
        ended: what ended in it without a result, so that it must not finish: a run that it
            runs, a side effect of which nobody knows.
        reads: state paths it read.
        writes: state paths it wrote.
        seen: digest of what it read at each path before it wrote there, or None
            where that cannot be compared.
        changes: how often it set something of the state.
        others_changed: how often others had, when it first saw the whole state.
        behind_s: how far the run's clock was behind when it was dispatched, in seconds.
        published: what it put into the stream.
        asked: what of that asks a person.
        replaced: what it is given in place of its inputs, by their ``id``.
        source: the execution of an earlier run that answers it: run, record, the
            seconds it took, digest of its code; None where it is executed.
        saved: tokens that it took in that earlier run.
        tokens: of each call of a language model that it made.
        below: says the tokens of each run that it runs itself.
        alone: it runs again only to make an input that was not kept.
        children: tasks and calls in threads that it started beside itself.
        told: what of it was cancelled.
    """

    invocation_id: str
    step: str
    index: int
    work_item_id: str
    attempt: int
    event: Event
    inputs: list[Event]
    sync: bool
    began: float = 0.0
    behind_s: float = 0.0
    gated: bool = False
    held: StepWorkerFailed | None = None
    parked: StepWorkerFailed | None = None
    skipped: float = 0.0
    dead: bool = False
    recorded: bool = False
    alone: bool = False
    reads: set[tuple[Any, ...]] = field(default_factory=set)
    writes: set[tuple[Any, ...]] = field(default_factory=set)
    seen: dict[tuple[Any, ...], str | None] = field(default_factory=dict)
    changes: int = 0
    others_changed: int = 0
    ended: list[BaseException] = field(default_factory=list)
    published: list[Event] = field(default_factory=list)
    asked: list[Event] = field(default_factory=list)
    source: tuple[str, int, float, str] | None = None
    saved: Tokens = field(default_factory=Tokens)
    tokens: list[Tokens] = field(default_factory=list)
    below: list[Callable[[], Tokens]] = field(default_factory=list)
    replaced: dict[int, Event] = field(default_factory=dict)
    nested: dict[str, int] = field(default_factory=dict)
    task: asyncio.Task[Any] | None = None
    thread: asyncio.Task[Any] | None = None
    children: set[asyncio.Future[Any]] = field(default_factory=set)
    told: set[asyncio.Future[Any]] = field(default_factory=set)

    @property
    def label(self) -> str:
        """``work[17]``."""
        return f"{self.step}[{self.index}]"

    @property
    def finished(self) -> bool:
        """Nothing of it runs any more."""
        return not self.running()

    def running(self) -> set[asyncio.Future[Any]]:
        """What of it still runs: itself, then what it left behind, unless its result is on record."""
        parts = (self.task, self.thread)
        own: set[asyncio.Future[Any]] = {part for part in parts if part is not None and not part.done()}
        if own or self.recorded:
            return own
        return {child for child in self.children if not child.done()}


CURRENT: ContextVar[Flight | None] = ContextVar("wfresume_execution", default=None)
"""The execution that the running code belongs to."""


def apart(make: Callable[[], T]) -> T:
    """Call something of ours that belongs to no execution, although one may be calling."""
    token = CURRENT.set(None)
    try:
        return make()
    finally:
        CURRENT.reset(token)


def spent(tokens: Tokens) -> None:
    """A call of a language model has ended: the execution that the running code belongs to has made it.

    Args:
        tokens: as reported.
    """
    flight = CURRENT.get()
    if flight is not None:
        flight.tokens.append(tokens)  # threads of one step may do this at once


class Flights:
    """All executions of one run that are under way.

    Args:
        changed: called whenever one starts or ends.

    Attributes:
        cut: what was lost of those that ended without a result.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._all: dict[str, Flight] = {}
        self._leftover: list[Flight] = []
        self.cut = Saved()
        self._event = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    def add(self, flight: Flight) -> None:
        """A new execution was dispatched."""
        flight.gated = not self.gate.is_set()
        self._all[flight.invocation_id] = flight
        self.poke()

    def get(self, invocation_id: str | None) -> Flight | None:
        """The execution of this dispatch."""
        return self._all.get(invocation_id or "")

    def end(self, flight: Flight) -> None:
        """Its result was recorded, or it was cancelled."""
        if self._all.pop(flight.invocation_id, None) is not None:
            if flight.began and not flight.recorded:
                took_s = max(0.0, time.time() - flight.began)
                self.cut += Saved(1, took_s, sum(flight.tokens, Tokens()))
            if not flight.finished:
                self._leftover.append(flight)
        self.poke()

    def poke(self) -> None:
        """Wake whoever waits for a change."""
        self._event.set()
        self._changed()

    def current(self) -> list[Flight]:
        """Every execution not recorded yet."""
        return list(self._all.values())

    def active(self) -> list[Flight]:
        """Executions that are really running and may still bring a result."""
        return [f for f in self._all.values() if not (f.gated or f.dead or f.held is not None)]

    def unfinished(self) -> list[Flight]:
        """Executions of which something still runs, recorded or not."""
        self._leftover = [f for f in self._leftover if not f.finished]
        return [*(f for f in self._all.values() if not f.finished), *self._leftover]

    async def until(self, done: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Wait until ``done()``, looked at whenever something changes.

        Args:
            done: the condition.
            timeout_s: seconds, or None for ever.

        Returns:
            Whether the condition holds.
        """
        loop = asyncio.get_running_loop()
        deadline = None if timeout_s is None else loop.time() + timeout_s
        while not done():
            self._event.clear()
            left = None if deadline is None else deadline - loop.time()
            if left is not None and left <= 0:
                return False
            try:
                await asyncio.wait_for(self._event.wait(), left)
            except asyncio.TimeoutError:
                return done()
        return True

    def cancel_all(self) -> None:
        """Cancel every execution that can be cancelled, and what it left running; each task once."""
        for flight in self.unfinished():
            stoppable = flight.dead or not (flight.sync and flight.began)
            for one in flight.running() - flight.told:
                if isinstance(one, asyncio.Task) and one is not flight.thread and stoppable:
                    flight.told.add(one)
                    one.cancel()

    async def wait_finished(self, naming_after_s: float, name: Callable[[list[Flight]], None]) -> None:
        """Wait until nothing runs any more, naming what takes long.

        Args:
            naming_after_s: seconds before the first naming.
            name: told of what is still running, and at the end of nothing.
        """
        named = False
        while True:
            # What an execution left running is cancelled once the execution itself has ended.
            self.cancel_all()
            tasks = {one for flight in self.unfinished() for one in flight.running()}
            if not tasks:
                break
            done, _ = await asyncio.wait(tasks, timeout=naming_after_s, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                named = True
                name(self.unfinished())
        if named:
            name([])
