"""Set an execution that failed for good aside, so that all else can go on.

To the engine it is a step that waits for an event which never comes: it holds
no worker, its stream stays open, so that no fan-in fires without it, and it
survives as any waiter does. The next life takes it up again as the work item
it was, with its whole retry budget. Where a person leaves it out, it is woken by
the event that it waits for, and returns nothing.
"""

from __future__ import annotations

from workflows.events import Event
from workflows.runtime.types.internal_state import BrokerState, EventAttempt
from workflows.runtime.types.results import (
    AddWaiter,
    DeleteWaiter,
    StepWorkerOutput,
    StepWorkerResult,
)
from workflows.runtime.types.step_id import StepId
from workflows.runtime.types.ticks import TickAddEvent

from .answers import mark, waiter_key

PREFIX = "wfresume-parked-"


class Parked(Event):
    """What a parked execution waits for; it is sent where a person leaves that execution out."""


def parked(work_item_id: str) -> AddWaiter[Event]:
    """The result of an execution that is set aside."""
    waiter: AddWaiter[Event] = AddWaiter(waiter_id=PREFIX + work_item_id, event_type=Parked, timeout=None)
    return waiter


def awakening(step: str, work_item_id: str) -> tuple[TickAddEvent, str]:
    """What wakes one execution that was set aside, and what names its waiter.

    Args:
        step: the step.
        work_item_id: the engine's id of the work item.
    """
    key = waiter_key(step, PREFIX + work_item_id)
    event = Parked()
    mark(event, key)
    # With the step named, no other one that takes every event gets it too.
    return TickAddEvent(event=event, step_id=StepId.root(step)), key


def is_parked(waiter_id: str) -> bool:
    """Whether a waiter is an execution that was set aside."""
    return waiter_id.startswith(PREFIX)


def left_out(state: BrokerState, step: str, work_item_id: str) -> list[StepWorkerOutput]:
    """The result of an execution that a person leaves out: nothing.

    Args:
        state: the live state.
        step: the step.
        work_item_id: the engine's id of the work item.
    """
    own = PREFIX + work_item_id
    waits = any(waiter.waiter_id == own for waiter in state.workers[StepId.root(step)].collected_waiters)
    return [StepWorkerResult(result=None), *([DeleteWaiter(waiter_id=own)] if waits else [])]


def release_parked(state: BrokerState) -> None:
    """Put what was set aside back into its queues, for a new life."""
    for worker in state.workers.values():
        waiting = [waiter for waiter in worker.collected_waiters if is_parked(waiter.waiter_id)]
        for waiter in reversed(waiting):
            worker.collected_waiters.remove(waiter)
            if waiter.resolved_event is not None:
                continue  # it was woken, so that it is in a queue, or under way, already
            worker.queue.insert(
                0,
                EventAttempt(
                    event=waiter.event,
                    bound_events=waiter.bound_events,
                    scope_path=waiter.scope_path,
                    collection_release_payload=waiter.collection_release_payload,
                    work_item_id=waiter.work_item_id,
                ),
            )
