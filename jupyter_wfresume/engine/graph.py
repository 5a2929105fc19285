"""What a workflow is made of, without running it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workflows.events import Event, StartEvent
from workflows.runtime.types.results import (
    CollectionReleasePayload,
    RetryAttempt,
    StepWorkerFailed,
    StepWorkerOutput,
    StepWorkerState,
)
from workflows.runtime.types.step_function import as_step_worker_function
from workflows.runtime.types.step_id import StepId
from workflows.workflow import Workflow

from .broker import LiveBrokerState
from .state import DictState

DEFAULT_TIMEOUT_S: float = inspect.signature(Workflow.__init__).parameters["timeout"].default
"""The time budget of a workflow that is made without one, in seconds."""


@dataclass(frozen=True)
class StepInfo:
    """One step as it is defined now.

    Args:
        name: the step.
        workers: executions that may run at once.
        sync: a plain function, run in a thread.
        accepts: event classes it takes.
        returns: classes it may return.
        joins: it waits for several events.
        context: it takes the run's context, so it may send events and use the state.
        simple: it takes one event, or all of one fan-out, each of exactly a class it accepts.
        subclasses: it takes events of subclasses of what it accepts, too.
    """

    name: str
    workers: int
    sync: bool
    accepts: tuple[Any, ...]
    returns: tuple[Any, ...]
    joins: bool
    context: bool = False
    simple: bool = False
    subclasses: bool = False


def steps_of(workflow: Workflow) -> list[StepInfo]:
    """The steps in the order of the graph, from the start event on."""
    found: dict[str, StepInfo] = {}
    for name, function in workflow._get_steps().items():
        config = function._step_config
        target = getattr(workflow, name, function)
        found[name] = StepInfo(
            name=name,
            workers=config.num_workers,
            sync=not asyncio.iscoroutinefunction(target),
            accepts=tuple(config.accepted_events),
            returns=tuple(config.return_types),
            joins=config.collection_param is not None or bool(config.collect_params),
            context=config.context_parameter is not None,
            simple=not config.collect_params and not config.accept_event_subclasses,
            subclasses=config.accept_event_subclasses,
        )
    ordered: list[StepInfo] = []
    reached: list[Any] = [workflow._start_event_class, StartEvent]
    left = dict(found)
    while left:
        ready = [s for s in left.values() if any(_takes(s, cls) for cls in reached)] or [
            next(iter(left.values()))
        ]
        for info in ready:
            ordered.append(left.pop(info.name))
            reached += info.returns
    return ordered


def start_class(workflow: Workflow) -> type[StartEvent]:
    """The class of the event that starts a workflow."""
    return workflow._start_event_class


def _takes(info: StepInfo, produced: Any) -> bool:
    return any(
        accepted is produced
        or (isinstance(produced, type) and isinstance(accepted, type) and issubclass(produced, accepted))
        for accepted in info.accepts
    )


def event_classes(workflow: Workflow) -> dict[tuple[str, str], type]:
    """The event classes that the workflow's steps name, by module and qualified name."""
    classes: list[Any] = [*workflow.events, workflow._start_event_class, workflow._stop_event_class]
    for info in steps_of(workflow):
        classes += [*info.accepts, *info.returns]
    return {
        (cls.__module__, cls.__qualname__): cls
        for cls in classes
        if isinstance(cls, type) and issubclass(cls, Event)
    }


def is_final(
    state: LiveBrokerState,
    step: str,
    failure: StepWorkerFailed,
    recovery_counts: dict[str, int],
) -> bool:
    """Whether a failure, with its retry decision, ends the run.

    Args:
        state: the live state.
        step: the step that failed.
        failure: the failure; its ``retry_decision`` is set.
        recovery_counts: how often each ``@catch_error`` handler has helped so far.
    """
    if failure.retry_decision is not None and failure.retry_decision.delay is not None:
        return False
    name = state.config.handler_for_step.get(StepId.root(step))
    handler = None if name is None else state.config.catch_error_handlers.get(name)
    return handler is None or recovery_counts.get(handler.step_name, 0) + 1 > handler.max_recoveries


async def run_step(workflow: Workflow, name: str, inputs: list[Event]) -> list[StepWorkerOutput]:
    """Run one step's function by itself, inside a run of its workflow.

    Args:
        workflow: the workflow.
        name: the step.
        inputs: its events; several for a fan-in.
    """
    function = workflow._get_steps()[name]
    config = function._step_config
    payload = None
    bound: dict[str, Event] | None = None
    if config.collection_param is not None:
        payload = CollectionReleasePayload("", "", list(inputs), ())
    elif config.collect_params:
        bound = {param: event for (param, _), event in zip(config.collect_params, inputs, strict=True)}
    state = StepWorkerState(
        step_name=name, collected_events={}, collected_waiters=[], collection_release_payload=payload
    )
    worker = as_step_worker_function(getattr(function, "__func__", function))
    event: Event = inputs[0] if payload is None else payload.as_event()
    return await worker(
        state=state, step_name=name, event=event, workflow=workflow, bound_events=bound, retry=RetryAttempt()
    )


_ENGINE_ATTRIBUTES = frozenset(
    {
        "_broker_config", "_broker_config_version", "_disable_validation", "_dispatcher", "_events",
        "_num_concurrent_runs", "_resource_manager", "_runtime", "_runtime_locked", "_serializer",
        "_skip_graph_checks", "_start_event_class", "_stop_event_class", "_timeout", "_validated_version",
        "_validation_result", "_verbose", "_workflow_name",
    }
)  # fmt: skip


def own_attributes(workflow: Workflow) -> dict[str, Any]:
    """What the user set on a workflow instance, without what the engine keeps there."""
    return {name: value for name, value in vars(workflow).items() if name not in _ENGINE_ATTRIBUTES}


@dataclass(frozen=True)
class StepSource:
    """What a step's code is made of, besides what it names.

    Args:
        function: the function as it was written.
        resources: factories of its resources.
        events: event classes it takes and returns.
        states: the class of the state it declares, where it declares one.
    """

    function: Callable[..., Any]
    resources: tuple[Callable[..., Any], ...]
    events: tuple[type, ...]
    states: tuple[type, ...]


def step_sources(workflow: Workflow) -> dict[str, StepSource]:
    """The functions of a workflow's steps, with their resources and event classes."""
    found: dict[str, StepSource] = {}
    for name, function in workflow._get_steps().items():
        config = function._step_config
        state = config.context_state_type
        factories = [getattr(one.resource, "_factory", None) for one in config.resources]
        classes = [cls for cls in (*config.accepted_events, *config.return_types) if isinstance(cls, type)]
        found[name] = StepSource(
            function=getattr(function, "__func__", function),
            resources=tuple(one for one in factories if one is not None),
            events=tuple(cls for cls in classes if issubclass(cls, Event)),
            states=() if state in (None, DictState) else (state,),
        )
    return found


def free_steps(workflow: Workflow) -> dict[str, Any]:
    """Steps that are plain functions added to the workflow's class."""
    return dict(type(workflow)._step_functions)
