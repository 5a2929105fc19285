"""A finished call: its recorded result and final state, at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from ..engine import (
    AttachedInternal,
    BrokerState,
    Event,
    NamedTask,
    PendingStart,
    StartEvent,
    StateModel,
    StepWorkerFunction,
    StopEvent,
    TrackedStore,
    WaitForNextTaskResult,
    WaitResult,
    Workflow,
    WorkflowTick,
    state_from_snapshot,
)
from ..journal import Final

T = TypeVar("T")


class _Unwatched:
    def read(self, path: str | None) -> None:
        """Nothing is recorded after the end."""

    def wrote(self, path: str | None) -> None:
        """Nothing is recorded after the end."""

    def edited(self, before: StateModel, after: StateModel) -> None:
        """Nothing is recorded after the end."""


class Recorded:
    """The engine's port for a run that is answered from its record.

    Args:
        workflow: the workflow.
        engine_run_id: the id the engine knows the run by.
        final: how it ended.
        earlier: what it had put into its stream.
    """

    def __init__(
        self, workflow: Workflow, engine_run_id: str, final: Final, earlier: Iterable[Event] = ()
    ) -> None:
        self.earlier = earlier
        self.engine_run_id = engine_run_id
        self.store = TrackedStore(final.model, _Unwatched())
        self.was_awaited = False
        self._workflow = workflow
        self._final = final

    def is_recorded(self) -> bool:
        """No step is executed."""
        return True

    def recorded_result(self) -> StopEvent:
        """The stop event."""
        assert isinstance(self._final.stop, StopEvent)
        return self._final.stop

    async def outcome(self, inner: Awaitable[StopEvent] | None) -> StopEvent:
        """The stop event."""
        return self.recorded_result()

    def snapshot(self) -> BrokerState:
        """The broker state in which the run ended."""
        return state_from_snapshot(self._workflow, self._final.snapshot)

    def awaited(self) -> None:
        """The body awaits the handler."""
        self.was_awaited = True

    def given_up(self) -> None:
        """Nothing runs that could be ended."""

    def streaming(self, waits: bool) -> None:
        """The stream holds what is on record."""

    def streamed(self, event: Event) -> None:
        """The stream holds what is on record."""

    def sent_by_body(self, tick: WorkflowTick) -> bool:
        """Nobody is there to take it."""
        return False

    def attached(self, internal: AttachedInternal) -> None:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop

    def renamed_waiter(self) -> None:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop

    def started(self, inner: Any) -> None:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop

    def opening(
        self, init_state: BrokerState, start_event: StartEvent | None
    ) -> tuple[BrokerState, StartEvent | None]:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop

    def apart(self, make: Callable[[], T]) -> T:
        """Call it as it is."""
        return make()

    def step(self, name: str, function: StepWorkerFunction) -> StepWorkerFunction:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop

    def now(self) -> float:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop

    async def on_tick(self, tick: WorkflowTick) -> None:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop

    async def next_task(
        self, running: list[NamedTask], pending: list[PendingStart], timeout: float | None
    ) -> WaitForNextTaskResult:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop

    async def receive(self, inner: Callable[[], Awaitable[WaitResult]]) -> WaitResult:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop

    def sent_by_step(self, tick: WorkflowTick) -> bool:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop

    def publishes(self, event: Event) -> bool:
        """The engine makes no loop for a recorded run."""
        raise _NoLoop


class _NoLoop(RuntimeError):
    def __init__(self) -> None:
        super().__init__("a recorded run has no loop")
