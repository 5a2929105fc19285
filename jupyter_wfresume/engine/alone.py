"""Run one step by itself, outside of any run: nothing of it leaves but what is returned."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import dataclasses
import time
import uuid
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel
from workflows.context.state_store import InMemoryStateStore, copy_state_for_edit
from workflows.events import Event
from workflows.plugins.basic import AsyncioAdapterQueues, setting_run_id
from workflows.resource import ResourceManager
from workflows.runtime.types.results import (
    AddWaiter,
    CollectionReleasePayload,
    RetryAttempt,
    SentEvent,
    StepWorkerFailed,
    StepWorkerOutput,
    StepWorkerResult,
    StepWorkerState,
)
from workflows.runtime.types.step_function import as_step_worker_function
from workflows.workflow import Workflow

from ..errors import UsageError
from .attach import ALONE, basic_runtime_of, state_from_snapshot
from .state import store_model
from .waiters import recognize_waiters

T = TypeVar("T")


@dataclass
class Alone:
    """What a step did when it ran by itself.

    Args:
        results: events it returned.
        sends: events it sent, in order.
        published: what it put into the stream, a question included.
        error: what it raised, with its traceback; None where it raised nothing.
        seconds: how long it took.
        state: its own copy of the state, as it left it.
        waits: it waits for an event, and would run again when that is there.
    """

    results: list[Event] = field(default_factory=list)
    sends: list[Event] = field(default_factory=list)
    published: list[Event] = field(default_factory=list)
    error: BaseException | None = None
    seconds: float = 0.0
    state: BaseModel = field(default_factory=BaseModel)
    waits: bool = False


@dataclass(frozen=True)
class _Call:
    """How a step is called with its inputs."""

    event: Event
    payload: CollectionReleasePayload | None = None
    bound: dict[str, Event] | None = None


async def run_alone(
    workflow: Workflow,
    step: str,
    inputs: list[Event],
    model: BaseModel,
    *,
    timeout_s: float | None = None,
    around: StepWorkerState | None = None,
    retry: RetryAttempt | None = None,
) -> Alone:
    """Run one step's function by itself, outside of any run.

    A workflow that the step runs itself runs plainly, in a durable cell too. A
    step that is a plain function goes on in its thread after ``timeout_s``.

    Args:
        workflow: the workflow; it may be running, and is left as it is.
        step: the step's name.
        inputs: its events; several for a fan-in. It works on copies.
        model: the state it sees; it works on a copy.
        timeout_s: seconds after which it is cancelled; None waits for ever.
        around: what ``collect_events`` and ``wait_for_event`` find there.
        retry: which attempt it takes itself for; the first where None.

    Raises:
        UsageError: there is no such step, or it does not take these events.
        EngineError: the workflow has a runtime of its own.
    """
    call = _call_of(workflow, step, [copy_state_for_edit(event) for event in inputs])
    runtime = basic_runtime_of(workflow)
    recognize_waiters()
    run_id = f"alone-{uuid.uuid4().hex}"
    state = around or StepWorkerState(step_name=step, collected_events={}, collected_waiters=[])
    state = dataclasses.replace(
        state, collection_release_payload=call.payload, invocation_id=f"{run_id}-step"
    )
    store = InMemoryStateStore(copy_state_for_edit(model))
    queues = AsyncioAdapterQueues(run_id, state_from_snapshot(workflow, None), store)
    runtime._queues[run_id] = queues
    token = ALONE.set(True)
    try:
        with setting_run_id(run_id):
            worker = _worker(workflow, step, call, state, retry or RetryAttempt())
            outcome, seconds = await _finish(worker, f"{step} took longer than {timeout_s} s", timeout_s)
    finally:
        ALONE.reset(token)
        runtime._queues.pop(run_id, None)
    published: list[Event] = []
    while not queues.publish_queue.empty():
        published.append(queues.publish_queue.get_nowait())
    return _told(outcome, Alone(published=published, seconds=seconds, state=store_model(store)))


def apart_from(workflow: Workflow) -> Workflow:
    """The same workflow for an event loop of its own, while it may be running on another.

    Its settings are shared. Its resources are made anew: one that is bound to
    the other loop works on that loop alone, and one made here would stay behind.

    Args:
        workflow: the workflow, which is left as it is.
    """
    made = copy.copy(workflow)
    made._resource_manager = ResourceManager()
    return made


def run_sync(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end from plain code, in a notebook too.

    Where a loop is running, as in a notebook, it gets a thread with a loop of
    its own; what is bound to the notebook's loop cannot be used there.

    Args:
        make: makes the coroutine.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def main() -> T:
        task = asyncio.current_task()
        if task is not None:
            running.append((asyncio.get_running_loop(), task))
        return await make()

    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="wfresume-alone") as pool:
        future = pool.submit(lambda: context.run(lambda: asyncio.run(main())))
        try:
            return future.result()
        except KeyboardInterrupt:
            for loop, task in running:
                loop.call_soon_threadsafe(task.cancel)
            raise


def _call_of(workflow: Workflow, step: str, inputs: list[Event]) -> _Call:
    """How the step is called with these events.

    Raises:
        UsageError: it cannot be.
    """
    steps = workflow._get_steps()
    name = type(workflow).__name__
    if step not in steps:
        raise UsageError(f"{name} has no step '{step}' now; it has {', '.join(steps)}")
    config = steps[step]._step_config
    accepted = tuple(cls for cls in config.accepted_events if isinstance(cls, type))
    for event in inputs:
        if accepted and not isinstance(event, accepted):
            raise UsageError(f"{step} does not take {_class_said(event, accepted)}")
    if config.collection_param is not None:
        payload = CollectionReleasePayload("", "", list(inputs), ())
        return _Call(payload.as_event(), payload=payload)
    params = list(config.collect_params or ())
    wanted = max(1, len(params))
    if len(inputs) != wanted:
        raise UsageError(f"{step} takes {wanted} event{'s' * (wanted > 1)} at a time, not {len(inputs)}")
    if not params:
        return _Call(inputs[0])
    left, bound = list(inputs), {}
    for param, cls in params:
        at = next((at for at, event in enumerate(left) if isinstance(event, cls)), None)
        if at is None:
            raise UsageError(f"{step} takes one {cls.__name__} more than it was given")
        bound[param] = left.pop(at)
    return _Call(inputs[0], bound=bound)


def _class_said(event: object, accepted: tuple[type, ...]) -> str:
    cls = type(event)
    names = " or ".join(one.__name__ for one in accepted)
    if any((one.__module__, one.__qualname__) == (cls.__module__, cls.__qualname__) for one in accepted):
        return f"this {cls.__name__}, whose class was defined again: run the workflow's cell again too"
    article = "an" if cls.__name__[:1] in "AEIOU" else "a"
    return f"{article} {cls.__name__}; it takes {names}"


async def _worker(
    workflow: Workflow, step: str, call: _Call, state: StepWorkerState, retry: RetryAttempt
) -> list[StepWorkerOutput] | BaseException:
    function = workflow._get_steps()[step]
    worker = as_step_worker_function(getattr(function, "__func__", function))
    try:
        return await worker(
            state=state,
            step_name=step,
            event=call.event,
            workflow=workflow,
            bound_events=call.bound,
            retry=retry,
        )
    except BaseException as error:  # noqa: BLE001  # sys.exit() that leaves a task would end the kernel's loop
        return error


async def _finish(
    worker: Coroutine[Any, Any, list[StepWorkerOutput] | BaseException],
    too_long: str,
    timeout_s: float | None,
) -> tuple[list[StepWorkerOutput] | BaseException, float]:
    began = time.perf_counter()
    task = asyncio.ensure_future(worker)
    late = False
    try:
        await asyncio.wait({task}, timeout=timeout_s)
        late = not task.done()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
    outcome = task.result()
    if isinstance(outcome, KeyboardInterrupt):
        raise outcome
    if late and isinstance(outcome, asyncio.CancelledError):
        outcome = TimeoutError(too_long)
    return outcome, time.perf_counter() - began


def _told(outcome: list[StepWorkerOutput] | BaseException, alone: Alone) -> Alone:
    """Sort what the step's function returned into what is told of it."""
    if isinstance(outcome, BaseException):
        alone.error = outcome
        return alone
    for item in outcome:
        if isinstance(item, StepWorkerFailed):
            alone.error = item.exception
        elif isinstance(item, SentEvent):
            alone.sends.append(item.event)
        elif isinstance(item, StepWorkerResult) and item.result is not None:
            alone.results.append(item.result)
        elif isinstance(item, AddWaiter):
            alone.waits = True
            if item.waiter_event is not None:
                alone.published.append(item.waiter_event)
    return alone
