"""Get between a workflow and its runtime, without changing either's behaviour.

``Workflow.run`` is often overridden (agents do), but every run goes through
``Context._workflow_run``. That is where a run is offered to the current
session. A run that is taken goes through a decorator around the workflow's own
runtime; the decorator stays in place afterwards and passes all else through,
because the engine reads ``workflow._runtime`` again at each step.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from workflows.context.context import Context
from workflows.context.context_types import SerializedContext
from workflows.context.external_context import ExternalContext
from workflows.context.pre_context import PreContext
from workflows.context.serializers import BaseSerializer
from workflows.context.state_store import StateStore
from workflows.events import Event, StartEvent, StopEvent
from workflows.handler import WorkflowHandler
from workflows.plugins.basic import BasicRuntime, get_current_run_id
from workflows.runtime.runtime_decorators import (
    BaseInternalRunAdapterDecorator,
    BaseRuntimeDecorator,
)
from workflows.runtime.types.internal_state import BrokerState
from workflows.runtime.types.named_task import NamedTask, PendingStart
from workflows.runtime.types.plugin import (
    ExternalRunAdapter,
    InternalRunAdapter,
    RegisteredWorkflow,
    Runtime,
    SnapshottableAdapter,
    V2RuntimeCompatibilityShim,
    WaitForNextTaskResult,
    WaitResult,
)
from workflows.runtime.types.step_function import StepWorkerFunction
from workflows.runtime.types.ticks import WorkflowTick
from workflows.workflow import Workflow

from ..errors import EngineError
from .state import TrackedStore

T = TypeVar("T")

ALONE: ContextVar[bool] = ContextVar("wfresume_alone", default=False)
"""Whether the running code is a step that runs by itself: runs that it starts are offered to nobody."""


class Port(Protocol):
    """One run as the engine sees it: each method stands where a plain adapter's would."""

    engine_run_id: str
    store: TrackedStore

    earlier: Iterable[Event]

    def attached(self, internal: AttachedInternal) -> None: ...
    def renamed_waiter(self) -> None: ...
    def started(self, inner: ExternalRunAdapter) -> None: ...
    def apart(self, make: Callable[[], T]) -> T: ...
    def opening(
        self, init_state: BrokerState, start_event: StartEvent | None
    ) -> tuple[BrokerState, StartEvent | None]: ...
    def is_recorded(self) -> bool: ...
    def step(self, name: str, function: StepWorkerFunction) -> StepWorkerFunction: ...
    def now(self) -> float: ...
    async def on_tick(self, tick: WorkflowTick) -> None: ...
    async def next_task(
        self, running: list[NamedTask], pending: list[PendingStart], timeout: float | None
    ) -> WaitForNextTaskResult: ...
    async def receive(self, inner: Callable[[], Awaitable[WaitResult]]) -> WaitResult: ...
    def sent_by_step(self, tick: WorkflowTick) -> bool: ...
    def sent_by_body(self, tick: WorkflowTick) -> bool: ...
    def publishes(self, event: Event) -> bool: ...
    def streaming(self, waits: bool) -> None: ...
    def streamed(self, event: Event) -> None: ...
    def snapshot(self) -> BrokerState: ...
    def recorded_result(self) -> StopEvent: ...
    async def outcome(self, inner: Awaitable[StopEvent] | None) -> StopEvent: ...
    def awaited(self) -> None: ...
    def given_up(self) -> None: ...


Offer = Callable[[Workflow, "Context[Any]", "StartEvent | None", "str | None"], "Port | None"]
"""Asks the current session whether it takes a run; None lets it pass."""


class AttachedInternal(BaseInternalRunAdapterDecorator):
    """The loop's side of a run that a session drives."""

    def __init__(self, decorated: InternalRunAdapter, port: Port) -> None:
        super().__init__(decorated)
        self._port = self.port = port
        port.attached(self)

    async def get_now(self) -> float:
        return self._port.now()

    async def on_tick(self, tick: WorkflowTick) -> None:
        await self._port.on_tick(tick)
        await super().on_tick(tick)
        if isinstance(self._innermost(), SnapshottableAdapter):
            # The engine keeps every tick for replay(); the journal has them.
            self._innermost().replay().clear()

    def _innermost(self) -> Any:
        adapter: Any = self._decorated
        while isinstance(adapter, BaseInternalRunAdapterDecorator):
            adapter = adapter._decorated
        return adapter

    async def send_event(self, tick: WorkflowTick) -> None:
        if self._port.sent_by_step(tick):
            await super().send_event(tick)

    async def deliver(self, tick: WorkflowTick) -> None:
        """Put a tick into the mailbox, past the port."""
        await super().send_event(tick)

    async def wait_receive(self, timeout_seconds: float | None = None) -> WaitResult:
        return await self._port.receive(lambda: self._decorated.wait_receive(timeout_seconds))

    async def write_to_event_stream(self, event: Event) -> None:
        if self._port.publishes(event):
            await super().write_to_event_stream(event)

    async def publish(self, event: Event) -> None:
        """Put an event into the stream, past the port."""
        await super().write_to_event_stream(event)

    def get_state_store(self, namespace: tuple[str, ...] = ()) -> StateStore[Any] | None:
        return None if namespace else self._port.store

    async def wait_for_next_task(
        self,
        running: list[NamedTask],
        pending: list[PendingStart],
        timeout: float | None = None,
    ) -> WaitForNextTaskResult:
        return await self._port.next_task(running, pending, timeout)


class AttachedExternal(ExternalRunAdapter, SnapshottableAdapter, V2RuntimeCompatibilityShim):
    """The body's side of a run that a session drives, or of one that is recorded.

    Args:
        port: the run.
        inner: the plain adapter, or None for a run whose result is recorded.
    """

    def __init__(self, port: Port, inner: Any | None) -> None:
        self._port = port
        self._inner = inner
        self._outcome: asyncio.Task[StopEvent] | None = None
        self._consumed = False

    @property
    def run_id(self) -> str:
        return self._port.engine_run_id

    async def send_event(self, tick: WorkflowTick) -> None:
        if self._inner is not None and self._port.sent_by_body(tick):
            await self._inner.send_event(tick)

    async def stream_published_events(self) -> AsyncGenerator[Event, None]:
        first, self._consumed = not self._consumed, True
        for event in self._port.earlier if first else ():
            yield event
        if self._inner is None:
            self._port.streaming(False)
            if first:
                yield self._port.recorded_result()
            return
        stream = self._inner.stream_published_events()
        while True:
            self._port.streaming(True)
            try:
                event = await anext(stream)
            except StopAsyncIteration:
                return
            finally:
                self._port.streaming(False)
            self._port.streamed(event)
            yield event

    async def get_result(self) -> StopEvent:
        if self._outcome is None:
            inner = None if self._inner is None else self._inner.get_result()
            outcome = self._port.outcome(inner)
            self._outcome = self._port.apart(lambda: asyncio.ensure_future(outcome))
            # A body that gave up waiting never looks at it; the session does.
            self._outcome.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.shield(self._outcome)
        except asyncio.CancelledError:
            if not self._outcome.done():
                # As without us: a body that gives up waiting ends the run.
                self._port.given_up()
            raise

    def get_result_or_none(self) -> StopEvent | None:
        if self._inner is None:
            return self._port.recorded_result()
        result: StopEvent | None = self._inner.get_result_or_none()
        return result

    @property
    def is_running(self) -> bool:
        return self._inner is not None and bool(self._inner.is_running)

    def abort(self) -> None:
        if self._inner is not None and self._inner.is_running:
            self._inner.abort()

    @property
    def init_state(self) -> BrokerState:
        # The state as it stands, with no ticks to fold on top of it.
        return self._port.snapshot()

    def replay(self) -> list[WorkflowTick]:
        return []

    def get_state_store(self, namespace: tuple[str, ...] = ()) -> StateStore[Any] | None:
        return None if namespace else self._port.store


class AttachedHandler(WorkflowHandler):
    """The engine's handler, which also tells whether the body awaited it."""

    _port: Port

    def __await__(self) -> Generator[Any, Any, Any]:
        self._port.awaited()
        return super().__await__()

    async def stop_event_result(self) -> StopEvent:
        self._port.awaited()
        return await super().stop_event_result()


class AttachedRuntime(BaseRuntimeDecorator):
    """Passes everything to the workflow's own runtime, but for runs with a port."""

    def __init__(self, decorated: Runtime) -> None:
        super().__init__(decorated)
        self.ports: dict[str, Port] = {}

    def register(self, workflow: Workflow) -> RegisteredWorkflow:
        registered = super().register(workflow)
        port = self.ports.get(get_current_run_id() or "")
        if port is None:
            return registered
        return RegisteredWorkflow(
            workflow=registered.workflow,
            workflow_run_fn=registered.workflow_run_fn,
            steps={name: port.step(name, function) for name, function in registered.steps.items()},
        )

    def get_registered(self, workflow: Workflow) -> RegisteredWorkflow | None:
        if get_current_run_id() in self.ports:
            return None
        return super().get_registered(workflow)

    def run_workflow(
        self,
        run_id: str,
        workflow: Workflow,
        init_state: BrokerState,
        start_event: StartEvent | None = None,
        serialized_state: dict[str, Any] | None = None,
        serializer: BaseSerializer | None = None,
    ) -> ExternalRunAdapter:
        port = self.ports.get(run_id)
        if port is None:
            return super().run_workflow(
                run_id, workflow, init_state, start_event, serialized_state, serializer
            )
        if port.is_recorded():
            return AttachedExternal(port, None)
        # A handler or sys.last_exc of an earlier life may hold the old queues.
        basic_runtime_of(workflow)._queues.pop(run_id, None)
        state, start = port.opening(init_state, start_event)
        plain = super().run_workflow
        inner = port.apart(lambda: plain(run_id, workflow, state, start, None, serializer))
        port.started(inner)
        return AttachedExternal(port, inner)

    def get_internal_adapter(self, workflow: Workflow) -> InternalRunAdapter:
        inner = super().get_internal_adapter(workflow)
        port = self.ports.get(inner.run_id)
        return inner if port is None else AttachedInternal(inner, port)

    def get_external_adapter(self, run_id: str) -> ExternalRunAdapter:
        inner = super().get_external_adapter(run_id)
        port = self.ports.get(run_id)
        return inner if port is None else AttachedExternal(port, inner)


def basic_runtime_of(workflow: Workflow) -> BasicRuntime:
    """The engine's plain runtime below any decorators.

    Raises:
        EngineError: the workflow runs on something else.
    """
    runtime: Runtime = workflow._runtime
    while isinstance(runtime, BaseRuntimeDecorator):
        runtime = runtime._decorated
    if not isinstance(runtime, BasicRuntime):
        raise EngineError(
            f"{type(workflow).__name__} runs on {type(runtime).__name__}, which keeps its own records: "
            "build it without runtime=, or run its cell without %%wfrun"
        )
    return runtime


def _attached(workflow: Workflow) -> AttachedRuntime:
    runtime = workflow._runtime
    if isinstance(runtime, AttachedRuntime):
        return runtime
    basic_runtime_of(workflow)
    attached = AttachedRuntime(runtime)
    # _switch_runtime refuses a workflow that has run once; nothing but the
    # decorator is new, so the swap is safe at any time between runs.
    workflow._runtime = attached
    return attached


_plain_run = Context._workflow_run
_offers: list[Offer] = []


def _workflow_run(
    self: Context[Any], workflow: Workflow, start_event: StartEvent | None, run_id: str | None = None
) -> WorkflowHandler:
    port = None
    for offer in () if ALONE.get() else _offers:
        port = offer(workflow, self, start_event, run_id)
    if port is None:
        return _plain_run(self, workflow, start_event, run_id)
    runtime = _attached(workflow)
    face = self._face
    if isinstance(face, ExternalContext) and not face.is_running:
        # The state goes over as it is, by our codec; the engine's JSON would
        # change some values and drop others.
        self._face = PreContext(
            workflow, previous_context=face.to_dict(include_state=False), serializer=face._serializer
        )
    runtime.ports[port.engine_run_id] = port
    try:
        handler = _plain_run(self, workflow, start_event, port.engine_run_id)
    except BaseException:
        runtime.ports.pop(port.engine_run_id, None)
        self._face = face
        raise
    handler.__class__ = AttachedHandler
    assert isinstance(handler, AttachedHandler)
    handler._port = port
    return handler


def detach(workflow: Workflow, port: Port) -> None:
    """Forget a run that has ended, so that its id can be driven again."""
    runtime = workflow._runtime
    if isinstance(runtime, AttachedRuntime) and runtime.ports.get(port.engine_run_id) is port:
        del runtime.ports[port.engine_run_id]


def offer_runs_to(offer: Offer) -> None:
    """Offer each run of this process to ``offer`` before the engine starts it."""
    _offers[:] = [offer]
    Context._workflow_run = _workflow_run  # type: ignore[method-assign]  # the one place all runs pass


def snapshot_of(ctx: Context[Any]) -> dict[str, Any] | None:
    """The engine's own snapshot that a passed ``ctx=`` begins from, without its state.

    None where it says nothing that a new run would not have.
    """
    face = ctx._face
    if isinstance(face, PreContext):
        snapshot = face.init_snapshot.model_dump(mode="python")
        snapshot["state"] = {}
        return None if snapshot == SerializedContext().model_dump(mode="python") else snapshot
    if isinstance(face, ExternalContext):
        return face.to_dict(include_state=False)
    return None


def state_from_snapshot(workflow: Workflow, snapshot: dict[str, Any] | None) -> BrokerState:
    """The broker state that the engine makes of a snapshot (None: of nothing)."""
    serializer = workflow._runtime.get_serializer(workflow)
    parsed = (
        SerializedContext() if snapshot is None else SerializedContext.from_dict_auto(snapshot, serializer)
    )
    return BrokerState.from_serialized(parsed, workflow, serializer)


def snapshot_from_state(workflow: Workflow, state: BrokerState) -> dict[str, Any]:
    """A snapshot, in the engine's own form, of a broker state."""
    serializer = workflow._runtime.get_serializer(workflow)
    return state.to_serialized(serializer).model_dump(mode="python")
