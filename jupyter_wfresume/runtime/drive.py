"""One run, driven by this process: every tick is on disk before it takes effect."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel

from ..codec import encode
from ..engine import (
    AddWaiter,
    AttachedInternal,
    BrokerState,
    EmissionKey,
    Event,
    Holder,
    InternalDispatchEvent,
    LiveBrokerState,
    NamedTask,
    PendingStart,
    PendingWorker,
    StartEvent,
    StepFunctionResult,
    StepId,
    StepWorkerFunction,
    StopEvent,
    TickAddEvent,
    TickCancelRun,
    TickIdleCheck,
    TickSessionStart,
    TickStepResult,
    TickTimeout,
    TickWaiterTimeout,
    TrackedStore,
    WaitForNextTaskResult,
    WaitResult,
    WaitResultTick,
    Workflow,
    WorkflowTick,
    all_tasks,
    executions,
    find_execution,
    is_busy,
    open_waiters,
    pick_highest_priority,
    plain,
    seed,
    steps_of,
)
from ..errors import CannotKeepError
from ..journal import FindClass, Journal, Questions, Record, Restored
from .flights import CURRENT, Flight, Flights
from .progress import Progress
from .recorder import Recorder, result_events
from .watch import Watch
from .worker import Workers

YIELD_S = 0.02
"""Longest time that processing ticks may keep the event loop, in seconds."""

INTERNAL_KEPT = 1000
"""Internal events kept for a consumer that has not begun to stream yet."""


class Drive:
    """The engine's port for one run.

    Args:
        workflow: the workflow as it is defined now.
        engine_run_id: the id the engine knows the run by.
        journal: where it is written.
        restored: the run as earlier lives left it, or None for a new one.
        model: the state to begin a new run with.
        header: makes the header's bytes when it is time to write it.
        changed: called whenever something to show has changed.
        idle: called when nothing can move without help, and when it can again.
        warn: told of what a user should know, one sentence each.
        supply: fills inputs that were not kept.
        cut_off: told when an execution will not finish.
        conclude: waits for the engine's result and decides how the run ended.
        given_up: called when the body stops waiting for the handler.
        find_class: asked first for each class on the way back.
        timeout_s: replaces the workflow's own budget; None keeps it, inf removes it.
        opening_record: members of the opening record made by the caller.
    """

    def __init__(
        self,
        workflow: Workflow,
        engine_run_id: str,
        journal: Journal,
        restored: Restored | None,
        model: BaseModel,
        *,
        header: Callable[[], bytes | None],
        changed: Callable[[], None],
        idle: Callable[[bool], None],
        warn: Callable[[str], None],
        supply: Callable[[Flight], Awaitable[None]],
        cut_off: Callable[[Flight, BaseException], None],
        conclude: Callable[[Awaitable[StopEvent]], Awaitable[StopEvent]],
        given_up: Callable[[], None],
        find_class: FindClass,
        timeout_s: float | None,
        opening_record: Record,
        previous_beat: float | None,
    ) -> None:
        self.workflow = workflow
        self.engine_run_id = engine_run_id
        self.restored = restored
        self.holder = Holder()
        self._changed = changed
        self._idle = idle
        self.warn = warn
        self._timeout_s = timeout_s
        self._opening_record = opening_record
        self._previous_beat = previous_beat
        self.flights = Flights(changed)
        self._watch = Watch(journal.store_blobs, self.flights)
        self.recorder = Recorder(journal, self._watch, header, warn, find_class)
        self.store = TrackedStore(restored.model if restored is not None else model, self._watch)
        self.progress = Progress(steps_of(workflow))
        self.questions = restored.questions if restored is not None else Questions()
        self.indexes = restored.indexes if restored is not None else {}
        self.carried = restored.carried if restored is not None else {}
        self._workers = Workers(
            engine_run_id, self.holder, self.flights, self.carried, supply, self._draining, cut_off
        )
        self._init_from_restored()
        self._now = 0.0
        self._own_budget: tuple[float | None] | None = None
        self._external: dict[int, WorkflowTick] = {}
        self._backlog: deque[WorkflowTick] = deque()
        self._origin: dict[int, str] = {}
        self._different: set[EmissionKey] = set()
        self._is_idle = False
        self._yielded = 0.0
        self._waiter_due: dict[tuple[str, str], float] = {}
        self._body_sends = 0
        self._internal_published = 0
        self.consumed = False
        self.stream_events = 0
        self.was_awaited = False
        self.timed_out = False
        self.cancelled = False
        self.stop_ref: list[int] | None = None
        self.failure: tuple[Flight, Any] | None = None
        self.held_back: Flight | None = None
        self.internal: AttachedInternal | None = None
        self.inner: Any = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._conclude = conclude
        self._given_up = given_up

    def _init_from_restored(self) -> None:
        if self.restored is None:
            return
        for event, ref in self.restored.refs.values():
            node: Any = {"lost": []}
            if id(event) not in self.restored.lost:
                try:
                    node = encode(event, self.recorder.journal.store_blobs)
                except CannotKeepError:
                    node = {"lost": []}
            self.recorder.refs.put(event, ref, node)

    # -- the engine starts ------------------------------------------------

    def attached(self, internal: AttachedInternal) -> None:
        """The engine made an adapter of the loop's side."""
        self.internal = internal

    def started(self, inner: Any) -> None:
        """The engine started the loop."""
        self.inner = inner
        self.loop = asyncio.get_running_loop()

    def is_recorded(self) -> bool:
        """This run is executed, not answered from the record."""
        return False

    def opening(
        self, init_state: BrokerState, start_event: StartEvent | None
    ) -> tuple[BrokerState, StartEvent | None]:
        """Where the loop begins; the opening is on disk when this returns.

        Raises:
            StoreError: it is not on disk.
        """
        self._now = time.time()
        start: StartEvent | None = None
        if self.restored is None:
            self.recorder.append({"k": "O", "t": self._now, **self._opening_record})
            state, start = seed(init_state, self.holder), start_event
        else:
            state = seed(self.restored.state, self.holder)
            if not self.restored.started:
                start = start_event
        self.recorder.append({"k": "L", "t": self._now, "prev": self._previous_beat})
        for lost in self._watch.begin(self.store):
            key = ".".join(str(part) for part in lost.path)[2:]
            self.warn(f"state key '{key}' ({lost.error.type_name}) cannot be kept: put it into a Resource")
        if self._timeout_s is not None:
            self._own_budget = (self.workflow._timeout,)
            self.workflow._timeout = None if self._timeout_s == float("inf") else self._timeout_s
        return state, start

    def restore_budget(self) -> None:
        """Give the workflow its own budget back; the loop reads it once, when it starts."""
        if self._own_budget is not None:
            self.workflow._timeout = self._own_budget[0]
            self._own_budget = None

    def step(self, name: str, function: StepWorkerFunction) -> StepWorkerFunction:
        """A step function of the engine, with ours around it."""
        return self._workers.wrap(name, function)

    def now(self) -> float:
        """The loop's time: it stands still while one tick and what it implies are processed."""
        return self._now

    @property
    def state(self) -> LiveBrokerState:
        """The live broker state."""
        return self.holder.state

    def known_state(self) -> LiveBrokerState | None:
        """The live broker state; before the loop begins, the one it will go on from."""
        if hasattr(self.holder, "state"):
            return self.holder.state
        return None if self.restored is None else self.restored.state

    # -- ticks ------------------------------------------------------------

    async def on_tick(self, tick: WorkflowTick) -> None:
        """Write a tick down before its commands are carried out.

        Raises:
            StoreError: it is not on disk, so the run stops here.
        """
        if isinstance(tick, TickStepResult):
            self._on_result(tick)
        elif isinstance(tick, TickAddEvent):
            self._on_event(tick)
        elif isinstance(tick, TickCancelRun):
            self.cancelled = True
        elif isinstance(tick, TickTimeout) and not self.state.is_running:
            self.timed_out = True
        elif not isinstance(tick, TickIdleCheck):
            self.recorder.other(tick, self.state.journal_seq - 1, self._now, {})
            if isinstance(tick, TickSessionStart):
                self._session_started()
        self._changed()
        assert self.loop is not None
        if self.loop.time() - self._yielded > YIELD_S:
            await asyncio.sleep(0)
            self._yielded = self.loop.time()

    def _session_started(self) -> None:
        self.restore_budget()
        if self.restored is None:
            return
        for waiter in self.restored.waiters:
            if waiter.timeout_s is not None:
                left = max(0.0, waiter.timeout_s - waiter.waited_s)
                self._waiter_due[(waiter.step, waiter.waiter_id)] = self._now + left
                self._arm(waiter.step, waiter.waiter_id, left)
        self.restored.waiters.clear()

    def _arm(self, step: str, waiter_id: str, after_s: float) -> None:
        """The engine arms a waiter's timeout only when the waiter is made."""
        assert self.loop is not None

        def fire() -> None:
            tick = TickWaiterTimeout(step_id=StepId.from_str(step), waiter_id=waiter_id)
            self.deliver(tick)

        self.loop.call_later(after_s, fire)

    def deliver(self, tick: WorkflowTick) -> None:
        """Put a tick into the mailbox, from the loop's thread."""
        if self.inner is not None and self.inner.is_running:
            assert self.loop is not None
            task = self.loop.create_task(self.inner.send_event(tick))
            self._keep(task)

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def _tasks(self) -> set[asyncio.Task[Any]]:
        tasks: set[asyncio.Task[Any]] = self.__dict__.setdefault("_own_tasks", set())
        return tasks

    def _on_event(self, tick: TickAddEvent) -> None:
        external = self._external.pop(id(tick), None) is not None
        if tick.emission is not None and not external:
            return
        if not self.state.is_running:
            # The event ended the run (it was sent to a step that cannot take
            # it); folding it would end the next life too.
            return
        more: Record = {}
        origin = self._origin.pop(id(tick.event), "start" if isinstance(tick.event, StartEvent) else "")
        if origin:
            more["o"] = origin
        if tick.emission in self._different:
            more["x"] = 1
        self.recorder.other(tick, self.state.journal_seq - 1, self._now, more)

    def _on_result(self, tick: TickStepResult) -> None:
        flight = self.flights.get(tick.invocation_id)
        if flight is None:
            raise RuntimeError(f"a result of the unknown execution {tick.invocation_id} arrived")
        stop = next((e for e in result_events(tick) if isinstance(e, StopEvent)), None)
        final = not self.state.is_running and stop is None
        record = self.recorder.result(tick, flight, self.state.journal_seq - 1, self._now, final)
        self.progress.recorded(record)
        self.questions.result(tick, self._now)
        self._note_waiters(tick.result, flight)
        self.carried.pop(flight.work_item_id, None)
        if stop is not None and record["k"] == "R":
            number = self.recorder.journal.length - 1
            self.stop_ref = [number, next(i for i, r in enumerate(tick.result) if getattr(r, "result", None) is stop)]
        if final:
            failure = next((r for r in tick.result if r.type == "failed"), None)
            self.failure = (flight, None if failure is None else failure.exception)
        flight.recorded = True
        self.flights.end(flight)

    def _note_waiters(self, results: list[StepFunctionResult], flight: Flight) -> None:
        for item in results:
            if isinstance(item, AddWaiter) and item.timeout is not None:
                self._waiter_due.setdefault((flight.step, item.waiter_id), self._now + item.timeout)
            elif item.type == "delete_waiter":
                self._waiter_due.pop((flight.step, item.waiter_id), None)

    # -- the mailbox and the stream ---------------------------------------

    async def receive(self, inner: Callable[[], Awaitable[WaitResult]]) -> WaitResult:
        """The next tick from outside."""
        if self._backlog:
            tick = self._backlog.popleft()
        else:
            result = await inner()
            if not isinstance(result, WaitResultTick):
                return result
            tick = result.tick
        self._refresh()
        if self._is_idle and not isinstance(tick, TickSessionStart):
            # Time spent waiting for a person is no time alive: a session
            # start forgives it, and rewinds nothing as nothing is under way.
            self._backlog.appendleft(tick)
            tick = TickSessionStart(stamped_at=self._now)
        elif getattr(tick, "stamped_at", 0.0) is None:
            tick = tick.model_copy(update={"stamped_at": self._now})
        if isinstance(tick, TickAddEvent):
            self.questions.event(tick.event, self.state)
        self._external[id(tick)] = tick
        self._set_idle(False)
        return WaitResultTick(tick=tick)

    def sent_by_step(self, tick: WorkflowTick) -> bool:
        """Whether a step's send is delivered: not when its dead forerunner had sent the same."""
        if _runs_alone():
            return False
        if not isinstance(tick, TickAddEvent) or tick.emission is None:
            return True
        flight = self.flights.get(tick.emission.invocation_id)
        known = {} if flight is None else self.carried.get(flight.work_item_id, {})
        if flight is None or tick.emission.index not in known:
            return True
        earlier = known.pop(tick.emission.index)
        if self._same(earlier, tick.event):
            known[tick.emission.index] = earlier
            return False
        found = find_execution(self.state, flight.invocation_id)
        if found is not None:
            found[1].received.discard(tick.emission.index)
        self._different.add(tick.emission)
        self.warn(
            f"{flight.label} sent another event than before it was cut off "
            f"(send {tick.emission.index}, {type(tick.event).__name__}): both were delivered"
        )
        return True

    def sent_by_body(self, tick: WorkflowTick) -> bool:
        """Whether what the body sends is delivered: not when an earlier life delivered the same."""
        if not isinstance(tick, TickAddEvent):
            return True
        if self.stream_events:
            self._origin[id(tick.event)] = "reply"
            return True
        self._origin[id(tick.event)] = "body"
        number, self._body_sends = self._body_sends, self._body_sends + 1
        earlier = [] if self.restored is None else self.restored.body_sends
        if number >= len(earlier):
            return True
        if self._same(earlier[number], tick.event):
            return False
        self.warn(
            f"the cell sent another {type(tick.event).__name__} than in the life before "
            f"(send {number}): both were delivered"
        )
        return True

    def _same(self, a: Event, b: Event) -> bool:
        blobs = self.recorder.journal.store_blobs
        try:
            return bool(encode(a, blobs) == encode(b, blobs))
        except CannotKeepError:
            return False

    def publishes(self, event: Event) -> bool:
        """Whether an event goes into the stream: internal ones only for a consumer."""
        if _runs_alone():
            return False
        if not isinstance(event, InternalDispatchEvent) or self.consumed:
            return True
        self._internal_published += 1
        return self._internal_published <= INTERNAL_KEPT

    def streaming(self) -> None:
        """The body consumes the stream."""
        self.consumed = True

    def streamed(self, event: Event) -> None:
        """The body got an event from the stream."""
        self.stream_events += 1

    # -- executions -------------------------------------------------------

    async def next_task(
        self, running: list[NamedTask], pending: list[PendingStart], timeout: float | None
    ) -> WaitForNextTaskResult:
        """Start what is pending and wait for the next task to finish."""
        started = [self._start(one) for one in pending]
        named = [*running, *started]
        tasks = all_tasks(named)
        idle = len(tasks) == 1 and not is_busy(self.state) and not self._backlog
        if idle:
            self._set_idle(True)
            timeout = self._waiting_timeout()
        done, _ = await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        self._refresh()
        if not done and idle:
            assert self.internal is not None
            await self.internal.deliver(TickSessionStart(stamped_at=self._now))
            done, _ = await asyncio.wait(tasks)
        return WaitForNextTaskResult(pick_highest_priority(named, done) if done else None, started)

    def _refresh(self) -> None:
        self._now = max(self._now, time.time())

    def _waiting_timeout(self) -> float | None:
        waiting = {(str(step_id), waiter.waiter_id) for step_id, waiter in open_waiters(self.state)}
        due = [at for key, at in self._waiter_due.items() if key in waiting]
        return max(0.0, min(due) - time.time()) if due else None

    def _set_idle(self, idle: bool) -> None:
        if idle != self._is_idle:
            self._is_idle = idle
            self._idle(idle)

    def _start(self, one: PendingStart) -> NamedTask:
        assert self.loop is not None
        if not isinstance(one, PendingWorker):
            return one.start(self.loop.create_task(one.coro))
        flight = self._flight(one)
        self.flights.add(flight)
        task = self.loop.create_task(self._gated(flight, one))
        flight.task = task
        task.add_done_callback(lambda done: self._ended(flight, done))
        return one.start(task)

    def _flight(self, one: PendingWorker) -> Flight:
        step = str(one.step_id)
        execution = next(
            e for s, e in executions(self.state) if s == one.step_id and e.worker_id == one.worker_id
        )
        known = self.indexes.setdefault(step, {})
        payload = execution.shared_state.collection_release_payload
        inputs = (
            list(payload.events)
            if payload is not None
            else list((execution.bound_events or {}).values()) or [execution.event]
        )
        info = next(info for info in self.progress.steps if info.name == step)
        return Flight(
            invocation_id=execution.invocation_id or "",
            step=step,
            index=known.setdefault(execution.work_item_id or "", len(known)),
            work_item_id=execution.work_item_id or "",
            attempt=execution.attempts,
            event=execution.event,
            inputs=inputs,
            sync=info.sync,
        )

    async def _gated(self, flight: Flight, one: PendingWorker) -> Any:
        try:
            if not self.flights.gate.is_set():
                await self.flights.gate.wait()
                flight.gated = False
        except asyncio.CancelledError:
            one.coro.close()
            raise
        return await one.coro

    def _ended(self, flight: Flight, task: asyncio.Task[Any]) -> None:
        if task.cancelled() or task.exception() is not None:
            self.flights.end(flight)
        self.flights.poke()

    def _draining(self, flight: Flight) -> None:
        self.held_back = self.held_back or flight
        self._changed()

    def waits(self) -> bool:
        """Whether somebody outside can move the run: a waiter, or a question."""
        return bool(open_waiters(self.state) or self.questions.open(self.state))

    def gated(self) -> dict[str, int]:
        """By step, executions that were dispatched but held back."""
        return dict(Counter(f.step for f in self.flights.current() if f.gated))

    # -- the body's side --------------------------------------------------

    def snapshot(self) -> BrokerState:
        """A copy of the broker state as it stands."""
        return plain(self.state)

    def recorded_result(self) -> StopEvent:
        """Only a run that is answered from the record has one."""
        raise RuntimeError("this run is executed")

    async def outcome(self, inner: Awaitable[StopEvent] | None) -> StopEvent:
        """The result, or the exception that ends the body."""
        if inner is None:
            raise RuntimeError("the engine did not start this run")
        return await self._conclude(inner)

    def awaited(self) -> None:
        """The body awaits the handler."""
        self.was_awaited = True
        self.flights.poke()

    def given_up(self) -> None:
        """The body stopped waiting for the handler."""
        self._given_up()


def _runs_alone() -> bool:
    flight = CURRENT.get()
    return flight is not None and flight.alone
