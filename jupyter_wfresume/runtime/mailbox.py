"""What comes into a run from outside its loop, and what goes out into its stream."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable

from ..codec import encode
from ..engine import (
    EmissionKey,
    Event,
    Holder,
    InputRequiredEvent,
    InternalDispatchEvent,
    StartEvent,
    TickAddEvent,
    TickSessionStart,
    UnhandledEvent,
    WaitResult,
    WaitResultTick,
    WorkflowTick,
    find_execution,
)
from ..errors import CannotKeepError
from ..journal import Record, StoreBlobs
from .flights import CURRENT, Flights
from .hooks import Clock, Hooks

INTERNAL_KEPT = 1000
"""Internal events kept for a consumer that has not begun to stream yet."""

STREAM_KEPT = 1000
"""Streamed events of one execution that its record holds; beyond, it holds none of them."""


class Mailbox:
    """Receives ticks and decides which sends are delivered.

    Args:
        hooks: of the session.
        clock: the run's time.
        holder: the live state.
        flights: the executions under way.
        blobs: where large values go.
        carried: by work item, what its dead forerunner had sent already.
        body_sends: what the body sent unprompted in earlier lives.
    """

    def __init__(
        self,
        hooks: Hooks,
        clock: Clock,
        holder: Holder,
        flights: Flights,
        blobs: StoreBlobs,
        carried: dict[str, dict[int, Event]],
        body_sends: list[Event],
    ) -> None:
        self._hooks = hooks
        self._clock = clock
        self._holder = holder
        self._flights = flights
        self._blobs = blobs
        self._carried = carried
        self._earlier_body_sends = body_sends
        self._external: set[EmissionKey] = set()
        self._backlog: deque[WorkflowTick] = deque()
        self._origin: dict[int, str] = {}
        self._answers: dict[int, tuple[str, str]] = {}
        self._coming: set[int] = set()
        self._different: set[EmissionKey] = set()
        self._body_sends = 0
        self._internal_published = 0
        self._streamed = 0
        self._newest: Event | None = None
        self.consumed = False
        self.is_idle = False

    @property
    def is_empty(self) -> bool:
        """Nothing was taken out that the loop has not got yet."""
        return not self._backlog

    async def receive(self, inner: Callable[[], Awaitable[WaitResult]]) -> WaitResult:
        """The next tick from outside."""
        if self._backlog:
            tick = self._backlog.popleft()
        else:
            result = await inner()
            if not isinstance(result, WaitResultTick):
                return result
            tick = result.tick
            if isinstance(tick, TickSessionStart) and not self.is_idle:
                # Something came first; now that executions are under way, a
                # session start would take them back into their queues.
                return await self.receive(inner)
        if self.is_idle and not isinstance(tick, TickSessionStart):
            # Time spent waiting for a person is no time alive: a session
            # start forgives it, and rewinds nothing as nothing is under way.
            # The loop stands still now; otherwise it may be between a tick and
            # what it implies, and the clock is not moved here.
            self._clock.refresh(time.time())
            self._backlog.appendleft(tick)
            tick = TickSessionStart(stamped_at=self._clock.now)
        if isinstance(tick, TickAddEvent):
            self._coming.discard(id(tick.event))
            if tick.emission is not None:
                self._external.add(tick.emission)
        self.set_idle(False)
        return WaitResultTick(tick=tick)

    def set_idle(self, idle: bool) -> None:
        """Nothing can move without help from outside, or again it can."""
        if idle != self.is_idle:
            self.is_idle = idle
            self._hooks.idle(idle)

    def came_from_outside(self, tick: TickAddEvent) -> bool:
        """Whether an event came through the mailbox or began the run; asked once for each."""
        self._newest = tick.event
        if tick.emission is None:
            return True
        if tick.emission in self._external:
            self._external.remove(tick.emission)
            return True
        return False

    def expect(self, event: Event, slot: str, key: str) -> None:
        """An answer is about to come in.

        Args:
            event: the answer.
            slot: where it was written down.
            key: names what it answers.
        """
        self._answers[id(event)] = (slot, key)
        self._coming.add(id(event))

    @property
    def is_expecting(self) -> bool:
        """Something is on its way that will move the run."""
        return bool(self._coming)

    def about(self, tick: TickAddEvent) -> Record:
        """What a record says of an event from outside beside the event itself."""
        more: Record = {}
        if id(tick.event) in self._answers:
            slot, key = self._answers.pop(id(tick.event))
            return {"o": "answer", "an": slot, "to": key}
        origin = self._origin.pop(id(tick.event), "start" if isinstance(tick.event, StartEvent) else "")
        if origin:
            more["o"] = origin
        if tick.emission in self._different:
            more["x"] = 1
        return more

    def sent_by_step(self, tick: WorkflowTick) -> bool:
        """Whether a step's send is delivered: not when its dead forerunner had sent the same."""
        if runs_alone():
            return False
        if not isinstance(tick, TickAddEvent) or tick.emission is None:
            return True
        flight = self._flights.get(tick.emission.invocation_id)
        known = {} if flight is None else self._carried.get(flight.work_item_id, {})
        if flight is None or tick.emission.index not in known:
            return True
        earlier = known.pop(tick.emission.index)
        if self._same(earlier, tick.event):
            known[tick.emission.index] = earlier
            return False
        found = find_execution(self._holder.state, flight.invocation_id)
        if found is not None:
            found[1].received.discard(tick.emission.index)
        self._different.add(tick.emission)
        self._hooks.warn(
            f"{flight.label} sent another event than before it was cut off "
            f"(send {tick.emission.index}, {type(tick.event).__name__}): both were delivered"
        )
        return True

    def sent_by_body(self, tick: WorkflowTick) -> bool:
        """Whether what the body sends is delivered: not when an earlier life delivered the same.

        What the body sends after it got an event from the stream is an answer
        to that event, which earlier lives did not have; it is always delivered.
        """
        if not isinstance(tick, TickAddEvent):
            return True
        if self._streamed:
            self._origin[id(tick.event)] = "reply"
        elif self._sent_before(tick.event):
            return False
        self._coming.add(id(tick.event))
        return True

    def _sent_before(self, event: Event) -> bool:
        self._origin[id(event)] = "body"
        number, self._body_sends = self._body_sends, self._body_sends + 1
        if number >= len(self._earlier_body_sends):
            return False
        if self._same(self._earlier_body_sends[number], event):
            return True
        self._hooks.warn(
            f"the cell sent another {type(event).__name__} than in the life before "
            f"(send {number}): both were delivered"
        )
        return False

    def _same(self, a: Event, b: Event) -> bool:
        try:
            return bool(encode(a, self._blobs) == encode(b, self._blobs))
        except CannotKeepError:
            return False

    def publishes(self, event: Event) -> bool:
        """Whether an event goes into the stream: internal ones only for a consumer."""
        flight = CURRENT.get()
        if flight is not None and flight.alone:
            return False
        if isinstance(event, UnhandledEvent) and self._newest is not None:
            self._hooks.unaccepted(self._newest)
        if not isinstance(event, InternalDispatchEvent):
            if flight is not None and isinstance(event, InputRequiredEvent):
                flight.asked.append(event)
            if flight is not None and len(flight.published) <= STREAM_KEPT:
                flight.published.append(event)
            return True
        if self.consumed:
            return True
        self._internal_published += 1
        return self._internal_published <= INTERNAL_KEPT

    def streaming(self, waits: bool) -> None:
        """The running task waits for the next event of the stream, or no longer."""
        self.consumed = True
        self._hooks.reads(waits)

    def streamed(self) -> None:
        """The body got an event from the stream."""
        self._streamed += 1


def runs_alone() -> bool:
    """Whether the running code belongs to an execution that only makes an input again."""
    flight = CURRENT.get()
    return flight is not None and flight.alone
