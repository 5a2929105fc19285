"""Set an execution that failed for good aside, so that all else can go on.

To the engine it is a step that waits for an event which never comes: it holds
no worker, its stream stays open, so that no fan-in fires without it, and it
survives as any waiter does. The next life takes it up again as the work item
it was, with its whole retry budget.
"""

from __future__ import annotations

from workflows.events import Event
from workflows.runtime.types.internal_state import BrokerState, EventAttempt
from workflows.runtime.types.results import AddWaiter, StepWorkerWaiter

PREFIX = "wfresume-parked-"


class Parked(Event):
    """What a parked execution waits for; it is never sent."""


def parked(work_item_id: str) -> AddWaiter[Event]:
    """The result of an execution that is set aside."""
    waiter: AddWaiter[Event] = AddWaiter(waiter_id=PREFIX + work_item_id, event_type=Parked, timeout=None)
    return waiter


def is_parked(waiter_id: str) -> bool:
    """Whether a waiter is an execution that was set aside."""
    return waiter_id.startswith(PREFIX)


def parked_in(state: BrokerState) -> list[tuple[str, StepWorkerWaiter[Event]]]:
    """Step and waiter of each execution that was set aside."""
    return [
        (str(step_id), waiter)
        for step_id, worker in state.workers.items()
        for waiter in worker.collected_waiters
        if is_parked(waiter.waiter_id)
    ]


def release_parked(state: BrokerState) -> None:
    """Put what was set aside back into its queues, for a new life."""
    for worker in state.workers.values():
        waiting = [waiter for waiter in worker.collected_waiters if is_parked(waiter.waiter_id)]
        for waiter in reversed(waiting):
            worker.collected_waiters.remove(waiter)
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
