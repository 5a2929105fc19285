"""One run, driven by this process: every tick is on disk before it takes effect."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..engine import (
    AttachedInternal,
    BrokerState,
    Event,
    Holder,
    InProgressState,
    LiveBrokerState,
    NamedTask,
    PendingStart,
    StartEvent,
    StateModel,
    StepWorkerFunction,
    StopEvent,
    TickAddEvent,
    TickCancelRun,
    TickIdleCheck,
    TickSessionStart,
    TickStepResult,
    TickTimeout,
    TrackedStore,
    WaitForNextTaskResult,
    WaitResult,
    Workflow,
    WorkflowTick,
    open_waiters,
    plain,
    seed,
    steps_of,
    unmark,
    workers_of,
)
from ..journal import Journal, Questions, Record, Restored
from .asking import Asking
from .flights import CURRENT, Flight, Flights, T, apart
from .hooks import Clock, Hooks
from .mailbox import Mailbox
from .offspring import watch
from .progress import Progress, Standing
from .recorder import Recorder, result_events
from .tasks import Tasks
from .timers import Timers
from .watch import Watch
from .worker import Workers

YIELD_S = 0.02
"""Longest time that processing ticks may keep the event loop, in seconds."""


@dataclass(frozen=True)
class Beginning:
    """What a run begins or goes on from.

    Args:
        restored: the run as earlier lives left it, or None for a new one.
        model: the state to begin a new run with.
        opening: members of the opening record of a new run.
        previous_beat: the last sign of the life before, seconds since the epoch, or None.
        timeout_s: replaces the workflow's own budget; None keeps it, inf removes it.
        codes: digest of each step's code as it is now.
        life: further members of the record that opens this life.
    """

    restored: Restored | None
    model: StateModel
    opening: Record
    previous_beat: float | None
    timeout_s: float | None
    codes: Mapping[str, str]
    life: Record


class Drive:
    """The engine's port for one run.

    Args:
        workflow: the workflow as it is defined now.
        engine_run_id: the id the engine knows the run by.
        journal: where it is written.
        beginning: what it begins from.
        hooks: of the session.
    """

    def __init__(
        self, workflow: Workflow, engine_run_id: str, journal: Journal, beginning: Beginning, hooks: Hooks
    ) -> None:
        self.workflow = workflow
        self.engine_run_id = engine_run_id
        self.holder = Holder()
        self._hooks = hooks
        self._beginning = beginning
        self._clock = Clock()
        self.flights = Flights(hooks.changed)
        self._watch = Watch(journal.store_blobs, self.flights)
        self.recorder = Recorder(journal, self._watch, hooks)
        self.progress = Progress(steps_of(workflow))
        restored = beginning.restored
        self.store = TrackedStore(beginning.model if restored is None else restored.model, self._watch)
        self.questions = Questions() if restored is None else restored.questions
        self._carried: dict[str, dict[int, Event]] = {} if restored is None else restored.carried
        self._compose(journal, {} if restored is None else restored.indexes)
        if restored is not None:
            self.recorder.remember(restored)
        self._own_budget: tuple[float | None] | None = None
        self._yielded = 0.0
        self._deliveries: set[asyncio.Task[Any]] = set()
        self.parked: list[tuple[Flight, Exception]] = []
        self.was_awaited = False
        self.earlier: Iterable[Event] = ()
        self.has_begun = False
        self.over = False
        self.stop_ref: list[int] | None = None
        self.failure: tuple[Flight, Any] | None = None
        self.held_back: Flight | None = None
        self.internal: AttachedInternal | None = None
        self.inner: Any = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._release: Callable[[], None] = lambda: None

    def _compose(self, journal: Journal, indexes: dict[str, dict[str, int]]) -> None:
        hooks, restored = self._hooks, self._beginning.restored
        self._mailbox = Mailbox(
            hooks,
            self._clock,
            self.holder,
            self.flights,
            journal.store_blobs,
            self._carried,
            [] if restored is None else restored.body_sends,
        )
        self.asking = Asking(
            self.questions,
            self.progress.steps,
            self._mailbox,
            hooks,
            self.deliver,
            set() if restored is None else restored.answers,
        )
        self._timers = Timers(self._clock, self.holder, self.deliver)
        self.tasks = Tasks(
            self._clock,
            self.holder,
            self.flights,
            self._mailbox,
            self.progress.steps,
            indexes,
            self._timers.next_due,
            self._put,
        )
        self._workers = Workers(
            self.engine_run_id, self.holder, self.flights, self._carried, hooks, self._draining
        )

    # -- the engine starts ------------------------------------------------

    def attached(self, internal: AttachedInternal) -> None:
        """The engine made an adapter of the loop's side."""
        self.internal = internal

    def renamed_waiter(self) -> None:
        """A step waits under another name than before, for what it waited for then."""
        self.asking.renamed(CURRENT.get())

    def started(self, inner: Any) -> None:
        """The engine started the loop."""
        self.inner = inner
        self.loop = asyncio.get_running_loop()
        self._release = watch(self.loop, self.flights, self._hooks.blocked)

    def apart(self, make: Callable[[], T]) -> T:
        """Call something that starts tasks of the run, not of the execution that may be calling."""
        return apart(make)

    def left(self) -> None:
        """Nothing of the run is executing any more."""
        release, self._release = self._release, lambda: None
        release()

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
        self._clock.refresh(time.time())
        now, restored = self._clock.now, self._beginning.restored
        start: StartEvent | None = None
        if restored is None:
            self.recorder.append({"k": "O", "t": now, **self._beginning.opening})
            state, start = seed(init_state, self.holder), start_event
        else:
            state = seed(restored.state, self.holder)
            if not restored.started:
                start = start_event
        self.recorder.append(
            {
                "k": "L",
                "t": now,
                "prev": self._beginning.previous_beat,
                "w": workers_of(state),
                **self._beginning.life,
            }
        )
        for lost in self._watch.begin(self.store):
            key = ".".join(str(part) for part in lost.path)[2:]
            self._hooks.warn(
                f"state key '{key}' ({lost.error.type_name}) cannot be kept: put it into a Resource"
            )
        timeout_s = self._beginning.timeout_s
        if timeout_s is not None:
            self._own_budget = (self.workflow._timeout,)
            self.workflow._timeout = None if timeout_s == float("inf") else timeout_s
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
        """The run's time, seconds since the epoch."""
        return self._clock.now

    @property
    def state(self) -> LiveBrokerState:
        """The live broker state."""
        return self.holder.state

    def known_state(self) -> LiveBrokerState | None:
        """The live broker state; before the loop begins, the one it will go on from."""
        if hasattr(self.holder, "state"):
            return self.holder.state
        restored = self._beginning.restored
        return None if restored is None else restored.state

    def alive_s(self, now: float) -> float:
        """Seconds the run has been alive over all lives; waiting for a person is not counted.

        Args:
            now: seconds since the epoch.
        """
        state = self.known_state()
        if state is None:
            return 0.0
        since = state.last_alive_stamp
        if not self.has_begun or self._mailbox.is_idle or since is None:
            return state.elapsed_alive
        return state.elapsed_alive + max(0.0, self._clock.at(now) - since)

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
        elif not self._ends_the_run(tick) and not isinstance(tick, TickIdleCheck):
            self.recorder.other(tick, self.state.journal_seq - 1, self._clock.now, {})
            if isinstance(tick, TickSessionStart) and not self.has_begun:
                await self._session_started()
        self._hooks.changed()
        loop = asyncio.get_running_loop()
        if loop.time() - self._yielded > YIELD_S:
            await asyncio.sleep(0)
            self._yielded = loop.time()

    def _ends_the_run(self, tick: WorkflowTick) -> bool:
        """A cancel or a budget that is used up: folded, it would end the next life too."""
        used_up = isinstance(tick, TickTimeout) and not self.state.is_running
        self.over = self.over or used_up or isinstance(tick, TickCancelRun)
        return self.over

    async def _session_started(self) -> None:
        self.has_begun = True
        self.restore_budget()
        restored = self._beginning.restored
        if restored is None or self.internal is None:
            return
        await self.asking.publish_again(self.internal, self.state)
        self._timers.arm(restored)

    def deliver(self, tick: WorkflowTick) -> None:
        """Put a tick into the mailbox, from the loop's thread."""
        if self.inner is not None and self.inner.is_running:
            task = asyncio.ensure_future(self._put(tick))
            self._deliveries.add(task)
            task.add_done_callback(self._deliveries.discard)

    async def _put(self, tick: WorkflowTick) -> None:
        await self.inner.send_event(tick)

    def _on_event(self, tick: TickAddEvent) -> None:
        if not self._mailbox.came_from_outside(tick):
            return
        if not self.state.is_running:
            # The event ended the run (it was sent to a step that cannot take
            # it); folded, it would end the next life too.
            self.over = True
            return
        unmark(tick.event)
        about = self._mailbox.about(tick)
        self.recorder.other(tick, self.state.journal_seq - 1, self._clock.now, about)
        if "an" in about:
            self.asking.delivered(about["an"])
        self.questions.event(tick.event, self.state, about.get("to", ""))
        self._hooks.asked()

    def _on_result(self, tick: TickStepResult) -> None:
        flight = self.flights.get(tick.invocation_id)
        if flight is None:
            raise RuntimeError(f"a result of the unknown execution {tick.invocation_id} arrived")
        stop = next((e for e in result_events(tick) if isinstance(e, StopEvent)), None)
        final = not self.state.is_running and stop is None
        record = self.recorder.result(tick, flight, self.state.journal_seq - 1, self._clock.now, final)
        self.progress.recorded(record, self._beginning.codes.get(flight.step, ""))
        self.asking.noted(tick, flight, self.state, self._clock.now)
        self._timers.note(flight.step, tick.result)
        self._carried.pop(flight.work_item_id, None)
        self.over = self.over or not self.state.is_running
        if stop is not None and record["k"] == "R":
            index = next(i for i, item in enumerate(tick.result) if getattr(item, "result", None) is stop)
            self.stop_ref = [self.recorder.journal.length - 1, index]
        if flight.parked is not None:
            self.parked.append((flight, flight.parked.exception))
        if final:
            failure = next((item for item in tick.result if item.type == "failed"), None)
            self.failure = (flight, None if failure is None else failure.exception)
        flight.recorded = True
        self.flights.end(flight)

    # -- what the engine asks ---------------------------------------------

    async def receive(self, inner: Callable[[], Awaitable[WaitResult]]) -> WaitResult:
        """The next tick from outside."""
        return await self._mailbox.receive(inner)

    async def next_task(
        self, running: list[NamedTask], pending: list[PendingStart], timeout: float | None
    ) -> WaitForNextTaskResult:
        """Start what is pending and wait for the next task to finish."""
        return await self.tasks.next(running, pending, timeout)

    def sent_by_step(self, tick: WorkflowTick) -> bool:
        """Whether a step's send is delivered."""
        return self._mailbox.sent_by_step(tick)

    def sent_by_body(self, tick: WorkflowTick) -> bool:
        """Whether what the body sends is delivered."""
        return self._mailbox.sent_by_body(tick)

    def publishes(self, event: Event) -> bool:
        """Whether an event goes into the stream."""
        return self._mailbox.publishes(event)

    def streaming(self, waits: bool) -> None:
        """The body consumes the stream: it waits for the next event now, or no longer."""
        self._mailbox.streaming(waits)

    def streamed(self, event: Event) -> None:
        """The body got an event from the stream."""
        self._mailbox.streamed()

    @property
    def consumed(self) -> bool:
        """Whether the body consumes the stream, and so may answer by itself."""
        return self._mailbox.consumed

    # -- what the session asks --------------------------------------------

    def _draining(self, flight: Flight) -> None:
        self.held_back = self.held_back or flight
        self._hooks.changed()

    def content(self, path: tuple[Any, ...]) -> str | None:
        """Digest of the state at a path, or None where it cannot be compared."""
        return self._watch.content(path)

    @property
    def is_expecting(self) -> bool:
        """An answer, or what the body has sent, is on its way into the run."""
        return self._mailbox.is_expecting

    def waits(self) -> bool:
        """Whether somebody outside can move the run: a waiter, or a question."""
        return bool(open_waiters(self.state) or self.questions.open(self.state))

    def has_timers(self) -> bool:
        """Whether something of the run is due by itself: a retry, or the end of a wait."""
        return self._timers.has_due()

    def rest(self, rests: bool) -> None:
        """Let the run's time stand still while all it does is wait in runs below it, or go on."""
        self._clock.rest(rests, time.time())

    def standing(self, step: str, one: InProgressState) -> Standing:
        """What an execution that the engine has dispatched is doing."""
        flight = self.flights.get(one.invocation_id)
        if flight is None:
            failed = self.failure is not None and self.failure[0].invocation_id == one.invocation_id
            return "counted" if failed else "queued"
        if flight.held is not None:
            return "counted" if flight.recorded else "failed"
        return "queued" if flight.gated or flight.dead else "running"

    def snapshot(self) -> BrokerState:
        """A copy of the broker state as it stands."""
        return plain(self.state)

    def recorded_result(self) -> StopEvent:
        """Only a run that is answered from the record has one."""
        raise RuntimeError("this run is executed")

    async def outcome(self, inner: Awaitable[StopEvent] | None) -> StopEvent:
        """The result, or the exception that ends the body."""
        return self.recorded_result() if inner is None else await self._hooks.conclude(inner)

    def awaited(self) -> None:
        """The body awaits the handler."""
        self.was_awaited = True
        self.flights.poke()

    def given_up(self) -> None:
        """The body stopped waiting for the handler."""
        self._hooks.given_up()
