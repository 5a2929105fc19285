"""The engine's broker state, with copies that cost nothing in the live loop.

The engine's reducer copies the whole broker state at each tick, so a run of N
items costs N squared. Nobody looks at the old state again in a live loop, so
here the copy is the state itself. ``tests/engine`` proves on generated
workflows that both ways give equal states at every tick.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from workflows.events import Event
from workflows.runtime.types.internal_state import (
    BrokerState,
    InProgressState,
    InternalStepWorkerState,
)
from workflows.runtime.types.results import StepWorkerWaiter
from workflows.runtime.types.step_id import StepId

from .parking import is_parked


class Holder:
    """Keeps the newest live state in reach: the reducer makes a new shell at each tick."""

    state: LiveBrokerState


@dataclass
class LiveBrokerState(BrokerState):
    """A broker state that is its own copy.

    Args:
        holder: told of each new shell, so that the state can be looked at.
    """

    holder: Holder | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.holder is not None:
            self.holder.state = self

    def deepcopy(self) -> BrokerState:
        return self


class LiveStepState(InternalStepWorkerState):
    """A step's state whose copy holds what a dispatched worker may see, no more."""

    def _deepcopy(self) -> InternalStepWorkerState:
        return InternalStepWorkerState(
            queue=[],
            config=self.config,
            in_progress=[],
            collected_events={key: list(events) for key, events in self.collected_events.items()},
            # A step looks for its own waiters; with those set aside, copies
            # would grow with their square.
            collected_waiters=[
                dataclasses.replace(waiter)
                for waiter in self.collected_waiters
                if not is_parked(waiter.waiter_id)
            ],
        )


@dataclass
class Seed(BrokerState):
    """An initial state that stays as it is: its first copy is the live one."""

    holder: Holder | None = None

    def deepcopy(self) -> BrokerState:
        if self.holder is None:
            return plain(self)
        return live(self, self.holder)


def _fields(state: BrokerState) -> dict[str, object]:
    return {f.name: getattr(state, f.name) for f in dataclasses.fields(BrokerState)}


def plain(state: BrokerState) -> BrokerState:
    """A full copy in the engine's own classes, sharing nothing that changes."""
    copy = BrokerState.deepcopy(state)
    for step_id, worker in state.workers.items():
        copy.workers[step_id] = InternalStepWorkerState._deepcopy(worker)
    return copy


def live(state: BrokerState, holder: Holder) -> LiveBrokerState:
    """A live copy of ``state``, known to ``holder`` from now on."""
    copy = plain(state)
    values = _fields(copy)
    values["workers"] = {
        step_id: LiveStepState(**{f.name: getattr(worker, f.name) for f in dataclasses.fields(worker)})
        for step_id, worker in copy.workers.items()
    }
    return LiveBrokerState(**values, holder=holder)  # type: ignore[arg-type]  # values are the fields


def seed(state: BrokerState, holder: Holder) -> Seed:
    """``state`` as an initial state for the control loop that the loop never changes."""
    return Seed(**_fields(plain(state)), holder=holder)  # type: ignore[arg-type]  # as above


def executions(state: BrokerState) -> list[tuple[StepId, InProgressState]]:
    """Every execution that the state holds as under way."""
    return [(step_id, one) for step_id, worker in state.workers.items() for one in worker.in_progress]


def input_events(execution: InProgressState) -> list[Event]:
    """Every event that an execution got, the several of a fan-in included."""
    payload = execution.shared_state.collection_release_payload
    if payload is not None:
        return list(payload.events)
    return list((execution.bound_events or {}).values()) or [execution.event]


def find_execution(state: BrokerState, invocation_id: str | None) -> tuple[StepId, InProgressState] | None:
    """The execution with this invocation id, if it is under way."""
    for step_id, worker in state.workers.items():
        for one in worker.in_progress:
            if one.invocation_id == invocation_id:
                return step_id, one
    return None


def workers_of(state: BrokerState) -> dict[str, int]:
    """By step, how many executions may run at once."""
    return {str(step_id): worker.config.num_workers for step_id, worker in state.workers.items()}


def set_workers(state: BrokerState, workers: dict[str, int]) -> None:
    """Let as many executions of each step run at once; steps that are not named keep their number.

    Args:
        state: a live copy; what it was copied from stays as it is.
        workers: by step, how many.
    """
    for step_id, worker in state.workers.items():
        number = workers.get(str(step_id), worker.config.num_workers)
        worker.config = dataclasses.replace(worker.config, num_workers=number)


def is_busy(state: BrokerState) -> bool:
    """Whether anything can still move without help from outside."""
    return bool(state.deliveries) or any(
        worker.queue or worker.in_progress for worker in state.workers.values()
    )


def resolves_a_waiter(state: BrokerState, event: Event) -> bool:
    """Whether some ``wait_for_event`` has got this very event."""
    return any(
        waiter.resolved_event is event
        for worker in state.workers.values()
        for waiter in worker.collected_waiters
    )


def open_waiters(state: BrokerState) -> list[tuple[StepId, StepWorkerWaiter[Any]]]:
    """Waiters of ``wait_for_event`` that have neither an answer nor a timeout yet."""
    return [
        (step_id, waiter)
        for step_id, worker in state.workers.items()
        for waiter in worker.collected_waiters
        if waiter.resolved_event is None and not waiter.timed_out and not is_parked(waiter.waiter_id)
    ]
